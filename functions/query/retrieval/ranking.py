"""The order of what was found: by score, by what the stored texts say, and by which document or place is meant.

A question that names a document should find its pages first. Filings of one company read alike, and only title, file
name and cover tell them apart. So a passage is lifted when the question's words tell its document apart from the other
candidates. Measured on 20 filings (80 questions that name
company and quarter): the right document comes first in 24 % by meaning alone, 65 % with words, 98 % with this; on 27
unlike PDFs nothing is lost.
"""

import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache

from functions.query.retrieval.passages import Passage
from functions.query.retrieval.rescoring import plain_words, text_scores
from functions.query.retrieval.search import Search
from shared import identity, lexical

# --- Pages and sections that a question names: "on page 12", "In the 'Unlock Your Screen' section" ---

ON_PAGE = 1.0
"""Worth, in units of cosine, of a passage that begins on a page the question names, by its number or printed label."""
IN_SECTION = 0.5
"""Worth of one whose section has, as its heading or a part of it, what the question quotes."""

_PAGES = re.compile(
    r"\b(?:pages?|slides?|pp?\.|psl\.|puslap\w*|skaidr\w*)\s*(\d{1,4})\b"
    r"(?:\s*(?:and|&|,|or|to|ir|iki|-|–)\s*(?:pages?\s*|slides?\s*)?(\d{1,4})\b)?"
    r"|\b(\d{1,4})(?:-\w{1,4})?\s*(?:psl\b|puslap|skaidr)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"(?<!\w)['\"‘“„`]([^'\"’‘”“`]{3,80})['\"’”“`](?!\w)")


@dataclass(frozen=True, slots=True)
class NamedPlaces:
    """The pages a question names, and what it puts in quotes, as words between spaces."""

    pages: frozenset[str]
    quoted: Sequence[str]

    @classmethod
    def of(cls, question: str) -> "NamedPlaces":
        """Read a question."""
        pages = frozenset(number for found in _PAGES.findall(question) for number in found if number)
        quoted = [spaced for text in _QUOTED.findall(question) if (spaced := _spaced(text)).strip()]
        return cls(pages, quoted)

    def worth(self, passage: Passage) -> float:
        """Return what a passage is worth for where it stands, in units of cosine."""
        on_page = bool(self.pages) and not self.pages.isdisjoint((str(passage.page_start), passage.page_label))
        section = _spaced(passage.section) if self.quoted and passage.section else ""
        return ON_PAGE * on_page + IN_SECTION * any(text in section for text in self.quoted)


def _spaced(text: str) -> str:
    return f" {' '.join(plain_words(text, latin=False))} "


# --- The cosine similarity of every passage that was found, whichever ranking found it ---


def with_similarity(search: Search, passages: Sequence[Passage], known: Mapping[str, float]) -> list[Passage]:
    """Make each passage's score its cosine similarity (0 where the question has no vector).

    `known` has those of the dense ranking, by chunk; else it is the fused score less the part of the words, which is
    worked out again from the stored text by the rule it was indexed with.
    """
    if search.vector is None:
        return [replace(passage, score=0.0) for passage in passages]
    words = dict(zip(*search.sparse, strict=True))
    return [
        replace(
            passage,
            score=known[passage.chunk_id]
            if passage.chunk_id in known
            else passage.score - _lexical_part(words, passage),
        )
        for passage in passages
    ]


def _lexical_part(words: Mapping[int, float], passage: Passage) -> float:
    return identity.passage_score(
        words,
        passage.text,
        language=passage.language,
        title=passage.title,
        key=passage.key,
        section=passage.section,
        cover=passage.cover,
    )


# --- maximal marginal relevance (Carbonell and Goldstein 1998) ---

LOOKED_AT = 5
"""How many times the wanted number of passages is chosen from."""


def diverse(passages: Sequence[Passage], *, wanted: int, diversity: float) -> list[Passage]:
    """Return `passages`, which come best first by `rank_score`, with the first `wanted` chosen one by one.

    Each choice is the best by (1 - diversity) × its score, as a share of the range of scores, less diversity × the
    greatest share of words it has in common with one chosen before. 0 changes nothing.
    """
    pool = list(passages[: LOOKED_AT * wanted])
    if diversity <= 0 or len(pool) < 2:
        return list(passages)
    worst = min(passage.rank_score for passage in pool)
    span = max(passage.rank_score for passage in pool) - worst or 1.0
    worth = [(passage.rank_score - worst) / span for passage in pool]
    words = [frozenset(plain_words(passage.text, latin=False)) for passage in pool]
    likeness = [0.0] * len(pool)
    left = list(range(len(pool)))
    chosen: list[int] = []
    while left and len(chosen) < wanted:
        best = max(left, key=lambda at: ((1 - diversity) * worth[at] - diversity * likeness[at], -at))
        left.remove(best)
        chosen.append(best)
        for at in left:
            likeness[at] = max(likeness[at], _overlap(words[at], words[best]))
    return [pool[at] for at in (*chosen, *left)] + list(passages[len(pool) :])


def _overlap(one: Set[str], other: Set[str]) -> float:
    """Return the share of common words (Jaccard), 0 to 1."""
    together = len(one | other)
    return len(one & other) / together if together else 0.0


MAX_LIFT = 1.0
"""What a document that the question names outright is worth, in units of cosine."""
HALF_LIFT_EVIDENCE = 3.0
"""Evidence at which half of it is given: two or three words that a quarter of the documents have."""
MAX_WORTH = 5.0
"""A single word's evidence at most, however rare."""
COVER_SHARE = 0.5
"""A word on the cover counts this much of one in title or file name."""
MIN_WORDS = 2
"""A document that fewer words speak for is likely not named but talked about."""
UNNAMED_SHARE = 0.25
"""A word in lower case counts this much of one with a capital or a digit, in a question that has such words: "the steps
of reasoning" are more likely talked about than part of a name."""
STEEPNESS = 4
"""How fast the lift falls for documents with less evidence than the best."""


LOOKED_AT_RANKING = 100
"""Passages whose text is looked at again at most."""
OUT_OF_REACH = 2.25
"""Passages so far behind the best one are left where they are: what their text may add seldom makes up for it."""


def rank(search: Search, passages: Sequence[Passage]) -> list[tuple[float, Passage]]:
    """Return the passages, which carry their fused scores, best first, each with the score that it is ranked by."""
    lifts = document_boosts(search.question, search.language, passages)
    places = NamedPlaces.of(search.question)
    scored = [
        (passage.score + lifts[passage.document_id] + passage.boost + places.worth(passage), passage)
        for passage in passages
    ]
    scored.sort(key=lambda each: -each[0])
    within_reach = [each for each in scored[:LOOKED_AT_RANKING] if each[0] > scored[0][0] - OUT_OF_REACH]
    told = text_scores(search.question, search.language, [passage for _, passage in within_reach])
    first = [(score + found, passage) for (score, passage), found in zip(within_reach, told, strict=True)]
    return sorted(first, key=lambda each: -each[0]) + scored[len(first) :]


def document_boosts(question: str, language: str, passages: Sequence[Passage]) -> dict[str, float]:
    """Map each document of the passages to its lift, 0 to `MAX_LIFT`.

    Only words that tell these documents apart count: what all of them have in name or cover says nothing.
    """
    names: dict[str, Mapping[str, float]] = {}
    for passage in passages:
        if passage.document_id not in names:
            names[passage.document_id] = _names(passage.title, passage.key, passage.cover, passage.language or "en")
    if len(names) < 2:
        return dict.fromkeys(names, 0.0)
    evidence = _evidence(question, language, names)
    most = max(evidence.values())
    if most == 0:
        return evidence
    lift = MAX_LIFT * most**2 / (most**2 + HALF_LIFT_EVIDENCE**2)
    return {document: lift * (found / most) ** STEEPNESS for document, found in evidence.items()}


@lru_cache(maxsize=5_000)
def _names(title: str, key: str, cover: str, language: str) -> Mapping[str, float]:
    """Map the terms a document is called by to how much each counts; kept, because documents are asked about again."""
    covered = dict.fromkeys((term for term, _ in lexical.terms_of(cover, language)), COVER_SHARE)
    name = identity.name_of(title, key)
    return covered | dict.fromkeys((term for term, _ in lexical.terms_of(name, language)), 1.0)


def _named_terms(question: str, language: str) -> Set[str]:
    """Return the terms of the words that look like names; of all words where none does."""
    words = question.split()
    named = [word for word in words if not word.islower() and any(map(str.isalnum, word))]
    if len(named) == 1 and named[0] == words[0]:
        named = words
    return {term for word in named or words for term, _ in lexical.terms_of(word, language)}


def _evidence(question: str, language: str, names: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    worth_of = lexical.term_weights(question, language=language)
    named = _named_terms(question, language)
    evidence = dict.fromkeys(names, 0.0)
    words = dict.fromkeys(names, 0)
    for terms in {tuple(term for term, _ in word): None for word in lexical.words_of(question, language)}:
        told: dict[str, float] = {}
        for term in terms:
            holders = [document for document, held in names.items() if term in held]
            if worth_of.get(term, 0.0) < identity.COMMON or not 0 < len(holders) < len(names):
                continue
            telling = min(worth_of[term], MAX_WORTH) * math.log(len(names) / len(holders)) / math.log(len(names))
            telling *= 1.0 if term in named else UNNAMED_SHARE
            for document in holders:
                told[document] = max(told.get(document, 0.0), telling * names[document][term])
        for document, found in told.items():
            evidence[document] += found
            words[document] += 1
    return {document: found if words[document] >= MIN_WORDS else 0.0 for document, found in evidence.items()}
