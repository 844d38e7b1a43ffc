"""Cleans characters (ligatures, spaces, invisible ones, NFC), and measures how doubtful a text is."""

import re
import string
import unicodedata
from functools import lru_cache
from itertools import batched

_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_SPACES = (0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)
_BULLETS = {0xF0B7: "•", 0xF0A7: "▪", 0xF0A8: "▪", 0xF06E: "▪", 0xF0D8: "➢", 0xF0FC: "✓", 0xF0E0: "→", 0xF02D: "-"}
_INVISIBLE = (  # U+00AD is the soft hyphen; those at line ends have been handled by now
    *(0xAD, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF),
    *(*range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xFFF0, 0xFFFC)),
)
_CONTROLS = tuple(code for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in {0x09, 0x0A})
_TABLE: dict[int, str] = {
    **_LIGATURES,
    **_BULLETS,
    **dict.fromkeys(_SPACES, " "),
    **dict.fromkeys((*_INVISIBLE, *_CONTROLS), ""),
    0x09: " ",
    0x2010: "-",
    0x2011: "-",
}
# Zero-width joiner and non-joiner stay: Persian and Indic words need them.
# Full NFKC would turn x² into x2 and ½ into 1⁄2, so only NFC, and the ligatures by name.

_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010fffd]")
_TICKED = {0xF052: "☑", 0xF053: "☒", 0xF054: "☒", 0xF0FE: "☑", 0xF0FD: "☒", 0xF078: "☒"}
_UNTICKED = {0xF0A3: "☐", 0xF0A8: "☐", 0xF06F: "☐", 0xF071: "☐", 0xA8: "☐"}
_BOXES = _TICKED | _UNTICKED
"""Boxes to tick in fonts of signs, which have letters of Greek and mathematics in other such fonts."""
KNOWN_SIGNS = "".join(map(chr, {**_BULLETS, **_BOXES}))
"""What fonts of signs have a code for whose meaning is known."""
_BOX = re.compile(f"(?<!\\S)[{''.join(map(chr, _BOXES))}](?!\\S)")
_ANY_TICKED = re.compile(f"(?<!\\S)[☑☒{''.join(map(chr, _TICKED))}](?!\\S)")
_ANY_UNTICKED = re.compile(f"(?<!\\S)[☐{''.join(map(chr, _UNTICKED))}](?!\\S)")
_VERDICT = r"(?:yes|no|ja|nein|oui|non|sí|taip|ne)"
_BESIDE_VERDICT = re.compile(rf"\b{_VERDICT} {_BOX.pattern}|{_BOX.pattern} {_VERDICT}\b", re.IGNORECASE)
_BEFORE_TITLE = re.compile(rf"{_BOX.pattern} +[A-Z]{{2}}")
_TAGS = "\U000e0000-\U000e007f\U000e0100-\U000e01ef\ufe00-\ufe0f"
_CHANGED = re.compile(f"[{re.escape(''.join(map(chr, _TABLE)))}{_PRIVATE.pattern[1:-1]}{_TAGS}]")
"""What has another form in a cleaned text, or none."""
_MAY_BE_BOX = re.compile(f"[{''.join(map(chr, _BOXES))}]")
_CJK = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uff9f"
_SPACED_CJK = re.compile(f"(?<=[{_CJK}]) +(?=[{_CJK}])")
_WORD = re.compile(r"[^\W\d_]{3,}")
_SPACE_RUN = re.compile(r" {2,}")
_MOJIBAKE = re.compile("Ã[\x80-\xbf¡-¿]|â€[\x80-\xbf™œž˜¦“”]?|Â[ -¿]|ï¿½")
_BEGINS_MOJIBAKE = frozenset("Ãâ\u00c2ï")
_C1 = re.compile("[\x80-\x9f]")
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_VOWELS = b"aeiouyAEIOUY"
_LATIN = string.ascii_letters.encode()
_FIGURES = string.digits.encode()
_LEADERS = b" \n|._-"
_CODES = bytes(code for code in range(0x20) if chr(code) not in "\t\n\r\x1f")
ENOUGH = 200
"""Characters of text below which its statistics say nothing."""
GLUED_LETTERS = 45
"""Letters in one word above which words are taken to be glued; German's longest in use have about 40."""
MIN_VOWELS_IN = 100
LATIN_SHARE = 0.5
VOWEL_SHARE = 0.14
"""Letters, and share of a text that they are, from which on vowels are counted, and share of the letters that are
vowels in any language."""
WORDS_SHARE = 0.45
"""Letters and digits for each sign, under which a text is signs only."""
MIXED_SHARE = 0.25
"""Share of words with letters of two scripts above which a text is illegible."""
SHORTEST_MIXED = 5
"""Letters of a word with Greek and Latin ones from which on it is no unit or formula."""


_NOTE_MARK = re.compile(r"(?<=[^\W\d_]|\.) ?[*∗†‡§¶✩★⋆](?:[, ]?[*∗†‡§¶✩★⋆])?$|(?<=[^\W\d_]\))\d$")


def without_note_mark(title: str) -> str:
    """Return a title without the mark of a note at its end: "On Terraces*"."""
    return _NOTE_MARK.sub("", title)


