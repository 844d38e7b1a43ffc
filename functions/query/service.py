"""Answers without a search: small talk, from fixed sentences; questions about the collection, from the registry."""

import json
import re
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from functions.query.answer import Question
from functions.query.grounding.sanitizing import plain_name
from functions.query.history import document_spoken_of
from functions.query.ports import QueryPorts
from functions.query.retrieval.filters import matches
from functions.query.understanding.question import normalized, reviewed_text
from functions.query.understanding.spelling import allowed_distance, distance
from functions.query.understanding.structure import (
    StructureQuestion,
    is_document,
    structure_question,
    without_politeness,
)
from functions.query.understanding.talk import (
    CollectionQuestion,
    TalkKind,
    are_years,
    collection_question,
    folded_words,
    kinds_of_documents,
    talk_of,
    without_courtesies,
)
from functions.query.writing.asked import Asked, Kind
from functions.query.writing.localization import language_code_of, languages, with_language_note
from shared import identity, lexical
from shared.deadline import Deadline
from shared.language import language_of
from shared.models import (
    CARD,
    Message,
    MetadataValue,
    SourceType,
    values_of,
)
from shared.ports import CatalogueEntry

MAX_DOCUMENTS = 5_000
"""The most documents that one question goes through."""
MAX_SHARE = 0.5
"""Share of the time left that reading the registry may take."""
SHOWN = 25
"""Documents that a list shows."""
MAX_TOLD = 3
"""Documents of one name whose pages or dates are told."""
YEAR_CHARACTERS = 4
DATE_CHARACTERS = 10
"""Characters of a time that are its year, and its date: "2026-11-29"."""

_PART = re.compile(r"[^\W\d_]{2,}|\d{2,}")


class Served(NamedTuple):
    """An answer without a search: a text, or the one document to be summarised, and in which language.

    With `about`, that is told of the document instead; without a document, it is looked for in all. `named` are the
    documents that the text names.
    """

    text: str = ""
    document: CatalogueEntry | None = None
    about: StructureQuestion | None = None
    language: str = ""
    named: Sequence[CatalogueEntry] = ()


class ServiceTexts(NamedTuple):
    """The service's fixed sentences about itself and the collection, in one language."""

    greeting: str
    thanks: str
    farewell: str
    identity: str
    abilities: str
    unclear: str
    no_documents: str
    all_documents: str
    matching_documents: str
    at_least: str
    more: str
    no_such_document: str
    which_document: str
    pages: str
    uploaded: str
    newest: str
    oldest: str
    published: str
    publisher: str
    version: str
    titled: str
    authors: str
    no_authors: str
    outline: str
    cut_outline: str
    what_about: str
    on_page: str
    of_section: str
    of_page: str
    no_page: str
    counted: str
    figures: str
    tables: str
    no_figures: str
    no_tables: str
    stands_in: str
    stands_on: str


@cache
def service_texts(language: str) -> ServiceTexts:
    """Return the sentences in a language; English where none are shipped."""
    code = language if language in languages() else "en"
    return ServiceTexts(**json.loads(reviewed_text(f"service/{code}.json")))


