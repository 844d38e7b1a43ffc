"""`evals feedback`: turns users' ratings of answers, as `GET /feedback` exports them, into test questions.

An answer that was liked shows which pages answer its question, and a refusal that was liked shows that none does: these
questions are kept. For a disliked answer nobody knows the right pages yet: its question is written for review.
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evals.data import DROP, json_lines, pdfs_in
from evals.display import Display
from evals.errors import DatasetError
from evals.storage import write_text

FORM = "Expected is an answer of `GET /feedback`, as it came, or several: one file a page."


def feedback(display: Display, *, feedback: Sequence[Path], pdfs: Path, out: Path) -> int:
    """Add a question for each rated answer that is not in `out` yet, and print their number. Raises `DatasetError`."""
    if not pdfs.is_dir():
        raise DatasetError(f"{pdfs} is not a folder. --pdfs takes the folder of the PDFs.")
    files, copies = pdfs_in(pdfs)
    names = {_composed(name): name for name in (*(path.name for path in files), *copies)}
    there = [row for _, row in json_lines(out)] if out.exists() else []
    known = {str(row.get("id")) for row in there}
    rows = {str(rated["message_id"]): row for rated in _rated(feedback) if (row := question_of(rated, names))}
    added = [row for name, row in rows.items() if name not in known]
    write_text(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in (*there, *added)))
    counted = Counter((row["set"], row["review"]) for row in added)
    lines = [[name, review, str(number)] for (name, review), number in sorted(counted.items())]
    display.table("Questions", ["set", "review", "added"], lines)
    display.say(f"{len(added)} questions added to {out}.")
    display.say(f'Where `review` is "{DROP}", put in `doc` and `pages` (or "answerable": false), and set it to "keep".')
    return 0


def question_of(rated: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any] | None:
    """Return a line of questions.jsonl, None if the answer came from no document, nor was refused for want of one.

    `names` are the PDFs there are, by their composed names.
    """
    given = rated["feedback"]
    cited = [each for each in rated["citations"] if _composed(each["file_name"]) in names]
    if not cited and rated["refusal"] is None and not rated["sources"]:
        return None
    doc = names[_composed(cited[0]["file_name"])] if cited else ""
    pages = {
        page
        for each in cited
        if names[_composed(each["file_name"])] == doc
        for page in range(each["page_start"], each["page_end"] + 1)
    }
    is_liked, is_refusal = given["rating"] == "up", rated["refusal"] is not None
    return {
        "id": rated["message_id"],
        "set": f"feedback-{given['rating']}",
        "question": rated["rewritten"] or rated["question"],
        "doc": doc,
        "pages": sorted(pages),
        "answer": rated["answer"] if is_liked and not is_refusal else None,
        "answerable": not (is_liked and is_refusal),
        "review": "keep" if is_liked and (doc or is_refusal) else DROP,
        "reason": given["reason"],
        "comment": given["comment"],
    }


def _rated(files: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for file in files:
        try:
            page = json.loads(file.read_text(encoding="utf-8-sig"))
            for rated in page["feedback"]:
                # Reads all needed fields, so that a file in another form is refused here.
                if (
                    not {"message_id", "feedback", "question", "rewritten", "refusal", "citations", "sources"}
                    <= rated.keys()
                ):
                    raise DatasetError(f"{file}: an answer lacks a field. {FORM}")
                yield rated
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise DatasetError(f"{file} cannot be read ({error}). {FORM}") from error


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)
