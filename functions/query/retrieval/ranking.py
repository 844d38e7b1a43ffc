"""Ranking: hits are ordered by score, by the document or place that the question names, and by rescoring their texts.

A question that names a document should find its pages first. Filings of one company read alike, and only title, file
name and cover distinguish them. So a passage gets a boost when the question's words distinguish its document from the
other candidates. Measured on 20 filings (80 questions that name company and quarter): the right document comes first in
24 % with cosine alone, 65 % with BM25, 98 % with this boost; on 27 dissimilar PDFs nothing is lost.
"""

import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from functions.query.retrieval.numbered import NumberedPart
from functions.query.retrieval.passages import Passage, last_title
from functions.query.retrieval.rescoring import TextScore, plain_words, text_scores
from functions.query.retrieval.search import Search
from shared import identity, lexical
from shared.text import CONTENTS_WORD, SEPARATOR, quoted_in

TEXTS = Path(__file__).parents[1] / "texts"
RESCORED = 100
"""Passages whose text is scored at most."""
OUT_OF_REACH = 2.25
"""Passages this far behind the best one are not rescored: rescoring seldom makes up for it."""


class ScoreParts(NamedTuple):
    """What a passage's ranking score is the sum of, in units of cosine.

    `fused` is what the index returned (cosine plus BM25). `document`, `place` and `statement` are the boosts of what
    the question names, `glossary` that of the tenant's glossary; `text` are the bonuses of rescoring, None for a
    passage that was out of its reach.
    """

    fused: float
    document: float
    glossary: float
    place: float
    statement: float
    text: TextScore | None = None


class RankedPassage(NamedTuple):
    """A passage with its ranking score and what that is made of."""

    score: float
    passage: Passage
    parts: ScoreParts


def rank(search: Search, passages: Sequence[Passage], of_document: Mapping[str, float]) -> list[RankedPassage]:
    """Return the passages, best first. They come with their fused scores; `of_document` are the `document_boosts`."""
    named = NamedPlaces.of(search.question)
    of_statement = statement_boosts(search.question, passages)
    scored: list[RankedPassage] = []
    for passage, statement in zip(passages, of_statement, strict=True):
        document, place = of_document[passage.document_id], named.boost(passage)
        score = passage.score + document + passage.boost + place + statement
        parts = ScoreParts(passage.score, document, passage.boost, place, statement)
        scored.append(RankedPassage(score, passage, parts))
    scored.sort(key=lambda each: -each.score)
    within_reach = [each for each in scored[:RESCORED] if each.score > scored[0].score - OUT_OF_REACH]
    added = text_scores(search.question, search.language, [each.passage for each in within_reach])
    rescored = [
        RankedPassage(each.score + sum(text), each.passage, ScoreParts(*each.parts[:-1], text))
        for each, text in zip(within_reach, added, strict=True)
    ]
    return sorted(rescored, key=lambda each: -each.score) + scored[len(rescored) :]


# --- The document that a question names ---

MAX_DOCUMENT_BOOST = 1.0
"""Boost of a document that the question clearly names, in units of cosine."""
HALF_BOOST_EVIDENCE = 3.0
"""Evidence for half of that boost: two or three words that a quarter of the documents have."""
MAX_WORD_EVIDENCE = 5.0
"""A single word's evidence at most, however rare."""
COVER_SHARE = 0.5
"""A word on the cover counts this much of one in title or file name."""
MIN_WORDS = 2
"""A document matched by fewer words is more likely the topic than named."""
UNNAMED_SHARE = 0.25
"""Weight of a lower-case word in a question that also has words with capitals or digits: "the steps of reasoning" are
more likely the topic than part of a name."""
MIN_NAMED_BOOST = 0.3
NAMED_SHARE = 0.5
"""A document is named by the question from this boost on, and from this share of the best one's."""
MAX_NAMED = 5
"""More documents than this are not named, but alike."""
STEEPNESS = 4
"""How fast the boost falls for documents with less evidence than the best."""


def named_documents(boosts: Mapping[str, float]) -> list[str]:
    """Return the documents that the question names clearly, at most `MAX_NAMED`, best first; none if it names none."""
    most = max(boosts.values(), default=0.0)
    named = [document for document, boost in boosts.items() if boost >= max(MIN_NAMED_BOOST, NAMED_SHARE * most)]
    return sorted(named, key=lambda document: -boosts[document]) if len(named) <= MAX_NAMED else []


