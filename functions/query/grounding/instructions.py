"""Finds rows of words in a text that speak to a language model: the patterns of `texts/instructions.txt`.

Words are compared as a reader sees them: without case, diacritics, invisible characters, look-alike letters of other
alphabets, digits for letters ("1gn0re") and spaces between letters ("i g n o r e"), also in ROT13.
Matching steps through the words once per pattern, so its time is linear in the length of the text.
"""

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple

from functions.query.grounding.sanitizing import INVISIBLE
from functions.query.understanding.question import lines_of
from shared.lexical import fold

_HIDDEN = INVISIBLE.pattern[1:-1]
_WORD = re.compile(rf"[^\W_](?:[^\W_]|['’](?=[^\W_])|[{_HIDDEN}])*")
_RUN = re.compile(r"[^\W_]+")
_ASCII_RUNS = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalnum()})
"""Leaves only the runs of an ASCII text, several times faster than the pattern."""
_SPACED = re.compile(r"(?<![^\W_])(?:[^\W\d_][ .*_-]{1,2}){5,}[^\W\d_](?![^\W_])")
"""Six or more single letters in a row."""
_SENTENCE_END = re.compile(r"[.!?…][^\w\s]*\s|\n\s*\n|[。！？]")
_OPENING = frozenset("\"'“‘«„‹`「")
_LOOK_ALIKES = str.maketrans("авсԁеһіјкӏмпорԛѕтихуԝαβεηικνορτυχı0134578", "abcdehijklmnopqstuxywabenikvoptuxioieastb")
"""Cyrillic and Greek letters, and digits, that look like Latin ones. Only words that mix alphabets need it."""
_CODED = frozenset({"FORGET", "PRIOR", "ORDERS"})
"""Classes that are also found in ROT13."""

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_SINGLE_LETTERS = 4
_MIN_DISGUISED = 4
_LONGEST_WORD = 15
_ANY, _DIGITS = 1, 2
_BEGINS, _COLON, _QUOTED, _CAPITAL, _CLAUSE = 1, 2, 4, 8, 16
_SIGNS = {"^": _BEGINS, "+": _CAPITAL, ">": _CLAUSE, ":": _COLON, '"': _QUOTED}
_GUARDED = 2
"""Words before one that `!` looks at."""


def _classes_in(classes: Iterable[int]) -> int:
    """Return all classes of a text's words; a pattern's digits need not be there."""
    return reduce(or_, classes, _DIGITS)


class _Step(NamedTuple):
    """One word of a pattern: its classes (or those it lacks), the signs before it, how many words may precede it."""

    classes: int
    others: int
    signs: int
    gap: int
    guard: int


class Pattern(NamedTuple):
    """A row of words.

    `needs` and `signs`: the classes and signs that a text with it has. `excluded`: classes that may not be in its
    sentence. `following`: how many sentences after it belong to the instruction. A weak one is an instruction only in a
    sentence that is foreign to its text.
    """

    steps: Sequence[_Step]
    needs: Sequence[int]
    signs: int
    excluded: int
    following: int
    weak: bool
    line: str


class Hit(NamedTuple):
    """Characters `start` to `end` of a text match a pattern."""

    start: int
    end: int
    pattern: Pattern


