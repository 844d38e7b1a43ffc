"""Stretches of stored text that are to prove a claim: how they are found, and what they hold."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from functions.query.proof.alignment import MOST_QUOTED_CHARACTERS, places_of
from functions.query.proof.facts import facts_in
from functions.query.proof.facts_held import Evidence, evidence_of, missing
from functions.query.proof.instructions import is_tainted
from functions.query.proof.words import stems_of
from functions.query.retrieval.passages import Passage
from shared.identity import name_of
from shared.sentences import sentence_spans
from shared.tables import table_head

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
        return is_tainted(self.passage.text, self.start, self.end)


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
