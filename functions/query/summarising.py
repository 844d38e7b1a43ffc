"""A summary of one document: its outline, and what its sections say, from its own passages.

A model writes from the passages; without one, each section's most telling sentence is quoted.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from functions.query.answer import Question
from functions.query.decision import Band, Decision, PassageRelevance
from functions.query.finding import Found
from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.sanitizing import plain_name
from functions.query.ports import QueryPorts
from functions.query.retrieval.filters import both
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.retrieve import SEARCH_TIMEOUT_S
from functions.query.retrieval.search import QueryEmbeddings, Search, embed_queries
from functions.query.sections import MIN_OUTLINED, headings
from functions.query.service import document_name, service_texts
from functions.query.understanding.question import Understood
from functions.query.writing.localization import with_language_note
from functions.query.writing.prompting import within_budget
from functions.query.writing.statements import Statement, statements_in
from shared.deadline import Deadline, StageTimer
from shared.models import Filter
from shared.ports import CatalogueEntry
from shared.text import SEPARATOR

MAX_CHUNKS = 400
"""Chunks of a document that are read: with their texts, they stay under Pinecone's 4 MB per response."""
MAX_HEADINGS = 20
MAX_PASSAGES = 12
"""Passages that a summary is written from."""
MAX_SENTENCES = 6
SENTENCE_CHARACTERS = (40, 350)
"""Shorter sentences say too little, and longer ones are not sentences."""
LENGTH_PRIOR = 8
"""Words added to a sentence's length, so that a short one does not win by that alone."""

_PUBLICATION = re.compile(
    r"\barXiv\b|\bIn (?:Proceedings|Findings|Advances) of\b|\bpages \d+[-–]\d|\d\(\d+\):\d|, (?:19|20)\d\d[a-z]?\.$"
)
"""What shows an entry of a list of references."""
_WORD = re.compile(r"[^\W\d_]{2,}")
MAX_CAPITALS = 0.6
"""Share of a sentence's words that may begin with a capital; in German prose it is a third."""

_ABOUT = "purpose, main points, summary and conclusions"
"""What is searched for inside the document, besides its title."""


@dataclass(frozen=True, slots=True)
class DocumentDigest:
    """The passages that are told of a document, text that stands before what they say, and sentences of theirs.

    Of a summary, the text is the document's outline, and the sentences are its most telling ones.
    """

    found: Found
    head: str
    sentences: Sequence[Claim]


@dataclass(frozen=True, slots=True)
class ReadPassages:
    """Passages of a document in order, and the embedding of the text that they were searched with."""

    passages: Sequence[Passage]
    embedded: QueryEmbeddings
    best_score: float | None


@dataclass(frozen=True, slots=True)
class DocumentReader:
    """Reads one document for a question that is answered in a language."""

    question: Question
    document: CatalogueEntry
    language: str
    tenant: str
    ports: QueryPorts
    deadline: Deadline
    timer: StageTimer

    def read(self, text: str, within: Filter | None = None) -> ReadPassages:
        """Read up to `MAX_CHUNKS` passages that a filter allows, those nearest to a text.

        Raises `DependencyError`; without vectors the search is lexical.
        """
        ports = self.ports
        with self.timer.stage("embed"):
            embedded = embed_queries(
                [text],
                tenant=self.tenant,
                embedder=ports.embedder,
                cache=ports.cache,
                ttl_s=ports.settings.embedding_cache_ttl_s,
                deadline=self.deadline,
            )
        search = Search(
            question=text,
            vector=embedded.vectors[0],
            dimensions=ports.settings.embedding_dimensions,
            namespace=ports.namespace_of(self.tenant),
            language=self.document.language or "en",
        )
        allowed = both(self.question.filter, within)
        with self.timer.stage("retrieve"):
            matches = ports.search.query(
                namespace=search.namespace,
                vector=search.faint_vector if search.vector is None else search.vector,
                sparse=search.sparse if search.vector is None else None,
                top_k=MAX_CHUNKS,
                filter=both(allowed, {"document_id": {"$eq": self.document.document_id}}),
                timeout_s=self.deadline.cut("vectors", SEARCH_TIMEOUT_S, reserve_s=1.0),
            )
        is_embedded = search.vector is not None
        passages = [
            passage._replace(has_similarity=is_embedded)
            for match in matches
            if self.document.published.shows((passage := Passage.of(match)).generation, match.metadata)
        ]
        best = max((passage.score for passage in passages if is_embedded), default=None)
        return ReadPassages(sorted(passages, key=lambda passage: passage.chunk_index), embedded, best)

    def digest(
        self, read: ReadPassages, sources: Sequence[Passage], head: str, said: Sequence[Claim]
    ) -> DocumentDigest:
        """Return what is told from the sources among the passages that were read."""
        found = Found(
            asked=Understood(self.question.text, self.question.text, language=self.language),
            sources=sources,
            decision=_decision(sources, self.ports.settings.threshold),
            best_score=read.best_score,
            found_by={},
            usage=read.embedded.usage,
            embedding_cached=read.embedded.cached,
            warnings=read.embedded.warnings,
        )
        return DocumentDigest(found, head, said)


