"""The extractive answer, without a model: the sentences of the passages that match the question best, verbatim.

A statement's score is BM25 (Robertson and Zaragoza 2009) over the question's words, weighted by their rarity in the
language and among the statements; higher with more of the question's words and its word pairs, a little higher for
good neighbours, lower in lower-ranked passages. Measured by `python -m evals extractive`.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.injection import is_injected
from functions.query.grounding.sanitizing import without_markers
from functions.query.grounding.words import content_stems
from functions.query.retrieval.passages import Passage
from shared import lexical
from shared.language import language_of
from shared.text import LIST_ITEM, is_abbreviated, statement_spans, table_head, with_column_names

MAX_SENTENCES = 3
MIN_SHARE = 0.6
"""Minimum score of a further sentence, as a share of the best one's."""

_CONTENTS = re.compile(r"(?:\A|> )(?:(?:table of )?contents|turinys)\Z", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:[.,][^\W_]+)*")
_NEXT_ITEM = re.compile(rf"\s*\n\s*(?={LIST_ITEM})")


class PassageSpan(NamedTuple):
    """Characters `start` to `end` of the text of passage number `passage`, counted from 0."""

    passage: int
    start: int
    end: int


def extractive_claims(question: str, passages: Sequence[Passage]) -> Sequence[Claim]:
    """Return the chosen sentences as claims, best first; each quotes itself.

    The header of a table comes once before its rows: without it, their figures mean nothing.
    """
    claims: dict[str, Claim] = {}
    for span in chosen_spans(question, passages):
        whole = passages[span.passage].text
        for start, end in with_column_names(whole, span.start, span.end):
            quote = whole[start:end]
            text = without_markers(_with_its_lists(quote))
            claims.setdefault(text, Claim(text, (Reference(span.passage + 1, quote),), "\n"))
    return list(claims.values())


def _with_its_lists(quote: str) -> str:
    """Return a quote on one line, with each list item on its own line."""
    return "\n".join(" ".join(line.split()) for line in _NEXT_ITEM.split(quote.strip()))


def chosen_spans(question: str, passages: Sequence[Passage]) -> Sequence[PassageSpan]:
    """Choose up to three sentences.

    If none has a word of the question, none is chosen, unless the words cannot be compared: then the best passage's
    first one.
    """
    ranked = ranked_spans(question, passages)
    if not ranked:
        return ()
    best = ranked[0][0]
    if not best:
        return [span for _, span in ranked if not _would_share_words(question, passages[span.passage])][:1]
    chosen: dict[str, PassageSpan] = {}
    for score, span in ranked:
        if score < MIN_SHARE * best or len(chosen) == MAX_SENTENCES:
            break
        words = " ".join(_WORD.findall(passages[span.passage].text[span.start : span.end].casefold()))
        # A repetition: another table's row with one more column, or a sentence with and without its number.
        if not any(f" {words} " in f" {other} " for other in chosen):
            chosen[words] = span
    return list(chosen.values())


def _would_share_words(question: str, passage: Passage) -> bool:
    """Say whether an answer in this passage would share words with the question, because both are in one language."""
    language = passage.language or "en"
    known = lexical.background(language).keys()
    stems = frozenset(content_stems(question, language))
    if not known or not stems:
        return False
    question_language = language_of(question)
    return question_language == language if question_language else not known.isdisjoint(stems)


# --- The score of a statement ---

K1 = 0.8
B = 0.3
PAIRS = 0.4
"""Bonus for two of the question's words in a row, as a share of their mean weight."""
HEAD = 0.4
"""Occurrences that a word in a table's header counts for in each of its rows."""
BESIDE = 0.15
"""Bonus for the better of a sentence's two neighbours, as a share of that one's score."""
FURTHER_DOWN = 0.15
"""Penalty for each rank of the sentence's passage below the first."""
QUESTION = 0.2
"""Factor for a question: a question seldom answers one."""
AFTER_QUESTION = 0.6
"""Minimum score of a sentence after a question, as a share of the question's."""
CONTENTS_ENTRY = 0.3
"""Factor for an entry of a table of contents."""


