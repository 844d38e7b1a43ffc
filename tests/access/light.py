"""The same readers, papers and rules in memory: thousands of steps in minutes, through everything above the adapters.

What the stack adds to it (DynamoDB, S3, the routes behind the handler) is `world.py`'s.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import Mock

from functions.query.answer import Done, Question
from functions.query.api.answers import sse_of
from functions.query.api.conversations import export_conversation, read_conversation
from functions.query.api.documents import list_documents, read_document
from functions.query.api.receipts import read_receipt
from functions.query.api.schemas import ExplanationOut, QueryOut
from functions.query.handoffs import near_passages
from functions.query.pipeline import answer_events
from functions.query.ports import QueryPorts
from functions.query.readable import OUTSIDER, ReadableDocuments
from functions.query.retrieval.filters import matches
from functions.query.withholding import readable_messages
from shared.access import AccessRule, FolderRules, Rules
from shared.deadline import Deadline
from shared.errors import AccessLost, DependencyUnavailable, NotFound
from shared.models import (
    FIRST_INDEX_VERSION,
    Conversation,
    Document,
    DocumentStatus,
    FoundMessage,
    Match,
    Message,
    PublishedDocument,
)
from shared.ports import CatalogueEntry, DocumentFilter, DocumentPage, TenantKnowledge
from shared.settings import Settings
from tests.access.world import FOLDERS, TENANT, TOPICS, USERS, Leak, Paper, Rule, User, World, question_of, some_rule
from tests.support.clock import FakeClock
from tests.support.query import FakeChat, FakeConversations, FakeSearch, match, query_ports


def rule_of(rule: Rule | None) -> AccessRule | None:
    """Return the model's rule as the code has it."""
    return None if rule is None else AccessRule(*rule)


@dataclass
class Registry:
    """Implements `RuledRegistry`; every change has a version of its own."""

    papers: list[Paper]
    folders: FolderRules = field(default_factory=FolderRules)
    own: dict[str, AccessRule | None] = field(default_factory=dict)
    version: int = 0

    def _rules(self, paper: Paper) -> Rules:
        return self.folders.rules_for(paper.key, self.own.get(paper.document_id))

    def _of(self, document_ids: Iterable[str]) -> list[Paper]:
        wanted = set(document_ids)
        return [paper for paper in self.papers if paper.document_id in wanted]

    def knowledge(self, tenant: str) -> TenantKnowledge:
        return TenantKnowledge(str(self.version), {"groups", "users"})

    def published_documents(
        self, tenant: str, document_ids: Sequence[str], *, index_version: int = FIRST_INDEX_VERSION
    ) -> Mapping[str, PublishedDocument]:
        return {each.document_id: PublishedDocument("g1", rules=self._rules(each)) for each in self._of(document_ids)}

    def rules_of(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, Rules]:
        return {each.document_id: self._rules(each) for each in self._of(document_ids)}

    def folder_rules(self, tenant: str) -> FolderRules:
        return self.folders

    def catalogue(self, tenant: str, *, index_version: int = FIRST_INDEX_VERSION) -> Iterator[CatalogueEntry]:
        for each in self.papers:
            yield CatalogueEntry(each.document_id, each.key, title_of(each), "g1", 2, "en", rules=self._rules(each))

    def get(self, tenant: str, document_id: str) -> Document | None:
        return next((document_of(each) for each in self._of([document_id])), None)

    def list(self, tenant: str, wanted: DocumentFilter, *, limit: int, cursor: str = "") -> DocumentPage:
        documents = sorted(map(document_of, self.papers), key=lambda each: each.document_id)
        found = [each for each in documents if each.document_id > cursor and wanted.q.lower() in each.title.lower()]
        return DocumentPage(found[:limit], found[limit - 1].document_id if len(found) > limit else "")

    def cursor_after(self, document: Document) -> str:
        return document.document_id

    def titles(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, str]:
        return {each.document_id: title_of(each) for each in self._of(document_ids)}

    def versions(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, Collection[str]]:
        return {each.document_id: {"v1"} for each in self._of(document_ids)}


def title_of(paper: Paper) -> str:
    """Return its title."""
    return f"The {paper.topic} of {paper.mark.title()}"


