"""`evals report`: pages for people out of results written with `--json`."""

from collections.abc import Sequence
from pathlib import Path

from evals.errors import EvalError
from evals.progress import Display
from evals.reporting.facts import facts_of
from evals.reporting.html import html
from evals.reporting.markdown import markdown
from evals.results import Json, read_json


def report(display: Display, *, results: Sequence[Path], out: Path) -> int:
    """Write `OUT.md` and `OUT.html` from results of `evals retrieval`, `evals calibrate` and `evals answers`."""
    read: dict[str, list[Json]] = {"calibrate": [], "answers": [], "": []}
    for path in results:
        found = read_json(path)
        command = found.get("command", "")
        if command not in read or not (command or {"system", "sets", "questions", "cost"} <= found.keys()):
            raise EvalError(f"{path} was not written by `evals retrieval`, `calibrate` or `answers` with --json.")
        read[command].append(found)
    facts = facts_of(read[""], read["calibrate"], read["answers"])
    for suffix, page in ((".md", markdown(facts)), (".html", html(facts))):
        path = out.with_name(out.name + suffix)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page, encoding="utf-8")
        except OSError as error:
            raise EvalError(f"The report cannot be written to {path}: {error}") from error
        display.say(str(path))
    return 0
