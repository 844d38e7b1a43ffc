"""MTRAG: conversations whose last turn is a follow-up, with gold passages; and follow-ups with a person's rewrite."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.data import data_folder, json_lines, sampled
from evals.errors import DatasetError

FORM = """  DIR/*.jsonl                          conversations: task_id, input [{"speaker": "user", "text": "…"}, …],
                                       contexts [{"document_id": "…", "text": "…"}], answerability
  DIR/rewrites/{name}_lastturn.jsonl   {"_id": "…", "text": "|user|: …"} a line: the last turn alone
  DIR/rewrites/{name}_questions.jsonl  the same ids: every turn of the user so far, one a line
  DIR/rewrites/{name}_rewrite.jsonl    the same ids: the last turn as a person rewrote it"""


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance; `role` is user or assistant."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Task:
    """A conversation up to a question of the user: the turns before, the question, the gold passages by id."""

    id: str
    collection: str
    history: Sequence[Turn]
    question: str
    gold: dict[str, str]
    answerability: str


@dataclass(frozen=True, slots=True)
class FollowUp:
    """The user's turns so far, the last one first asked as it is and then as a person rewrote it."""

    id: str
    collection: str
    earlier: Sequence[str]
    question: str
    rewrite: str


@dataclass(frozen=True, slots=True)
class Mtrag:
    """Both halves of the data set; the ids of the two do not meet."""

    tasks: Sequence[Task]
    follow_ups: Sequence[FollowUp]


def read_mtrag(folder: Path, *, sample: int | None = None) -> Mtrag:
    """Read a folder. Raises `DatasetError`. A sample takes so many of each half."""
    data_folder(folder, FORM, "rewrites")
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise DatasetError(f"{folder} holds no .jsonl file of conversations. Expected is:\n{FORM}")
    tasks = [_task(row, f"{path}, line {number}") for path in files for number, row in json_lines(path)]
    follow_ups: list[FollowUp] = []
    for path in sorted((folder / "rewrites").glob("*_rewrite.jsonl")):
        follow_ups += _follow_ups(path, path.name.removesuffix("_rewrite.jsonl"))
    if not follow_ups:
        raise DatasetError(f"{folder / 'rewrites'} holds no *_rewrite.jsonl. Expected is:\n{FORM}")
    return Mtrag(
        sampled(tasks, sample, key=lambda task: task.id), sampled(follow_ups, sample, key=lambda each: each.id)
    )


def _task(row: dict[str, Any], where: str) -> Task:
    try:
        *before, last = row["input"]
        if last["speaker"] != "user":
            raise DatasetError(f"{where}: the last turn of `input` must be the user's.")
        return Task(
            id=str(row["task_id"]),
            collection=str(row.get("Collection", "")),
            history=[Turn("user" if each["speaker"] == "user" else "assistant", each["text"]) for each in before],
            question=last["text"],
            gold={str(each["document_id"]): str(each["text"]) for each in row["contexts"]},
            answerability=str((row.get("answerability") or [""])[0]),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DatasetError(f"{where}: {type(error).__name__} {error}. Expected is:\n{FORM}") from error


def _follow_ups(rewrites: Path, name: str) -> list[FollowUp]:
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
        found.append(FollowUp(key, name, turns[:-1], _bare(texts["lastturn"][key]), _bare(rewrite)))
    return found


def _bare(text: str) -> str:
    return text.removeprefix("|user|:").strip()
