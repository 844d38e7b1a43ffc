"""Finds quotes in stored texts and the sentences that support a claim, and makes citations of them."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from functions.query.grounding.facts import facts_in
from functions.query.grounding.injection import is_injected
from functions.query.grounding.known_facts import KnownFacts, known_facts, missing_facts
from functions.query.grounding.tables import row_text
from functions.query.grounding.words import spelled_out_for, stems_of
from functions.query.retrieval.passages import Passage
from shared.dates import is_month
from shared.identity import name_of
from shared.models import Citation
from shared.rects import rects_between
from shared.text import SEPARATOR, row_cells, sentence_spans, sentences_of, table_head

# --- finding a quote, exactly or ignoring white space, hyphens and typography ---

MAX_PLACES = 5
"""Maximum occurrences of a quote that are considered in one passage."""
MIN_CELL_STATEMENTS = 3
"""Statements of a table's cell from which it is compared by what is quoted of it, not as a row with values."""
MAX_QUOTED_CHARACTERS = 1_200
"""Longest span that is quoted, also for a quote with an omission."""

_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:…|\.{3})\s*\]|\(\s*(?:…|\.{3})\s*\)|…|\.{3,})\s*")
_QUOTATION_MARKS = "\"“”„«»'‘’"
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&#39;": "'"}
_ENTITY = re.compile("|".join(_ENTITIES))
_SAME_SIGN = str.maketrans(
    {
        "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "‛": "'", "´": "'",
        "`": "'", "−": "-", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
        "[": "(", "]": ")", "【": "(", "】": ")",
    }
)  # fmt: skip
"""Variants of one sign; brackets, because a source's own "[3]" is shown to the model as "(3)"."""
_IGNORED = frozenset("|-‐‑‒–—\u00ad\u2010\ufffe\x02®™℠")
_SMALL_MARK = re.compile(r"(?<=\w)\s*\([\da-z]\)(?=\s*\|)|(?<=\d)\s*(?:st|nd|rd|th)\b|(?<=\|)\s*\|")
"""What is set small and is not always quoted: a note's mark in a table's cell, the ending of "31 st March"."""

Place = tuple[int, int]
"""Start and end in a text."""
MAX_PARTS = 4
MIN_PART_WORDS = 2
"""Parts of a quote with omissions, at most, and words of each, at least."""
MAX_RANKED = 12
"""Sentences of a passage, the nearest first, that are tried as a claim's evidence."""
FACTS_WEIGHT = 0.25
"""Weight of the share of a claim's facts that a sentence states, beside its share of the claim's words."""


def find_quote(quote: str, text: str) -> Iterator[Place]:
    """Yield the places of a quote in `text`, exact matches first.

    White space, hyphens, dashes, quotation marks, ligatures, trade marks, and notes' marks and empty cells in a table
    may differ; everything else must match. A quote with an omission ("… ") matches if its parts follow one another
    within `MAX_QUOTED_CHARACTERS`. A quote starts and ends at word borders.
    """
    wanted = quote.strip()
    bare = wanted.strip(_QUOTATION_MARKS).strip()
    if not bare or len(wanted) > 2 * MAX_QUOTED_CHARACTERS:
        return
    seen = set()
    for form in dict.fromkeys((wanted, bare)):
        # Each way costs more than the previous one, and is tried only if that finds nothing.
        ways = (_find_exact, _find_squeezed, _find_with_omission, _find_without_small_marks)
        for place in next(filter(None, (list(way(form, text)) for way in ways)), ()):
            if place not in seen and place[1] - place[0] <= MAX_QUOTED_CHARACTERS:
                seen.add(place)
                yield place
            if len(seen) == MAX_PLACES:
                return
        if seen:
            return


def _find_exact(wanted: str, text: str) -> Iterator[Place]:
    return _occurrences(wanted, text, range(len(text)), text)


def _find_squeezed(wanted: str, text: str) -> Iterator[Place]:
    needle = _squeezed(wanted)
    if len(needle) < 2 or needle not in (haystack := _squeezed(text)):
        return iter(())
    return _occurrences(needle, haystack, _squeezed_positions(text), text)


def _find_with_omission(wanted: str, text: str) -> Iterator[Place]:
    parts = [part for part in _ELLIPSIS.split(wanted) if part]
    if (
        not 1 <= len(parts) <= MAX_PARTS
        or parts == [wanted]
        or any(len(part.split()) < MIN_PART_WORDS for part in parts)
    ):
        return
    for start, end in _find_squeezed(parts[0], text):
        last = end
        for part in parts[1:]:
            after = next((place for place in _find_squeezed(part, text) if place[0] >= last), None)
            if after is None:
                break
            last = after[1]
        else:
            yield start, last


