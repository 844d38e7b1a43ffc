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
from functions.query.retrieval.search import Search, embed_queries
from functions.query.service import document_name, service_texts
from functions.query.understanding.question import Understood
from functions.query.writing.localization import with_language_note
from functions.query.writing.prompting import within_budget
from functions.query.writing.statements import Statement, statements_in
from shared.deadline import Deadline, StageTimer
from shared.ports import CatalogueEntry
from shared.text import SEPARATOR

MAX_CHUNKS = 400
"""Chunks of a document that are read: with their texts, they stay under Pinecone's 4 MB per response."""
MAX_HEADINGS = 20
MIN_HEADINGS = 3
"""With fewer sections at the top, those below them are listed."""
MIN_OUTLINED = 2
"""Sections of an outline: a single one tells nothing of what a document holds."""
MAX_PASSAGES = 12
"""Passages that a summary is written from."""
MAX_SENTENCES = 6
SENTENCE_CHARACTERS = (40, 350)
"""Shorter sentences say too little, and longer ones are not sentences."""
LENGTH_PRIOR = 8
"""Words added to a sentence's length, so that a short one does not win by that alone."""

_ABOUT = "purpose, main points, summary and conclusions"
"""What is searched for inside the document, besides its title."""


@dataclass(frozen=True, slots=True)
class DocumentDigest:
    """The passages that a document is summarised from, its outline as text, and its most telling sentences."""

    found: Found
    outline: str
    sentences: Sequence[Claim]


def read_document(
    question: Question,
    document: CatalogueEntry,
    *,
    language: str,
    tenant: str,
    ports: QueryPorts,
    deadline: Deadline,
    timer: StageTimer,
) -> DocumentDigest:
    """Read a document's passages from the index. Raises `DependencyError`; without vectors the search is lexical."""
    text = f"{document_name(document)}: {_ABOUT}"
    with timer.stage("embed"):
        embedded = embed_queries(
            [text],
            tenant=tenant,
            embedder=ports.embedder,
            cache=ports.cache,
            ttl_s=ports.settings.embedding_cache_ttl_s,
            deadline=deadline,
        )
    search = Search(
        question=text,
        vector=embedded.vectors[0],
        dimensions=ports.settings.embedding_dimensions,
        namespace=ports.namespace_of(tenant),
        language=document.language or "en",
    )
    with timer.stage("retrieve"):
        matches = ports.search.query(
            namespace=search.namespace,
            vector=search.faint_vector if search.vector is None else search.vector,
            sparse=search.sparse if search.vector is None else None,
            top_k=MAX_CHUNKS,
            filter=both(question.filter, {"document_id": {"$eq": document.document_id}}),
            timeout_s=deadline.cut("vectors", SEARCH_TIMEOUT_S, reserve_s=1.0),
        )
    is_embedded = search.vector is not None
    passages = [
        passage._replace(has_similarity=is_embedded)
        for match in matches
        if document.published.shows((passage := Passage.of(match)).generation, match.metadata)
    ]
    in_order = sorted(passages, key=lambda passage: passage.chunk_index)
    sources = within_budget(chosen_passages(in_order), ports.settings.context_budget_tokens)
    found = Found(
        asked=Understood(question.text, question.text, language=language),
        sources=sources,
        decision=_decision(sources, ports.settings.threshold),
        best_score=max((passage.score for passage in passages if is_embedded), default=None),
        found_by={},
        usage=embedded.usage,
        embedding_cached=embedded.cached,
        warnings=embedded.warnings,
    )
    return DocumentDigest(found, _outline(document, in_order, language), telling_sentences(sources, in_order))


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


_LABEL = re.compile(r"\W*(?:(\d+(?:\.\d+)*\.?)|(\w+)(\.(?=\s))?)")
"""The number or the first word of a heading, and whether a full stop follows the word."""


