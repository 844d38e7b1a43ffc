"""What the adapters of DynamoDB and S3 return in made courses of events, and what each call asks of AWS.

`make snapshots` stores what comes out now.
"""

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from shared.access import AccessRule, rules_key
from shared.adapters.api_keys import DynamoApiKeys
from shared.adapters.cache import DynamoAnswerCache, DynamoChunkVectorCache, DynamoEmbeddingCache
from shared.adapters.conversations import DynamoConversationStore, cursor_of, place_of
from shared.adapters.document_fence import DynamoDocumentFence
from shared.adapters.document_registry import DynamoDocumentRegistry, DynamoDocumentScan, pack_report, unpack_report
from shared.adapters.erasures import DynamoErasures
from shared.adapters.feedback import DynamoFeedbackStore
from shared.adapters.folder_rules import DynamoFolderRules
from shared.adapters.handoffs import DynamoHandoffStore
from shared.adapters.index_versions import DynamoIndexVersions, DynamoReindexProgress
from shared.adapters.passage_edits import DynamoPassageEdits
from shared.adapters.read_pages import DynamoReadPages
from shared.adapters.s3 import S3Objects, S3SmallObjects
from shared.adapters.traces import DynamoTraces
from shared.adapters.unanswered import DynamoUnansweredLog
from shared.adapters.usage import DynamoUsage
from shared.api_keys import ClientKey
from shared.erasures import Erasure, ScanPosition, SoughtErasure
from shared.models import (
    AnswerClaim,
    Document,
    DocumentError,
    DocumentStatus,
    EmbeddingSpace,
    Feedback,
    Handoff,
    IndexVersion,
    Message,
    PageReport,
    PassageChange,
    PassageEdit,
    SourceType,
    UnansweredQuestion,
    Usage,
)
from shared.ports import DocumentFilter, ReindexProgress, UnfinishedIngest
from tests.support.aws_requests import plain, recorded
from tests.support.clock import FakeClock
from tests.support.course import Course
from tests.support.moto_aws import MockedAws, create_tables, mocked_aws
from tests.support.snapshots import check, check_names

HERE = Path(__file__).parent / "snapshots" / "adapters"
SPACE = EmbeddingSpace("small", 3)
NOW = "2026-01-01T00:00:00.000+00:00"
DOC, OTHER = "d" * 32, "e" * 32


def usage(course: Course, aws: MockedAws, clock: FakeClock) -> None:
    log = DynamoUsage(aws.dynamodb, "conversations")
    for questions, tokens in ((2, 0), (2, 50), (2, 50), (0, 50)):
        course(log.count, "LIMIT#a", questions=questions, tokens=tokens, expires_at=9)
    course(log.add_tokens, "LIMIT#a", 60, expires_at=9)
    course(log.count, "LIMIT#a", questions=9, tokens=50, expires_at=9)
    spent = {"gpt-5-mini": Usage(10, 5, 2), "nothing": Usage(7)}
    course(log.record, "acme", "ann", spent, questions=1, now=clock.now())
    course(log.record, "acme", "bob", {}, questions=1, now=clock.now())
    course(log.rows, "acme", date(2025, 12, 31), date(2026, 1, 2))


def caches(course: Course, aws: MockedAws, clock: FakeClock) -> None:
    embeddings = DynamoEmbeddingCache(aws.dynamodb, "cache", clock, container_size=1)
    answers = DynamoAnswerCache(aws.dynamodb, "cache", clock)
    chunks = DynamoChunkVectorCache(aws.dynamodb, "cache", clock, ttl_s=60)
    course(embeddings.put, "EMB#1", [0.5, 0.25, -1.0], ttl_s=60)
    course(embeddings.get, "EMB#1")
    course(embeddings.put, "EMB#2", [0.5], ttl_s=60)
    course(embeddings.get, "EMB#1")
    course(answers.put, "ANS#1", b"answer", ttl_s=60)
    course(answers.get, "ANS#1")
    course(chunks.put_many, SPACE, {"h1": [1.0, 2.0, 3.0], "h2": [0.0, 0.0, 0.5]})
    course(chunks.get_many, SPACE, ["h1", "h2", "h3"])
    clock.advance(59)
    course(answers.get, "ANS#1")
    clock.advance(1)
    course(answers.get, "ANS#1")
    course(embeddings.get, "EMB#1")
    course(chunks.get_many, SPACE, ["h1"])
    course(chunks.get_many, SPACE, [])


