"""`evals rewrite`: is the follow-up, as Recto rewrites it, found better than the turn as it was typed?

Two halves, because MTRAG's conversations with gold passages and its human rewrites are of different conversations.

Conversations: each follow-up is searched in the pool of all gold passages of all of them, by MiniLM; recall and nDCG
at k of the last turn alone, of Recto's rewrite, and of all the user's turns together. The pool is small, so recall is
higher than in the published tables, which search whole corpora: only the differences count.

Human rewrites: how near each form of the question is to the person's rewrite (cosine), and which share of the k
passages the rewrite finds it finds too (in the same pool).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evals.bootstrap import interval, paired_difference
from evals.commands.common import Options, context_of, embedding
from evals.metrics import ndcg_at, recall_at
from evals.readers.mtrag import FollowUp, Mtrag, Task, read_mtrag
from evals.results import environment, write_json
from evals.systems import SystemContext
from functions.query.rewriting import normalized, standalone_question
from shared.models import Message, Role
from shared.settings import Settings

Form = Callable[[str, Sequence[Message]], str]
FORMS: dict[str, Form] = {
    "last turn": lambda question, _history: question,
    "recto": lambda question, history: normalized(standalone_question(normalized(question), history)),
    "all turns": lambda question, history: " ".join([*(m.content for m in history if m.role == "user"), question]),
}


def rewrite(options: Options, *, k: int) -> int:
    """Measure both halves; print, and write with `--json`."""
    data = read_mtrag(options.data, sample=options.sample)
    with embedding(options) as embedder, options.display.progress():
        context = context_of(options, embedder)
        pool = {key: text for task in data.tasks for key, text in task.gold.items()}
        context.progress("embedding passages", 0, len(pool))
        passages = embedder.vectors(list(pool.values()))
        found = _conversations(data, list(pool), passages, k, context)
        near = _nearness(data, passages, k, context)
    result = {
        "command": "rewrite",
        "versions": environment(),
        "settings": {"k": k, "pool": len(pool), "sample": options.sample, "seed": options.seed},
        "conversations": _summaries(found, (f"recall@{k}", f"ndcg@{k}"), options.seed),
        "human_rewrites": _summaries(near, ("cosine", f"overlap@{k}"), options.seed),
        "questions": {"conversations": found, "human_rewrites": near},
    }
    _show(result, options)
    if options.json:
        write_json(options.json, result)
    return 0


def _history(task: Task | FollowUp) -> list[Message]:
    """Return what the pipeline would read back: the last messages, oldest first."""
    turns: list[tuple[Role, str]] = []
    if isinstance(task, Task):
        turns = [("user" if turn.role == "user" else "assistant", turn.text) for turn in task.history]
    else:
        turns = [("user", text) for text in task.earlier]
    kept = turns[-Settings.model_construct().history_messages :]
    return [Message(str(number), role, text, "") for number, (role, text) in enumerate(kept)]


def _conversations(
    data: Mtrag, keys: Sequence[str], passages: "np.ndarray[Any, Any]", k: int, context: SystemContext
) -> list[dict[str, Any]]:
    """Return a row for each follow-up that has gold passages."""
    asked = [task for task in data.tasks if task.gold and task.history]
    rows: list[dict[str, Any]] = [
        {"id": task.id, "collection": task.collection, "question": task.question, "forms": {}} for task in asked
    ]
    for name, form in FORMS.items():
        texts = [form(task.question, _history(task)) for task in asked]
        context.progress(f"{name}: asking", 0, len(texts))
        best = np.argsort(-(context.embedder.vectors(texts) @ passages.T), axis=1, kind="stable")[:, :k]
        for task, row, text, numbers in zip(asked, rows, texts, best, strict=True):
            ranking = [keys[int(at)] for at in numbers]
            row["forms"][name] = {
                "text": text,
                f"recall@{k}": recall_at(ranking, task.gold.keys(), k),
                f"ndcg@{k}": ndcg_at(ranking, task.gold.keys(), k),
            }
    return rows


def _nearness(data: Mtrag, passages: "np.ndarray[Any, Any]", k: int, context: SystemContext) -> list[dict[str, Any]]:
    """Return a row for each follow-up that a person rewrote."""
    asked = [each for each in data.follow_ups if each.earlier]
    person = context.embedder.vectors([each.rewrite for each in asked])
    wanted = np.argsort(-(person @ passages.T), axis=1, kind="stable")[:, :k]
    rows: list[dict[str, Any]] = [
        {"id": each.id, "collection": each.collection, "question": each.question, "rewrite": each.rewrite, "forms": {}}
        for each in asked
    ]
    for name, form in FORMS.items():
        texts = [form(each.question, _history(each)) for each in asked]
        vectors = context.embedder.vectors(texts)
        best = np.argsort(-(vectors @ passages.T), axis=1, kind="stable")[:, :k]
        cosines = (vectors * person).sum(axis=1)
        for at, row in enumerate(rows):
            row["forms"][name] = {
                "text": texts[at],
                "cosine": float(cosines[at]),
                f"overlap@{k}": len(set(best[at].tolist()) & set(wanted[at].tolist())) / k,
            }
    return rows


def _summaries(rows: Sequence[Mapping[str, Any]], metrics: Sequence[str], seed: int) -> dict[str, Any]:
    found: dict[str, Any] = {"n": len(rows), "forms": {}}
    for name in FORMS:
        found["forms"][name] = {}
        for metric in metrics:
            values = [row["forms"][name][metric] for row in rows]
            plain = [row["forms"]["last turn"][metric] for row in rows]
            mean, above = interval(values, seed=seed), paired_difference(plain, values, seed=seed)
            found["forms"][name][metric] = {
                "mean": mean.mean,
                "ci": [mean.low, mean.high],
                "above_last_turn": {"mean": above.mean, "ci": [above.low, above.high], "real": above.is_real},
            }
    return found


def _show(result: Mapping[str, Any], options: Options) -> None:
    titles = {
        "conversations": "Follow-ups with gold passages, {n}, in a pool of {pool} passages",
        "human_rewrites": "Follow-ups a person rewrote, {n}: nearness to the rewrite",
    }
    for part, title in titles.items():
        forms = result[part]["forms"]
        metrics = list(next(iter(forms.values())))
        rows = [
            [name, *(f"{each['mean']:.3f} ({_signed(each['above_last_turn'])})" for each in figures.values())]
            for name, figures in forms.items()
        ]
        shown = title.format(n=result[part]["n"], pool=result["settings"]["pool"])
        options.display.table(f"{shown} (above the last turn; * real)", ["asked as", *metrics], rows)


def _signed(difference: Mapping[str, Any]) -> str:
    return f"{difference['mean']:+.3f}{'*' if difference['real'] else ''}"
