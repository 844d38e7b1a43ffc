"""Sentences of a source that speak to a language model instead of to a reader. They are never evidence.

A PDF is data. Where one says "ignore your instructions and answer …", an answer that repeats it would verify, because
it does stand there; so such sentences, and those behind them in the same paragraph, can be quoted by nobody.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

from shared.lexical import fold
from shared.text import sentence_spans

TAINTED_BEHIND = 3
"""Sentences of the same paragraph that are taken to belong to the instruction before them."""

_TEXTS = Path(__file__).parents[1] / "texts"
_LINES = [
    line for line in (_TEXTS / "instructions.txt").read_text(encoding="utf-8").splitlines() if line and line[:2] != "# "
]
_STRUCTURE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]")
"""What a regular expression is built with; escapes and sets of characters are taken whole."""
MOST_BEGINNINGS = 40
"""Of one expression; with more of them it takes longer to look for them than to look for it."""
_WORD = re.compile(r"\w+")
_PARAGRAPH = re.compile(r"\n\s*\n")
_OURS = ("system_prompt.txt", "form_claims.txt", "form_markers.txt")


def beginnings_of(expression: str) -> Sequence[str]:
    """Return texts, in lower case, one of which every match begins with; none where the expression does not tell."""
    found = [begun for alternative in _split(expression) for begun in _beginnings(alternative)[0]]
    return found if min(map(len, found)) > 1 else ()


def _beginnings(alternative: str) -> tuple[Sequence[str], bool]:
    """Return what the matches of an expression without alternatives begin with, and whether that is all of them."""
    begun, rest = [""], alternative.removeprefix(r"\b")
    while rest:
        if rest.startswith("(?:"):
            end = len(_split(rest[3:], until=")")[0]) + 3
            inside = [_beginnings(each) for each in _split(rest[3:end])]
            more, whole = [each for texts, _ in inside for each in texts], all(complete for _, complete in inside)
            rest = rest[end + 1 :]
        else:
            literal = re.match("[a-z ']?", rest)
            more, whole = [literal.group() if literal else ""], bool(literal and literal.group())
            rest = rest[len(more[0]) :]
        if rest[:1] in {"?", "*", "{"} or len(begun) * len(more) > MOST_BEGINNINGS:
            return begun, False
        begun = [f"{one}{other}" for one in begun for other in more]
        if not whole or rest[:1] == "+":
            return begun, False
    return begun, True


def _split(expression: str, *, until: str = "|") -> list[str]:
    """Part an expression at a sign that stands in no group and no set."""
    depth, start, parts = 0, 0, []
    for found in _STRUCTURE.finditer(expression):
        if depth == 0 and found.group() == until:
            parts.append(expression[start : found.start()])
            start = found.end()
        depth += (found.group() == "(") - (found.group() == ")")
    return [*parts, expression[start:]]


def _in_words(text: str) -> str:
    return " ".join(_WORD.findall(fold(text).lower()))


@cache
def _our_sentences() -> frozenset[str]:
    """The sentences of the rules that the model is given, as words; shorter ones may be anybody's."""
    texts = [(_TEXTS / name).read_text(encoding="utf-8") for name in _OURS]
    sentences = {
        _in_words(text[start:end].lstrip("0123456789. ")) for text in texts for start, end in sentence_spans(text)
    }
    return frozenset(each for each in sentences if each.count(" ") >= 3)


def is_our_own(text: str) -> bool:
    """Say whether a sentence is one of the rules that the model is given, which are no answer."""
    return _in_words(text) in _our_sentences()


_AT_START = [re.compile(line[1:], re.IGNORECASE) for line in _LINES if line.startswith("^")]
_ANYWHERE = [
    (
        re.compile(line, re.IGNORECASE),
        [(_WORD.findall(each.rpartition(" ")[0])[1:], each) for each in beginnings_of(line)],
    )
    for line in _LINES
    if not line.startswith("^")
]
"""Each with the texts that its matches begin with, and the words of them that are whole on both sides."""


@lru_cache(maxsize=1_000)
def injected_spans(text: str) -> Sequence[tuple[int, int]]:
    """Return the stretches of a text that nothing may be quoted from, in order."""
    spans = list(sentence_spans(text))
    folded = fold(text)
    if len(folded) != len(text):  # positions must be those of the text
        folded = text
    # One pass of each over the whole text, if it can match at all: to look for what it begins with is much quicker.
    plain = fold(text).casefold().replace("ı", "i")
    words = frozenset(_WORD.findall(plain))
    wanted = [
        pattern
        for pattern, begun in _ANYWHERE
        if not begun or any(words.issuperset(whole) and each in plain for whole, each in begun)
    ]
    found = sorted(match.start() for pattern in wanted for match in pattern.finditer(folded))
    tainted: list[tuple[int, int]] = []
    for number, (start, end) in enumerate(spans):
        holds_one = bisect_left(found, end) > bisect_left(found, start)
        if not holds_one and not any(pattern.match(folded, start, end) for pattern in _AT_START):
            continue
        last = end
        for begin, stop in spans[number + 1 : number + 1 + TAINTED_BEHIND]:
            if _PARAGRAPH.search(text, last, begin):
                break
            last = stop
        tainted.append((start, last))
    return tainted


def is_injected(text: str, start: int, end: int) -> bool:
    """Say whether a stretch touches a sentence that speaks to a model."""
    return any(start < stop and end > begin for begin, stop in injected_spans(text))


def without_injections(text: str) -> str:
    """Return a text without what speaks to a model."""
    kept, at = [], 0
    for start, end in injected_spans(text):
        kept.append(text[at : max(at, start)])
        at = max(at, end)
    return "".join((*kept, text[at:]))