def _find_without_small_marks(wanted: str, text: str) -> Iterator[Place]:
    kept = _kept_positions(text)
    if len(kept) == len(text) and not _SMALL_MARK.search(wanted):
        return
    for start, end in _find_squeezed(_SMALL_MARK.sub("", wanted), "".join(text[at] for at in kept)):
        yield kept[start], kept[end - 1] + 1


def _occurrences(needle: str, haystack: str, positions: Sequence[int], text: str) -> Iterator[Place]:
    """Yield the first places of a needle; `positions` maps the haystack's characters to offsets in `text`."""
    at, found = haystack.find(needle), 0
    while at >= 0 and found < MAX_PLACES:
        start, end = positions[at], positions[at + len(needle) - 1] + 1
        if _is_at_word_borders(text, start, end):
            found += 1
            yield start, end
        at = haystack.find(needle, at + 1)


@lru_cache(maxsize=64)
def _kept_positions(text: str) -> Sequence[int]:
    """Return the offset of each character that is in no small mark."""
    kept = [True] * len(text)
    for mark in _SMALL_MARK.finditer(text):
        kept[mark.start() : mark.end()] = [False] * (mark.end() - mark.start())
    return [at for at, is_kept in enumerate(kept) if is_kept]


@lru_cache(maxsize=256)
def _squeezed(text: str) -> str:
    """Return the text without white space, hyphens and invisible characters."""
    return _ENTITY.sub(lambda entity: _ENTITIES[entity.group()], text).translate(_COMPARED)


@lru_cache(maxsize=64)
def _squeezed_positions(text: str) -> Sequence[int]:
    """Return the offset of each character of the squeezed text."""
    signs = [_COMPARED[ord(character)] for character in text]
    for entity in _ENTITY.finditer(text):
        start, end = entity.span()
        signs[start:end] = [_ENTITIES[entity.group()], *[""] * (end - start - 1)]
    return [at for at, sign in enumerate(signs) for _ in sign]


class _Compared(dict[int, str]):
    """Maps characters to how they are compared: to nothing if they are ignored."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isspace() or character in _IGNORED or unicodedata.category(character) == "Cf":
            compared = ""
        else:
            compared = unicodedata.normalize("NFC", character).translate(_SAME_SIGN)
        self[code] = compared
        return compared


_COMPARED = _Compared()


def _is_at_word_borders(text: str, start: int, end: int) -> bool:
    """Return whether a place starts and ends at word and number borders (not "5" in "15" or "1.2" in "1.25")."""
    if start > 0 and text[start].isalnum() and text[start - 1].isalnum():
        return False
    if end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        return False
    if start > 1 and text[start].isdigit() and text[start - 1] in ".," and text[start - 2].isdigit():
        return False
    return not (end + 1 < len(text) and text[end - 1].isdigit() and text[end] in ".," and text[end + 1].isdigit())


# --- the spans of a passage that support a claim ---

MIN_QUOTED_WORDS = 3
"""A shorter quote is widened to its whole sentence, because two words prove nothing to a reader."""
MAX_FURTHER_SENTENCES = 2
"""Maximum sentences added to the nearest one to cover a claim."""
MIN_OVERLAP = 0.2
"""Share of a claim's content words that a span must contain to be considered."""
_SHORT = re.compile(r"\b([A-Z]{2,6})s?\b")
_FULL_STOP = re.compile(r"[.!?…]+")


def _line_at(text: str, position: int) -> tuple[int, int]:
    end = text.find("\n", position)
    return text.rfind("\n", 0, position) + 1, end if end >= 0 else len(text)