def ranked_spans(question: str, passages: Sequence[Passage]) -> Sequence[tuple[float, PassageSpan]]:
    """Return every statement of the passages with its score, best first, each text once."""
    found = [
        (at, statement)
        for at, passage in enumerate(passages)
        for statement in statements_of(passage.text, passage.language or "en")
    ]
    own = _own_scores(question, passages, [statement for _, statement in found])
    for number, (at, statement) in enumerate(found):
        if statement.is_contents_entry or _lists_contents(passages[at], statement.start):
            own[number] *= CONTENTS_ENTRY
    scores = []
    for number, (at, _) in enumerate(found):
        beside = [own[other] for other in (number - 1, number + 1) if 0 <= other < len(found) and found[other][0] == at]
        score = (own[number] + BESIDE * max(beside, default=0.0)) * math.sqrt(max(0.05, passages[at].score))
        scores.append(score / (1 + FURTHER_DOWN * at))
    ranked: dict[str, tuple[float, PassageSpan]] = {}
    for number in sorted(range(len(found)), key=lambda number: (-scores[number], number)):
        at, statement = found[number]
        # Passages overlap: a sentence in two of them is one statement.
        ranked.setdefault(statement.text, (scores[number], PassageSpan(at, statement.start, statement.end)))
    return list(ranked.values())


def _lists_contents(passage: Passage, start: int) -> bool:
    """Say whether a position in a passage is in a table of contents, by its heading."""
    return _CONTENTS.search(passage.section_at(passage.char_start + start)) is not None


def _own_scores(question: str, passages: Sequence[Passage], statements: Sequence["Statement"]) -> list[float]:
    """Score each statement by its own words, and one that follows a question by the question's words, too."""
    languages = {passage.language or "en" for passage in passages}
    of_language = {language: content_stems(question, language) for language in languages}
    wanted = frozenset(stem for stems in of_language.values() for stem in stems)
    pairs = {pair for stems in of_language.values() for pair in pairwise(stems)}
    weights = _weights(wanted, languages, statements)
    whole = max((sum(weights[stem] for stem in set(stems)) for stems in of_language.values()), default=0.0) or 1.0
    mean_length = sum(len(statement.stems) for statement in statements) / len(statements) if statements else 0.0

    def score(statement: Statement) -> float:
        counts: dict[str, float] = dict.fromkeys(wanted & statement.head_stems, HEAD)
        counts |= Counter(stem for stem in statement.stems if stem in wanted)
        if not counts:
            return 0.0
        norm = K1 * (1 - B + B * len(statement.stems) / (mean_length or 1.0))
        bm25 = sum(weights[stem] * count * (K1 + 1) / (count + norm) for stem, count in counts.items())
        beside = pairs.intersection(pairwise(statement.stems)) if len(counts) > 1 else ()
        bm25 += PAIRS * sum((weights[one] + weights[other]) / 2 for one, other in beside)
        return bm25 * math.sqrt(sum(weights[stem] for stem in counts) / whole)

    scores = [score(statement) for statement in statements]
    for at, statement in enumerate(statements):
        if statement.is_question:
            # The text after a question (in an FAQ, an interview) answers it in other words.
            if at + 1 < len(statements) and statements[at + 1].start >= statement.end:
                scores[at + 1] = max(scores[at + 1], AFTER_QUESTION * scores[at])
            scores[at] *= QUESTION
    return scores


def _weights(wanted: frozenset[str], languages: set[str], statements: Sequence["Statement"]) -> Mapping[str, float]:
    """Weigh each word of the question: its rarity among the statements times its rarity in the language."""
    holders = Counter(stem for statement in statements for stem in wanted.intersection(statement.stems))
    tables = [lexical.background(language) for language in languages]
    return {
        stem: lexical.idf(len(statements), holders[stem])
        * (0.5 + min((table.get(stem, lexical.MAX_RARITY) for table in tables), default=1.0) / lexical.MAX_RARITY)
        for stem in wanted
    }


