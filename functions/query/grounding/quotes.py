"""Stretches of stored text that are to prove a claim: how they are found, and what they hold."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from functions.query.grounding.facts import Evidence, evidence_of, facts_in, missing
from functions.query.grounding.injection import is_injected
from functions.query.grounding.words import stems_of
from functions.query.retrieval.passages import Passage
from shared.identity import name_of
from shared.models import Citation
from shared.text import sentence_spans, table_head

# --- where a quote stands in a stored text: exactly, but for white space, hyphens and typography ---

MOST_PLACES = 5
"""Places looked at where the same words stand several times in one passage."""
MOST_QUOTED_CHARACTERS = 1_200
"""Longest stretch that is quoted; also how far apart the two ends of a quote with an omission may stand."""

_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:…|\.{3})\s*\]|\(\s*(?:…|\.{3})\s*\)|…|\.{3,})\s*")
_QUOTATION = "\"“”„«»'‘’"
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&#39;": "'"}
_ENTITY = re.compile("|".join(_ENTITIES))
_SAME = str.maketrans(
    {
        "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "‛": "'", "´": "'",
        "`": "'", "−": "-", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
        "[": "(", "]": ")", "【": "(", "】": ")",
    }
)  # fmt: skip
"""Ways to write one and the same; brackets, because a source's own "[3]" is shown to the model as "(3)"."""
_GONE = frozenset("-‐‑‒–—\u00ad\u2010\ufffe\x02")