def headings(passages: Sequence[Passage]) -> Sequence[str]:
    """Return a document's sections in order: the top ones, or with fewer than three of those, the ones below, too.

    The document's title is no section: on the first page it stands above them all, later it does not.
    """
    named = (_below_title(path.split(" > "), passage.title) for passage in passages for path in _sections(passage))
    paths = _on_one_level([path for path in named if path])
    for depth in (1, 2):
        found = list(dict.fromkeys(" – ".join(path[:depth]) for path in paths))
        if len(found) >= MIN_HEADINGS or depth == 2:
            break
    return found


def _below_title(path: Sequence[str], title: str) -> Sequence[str]:
    """Return the path without the document's title, or the beginning of it that is printed above the sections."""
    top, whole = (re.findall(r"\w+", text.casefold()) for text in (path[0], title))
    shared = min(len(top), len(whole))
    is_title = top == whole or (shared > 1 and top[:shared] == whole[:shared])
    return path[1:] if is_title else path


def _on_one_level(paths: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Return the paths without what stands above some sections only, while later ones of their form are at the top.

    That is a printed title or the like: "Policy > Section A", "Policy > Section B", "Section C".
    """
    last = {path[0]: at for at, path in enumerate(paths)}

    def begin(at: int, path: Sequence[str]) -> int:
        later = {_form(top) for top, place in last.items() if place > at and top != path[0]} - {"", _form(path[0])}
        return next((depth for depth, name in enumerate(path) if _form(name) in later), 0)

    begins = [begin(at, path) for at, path in enumerate(paths)]
    titles = {path[0] for path, first in zip(paths, begins, strict=True) if first} & {path[0] for path in paths[:1]}
    levelled = (path[max(first, path[0] in titles) :] for path, first in zip(paths, begins, strict=True))
    return [path for path in levelled if path]


def _form(heading: str) -> str:
    """Return how headings of one form begin: "section" for "Section A", "0.0" for "2.3 Bins", "." for "First. Pay"."""
    found = _LABEL.match(heading)
    if found is None:
        return ""
    number, word, stop = found.groups()
    if number:
        return re.sub(r"\d+", "0", number.strip("."))
    return "." if stop else word.casefold() if len(word) > 1 else ""


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


def telling_sentences(sources: Sequence[Passage], passages: Sequence[Passage]) -> Sequence[Claim]:
    """Return the sentences of the sources with the document's most frequent words, one of a passage at most, in order.

    A sentence's score is the mean weight of its words: the logarithm of how many of all `passages` hold them.
    """
    holders = Counter(
        stem for passage in passages for stem in {stem for each in statements_in(passage) for stem in each.stems}
    )

    def score(statement: Statement) -> float:
        stems = set(statement.stems)
        return sum(math.log(1 + holders[stem]) for stem in stems) / (len(stems) + LENGTH_PRIOR)

    least, most = SENTENCE_CHARACTERS
    best: list[tuple[float, int, str]] = []
    for number, passage in enumerate(sources, start=1):
        sentences = [
            statement
            for statement in statements_in(passage)
            if least <= len(statement.text) <= most
            and SEPARATOR not in statement.text
            and "\n" not in statement.text.strip()
            and not statement.is_question
            and not statement.is_contents_entry
            and statement.text.rstrip("\"'”’) ").endswith((".", "!", "。"))
        ]
        if sentences:
            chosen = max(sentences, key=score)
            best.append((score(chosen), number, chosen.text))
    kept = sorted(sorted(best, reverse=True)[:MAX_SENTENCES], key=lambda each: each[1])
    return [Claim(" ".join(text.split()), (Reference(number, text),), "\n") for _, number, text in kept]


def _sections(passage: Passage) -> Sequence[str]:
    return [section.path for section in passage.sections] or ([passage.section] if passage.section else [])


def _outline(document: CatalogueEntry, passages: Sequence[Passage], language: str) -> str:
    texts = service_texts(language)
    names = [name for name in map(plain_name, headings(passages)) if name]
    if len(names) < MIN_OUTLINED:
        return ""
    lines = [texts.outline.format(title=document_name(document)), *(f"- {name}" for name in names[:MAX_HEADINGS])]
    if len(names) > MAX_HEADINGS or len(passages) < document.chunk_count:
        lines.append(texts.cut_outline)
    return with_language_note("\n".join(lines), language)