def document_boosts(question: str, language: str, passages: Sequence[Passage]) -> dict[str, float]:
    """Map each document of the passages to its boost, 0 to `MAX_DOCUMENT_BOOST`.

    Only words that distinguish these documents count: words in every name or cover do not.
    """
    documents: dict[str, Passage] = {}
    for passage in passages:
        documents.setdefault(passage.document_id, passage)
    names = {
        key: _names(one.title, one.key, one.cover, one.organisations, one.language or "en")
        for key, one in documents.items()
    }
    evidence: dict[str, float] = {}
    if len(names) > 1:
        question = _without_forecast_years(question, language, names, documents)
        evidence = _evidence(_without_earlier_years(question), language, names)
    asked, kinds = identity.periods_in(question), identity.kinds_asked(question)
    for key, document in documents.items():
        if evidence.get(key):
            evidence[key] *= _period_share(asked, question, document) * _kind_share(kinds, document)
    if not asked and _LATEST.search(question):
        evidence = _with_latest_first(evidence, documents)
    most = max(evidence.values(), default=0.0)
    if most == 0:
        return dict.fromkeys(names, 0.0)
    boost = MAX_DOCUMENT_BOOST * most**2 / (most**2 + HALF_BOOST_EVIDENCE**2)
    return {document: boost * (found / most) ** STEEPNESS for document, found in evidence.items()}


@lru_cache(maxsize=5_000)
def _names(title: str, key: str, cover: str, organisations: tuple[str, ...], language: str) -> Mapping[str, float]:
    """Map the terms of a document's names and cover to their weights; cached, because documents are found again."""
    on_cover = dict.fromkeys((term for term, _ in lexical.terms_of(cover, language)), COVER_SHARE)
    initials = map(identity.initials_of, organisations)
    name = " ".join((identity.name_of(title, key), *organisations, *initials))
    return on_cover | dict.fromkeys((term for term, _ in lexical.terms_of(name, language)), 1.0)