# --- The statements of a passage ---

MAX_CHARACTERS = 600
"""A text without sentence borders (a table's row, a list of names) is split here, at a line or word."""
RUN_ON_CHARACTERS = 350
"""Longer statements are split even where no capital follows: `sentence_spans` needs a capital."""
MIN_CHARACTERS = 40
_QUESTION_LABEL = "Question: "
_ANSWER_LABEL = re.compile(r"(?:(?<=\n)|\A)Answer:\s+(?=\S)")
"""The beginning of an FAQ's answer. Ingest writes "Question: …", a line feed, "Answer: …"."""
_LEADERS = re.compile(r"(?:\.[ ]?){4,}[ |]*\d*\Z|\w[ ]?…[ |]*\d*\Z")
"""The end of an entry in a table of contents: dots and, if present, the page number."""
_BORDER = re.compile(r"[.?!]['\")\]]*\s+(?=[a-z\d(\"'])")


@dataclass(frozen=True)
class Statement:
    """A span of a text. `head` is the header of its table, if it is a row."""

    start: int
    end: int
    text: str
    head: str
    language: str

    @cached_property
    def stems(self) -> Sequence[str]:
        """Its content words, stemmed, in order."""
        return content_stems(self.text, self.language)

    @cached_property
    def head_stems(self) -> frozenset[str]:
        """The content words of its head."""
        return frozenset(content_stems(self.head, self.language)) if self.head else frozenset()

    @property
    def is_question(self) -> bool:
        """Whether it is a question."""
        return self.text.rstrip("\"'”’) ").endswith("?") or self.text.startswith(_QUESTION_LABEL)

    @property
    def is_contents_entry(self) -> bool:
        """Whether it is an entry of a table of contents."""
        return _LEADERS.search(self.text) is not None


@lru_cache(maxsize=1_000)
def statements_of(text: str, language: str) -> Sequence[Statement]:
    """Return the statements of a passage's text in order, without instructions to a model (injections)."""
    return tuple(
        Statement(start, end, text[start:end], "\n".join(table_head(text, start)), language)
        for whole in statement_spans(text)
        for part in _unlabelled(text, *whole)
        for start, end in _parts(text, *part)
        if not is_injected(text, start, end)
    )


def _unlabelled(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split an FAQ's question from its answer, without the label "Answer:", so that a quote is still exact."""
    for label in _ANSWER_LABEL.finditer(text, start, end):
        question_end = len(text[: label.start()].rstrip())
        if question_end > start:
            yield start, question_end
        start = label.end()
    yield start, end


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if end - start <= RUN_ON_CHARACTERS:
        yield start, end
        return
    begin = start
    for border in _borders(text, start, end):
        stop = len(text[:border].rstrip())
        if stop - begin >= MIN_CHARACTERS and (end - border >= MIN_CHARACTERS or border == end):
            yield from _windows(text, begin, stop)
            begin = border


def _borders(text: str, start: int, end: int) -> Iterator[int]:
    for match in _BORDER.finditer(text, start, end):
        between_numbers = text[match.start() - 1].isdigit() and text[match.end() : match.end() + 1].isdigit()
        if not between_numbers and not is_abbreviated(text, match.start()):
            yield match.end()
    yield end


def _windows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > MAX_CHARACTERS:
        half, last = start + MAX_CHARACTERS // 2, start + MAX_CHARACTERS
        at = next((at for at in (text.rfind("\n", half, last), text.rfind(" ", half, last)) if at >= 0), last)
        yield start, at
        start = at + len(text[at:end]) - len(text[at:end].lstrip())
    if start < end:
        yield start, end
