"""`evals rewrite`: does a follow-up retrieve better as Recto rewrites it than as it was typed?

Two halves, because MTRAG's conversations with gold passages and its human rewrites are of different conversations.

Conversations: each follow-up is searched, by the product's own retrieval (dense, BM25, ranking), in the pool of all
their gold passages; recall and nDCG at k. The pool is small, so recall is higher than in the published tables, which
search whole corpora: only the differences count.

Human rewrites: the cosine of each form of the question to the person's rewrite, and the share of the k passages of the
rewrite that it retrieves too (in the same pool). The person's own rewrite would be 1.

Recto rewrites without a model here, because no model is shipped that could do it. Everything is also measured on two
halves of the conversations, because the heuristic was chosen on this data.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from evals.context import Options, SystemContext, open_context
from evals.data import data_folder, json_lines, sampled
from evals.errors import DatasetError
from evals.metrics import interval, ndcg_at, paired_difference, recall_at
from evals.research.passages import TENANT, PassagePool
from evals.storage import environment
from functions.query.retrieval.search import Search
from functions.query.understanding.question import QueryMode, Understood
from functions.query.understanding.rewriting import understand
from shared.adapters.aws import SystemClock
from shared.deadline import Deadline
from shared.models import Message, Role
from shared.settings import Settings

FORM = """  DIR/*.jsonl                          conversations: task_id, input [{"speaker": "user", "text": "…"}, …],
                                       contexts [{"document_id": "…", "text": "…"}]
  DIR/rewrites/{name}_lastturn.jsonl   {"_id": "…", "text": "|user|: …"} a line: the last turn alone
  DIR/rewrites/{name}_questions.jsonl  the same ids: every turn of the user so far, one a line
  DIR/rewrites/{name}_rewrite.jsonl    the same ids: the last turn as a person rewrote it"""
Turn = tuple[Role, str]
"""Who spoke, and what."""
Form = Callable[[str, Sequence[Turn]], Understood]
Row = dict[str, Any]
SETTINGS = Settings.model_construct()


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


def rewrite(options: Options, *, k: int) -> int:
    """Measure both halves; print, and write with `--json`."""
    data = read_mtrag(options.data, sample=options.sample)
    with open_context(options) as context, options.display.progress():
        passages = {key: text for each in data.conversations for key, text in each.gold.items()}
        context.progress("embedding passages", 0, len(passages))
        pool = PassagePool(passages, context)
        found = _conversations(data, pool, k, context)
        near = _nearness(data, pool, k, context)
    result = {
        "command": "rewrite",
        "versions": environment(),
        "settings": {"k": k, "pool": len(passages), **options.chosen},
        "conversations": _summaries(found, (f"recall@{k}", f"ndcg@{k}"), options.seed),
        "human_rewrites": _summaries(near, ("cosine", f"overlap@{k}"), options.seed),
        "questions": {"conversations": found, "human_rewrites": near},
    }
    _show(result, options)
    options.save(result)
    return 0


def _form(mode: QueryMode, messages: int) -> Form:
    def form(question: str, turns: Sequence[Turn]) -> Understood:
        kept = turns[-messages:] if messages else []
        return understand(
            question,
            [Message(str(number), role, text, "") for number, (role, text) in enumerate(kept)],
            tenant=TENANT,
            chat=None,
            glossary=None,
            settings=SETTINGS,
            deadline=Deadline(SystemClock(), SETTINGS.request_deadline_s),
            mode=mode,
        )

    return form


def _all_turns(question: str, turns: Sequence[Turn]) -> Understood:
    text = " ".join([*(text for role, text in turns if role == "user"), question])
    return _form("question", 0)(text, ())


FORMS: dict[str, Form] = {
    "last turn": _form("question", 0),
    "recto": _form("question", SETTINGS.history_messages),
    "recto, session": _form("session", SETTINGS.session_messages),
    "all turns": _all_turns,
}


def _conversations(data: Mtrag, pool: PassagePool, k: int, context: SystemContext) -> list[Row]:
    """Return a row for each follow-up that has gold passages."""
    rows = []
    follow_ups = [each for each in data.conversations if each.gold and each.turns]
    for number, each in enumerate(follow_ups):
        context.progress("searching follow-ups", number, len(follow_ups))

        def scores(search: Search, gold: Sequence[str] = tuple(each.gold)) -> Row:
            ranked = pool.ranked(search, k)
            return {f"recall@{k}": recall_at(ranked, gold, k), f"ndcg@{k}": ndcg_at(ranked, gold, k)}

        rows.append(_row(each, pool, scores))
    return rows


def _nearness(data: Mtrag, pool: PassagePool, k: int, context: SystemContext) -> list[Row]:
    """Return a row for each follow-up that a person rewrote."""
    rows = []
    follow_ups = [each for each in data.rewritten if each.turns]
    for number, each in enumerate(follow_ups):
        context.progress("searching rewrites", number, len(follow_ups))
        human = pool.search_for(_form("question", 0)(each.rewrite, ()))

        def scores(search: Search, human: Search = human, wanted: Sequence[str] = pool.ranked(human, k)) -> Row:
            shared = len(set(pool.ranked(search, k)) & set(wanted))
            return {
                "cosine": float(np.dot(search.dense or (), human.dense or ())),
                f"overlap@{k}": shared / len(wanted),
            }

        rows.append({**_row(each, pool, scores), "rewrite": each.rewrite})
    return rows


def _row(each: FollowUp, pool: PassagePool, scores: Callable[[Search], Row]) -> Row:
    """Score every form of the follow-up."""
    forms: Row = {}
    for name, form in FORMS.items():
        understood = form(each.question, each.turns)
        forms[name] = {"text": understood.standalone, **scores(pool.search_for(understood))}
    return {"id": each.id, "collection": each.collection, "question": each.question, "forms": forms}


def _summaries(rows: Sequence[Mapping[str, Any]], metrics: Sequence[str], seed: int) -> dict[str, Any]:
    found: dict[str, Any] = {"n": len(rows), "forms": {}}
    halves = [_half(row["id"]) for row in rows]
    for name in FORMS:
        found["forms"][name] = {}
        for metric in metrics:
            values = [row["forms"][name][metric] for row in rows]
            plain = [row["forms"]["last turn"][metric] for row in rows]
            mean, above = interval(values, seed=seed), paired_difference(plain, values, seed=seed)
            found["forms"][name][metric] = {
                "mean": mean.mean,
                "ci": [mean.low, mean.high],
                "above_last_turn": above.as_json(),
                "halves": [_gain(values, plain, halves, half) for half in (0, 1)],
            }
    return found


def _half(identity: str) -> int:
    """Put a conversation, with all its turns, into one of two halves."""
    return sha256(identity.split("<::>")[0].encode()).digest()[0] % 2


def _gain(values: Sequence[float], plain: Sequence[float], halves: Sequence[int], half: int) -> float:
    gains = [value - other for value, other, where in zip(values, plain, halves, strict=True) if where == half]
    return sum(gains) / len(gains) if gains else 0.0


def _show(result: Mapping[str, Any], options: Options) -> None:
    titles = {
        "conversations": "Follow-ups with gold passages, {n}, in a pool of {pool} passages",
        "human_rewrites": "Follow-ups a person rewrote, {n}: nearness to the rewrite",
    }
    for part, title in titles.items():
        forms = result[part]["forms"]
        metrics = list(next(iter(forms.values())))
        rows = [[name, *(_cell(each) for each in figures.values())] for name, figures in forms.items()]
        shown = title.format(n=result[part]["n"], pool=result["settings"]["pool"])
        options.display.table(
            f"{shown} (above the last turn; * real; in brackets each half's)", ["asked as", *metrics], rows
        )


def _cell(figure: Mapping[str, Any]) -> str:
    above = figure["above_last_turn"]
    halves = " ".join(f"{gain:+.3f}" for gain in figure["halves"])
    return f"{figure['mean']:.3f} ({above['mean']:+.3f}{'*' if above['real'] else ''}) [{halves}]"


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
