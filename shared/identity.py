"""Adds the words of title, file name, section and cover page to each chunk's sparse vector.

The chunk's text often lacks them: a filing says "the Company" on every page but the first, and names the quarter only
in its file name. Ingest and query use the same rule.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from shared import lexical
from shared.models import SparseVector

NAME_WEIGHT = 2.0
SECTION_WEIGHT = 1.0
COVER_WEIGHT = 0.5
COVER_WORDS = 60
COVER_CHARACTERS = 4_000
"""How much of a document's beginning counts as its cover."""
MIN_RARITY = 2.5
"""Words with a lower rarity (`lexical.background`) do not identify a document."""

_NAME = re.compile(r"\b\w+(?:[-.&/]\w+)*\b")
_ENDS = frozenset(".?!")
_ARTICLES = frozenset({"a", "an", "the", "el", "la", "las", "le", "les", "los", "un", "una", "une"})
"""Before "Fresnel lens" they tell a kind of thing, not whose it is."""
_SEPARATORS = re.compile(r"[_\-./\\]+")


def cover_of(beginning: str, *, language: str = "en") -> str:
    """Return the words of a document's beginning that identify it: capitalised or with digits, rare, each once."""
    table = lexical.background(language)
    words: dict[str, None] = {}
    for found in _NAME.finditer(beginning[:COVER_CHARACTERS]):
        word = found.group()
        if not (word[0].isupper() or any(character.isdigit() for character in word)):
            continue
        rarest = max(table.get(term, lexical.MAX_RARITY) for term, _ in lexical.terms_of(word, language))
        if rarest >= MIN_RARITY and len(word) > 1:
            words.setdefault(word.lower())
        if len(words) == COVER_WORDS:
            break
    return " ".join(words)


@lru_cache(maxsize=5_000)  # asked for each passage, and documents are found again
def name_of(title: str, key: str) -> str:
    """Return a document's title and file name as words, without folders and extension."""
    stem = key.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return with_plain_periods(f"{title} {_SEPARATORS.sub(' ', stem)}")


# --- Names, told by their capitals ---

MIN_NAME_LETTERS = 3
MAX_CAPITALISED = 0.6
"""Share of capitalised words up to which capitals tell names; a text above it is written like a title."""

_TOKEN = re.compile(r"[\w&-]+(?:['\u2019]\w*)?|[^\w\s]")


def names_in(text: str) -> Iterator[str]:
    """Yield runs of capitalised words ("Best Buy"); at a sentence's beginning, or all in capitals, if they possess.

    What follows an article is not among them.
    """
    tokens = _TOKEN.findall(text)
    words = [token for token in tokens if token[0].isalpha()]
    if sum(word[0].isupper() for word in words) > MAX_CAPITALISED * len(words):
        return
    run: list[str] = []
    article = False
    for before, token in zip([".", *tokens], [*tokens, ""], strict=True):
        word = re.split("['\u2019]", token)[0]
        possesses = word != token
        is_name = word[:1].isupper() and word.isalpha() and len(word) >= MIN_NAME_LETTERS
        if is_name and (possesses or (before not in _ENDS and not word.isupper())):
            article = article if run else before.lower() in _ARTICLES
            run.append(word)
            if not possesses:
                continue
        if run and not article:
            yield " ".join(run)
        run = []


# --- Periods as documents write them: "FY22" is fiscal 2022, "2Q23" and "2023Q2" are Q2 2023 ---

_YEAR = r"\s?['\u2019]?((?:19|20)\d\d|\d\d)"
_FISCAL_YEAR = re.compile(rf"\bFY{_YEAR}(?=\b|Q[1-4]\b)", re.IGNORECASE)
_QUARTER_FIRST = re.compile(rf"\b([1-4])Q{_YEAR}\b", re.IGNORECASE)
_QUARTER = re.compile(r"\bQ([1-4])\s?['\u2019]?(\d{2})\b(?![-/.,]?\w)", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"\b((?:19|20)\d\d)Q([1-4])\b", re.IGNORECASE)


def with_plain_periods(text: str) -> str:
    """Return the text with fiscal years and quarters written out, years with four digits, quarters before them."""
    if not any(character.isdigit() for character in text):
        return text
    text = _FISCAL_YEAR.sub(lambda found: f"fiscal {_whole_year(found[1])}", text)
    for pattern in (_QUARTER_FIRST, _QUARTER):
        text = pattern.sub(lambda found: f"Q{found[1]} {_whole_year(found[2])}", text)
    return _YEAR_FIRST.sub(r"Q\2 \1", text)


def _whole_year(digits: str) -> str:
    return digits if len(digits) == 4 else f"{'19' if digits >= '70' else '20'}{digits}"


def chunk_vector(text: str, *, language: str, title: str, key: str, section: str = "", cover: str = "") -> SparseVector:
    """Return the sparse vector of a chunk, with the words of title, file name, section and cover."""
    context = _context(title, key, section, cover)
    return lexical.document_vector(text, language=language or "en", context=context)


def passage_score(
    query: Mapping[int, float], text: str, *, language: str, title: str, key: str, section: str = "", cover: str = ""
) -> float:
    """Return the dot product of a question's sparse vector and `chunk_vector(text, …)`."""
    return lexical.score(query, text, language=language or "en", context=_context(title, key, section, cover))


def _context(title: str, key: str, section: str, cover: str) -> Sequence[tuple[str, float]]:
    return ((name_of(title, key), NAME_WEIGHT), (section, SECTION_WEIGHT), (cover, COVER_WEIGHT))