def serve(
    question: Question,
    messages: Sequence[Message],
    *,
    tenant: str,
    requested_language: str,
    ports: QueryPorts,
    deadline: Deadline,
) -> Served | None:
    """Answer small talk and questions about the collection; None for a question about the documents' contents.

    `messages` are the conversation so far. Raises `DependencyError` when the registry must be read and cannot be.
    """
    text = normalized(question.text)
    spoken = language_of(text)
    bare = without_courtesies(text)
    talk = talk_of(text, spoken, has_history=bool(messages)) or talk_of(bare, spoken, has_history=bool(messages))
    if talk and talk.kind != "documents":
        return Served(_said(talk.kind, requested_language or talk.language or ports.settings.default_language))
    asked = (
        CollectionQuestion("catalogue", talk.language, certain=True)
        if talk
        else collection_question(bare, spoken, has_history=bool(messages))
    )
    plain = without_politeness(bare, spoken)
    is_open = (
        not talk
        and (asked is None or asked.wants in ("catalogue", "summary", "titled"))
        and Asked.of(plain).kind is not Kind.YES_NO
    )
    about = structure_question(plain, spoken) if is_open else None
    if asked is None and about is None:
        return None
    documents, is_all = _read_catalogue(question, tenant, ports, deadline)
    if about is not None and about.wants == "authors" and asked is not None and asked.wants == "catalogue":
        language = requested_language or asked.language
        if listed := _listed(asked, documents, is_all=is_all, language=language):  # "List the documents by Ann Lee"
            return listed
    if about is not None:
        language = requested_language or about.language
        found = _meant(about, documents, messages, frozenset(folded_words(plain)))
        if len(found) == 1 or (about.wants == "whereabouts" and asked is None):
            return Served(document=found[0] if len(found) == 1 else None, about=about, language=language)
        is_named = bool(about.terms) and about.wants in ("one", "authors") and not about.may_mean_another
        if is_named and 1 < len(found) == len(set(map(_line, found))) <= SHOWN:
            return _which_of(found, language)
    if asked is None:
        return None
    language = requested_language or asked.language
    if asked.wants == "catalogue":
        return _listed(asked, documents, is_all=is_all, language=language)
    if asked.wants != "summary":
        return _told(asked, documents, messages, language) if is_all else None
    return _to_summarise(asked, documents, messages, language)


def _read_catalogue(
    question: Question, tenant: str, ports: QueryPorts, deadline: Deadline
) -> tuple[Sequence[CatalogueEntry], bool]:
    """Return the published documents that the question's filter allows, sorted by title, and whether these are all."""
    until_s = deadline.left() * (1 - MAX_SHARE)
    documents: list[CatalogueEntry] = []
    is_all = True
    for entry in ports.registry.catalogue(tenant, index_version=ports.index_number):
        if len(documents) == MAX_DOCUMENTS or deadline.left() < until_s:
            is_all = False
            break
        if not question.filter or matches(question.filter, _metadata(entry)):
            documents.append(entry)
    documents.sort(key=lambda each: (each.source_type is not SourceType.PDF, document_name(each).casefold(), each.key))
    return documents, is_all


def _metadata(entry: CatalogueEntry) -> dict[str, MetadataValue]:
    """Return the metadata of a whole document that the request's filter may use."""
    return {
        **entry.labelled,
        "document_id": entry.document_id,
        "title": entry.title,
        "source_id": entry.key,
        "source_type": entry.source_type.value,
        "language": entry.language,
    }


def _said(kind: TalkKind, language: str) -> str:
    return with_language_note(getattr(service_texts(language), kind), language)


# --- Counts and lists ---


def _listed(
    asked: CollectionQuestion, documents: Sequence[CatalogueEntry], *, is_all: bool, language: str
) -> Served | None:
    texts = service_texts(language)
    if not (asked.terms or asked.kinds):
        head = texts.all_documents.format(count=len(documents)) if documents else texts.no_documents
    else:
        documents, terms = matching(documents, asked)
        is_kind_named = not asked.kinds or not set(asked.kinds).isdisjoint(terms)
        if not is_kind_named and are_years(asked.terms):
            documents = ()  # "How many invoices are from 2016?"
        # "How many articles does the GDPR have?" means what is in a document.
        if not asked.certain and not (documents and is_kind_named):
            return None
        head = texts.matching_documents.format(terms=" ".join(terms or asked.kinds), count=len(documents))
    lines = [head, *(_line(each) for each in documents[:SHOWN])]
    if len(documents) > SHOWN:
        lines.append(texts.more.format(more=len(documents) - SHOWN))
    if not is_all:
        lines.append(texts.at_least)
    return Served(with_language_note("\n".join(lines), language), named=documents[:SHOWN])


def _line(entry: CatalogueEntry) -> str:
    name, file = document_name(entry), plain_name(entry.key.rsplit("/", 1)[-1])
    # A question that somebody has answered is its own name: its file's is an id.
    has_file = entry.source_type in (SourceType.PDF, SourceType.KNOWLEDGE)
    return f"- {name} ({file})" if has_file and _comparable(name) != _comparable(_file_stem(file)) else f"- {name}"


