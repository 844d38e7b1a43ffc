"""Tells who wrote a document, and which lines beside its title only name who did.

Authors are whom the metadata name, if the first pages do so, too; and whom a line says it is by, or the lines around
the title name. Of persons and teams only: the organisations whose document it is are found by `identity_card`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, takewhile
from pathlib import Path

from functions.ingest.parsing.heading_words import is_of_authors, opens_document
from functions.ingest.parsing.rights import rights_in
from functions.ingest.parsing.wire import Line
from shared import identity, lexical

MAX_AUTHORS = 10
MAX_NAME = 100
MAX_NAME_WORDS = 4
MAX_TEAM_WORDS = 6
MIN_HELD = 50
"""Words of a person's and of a team's name at most, and different words in small letters from which on a text tells
what is a name."""
LONGEST_INITIALS = 2
"""Capitals that may be a person's initials, without full stops: "JB Ray", but not "SIL International"."""
LINES_ABOVE = 4
LINES_BELOW = 16
"""Lines above and below a title that may name its authors."""
MAX_NAMED = 3
"""Times that the first pages name a person; what is named more often is what they are about."""
LONGEST_LIST = 200
"""Characters of a line that lists names."""
PROSE = 6
"""Words in small letters from which on a line is one of the text."""

_ROWS = (row.split() for row in Path(__file__).with_name("card_words.txt").read_text("utf-8").splitlines())
_WORDS = {name: tuple(word.replace("_", " ") for word in words) for name, *words in _ROWS}
_BY = frozenset(_WORDS["by"])
_AND = frozenset((*_WORDS["and"], "&"))
_PARTICLE = frozenset(_WORDS["particle"])
_ARTICLE = frozenset(_WORDS["article"])
_BODY = frozenset(_WORDS["body"])
_NO_NAME = frozenset(_WORDS["no_name"])
"""Words that tell that a name is an organisation's, and words that are part of no name."""
MIN_RARITY = 4.0
"""Rarity (`lexical.background`) of a word of a name in a right: "(c) 2021 Terms Apply" is an item of a list."""


def any_word(name: str) -> str:
    """Return a pattern for any of the words of a kind, in the languages that `card_words.txt` has."""
    return "|".join(map(re.escape, _WORDS[name]))


_APART = re.compile(
    rf",|;|\s\|\s|\s(?:{any_word('and')}|&)\s| {{2,}}|\s[·•]\s"
    r"|[∗*†‡§¶]+(?:\s?\d(?:,\d)*)?|(?<=[^\W\d_])\d(?:,\d)*(?!\w)"
)
"""What stands between names; also the marks of notes behind them."""
_LAST_NAME_FIRST = re.compile(r"([^\W\d_][\w'’-]+), ((?:[^\W\d_]\.[ -]?){0,2}[^\W\d_]\.)")
_LAST_NAMES_FIRST = re.compile(
    rf"{_LAST_NAME_FIRST.pattern}(?:[,;]? ?(?:(?:{any_word('and')}|&) )?{_LAST_NAME_FIRST.pattern})*"
)
_INITIAL = re.compile(r"(?:[^\W\d_]\.-?)+")
_AND_OTHERS = re.compile(r"\bet\.? al\b\.?|\band others\b", re.IGNORECASE)
_GOES_ON = (",", "-", "and", "the", "of")
"""How the line above a line of the text may end."""
_NOT_LETTER = re.compile(r"[\W\d_]")
_LETTERS = re.compile(r"[^\W\d_]+")
_SMALL = re.compile(r"(?<![\w@./:~-])[^\W\d_A-Z][^\W\d_]+(?![\w@/:]|[.-]\w)")
"""A word in small letters that is no part of an address."""
_WRITTEN_BY = re.compile(
    rf"\W{{0,2}}(?:(?:{any_word('written')})(?!\w):?|(?:{any_word('called')})(?:\s?:|$))\s*", re.IGNORECASE
)
_IS_BY = re.compile(rf"(?:{any_word('by')})(?!\w):?\s*", re.IGNORECASE)
"""What stands before the names of those who wrote a document, and what does so above or below a title."""
PAGES_OF_BYLINES = 2
_NAME = re.compile(r"[^\W\d_]+(?:(?:\.?['’–-]|\.)[^\W\d_]+)*\.?")
_STARTS = re.compile(r"\b[^\W\d_]")
_RARITY = lexical.background("en")
_ADDRESS = re.compile(r"(?:<[^>]*>|\([^)]*\)|\{[^}]*\}|\S+@\S+|https?://\S+|\be-?mail\b.*)", re.IGNORECASE)
_TITLES = re.compile(rf"(?:\b(?:{any_word('before')})\.? )+|,? (?:{any_word('after')})(?!\w)\.?", re.IGNORECASE)


