"""`/messages/{message_id}/receipt`: what an answer was made from; `…/replay`: the same asked again, and compared."""

from collections.abc import Collection, Mapping
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from functions.query.answer import Done, Question
from functions.query.api.asking import answering
from functions.query.api.dependencies import DeadlineDep, MessageIdDep, PrincipalDep, ServicesDep
from functions.query.api.middleware import in_a_thread
from functions.query.api.openapi import errors
from functions.query.api.schemas import BandOut, Out, ScorePartsOut, UsageOut
from functions.query.bootstrap import Services
from functions.query.explaining import reasons_of
from functions.query.replaying import Answered, compare
from functions.query.withholding import unreadable_messages
from shared.errors import AccessLost, NotFound
from shared.models import FoundMessage, Message, Principal
from shared.receipts import UNSAID, Receipt, read_documents, unpacked, without_documents

router = APIRouter(prefix="/messages/{message_id}", tags=["conversations"])

NO_RECEIPT = "This message has no receipt: only answers have one, and those of earlier releases have none."
NO_MESSAGE = "There is no such message."
FATES = {
    "source": "",
    "refused": "no passage was relevant enough to answer from",
    "over_budget": "the better passages filled the prompt",
    "not_chosen": "enough passages ranked before it",
}
"""Why an answer was not made from a candidate, in words."""
FLAGS = {
    "source": "it names a source that does not exist",
    "quote": "its quote is not in the source",
    "uncited": "it names no source",
    "words": "its words are not in the source",
    "number": "one of its numbers is not in the source",
    "negation": "it negates what the source says, or the other way round",
    "name": "one of its names is not in the source",
    "instruction": "its source is an instruction to the model",
    "link": "a link that is in no source was removed",
    "image": "an image was removed",
    "html": "markup was removed",
    "marker": "a citation mark of its own was removed",
    "translated": "it is in another language than its source, so only facts and quotes were compared",
    "contradicted": "the check model says that its source contradicts it",
}
"""What was found wrong with a claim, in words. `flags` has the names, which are stable."""


UNPUBLISHED = "it was replaced, not published yet, or left out by an editor"
"""Why a hit was dropped before it was ranked, in words."""


class AskedForOut(Out):
    """What the request asked for besides the question."""

    top_k: int | None
    filter: dict[str, Any] | None
    language: str
    mode: str | None
    preferences: dict[str, str]


class VariantOut(Out):
    """A text that was searched for with the question, and its share of the score."""

    text: str
    weight: float


class QuestionPartOut(Out):
    """A part of the question that was searched for alone."""

    name: str
    question: str
    status: str = Field(description="found, nothing, or unavailable if its search failed.")


class SearchedOut(Out):
    """The question as it was searched for."""

    question: str
    language: str
    rewritten_by: str = Field(description="model or heuristic; empty if it was searched for as typed.")
    variants: list[VariantOut]
    parts: list[QuestionPartOut]
    filter: dict[str, Any] | None = Field(description="What the tenant's glossary added to the request's filter.")


class DecisionOut(Out):
    """Whether the documents answer the question, before a model was asked."""

    relevant: bool
    relevance: float
    threshold: float
    band: BandOut
    relaxed: bool = Field(description="Only the relaxed threshold was met.")
    absent: list[str] = Field(description="Names and years of the question that no passage is about.")
    statement_similarity: float | None = Field(
        None, description="Similarity of the nearest statement, where that answers although no passage is relevant."
    )


class ReceiptPartsOut(ScorePartsOut):
    """What a ranking score is the sum of, in units of cosine."""

    fused: float = Field(description="`dense` and `bm25` together, of a passage that was found by words only.")


class CandidateOut(Out):
    """A passage that was found, and what became of it."""

    passage_id: str
    document_id: str
    title: str
    text_hash: str = Field(description="First 32 hex digits of the SHA-256 of its text, as it was then.")
    version_id: str = Field(description="The version of the file that it is from.")
    page_start: int
    page_end: int
    corrected: bool
    source: int = Field(description="Its number as a source in the prompt; 0 if it was not one.")
    fate: str = Field(description="source, refused, over_budget or not_chosen.")
    dropped_because: str = Field(description="The same in words; empty for a source.")
    score: float = Field(description="The ranking score: the sum of its parts.")
    parts: ReceiptPartsOut
    reasons: list[str] = Field(description="The parts in words, the largest first.")
    rerank: float | None
    similarity: float | None
    relevance: float | None
    coverage: float | None


class UnpublishedOut(Out):
    """A hit that was dropped at once."""

    passage_id: str
    dropped_because: str


class PromptOut(Out):
    """The model call: model, prompt and parameters."""

    hash: str = Field(description="32 hex digits; the same prompt has the same.")
    version: str
    model: str = Field(description="The model as its provider names it.")
    finish_reason: str
    check_model: str = Field(description="The model that was asked about unconfirmed claims; empty for none.")
    temperature: float
    max_output_tokens: int
    structured: bool
    reasoning_effort: str