def _evidence(question: str, language: str, names: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Sum up, for each document, how well the question's words in its name distinguish it from the others."""
    weights = lexical.term_weights(question, language=language)
    name_like = _name_like_terms(question, language)
    of_names = {term for name in identity.names_in(question) for term, _ in lexical.terms_of(name, language)}
    evidence = dict.fromkeys(names, 0.0)
    words = dict.fromkeys(names, 0)
    named: set[str] = set()
    for terms in {tuple(term for term, _ in word): None for word in lexical.words_of(question, language)}:
        of_word: dict[str, float] = {}
        for term in terms:
            holders = [document for document, held in names.items() if term in held]
            if weights.get(term, 0.0) < identity.MIN_RARITY or not 0 < len(holders) < len(names):
                continue
            telling = min(weights[term], MAX_WORD_EVIDENCE) * math.log(len(names) / len(holders)) / math.log(len(names))
            telling *= 1.0 if term in name_like else UNNAMED_SHARE
            for document in holders:
                of_word[document] = max(of_word.get(document, 0.0), telling * names[document][term])
            if term in of_names:
                named.update(document for document in holders if names[document][term] == 1.0)
        for document, found in of_word.items():
            evidence[document] += found
            words[document] += 1
    matched = {document for document in names if words[document] >= MIN_WORDS}
    # "Microsoft's sales": one word is enough if it is a name in a title, and nothing says more.
    matched = matched or named
    return {document: found if document in matched else 0.0 for document, found in evidence.items()}


OF_A_LATER_REPORT = 0.8
OF_ANOTHER_YEAR = 0.6
OF_A_QUARTER = 0.85
OF_ANOTHER_QUARTER = 0.7
BY_ANOTHER_NAME = 0.95
OF_ANOTHER_KIND = 0.8
NOT_THE_LATEST = 0.8
"""Shares of its evidence that a document keeps when it is not what the question names: a report on one of the two
years after the latest one asked about, on another year, on a quarter where a year is asked about, on another quarter
or the whole year where a quarter is, on a period that is called so second; a document of another kind; one that is not
the latest of those that are named, where the latest is asked for."""
YEARS_COMPARED = 2
"""A report compares its period with those of as many years before."""
_YEARS = re.compile(rf"\b{identity.YEAR}\b")
_QUARTERS = re.compile(r"\bQ[1-4]\b|\bquarter", re.IGNORECASE)
_LATEST = re.compile(
    r"\b(?:latest|most recent|newest|neue?ste[nrs]?|jüngste[nrs]?|derni[eè]re?s?|plus récente?s?|últim[oa]s?|"
    r"más recientes?|naujausi\w*|paskutini\w*)\b",
    re.IGNORECASE,
)
"""What asks for the latest of the documents that a question names."""


def _without_forecast_years(
    question: str, language: str, names: Mapping[str, Mapping[str, float]], documents: Mapping[str, Passage]
) -> str:
    """Leave out years after the latest one that a document named by the question is of: "as of 2021, … pay in 2024".

    Where none of them is of a year in the question, or one is of no known year, all years stay.
    """
    years = set(_YEARS.findall(question))
    if len(years) < 2:
        return question
    evidence = _evidence(_YEARS.sub(" ", question), language, names)
    named = [documents[key] for key, found in evidence.items() if found]
    held = [
        {*_YEARS.findall(identity.name_of(each.title, each.key)), *(period[-4:] for period in _periods_of(each))}
        for each in named
    ]
    if not all(held):
        return question
    latest = max(years & set[str]().union(*held), default=max(years))
    return _YEARS.sub(lambda found: found[0] if found[0] <= latest else " ", question)


def _periods_of(document: Passage) -> Sequence[str]:
    return document.periods or identity.periods_in(identity.name_of(document.title, document.key))


def _without_earlier_years(question: str) -> str:
    latest = max(_YEARS.findall(question), default="")
    return _YEARS.sub(lambda found: found[0] if found[0] == latest else " ", question)


def _period_share(asked: Sequence[str], question: str, document: Passage) -> float:
    """Return the share of its evidence that a document of these periods keeps; `question` has its periods written out.

    A report also holds the figures of the year before: of several years, the latest tells which report is meant.
    """
    held = _periods_of(document)
    is_of_quarter = any(
        period.startswith("Q") for period in held[:1]
    )  # a release of the last one tells of the year, too
    of_quarter = OF_A_QUARTER if is_of_quarter and not _QUARTERS.search(question) else 1.0
    if not asked or not held:
        return of_quarter
    quarters = [period for period in asked if period.startswith("Q")]
    if not set(quarters).isdisjoint(held):
        return 1.0 if held[0] in quarters else BY_ANOTHER_NAME
    latest, years = max(int(period[-4:]) for period in asked), {int(period[-4:]) for period in held}
    if latest in years:
        return OF_ANOTHER_QUARTER if quarters else of_quarter
    later = any(latest < year <= latest + YEARS_COMPARED for year in years)
    return (OF_A_LATER_REPORT if later else OF_ANOTHER_YEAR) * of_quarter


def _with_latest_first(evidence: Mapping[str, float], documents: Mapping[str, Passage]) -> dict[str, float]:
    """Let the earlier ones of the documents that are named by equal evidence fall behind the latest."""
    named = NAMED_SHARE * max(evidence.values(), default=0.0)
    ends = {
        key: (int(period[-4:]), period[:2] if period.startswith("Q") else "Q4")
        for key, found in evidence.items()
        if found and found >= named
        for period in documents[key].periods[:1]
    }
    latest = max(ends.values(), default=None)
    return {
        key: found * (NOT_THE_LATEST if ends.get(key, latest) != latest else 1.0) for key, found in evidence.items()
    }


def _kind_share(asked: Set[str], document: Passage) -> float:
    return 1.0 if not asked or document.kind in asked else OF_ANOTHER_KIND


def _name_like_terms(question: str, language: str) -> Set[str]:
    """Return the terms of the words that look like names; of all words if none does."""
    words = question.split()
    named = [word for word in words if not word.islower() and any(map(str.isalnum, word))]
    if len(named) == 1 and named[0] == words[0]:
        named = words
    return {term for word in named or words for term, _ in lexical.terms_of(word, language)}


# --- Pages, sections and numbered parts that a question names: "on page 12", "In the 'Unlock Your Screen' section" ---

ON_PAGE = 1.0
"""Boost, in units of cosine, of a passage that begins on a page the question names, by its number or printed label."""
IN_SECTION = 0.5
"""Boost of one whose section heading contains what the question quotes."""
WITH_PART = 1.0
"""Boost of one in which the numbered part begins that the question names: "clause 4.2"."""

CONTENTS = 1.0
"""How much a table of contents is put back: it holds the words of all headings, and answers only where something is."""
MIN_ENTRIES, MIN_ENTRY_SHARE = 4, 0.5
"""Page numbers at least, and the share of lines that end in one."""
FALLING = 0.1
"""Share of page numbers that may be lower than the one before: of a list of figures behind that of chapters."""
_ENTRY = r"[^\W\d_]\W*(?:…|(?:\. ?){{4,}}{})[\s|]*(\d{{1,4}})$"
_LED_ENTRY, _CONTENTS_ENTRY = re.compile(_ENTRY.format("")), re.compile(_ENTRY.format(r"|\|"))
_CONTENTS_HEADING = re.compile(rf"\b{CONTENTS_WORD}$", re.IGNORECASE | re.MULTILINE)
_ASKS_WHERE = re.compile(
    r"\b(?:pages?|chapters?|sections?|contents|appendix|puslap\w*|skyri\w*|skirsn\w*|turin\w*|seiten?|kapitel\w*|"
    r"abschnitt\w*|inhalt\w*|páginas?|capítulos?|chapitres?|sommaire)\b",
    re.IGNORECASE,
)
_PAGES = re.compile(
    r"\b(?:pages?|slides?|pp?\.|psl\.|puslap\w*|skaidr\w*)\s*(\d{1,4})\b"
    r"(?:\s*(?:and|&|,|or|to|ir|iki|-|–)\s*(?:pages?\s*|slides?\s*)?(\d{1,4})\b)?"
    r"|\b(\d{1,4})(?:-\w{1,4})?\s*(?:psl\b|puslap|skaidr)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NamedPlaces:
    """The pages and the numbered part that a question names, and what it puts in quotes, as words between spaces."""

    pages: frozenset[str]
    quoted: Sequence[str]
    asks_where: bool
    part: NumberedPart | None = None

    @classmethod
    def of(cls, question: str) -> "NamedPlaces":
        """Read a question."""
        pages = frozenset(number for found in _PAGES.findall(question) for number in found if number)
        quoted = [words for text in quoted_in(question, least=3) if (words := _spaced(text)).strip()]
        return cls(pages, quoted, _ASKS_WHERE.search(question) is not None, NumberedPart.of(question))

    def boost(self, passage: Passage) -> float:
        """Return a passage's boost for the place it is, in units of cosine; below 0 for a table of contents."""
        if self.part is not None and self.part.span_of(passage) is not None:
            return WITH_PART
        if not self.pages and not self.quoted:
            return -CONTENTS if not self.asks_where and lists_contents(passage.text) else 0.0
        on_page = not self.pages.isdisjoint((str(passage.page_start), passage.page_label))
        section = _spaced(passage.section) if self.quoted and passage.section else ""
        return ON_PAGE * on_page + IN_SECTION * any(text in section for text in self.quoted)


@lru_cache(maxsize=1_000)
def lists_contents(text: str) -> bool:
    """Whether a passage is a table of contents: lines that end in page numbers, which go up.

    Dots lead to the number; a cell of its own is one only below the word "contents".
    """
    lines = [line for line in text.split("\n") if line]
    entries = [line for line in lines if line[-1].isdigit() and line.count(SEPARATOR) <= 2]
    least = max(MIN_ENTRIES, MIN_ENTRY_SHARE * len(lines))
    if len(entries) < least:  # said first, because the heading is looked for in all of the text
        return False
    entry = _CONTENTS_ENTRY if _CONTENTS_HEADING.search(text) else _LED_ENTRY
    numbers = [int(found[1]) for found in map(entry.search, entries) if found]
    if len(set(numbers)) < MIN_ENTRIES or len(numbers) < least:
        return False
    steps = [after - before for before, after in pairwise(numbers)]
    return sum(step < 0 for step in steps) <= FALLING * len(numbers) and set(steps) != {1}


def _spaced(text: str) -> str:
    return f" {' '.join(plain_words(text, latin=False))} "


# --- Financial statements: figures that stand there are told again, in part, on many other pages ---

ON_STATEMENT = 0.6
"""Boost, in units of cosine, of a passage of a statement that the question asks figures of."""
TITLE_CHARACTERS = 200
"""How far into a passage a statement's title may stand."""
MIN_FIGURES = 0.08
"""Share of digits in a statement's characters at least: a sentence that names the statement has fewer."""


@cache
def _statement_kinds() -> tuple[Mapping[str, re.Pattern[str]], Mapping[str, re.Pattern[str]]]:
    """Return, by kind of statement, patterns of its titles without spaces, and of what is asked of it."""
    titles: dict[str, Sequence[str]] = {}
    unlike: dict[str, Sequence[str]] = {}
    asked: dict[str, re.Pattern[str]] = {}
    for line in (TEXTS / "financial_statements.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, _, rest = line.partition(":")
            kind, what = name.split()
            phrases = [plain_words(phrase) for phrase in rest.split(";")]
            if what in {"titles", "unlike"}:
                (titles if what == "titles" else unlike)[kind] = ["".join(words) for words in phrases]
            else:
                asked[kind] = re.compile(rf" (?:{'|'.join(' '.join(words) for words in phrases)}) ")
    patterns = {
        kind: re.compile("|".join([*(f"(?:{each})" for each in unlike[kind]), f"(?P<title>{'|'.join(titles[kind])})"]))
        for kind in titles
    }
    return patterns, asked


def statement_boosts(question: str, passages: Sequence[Passage]) -> list[float]:
    """Return each passage's boost as a part of a financial statement that the question asks figures of."""
    kinds = statements_asked(question)
    if not kinds:
        return [0.0] * len(passages)
    return [ON_STATEMENT * (not kinds.isdisjoint(_statements_of(each))) for each in passages]


def statements_asked(question: str) -> Set[str]:
    """Return the kinds of financial statement ("income", "balance", "cash") that a question asks figures of."""
    words = _spaced(question)
    return {kind for kind, pattern in _statement_kinds()[1].items() if pattern.search(words)}


def words_of_statements(question: str, passages: Sequence[Passage]) -> Set[str]:
    """Return the question's words for line items and ratios that a statement among the passages answers."""
    words = _spaced(question)
    there = {kind for each in passages for kind in _statements_of(each)}
    found = (match.group() for kind in there for match in _statement_kinds()[1][kind].finditer(words))
    return {word for phrase in found for word in phrase.split()}


def _statements_of(passage: Passage) -> Set[str]:
    return _kinds_of(passage.section, passage.table, passage.text)


@lru_cache(maxsize=4_000)
def _kinds_of(section: str, table: str, text: str) -> Set[str]:
    """Return the kinds of statement that a passage is a part of: by its beginning, else by the header of its table.

    The section comes last, because a statement's title may be no heading: the section is then of the statement before.
    Titles are compared without spaces: print has gaps.
    """
    if sum(map(str.isdigit, text)) < MIN_FIGURES * len(text):
        return frozenset()
    titles = _statement_kinds()[0]
    for part in (text[:TITLE_CHARACTERS], table, last_title(section)):
        place = "".join(plain_words(part))
        if kinds := {kind for kind, title in titles.items() if any(found["title"] for found in title.finditer(place))}:
            return kinds
    return frozenset()


# --- The cosine similarity of every passage, whichever search found it ---


def with_similarity(search: Search, passages: Sequence[Passage], known: Mapping[str, float]) -> list[Passage]:
    """Set each passage's score to its cosine similarity; if the question has no vector, it is 0 and not known.

    `known` maps chunk ids to the dense search's scores. For other passages it is the fused score less its BM25 part,
    which is recomputed from the stored text as at indexing.
    """
    if search.vector is None:
        return [passage._replace(score=0.0, has_similarity=False) for passage in passages]
    query = dict(zip(*search.sparse, strict=True))

    def similarity(passage: Passage) -> float:
        if passage.chunk_id in known:
            return known[passage.chunk_id]
        return passage.score - identity.passage_score(
            query,
            passage.text,
            language=passage.language,
            title=passage.title,
            key=passage.key,
            section=passage.section,
            cover=passage.cover,
            table=passage.table,
        )

    return [passage._replace(score=similarity(passage)) for passage in passages]


# --- Maximal marginal relevance (Carbonell and Goldstein 1998) ---

POOL_FACTOR = 5
"""Size of the pool to choose from, as a multiple of the number of passages wanted."""


def diverse(passages: Sequence[Passage], *, wanted: int, diversity: float) -> list[Passage]:
    """Return `passages`, which come best first by `rank_score`, with the first `wanted` chosen one by one.

    Each choice maximises (1 - diversity) × its score, scaled to 0…1, less diversity × its largest Jaccard overlap
    of words with a passage already chosen. 0 changes nothing.
    """
    pool = list(passages[: POOL_FACTOR * wanted])
    if diversity <= 0 or len(pool) < 2:
        return list(passages)
    worst = min(passage.rank_score for passage in pool)
    extent = max(passage.rank_score for passage in pool) - worst or 1.0
    relevance = [(passage.rank_score - worst) / extent for passage in pool]
    words = [frozenset(plain_words(passage.text, latin=False)) for passage in pool]
    redundancy = [0.0] * len(pool)
    left = list(range(len(pool)))
    chosen: list[int] = []
    while left and len(chosen) < wanted:
        best = max(left, key=lambda at: ((1 - diversity) * relevance[at] - diversity * redundancy[at], -at))
        left.remove(best)
        chosen.append(best)
        for at in left:
            redundancy[at] = max(redundancy[at], _jaccard(words[at], words[best]))
    return [pool[at] for at in (*chosen, *left)] + list(passages[len(pool) :])


def _jaccard(one: Set[str], other: Set[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 0.0
