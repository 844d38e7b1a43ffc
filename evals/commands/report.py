"""`evals report`: pages for people out of results written with `--json`."""

from collections.abc import Sequence
from pathlib import Path

from evals.errors import EvalError
from evals.progress import Display
from evals.reporting.facts import facts_of
from evals.reporting.html import html
from evals.reporting.markdown import markdown
from evals.results import read_json


def report(display: Display, *, results: Sequence[Path], out: Path) -> int:
    """Write `OUT.md` and `OUT.html` from results of `evals retrieval`, with those of `evals calibrate` if given."""
    read = [read_json(path) for path in results]
    calibrations = [each for each in read if each.get("command") == "calibrate"]
    retrievals = [
        read_json(path, "system", "sets", "questions", "cost")
        for path, each in zip(results, read, strict=True)
        if each.get("command") != "calibrate"
    ]
    facts = facts_of(retrievals, calibrations)
    for suffix, page in ((".md", markdown(facts)), (".html", html(facts))):
        path = out.with_name(out.name + suffix)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page, encoding="utf-8")
        except OSError as error:
            raise EvalError(f"The report cannot be written to {path}: {error}") from error
        display.say(str(path))
    return 0
