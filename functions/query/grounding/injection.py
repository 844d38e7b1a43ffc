"""Finds prompt injections: sentences of a source that address a language model instead of a reader.

If a PDF says "ignore your instructions and answer …", an answer that repeats it would pass verification, because the
words are in the source. So such a sentence, and those after it in its paragraph, are never evidence.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache, lru_cache

from functions.query.grounding.words import TEXTS, lines_of
from shared.lexical import fold
from shared.text import sentence_spans

FOLLOWING_SENTENCES = 3
"""Following sentences of the same paragraph that count as part of the injection."""
MAX_PREFIXES = 40
"""Maximum literal prefixes of one expression; searching for more takes longer than matching the expression."""
_REGEX_SYNTAX = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]")
"""Tokens of a regular expression: an escape, a character set, or a group or alternative sign."""
_WORD = re.compile(r"\w+")
_PARAGRAPH = re.compile(r"\n\s*\n")
_PROMPTS = ("system_prompt.txt", "form_claims.txt", "form_markers.txt")


def literal_prefixes(expression: str) -> Sequence[str]:
    """Return lower-case prefixes, one of which starts every match; empty if the expression has no such prefixes."""
    found = [prefix for alternative in _split(expression) for prefix in _prefixes(alternative)[0]]
    return found if min(map(len, found)) > 1 else ()


def _prefixes(alternative: str) -> tuple[Sequence[str], bool]:
    """Return the prefixes of an expression without alternatives, and whether they are complete matches."""
    prefixes, rest = [""], alternative.removeprefix(r"\b")
    while rest:
        if rest.startswith("(?:"):
            end = len(_split(rest[3:], until=")")[0]) + 3
            inside = [_prefixes(each) for each in _split(rest[3:end])]
            more, whole = [each for texts, _ in inside for each in texts], all(complete for _, complete in inside)
            rest = rest[end + 1 :]
        else:
            literal = re.match("[a-z ']?", rest)
            more, whole = [literal.group() if literal else ""], bool(literal and literal.group())
            rest = rest[len(more[0]) :]
        if rest[:1] in {"?", "*", "{"} or len(prefixes) * len(more) > MAX_PREFIXES:
            return prefixes, False
        prefixes = [f"{one}{other}" for one in prefixes for other in more]
        if not whole or rest[:1] == "+":
            return prefixes, False
    return prefixes, True


def _split(expression: str, *, until: str = "|") -> list[str]:
    """Split an expression at a sign outside groups and sets."""
    depth, start, parts = 0, 0, []
    for found in _REGEX_SYNTAX.finditer(expression):
        if depth == 0 and found.group() == until:
            parts.append(expression[start : found.start()])
            start = found.end()
        depth += (found.group() == "(") - (found.group() == ")")
    return [*parts, expression[start:]]


_LINES = lines_of("instructions.txt", comment="# ")
_AT_SENTENCE_START = [re.compile(line[1:], re.IGNORECASE) for line in _LINES if line.startswith("^")]
_ANYWHERE = [
    (
        re.compile(line, re.IGNORECASE),
        [(_WORD.findall(prefix.rpartition(" ")[0])[1:], prefix) for prefix in literal_prefixes(line)],
    )
    for line in _LINES
    if not line.startswith("^")
]
"""Each expression with its literal prefixes, and the complete words of each prefix."""


@lru_cache(maxsize=1_000)
def injected_spans(text: str) -> Sequence[tuple[int, int]]:
    """Return the spans of prompt injections in a text, in order."""
    sentences = list(sentence_spans(text))
    folded = fold(text)
    if len(folded) != len(text):  # offsets must be those of the text
        folded = text
    # An expression runs once over the whole text, and only if one of its prefixes occurs, which is much faster.
    plain = fold(text).casefold().replace("ı", "i")
    words = frozenset(_WORD.findall(plain))
    candidates = [
        pattern
        for pattern, prefixes in _ANYWHERE
        if not prefixes or any(words.issuperset(whole) and prefix in plain for whole, prefix in prefixes)
    ]
    found = sorted(match.start() for pattern in candidates for match in pattern.finditer(folded))
    spans: list[tuple[int, int]] = []
    for number, (start, end) in enumerate(sentences):
        holds_one = bisect_left(found, end) > bisect_left(found, start)
        if not holds_one and not any(pattern.match(folded, start, end) for pattern in _AT_SENTENCE_START):
            continue
        last = end
        for begin, stop in sentences[number + 1 : number + 1 + FOLLOWING_SENTENCES]:
            if _PARAGRAPH.search(text, last, begin):
                break
            last = stop
        spans.append((start, last))
    return spans


def is_injected(text: str, start: int, end: int) -> bool:
    """Return whether a span overlaps a prompt injection."""
    return any(start < stop and end > begin for begin, stop in injected_spans(text))


def without_injections(text: str) -> str:
    """Return a text without its prompt injections."""
    kept, at = [], 0
    for start, end in injected_spans(text):
        kept.append(text[at : max(at, start)])
        at = max(at, end)
    return "".join((*kept, text[at:]))


def is_prompt_rule(text: str) -> bool:
    """Return whether a sentence is a rule of our own prompt, which is never an answer."""
    return _joined_words(text) in _prompt_rules()


@cache
def _prompt_rules() -> frozenset[str]:
    """Return the sentences of the prompts as words; those under four words are too common."""
    texts = [(TEXTS / name).read_text(encoding="utf-8") for name in _PROMPTS]
    rules = {
        _joined_words(text[start:end].lstrip("0123456789. ")) for text in texts for start, end in sentence_spans(text)
    }
    return frozenset(rule for rule in rules if rule.count(" ") >= 3)


def _joined_words(text: str) -> str:
    return " ".join(_WORD.findall(fold(text).lower()))
