"""The words of a document so far, and what they say about a hyphen at a line's end."""

import re
from collections import Counter
from collections.abc import Sequence
from operator import add

from functions.ingest.parsing.words import CUT, SOFT_HYPHEN

MAX_WORDS = 200_000
"""Different words kept, about 20 MB; a document of random letters must not fill the memory."""
_WORD = re.compile(r"[^\W\d_]{2,}(?:-[^\W\d_]+)*")
_ASCII_WORD = re.compile("[a-z]{2,}(?:-[a-z]+)*")
"""A word in small letters; one in ASCII is found in a third of the time."""
_NAME = re.compile(r"\b[^\W\d_]*[a-z](?=[A-Z])[^\W\d_]+")
_CAPITAL_INSIDE = re.compile("[a-z][A-Z]")
"""A name with a capital inside: "LinuxCNC"."""
_TAIL = re.compile(r"[^\W_]+(?:-[^\W_]+)*$")
_HEAD = re.compile(r"^[^\W_]+(?:-[^\W_]+)*")
_NOT_LETTER = re.compile(r"[\W\d_]+")
_ARTICLE = re.compile(r"^[^\W\d_]{1,2}['’]")
_CUT_WORD = re.compile(rf"(\S+){CUT}(\S+)")
LONGEST_REST = 3
"""Letters of the rest of an unknown word that a narrow cell cut: longer ones are nearly always words."""
_PREFIXES = frozenset(
    "over under with some every back down inter super counter work news life hand".split()  # noqa: SIM905
)
"""First halves that usually form one word with what follows: "under-stand" was "understand"."""

ANDS = frozenset("and or to through und oder bis sowie et ou à y o och eller lub ir".split())  # noqa: SIM905
"""What follows a hyphen that stands for the rest of a compound: "three- and six-month"."""

_LAST_LETTERS = re.compile(r"[^\W\d_]+$")
_WITHIN = frozenset("'’_0123456789")
"""What may stand before letters that end a word, and begin none."""
_FIRST_LETTERS = re.compile(r"[^\W\d_]+")
_QUOTATION_MARKS = "“”‘’"
_SIGNS = b"()[]\"'.,;:!?*"
"""What is taken out of a line."""
_ENDS_IN_F = re.compile("f(?= ([^ ]*))")
"""The end of a word, and the next one."""
MIN_WORDS = 200
"""Different words from which on a document knows enough of them to tell halves."""
MOST_HALVES = 30
"""How often the beginning of a word may stand alone; halves are counted as words, too."""
MIN_WITH_F = 2
"""How often a document has a word with "ff" from which on it is meant by its halves: hardly anything else reads so."""
_WORDS_IN_F = frozenset(("f", "of", "if"))
SHORTEST_WHOLE = 4
LONGEST = 100
"""Characters looked at on either side of a hyphen."""
LONG = 40
MIN_LONG = 100
FEW_HYPHENS = 0.024
"""Characters of a line of text, how many such lines a document has at least, and the share of them that end with a
hyphen up to which it may cut no words: where words are cut, it is mostly 3 to 16 %."""
ENGLISH = 0.03
"""Share of a document's words that are "the" from which on it is English: it is 4 to 7 % there."""
_HYPHENS = ("-", SOFT_HYPHEN)
_HYPHENS_OF_PRINT = ("\u2010", "\u2011")
"""Hyphens that are read as "-", as `cleaned` does."""
SHORTEST_KNOWN = 3
TIMES_KNOWN = 2
"""Letters of a word, more than that, and times that it stands in a document, more than that, if it is a word of its
own."""
IN_CAPITALS = 2
LEAST_WHOLE = 3
TIMES_WHOLE = 10
"""Times that a whole word stands in a document for each time that its first part does, in capitals; and at least, and
for each, else."""


def _joined(text: str) -> list[str]:
    """Return what each two words of a text would be as one."""
    line = text.lower()
    for mark in _QUOTATION_MARKS:
        line = line.replace(mark, "")
    line = line.encode("utf-8", "surrogatepass").translate(None, _SIGNS).decode("utf-8", "surrogatepass")
    words = line.split(" ")
    in_f = [f"{line[line.rfind(' ', 0, f.start()) + 1 : f.end()]}f{f[1]}" for f in _ENDS_IN_F.finditer(line)]
    return [*map(add, words, words[1:]), *in_f]