def keys(course: Course, aws: MockedAws, clock: FakeClock) -> None:
    store = DynamoApiKeys(aws.dynamodb, "conversations")
    secrets = ["rk_" + letter * 43 for letter in "abc"]
    for number, secret in enumerate(secrets):
        ends = "2026-02-01T00:00:00.000+00:00" if number else ""
        groups = ("hr",) if number else ()
        course(
            store.create, ClientKey("acme", f"{number:026}", "Bot", "reader", "root", NOW, ends, groups=groups), secret
        )
    course(store.find, secrets[1])
    course(store.find, "rk_" + "z" * 43)
    course(store.mark_used, secrets[1], at=clock.now(), unless_since=clock.now())
    course(store.mark_used, secrets[1], at=clock.now(), unless_since=clock.now())
    _, cursor = course(store.list, "acme", limit=2)
    course(store.list, "acme", limit=2, cursor=cursor)
    course(store.revoke, "acme", f"{1:026}")
    course(store.revoke, "acme", f"{1:026}")
    course(store.list, "acme", limit=9)


def conversations(course: Course, aws: MockedAws, clock: FakeClock) -> None:
    store = DynamoConversationStore(aws.dynamodb, "conversations")
    ratings = DynamoFeedbackStore(aws.dynamodb, "conversations")
    name, other = f"{'0' * 24}C1", f"{'0' * 24}C2"
    claims = (AnswerClaim("It is so.", "confirmed", (1,), "1 + 1 = 2"),)
    turns = [
        Message("0" * 25 + "1", "user", "Who?", NOW),
        Message("0" * 25 + "2", "assistant", "Ann.", NOW, claims=claims, details={"mode": "generated"}),
    ]
    vector = [0.5, 0.5, 0.5]
    asked = UnansweredQuestion("0" * 25 + "2", "Who?", NOW, "en", str(SPACE), vector, "nothing_proven", (), 2**31)
    course(store.save_turns, "acme", "ann", name, title="T", turns=turns, is_new=True, unanswered=asked)
    course(store.save_turns, "acme", "ann", name, title="T", turns=turns, is_new=True)
    later = [replace(each, message_id=f"1{each.message_id[1:]}") for each in turns]
    course(store.save_turns, "acme", "ann", name, title="", turns=later, is_new=False)
    course.fails(store.save_turns, "acme", "ann", other, title="", turns=later, is_new=False)
    once = [replace(turns[0], message_id="2" * 26)]
    course(store.save_turns, "acme", "ann", other, title="U", turns=once, is_new=True)
    course(store.recent_messages, "acme", "ann", name, limit=3)
    course.fails(store.recent_messages, "acme", "bob", name, limit=3)
    course(store.get, "acme", "ann", name)
    course(store.get, "acme", "bob", name)
    _, cursor = course(store.recent, "acme", "ann", limit=1)
    course(store.recent, "acme", "ann", limit=5, cursor=cursor)
    course(store.rename, "acme", "ann", name, "New")
    course(store.rename, "acme", "bob", name, "New")
    found = course(store.find_message, "acme", "ann", turns[1].message_id)
    assert found is not None
    course(store.find_message, "acme", "bob", turns[1].message_id)
    course(store.messages_before, "acme", "ann", found, limit=5)
    course(store.receipt, "acme", "ann", turns[1].message_id)
    course(store.save_summary, "acme", "ann", name, summary="S", upto=2)
    course(ratings.put, "acme", "ann", found, Feedback("down", "wrong", "No.", NOW))
    course(ratings.given, "acme", limit=5)
    course(ratings.given, "acme", limit=5, rating="up", since=datetime(2026, 1, 1, tzinfo=UTC))
    course(ratings.remove, "acme", "ann", found)
    course(ratings.remove, "acme", "ann", found)
    log = DynamoUnansweredLog(aws.dynamodb, "conversations", clock)
    course(log.since, "acme", datetime(2025, 12, 1, tzinfo=UTC), limit=5)
    for question_id in (asked.question_id, "9" * 26):  # of several, they may be asked for in any order
        course(log.mark, "acme", [question_id], "F1", expires_at=2**31)
    course(log.since, "acme", datetime(2025, 12, 1, tzinfo=UTC), limit=5)
    course(store.erase, "acme", "ann", name)
    course(store.erase, "acme", "ann", name)
    course(store.unfinished_erasures, "acme", "ann")
    course(place_of, cursor_of(NOW, "b"), parts=2)
    course.fails(place_of, cursor_of("a"), parts=2)
    course.fails(place_of, "no cursor", parts=2)


