"""Where a text may be cut, from best to worst: sections, paragraphs, items, sentences, clauses, words, tokens.

Positions are indices into the given text. Only `re` and plain Python: everything but encoding may cost no more than
encoding itself.
"""

import re
import unicodedata
from enum import IntEnum

from shared.abbreviations import ABBREVIATIONS, is_abbreviated


class Border(IntEnum):
    """How good a place to start a chunk is; lower is better."""

    SECTION = 0
    PARAGRAPH = 1
    ITEM = 2  # a list item, a table row, a line of code
    SENTENCE = 3
    CLAUSE = 4
    WORD = 5
    TOKEN = 6


_CJK_STOP = "。！？｡"
_CJK_CLOSE = "」』）】》〉］｝"
_CLOSE = r"\)\]\"'”’»›" + _CJK_CLOSE
# Latin stops need a space behind them, CJK stops do not. `[12]` and a glued footnote number belong to the sentence.
# Runs are bounded and never given back, so that a million full stops cost no more than other text.
_STOPS = f".!?…؟۔।॥።{_CJK_STOP}"
_STOP = (
    rf"[{_STOPS}](?<![{_STOPS}]{{2}})(?:[{_STOPS}{_CLOSE}]|\[\d{{1,3}}(?:[,–-] ?\d{{1,3}}){{0,9}}\]){{0,20}}+"
    rf"(?:(?<=[a-z][.!?])\d{{1,3}}(?=\s))?"
)
_NO_SPACE = rf"(?<=[{_CJK_STOP}{_CJK_CLOSE}])(?=\S)"
_SENTENCE = re.compile(rf"{_STOP}(?:\s+(?=[^\sa-z])|{_NO_SPACE})")
_SENTENCE_UNCASED = re.compile(rf"{_STOP}(?:\s+(?=\S)|{_NO_SPACE})")  # for text that was lower-cased as a whole
_CLAUSE = re.compile(r"[,;:—–][)\]\"'”’»]*\s+|[，、；：]\s*|(?<=\S)\n\s*|\s(?=[(—–])")
# A newline is the border of an item where the next line does not continue in lower case and either the line before is
# finished (it ends in no letter or comma) or the next begins like an item.
_ITEM_LINE = re.compile(
    r"\n\n*(?:(?<![a-zA-ZÀ-ž,][\n])(?=[^\sa-z])|"
    r"(?=[ \t]*(?:[-*+•▪◦‣·–—●○■□➢✓] |\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)] |\||#{1,6} )))"
)
# A blank line, or a newline after a finished sentence where the next line is too long to have been wrapped.
_GAP = re.compile(r"""\n(?:[ \t]*\n\s*|(?:(?<=[.!?:"”’)]\n)|(?<=[.!?:"”’)] \n)) ?(?=[^\sa-z])(?=.{200}))""")
_LINE = re.compile(r"\n\n*")
# What a pre-token includes after its newline: white space up to another newline, and "/" in o200k. Bounded, so that
# endless blank lines are not rescanned.
_NEWLINE_CONTINUED = re.compile(r"/|\s{0,256}[\r\n]|\s{257}")
_MARKUP = ("|", "`")
_SPACE = re.compile(r"\s+")

_LONG = 7  # a word of so many letters is none of these: most sentences end with one


def sentence_starts(text: str, start: int, end: int) -> list[int]:
    """Return where the second and later sentences of `text[start:end]` start, in order."""
    found: list[int] = []
    uncased = text[start:end].islower()
    last = start
    for match in (_SENTENCE_UNCASED if uncased else _SENTENCE).finditer(text, start, end):
        stop, position = match.span()
        if position == end:
            break
        following = text[position]
        if following > "z" and (
            (following.islower() and not uncased) or (following in "とって" and text[position - 1] in _CJK_CLOSE)
        ):
            continue  # 「…。」と continues the sentence
        if text[stop] == "." and text[stop + 1] == " ":
            word = text[stop - _LONG : stop] if stop > _LONG else ""
            if not word.isalpha() and _is_abbreviation(text, last, stop, following):
                continue
        found.append(position)
        last = position
    return found


def _is_abbreviation(text: str, start: int, stop: int, following: str) -> bool:
    """Whether the full stop at `stop` belongs to the word before it, in a sentence that starts at `start`."""
    space = text.rfind(" ", start, stop)
    if space < 0:
        # "1. Introduction", "iv. Scope": an enumerator starts the sentence, it is not one
        return stop - start <= 5 and text[start:stop].strip("([").replace(".", "").isalnum()
    if stop - space > 9:  # longer than any of the abbreviations, and an opening bracket or quote
        return False
    word = text[space + 1 : stop]
    if not word.isalpha() or len(word) == 1:  # seldom
        word = word.rsplit("\n", 1)[-1].lstrip("([{\"'“‘„«")
        if len(word) == 1 and word.isalpha():
            return word != "I" and (word.isupper() or word in ABBREVIATIONS or following.isdigit())
    return is_abbreviated(text, stop)


