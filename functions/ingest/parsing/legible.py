"""Tells text that is of no language: letters of a private alphabet, or of the wrong code page or OCR language.

Letters follow each other differently in each language, and exchanged letters as in none: `letter_pairs.txt` holds, for
21 languages written in Latin letters, how seldom each letter follows each. Accents are left out, as are short
capitals and words with digits (symbols, part numbers, codes).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise, product
from operator import mul
from pathlib import Path

from shared.language import FUNCTION_WORDS, language_of
from shared.lexical import fold

ALPHABET = " abcdefghijklmnopqrstuvwxyz"
"""Letters, and the space at both ends of a word."""
PAIRS = Path(__file__).with_name("letter_pairs.txt")
ALWAYS = ord("0")
STEPS = 4
"""A digit of the table for each quarter of a power of ten."""
NEVER = 4 * STEPS
"""The digit of a pair that occurs once in ten thousand, or less."""

_COMMON = frozenset(word for words in FUNCTION_WORDS.values() for word in words if len(word) > 2)
SENTENCES = 0.2
"""Share of common little words from which on a text is sentences."""
LIKELY = 0.87 * STEPS
"""Mean digit of a text's pairs, each by the language it suits best, below which no part of it is in doubt."""
LEGIBLE = 1.75 * STEPS
"""Mean digit, by the language it suits best, above which a text is of none."""
SURELY_ILLEGIBLE = 2.0 * STEPS
"""The same for a title, whose letters are few."""
ILLEGIBLE_UNLESS_REPEATED = 1.6 * STEPS
"""The same for a title whose words are nowhere else in the document."""
TITLE_PAIRS = 9
"""Pairs of letters below which a title is not judged."""
SAMPLE = 120
"""Words that are looked at to see whether the others must be."""
MIN_WORDS = 20
"""Different words below which pairs of letters say nothing."""
JUDGED = 0.2
"""Share of a text's letters that these words must have; base64 has 6 % in words without digits."""
PART = 30
"""Different words of each part of a text that is judged by itself."""

_WORD = re.compile(r"(?<![\w.@/\\])[^\W\d_]{4,}(?![\w@/\\])")
_LETTERS = re.compile(r"[^\W\d_]+")
_HUMP = re.compile("(?<=[a-z])(?=[A-Z])")
SHORT_CAPITALS = 5
"""Letters of a word in capitals up to which it is an abbreviation or a symbol."""
MARKED = 0.6
"""Share of letters beyond ASCII from which on a word is of none of the languages."""
_UNMARKED = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "ð": "d", "þ": "th", "ı": "i"}
)


def plain(word: str) -> str:
    """Return a word in lower case without accents."""
    word = word.lower()
    return word if word.isascii() else fold(word.translate(_UNMARKED))