@dataclass(frozen=True)
class EvidenceSpan:
    """A span of a passage that supports a claim."""

    passage: Passage
    start: int
    end: int

    @cached_property
    def _places(self) -> Sequence[Place]:
        places = [each for each in sentences_of(self.passage.text) if each[0] < self.end and each[1] > self.start]
        return places or [(self.start, self.end)]

    @property
    def statement(self) -> str:
        """The sentences it overlaps as one text: a list with its items and what introduces them."""
        return self.passage.text[self._places[0][0] : self._places[-1][1]]

    @cached_property
    def sentences(self) -> Sequence[str]:
        """The sentences it overlaps; for a table row, also as "column: value", and the head of its table."""
        text, shift = self.passage.whole, len(self.passage.above)
        touched = [text[shift + begin : shift + end] for begin, end in self._places]
        rows = self._rows
        if len(rows) == 1 and (quoted := self._quoted_in_cell(*rows[0])):
            return (*quoted, *table_head(text, shift + self.start, rows=2))
        told = [row_text(text, *row, with_nothing=False) for row in rows]
        of_rows = [row[begin:stop] for row in told for begin, stop in sentence_spans(row)]
        return (*touched, *of_rows, *table_head(text, shift + self.start, rows=2))

    @property
    def told_rows(self) -> Sequence[str]:
        """The rows of tables that it overlaps as an answer without a model tells them, also with their empty cells."""
        return [row_text(self.passage.whole, *row, every=every) for row in self._rows for every in (False, True)]

    @property
    def _rows(self) -> Sequence[tuple[int, int]]:
        text, shift = self.passage.whole, len(self.passage.above)
        places = ((shift + begin, shift + end) for begin, end in self._places)
        return sorted({_line_at(text, begin) for begin, end in places if SEPARATOR in text[begin:end]})

    def _quoted_in_cell(self, start: int, end: int) -> Sequence[str]:
        """Return what a span quotes of a cell with several statements, and its row's label; nothing of other cells.

        `start` and `end` are those of the row in the whole text.
        """
        text, shift = self.passage.whole, len(self.passage.above)
        begin, stop = max(start, shift + self.start), min(end, shift + self.end)
        opens = text.rfind(SEPARATOR, start, begin + 1)
        closes = text.find(SEPARATOR, begin, end)
        if (0 <= closes < stop) or opens < 0:
            return ()
        cell = (opens + len(SEPARATOR), closes if closes >= 0 else end)
        statements = [(cell[0] + a, cell[0] + b) for a, b in sentence_spans(text[slice(*cell)])]
        if len(statements) < MIN_CELL_STATEMENTS:
            return ()
        return (*(text[a:b] for a, b in statements if a < stop and b > begin), row_cells(text[start:end])[0])

    @cached_property
    def stems(self) -> frozenset[str]:
        """The content words of those sentences."""
        return self._stems(self.sentences)

    @cached_property
    def title_stems(self) -> frozenset[str]:
        """The content words of the titles above it."""
        return self._stems(titles_of(self.passage))

    @property
    def is_injected(self) -> bool:
        """Whether it overlaps a prompt injection."""
        return is_injected(self.passage.text, self.start, self.end)

    def _stems(self, texts: Sequence[str]) -> frozenset[str]:
        return frozenset().union(*(stems_of(text, self.passage.language or "en") for text in texts))


def spelled_out_stems(claim: str, spans: Sequence[EvidenceSpan], language: str) -> frozenset[str]:
    """Return the stems of the words in a claim that an abbreviation of its evidence is short for: "ASPs"."""
    sentences = (sentence for span in spans for sentence in span.sentences)
    return frozenset().union(*(stems_of(words, language) for words in spelled_out_for(claim, sentences, _SHORT)))


def quoted_spans(quote: str, passage: Passage) -> list[EvidenceSpan]:
    """Return the spans of a quote in a passage, best first."""
    return [_widened(passage, start, end) for start, end in find_quote(quote, passage.text)]


def nearest_spans(claim: str, passage: Passage, language: str) -> list[EvidenceSpan]:
    """Return the spans of a passage that support a claim: its exact words, or else the nearest sentences.

    The nearest sentence comes first; up to two more are added while each adds a fact and a word.
    """
    if len(claim.split()) >= MIN_QUOTED_WORDS:
        for start, end in find_quote(claim.rstrip(" .!?…;:"), passage.text):
            mark = _FULL_STOP.match(passage.text, end)
            return [EvidenceSpan(passage, start, mark.end() if mark else end)]
    wanted = stems_of(claim, language)
    spans = (EvidenceSpan(passage, *place) for place in sentences_of(passage.text) if _is_quotable(place))
    ranked = sorted(((_nearness(claim, wanted, span), span) for span in spans), key=lambda each: -each[0])
    if not ranked or ranked[0][0] < MIN_OVERLAP:
        return []
    chosen = [ranked[0][1]]
    lacking = missing_facts(claim, facts_of(chosen))
    held = chosen[0].stems
    for score, span in ranked[1:MAX_RANKED]:
        if not lacking or len(chosen) > MAX_FURTHER_SENTENCES or score < MIN_OVERLAP:
            break
        still_lacking = missing_facts(claim, facts_of([*chosen, span]))
        # A claim made from two sentences has words of both; a number alone occurs in any table.
        if len(still_lacking) < len(lacking) and wanted & span.stems - held:
            chosen.append(span)
            held |= span.stems
            lacking = still_lacking
    return chosen