@lru_cache(maxsize=1)  # of a document's first pages, for its title and for its authors
def words_in_small_letters(text: str) -> frozenset[str]:
    """Return the words that a text has in small letters, by which names are told."""
    return frozenset(_SMALL.findall(text))


def names_authors(line: str) -> bool:
    """Whether a line says by whom a document is, which is no part of its title: "by Ann Lee and Bo Ray"."""
    by, *names = line.split() or [""]
    capitals = [name for name in names if name not in _AND]
    return by.lower() in _BY and len(capitals) > 1 and all(name[0].isupper() for name in capitals)


def lists_names(line: str, held: Collection[str]) -> bool:
    """Whether a line names who wrote it, and says nothing else: "The Plum Team", "Ann B. Lee", "Bo Ray et al."."""
    return is_of_authors(line) or any(True for _ in _named_alone(line, held))


def authors_of(pages: Sequence[Sequence[Line]], title: str, named: str) -> list[str]:
    """Return those who wrote a document, each once; `pages` are its first ones, `named` is whom its metadata name.

    Whom the metadata name must stand on those pages: often it is only who saved the file. A right's holder counts as
    the author of a document that names no other.
    """
    cover = next(filter(None, pages), [])
    text = "\n".join(line.text for lines in pages for line in lines)
    held = words_in_small_letters(text)
    persons = [*_persons(" ".join(named.split()))]
    there = frozenset(_letters_of(text)) if persons else frozenset()
    found = [
        *(name for name in persons if there.issuperset(_letters_of(name))),
        *chain.from_iterable(_named_in_line(lines, is_cover=lines is cover) for lines in pages[:PAGES_OF_BYLINES]),
        *chain.from_iterable(
            names
            for line in _beside_title(cover, title)
            if (names := [*_named_alone(line.text, held)])
            and (is_of_authors(names[0]) or _are_news(names, title, text))
        ),
    ]
    if not found:
        rights = (right for lines in pages for line in lines for right in rights_in(line.text) if right.has_year)
        holders = (name for right in rights for name in _named(right.holder))
        found = [name for name in holders if _rarest(name) >= MIN_RARITY]
    return _distinct(found)[:MAX_AUTHORS]


def _are_news(names: Sequence[str], title: str, text: str) -> bool:
    """Whether names beside a title are not what the document is about: neither of the title, nor named all the time."""
    of_title = frozenset(_letters_of(title))
    return min(map(text.count, names)) <= MAX_NAMED and not any(of_title & {*_letters_of(name)} for name in names)


def _named_in_line(lines: Sequence[Line], *, is_cover: bool) -> Iterator[str]:
    """Yield whom a line says that a document is by: "Prepared by Ann Lee", "By" above "Ann Lee and Bo Ray".

    "By" alone begins many lines of a text, so all that follows must be persons.
    """
    for above, line, below in zip((Line(""), *lines), lines, (*lines[1:], Line("")), strict=False):
        if len(line.text) > LONGEST_LIST:
            continue
        if by := _WRITTEN_BY.match(line.text):
            yield from _named(line.text[by.end() :] or below.text)
        elif is_cover and (by := _IS_BY.match(line.text)) and not above.text.endswith(_GOES_ON):
            first, *others = [*_parts(line.text[by.end() :] or below.text)] or [""]
            parts = [first, *(part for part in others if _is_person(part) or not _is_degree(part))]
            yield from parts if all(map(_is_person, parts)) else ()


def _beside_title(cover: Sequence[Line], title: str) -> Iterator[Line]:
    """Yield the lines above a title and below it, down to where the text begins."""
    told = title.casefold()
    at = [number for number, line in enumerate(cover) if len(line.text) > 1 and line.text.casefold() in told]
    if not at:
        return
    # The title's own lines are no neighbours, even if it was taken to be longer than it is.
    yield from cover[max(0, at[0] - LINES_ABOVE) : at[0]]
    for line in cover[at[0] + 1 : at[0] + 1 + LINES_BELOW]:
        if line.text.casefold() in told:
            continue
        if opens_document(line.text) or sum(map(str.islower, _STARTS.findall(line.text))) >= PROSE:
            return
        yield line