def summary_of(reader: DocumentReader) -> DocumentDigest:
    """Return a document's outline and what it says. Raises `DependencyError`."""
    read = reader.read(f"{document_name(reader.document)}: {_ABOUT}")
    sources = within_budget(chosen_passages(read.passages), reader.ports.settings.context_budget_tokens)
    outline = _outline(reader.document, read.passages, reader.language)
    return reader.digest(read, sources, outline, telling_sentences(sources, read.passages))


def _decision(sources: Sequence[Passage], threshold: float) -> Decision:
    """Decide to answer if there is anything to read: the question names the document, so nothing is nearer."""
    return Decision(
        relevant=bool(sources),
        score=1.0 if sources else 0.0,
        threshold=threshold,
        band=Band.HIGH if sources else Band.NONE,
        relaxed=False,
        relevances={each.chunk_id: PassageRelevance(1.0, None, None) for each in sources},
        near_misses=(),
    )


def chosen_passages(passages: Sequence[Passage]) -> Sequence[Passage]:
    """Choose up to `MAX_PASSAGES`, in order: the first ones of sections, spread evenly, then the most similar."""
    first_of: dict[str, Passage] = {}
    for passage in passages:
        first_of.setdefault(passage.section.split(" > ")[0], passage)
    leads = list(first_of.values())
    step = max(1.0, len(leads) / (MAX_PASSAGES * 2 // 3))
    chosen = {leads[int(at * step)].chunk_id: None for at in range(int(len(leads) / step))}
    chosen |= {passage.chunk_id: None for passage in passages[:1]}
    for passage in sorted(passages, key=lambda passage: -passage.score):
        if len(chosen) >= MAX_PASSAGES:
            break
        chosen.setdefault(passage.chunk_id)
    return [passage for passage in passages if passage.chunk_id in chosen]


def telling_sentences(sources: Sequence[Passage], passages: Sequence[Passage], *, of_each: int = 1) -> Sequence[Claim]:
    """Return the sentences of the sources with the document's most frequent words, in order; `of_each` at most.

    A sentence's score is the mean weight of its words: the logarithm of how many of all `passages` hold them.
    """
    holders = Counter(
        stem for passage in passages for stem in {stem for each in statements_in(passage) for stem in each.stems}
    )

    def score(statement: Statement) -> float:
        stems = set(statement.stems)
        return sum(math.log(1 + holders[stem]) for stem in stems) / (len(stems) + LENGTH_PRIOR)

    least, most = SENTENCE_CHARACTERS
    best: list[tuple[float, int, int, str]] = []
    for number, passage in enumerate(sources, start=1):
        sentences = [
            statement
            for statement in statements_in(passage)
            if least <= len(statement.text) <= most
            and SEPARATOR not in statement.text
            and "\n" not in statement.text.strip()
            and not statement.is_question
            and not statement.is_contents_entry
            and not _lists_names(statement.text)
            and statement.text.rstrip("\"'”’) ").endswith((".", "!", "。"))
        ]
        chosen = sorted(sentences, key=score, reverse=True)[:of_each]
        best += [(score(each), number, each.start, each.text) for each in chosen]
    kept = sorted(sorted(best, reverse=True)[:MAX_SENTENCES], key=lambda each: each[1:3])
    return [quoted(number, text) for _, number, _, text in kept]


def quoted(number: int, text: str, *, further: bool = False) -> Claim:
    """Return a text of the source with that number as a claim on a line of its own."""
    return Claim(" ".join(text.split()), (Reference(number, text),), "\n", further=further)


def _lists_names(text: str) -> bool:
    """Say whether a sentence is of a list of references, or of names: most of its words begin with a capital."""
    words = _WORD.findall(text)
    return bool(_PUBLICATION.search(text)) or sum(word[0].isupper() for word in words) > MAX_CAPITALS * len(words)


def _outline(document: CatalogueEntry, passages: Sequence[Passage], language: str) -> str:
    texts = service_texts(language)
    names = [name for name in map(plain_name, headings(passages)) if name]
    if len(names) < MIN_OUTLINED:
        return ""
    lines = [texts.outline.format(title=document_name(document)), *(f"- {name}" for name in names[:MAX_HEADINGS])]
    if len(names) > MAX_HEADINGS or len(passages) < document.chunk_count:
        lines.append(texts.cut_outline)
    return with_language_note("\n".join(lines), language)
