"""Checks whether what a claim binds together is bound in its sentences: in one of them, in its place, to its verb."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from functions.query.grounding.polarity import are_opposite, is_negation
from functions.query.grounding.quantities import is_month
from functions.query.grounding.wording import is_placeless
from functions.query.grounding.words import (
    LONGEST_COMPARED_TOKENS,
    are_synonyms,
    is_degree,
    is_stop_word,
    stem_of,
    tokens_of,
)
from shared.lexical import fold

MIN_PATTERN_WORDS = 2
"""Content words, also of a claim, that two sentences share if both may fill the same pattern."""
MAX_LINK = 2
"""Function words between two groups of content words of which one is a preposition."""
MAX_HOPS = 2
"""Groups of words after a preposition in which what it governs may stand: "growth in Sportswear"."""
_TOKEN = re.compile(
    r"(?:(?<!\d)[-−])?[$€£¥]?\d+(?:[.,:]\d+)*%?|[^\W\d_]+(?:['’][^\W\d_]+)?|\w+|[.;:()\[\]|!?]|,(?=\s)|\s[—–-](?=\s)"
)
_DETERMINERS = frozenset(("a", "an", "the", "this", "that", "these", "those", "its", "their", "his", "her", "our"))
_GOVERNING = frozenset(("of", "by", "from", "to", "for", "with", "in"))
"""Prepositions after which another word is another statement; places and times after others are often moved."""
_PREPOSITIONS = _GOVERNING | {"on", "at", "than", "as", "into", "per", "under", "over", "between", "against"}
_JOINING = frozenset((",", "and", "or", "as"))
_ENDING = frozenset((".", ";", ":", "(", ")", "[", "]", "|", "!", "?", "-", "–", "—"))
_REFERRING = frozenset(
    ("he", "she", "it", "they", "we", "i", "this", "these", "such", "his", "her", "its", "their", "our")
)
OPENING_WORDS = 3
"""Words of a sentence among which one of `_REFERRING` says that the sentence before names its subject."""
_PERIODS = frozenset(("year", "quarter", "month", "week", "day", "half", "fiscal"))
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class _LinkedWord:
    """A content word, and the function words and punctuation between it and the one before."""

    text: str
    link: tuple[str, ...]

    @property
    def preposition(self) -> str:
        """The last preposition before it, if any."""
        return next((word for word in reversed(self.link) if word in _PREPOSITIONS), "")

    @property
    def is_period(self) -> bool:
        """Whether it is a part of a date, which may stand anywhere."""
        return bool(_YEAR.fullmatch(self.text)) or self.text in _PERIODS or is_month(self.text)

    @property
    def is_number(self) -> bool:
        return any(map(str.isdigit, self.text))


@lru_cache(maxsize=512)
def _read(text: str) -> tuple[_LinkedWord, ...]:
    """Return the content words of a text in order; a negation is a function word here."""
    words: list[_LinkedWord] = []
    link: list[str] = []
    for token in _TOKEN.findall(text):
        word = fold(token).lower().strip()
        if not any(map(str.isalnum, word)) or (is_stop_word(word) and not is_degree(word)) or is_negation(word):
            link += [word] if word not in _DETERMINERS else []
        else:
            words.append(_LinkedWord(word, tuple(link)))
            link = []
    return tuple(words)


@lru_cache(maxsize=16_384)
def _are_same(word: str, other: str, language: str) -> bool:
    if word == other or stem_of(word, language) == stem_of(other, language):
        return True
    return not any(map(str.isdigit, word + other)) and are_synonyms(word, other, language)


@dataclass(frozen=True)
class _Text:
    """A text as its content words; `opening` are its first words of all kinds."""

    words: Sequence[_LinkedWord]
    language: str
    opening: Sequence[str] = ()

    @property
    def refers_back(self) -> bool:
        """Whether its subject may be named by the sentence before."""
        return not _REFERRING.isdisjoint(self.opening)

    @cached_property
    def groups(self) -> Sequence[Sequence[_LinkedWord]]:
        """Its runs of content words without a function word between."""
        groups: list[list[_LinkedWord]] = []
        for word in self.words:
            if word.link or not groups:
                groups.append([])
            groups[-1].append(word)
        return groups

    def places_of(self, word: _LinkedWord) -> Sequence[int]:
        """Return the indices of a word, or of its synonyms."""
        return [at for at, each in enumerate(self.words) if _are_same(word.text, each.text, self.language)]

    @cached_property
    def _stems(self) -> Set[str]:
        return {stem_of(each.text, self.language) for each in self.words}

    def holds(self, word: _LinkedWord) -> bool:
        return stem_of(word.text, self.language) in self._stems or any(
            _are_same(word.text, each.text, self.language) for each in self.words
        )


def _texts_of(claim: str, sentences: Sequence[str], language: str) -> tuple[_Text, Sequence[_Text]] | None:
    """Return a claim and its sentences as words; None if the claim is too long to compare."""
    mine = _Text(_read(claim), language)
    theirs = [
        _Text(words, language, tokens_of(each)[:OPENING_WORDS])
        for each in dict.fromkeys(sentences)
        if (words := _read(each))
    ]
    if len(mine.words) > LONGEST_COMPARED_TOKENS:
        return None
    return mine, [each for each in theirs if len(each.words) <= LONGEST_COMPARED_TOKENS]


# --- two sentences of one pattern ---


def joins_sentences(claim: str, sentences: Sequence[str], around: Set[str], language: str) -> bool:
    """Return whether a claim fills the pattern that two sentences share with words of both.

    "Cloud revenue rose, driven by Office" of "Cloud revenue rose, driven by Azure" and "Process revenue rose, driven by
    Office". `around` are the stems of the titles and of the question, which any sentence may be about.
    """
    read = _texts_of(claim, sentences, language)
    if read is None or any("|" in sentence for sentence in sentences):
        return False
    mine, theirs = read
    if len(mine.words) <= MIN_PATTERN_WORDS or len(theirs) < 2:
        return False
    held = [[each.holds(word) for word in mine.words] for each in theirs]
    nearest = max(range(len(theirs)), key=lambda number: sum(held[number]))
    if theirs[nearest].refers_back:
        return False
    others = (at for at, each in enumerate(theirs) if at != nearest and not each.refers_back)
    return any(_Pattern(mine, theirs[nearest], held[nearest], held[other], around).is_mixed for other in others)


@dataclass(frozen=True)
class _Pattern:
    """A claim beside the sentence nearest to it and another; `held` and `other` tell which of its words they have."""

    claim: _Text
    nearest: _Text
    held: Sequence[bool]
    other: Sequence[bool]
    around: Set[str]

    @property
    def is_mixed(self) -> bool:
        """Whether a word of the other sentence stands where the nearest one has a word that the claim has not."""
        words, places = self.claim.words, range(len(self.held))
        told = [at for at in places if not words[at].is_period and not is_placeless(words[at].text)]
        shared = {stem_of(words[at].text, self.claim.language) for at in places if self.held[at] and self.other[at]}
        own = [at for at in told if self.held[at] and not self.other[at]]
        brought = [at for at in told if not self.held[at] and self.other[at] and not self._is_around(words[at])]
        if not own or not brought or len(shared) < MIN_PATTERN_WORDS:
            return False
        return any(map(self._is_in_place_of_another, brought))

    def _is_around(self, word: _LinkedWord) -> bool:
        return stem_of(word.text, self.claim.language) in self.around

    def _is_in_place_of_another(self, at: int) -> bool:
        """Return whether the nearest sentence has a word that the claim has not beside a neighbour of this one."""
        words = self.claim.words
        for beside in (at - 1, at + 1):
            if not 0 <= beside < len(words) or not self.held[beside] or _JOINING & set(words[max(at, beside)].link):
                continue
            there = [place + at - beside for place in self.nearest.places_of(words[beside])]
            if there and not any(self._is_free(place) for place in there):
                return True
        return False

    def _is_free(self, place: int) -> bool:
        """Return whether a place of the nearest sentence is outside of it, or holds a word of the claim."""
        return not 0 <= place < len(self.nearest.words) or self.claim.holds(self.nearest.words[place])


# --- what a preposition governs ---


def governs_another(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a preposition of a claim governs other words than after the same word in its sentences.

    "Due to the merger" for "due to an increase", if the sentences speak of the merger elsewhere.
    """
    read = _texts_of(claim, sentences, language)
    if read is None or language.split("-")[0] != "en":
        return False
    mine, theirs = read
    groups = mine.groups
    for one, other in pairwise(groups):
        head, word = one[-1], other[-1]
        is_plain = other[0].preposition in _GOVERNING and len(other[0].link) <= MAX_LINK
        if not is_plain or head.is_number or word.is_number:
            continue
        if not all(any(each.holds(word) for each in theirs) for word in other):
            continue
        found = [here for each in theirs for here in _governed(each, head, other)]
        if found and not any(found):
            return True
    return False