def _named_alone(line: str, held: Collection[str]) -> Iterator[str]:
    """Yield the persons, or the team, whom a line names and says nothing else."""
    line = _AND_OTHERS.sub("", line)
    if (
        any(right.has_year for right in rights_in(line))
        or len(line) > LONGEST_LIST
        or not line[:1].isupper()
        or line.endswith(":")
    ):
        return
    begins, *words = line.split()
    is_article = begins.lower() in _ARTICLE
    if begins.lower() in _NO_NAME and not is_article:
        return
    if is_of_authors(line):
        capitals = [word for word in words if word[0].isupper() or word in _AND]
        is_name = len(words) < MAX_TEAM_WORDS and (capitals if is_article else len(capitals) == len(words))
        yield from [line] if is_name else ()
        return
    first, *others = [*_parts(line)] or [""]
    parts = [first, *(part for part in others if _BODY.isdisjoint(part.lower().split()))]
    are_persons = all(not part.isupper() and _is_person(part) for part in parts)
    if are_persons and len(held) >= MIN_HELD and _is_strange(" ".join(parts), held):
        yield from parts


def _named(text: str) -> Iterable[str]:
    """Return the team or the persons that a text names."""
    return [text] if is_of_authors(text) and text[0].isupper() else _persons(text)


def _persons(text: str) -> Iterator[str]:
    """Yield the persons that a list names, up to what is none."""
    return takewhile(_is_person, _parts(_AND_OTHERS.sub("", text)))


def _parts(text: str) -> Iterator[str]:
    """Yield what stands between commas and the like; "Lee, A. B." is "A. B. Lee"."""
    if _LAST_NAMES_FIRST.fullmatch(text):
        text = _LAST_NAME_FIRST.sub(r"\2 \1", text)
    return filter(None, map(_bare, _APART.split(text)))


def _bare(name: str) -> str:
    """Return a name without address, academic titles and marks of notes."""
    return " ".join(_TITLES.sub(" ", _ADDRESS.sub(" ", name)).split()).strip(" ,;:.-–|")


def _is_person(name: str) -> bool:
    words = [word for word in name.split() if word.lower() not in _PARTICLE]
    written_out = [word for word in words if not _INITIAL.fullmatch(f"{word.rstrip('.')}.")]
    return (
        1 < len(words) <= MAX_NAME_WORDS
        and len(name) <= MAX_NAME
        and bool(written_out)
        and not (len(written_out[0]) > LONGEST_INITIALS and written_out[0].isupper() and not name.isupper())
        and _NO_NAME.isdisjoint(map(str.lower, words))
        and all(word[0].isupper() and _NAME.fullmatch(word) for word in words)
        and _BODY.isdisjoint(map(str.lower, words))
        and not identity.kind_in(name)
    )


def _is_degree(text: str) -> bool:
    """Whether a text can be what stands behind a name: "M.A.", "FRS"."""
    return text.isupper() or "." in text


def _is_strange(names: str, held: Collection[str]) -> bool:
    """Whether no text is likely to have most words of names in small letters; a short one does not tell its own."""
    letters = [_NOT_LETTER.sub("", word).lower() for word in names.split()]
    return _rarest(names) >= identity.MIN_NAME_RARITY and 2 * sum(word not in held for word in letters) > len(letters)


def _rarest(name: str) -> float:
    letters = (_NOT_LETTER.sub("", word).lower() for word in name.split())
    return max(_RARITY.get(lexical.stem(lexical.fold(word), "en"), lexical.MAX_RARITY) for word in letters)


def _letters_of(text: str) -> list[str]:
    return [word for word in _LETTERS.findall(lexical.fold(text).lower()) if len(word) > 1]


def _distinct(names: Iterable[str]) -> list[str]:
    """Return the names, each once, though one be written shorter: "Ann B. Lee" is "Ann Lee" and "A. Lee"."""
    kept: list[str] = []
    for name in names:
        letters = frozenset(_letters_of(name))
        if not any(letters <= other or other <= letters for other in map(frozenset, map(_letters_of, kept))):
            kept.append(name[:MAX_NAME])
    return kept