class _Grammar:
    """The classes, words and patterns of a file."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.words: dict[str, int] = {}
        self.hints: dict[str, int] = {}
        self.phrases: dict[str, list[tuple[Sequence[str], int]]] = {}
        self.patterns: list[Pattern] = []
        self.bits: dict[str, int] = {"*": _ANY, "DIGITS": _DIGITS}
        following, weak = 0, False
        for line in lines:
            name, equals, words = line.partition("= ")
            if name and equals:
                for word in words.split():
                    self._learn(word, self._bit(name.strip()), coded=name.strip() in _CODED)
            elif equals:
                weak = words == "foreign"
                following = 1 if weak else int(words)
            else:
                self.patterns.append(self._pattern(line, following, weak=weak))

    def in_class(self, name: str) -> Sequence[str]:
        """Return the single words of a class."""
        return [word for word, classes in self.words.items() if classes & self.bits[name]]

    def _bit(self, name: str) -> int:
        return self.bits.setdefault(name, 1 << len(self.bits))

    def _learn(self, word: str, bit: int, *, coded: bool = False) -> None:
        first, *rest = fold(word).casefold().split("_")
        if rest:
            self.phrases.setdefault(first, []).append((rest, bit))
        for form in {first} | ({codecs.encode(first, "rot13")} if coded else set()):
            hint = form.partition("'")[0]
            self.hints[hint] = self.hints.get(hint, 0) | bit
            if not rest:
                self.words[form] = self.words.get(form, 0) | bit

    def _pattern(self, line: str, following: int, *, weak: bool) -> Pattern:
        steps: list[_Step] = []
        gap = guard = excluded = 0
        for part in line.split():
            if part.startswith(".."):
                gap = int(part[2:])
            elif part.startswith("!!"):
                excluded = self._classes(part[2:])
            elif part.startswith("!"):
                guard = self._classes(part[1:])
            else:
                signs = _SIGNS.get(part[0], 0)
                name = part[bool(signs) :]
                others = self._classes(name[1:]) if name.startswith("~") else 0
                steps.append(_Step(_ANY if others else self._classes(name), others, signs, gap, guard))
                gap = guard = 0
        needs = tuple(dict.fromkeys(step.classes for step in steps if not step.classes & _ANY))
        signs = reduce(or_, (step.signs for step in steps)) & (_COLON | _QUOTED)
        return Pattern(tuple(steps), needs, signs, excluded, following, weak, line)

    def _classes(self, part: str) -> int:
        found = 0
        for word in part.split("|"):
            if word not in self.bits:
                self._learn(word, self._bit(word))
            found |= self.bits[word]
        return found


_GRAMMAR = _Grammar(lines_of("instructions.txt", comment="# "))
_COURTESY = frozenset(_GRAMMAR.in_class("COURTESY"))
_POLITE = frozenset(_GRAMMAR.in_class("POLITE"))


class _Words:
    """The words of a text with their classes."""

    def __init__(self, text: str) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.classes: list[int] = []
        self.signs: list[int] = []
        self.sentences: list[int] = []
        sentence = last = 0
        previous = ""
        for start, end, word in _words_of(text):
            between = text[last:start]
            clause = not last or previous in _POLITE
            signs = _BEGINS if previous in _COURTESY else 0
            if len(between) != 1 or between != " ":
                if _SENTENCE_END.search(between):
                    sentence += 1
                    clause = True
                clause = clause or bool(between.strip())
                signs |= _COLON if ":" in between else 0
                signs |= _QUOTED | _CAPITAL if not _OPENING.isdisjoint(between) else 0
            signs |= _BEGINS | _CLAUSE if clause else 0
            if text[start].isupper():
                signs |= _BEGINS | _CAPITAL
            self.starts.append(start)
            self.ends.append(end)
            self.classes.append(_ANY | _classes_of(word))
            self.signs.append(signs)
            self.sentences.append(sentence)
            last, previous = end, word
        self._read_phrases(text)

    def _read_phrases(self, text: str) -> None:
        for at, start in enumerate(self.starts):
            for rest, bit in _GRAMMAR.phrases.get(_plain(text[start : self.ends[at]]), ()):
                stop = at + len(rest)
                if stop < len(self.starts) and all(
                    _plain(text[self.starts[at + n] : self.ends[at + n]]) == word for n, word in enumerate(rest, 1)
                ):
                    self.classes[at] |= bit
                    self.classes[stop] |= bit

    def hits(self, pattern: Pattern) -> Iterator[Hit]:
        """Yield the matches of a pattern, one for each word it begins at."""
        first = pattern.steps[0]
        for at, classes in enumerate(self.classes):
            if classes & first.classes and self._allows(at, first):
                end = self._end_of(pattern, at)
                if end is not None and not self._holds(self.sentences[at], pattern.excluded):
                    yield Hit(self.starts[at], self.ends[end], pattern)

    def _end_of(self, pattern: Pattern, at: int) -> int | None:
        """Return the last word of the shortest match that begins at a word."""
        reached = [at]
        for step in pattern.steps[1:]:
            candidates = {
                place
                for begin in reached
                for place in range(begin + 1, min(begin + 2 + step.gap, len(self.starts)))
                if self.classes[place] & step.classes
                and self.sentences[place] == self.sentences[at]
                and self._allows(place, step)
            }
            if not candidates:
                return None
            reached = sorted(candidates)
        return reached[0]

    def _holds(self, sentence: int, classes: int) -> bool:
        return bool(classes) and any(
            each & classes and number == sentence for each, number in zip(self.classes, self.sentences, strict=True)
        )

    def _allows(self, at: int, step: _Step) -> bool:
        if step.signs & ~self.signs[at] or step.others & self.classes[at]:
            return False
        before = range(max(0, at - _GUARDED), at)
        return not step.guard or not any(
            self.classes[place] & step.guard and self.sentences[place] == self.sentences[at] for place in before
        )


@lru_cache(maxsize=1_000)
def hits_in(text: str) -> Sequence[Hit]:
    """Return the matches of all patterns in a text, in order."""
    lower = _lower(text)
    known = _known_words(plain_words(text))
    disguised = _classes_in(_disguised_words(text).values())
    possible = _possible(_GRAMMAR.patterns, _classes_in(known.values()) | disguised)
    if not possible:
        return ()
    # A pattern does not cross the end of a sentence: only sentences with all it needs are read word by word.
    found: list[Hit] = []
    for begin, end in _pieces(lower):
        piece = lower[begin:end]
        words = known.keys() & _runs(piece)
        here = _possible(possible, _classes_in(map(known.__getitem__, words)) | disguised, _signs_in(piece))
        if here:
            read = _Words(text[begin:end])
            found += [Hit(hit.start + begin, hit.end + begin, hit.pattern) for each in here for hit in read.hits(each)]
    return sorted(found, key=lambda hit: hit.start)


@lru_cache(maxsize=64)
def plain_words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case."""
    return frozenset(_runs(_lower(text)))


