"""Fakes of the query pipeline's ports: small, in memory, and able to fail."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import count

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.verify import Verifier
from functions.query.ports import ChatModel, QueryPorts
from functions.query.retrieval.passages import Passage
from functions.query.writing.generation import WritingRequest, WrittenAnswer, write
from shared import identity
from shared.access import AccessRule
from shared.deadline import Deadline
from shared.errors import NotFound
from shared.models import (
    FIRST_INDEX_VERSION,
    ChatMessage,
    Completion,
    Conversation,
    Document,
    Embeddings,
    EmbeddingSpace,
    Filter,
    Labels,
    Match,
    Message,
    MetadataValue,
    ModelRequest,
    Principal,
    PublishedDocument,
    SourceType,
    SparseVector,
    UnansweredQuestion,
    Usage,
)
from shared.ports import CatalogueEntry, DocumentPage
from shared.receipts import StoredReceipt
from shared.settings import Settings
from tests.support.clock import FakeClock

SPACE = EmbeddingSpace("all-MiniLM-L6-v2", 2)
WHO = Principal("acme", "user-1", frozenset({"editor"}))


def passage(text: str, *, n: int = 1, score: float = 0.8, title: str = "Handbook", **more: object) -> Passage:
    """A passage whose document position starts at 100 · n."""
    values: dict[str, object] = {
        "chunk_id": f"doc{n}#g1#0",
        "document_id": f"doc{n}",
        "generation": "g1",
        "source_type": SourceType.PDF,
        "title": title,
        "section": "",
        "text": text,
        "score": score,
        "chunk_index": 0,
        "token_count": len(text.split()),
        "page_start": n,
        "page_end": n,
        "page_label": "",
        "char_start": 100 * n,
        "content_hash": f"hash-{n}",
    }
    return Passage(**{**values, **more})  # type: ignore[arg-type]


CONFIRMED, MARKED, OUT = "confirmed", "unconfirmed", "out"


def verdicts_of(
    claim: str, *quotes: str, source: Passage | None = None, question: str = "What is it?", language: str = "en"
) -> list[str]:
    """Return the verdict on each sentence of a claim that is shown, "out" if none is; `source`: else the quotes."""
    text = source or passage(" ".join(quotes), language=language)
    verifier = Verifier([text], question=question, language=language)
    verified = verifier.check(Claim(claim, tuple(Reference(1, quote) for quote in quotes)))
    return [each.claim.verdict for each in verified] or [OUT]


def match(text: str, *, n: int = 1, score: float = 0.8, generation: str = "g1", **more: MetadataValue) -> Match:
    """A search hit on document `n`."""
    metadata: dict[str, MetadataValue] = {
        "document_id": f"doc{n}",
        "generation": generation,
        "source_type": "pdf",
        "title": "Handbook",
        "text": text,
        "chunk_index": 0,
        "token_count": len(text.split()),
        "page_start": n,
        "page_end": n,
        "char_start": 100 * n,
        "content_hash": f"hash-{n}",
    }
    return Match(f"doc{n}#{generation}#0", score, {**metadata, **more})


class FakeEmbedder:
    """Embeds everything as the same unit vector and records the texts."""

    def __init__(self, error: Exception | None = None) -> None:
        self.space = SPACE
        self.asked: list[str] = []
        self.timeouts: list[float] = []
        self.error = error

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:
        self.asked.extend(texts)
        self.timeouts.append(timeout_s)
        if self.error:
            raise self.error
        return Embeddings([[1.0, 0.0] for _ in texts], Usage(input_tokens=len(texts)))


class FakeCache:
    """An embedding cache in a dict."""

    def __init__(self) -> None:
        self.held: dict[str, Sequence[float]] = {}

    def get(self, key: str) -> Sequence[float] | None:
        return self.held.get(key)

    def put(self, key: str, vector: Sequence[float], *, ttl_s: int) -> None:
        self.held[key] = vector


class FakeSearch:
    """Returns prepared matches, best first."""

    def __init__(self, matches: Sequence[Match] = (), **errors: Exception) -> None:
        self.matches = list(matches)
        self.errors = errors
        self.calls: list[dict[str, object]] = []

    def query(
        self,
        *,
        namespace: str,
        vector: Sequence[float],
        sparse: SparseVector | None = None,
        top_k: int,
        filter: Filter | None = None,
        timeout_s: float,
        metadata: bool = True,
        is_retry: bool = False,
    ) -> Sequence[Match]:
        self.calls.append({"namespace": namespace, "top_k": top_k, "filter": filter, "timeout_s": timeout_s})
        error = self.errors.get("again" if is_retry else "hybrid" if sparse else "dense")
        if error:
            raise error
        found = self.near(vector, filter)[:top_k]
        if sparse:  # a fused score has the words on top of the similarity, as the index adds them
            found = [replace(each, score=each.score + _score_of_words(sparse, each)) for each in found]
        return found if metadata else [replace(each, metadata={}) for each in found]

    def near(self, vector: Sequence[float], wanted: Filter | None) -> Sequence[Match]:
        """Return the matches with their similarity to a vector, best first; two searches may ask at once."""
        return self.under(wanted)

    def under(self, wanted: Filter | None) -> Sequence[Match]:
        """Return the matches that a filter lets through; two searches may ask at once."""
        return self.matches


def _score_of_words(words: SparseVector, hit: Match) -> float:
    found = Passage.of(hit)
    about = {"language": found.language, "title": found.title, "key": found.key, "section": found.section}
    return identity.passage_score(
        dict(zip(*words, strict=True)), found.text, cover=found.cover, table=found.table, **about
    )


class FakeRegistry:
    """Publishes generation g1 of every document, unless configured otherwise."""

    def __init__(self, generations: Mapping[str, str] | None = None, documents: Sequence[CatalogueEntry] = ()) -> None:
        self.generations = generations
        self.documents = documents
        self.error: Exception | None = None

    def published_generations(
        self, tenant: str, document_ids: Sequence[str], *, index_version: int = FIRST_INDEX_VERSION
    ) -> Mapping[str, str]:
        if self.generations is None:
            return dict.fromkeys(document_ids, "g1")
        return {each: self.generations[each] for each in document_ids if each in self.generations}

    def published_documents(
        self, tenant: str, document_ids: Sequence[str], *, index_version: int = FIRST_INDEX_VERSION
    ) -> Mapping[str, PublishedDocument]:
        found = self.published_generations(tenant, document_ids, index_version=index_version)
        return {each: PublishedDocument(generation) for each, generation in found.items()}

    def catalogue(self, tenant: str, *, index_version: int = FIRST_INDEX_VERSION) -> Iterator[CatalogueEntry]:
        if self.error:
            raise self.error
        yield from self.documents if tenant == WHO.tenant else ()

    def unreadable(self, tenant: str, document_ids: Iterable[str]) -> Set[str]:
        return frozenset()

    def get(self, tenant: str, document_id: str) -> Document | None:
        raise NotImplementedError

    def list(self, *_: object, **__: object) -> DocumentPage:
        raise NotImplementedError

    def titles(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, str]:
        raise NotImplementedError

    def versions(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, Collection[str]]:
        raise NotImplementedError

    def announce(self, document: Document, *, expires_s: int) -> Document:
        raise NotImplementedError

    def label(self, tenant: str, document_id: str, labels: Labels, *, before: Labels) -> bool:
        raise NotImplementedError

    def restrict(self, tenant: str, document_id: str, rule: AccessRule | None, *, before: AccessRule | None) -> bool:
        raise NotImplementedError

    def unpublish(self, tenant: str, document_id: str) -> Document | None:
        raise NotImplementedError


class FakeConversations:
    """Conversations in a dict keyed by tenant, user and id."""

    def __init__(self) -> None:
        self.turns: dict[tuple[str, str, str], list[Message]] = {}
        self.read_error: Exception | None = None
        self.write_error: Exception | None = None
        self.receipts: dict[str, StoredReceipt] = {}

    def recent_messages(self, tenant: str, user: str, conversation_id: str, *, limit: int) -> Sequence[Message]:
        if self.read_error:
            raise self.read_error
        if (tenant, user, conversation_id) not in self.turns:
            raise NotFound
        return self.turns[tenant, user, conversation_id][-limit:]

    def get(self, tenant: str, user: str, conversation_id: str) -> Conversation | None:
        raise NotImplementedError

    def save_turns(
        self,
        tenant: str,
        user: str,
        conversation_id: str,
        *,
        title: str,
        turns: Sequence[Message],
        is_new: bool,
        unanswered: UnansweredQuestion | None = None,
        receipt: StoredReceipt | None = None,
    ) -> None:
        if self.write_error:
            raise self.write_error
        self.turns.setdefault((tenant, user, conversation_id), []).extend(turns)
        if receipt is not None:
            self.receipts[turns[-1].message_id] = receipt

    def save_summary(self, tenant: str, user: str, conversation_id: str, *, summary: str, upto: int) -> None:
        raise NotImplementedError


class FakeChat:
    """Answers as configured, and records the prompts."""

    model = "fake-model"

    def __init__(self, text: str = "", *, error: Exception | None = None, finish_reason: str = "stop") -> None:
        self.text = text
        self.error = error
        self.finish_reason = finish_reason
        self.prompts: list[Sequence[ChatMessage]] = []
        self.asked: list[tuple[float, int, float]] = []
        """Seconds, tokens and temperature of each request."""

    def complete(self, request: ModelRequest, *, timeout_s: float) -> Completion:
        self.prompts.append(request.messages)
        self.asked.append((timeout_s, request.max_output_tokens, request.temperature))
        if self.error:
            raise self.error
        return Completion(self.text, self.finish_reason, self.model, Usage(10, 5))


def id_factory() -> Callable[[], str]:
    """Ids that count up: 00000000000000000000000001, …"""
    numbers = count(1)
    return lambda: f"{next(numbers):026d}"


def query_ports(
    matches: Sequence[Match] = (),
    *,
    chat: FakeChat | None = None,
    settings: Settings | None = None,
    generations: Mapping[str, str] | None = None,
    documents: Sequence[CatalogueEntry] = (),
) -> QueryPorts:
    """The pipeline's ports, all fakes."""
    return QueryPorts(
        settings=settings or Settings(embedding_model="all-MiniLM-L6-v2", embedding_dimensions=2),
        clock=FakeClock(),
        new_id=id_factory(),
        embedder=FakeEmbedder(),
        cache=FakeCache(),
        search=FakeSearch(matches),
        registry=FakeRegistry(generations, documents),
        conversations=FakeConversations(),
        chat=chat,
    )


def written(
    request: WritingRequest, *, chat: ChatModel | None, settings: Settings, deadline: Deadline
) -> WrittenAnswer:
    """Write, and return the whole answer."""
    *_, answer = write(request, chat=chat, settings=settings, deadline=deadline)
    assert isinstance(answer, WrittenAnswer)
    return answer