def documents(course: Course, aws: MockedAws, clock: FakeClock) -> None:
    fence = DynamoDocumentFence(aws.dynamodb, "documents", clock)
    registry = DynamoDocumentRegistry(aws.dynamodb, "documents", clock)
    scan = DynamoDocumentScan(aws.dynamodb, "documents", clock)
    report = (PageReport(1, 120, doubtful=0.25), PageReport(2, 0, "empty", "No text.", 1.5))
    document = Document(
        "acme", DOC, "uploads/acme/lamp.pdf", status=DocumentStatus.READY, title="Lamp", version_id="v1", etag="e",
        source_type=SourceType.PDF, page_count=2, chunk_count=3, generation="G1", created_at=NOW, updated_at=NOW,
        embedding_space=str(SPACE), card={"kind": "manual", "period": ["2023"]}, labels={"tags": ["a"]},
    )  # fmt: skip
    course(registry.announce, replace(document, status=DocumentStatus.PENDING, generation=""), expires_s=60)
    course(registry.announce, replace(document, status=DocumentStatus.PENDING, generation=""), expires_s=60)
    lease = fence.lease("acme", DOC, owner="m1/1", lease_s=60)
    course(lease.claim, document.key, sequencer="00A1")
    rival = fence.lease("acme", DOC, owner="m2/1", lease_s=60)
    course(rival.claim, document.key, sequencer="00A0")
    course(rival.claim, document.key, sequencer="00A1")
    course(rival.claim, document.key, sequencer="00A2")
    course(lease.renew)
    course(lease.save_progress, UnfinishedIngest("G1", "v1", "hash", 2), upper_bound=5)
    course(lease.take_rule, AccessRule(frozenset({"hr"}), frozenset({"ann"})), "v1")
    course(lease.publish, document)
    course(lease.take_pending_change)
    course(lease.publish, document)
    course(lease.publish_other, document)
    course(lease.release)
    course.fails(lease.renew)
    course(registry.get, "acme", DOC)
    course(registry.get, "acme", OTHER)
    course(registry.list, "acme", DocumentFilter(), limit=5, cursor="")
    course(registry.published_documents, "acme", [DOC, OTHER])
    course(registry.published_documents, "acme", [DOC, OTHER])
    course(registry.rules_of, "acme", [DOC, OTHER])
    course(registry.titles, "acme", [DOC, OTHER])
    course(registry.versions, "acme", [DOC, OTHER])
    course(registry.catalogue, "acme")
    course(registry.label, "acme", DOC, {"chapter": "1"}, before={"tags": ["a"]})
    course(registry.label, "acme", DOC, {"chapter": "2"}, before={"tags": ["a"]})
    course(registry.restrict, "acme", DOC, None, before=AccessRule(frozenset({"hr"}), frozenset({"ann"})))
    course(scan.tenants)
    course(scan.entries, "acme")
    course(scan.of, "acme")
    clock.advance(3_600)
    course(scan.stalled, quiet_s=60)
    course(lease.claim, document.key, sequencer="00A3")
    course(lease.fail, document, DocumentError("broken", "It is broken."), DocumentStatus.FAILED)
    course(lease.presume_failed, DocumentError("crashed", "It crashed."))
    course(lease.release, DocumentStatus.FAILED, DocumentError("x", "y"))
    course(registry.unpublish, "acme", DOC)
    course(registry.unpublish, "acme", OTHER)
    course(lease.claim, document.key, sequencer="00A4")
    course(lease.forget_generation, "G1")
    course(lease.tombstone)
    course(lease.forget_name)
    course(lease.release)
    course(fence.written, "acme", DOC)
    course(fence.remains, "acme", DOC)
    course(fence.forget, "acme", DOC)
    course(registry.get, "acme", DOC)
    course(unpack_report, pack_report(report))


def versions(course: Course, aws: MockedAws, clock: FakeClock) -> None:
    first = IndexVersion(1, "acme", "recto", SPACE)
    store = DynamoIndexVersions(aws.dynamodb, "documents", clock, lambda tenant: replace(first, namespace=tenant))
    course(store.of, "acme")
    course(store.current, "acme")
    held = store.of("acme")
    course(store.save, held)
    course(store.save, held)
    course(store.is_restricted, "acme")
    marks = course(store.begin_change, "acme", DOC, restricts=frozenset({"groups"}))
    course(store.knowledge, "acme")
    course(store.end_change, "acme", marks)
    course(store.count_change, "acme")
    course(store.knowledge, "acme")
    clock.advance(30)
    course(store.current, "acme")
    course(store.is_restricted, "acme")
    progress = DynamoReindexProgress(aws.dynamodb, "documents")
    course(progress.read)
    course(progress.write, ReindexProgress("goal", ["acme", "other"], 3, 1, 12.5))
    course(progress.read)