def illegible_share(text: str) -> float:
    """Return the share of a text's letters (0..1) that are in lines of no language; a few words say nothing: 0."""
    words = text.split()
    if len(words) < MIN_WORDS or sum(map(_COMMON.__contains__, words)) > SENTENCES * len(words):
        return 0.0
    some = [word for word in words[:: len(words) // SAMPLE or 1] if len(word) > 3 and word.isalpha()]
    pairs = _pairs(some) or _pairs(_WORD.findall(text))
    if not pairs or _mean(pairs, _likeliest()) < LIKELY:
        return 0.0
    parts = _parts(text)
    letters = [sum(map(len, _LETTERS.findall(part))) for part in parts]
    return sum(count for part, count in zip(parts, letters, strict=True) if _is_illegible(part, count)) / sum(letters)


def _parts(text: str) -> list[str]:
    """Cut a text at lines' ends into parts with words enough to be judged; what is left goes with the last."""
    parts: list[str] = []
    part, words = "", set[str]()
    for line in text.split("\n"):
        part += f"{line}\n"
        words.update(_WORD.findall(line))
        if len(words) >= PART:
            parts.append(part)
            part, words = "", set()
    return [*parts[:-1], "".join((*parts[-1:], part))]


def _is_illegible(text: str, letters: int) -> bool:
    words = _WORD.findall(text)
    if sum(map(len, words)) < JUDGED * letters:
        return False
    pairs = _pairs(words)
    return bool(pairs) and min(_means(pairs)) > LEGIBLE


def is_illegible_title(title: str, text: str = "") -> bool:
    """Whether a few words are of no language: surely, or very likely and they are nowhere else in the text."""
    pairs = _pairs(_WORD.findall(_HUMP.sub(" ", title)), least=1)  # names are written so: "phpMyAdmin"
    letters = sum(count for pair, count in pairs.items() if " " not in pair)
    if letters < TITLE_PAIRS or _mean(pairs, _likeliest()) < LIKELY:
        return False
    mean = min(_means(pairs))
    return mean > SURELY_ILLEGIBLE or (mean > ILLEGIBLE_UNLESS_REPEATED and bool(text) and not _recurs(title, text))


def _recurs(title: str, text: str) -> bool:
    """Whether a word of a title is in the text more often than in the title."""
    held = Counter(_WORD.findall(text.lower()))
    return any(held[word] > count for word, count in Counter(_WORD.findall(title.lower())).items())


def _pairs(words: Iterable[str], least: int = MIN_WORDS) -> Counter[tuple[str, str]]:
    """Count the pairs of letters of different words; none if these are fewer than `least`."""
    different = [_prepared(word) for word in set(words) if not (len(word) <= SHORT_CAPITALS and word.isupper())]
    letters = " ".join(filter(None, different))
    return Counter(pairwise(f" {letters} ")) if letters.count(" ") >= least - 1 else Counter()


def _prepared(word: str) -> str:
    """Return a word as the table's letters: "qq" for what no language does; empty if it is of another script."""
    if word.isascii():
        return _HUMP.sub("q", word).lower() if not (word.islower() or word.isupper()) else word.lower()
    letters = plain(word)
    if not letters.isascii():
        return ""
    return letters if len(word.encode("ascii", "ignore")) > (1 - MARKED) * len(word) else "q" * len(word)


def _mean(pairs: Counter[tuple[str, str]], digits: dict[tuple[str, str], int]) -> float:
    total: int = sum(map(mul, map(digits.__getitem__, pairs), pairs.values()))
    return total / pairs.total()


def _means(pairs: Counter[tuple[str, str]]) -> list[float]:
    return [_mean(pairs, digits) for digits in _languages()]


@cache
def _languages() -> list[dict[tuple[str, str], int]]:
    """Read the table, a mapping for each language."""
    both = list(product(ALPHABET, ALPHABET))
    rows = (row.split(" ", 1)[1] for row in PAIRS.read_text("ascii").splitlines()[1:])
    return [{pair: ord(digit) - ALWAYS for pair, digit in zip(both, row, strict=True)} for row in rows]


@cache
def _likeliest() -> dict[tuple[str, str], int]:
    """Return each pair's digit in the language it suits best."""
    languages = _languages()
    return {pair: min(digits[pair] for digits in languages) for pair in languages[0]}


# --- Letters that stand for others, one for one: bytes of another code page, shown as Latin-1; names of glyphs ---

CODE_PAGES = ("cp1251", "koi8_r", "iso8859_5")
CYRILLIC = frozenset(("ru", "uk", "bg"))
"""Languages that a text in one of them can be told by, for sure."""
FEW_WORDS = 8
"""Words, some of them the language's common ones, that the right code page gives at least."""
CASED = 0.9
"""Share of words in small letters, or in capitals that begin them, that the right code page gives."""


_DINGBATS = (
    (11, "☛☞✌✍✎✏✑"), (21, "✕✖"), (27, "✛✜✢✣✤✥✦✧★✩✪✫✬✭✮✯✰✱✲✳✴✵✶✷✸✹✺✻✼✽✾✿❀❁❂❃❄❅❆❇❈❉❊❋●❍■❏❑▲▼◆❖"),
    (81, "◗❘❙❚❯❱❲❳❨❩❬❭❪❫❴❵"), (97, "❛❜❝❞❡❢❣❤✐❥❦❧♠♥♦♣"), (117, "✉✈✇①②③④⑤⑥"), (136, "❼"),
)  # fmt: skip
"""Characters by the numbers of their names in ZapfDingbats, from a first one on; the numbers left out name none."""
_TEX = dict(enumerate("\ufb00\ufb01\ufb02\ufb03\ufb04“”", 11)) | dict(enumerate("\ufb00\ufb01\ufb02\ufb03\ufb04", 27))
_TEX |= {21: "–", 22: "—", 136: "•"}
_NAMED = {
    ord(dingbat): _TEX.get(number) or chr(number)
    for first, dingbats in _DINGBATS
    for number, dingbat in enumerate(dingbats, first)
}
"""What TeX's bitmap fonts mean by the name of a glyph: "a101" is the character 101, which pdfium takes for ❡."""


_EXCHANGED = re.compile("[\xa1-\xff\u2460-\u2469\u25a0-\u27be]")
FEW_EXCHANGED = 0.1
"""Share of a text's characters up to which hardly any can stand for others."""


def may_be_mended(text: str) -> bool:
    """Whether a text has so many letters of these kinds that it is worth the closer look."""
    return not text.isascii() and len(_EXCHANGED.findall(text)) > FEW_EXCHANGED * len(text)


def mended(text: str) -> Mapping[int, str]:
    """Return what the letters of an illegible text stand for, one for one; nothing if that cannot be told for sure."""
    for table in map(_letters_of, CODE_PAGES):
        meant = text.translate(table)
        words = [word for word in _WORD.findall(meant) if not word.isascii()]
        cased = sum(word[1:].islower() or word.isupper() for word in words)
        if len(words) >= FEW_WORDS and cased > CASED * len(words) and language_of(meant, within="en") in CYRILLIC:
            return table
    named = _pairs(set(_WORD.findall(text.translate(_NAMED))) - set(_WORD.findall(text)))
    return _NAMED if named and min(_means(named)) < LEGIBLE else {}


@cache
def _letters_of(code_page: str) -> Mapping[int, str]:
    meant = {code: bytes([code]).decode(code_page, "ignore") for code in range(0xA1, 0x100)}
    return {code: letter for code, letter in meant.items() if letter.isalpha()}