def _runs(text: str) -> Sequence[str]:
    """Return the runs of letters and digits of a text, in any order."""
    if text.isascii():
        return text.translate(_ASCII_RUNS).split()
    ascii_only: list[str] = []
    others: list[str] = []
    for piece in text.split():
        (ascii_only if piece.isascii() else others).append(piece)
    return [*" ".join(ascii_only).translate(_ASCII_RUNS).split(), *_RUN.findall(" ".join(others))]


@lru_cache(maxsize=4)
def _lower(text: str) -> str:
    """Return a text in lower case, of the same length."""
    lower = text.lower()
    return (
        lower if len(lower) == len(text) else "".join(each.lower() if len(each.lower()) == 1 else "i" for each in text)
    )


def _known_words(words: frozenset[str]) -> dict[str, int]:
    """Return the words that are in a class, with all classes that they may be in."""
    hints = _GRAMMAR.hints
    known = {word: hints[word] for word in words & hints.keys()}
    for word in words:
        if not (word.isalpha() and word.isascii()) and not word.isdigit() and (classes := _looked_up(word, hints)):
            known[word] = classes
    return known


def _disguised_words(text: str) -> dict[str, int]:
    """Return the known words that are written with spaces between their letters or invisible characters in them."""
    has_letters = len(plain_words(text) & _LETTERS) >= _SINGLE_LETTERS and _SPACED.search(text)
    if not has_letters and (text.isascii() or not INVISIBLE.search(text)):
        return {}
    return {word: classes for _, _, word in _words_of(text) if (classes := _GRAMMAR.hints.get(word))}


def _signs_in(piece: str) -> int:
    """Return which of the signs that a pattern may need are in a text."""
    return (_COLON if ":" in piece else 0) | (0 if _OPENING.isdisjoint(piece) else _QUOTED)


def _possible(patterns: Sequence[Pattern], present: int, signs: int = _COLON | _QUOTED) -> Sequence[Pattern]:
    """Return the patterns for whose every step there is a word, and for whose signs there is one."""
    found = []
    for pattern in patterns:
        for needed in pattern.needs:
            if not present & needed:
                break
        else:
            if not pattern.signs & ~signs:
                found.append(pattern)
    return found


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for border in _SENTENCE_END.finditer(text):
        yield begin, border.end()
        begin = border.end()
    yield begin, len(text)


def patterns() -> Sequence[Pattern]:
    """Return all patterns."""
    return _GRAMMAR.patterns


def words_in_class(name: str) -> Sequence[str]:
    """Return the single words of a class."""
    return _GRAMMAR.in_class(name)


def _words_of(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the words of a text with their places; spaced letters are joined to known words."""
    spaced = [match.span() for match in _SPACED.finditer(text)]
    for match in _WORD.finditer(text):
        start, end = match.span()
        if spaced and start >= spaced[0][0]:
            if start == spaced[0][0]:
                yield from _joined(text, *spaced[0])
            if end >= spaced[0][1]:
                spaced.pop(0)
            continue
        yield start, end, _plain(match.group())


def _joined(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Yield the longest known words of a run of spaced letters; unknown letters are left out."""
    places = [place for place in range(start, end) if text[place].isalpha()]
    letters = _plain("".join(text[place] for place in places))
    at = 0
    while at < min(len(letters), len(places)):
        longest = min(len(letters), len(places), at + _LONGEST_WORD)
        length = next((stop - at for stop in range(longest, at + 1, -1) if letters[at:stop] in _GRAMMAR.words), 0)
        if length:
            yield places[at], places[at + length - 1] + 1, letters[at : at + length]
        at += length or 1


def _plain(word: str) -> str:
    """Return a word in lower case, without diacritics, invisible characters and a genitive 's."""
    if not word.isascii():
        word = fold(INVISIBLE.sub("", word)).replace("’", "'")
    return word.casefold().removesuffix("'s")


def _classes_of(word: str) -> int:
    known = _GRAMMAR.words
    return known.get(word) or (0 if word.isascii() and word.isalpha() else _looked_up(word, known))


def _looked_up(word: str, known: Mapping[str, int]) -> int:
    """Return the classes of a word with digits, signs or letters outside ASCII."""
    if word.isdigit():
        return _DIGITS
    plain = _plain(word)
    return known.get(plain) or (known.get(plain.translate(_LOOK_ALIKES), 0) if len(plain) >= _MIN_DISGUISED else 0)