def pages(course: Course, aws: MockedAws, clock: FakeClock) -> None:
    for kind in ("", "figures"):
        store = DynamoReadPages(aws.dynamodb, "documents", clock, kind=kind)
        place = "acme", DOC, "v1"
        course(store.begin, *place, seconds=60)
        course(store.begin, *place, seconds=60)
        clock.advance(61)
        course(store.begin, *place, seconds=60)
        course(store.save, *place, 1, b"one")
        course(store.save, *place, 12, b"twelve")
        course(store.save, *place, 13, bytes(range(256)) * 2_000)
        course(store.numbers, *place)
        course(store.pages, *place)
        course(store.reading, *place)
        course(store.finish, *place, "R1")
        course(store.reading, *place)
        course(store.end, *place)
        course(store.erase, "acme", DOC, keep_version="v1")
        course(store.erase, "acme", DOC)
        course(store.numbers, *place)


def erasures(course: Course, aws: MockedAws, clock: FakeClock) -> None:
    store = DynamoErasures(aws.dynamodb, "conversations")
    first = Erasure("acme", "E1", "document", DOC, "root", NOW, key="uploads/acme/lamp.pdf", title="Lamp")
    user = Erasure("acme", "E2", "user", "ann", "root", NOW)
    course(store.begin, first)
    course(store.begin, replace(first, erasure_id="E9"))
    course(store.begin, user)
    course(store.count_before, user, "conversations", 3)
    course(store.get, "acme", "E2")
    course(store.get, "acme", "E3")
    course(store.unfinished)
    course(store.hold, 100.0, 160.0)
    course(store.hold, 110.0, 170.0)
    course(store.let_go, {"table": "cache"})
    course(store.hold, 120.0, 180.0)
    conversations = DynamoConversationStore(aws.dynamodb, "conversations")
    for who, text in (("ann", "From the lamp."), ("bob", "Of the lamp.")):
        details = {"mode": "generated", "sources": [f"{DOC}#G1#0"], "near_misses": [[f"{DOC}#G1#0", 0.5]]}
        turns = [
            Message("0" * 25 + "1", "user", "What is in lamp.pdf?", NOW),
            Message("0" * 25 + "2", "assistant", text, NOW, details=details),
        ]
        conversations.save_turns("acme", who, "0" * 24 + "C1", title="Lamp", turns=turns, is_new=True)
    traces = DynamoTraces(aws.dynamodb, "conversations", "cache", 60)
    began = datetime.fromisoformat(NOW).timestamp()
    for erasure in (first, user):
        position: ScanPosition | None = ScanPosition()
        while position is not None:
            found, position = course(traces.remove, [SoughtErasure(erasure, began + 60, math.inf)], position)
            assert all(isinstance(each, Counter) for each in found.values())
    course(store.save, replace(first, state="erased", finished_at=NOW, rounds=2, found={"answers": 1}))
    course(store.save, replace(user, rounds=1))
    course(store.unfinished)


def objects(course: Course, aws: MockedAws, clock: FakeClock) -> None:
    store, small = S3Objects(aws.s3, aws.bucket), S3SmallObjects(aws.s3, aws.bucket)
    key = "faq/acme/1.json"
    etag = course(store.write, key, b"{}", content_type="application/json")
    course.fails(store.write, key, b"[]", content_type="application/json", replacing="other")
    course(store.write, key, b"[]", content_type="application/json", replacing=etag)
    course(store.write, "faq/acme/2.json", b"[2]", content_type="application/json", replacing="")
    course(store.read, key, max_bytes=10)
    course(store.read, "faq/acme/9.json", max_bytes=10)
    course(store.head, "faq/acme/9.json")
    course(store.folders, "faq/")
    course(small.read_small, key, known_etag="", max_bytes=10)
    course(small.read_small, "nothing", known_etag="", max_bytes=10)
    course(store.delete_all_versions, key)
    course(store.head, key)