def document_name(entry: CatalogueEntry) -> str:
    """Return the name of a document: its title, or else its file's name."""
    return plain_name(entry.title) or plain_name(_file_stem(entry.key))


# --- What the registry keeps of a document ---


def _told(
    asked: CollectionQuestion, documents: Sequence[CatalogueEntry], messages: Sequence[Message], language: str
) -> Served | None:
    """Tell the pages of the documents that are named, when they were uploaded, or which was uploaded last or first.

    None where none is named, too many are, or the registry does not know it: then it is an ordinary question.
    """
    found: Sequence[CatalogueEntry]
    if asked.wants in ("newest", "oldest"):
        in_order = sorted(documents, key=lambda each: each.created_at)
        found = in_order[-1:] if asked.wants == "newest" else in_order[:1]
        is_known = all(each.created_at for each in documents)
    else:
        found = matching(documents, asked)[0] if asked.terms or asked.kinds else _spoken_of(documents, messages)
        is_known = all(_fact_of(each, asked.wants) for each in found)
    if not (is_known and 1 <= len(found) <= MAX_TOLD):
        return None
    sentence = getattr(service_texts(language), asked.wants)
    lines = [sentence.format(title=document_name(each), fact=_fact_of(each, asked.wants)) for each in found]
    return Served(with_language_note("\n".join(lines), language), named=found)


def _fact_of(entry: CatalogueEntry, fact: str) -> str:
    """Return what is known of a document, "" if it is not; of its identity card, the most exact."""
    if fact == "pages":
        return str(entry.page_count or "")
    if fact == "titled":
        return plain_name(entry.key.rsplit("/", 1)[-1])
    fields = {"published": ("date", "period"), "publisher": ("organisation",), "version": ("version",)}.get(fact)
    if fields is None:
        return entry.created_at[:DATE_CHARACTERS]
    known = (entry.labelled[field] for field in fields if entry.labelled.get(field))
    return plain_name(", ".join(values_of(next(known, "")))).removesuffix(".")


# --- One document, to be summarised ---


def _to_summarise(
    asked: CollectionQuestion, documents: Sequence[CatalogueEntry], messages: Sequence[Message], language: str
) -> Served | None:
    texts = service_texts(language)
    found = called(documents, asked) if asked.terms else _spoken_of(documents, messages)
    if not found and kinds_of_documents(asked.language, "reading").issuperset(asked.terms):
        found = _spoken_of(documents, messages)  # "What does this report cover?"
    if len(found) == 1:
        return Served(document=found[0], language=language)
    if not asked.certain and not found:
        return None
    if not documents:
        text = texts.no_documents
    elif not found and asked.terms:
        text = texts.no_such_document.format(terms=" ".join(asked.terms))
    else:
        return _which_of((found or documents)[:SHOWN], language)
    return Served(with_language_note(text, language))


def _which_of(documents: Sequence[CatalogueEntry], language: str) -> Served:
    text = "\n".join((service_texts(language).which_document, *map(_line, documents)))
    return Served(with_language_note(text, language), named=documents)


def _meant(
    asked: StructureQuestion, documents: Sequence[CatalogueEntry], messages: Sequence[Message], said: frozenset[str]
) -> Sequence[CatalogueEntry]:
    """Return the documents that a question about a structure names, else the one that is spoken of.

    Of several it is the one whose title is `said` as a whole. What is looked for must stand in a heading, so the name
    of the only document that there is need not fit. A year names no document: "the figures in 2023".
    """

    # "Who wrote to Ann Lee?" is not about the document by her.
    named = [each._replace(card={}) for each in documents] if asked.wants == "authors" else documents

    def held(*words: str) -> Sequence[CatalogueEntry]:
        return called(named, CollectionQuestion("summary", asked.language, False, words))

    if are_years(asked.terms):
        return ()

    # A warranty need not be called one, if none is.
    terms = [word for word in asked.terms if not is_document(word) or held(word)]
    ids = {each.document_id for each in held(*terms)} if terms else set[str]()
    found = [each for each in documents if each.document_id in ids]
    if not terms or (asked.wants == "whereabouts" and not found):
        return _spoken_of(documents, messages)
    whole = [each for each in found if said.issuperset(folded_words(each.title) or [""])]
    return whole if len(whole) == 1 else found


