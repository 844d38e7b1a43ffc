"""A hand-off's life: its states, the event that announces it, and the document that its answer becomes.

    open ──claim──► claimed ──resolve──► resolved ──publish──► a document under resolved/
      ▲                │ │
      └────release─────┘ └─close─┐
    open ──close─────────────────┴─────► closed

Each change is a pure function from a hand-off to its next state, or `Conflict`. `changed` applies it to the stored one.
Of two changes at once the second sees the result of the first, so a repeated call returns what the first one returned.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from functions.query.faqs import JSON, Pair
from functions.query.ports import EventSender, HandoffStore, IdFactory, ObjectStore
from functions.query.readable import ReadableDocuments
from shared.errors import Conflict, DependencyError, NotFound
from shared.models import Handoff, Message, document_id_of, generation_named_by
from shared.ports import Clock
from shared.telemetry import logger

OPENED = "HandoffOpened"
"""The `detail-type` of the event."""
TRANSCRIPT_MESSAGES = 50
"""The most messages of a transcript, the last ones."""
MAX_DETAIL_BYTES = 240_000
"""Bytes of the event's detail. EventBridge takes 256 KB an entry and SNS 256 KB a message, envelope included.

docs.aws.amazon.com/eventbridge, "Calculating Amazon EventBridge PutEvents event entry size", read 2026-11-23."""
CUT_CHARACTERS = 10_000
"""A message that is too long for the event by itself is cut to this: 40 KB of UTF-8 at most."""
ATTEMPTS = 5
"""Times a change is tried again after another agent has changed the hand-off."""
DETAIL_SHARE = 4
"""One message takes so much of the details, a quarter, at most; longer ones are cut."""


def claim(handoff: Handoff, agent: str) -> Handoff:
    """Give it to the agent. Raises `Conflict` if another one has it, or if it is over."""
    if handoff.status == "claimed" and handoff.claimed_by == agent:
        return handoff
    if handoff.status == "claimed":
        raise Conflict("Another agent has claimed this hand-off.")
    _must_wait(handoff)
    return replace(handoff, status="claimed", claimed_by=agent)


def release(handoff: Handoff, agent: str, *, is_admin: bool) -> Handoff:
    """Give it back, which only the agent who has it can do, or an administrator."""
    _must_wait(handoff)
    if handoff.status == "open":
        return handoff
    _must_be_theirs(handoff, agent, is_admin=is_admin)
    return replace(handoff, status="open", claimed_by="")


def resolve(handoff: Handoff, agent: str, answer: str, *, publish: bool) -> Handoff:
    """Answer it, which only the agent who has it can do. `publish` asks for the answer to become a document."""
    if handoff.status == "resolved" and (handoff.claimed_by, handoff.answer) == (agent, answer):
        asked_anew = publish and not handoff.publication
        return replace(handoff, publication="requested") if asked_anew else handoff
    _must_wait(handoff)
    if handoff.status == "open":
        raise Conflict("Claim this hand-off before you answer it.")
    _must_be_theirs(handoff, agent, is_admin=False)
    return replace(handoff, status="resolved", answer=answer, publication="requested" if publish else "")


def close(handoff: Handoff, agent: str, *, is_admin: bool) -> Handoff:
    """End it without an answer."""
    if handoff.status == "closed":
        return handoff
    _must_wait(handoff)
    if handoff.status == "claimed":
        _must_be_theirs(handoff, agent, is_admin=is_admin)
    return replace(handoff, status="closed")


def published(handoff: Handoff) -> Handoff:
    """Record that the answer is a document now."""
    if handoff.status != "resolved":
        raise Conflict("Only an answer can be published: this hand-off has none.")
    return replace(handoff, publication="published")


def _must_wait(handoff: Handoff) -> None:
    if not handoff.is_open:
        raise Conflict(f"This hand-off is {handoff.status} already.")


def _must_be_theirs(handoff: Handoff, agent: str, *, is_admin: bool) -> None:
    if handoff.claimed_by != agent and not is_admin:
        raise Conflict("Another agent has claimed this hand-off.")


def changed(
    tenant: str,
    handoff_id: str,
    change: Callable[[Handoff], Handoff],
    store: HandoffStore,
    clock: Clock,
    *,
    new_id: IdFactory | None = None,
) -> Handoff:
    """Apply a change to the stored hand-off and return the result.

    With `new_id`, an answer that the change adds is also written into the asker's conversation, once. Raises
    `NotFound`, what `change` raises, and `DependencyError`.
    """
    for _ in range(ATTEMPTS):
        before = store.get(tenant, handoff_id)
        if before is None:
            raise NotFound("There is no such hand-off.")
        after = change(before)
        if after == before:
            return before
        now = clock.now().isoformat(timespec="milliseconds")
        after = replace(after, updated_at=now, revision=before.revision + 1)
        if new_id is not None and after.status != before.status == "claimed" and after.answer:
            message = Message(new_id(), "agent", after.answer, now, details={"handoff_id": handoff_id})
            is_changed = store.answer(before, after, message)
        else:
            is_changed = store.change(before, after)
        if is_changed:
            return after
    raise Conflict("Others are changing this hand-off: try again.")


# --- what is asked, and the event ---


class HandedOver(NamedTuple):
    """The last question of a conversation, and what is known about the answer that did not help."""

    question: str = ""
    message_id: str = ""
    refusal: str = ""
    near_misses: Sequence[tuple[str, float]] = ()


def question_of(messages: Sequence[Message]) -> HandedOver:
    """Return the question that a person is asked to answer: the last one among the messages, oldest first."""
    at = max((at for at, message in enumerate(messages) if message.role == "user"), default=None)
    if at is None:
        return HandedOver()
    replies = [message for message in messages[at + 1 :] if message.role == "assistant"]
    if not replies:
        return HandedOver(messages[at].content)
    details = replies[0].details
    misses = details.get("near_misses")
    near_misses = [(str(chunk_id), float(score)) for chunk_id, score in misses] if isinstance(misses, list) else []
    return HandedOver(
        messages[at].content, replies[0].message_id, str(details.get("refusal") or ""), tuple(near_misses)
    )


@dataclass(frozen=True, slots=True)
class NearPassage:
    """A passage near the question, with its relevance; `title` is empty if the document is gone."""

    chunk_id: str
    document_id: str
    title: str
    relevance: float


def near_passages(
    tenant: str, near_misses: Sequence[tuple[str, float]], registry: ReadableDocuments
) -> Sequence[NearPassage]:
    """Name the documents of near misses that the reader may read. Raises `DependencyError`."""
    found = []
    hidden = registry.unreadable(tenant, (generation_named_by(chunk_id)[0] for chunk_id, _ in near_misses))
    for chunk_id, relevance in near_misses:
        document_id, _ = generation_named_by(chunk_id)
        if document_id in hidden:
            continue
        document = registry.get(tenant, document_id) if document_id else None
        found.append(NearPassage(chunk_id, document_id, document.title if document else "", relevance))
    return found


def detail_of(handoff: Handoff, transcript: Sequence[Message], omitted: int, near: Sequence[NearPassage]) -> str:
    """Return the event's detail as JSON of at most `MAX_DETAIL_BYTES`.

    The oldest messages are left out first and counted in `transcript_omitted`, with the `omitted` ones before them. A
    message that is too long by itself is cut, and says so.
    """
    head: dict[str, object] = {
        "handoff_id": handoff.handoff_id,
        "tenant": handoff.tenant,
        "conversation_id": handoff.conversation_id,
        "created_at": handoff.created_at,
        "reason": handoff.reason,
        "contact": handoff.contact,
        "question": handoff.question,
        "refusal": handoff.refusal,
        "near_misses": [
            {"chunk_id": each.chunk_id, "document_id": each.document_id, "title": each.title, "score": each.relevance}
            for each in near
        ],
    }
    room = MAX_DETAIL_BYTES - len(_json({**head, "transcript": [], "transcript_omitted": 10**6}))
    shown: list[dict[str, object]] = []
    for message in reversed(transcript):
        said: dict[str, object] = {
            "role": message.role,
            "content": message.content,
            "created_at": message.created_at,
        }
        if len(_json(said)) > MAX_DETAIL_BYTES // DETAIL_SHARE:
            said |= {"content": message.content[:CUT_CHARACTERS], "cut": True}
        room -= len(_json(said)) + 1
        if room < 0:
            break
        shown.append(said)
    left_out = omitted + len(transcript) - len(shown)
    return _json({**head, "transcript": shown[::-1], "transcript_omitted": left_out}).decode()


def _json(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def notify(handoff: Handoff, detail: str, events: EventSender, store: HandoffStore) -> Handoff:
    """Send the event and record that it was sent. If that fails, the hand-off stands; asking again sends the event.

    An event may come twice: consumers recognise it by `handoff_id`.
    """
    try:
        events.send(OPENED, detail)
    except DependencyError as error:
        logger.error("hand-off not notified", extra={"handoff_id": handoff.handoff_id, "error": error.message})
        return handoff
    after = replace(handoff, notified=True, revision=handoff.revision + 1)
    try:
        return after if store.change(handoff, after) else replace(handoff, notified=True)
    except DependencyError:
        return replace(handoff, notified=True)


# --- the document ---


def key_of(handoff: Handoff) -> str:
    """Return the key of the object that a published answer becomes."""
    return f"resolved/{handoff.tenant}/{handoff.handoff_id}.json"


def publish(handoff: Handoff, pair: Pair, objects: ObjectStore) -> str:
    """Write question and answer as an object, which ingest makes searchable; return the document's id.

    It names neither the asker nor the conversation. Publishing again replaces it. Raises `DependencyError`.
    """
    objects.write(key_of(handoff), pair.body, content_type=JSON)
    return document_id_of(handoff.tenant, key_of(handoff))