def document_of(paper: Paper) -> Document:
    """Return it as the registry has it."""
    return Document(TENANT, paper.document_id, paper.key, DocumentStatus.READY, title=title_of(paper))


class Conversations(FakeConversations):
    """Also what routes ask."""

    def __init__(self) -> None:
        super().__init__()
        self.receipts: dict[str, bytes] = {}

    def save_turns(self, tenant: str, user: str, conversation_id: str, **more: Any) -> None:
        super().save_turns(tenant, user, conversation_id, **more)
        if (receipt := more.get("receipt")) is not None:
            self.receipts[more["turns"][-1].message_id] = receipt.data

    def get(self, tenant: str, user: str, conversation_id: str) -> Conversation | None:
        said = self.turns.get((tenant, user, conversation_id))
        time = "2026-11-23T00:00:00+00:00"
        return Conversation(conversation_id, "A title", time, time, len(said)) if said else None

    def messages(self, tenant: str, user: str, conversation_id: str, **_: Any) -> tuple[Sequence[Message], str]:
        return self.turns[tenant, user, conversation_id], ""

    def find_message(self, tenant: str, user: str, message_id: str) -> FoundMessage | None:
        for (_, owner, conversation_id), said in self.turns.items():
            for before, each in zip([None, *said], said, strict=False):
                if owner == user and each.message_id == message_id:
                    return FoundMessage(conversation_id, each, before.content if before else "")
        return None

    def receipt(self, tenant: str, user: str, message_id: str) -> bytes | None:
        return self.receipts.get(message_id)


class Search(FakeSearch):
    """Applies the filter, and knows which words stand in which paper."""

    def query(self, **asked: Any) -> Sequence[Match]:
        wanted = asked.get("filter")
        found = super().query(**{**asked, "top_k": 10_000, "metadata": True})
        kept = [each for each in found if not wanted or matches(wanted, each.metadata)][: asked["top_k"]]
        return kept if asked.get("metadata", True) else [replace(each, metadata={}) for each in kept]