def handoffs(course: Course, aws: MockedAws, clock: FakeClock) -> None:
    talks = DynamoConversationStore(aws.dynamodb, "conversations")
    store = DynamoHandoffStore(aws.dynamodb, "conversations", talks)
    stored = []
    for number in range(4):
        turns = [Message(f"{number:026}", "user", "Who keeps the lamp?", NOW)]
        talks.save_turns("acme", "ann", f"c{number}", title="Lamp", turns=turns, is_new=True)
        new = Handoff("acme", f"{number:026}", f"c{number}", "ann", NOW, NOW, near_misses=(("d#G1#0", 0.25),))
        stored.append(course(store.open, new))
    course(store.open, replace(stored[0], handoff_id=f"{9:026}"))
    course.fails(store.open, replace(stored[0], handoff_id=f"{8:026}", conversation_id="nothing"))
    claimed = replace(stored[0], status="claimed", claimed_by="bea", revision=1)
    course(store.change, stored[0], claimed)
    course(store.change, stored[0], replace(claimed, claimed_by="cal"))
    answered = replace(claimed, status="resolved", answer="The keeper.", revision=2)
    said = Message(f"{7:026}", "agent", "The keeper.", NOW)
    course(store.answer, stored[0], replace(answered, answer="Nobody."), said)
    course(store.answer, claimed, answered, said)
    course(store.answer, claimed, answered, replace(said, message_id=f"{6:026}"))
    course(store.open, replace(stored[0], handoff_id=f"{5:026}"))
    talks.erase("acme", "ann", "c1")
    course.fails(store.answer, stored[1], replace(stored[1], status="resolved", revision=1), said)
    course(store.get, "acme", f"{0:026}")
    course(store.get, "acme", "nothing")
    for limit in (1, 2, 9):
        _, cursor = course(store.list, "acme", limit=limit)
        course(store.list, "acme", limit=limit, cursor=cursor or f"{0:026}")
        course(store.list, "acme", limit=limit, status="open")
    course(store.list, "other", limit=2)


def edits(course: Course, aws: MockedAws, clock: FakeClock) -> None:
    registry = DynamoDocumentRegistry(aws.dynamodb, "documents", clock)
    store = DynamoPassageEdits(aws.dynamodb, "documents", clock)
    registry.announce(
        Document("acme", DOC, "uploads/acme/lamp.pdf", DocumentStatus.PENDING, created_at=NOW, updated_at=NOW),
        expires_s=60,
    )
    document = registry.get("acme", DOC)
    assert document is not None
    later = NOW.replace("00:00:00", "00:00:05")
    first = PassageEdit(DOC, "h1", "Lit at six.", "Lit at ten.", False, "Rule", "G1", 1, 2, 2, "ii", "Lamp", 40)
    first = replace(first, changes=(PassageChange("ann", NOW, False, "Lit at ten.", "Rule"),))
    second = replace(
        first, original_hash="h2", text="", excluded=True, char_start=5, changes=(*first.changes, *first.changes)
    )
    course(store.save, document, first, before=None)
    course(store.save, document, second, before=None)
    document = registry.get("acme", DOC)
    assert document is not None
    course(store.save, document, second, before=None)
    course(store.save, document, second, before=None)
    again = replace(first, text="", changes=(*first.changes, PassageChange("bob", later, False, "", "")))
    course(store.save, document, again, before=replace(first, changes=again.changes))
    course(store.save, document, again, before=first)
    course(store.get, "acme", DOC, "h1")
    course(store.get, "acme", DOC, "h9")
    course(store.of, "acme", DOC)
    course(store.forget_editor, "acme", "ann")
    course(store.forget_editor, "acme", "ann")
    course(store.forget_editor, "acme", "bob")
    course(store.of, "acme", DOC)
    course(store.erase_document, "acme", DOC)
    course(store.erase_document, "acme", DOC)


def rules(course: Course, aws: MockedAws, clock: FakeClock) -> None:
    store, objects = DynamoFolderRules(aws.dynamodb, "documents"), S3Objects(aws.s3, aws.bucket)
    course(store.apply, "acme", objects)
    course(store.of, "acme", "")
    course.fails(store.of, "acme", "missing")
    for groups in (["hr"], ["hr", "board"]):
        folders = [{"prefix": "uploads/acme/pay/", "allowed_groups": groups}]
        objects.write(rules_key("acme"), json.dumps({"folders": folders}).encode(), content_type="application/json")
        etag = course(store.apply, "acme", objects)
        course(store.apply, "acme", objects)
        course(store.of, "acme", etag)
        course(store.of, "acme", etag)
        course(store.in_force, "acme")


COURSES: dict[str, Callable[[Course, MockedAws, FakeClock], None]] = {
    each.__name__: each
    for each in (
        usage, caches, keys, conversations, documents, versions, pages, erasures, objects, handoffs, edits, rules,
    )
}  # fmt: skip


@pytest.mark.parametrize("name", COURSES)
def test_a_made_course_of_events_is_as_stored(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with mocked_aws(monkeypatch) as aws:
        create_tables(aws.dynamodb, "ConversationsTable", "CacheTable")
        course = Course(recorded(monkeypatch))
        COURSES[name](course, aws, FakeClock())
    check(HERE / f"{name}.txt", plain("\n".join(course.lines)))


def test_each_stored_text_has_its_course() -> None:
    check_names(HERE, COURSES)