def places_of(quote: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches `(start, end)` of `text` that a quote stands at, the exact ones first; none if it does not.

    What may differ is white space, hyphens (a line-end hyphen or a dash), quotation marks and ligatures; letters,
    digits and every other sign must be the same, in the same order. A quote with an omission ("… ") stands where its
    parts follow each other within `MOST_QUOTED_CHARACTERS`. A quote begins and ends at the border of a word.
    """
    wanted = quote.strip()
    bare = wanted.strip(_QUOTATION).strip()
    if not bare or len(wanted) > 2 * MOST_QUOTED_CHARACTERS:
        return
    seen = set()
    for form in dict.fromkeys((wanted, bare)):
        # Each way is dearer than the one before, and needed only where that finds nothing.
        for place in next(filter(None, (list(way(form, text)) for way in _WAYS)), ()):
            if place not in seen and place[1] - place[0] <= MOST_QUOTED_CHARACTERS:
                seen.add(place)
                yield place
            if len(seen) == MOST_PLACES:
                return
        if seen:
            return


def _exact(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    at = text.find(wanted)
    found = 0
    while at >= 0 and found < MOST_PLACES:
        if _at_word_borders(text, at, at + len(wanted)):
            found += 1
            yield at, at + len(wanted)
        at = text.find(wanted, at + 1)


def _squeezed_places(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    needle, _ = _squeezed(wanted)
    haystack, positions = _squeezed(text)
    if len(needle) < 2:
        return
    at = haystack.find(needle)
    found = 0
    while at >= 0 and found < MOST_PLACES:
        begin, end = positions[at], positions[at + len(needle) - 1] + 1
        if _at_word_borders(text, begin, end):
            found += 1
            yield begin, end
        at = haystack.find(needle, at + 1)


def _with_omission(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    parts = [part for part in _ELLIPSIS.split(wanted) if part]
    if not 1 <= len(parts) <= 4 or parts == [wanted] or any(len(part.split()) < 2 for part in parts):
        return
    for start, end in _squeezed_places(parts[0], text):
        last = end
        for part in parts[1:]:
            after = next((place for place in _squeezed_places(part, text) if place[0] >= last), None)
            if after is None:
                break
            last = after[1]
        else:
            yield start, last


@lru_cache(maxsize=64)
def _squeezed(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the text without white space, hyphens and invisible characters, and where each character of it stood."""
    characters: list[str] = []
    positions: list[int] = []
    at = 0
    while at < len(text):
        entity = _ENTITY.match(text, at) if text[at] == "&" else None
        character = _ENTITIES[entity.group()] if entity else text[at]
        if not character.isspace() and character not in _GONE and unicodedata.category(character) != "Cf":
            for each in unicodedata.normalize("NFC", character).translate(_SAME):
                characters.append(each)
                positions.append(at)
        at = entity.end() if entity else at + 1
    return "".join(characters), tuple(positions)


def _at_word_borders(text: str, start: int, end: int) -> bool:
    """A quote may not begin or end inside a word or a number ("5" in "15", "1.2" in "1.25")."""
    if start > 0 and text[start].isalnum() and text[start - 1].isalnum():
        return False
    if end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        return False
    if start > 1 and text[start].isdigit() and text[start - 1] in ".," and text[start - 2].isdigit():
        return False
    return not (end + 1 < len(text) and text[end - 1].isdigit() and text[end] in ".," and text[end + 1].isdigit())


_WAYS = (_exact, _squeezed_places, _with_omission)

# --- Citations: quotes cut out of the stored text, numbered, with the very page and section they stand on ---


class Quotes:
    """The citations of one answer, numbered from 1 as they are first needed; each quote is there once."""

    def __init__(self) -> None:
        self._quotes: dict[tuple[str, int, int], Citation] = {}

    @property
    def citations(self) -> list[Citation]:
        """Every citation, by number."""
        return list(self._quotes.values())

    def number(self, passage: Passage, start: int, end: int) -> int:
        """Return the number of the citation that quotes `passage.text[start:end]`."""
        key = (passage.chunk_id, start, end)
        if key not in self._quotes:
            self._quotes[key] = _citation(len(self._quotes) + 1, passage, start, end)
        return self._quotes[key].n


def with_markers(text: str, numbers: Sequence[int]) -> str:
    """Return a claim with its markers behind it."""
    return text.rstrip() + "".join(f" [{number}]" for number in dict.fromkeys(numbers))


def _citation(n: int, passage: Passage, start: int, end: int) -> Citation:
    first = passage.page_at(passage.char_start + start)
    last = passage.page_at(passage.char_start + end - 1)
    return Citation(
        n=n,
        document_id=passage.document_id,
        title=passage.title,
        source_type=passage.source_type,
        page_start=first.number,
        page_end=last.number,
        page_label=first.label,
        section=passage.section_at(passage.char_start + start),
        quote=passage.text[start:end],
        char_start=passage.char_start + start,
        char_end=passage.char_start + end,
        score=round(passage.score, 4),
    )


LEAST_QUOTED_WORDS = 3
"""A shorter quote is made its whole sentence: two words prove nothing that a reader could check."""
MOST_FURTHER = 2
"""Sentences besides the nearest one that may be needed to hold all of a claim."""
LEAST_OVERLAP = 0.2
"""Share of a claim's content words that a stretch must hold to be looked at as its proof."""


@dataclass(frozen=True)
class Stretch:
    """A stretch of a passage's text; `quoted` if the writer gave its very words."""

    passage: Passage
    start: int
    end: int
    quoted: bool = False

    @cached_property
    def sentences(self) -> Sequence[str]:
        """The sentences it touches; a table's row brings the head of its table."""
        text = self.passage.text
        touched = [text[begin:stop] for begin, stop in _sentences(text) if begin < self.end and stop > self.start]
        return (*(touched or [text[self.start : self.end]]), *table_head(text, self.start, rows=2))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The content words of those sentences."""
        return frozenset().union(*(stems_of(each, self.passage.language or "en") for each in self.sentences))

    @cached_property
    def context(self) -> frozenset[str]:
        """The content words of the title and section over it."""
        return frozenset().union(*(stems_of(each, self.passage.language or "en") for each in titles_of(self.passage)))

    @property
    def tainted(self) -> bool:
        """Whether it touches a sentence that speaks to a model."""
        return is_injected(self.passage.text, self.start, self.end)


def quoted_stretches(quote: str, passage: Passage) -> list[Stretch]:
    """Return where a quote stands in a passage, the best place first; none if it does not stand there."""
    return [_wide_enough(passage, start, end) for start, end in places_of(quote, passage.text)]


def located_stretches(claim: str, passage: Passage, language: str) -> list[Stretch]:
    """Return the stretches of a passage that say what a claim says: where it stands, else the nearest sentences.

    The nearest sentence comes first; up to two more are added while each brings a fact and a word the others lack.
    """
    if len(claim.split()) >= LEAST_QUOTED_WORDS:
        for start, end in places_of(claim.rstrip(" .!?…;:"), passage.text):
            return [_with_full_stop(passage, start, end)]
    wanted = stems_of(claim, language)
    ranked = sorted(
        (
            (-_nearness(claim, wanted, stretch), stretch.start, stretch)
            for stretch in (Stretch(passage, start, end) for start, end in _sentences(passage.text))
            if stretch.end - stretch.start <= MOST_QUOTED_CHARACTERS
        ),
        key=lambda each: each[:2],
    )
    if not ranked or -ranked[0][0] < LEAST_OVERLAP:
        return []
    chosen = [ranked[0][2]]
    lacking = missing(claim, evidence_for(chosen))
    held = chosen[0].stems
    for score, _, stretch in ranked[1:12]:
        if not lacking or len(chosen) > MOST_FURTHER or -score < LEAST_OVERLAP:
            break
        still = missing(claim, evidence_for([*chosen, stretch]))
        # A claim drawn from two sentences has words of both; a number alone would be found in any table.
        if len(still) < len(lacking) and wanted & stretch.stems - held:
            chosen.append(stretch)
            held |= stretch.stems
            lacking = still
    return chosen


def evidence_for(stretches: Sequence[Stretch]) -> Evidence:
    """Gather the facts that some stretches hold, with the titles over them."""
    texts = dict.fromkeys(text for stretch in stretches for text in stretch.sentences)
    titles = dict.fromkeys(text for stretch in stretches for text in titles_of(stretch.passage))
    return evidence_of(list(texts), "\n".join(dict.fromkeys(each.passage.text for each in stretches)), list(titles))


def titles_of(passage: Passage) -> Sequence[str]:
    """Return what stands over a passage: title, file name and section; years and names are often said only there."""
    return tuple(text for text in (passage.title, name_of(passage.title, passage.key), passage.section) if text)


def _nearness(claim: str, wanted: frozenset[str], stretch: Stretch) -> float:
    """Score a sentence: the share of the claim's words it holds, and a quarter as much for the share of its facts."""
    held = stems_of(" ".join(stretch.sentences[:1]), stretch.passage.language or "en")
    share = len(wanted & held) / len(wanted) if wanted else 0.0
    said = facts_in(claim)
    if not said or (wanted and not share):
        return share
    return share + 0.25 * (1 - len(missing(claim, evidence_of(stretch.sentences, stretch.passage.text))) / len(said))


def _wide_enough(passage: Passage, start: int, end: int) -> Stretch:
    if len(passage.text[start:end].split()) < LEAST_QUOTED_WORDS:
        for begin, stop in _sentences(passage.text):
            if begin <= start and end <= stop and stop - begin <= MOST_QUOTED_CHARACTERS:
                return Stretch(passage, begin, stop, quoted=True)
    return Stretch(passage, start, end, quoted=True)


def _with_full_stop(passage: Passage, start: int, end: int) -> Stretch:
    mark = re.compile(r"[.!?…]+").match(passage.text, end)
    return Stretch(passage, start, mark.end() if mark else end)


@lru_cache(maxsize=128)
def _sentences(text: str) -> Sequence[tuple[int, int]]:
    return tuple(sentence_spans(text))