class Answers:
    """A cache in a dict."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self.held.get(key)

    def put(self, key: str, data: bytes, *, ttl_s: int) -> None:
        self.held[key] = data


class LightWorld(World):
    """A `World` without a stack."""

    def __init__(self, seed: int, *, papers: Sequence[Paper] = ()) -> None:
        places = [*FOLDERS, "", "", *FOLDERS, "", "hr/", "legal/"]
        topics = [f"{topic} {suffix}".strip() for suffix in ("", "annex") for topic in TOPICS]
        every = (Paper(at, place, topic) for at, (place, topic) in enumerate(zip(places, topics, strict=False)))
        papers = [*papers] or [*every]
        super().__init__(Mock(), random.Random(seed), papers)
        self.registry = Registry(papers)
        self.conversations_store = Conversations()
        self.chat = FakeChat(error=DependencyUnavailable("chat"))
        texts = [
            f"The inspection of the {each.topic} takes place every {each.number + 2} weeks. Its warden is "
            f"{each.mark.title()}, who keeps the keys of the {each.topic} in the {each.mark} cupboard. "
            f"The colour of the {each.topic} door is {each.mark} green."
            for each in papers
        ]
        hits = [
            replace(
                match(text, title=title_of(each), source_id=each.key, document_id=each.document_id, language="en",
                      section=f"Care > The {each.mark} rules"),
                id=f"{each.document_id}#g1#0",
            )
            for each, text in zip(papers, texts, strict=True)
        ]  # fmt: skip
        settings = Settings(
            embedding_model="all-MiniLM-L6-v2", embedding_dimensions=2, answer_cache_ttl_s=3600, suggestions=3,
            unanswered_days=30, neighbours=0,
        )  # fmt: skip
        base = query_ports(hits, settings=settings)
        self.ports = replace(
            base,
            search=Search(hits),
            conversations=self.conversations_store,
            answers=Answers(),
            knowledge=self.registry,
            is_restricted=lambda: True,
        )

    def anew(self, papers: Sequence[Paper]) -> "LightWorld":
        """Return a new world of the same rules, in which there have only ever been some of the papers."""
        world = LightWorld(0, papers=papers)
        world.folders = self.folders
        world.registry = replace(self.registry, papers=world.papers)
        world.ports = replace(world.ports, knowledge=world.registry)
        return world

    def registry_of(self, user: User) -> ReadableDocuments:
        """Return the registry as a user sees it."""
        return ReadableDocuments(self.registry, user.principal)  # type: ignore[arg-type]

    def ports_of(self, user: User) -> QueryPorts:
        """Return the ports of one question, sometimes with a model that is down: what it was sent is looked at."""
        chat = self.chat if self.random.random() < 0.3 else None
        return replace(self.ports, registry=self.registry_of(user), chat=chat)

    def services_of(self, user: User) -> Any:
        """Return what routes use."""
        services = Mock(registry=self.registry_of(user), conversations=self.conversations_store)
        services.index_versions.current.return_value.number = 1
        return services


def changed(world: LightWorld) -> None:
    """Change a rule, in the model and in the registry."""
    world.registry.version += 1
    if world.random.random() < 0.6:
        paper = world.random.choice(world.papers)
        paper.rule = None if world.random.random() < 0.4 else some_rule(world)
        world.registry.own[paper.document_id] = rule_of(paper.rule)
        return
    world.folders = {f"uploads/{TENANT}/{each}": some_rule(world) for each in FOLDERS if world.random.random() < 0.3}
    world.registry.folders = FolderRules({prefix: AccessRule(*rule) for prefix, rule in world.folders.items()})


def asked(world: LightWorld, user: User) -> None:
    """Ask once, or let several ask the same, so that the cache has it."""
    question = Question(question_of(world), explain=world.random.random() < 0.2)
    if world.random.random() < 0.7:
        asked_once(world, user, question)
        return
    for other in (user, *world.random.sample(USERS, 2), user):
        asked_once(world, other, replace(question, explain=False), is_new=True)


def asked_once(world: LightWorld, user: User, question: Question, *, is_new: bool = False) -> None:
    """Ask as events; now and then a rule changes between two of them."""
    own = world.conversations.setdefault(user.name, [])
    if own and not is_new and world.random.random() < 0.5:
        text = world.random.choice([question.text, "And who keeps its keys?", "Why?", "Summarise this document."])
        question = replace(question, text=text, conversation_id=world.random.choice(own[-4:]))
    world.chat.prompts.clear()
    ports, changes_at = world.ports_of(user), world.random.randrange(60 if is_new else 12)
    may_read = {paper.document_id for paper in world.papers if world.may_read(user, paper)}
    try:
        for number, event in enumerate(answer_events(question, user.principal, ports, Deadline(FakeClock(), 30))):
            world.check(user, json.dumps(sse_of(event), default=str), "an event")
            if isinstance(event, Done):
                answer = event.answer
                world.check(user, QueryOut.of(answer).model_dump_json(), "an answer")
                if answer.explanation:
                    world.check(user, ExplanationOut.of(answer.explanation).model_dump_json(), "an explanation")
                own.append(answer.conversation_id)
                world.messages.setdefault(user.name, []).append(answer.message_id)
                world.done[f"mode:{answer.mode}"] += 1
                world.done["cached"] += answer.cached
                world.done["suggestions"] += len(answer.suggestions)
                world.done["shown"] += bool(may_read & {each.document_id for each in answer.citations})
            if number == changes_at:
                changed(world)
    except AccessLost:
        world.done["streams ended"] += 1
    # What was sent before the change may have been read then; afterwards nothing is sent to a model any more.
    prompts = " ".join(message.content for prompt in world.chat.prompts for message in prompt).lower()
    for paper in world.papers:
        if paper.mark in prompts and paper.document_id not in may_read and not world.may_read(user, paper):
            raise Leak(f"a prompt for {user.name} has {paper.mark}")


def looked_back(world: LightWorld, user: User) -> None:
    """Read an old conversation, its export, and a receipt."""
    own, messages = world.conversations.get(user.name, []), world.messages.get(user.name, [])
    if not own:
        return
    services, conversation_id = world.services_of(user), world.random.choice(own)
    seen = read_conversation(user.principal, conversation_id, services)
    world.done["withheld"] += sum(each.withheld for each in seen.messages)
    world.check(user, seen.model_dump_json(), "a conversation")
    for form in ("markdown", "json"):
        response = export_conversation(user.principal, conversation_id, services, form)  # type: ignore[arg-type]
        world.check(user, bytes(response.body).decode(), f"an export as {form}")
    try:
        receipt = read_receipt(user.principal, world.random.choice(messages), services)
    except (AccessLost, NotFound):
        world.done["no receipt"] += 1
    else:
        world.done["receipt"] += 1
        world.check(user, receipt.model_dump_json(), "a receipt")


def looked_on(world: LightWorld, user: User) -> None:
    """See what others asked and were answered: feedback, hand-offs, near misses; and events, as an outsider."""
    if not world.conversations_store.turns:
        return
    (_, owner, _), said = world.random.choice(list(world.conversations_store.turns.items()))
    for reader, registry in (
        (user, world.registry_of(user)),
        (User("", ""), ReadableDocuments(world.registry, OUTSIDER)),  # type: ignore[arg-type]
    ):
        for message in readable_messages(TENANT, said, registry):
            if message.role == "assistant":
                world.check(reader, f"{message.content} {message.citations} {message.claims}", f"{owner}'s answer")
                near = [(str(each[0]), 0.0) for each in message.details.get("near_misses", ())]  # type: ignore[attr-defined]
                world.check(reader, str(near_passages(TENANT, near, registry)), "near misses")


def listed(world: LightWorld, user: User) -> None:
    """List and open documents."""
    services, words = (
        world.services_of(user),
        world.random.choice(["", "annex", world.random.choice(world.papers).mark]),
    )
    for page in pages_of(world, user, limit=world.random.choice([1, 3, 50]), q=words):
        world.check(user, page, "the list of documents")
    paper = world.random.choice(world.papers)
    try:
        shown = read_document(user.principal, paper.document_id, services)
    except NotFound:
        assert not world.may_read(user, paper)
    else:
        world.check(user, shown.model_dump_json(), "a document")
        world.done["opened"] += 1


def pages_of(world: LightWorld, user: User, *, limit: int, q: str = "") -> Iterator[str]:
    """Yield the pages of a list of documents, with their cursors."""
    services, cursor = world.services_of(user), ""
    while True:
        page = list_documents(user.principal, services, limit, cursor, None, q)
        yield page.model_dump_json()
        if not (cursor := page.next_cursor):
            return


def seen_by(world: LightWorld, user: User, questions: Sequence[str]) -> Sequence[str]:
    """Return all that a user is shown who asks these questions, looks back and lists the documents."""
    services, seen = world.services_of(user), []
    for number, text in enumerate(questions):
        ports = replace(world.ports, registry=world.registry_of(user), chat=None)
        question = Question(text, explain=number % 2 == 0)
        for event in answer_events(question, user.principal, ports, Deadline(FakeClock(), 30)):
            seen.append(json.dumps(sse_of(event), default=str))
            if isinstance(event, Done):
                answer = event.answer
        seen.append(QueryOut.of(answer).model_dump_json())
        seen.append(read_receipt(user.principal, answer.message_id, services).model_dump_json())
        seen.append(read_conversation(user.principal, answer.conversation_id, services).model_dump_json())
        near = [(each.chunk_id, each.score) for each in answer.near_misses]
        seen.append(str(near_passages(TENANT, near, world.registry_of(user))))
    for limit in (1, 3, 50):
        for words in ("", "annex", "zq", "vineyard", "zq02"):
            seen += pages_of(world, user, limit=limit, q=words)
    return seen


STEPS: Mapping[Callable[[LightWorld, User], None], int] = {asked: 45, looked_back: 20, looked_on: 10, listed: 10}


def take_light(world: LightWorld, steps: int, progress: Callable[[str], None] = lambda _: None) -> Counter[str]:
    """Take random steps, every tenth of them a change of rules. Raises `Leak`, or another `AssertionError`."""
    kinds, weights = list(STEPS), list(STEPS.values())
    for number in range(steps):
        if world.random.random() < 0.1:
            changed(world)
            world.done["changes"] += 1
        else:
            (step,) = world.random.choices(kinds, weights)
            world.done[step.__name__] += 1
            step(world, world.random.choice(USERS))
        if number % 1_000 == 999:
            progress(f"{number + 1} steps: {dict(world.done)}")
    return world.done