class ClaimFateOut(Out):
    """A claim of the answer, shown or dropped."""

    text: str = Field(description="Empty if it is withheld (`withheld`).")
    shown: bool
    verdict: str = Field(description="confirmed, unconfirmed or refuted.")
    flags: list[str] = Field(description="What was found wrong with it, by name.")
    reasons: list[str] = Field(description="The same in words.")
    sources: list[int] = Field(description="Numbers of the sources that it was compared with.")


class SpentOut(UsageOut):
    """Tokens and cost of one model."""

    model: str
    cost_usd: float | None = Field(description="Null if the price file does not list the model.")


class CachesOut(Out):
    """What was read from caches."""

    answer: bool = Field(description="The answer is an earlier one; candidates, prompt and claims are that one's.")
    embedding: bool
    prompt_tokens: int = Field(description="Tokens of the prompt that the provider had in its cache.")


class AnswerReceiptOut(Out):
    """Everything that an answer was made from."""

    message_id: str
    conversation_id: str
    asked_at: str
    question: str = Field(description="As it was typed.")
    asked: AskedForOut
    searched: SearchedOut | None = Field(description="Null if nothing was searched for, or if it is withheld.")
    history: list[str] = Field(description="Ids of the messages before it that were taken into account.")
    version: str
    release: str = Field(description="The deployment whose code answered.")
    settings_hash: str
    settings: dict[str, Any] = Field(description="Settings that shape an answer, by their names in docs/settings.md.")
    index_version: int
    embedding_space: str
    mode: str
    refusal: str | None
    decision: DecisionOut | None
    hits: int = Field(description="All published passages that were ranked.")
    candidates: list[CandidateOut] = Field(description="The best of them, best first.")
    duplicates: int = Field(description="Hits dropped because a better one has the same text.")
    unpublished: list[UnpublishedOut]
    left_out: int = Field(description="Passages not shown here: their documents are gone, or are not for you to read.")
    withheld: bool = Field(description="What may repeat the words of such a document is withheld, too.")
    prompt: PromptOut | None = Field(description="Null if no model was asked.")
    claims: list[ClaimFateOut]
    confidence: float | None
    spent: list[SpentOut]
    cost_usd: float | None
    caches: CachesOut
    warnings: list[str] = Field(description="What was degraded.")
    timings_ms: dict[str, float]

    @classmethod
    def of(cls, found: FoundMessage, receipt: Receipt, titles: Mapping[str, str]) -> "AnswerReceiptOut":
        """Return the receipt of a found answer; documents that are not among `titles` may not be shown."""
        shown = without_documents(receipt, {*read_documents(receipt)} - titles.keys())
        made = shown["made"] or {}
        withheld = bool(made.get("withheld"))
        spent = [SpentOut(model=model, **values) for model, values in shown["spent"].items()]
        costs = [each.cost_usd for each in spent]
        own = {name: shown[name] for name in cls.model_fields.keys() & shown.keys() - {"spent", "history"}}
        return cls(
            **own,
            message_id=found.message.message_id,
            conversation_id=found.conversation_id,
            asked_at=found.message.created_at,
            question=found.asked,
            searched=_searched(made) if made and not withheld else None,
            history=shown["history"]["messages"],
            embedding_space=shown["space"],
            decision=made.get("decision"),
            hits=made.get("hits", 0),
            candidates=[_candidate(each, titles) for each in made.get("candidates", ())],
            duplicates=made.get("duplicates", 0),
            unpublished=[
                UnpublishedOut(passage_id=each, dropped_because=UNPUBLISHED) for each in made.get("unpublished", ())
            ],
            left_out=made.get("left_out", 0),
            withheld=withheld,
            prompt=made.get("prompt"),
            claims=_claims(made, found) if made else [],
            spent=spent,
            cost_usd=None if None in costs else round(sum(filter(None, costs)), 9),
            caches=CachesOut(
                answer=shown["cached"],
                embedding=shown["embedding_cached"],
                prompt_tokens=sum(each.cached_tokens for each in spent),
            ),
        )


class DifferenceOut(Out):
    """One difference."""

    kind: str = Field(
        description="A cause: code, settings, index, embedding, question, history, documents, degraded, cache, prompt, "
        "model or unknown. An effect: decision, sources, claims or candidates."
    )
    text: str


class ReplayOut(Out):
    """An answer and the same question asked again, compared."""

    identical: bool = Field(description="Whether decision, sources and claims are the same.")
    causes: list[DifferenceOut] = Field(description="What has changed since.")
    effects: list[DifferenceOut] = Field(description="What is different in the answer.")
    answer: str = Field(description="The answer as it is now.")
    then: AnswerReceiptOut
    now: AnswerReceiptOut = Field(description="The receipt of the answer now, which is not saved.")