_PARTED = re.compile(r"(?<=[^\s.!?:;])\s*\n\n\s*(?P<word>[^\W\d_]+)")
"""The end of a paragraph within a sentence, with the word below it."""


def facts_of(spans: Sequence[EvidenceSpan]) -> KnownFacts:
    """Return the facts of spans and of their titles."""
    texts = dict.fromkeys(text for span in spans for text in (*span.sentences, *_across_pages(span)))
    titles = dict.fromkeys(text for span in spans for text in titles_of(span.passage))
    return KnownFacts(list(texts), list(dict.fromkeys(each.passage.text for each in spans)), list(titles))


def _across_pages(span: EvidenceSpan) -> Sequence[str]:
    """Return the paragraphs of a quote in prose that a page parts, as one line: "18", below it "October"."""
    quoted = span.passage.text[span.start : span.end]
    joined = "" if SEPARATOR in quoted else _PARTED.sub(_joined, quoted)
    return [" ".join(each.split()) for each in joined.split("\n\n") if each not in quoted] if joined != quoted else ()


def _joined(parted: re.Match[str]) -> str:
    word = parted["word"]
    return f" {word}" if word[0].islower() or is_month(word.lower()) else parted[0]


def titles_of(passage: Passage) -> Sequence[str]:
    """Return the title, file name and section of a passage; years and names are often only there."""
    return tuple(text for text in (passage.title, name_of(passage.title, passage.key), passage.section) if text)


def _nearness(claim: str, wanted: frozenset[str], span: EvidenceSpan) -> float:
    """Score a sentence: its share of the claim's words, plus a quarter of its share of the claim's facts."""
    held = stems_of(span.sentences[0], span.passage.language or "en")
    share = len(wanted & held) / len(wanted) if wanted else 0.0
    said = facts_in(claim)
    if not said or (wanted and not share):
        return share
    lacking = missing_facts(claim, known_facts(span.sentences, span.passage.text))
    return share + FACTS_WEIGHT * (1 - len(lacking) / len(said))


def _widened(passage: Passage, start: int, end: int) -> EvidenceSpan:
    if len(passage.text[start:end].split()) < MIN_QUOTED_WORDS:
        for begin, stop in sentences_of(passage.text):
            if begin <= start and end <= stop and _is_quotable((begin, stop)):
                return EvidenceSpan(passage, begin, stop)
    return EvidenceSpan(passage, start, end)


def _is_quotable(place: Place) -> bool:
    return place[1] - place[0] <= MAX_QUOTED_CHARACTERS


# --- citations: quotes copied from the stored text, with their exact page and section ---


class NumberedCitations:
    """The citations of one answer, numbered from 1 in order of first use, without duplicates."""

    def __init__(self) -> None:
        self._citations: dict[tuple[str, int, int], Citation] = {}

    @property
    def citations(self) -> list[Citation]:
        """Every citation, by number."""
        return list(self._citations.values())

    def number_of(self, span: EvidenceSpan) -> int:
        """Return the number of the citation that quotes a span."""
        key = (span.passage.chunk_id, span.start, span.end)
        if key not in self._citations:
            self._citations[key] = _citation(len(self._citations) + 1, span)
        return self._citations[key].n


def with_markers(text: str, numbers: Sequence[int]) -> str:
    """Return a claim followed by its markers."""
    return text.rstrip() + "".join(f" [{number}]" for number in dict.fromkeys(numbers))


def _citation(n: int, span: EvidenceSpan) -> Citation:
    passage = span.passage
    start, end = passage.char_start + span.start, passage.char_start + span.end
    first = passage.page_at(start)
    rects, page_sizes = rects_between(passage.rects, passage.text, passage.char_start, start, end)
    return Citation(
        n=n,
        document_id=passage.document_id,
        title=passage.title,
        source_type=passage.source_type,
        page_start=first.number,
        page_end=passage.page_at(end - 1).number,
        page_label=first.label,
        section=passage.section_at(start),
        quote=passage.text[span.start : span.end],
        char_start=start,
        char_end=end,
        score=None if passage.similarity is None else round(passage.similarity, 4),
        key=passage.object_key,
        version_id=passage.version_id,
        rects=rects,
        page_sizes=page_sizes,
        corrected=passage.corrected,
        ocr=passage.ocr,
        described_by=passage.described_by,
    )
