"""Compares an answer with the same question asked again: what is different now, and what has changed since.

Effects are what a reader would see: the decision, the sources, the claims, the order of candidates. Causes are the
differences between the two receipts, and in the documents since: code, settings, index, documents, prompt, model.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, Literal

from ulid import ULID

from functions.query.answer import DECIDED
from shared.models import ORIGINAL, AnswerClaim, Document, generation_named_by
from shared.receipts import UNSAID, Receipt

type Candidate = Mapping[str, Any]

NEAR = 0.001
"""Scores that differ by less are the same: embeddings and vector indexes are not exact to the last digit."""
MAX_NAMED = 20
"""The most documents that are compared and named in the differences."""

Cause = Literal[
    "code", "settings", "index", "embedding", "question", "history", "documents", "degraded", "cache", "prompt", "model"
]
Effect = Literal["decision", "sources", "claims", "candidates"]


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """One difference, by kind and in words."""

    kind: Cause | Effect | Literal["unknown"]
    text: str


@dataclass(frozen=True, slots=True)
class ReplayComparison:
    """What differs. `identical`: the decision, the sources and the claims are the same."""

    identical: bool
    causes: Sequence[ReplayDifference]
    effects: Sequence[ReplayDifference]


@dataclass(frozen=True, slots=True)
class Answered:
    """One of the two answers: its receipt, and the claims that it shows."""

    receipt: Receipt
    claims: Sequence[AnswerClaim]

    @property
    def made(self) -> Mapping[str, Any]:
        """How it was made; empty for small talk."""
        return self.receipt["made"] or {}

    @property
    def candidates(self) -> Sequence[Candidate]:
        """The passages found, best first."""
        return [{**UNSAID, **each} for each in self.made.get("candidates", ())]

    @property
    def sources(self) -> Sequence[tuple[str, str]]:
        """Document and text of each passage that the answer was made from, in the order of their numbers."""
        read = [each for each in self.candidates if each["source"]]
        return [_text_of(each) for each in sorted(read, key=lambda each: int(each["source"]))]


def _touched_documents(then: Answered, now: Answered) -> list[str]:
    """Return the ids of documents with different passages in the two, those of sources first."""
    one, other = ({each["passage_id"] for each in answered.candidates} for answered in (then, now))
    differing = [
        each
        for each in chain(then.candidates, now.candidates)
        if (each["passage_id"] in one) != (each["passage_id"] in other)
    ]
    differing.sort(key=lambda each: not each["source"])
    return list(dict.fromkeys(each["document_id"] for each in differing))


def compare(
    then: Answered,
    now: Answered,
    *,
    asked_at: str,
    readable: Mapping[str, str],
    document_of: Callable[[str], Document | None],
) -> ReplayComparison:
    """Compare an answer, asked for at `asked_at` (ISO 8601), with the same question asked now.

    `readable` maps the documents of both that the reader may see to their titles.
    """
    effects = list(_effects(then, now))
    causes = [
        *_of_the_service(then.receipt, now.receipt),
        *_of_the_question(then, now),
        *_of_documents(then, now, asked_at, readable, document_of),
        *_of_the_run(then.receipt, now.receipt),
    ]
    causes += _of_the_model(then, now, causes)
    if effects and not causes:
        causes.append(ReplayDifference("unknown", "Nothing that a receipt holds has changed."))
    return ReplayComparison(all(each.kind == "candidates" for each in effects), causes, effects)


# --- what is different ---


def _effects(then: Answered, now: Answered) -> Sequence[ReplayDifference]:
    effects = []
    if _decision(then) != _decision(now):
        effects.append(ReplayDifference("decision", f"Then: {_in_words(then)}. Now: {_in_words(now)}."))
    if then.sources != now.sources:
        effects.append(ReplayDifference("sources", _change("sources", then.sources, now.sources)))
    if (one := _said(then)) != (other := _said(now)):
        effects.append(ReplayDifference("claims", _change("claims", one, other)))
    if told := _other_candidates(then.candidates, now.candidates):
        effects.append(ReplayDifference("candidates", told))
    return effects


def _decision(answered: Answered) -> tuple[object, ...]:
    decided = answered.made.get("decision")
    relevant = decided and (decided["relevant"], decided.get("statement_similarity") is not None)
    return answered.receipt["mode"], answered.receipt["refusal"], relevant


def _in_words(answered: Answered) -> str:
    decided, refusal, mode = answered.made.get("decision"), answered.receipt["refusal"], answered.receipt["mode"]
    words = f"refused ({refusal})" if refusal else f"answered ({mode})"
    if decided is None:
        return words
    near = decided.get("statement_similarity")
    second_look = "" if near is None else f", a statement of similarity {near:.3f}"
    return f"{words}, relevance {decided['relevance']:.3f} with threshold {decided['threshold']:g}{second_look}"


def _said(answered: Answered) -> Sequence[tuple[object, ...]]:
    return [(each.text, each.verdict, tuple(each.citations), each.derived) for each in answered.claims]


def _change(what: str, then: Sequence[object], now: Sequence[object]) -> str:
    gone, new = sum(each not in now for each in then), sum(each not in then for each in now)
    if not gone and not new:
        return f"The {what} are the same {len(then)}, in another order or number."
    return f"Of {len(then)} {what}, {len(then) - gone} are the same; {gone} are gone, {new} are new."


def _other_candidates(then: Sequence[Candidate], now: Sequence[Candidate]) -> str:
    """Say how the candidates differ; empty if they are the same, in the same order, with the same scores."""
    one, other = list(map(_text_of, then)), list(map(_text_of, now))
    if one != other:
        return _change("candidates", one, other)
    moved = max((abs(a["score"] - b["score"]) for a, b in zip(then, now, strict=True)), default=0.0)
    return f"The candidates' scores differ by up to {moved:.3f}." if moved > NEAR else ""


def _text_of(candidate: Candidate) -> tuple[str, str]:
    return str(candidate["document_id"]), str(candidate["text_hash"])


# --- what has changed ---


def _of_the_service(then: Receipt, now: Receipt) -> Sequence[ReplayDifference]:
    causes = []
    code = [" ".join(filter(None, (each["version"], each["release"]))) for each in (then, now)]
    if code[0] != code[1]:
        causes.append(ReplayDifference("code", f"The code was {code[0]} and is {code[1]}."))
    if then["settings_hash"] != now["settings_hash"]:
        names = sorted({*then["settings"], *now["settings"]})
        values = [(name, then["settings"].get(name), now["settings"].get(name)) for name in names]
        told = [f"`{name}` was {_value(old)} and is {_value(new)}" for name, old, new in values if old != new]
        causes.append(ReplayDifference("settings", f"Settings changed: {', '.join(told)}."))
    if then["index_version"] != now["index_version"]:
        text = f"Index version {then['index_version']} was searched, and now {now['index_version']} is."
        causes.append(ReplayDifference("index", text))
    if then["space"] != now["space"]:
        causes.append(
            ReplayDifference("embedding", f"Questions were embedded in {then['space']}, now in {now['space']}.")
        )
    return causes


def _value(value: object) -> str:
    return "empty" if value in (None, "") else str(value).lower() if isinstance(value, bool) else str(value)


def _of_the_question(then: Answered, now: Answered) -> Sequence[ReplayDifference]:
    causes = []
    if then.receipt["history"]["messages"] != now.receipt["history"]["messages"]:
        causes.append(ReplayDifference("history", "Other messages of the conversation were taken into account."))
    if then.receipt["history"]["summarized"]:
        text = "The model was also shown a summary of the conversation, which is not kept: this time it was missing."
        causes.append(ReplayDifference("history", text))
    names = ("searched", "variants", "parts", "filter")
    one, other = ({name: each.made.get(name) for name in names} for each in (then, now))
    if then.made and now.made and one != other:
        by_model = "model" in (then.made["rewritten_by"], now.made["rewritten_by"])
        why = "the model rewrote it differently" if by_model else "by the glossary, or by words of the passages found"
        causes.append(ReplayDifference("question", f"The question was searched for in other words: {why}."))
    return causes


def _of_documents(
    then: Answered,
    now: Answered,
    asked_at: str,
    readable: Mapping[str, str],
    document_of: Callable[[str], Document | None],
) -> Sequence[ReplayDifference]:
    touched = _touched_documents(then, now)[:MAX_NAMED]
    told = partial(_of_document, then, now, datetime.fromisoformat(asked_at))
    shown = [
        (readable[each], told(document)) for each in touched if each in readable and (document := document_of(each))
    ]
    causes = [ReplayDifference("documents", text.format(title=title)) for title, text in shown if text]
    found = {each["document_id"] for each in then.candidates}
    if hidden := len(found - readable.keys()):
        gone = "A document is gone" if hidden == 1 else f"{hidden} documents are gone"
        it = "it" if hidden == 1 else "them"
        causes.append(ReplayDifference("documents", f"{gone}, or you may no longer read {it}."))
    return causes


def _of_document(then: Answered, now: Answered, asked: datetime, document: Document) -> str:
    """Say in words, with a placeholder for the title, how a document has changed; empty if it has not."""
    before = [each for each in then.candidates if each["document_id"] == document.document_id]
    published = document.in_index_version(now.receipt["index_version"])
    if not published.generation:
        return "“{title}” cannot be searched at present."
    if not before:
        is_new = _made_at(published.generation) > asked
        return "“{title}” was uploaded, or ingested again, since." if is_new else ""
    if any(document.edits.get(each["text_hash"], ORIGINAL) != ORIGINAL or each["corrected"] for each in before):
        return "An editor has left out or corrected passages of “{title}”, or undone that."
    if published.version_id not in {each["version_id"] for each in before}:
        return "“{title}” was replaced by another version of the file."
    if published.generation not in {generation_named_by(each["passage_id"])[1] for each in before}:
        is_moved = then.receipt["index_version"] != now.receipt["index_version"]
        return "" if is_moved else "“{title}” was ingested again: with other labels or other settings."
    return ""


def _made_at(generation: str) -> datetime:
    """Return when a generation was begun: its name begins with a ULID."""
    return ULID.from_str(generation[:26]).datetime


def _of_the_run(then: Receipt, now: Receipt) -> Sequence[ReplayDifference]:
    causes = []
    for one, other, when in ((then, now, "Then"), (now, then, "Now")):
        if added := sorted({*one["warnings"]} - {*other["warnings"]} - DECIDED):
            causes.append(ReplayDifference("degraded", f"{when}, not everything worked: {', '.join(added)}."))
    if now["cached"]:
        causes.append(
            ReplayDifference("cache", "The index could not be searched, so an earlier answer was given again.")
        )
    return causes


def _of_the_model(then: Answered, now: Answered, known: Collection[ReplayDifference]) -> Sequence[ReplayDifference]:
    one, other = then.made.get("prompt"), now.made.get("prompt")
    if not one or not other:
        return ()
    causes = []
    if one["version"] != other["version"]:
        causes.append(
            ReplayDifference("prompt", f"The prompt's rules were {one['version']} and are {other['version']}.")
        )
    if one["model"] != other["model"]:
        causes.append(ReplayDifference("model", f"The model was {one['model']} and is {other['model']}."))
    if one["hash"] == other["hash"]:
        if _written(then) != _written(now):
            causes.append(ReplayDifference("model", "The model was asked exactly the same, and wrote something else."))
    elif then.sources == now.sources and not causes and not known:
        causes.append(ReplayDifference("prompt", "The prompt differs, although it was made from the same sources."))
    return causes


def _written(answered: Answered) -> Sequence[tuple[object, ...]]:
    """Return what the model claimed, shown or not."""
    standing = iter(answered.claims)
    texts = [next(standing).text if each["shown"] else each["text"] for each in answered.made["claims"]]
    return [(text, each["verdict"], each["flags"]) for text, each in zip(texts, answered.made["claims"], strict=True)]