@router.get("/receipt", operation_id="readReceipt")
def read_receipt(principal: PrincipalDep, message_id: MessageIdDep, services: ServicesDep) -> AnswerReceiptOut:
    """Return what one of your answers was made from: settings, search, decision, prompt, claims, tokens, cost.

    Documents that are gone, or that you may no longer read, are left out and counted. The receipt is erased with its
    conversation.
    """
    found, receipt = receipt_found(principal, message_id, services)
    return AnswerReceiptOut.of(found, receipt, readable(principal, read_documents(receipt), services))


@router.post("/replay", operation_id="replayAnswer", responses=errors(422))
async def replay_answer(
    principal: PrincipalDep, message_id: MessageIdDep, services: ServicesDep, deadline: DeadlineDep
) -> ReplayOut:
    """Ask the question of one of your answers again, with the same history, filters and preferences; compare the two.

    It counts as a question. Nothing is saved, and no answer is taken from the cache.
    """
    who = principal.tenant, principal.user
    settings = services.settings

    def as_asked() -> tuple[FoundMessage, Receipt, Question]:
        found, receipt = receipt_found(principal, message_id, services)
        most = max(settings.history_messages, settings.session_messages)
        before = services.conversations.messages_before(*who, found, limit=most)
        hidden = unreadable_messages(principal.tenant, before, services.registry)
        known = set(receipt["history"]["messages"]) - hidden
        history = [each for each in before if each.message_id in known]
        return found, receipt, Question(found.asked, **receipt["asked"], history=history, fresh=True, is_saved=False)

    found, receipt, question = await in_a_thread(as_asked)
    events = answering(question, principal, services, deadline)

    def replayed() -> ReplayOut:
        (done,) = (event for event in events() if isinstance(event, Done))
        again = done.receipt
        then, now = Answered(receipt, found.message.claims), Answered(again, done.answer.claims)
        titles = readable(principal, {*read_documents(receipt), *read_documents(again)}, services)
        compared = compare(
            then,
            now,
            asked_at=found.message.created_at,
            readable=titles,
            document_of=lambda document_id: services.registry.get(principal.tenant, document_id),
        )
        at = services.clock.now().isoformat(timespec="milliseconds")
        message = Message(done.answer.message_id, "assistant", done.answer.text, at, claims=done.answer.claims)
        return ReplayOut(
            identical=compared.identical,
            causes=[DifferenceOut.model_validate(each) for each in compared.causes],
            effects=[DifferenceOut.model_validate(each) for each in compared.effects],
            answer=done.answer.text,
            then=AnswerReceiptOut.of(found, receipt, titles),
            now=AnswerReceiptOut.of(FoundMessage(found.conversation_id, message, found.asked), again, titles),
        )

    return await in_a_thread(replayed)


def receipt_found(principal: Principal, message_id: str, services: Services) -> tuple[FoundMessage, Receipt]:
    """Return one of the principal's answers with its receipt. Raises `NotFound`, and `AccessLost` if it is withheld."""
    found = services.conversations.find_message(principal.tenant, principal.user, message_id)
    if found is None:
        raise NotFound(NO_MESSAGE)
    data = services.conversations.receipt(principal.tenant, principal.user, message_id)
    if data is None:
        raise NotFound(NO_RECEIPT)
    if unreadable_messages(principal.tenant, [found.message], services.registry):
        raise AccessLost("This receipt is not shown: you may no longer read a document that its answer was made from.")
    return found, unpacked(data)


def readable(principal: Principal, document_ids: Collection[str], services: Services) -> Mapping[str, str]:
    """Map those of the documents that the principal may read now to their titles."""
    return services.registry.titles(principal.tenant, list(document_ids)) if document_ids else {}


def _searched(made: Mapping[str, Any]) -> SearchedOut:
    return SearchedOut(
        question=made["searched"],
        language=made["language"],
        rewritten_by=made["rewritten_by"],
        variants=[VariantOut(text=text, weight=weight) for text, weight in made["variants"]],
        parts=made["parts"],
        filter=made["filter"],
    )


def _candidate(stored: Mapping[str, Any], titles: Mapping[str, str]) -> CandidateOut:
    said = {**UNSAID, **stored}
    parts = dict.fromkeys(ReceiptPartsOut.model_fields, 0.0) | said["parts"]
    words = {"title": titles[stored["document_id"]], "dropped_because": FATES[stored["fate"]]}
    return CandidateOut(**{**said, **words, "parts": parts, "reasons": reasons_of(parts)})


def _claims(made: Mapping[str, Any], found: FoundMessage) -> list[ClaimFateOut]:
    """Return the claims; those that are shown stand in the answer."""
    standing = iter(found.message.claims)
    claims = []
    for each in made["claims"]:
        claim = next(standing, None) if each["shown"] else None
        text = claim.text if claim and not made.get("withheld") else each["text"]
        claims.append(
            ClaimFateOut(**{**each, "text": text, "reasons": [FLAGS.get(flag, flag) for flag in each["flags"]]})
        )
    return claims