def clause_starts(text: str, start: int, end: int) -> list[int]:
    """Return where the second and later clauses of `text[start:end]` start, in order."""
    return [match.end() for match in _CLAUSE.finditer(text, start, end) if start < match.end() < end]


def word_starts(text: str, start: int, end: int, every: int) -> list[int]:
    """Return starts of words in `text[start:end]`, the last one in each span of `every` characters that has one."""
    found: list[int] = []
    last = start
    previous = 0
    for match in _SPACE.finditer(text, start, end):
        position = match.end()
        if position >= end:
            break
        if position - last > every and previous > last:
            found.append(previous)
            last = previous
        previous = position
    if end - last > every and previous > last:
        found.append(previous)
    return found


def token_starts(text: str, start: int, end: int, every: int) -> list[int]:
    """Cut `text[start:end]` every `every` characters at most, between graphemes unless one is as long as that."""
    found: list[int] = []
    position = start + every
    last = start
    while position < end:
        safe = position
        while safe > last and _joins(text, safe):
            safe -= 1
        last = safe if safe > last else position
        found.append(last)
        position = last + every
    return found


def _joins(text: str, position: int) -> bool:
    """Whether `position` is inside a grapheme (UAX #29, the cases that occur in texts)."""
    before, after = text[position - 1], text[position]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    if before == "\u200d" or after in "\u200c\u200d" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if unicodedata.category(after)[0] == "M" or "\ufe00" <= after <= "\ufe0f" or "\U000e0020" <= after <= "\U000e007f":
        return True
    if "\U0001f1e6" <= after <= "\U0001f1ff" and "\U0001f1e6" <= before <= "\U0001f1ff":  # flags are pairs
        run = position
        while run > 0 and "\U0001f1e6" <= text[run - 1] <= "\U0001f1ff":
            run -= 1
        return (position - run) % 2 == 1
    if "\u1160" <= after <= "\u11ff":  # Hangul vowels and finals join the syllable before them
        return "\u1100" <= before <= "\u11ff"
    return "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"  # a pair left over from UTF-16


def item_starts(text: str, start: int, end: int) -> list[int]:
    """Return where lines of `text[start:end]` that look like list items, rows or headings start, the first aside."""
    return [match.end() for match in _ITEM_LINE.finditer(text, start, end)]


def line_starts(text: str, start: int, end: int) -> list[int]:
    """Return where the second and later lines of `text[start:end]` start, blank ones skipped, indents kept."""
    return [match.end() for match in _LINE.finditer(text, start, end) if match.end() < end]


def paragraphs(text: str, start: int, end: int, least: int) -> list[tuple[int, int]]:
    """Return the paragraphs of `text[start:end]`; one under `least` characters includes the next.

    So a line that may be a heading stays with what follows. Markdown's tables and code always begin a paragraph.
    """
    found: list[tuple[int, int]] = []
    for match in _GAP.finditer(text, start, end):
        gap, following = match.span()
        if gap - start >= least or text[following : following + 1] in _MARKUP:
            found.append((start, gap))
            start = following
    if start < end:
        found.append((start, end))
    return found


def count_cut(text: str, start: int) -> tuple[int, bool]:
    """Return a position at or before `start` where a token always begins, whatever the text around it.

    Token counts of spans between such cuts add up exactly, so each span is encoded once. That holds for the
    cl100k and o200k patterns: no pre-token crosses from a non-space to a space that is no newline, and every one that
    holds a newline ends with the last newline of its white space (o200k lets "/" follow it). The flag is False when
    there is no such place between the last two words, as inside a word: tokens across the cut must be counted again.
    """
    before = text[start - 1 : start]
    if before == "\n":
        return start, not _NEWLINE_CONTINUED.match(text, start)
    if before == " " and start > 1 and text[start - 2] > " " and not text[start - 2].isspace():
        return start - 1, True
    run = start
    while run > 0 and text[run - 1].isspace():
        run -= 1
        if start - run > 256:  # no real text has that: counted again rather than rescanned
            return start, False
    newline = max(text.rfind("\n", run, start), text.rfind("\r", run, start))
    if newline >= 0:
        return newline + 1, not _NEWLINE_CONTINUED.match(text, newline + 1)
    if run == 0:
        return 0, True
    if run < start:
        return run, text[run] in " \t\u00a0\u3000"
    # 字。|字: the stop goes with what follows it, so the cut is before the stop
    character = text[start - 2] if start > 1 and text[start - 1] in _CJK_STOP else ""
    if "\u3041" <= character <= "\u9fff" and character.isalpha():
        return start - 1, True
    return start, False