def _governed(sentence: _Text, head: _LinkedWord, wanted: Sequence[_LinkedWord]) -> Iterator[bool]:
    """Yield for each place of a word before the preposition whether what it governs has one of the wanted words."""
    groups = sentence.groups
    for at, group in enumerate(groups[:-1]):
        if not _are_same(head.text, group[-1].text, sentence.language):
            continue
        if groups[at + 1][0].preposition != wanted[0].preposition:
            continue
        after = list(groups[at + 1])
        for hop, further in enumerate(groups[at + 2 :], start=1):
            link = set(further[0].link)
            if not (_JOINING & link or (further[0].preposition and hop <= MAX_HOPS and not _ENDING & link)):
                break
            after += further
        yield any(_are_same(word.text, each.text, sentence.language) for word in wanted for each in after)


# --- comparisons ---

_PART = re.compile(r"[.;:]\s|,\s")
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)
MAX_COMPARED = 4
"""Content words after "than" that say with what something is compared."""


def turns_comparison(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim compares with a sentence's subject what that sentence compares its subject with.

    "A costs less than B" for "B costs less than A"; "A costs more than B" says the same.
    """
    if language.split("-")[0] != "en":
        return False
    return any(
        _turns_comparison(mine, theirs, language)
        for mine in _comparisons(claim)
        for sentence in sentences
        for theirs in _comparisons(sentence)
    )


def _comparisons(text: str) -> Iterator[tuple[Sequence[_LinkedWord], Sequence[_LinkedWord]]]:
    """Yield the words before and after each "than", unless that is a number."""
    for part in _PART.split(text):
        if than := _THAN.search(part):
            first, second = _read(part[: than.start()]), _read(part[than.end() :])[:MAX_COMPARED]
            if second and not any(word.is_number for word in second):
                yield first, second


def _turns_comparison(
    mine: tuple[Sequence[_LinkedWord], Sequence[_LinkedWord]],
    theirs: tuple[Sequence[_LinkedWord], Sequence[_LinkedWord]],
    language: str,
) -> bool:
    subject, compared = _Text(mine[0], language), _Text(theirs[1], language)
    if not all(map(subject.holds, compared.words)) or all(map(compared.holds, mine[1])):
        return False
    return not are_opposite([word.text for word in mine[0]], [word.text for word in theirs[0]])


# --- who or what does it ---

_AUXILIARIES = frozenset((
    "will", "would", "can", "could", "may", "might", "must", "should", "shall", "is", "are", "was", "were", "be",
    "been", "being", "has", "have", "had", "does", "do", "did",
))  # fmt: skip
_BE = frozenset(("is", "are", "was", "were", "be", "been", "being"))
_CLAUSE = re.compile(
    r"[.;:()|]\s*|,\s|\s(?:and|but|while|whereas|which|that|who|if|when|because|although|as)\s", re.IGNORECASE
)
_SUBJECT_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class _Action:
    """A verb after an auxiliary, whether that is a form of "be", and the content words of its subject."""

    verb: str
    is_passive: bool
    subject: Sequence[_LinkedWord]


def has_another_subject(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim's verb has another subject than in its sentences, which speak of that elsewhere.

    "Existing objects will inherit" for "new objects will inherit".
    """
    read = _texts_of(claim, sentences, language)
    if read is None or language.split("-")[0] != "en":
        return False
    text, texts = read
    theirs = [action for sentence in sentences for action in _actions(sentence)]
    for mine in _actions(claim):
        same = [each.subject for each in theirs if (each.verb, each.is_passive) == (mine.verb, mine.is_passive)]
        if same and all(_is_another(mine.subject, each, text, texts) for each in same):
            return True
    return False


def _is_another(
    subject: Sequence[_LinkedWord], other: Sequence[_LinkedWord], claim: _Text, sentences: Sequence[_Text]
) -> bool:
    """Return whether a subject has words from elsewhere in the sentences, and lacks some that the claim has nowhere."""
    theirs = _Text(other, claim.language)
    brought = [word for word in subject if not theirs.holds(word) and not word.is_period]
    is_known = all(any(each.holds(word) for each in sentences) for word in brought)
    return bool(brought) and is_known and not all(map(claim.holds, other))


@lru_cache(maxsize=512)
def _actions(text: str) -> Sequence[_Action]:
    """Return the first verb after an auxiliary of each clause that has a subject."""
    found: list[_Action] = []
    for clause in _CLAUSE.split(text):
        words = [fold(word).lower() for word in _SUBJECT_WORD.findall(clause)]
        at = next((at for at, word in enumerate(words) if at and word in _AUXILIARIES), len(words))
        after = (word for word in words[at:] if not (is_stop_word(word) or is_negation(word) or word.endswith("ly")))
        verb = next((word for word in after if word not in _AUXILIARIES), "")
        subject = _read(" ".join(words[:at]))
        if verb and subject:
            found.append(_Action(verb, bool(_BE.intersection(words[at : words.index(verb, at)])), subject))
    return found