def _spoken_of(documents: Sequence[CatalogueEntry], messages: Sequence[Message]) -> Sequence[CatalogueEntry]:
    """Return the document that the last answer is told of or cites first, or the only one that there is."""
    if len(documents) == 1:
        return documents
    spoken_of = next(filter(None, map(document_spoken_of, reversed(messages))), "")
    return [each for each in documents if each.document_id == spoken_of]


# --- The documents that a question means, by their names ---


def matching(
    documents: Sequence[CatalogueEntry], question: CollectionQuestion
) -> tuple[Sequence[CatalogueEntry], Sequence[str]]:
    """Return the documents whose names hold all words of the question, and these words.

    A word for documents ("manuals") counts only if names hold it: a filing is seldom named a filing.
    """
    named = [(entry, stems_of(entry, question.language)) for entry in documents]
    found = [
        (entry, stems)
        for entry, stems in named
        if _holds(
            _author_stems(entry, question.language) if question.is_by_author else stems,
            question.terms,
            question.language,
            entry,
        )
    ]
    words = question.terms
    for kind in question.kinds:
        of_kind = [(entry, stems) for entry, stems in found if _holds(stems, (kind,), question.language, entry)]
        if of_kind:
            found, words = of_kind, (*words, kind)
    return ([entry for entry, _ in found] if words else (), words)


def called(documents: Sequence[CatalogueEntry], question: CollectionQuestion) -> Sequence[CatalogueEntry]:
    """Return the documents whose names hold all words of the question, misspelt or not, or the one with that name."""
    named = [(entry, stems_of(entry, question.language)) for entry in documents]
    found = [
        entry for entry, stems in named if all(_is_near(word, stems, question.language) for word in question.terms)
    ]
    wanted = " ".join(question.terms)
    exact = [entry for entry in found if wanted in (_comparable(entry.title), _comparable(_file_stem(entry.key)))]
    return exact if len(exact) == 1 else found


def stems_of(entry: CatalogueEntry, language: str) -> frozenset[str]:
    """Return the stems of the words that can name a document: title, file name, folders, labels and identity card.

    Of a date the year does.
    """
    folders = entry.key.split("/")[2:-1]
    card = {**entry.card, "date": [day[:YEAR_CHARACTERS] for day in values_of(entry.card.get("date", ""))]}
    held = map(values_of, {**card, **entry.labels}.values())
    labels = chain((name for name in entry.labels if name not in CARD), *held)
    words = folded_words(" ".join((identity.name_of(entry.title, entry.key), *folders, *labels)).replace("_", " "))
    parts = (part for word in words for part in _PART.findall(word))
    return frozenset(lexical.stem(word, language) for word in (*words, *parts))


def _author_stems(entry: CatalogueEntry, language: str) -> frozenset[str]:
    names = (name for field in ("author", "organisation") for name in values_of(entry.labelled.get(field, "")))
    return frozenset(lexical.stem(word, language) for word in folded_words(" ".join(names)))


def _holds(stems: frozenset[str], words: Sequence[str], language: str, entry: CatalogueEntry) -> bool:
    return all(
        lexical.stem(word, language) in stems or (entry.language and language_code_of(word) == entry.language)
        for word in words
    )


def _is_near(word: str, stems: frozenset[str], language: str) -> bool:
    stem = lexical.stem(word, language)
    most = allowed_distance(word)
    return stem in stems or (most > 0 and any(distance(stem, other, most=most) <= most for other in stems))


def _comparable(name: str) -> str:
    return " ".join(folded_words(name.replace("_", " ")))


def _file_stem(key: str) -> str:
    return key.rsplit("/", 1)[-1].rsplit(".", 1)[0]