@lru_cache(maxsize=512)
def cleaned(text: str, *, keep_spaces: bool = False) -> str:
    """Return a line with its characters cleaned; doing it twice changes nothing.

    `keep_spaces` leaves runs of spaces alone (code). Private-use characters without a known shape are dropped, they are
    counted by `doubtful_share` beforehand. Unicode tags and variation selectors, which can hide text, are dropped too.
    """
    if text.isascii() and text.isprintable():
        return text.strip(" ") if keep_spaces else _SPACE_RUN.sub(" ", text).strip(" ")
    text = _CHANGED.sub(_plain, _with_boxes(text))
    text = unicodedata.normalize("NFC", text)
    if not keep_spaces:
        text = _SPACED_CJK.sub("", text)  # letter-spaced: these scripts have no spaces between words
    return text.strip(" ") if keep_spaces else _SPACE_RUN.sub(" ", text).strip(" ")


def _plain(character: re.Match[str]) -> str:
    return _TABLE.get(ord(character[0]), "")


def _with_boxes(text: str) -> str:
    """Return a line with its boxes to tick as such, where they stand alone, and it has ticked ones and others.

    Or else beside "yes" and "no", or before a title in capitals. Elsewhere the codes may be of other signs.
    """
    if _MAY_BE_BOX.search(text) is None or _BOX.search(text) is None:
        return text
    has_both = _ANY_TICKED.search(text) is not None and _ANY_UNTICKED.search(text) is not None
    if not (has_both or _BESIDE_VERDICT.search(text) or _BEFORE_TITLE.match(text)):
        return text
    return _BOX.sub(lambda box: _BOXES[ord(box.group())], text)


def doubtful_share(text: str) -> float:
    """Return the share of a page's text (0..1) that was probably decoded wrongly.

    Counted: characters without meaning (U+FFFD, private use), UTF-8 read as Latin-1, words glued together. The
    share is 1 for text in a font's private encoding: Latin letters almost without vowels, words of mixed scripts,
    nothing but signs.
    """
    if not text:
        return 0.0
    others = "" if text.isascii() else "".join(_NOT_ASCII.findall(text))
    plain = text.encode("ascii", "ignore")
    letters = _count(plain, _LATIN)
    if letters > MIN_VOWELS_IN and letters > LATIN_SHARE * len(text) and _count(plain, _VOWELS) < VOWEL_SHARE * letters:
        return 1.0
    if _signs_only(plain, others) or (any(map(str.isalnum, others)) and _scripts_mixed(text)):
        return 1.0
    if others:
        bad = others.count("\ufffd") + sum(1 for c in _PRIVATE.findall(others) if ord(c) not in _BULLETS)
        is_doubled = not _BEGINS_MOJIBAKE.isdisjoint(others)
        bad += sum(map(len, _MOJIBAKE.findall(text))) if is_doubled else 0
        bad += len(_C1.findall(others)) + plain.count(b"\x7f")
    else:
        bad = _count(plain, _CODES)
    longest = [word for word in text.split() if len(word) > GLUED_LETTERS] if len(text) > ENOUGH else []
    glued = sum(len(word) for word in longest if word.isalpha() and word.isascii())
    return min(1.0, (bad + glued) / len(text))


def _count(text: bytes, of: bytes) -> int:
    """Count some of the characters, without a Python loop."""
    return len(text) - len(text.translate(None, of))


def _signs_only(plain: bytes, others: str) -> bool:
    """Whether a text is neither words nor figures; leaders and cell borders do not count."""
    length = len(plain) + len(others)
    signs = length - _count(plain, _LEADERS) - others.count("…")
    words = _count(plain, _LATIN + _FIGURES) + sum(map(str.isalnum, others))
    return signs > ENOUGH // 4 and length > ENOUGH and words < WORDS_SHARE * signs


def _scripts_mixed(text: str) -> bool:
    words = _WORD.findall(text)
    mixed = sum(1 for word in words if not word.isascii() and _mixes_scripts(word))
    return mixed > MIXED_SHARE * len(words)


_WITHOUT_SPACES = [
    (first, last)
    for first, _, last in batched(
        f"{_CJK}\u1100-\u11ff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff", 3, strict=True
    )
]
"""Letters of scripts that may follow Latin ones without a space: Han, kana and Hangul, Thai, Lao, Burmese and Khmer."""
_MIXABLE_SCRIPTS = {"CJK", "HALFWIDTH", "FULLWIDTH", "MODIFIER", "MICRO", "ORDINAL"}


@lru_cache(maxsize=8_192)
def _script(character: str) -> str:
    script = unicodedata.name(character, "").split(" ")[0]
    is_mixable = any(first <= character <= last for first, last in _WITHOUT_SPACES)
    is_mixable = is_mixable or script in _MIXABLE_SCRIPTS or "\u0300" <= character <= "\u036f"
    return "" if is_mixable else script


def _mixes_scripts(word: str) -> bool:
    """Whether a word has letters of two scripts; "μm" and "Δx" are short enough to pass."""
    scripts = {script for script in map(_script, word) if script}
    scripts -= {"GREEK"} if scripts <= {"GREEK", "LATIN", "MATHEMATICAL"} and len(word) < SHORTEST_MIXED else set()
    return len(scripts - {"MATHEMATICAL"}) > 1


def is_cjk(character: str) -> bool:
    """Whether a character belongs to a script written without spaces between words (Han, kana, their marks)."""
    return "\u2e80" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff" or "\uff00" <= character <= "\uff9f"