def _words(text: str) -> list[str]:
    """Return the words of lines in small letters, those of the lines in ASCII first."""
    if text.isascii():
        return _ASCII_WORD.findall(text)
    lines = text.split("\n")
    words = _ASCII_WORD.findall("\n".join(filter(str.isascii, lines)))
    return words + _WORD.findall("\n".join([line for line in lines if not line.isascii()]))


def _with_plain_hyphens(line: str) -> str:
    for hyphen in _HYPHENS_OF_PRINT:
        line = line.replace(hyphen, "-")
    return line


class Vocabulary:
    """Counts words, hyphenated ones whole and in parts."""

    def __init__(self) -> None:
        self._count: Counter[str] = Counter()
        self._names: set[str] = set()
        self._beginnings: set[str] = set()
        self._cut = self._compounds = 0
        self._long = self._long_ends = self._total = 0

    def add(self, line: str) -> None:
        """Learn the words of a line, except those its end may have cut in two."""
        if len(self._count) > MAX_WORDS:
            return
        if CUT in line:
            line = _CUT_WORD.sub(" ", line)
        words = _words(line.lower())
        if line.endswith(_HYPHENS) and words:
            words.pop()
        self._count.update(words)
        self._total += len(words)
        self._beginnings.update([word.split("-", 1)[0] for word in words if "-" in word])

    def add_all(self, lines: Sequence[str]) -> None:
        """Learn the words of a page's lines, those that cut no word all at once, and what their hyphens mean."""
        lines = [line if line.isascii() else _with_plain_hyphens(line) for line in lines]
        whole: list[str] = []
        ends: list[int] = []
        for at, line in enumerate(lines):
            if line.endswith(_HYPHENS):
                ends.append(at)
            elif CUT not in line:
                whole.append(line)
                continue
            self.add(line)
        text = "\n".join(whole)
        self.add(text)
        if len(self._names) < MAX_WORDS:
            self._names.update(_NAME.findall("\n".join(filter(_CAPITAL_INSIDE.search, whole))))
        self._long += sum([len(line) >= LONG for line in lines])
        self._long_ends += sum([len(lines[at]) >= LONG for at in ends])
        for at in ends:
            halves = _halves(lines[at], lines[at + 1]) if at + 1 < len(lines) else None
            if halves is not None and "-" not in halves[0]:
                hyphenated, joined = self._forms(halves[0].lower(), halves[1].lower())
                self._cut += joined > hyphenated
                self._compounds += hyphenated > joined

    def may_rejoin(self, lines: Sequence[str]) -> bool:
        """Whether a line of a page may show a word in two, which few pages do: asked about all lines at once."""
        known = self._count
        return len(known) >= MIN_WORDS and not known.keys().isdisjoint(_joined(" \n ".join(lines)))

    def rejoin_apart(self, text: str) -> str:
        """Join words that a line shows in two ("Balance Shee t", "ESTIMA TES"): the whole is a word of the document,
        and its beginning is hardly ever one.

        Where an "ff" was read as one letter ("ef ects"), it is put back.
        """
        known = self._count
        if len(known) < MIN_WORDS or known.keys().isdisjoint(_joined(text)):  # nearly always
            return text
        words = text.split(" ")
        at = 1
        while at < len(words):
            if whole := self._whole(words[at - 1], words[at]):
                words[at - 1 : at + 1] = [whole]
            else:
                at += 1
        return " ".join(words)

    def _whole(self, before: str, after: str) -> str:
        """Return the word that two are the halves of; empty if they are words."""
        if not before[-1:].isalpha() or not (after[:1].islower() or (after[:1].isupper() and before.isupper())):
            return ""
        if self._count.get(before.lower(), 0) > MOST_HALVES:
            return ""
        head, tail = _LAST_LETTERS.search(before), _FIRST_LETTERS.match(after)
        if head is None or tail is None or head[0] in {"a", "A", "I"} or tail[0] == "I":
            return ""
        left, right = head[0].lower(), tail[0].lower()
        if len(left) + len(right) < SHORTEST_WHOLE or before[head.start() - 1 : head.start()] in _WITHIN:
            return ""
        if left.endswith("f") and left not in _WORDS_IN_F and self._count.get(f"{left}f{right}", 0) >= MIN_WITH_F:
            return before + head[0][-1] + after
        if (right in {"a", "i"} and len(left) < SHORTEST_WHOLE - 1) or (
            len(right) > SHORTEST_KNOWN and self._count.get(right, 0) > TIMES_KNOWN
        ):
            return ""
        known = self._count.get(left, 0)
        least = (
            max(1, IN_CAPITALS * known)
            if before.isupper() and after.isupper()
            else max(LEAST_WHOLE, TIMES_WHOLE * known)
        )
        if self._count.get(left + right, 0) >= least:
            return before + after
        return ""

    def join_hyphenated(self, before: str, after: str) -> str:
        """Join two lines of which the first ends with a hyphen.

        The hyphen goes unless the hyphenated form is a word of the document, or both parts are and the joined form is
        not ("question-answering"), or a digit follows, or a capital that no name has inside, or the word has a hyphen
        already ("step-by-step", but not "high-perfor-mance"), or another one after two words ("state-of-the-art"), or
        it stands between a single letter and a word ("e-mail"). Short words ("so-called") and what begins other
        hyphenated words ("non-local") keep it only in an English document that cuts no words. The hyphen and a space
        stay before an "and" in any language, if the first half is a word of the document ("three- and six-month").
        """
        stem = before[:-1]
        halves = _halves(before, after)
        if halves is None:
            return before.replace(SOFT_HYPHEN, "-") + after
        tail, head = halves
        left, right = tail.lower(), head.lower()
        capitals = tail.isupper() and head.isupper() and len(left) > 1
        first, _, last = left.rpartition("-")
        keep = not (head[0].islower() or capitals or tail + head in self._names) or not left[-1].isalpha()
        if not keep and first:
            hyphenated, whole = self._forms(last, right)
            keep = whole <= hyphenated or self._count[last] > 0
        elif not keep:
            hyphenated, whole = self._forms(left, right)
            is_word, is_before_word = self._count[left] > 0, self._count[right.split("-")[0]] > 0
            keep = hyphenated > whole or (is_before_word and _is_letter(stem, left))
            if not (keep or whole):
                if is_word and right in ANDS:
                    return f"{stem}- {after}"
                if is_word and is_before_word:
                    keep = "-" in right or (min(len(left), len(right)) > 3 and left not in _PREFIXES)
                if not keep and is_before_word and (is_word or left in self._beginnings):
                    keep = self._cuts_no_words
        return f"{stem}{'-' if keep else ''}{after}"

    def _forms(self, left: str, right: str) -> tuple[int, int]:
        """Return how often two halves occur with a hyphen between them, and as one word."""
        following = right.split("-")[0]
        return max(self._count[f"{left}-{right}"], self._count[f"{left}-{following}"]), self._count[left + following]

    @property
    def _cuts_no_words(self) -> bool:
        """Whether an English document has hyphens at the ends of lines in compounds only; some must be known ones."""
        if not self._compounds or self._cut > self._compounds or self._long < MIN_LONG:
            return False
        if self._count["the"] < ENGLISH * self._total:
            return False
        return self._long_ends <= FEW_HYPHENS * self._long

    def rejoin_cut(self, text: str) -> str:
        """Join the words that narrow cells cut ("replicatio" over "n"), if the whole is a word of the document.

        Also if the second half is none, and short or behind a slash: few paths have room in a cell. Words cut by a
        hyphen are joined as in a paragraph.
        """
        while (joined := _CUT_WORD.sub(self._joined, text)) != text:
            text = joined
        return text.replace(CUT, " ")

    def _joined(self, match: re.Match[str]) -> str:
        if match.group(1).endswith(SOFT_HYPHEN):
            return self.join_hyphenated(*match.groups())
        left, right = (_NOT_LETTER.sub("", part.lower()) for part in match.groups())
        known = self._count[right] or self._count[_ARTICLE.sub("", match.group(2).lower())]  # "d'étoiles"
        if self._count[left + right]:
            whole = self._count[left + right] >= min(self._count[left], known)
        else:
            is_path = "/" in match.group(1) and not self._count[left]
            whole = not known and (len(match.group(2).partition("-")[0]) <= LONGEST_REST or is_path)
        return match.group(1) + ("" if whole else " ") + match.group(2)


def _halves(before: str, after: str) -> tuple[str, str] | None:
    """Return what stands before and after the hyphen that a line ends with; None if one of them is no word."""
    tail, head = _TAIL.search(before[:-1][-LONGEST:]), _HEAD.match(after[:LONGEST])
    return (tail.group(), head.group()) if tail and head else None


def _is_letter(stem: str, left: str) -> bool:
    """Whether a text ends in a single letter, which no word leaves at a line's end; in "l'a-mi" it is not alone."""
    return len(left) == 1 and stem[-2:-1] not in {"'", "’"}


def ends_hyphenated(text: str) -> bool:
    """Whether a line ends in the middle of a word."""
    return text.endswith(_HYPHENS) and len(text) > 2 and text[-2].isalpha()
