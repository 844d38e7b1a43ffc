"""MTRAG: conversations whose last turn is a follow-up, with gold passages; and follow-ups with a person's rewrite."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.data import data_folder, json_lines, sampled
from evals.errors import DatasetError
from shared.models import Role

FORM = """  DIR/*.jsonl                          conversations: task_id, input [{"speaker": "user", "text": "…"}, …],
                                       contexts [{"document_id": "…", "text": "…"}]
  DIR/rewrites/{name}_lastturn.jsonl   {"_id": "…", "text": "|user|: …"} a line: the last turn alone
  DIR/rewrites/{name}_questions.jsonl  the same ids: every turn of the user so far, one a line
  DIR/rewrites/{name}_rewrite.jsonl    the same ids: the last turn as a person rewrote it"""


Turn = tuple[Role, str]
"""Who spoke, and what."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question of the user with the turns before it, oldest first.

    A conversation has the gold passages of its last question by id; a rewritten follow-up has only the user's turns,
    and the question as a person rewrote it.
    """

    id: str
    collection: str
    turns: Sequence[Turn]
    question: str
    gold: Mapping[str, str] = field(default_factory=dict)
    rewrite: str = ""


@dataclass(frozen=True, slots=True)
class Mtrag:
    """Both halves of the data set; the ids of the two do not meet."""

    conversations: Sequence[FollowUp]
    rewritten: Sequence[FollowUp]


def read_mtrag(folder: Path, *, sample: int | None = None) -> Mtrag:
    """Read a folder. Raises `DatasetError`. A sample takes so many of each half."""
    data_folder(folder, FORM, "rewrites")
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise DatasetError(f"{folder} holds no .jsonl file of conversations. Expected is:\n{FORM}")
    conversations = [_conversation(row, f"{path}, line {number}") for path in files for number, row in json_lines(path)]
    rewritten: list[FollowUp] = []
    for path in sorted((folder / "rewrites").glob("*_rewrite.jsonl")):
        rewritten += _rewritten(path, path.name.removesuffix("_rewrite.jsonl"))
    if not rewritten:
        raise DatasetError(f"{folder / 'rewrites'} holds no *_rewrite.jsonl. Expected is:\n{FORM}")
    return Mtrag(*(sampled(half, sample, key=lambda each: each.id) for half in (conversations, rewritten)))


def _conversation(row: dict[str, Any], where: str) -> FollowUp:
    try:
        *before, last = row["input"]
        if last["speaker"] != "user":
            raise DatasetError(f"{where}: the last turn of `input` must be the user's.")
        return FollowUp(
            id=str(row["task_id"]),
            collection=str(row.get("Collection", "")),
            turns=[("user" if each["speaker"] == "user" else "assistant", each["text"]) for each in before],
            question=last["text"],
            gold={str(each["document_id"]): str(each["text"]) for each in row["contexts"]},
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DatasetError(f"{where}: {type(error).__name__} {error}. Expected is:\n{FORM}") from error


def _rewritten(rewrites: Path, name: str) -> list[FollowUp]:
    texts: dict[str, dict[str, str]] = {}
    for kind in ("lastturn", "questions", "rewrite"):
        path = rewrites.with_name(f"{name}_{kind}.jsonl")
        if not path.exists():
            raise DatasetError(f"{path} is missing. Expected is:\n{FORM}")
        texts[kind] = {str(row.get("_id")): str(row.get("text", "")) for _, row in json_lines(path)}
    found = []
    for key, rewrite in texts["rewrite"].items():
        if key not in texts["questions"] or key not in texts["lastturn"]:
            raise DatasetError(f"{rewrites}: {key!r} is missing in {name}_questions.jsonl or {name}_lastturn.jsonl.")
        turns = [turn.strip() for turn in texts["questions"][key].split("|user|:") if turn.strip()]
        before: list[Turn] = [("user", turn) for turn in turns[:-1]]
        found.append(FollowUp(key, name, before, _bare(texts["lastturn"][key]), rewrite=_bare(rewrite)))
    return found


def _bare(text: str) -> str:
    return text.removeprefix("|user|:").strip()
