"""What distinguishes a document: its words in each chunk's sparse vector; names, periods and kinds in any text.

A chunk's text often lacks them: a filing says "the Company" on every page but the first, and names the quarter only
in its file name. Ingest and query use the same rules.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from shared import lexical
from shared.language import FUNCTION_WORDS
from shared.models import SparseVector

NAME_WEIGHT = 2.0
SECTION_WEIGHT = 1.0
COVER_WEIGHT = 0.5
TABLE_WEIGHT = 1.0
COVER_WORDS = 60
COVER_CHARACTERS = 4_000
"""How much of a document's beginning counts as its cover."""
MIN_RARITY = 2.5
"""Words with a lower rarity (`lexical.background`) do not identify a document."""

_NAME = re.compile(r"\b\w+(?:[-.&/]\w+)*\b")
_ENDS = frozenset(".?!")
_ARTICLES = frozenset({"a", "an", "the", "el", "la", "las", "le", "les", "los", "un", "una", "une"})
"""Words after which a name says what kind of thing it is ("Fresnel lens"), not whose."""
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


_LEGAL_WORDS = frozenset("inc co corp corporation company ltd limited llc plc ag se sa gmbh nv the and of".split())  # noqa: SIM905
MIN_INITIALS = 3


def initials_of(organisation: str) -> str:
    """Return the initials of an organisation of three words or more, "" for others: "Advanced Micro Devices, Inc."."""
    words = [word for word in re.findall(r"[^\W\d_]+", organisation) if word.lower() not in _LEGAL_WORDS]
    return "".join(word[0] for word in words).upper() if len(words) >= MIN_INITIALS else ""


MIN_NAME_RARITY = 4.4
"""Rarity of a word that names an organisation of several words by itself: "Verizon", not "General"."""


def organisation_in(text: str, organisation: str) -> str:
    """Return, as typed, the beginning of an organisation's name by which a text names it; "" if it does not.

    Two words are enough, or one that is rare, has a digit or is the whole name: "Best Buy", "PepsiCo", "3M", "Apple".
    """
    plain = _plain(organisation).split()
    words = [word for word in plain if word not in _LEGAL_WORDS] or plain
    table = lexical.background("en")
    for beginning in (words[:2], words[:1]):
        rarity = max((table.get(lexical.stem(word, "en"), lexical.MAX_RARITY) for word in beginning), default=0.0)
        is_telling = len(beginning) == min(2, len(words)) or not beginning[0].isalpha() or rarity >= MIN_NAME_RARITY
        pattern = r"[\W_]+(?:(?:and|of|the)\s+)*".join(map(re.escape, beginning))
        for found in re.finditer(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE) if beginning and is_telling else ():
            if not found[0].islower():
                return found[0]
    return ""


# --- Names, told by their capitals ---

MIN_NAME_LETTERS = 3
MAX_CAPITALISED = 0.6
"""Up to this share of capitalised words, capitals mark names; a text with more is written like a title."""

GROUPING = re.compile(r"(?<=\d)[,'’\u00a0\u202f](?=\d{3}(?!\d))")
"""What stands between the digits of a long number: "1,000"."""
_APOSTROPHE = re.compile("['\u2019]")
_TOKEN = re.compile(r"[\w&-]+(?:['\u2019]\w*)?|[^\w\s]")
_ADDRESSES = re.compile(
    r"(?:mrs?|ms|miss|dr|prof(?:essor)?|mme|mlle|herr|frau|señora?|sra?|ponas|ponia)\Z", re.IGNORECASE
)
"""Words before a person's name in the five languages."""
_SHORT_FOR_PERSONS = re.compile(rf"{_ADDRESSES.pattern}|st\Z", re.IGNORECASE)
"""These, and "St", whose full stop ends no sentence."""


def _is_like_title(tokens: Sequence[str]) -> bool:
    """Return whether so many of the words begin with a capital that it marks no name."""
    words = [token for token in tokens if token[0].isalpha()]
    return sum(word[0].isupper() for word in words) > MAX_CAPITALISED * len(words)


def names_in(text: str) -> Iterator[str]:
    """Yield runs of capitalised words ("Best Buy"); at a sentence's beginning, or all in capitals, if they possess.

    What follows an article is not among them, and how a person is addressed is no part of a name.
    """
    tokens = _TOKEN.findall(text)
    if _is_like_title(tokens):
        return
    run: list[str] = []
    article = False
    for before, token in zip([".", *tokens], [*tokens, ""], strict=True):
        word = re.split("['\u2019]", token)[0]
        possesses = word != token
        if _ADDRESSES.match(word) and not possesses:
            continue
        is_name = word[:1].isupper() and word.isalpha() and len(word) >= MIN_NAME_LETTERS
        if is_name and (possesses or (before not in _ENDS and not word.isupper())):
            article = article if run else before.lower() in _ARTICLES
            run.append(word)
            if not possesses:
                continue
        if run and not article:
            yield " ".join(run)
        run = []


def marked_words_in(text: str) -> Iterator[str]:
    """Yield the words that are written like a name or an identifier: with a capital letter, or with a digit.

    The capital of a sentence's first word marks nothing, nor do capitals in a text that is written like a title.
    """
    tokens = _TOKEN.findall(GROUPING.sub("", text))
    is_title = _is_like_title(tokens)
    for addressed, before, token in zip(["", "", *tokens], [".", *tokens], tokens, strict=False):
        word, *ending = _APOSTROPHE.split(token)
        if word == "I" or _SHORT_FOR_PERSONS.match(word):
            continue
        starts = before in _ENDS and not ending and not _SHORT_FOR_PERSONS.match(addressed)
        capitals = word[1:] if starts else word
        if any(map(str.isdigit, token)) or (not is_title and any(map(str.isupper, capitals))):
            yield word


_CAPITALISED = r"(?:[A-Z]|\d+[A-Z])[\w&-]*"
_SUBJECT = re.compile(
    r"\b(?i:for|of|by|at|from|that|has|have|had|does|do|did|is|was|are|were|will) "
    rf"(?P<behind>{_CAPITALISED}(?: {_CAPITALISED})*)|\b(?P<owner>{_CAPITALISED}(?: {_CAPITALISED})*)['\u2019]s?(?!\w)"
)
_PERIOD_NAME = re.compile(r"(?:[QH]\d|\d[QH]|FY)\w*")
_SPEAKER = rf"({_CAPITALISED}(?: {_CAPITALISED}){{0,3}})"
_SPEAKS = (
    "address|announce|argue|believe|claim|declare|describe|discuss|emphasi[sz]e|explain|express|give|hope|mention|outline|"
    "plan|pledge|promise|propose|recommend|refer|refuse|request|say|state|suggest|tell|think|urge|vow|want"
)
_SPOKEN = "address|intention|letter|opinion|plan|promise|proposal|remark|speech|statement|view|word"
_SPEAKERS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?i:did|does|has|had|will|would) {_SPEAKER} (?:\w+ly )?(?:{_SPEAKS}|said|told|thought|given)(?:e?[sd])?\b",
        rf"\b(?i:according to|(?:{_SPEAKS})e?d by|(?:given|said|told) by) {_SPEAKER}",
        rf"\b{_SPEAKER} (?:(?:{_SPEAKS})e?[sd]|said|told|gave)\b",
        rf"\b{_SPEAKER}['\u2019]s? (?:\w+ ){{0,2}}(?:{_SPOKEN})(?:s|es)?\b",
    )
)
_OWN_WORDS = re.compile(r"(?:\b(\w+) )?\bI(?:['’](?:m|ve|ll|d))? [a-z]|\b[Mm]y [a-z]")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
MIN_OWN_WORDS = 2
"""Clauses with "I" or "my" from which a text is somebody's own words, who is seldom named in them."""


def subjects_in(text: str) -> list[str]:
    """Return capitalised words that stand where a subject does: "has AMCOR", "for Best Buy", "3M's"; each once."""
    if _is_like_title(_TOKEN.findall(text)):
        return []
    found = dict.fromkeys(match["behind"] or match["owner"] for match in _SUBJECT.finditer(text))
    return [name for name in found if not _PERIOD_NAME.match(name)]


def speakers_in(text: str) -> list[str]:
    """Return the names that an English question has of who speaks: "did Ann Lee say", "Ann Lee's plan"."""
    if _is_like_title(_TOKEN.findall(text)):
        return []
    return list(dict.fromkeys(name for pattern in _SPEAKERS for name in pattern.findall(text)))


def is_own_words(text: str) -> bool:
    """Return whether somebody speaks in a text ("I", "my"), but for what it asks: "How do I cancel my order?"."""
    told = (sentence for sentence in _SENTENCE.findall(text) if not sentence.endswith("?"))
    before: list[str] = [word for sentence in told for word in _OWN_WORDS.findall(sentence)]
    # "World War I" and "Elizabeth I" are numbered.
    return sum(not word or word.islower() or word.lower() in FUNCTION_WORDS["en"] for word in before) >= MIN_OWN_WORDS


# --- Periods as documents write them: "FY22" is fiscal 2022, "2Q23" and "2023Q2" are Q2 2023 ---

YEAR = r"(?:19|20)\d\d"
"""A year of this century or the last one, as a regular expression."""
_YEAR = rf"\s?['\u2019]?({YEAR}|\d\d)"
_FISCAL_YEAR = re.compile(rf"\bFY{_YEAR}(?=\b|Q[1-4]\b)", re.IGNORECASE)
_QUARTER_FIRST = re.compile(rf"\b([1-4])Q{_YEAR}\b", re.IGNORECASE)
_QUARTER = re.compile(r"\bQ([1-4])\s?['\u2019]?(\d{2})\b(?![-/.,]?\w)", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_YEAR_FIRST = re.compile(rf"\b({YEAR})Q([1-4])\b", re.IGNORECASE)


def with_plain_periods(text: str) -> str:
    """Return the text with fiscal years and quarters written out, years with four digits, quarters before them."""
    if _DIGIT.search(text) is None:
        return text
    text = _FISCAL_YEAR.sub(lambda found: f"fiscal {_whole_year(found[1])}", text)
    for pattern in (_QUARTER_FIRST, _QUARTER):
        text = pattern.sub(lambda found: f"Q{found[1]} {_whole_year(found[2])}", text)
    return _YEAR_FIRST.sub(r"Q\2 \1", text)


_ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4", "1st": "1", "2nd": "2", "3rd": "3", "4th": "4"}
_ORDINAL_QUARTER = re.compile(
    rf"\b({'|'.join(_ORDINALS)})[ -]quarter(?: of)?(?: the)?(?: fiscal)?(?: year)?,? ({YEAR})\b", re.IGNORECASE
)
_QUARTER_OF_YEAR = re.compile(
    rf"\bQ([1-4])(?: of)?(?: fiscal)?(?: year)? ({YEAR})\b|\b({YEAR}) Q([1-4])\b", re.IGNORECASE
)
_YEAR_ALONE = re.compile(rf"(?<![\d,.-]){YEAR}(?![\d-])")


def periods_in(text: str) -> list[str]:
    """Return the periods that a text names, each once: "Q2 2023", then years that are named alone, "2023"."""
    text = with_plain_periods(text)
    text = _ORDINAL_QUARTER.sub(lambda found: f"Q{_ORDINALS[found[1].lower()]} {found[2]}", text)
    quarters = [f"Q{found[1] or found[4]} {found[2] or found[3]}" for found in _QUARTER_OF_YEAR.finditer(text)]
    years = _YEAR_ALONE.findall(_QUARTER_OF_YEAR.sub(" ", text))
    return list(dict.fromkeys((*quarters, *years)))


def _whole_year(digits: str) -> str:
    return digits if len(digits) == 4 else f"{'19' if digits >= '70' else '20'}{digits}"


# --- Kinds of document ---


class _Kinds(NamedTuple):
    """Phrases (words between spaces) and the kinds of document they mean, in documents themselves and in questions.

    The kinds stand in the order in which they are preferred.
    """

    own: Mapping[str, str]
    asked: Mapping[str, Collection[str]]


@cache
def _kinds() -> _Kinds:
    own: dict[str, str] = {}
    asked: dict[str, list[str]] = {}
    for line in (Path(__file__).parent / "document_kinds.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        kind, _, rest = line.partition(":")
        phrases, _, others = rest.partition("|")
        for phrase in _phrases(phrases):
            own.setdefault(phrase, kind)
        for phrase in (*_phrases(phrases), *_phrases(others)):
            asked.setdefault(phrase, []).append(kind)
    return _Kinds(own, asked)


def _phrases(text: str) -> list[str]:
    return [f" {phrase.strip()} " for phrase in text.split(";") if phrase.strip()]


_APOSTROPHES = re.compile("['\u2019]")
_ARTICLE = re.compile(r" (?:a|an|the|der|die|das|le|la|les|el|los) ")
_NO_LETTER = re.compile(r"[\W\d_]+")
_BORDERS = re.compile(r"\s[-\u2013\u2014]\s|[:;|,()\u2013\u2014]")


def kind_in(text: str, *, anywhere: bool = False) -> str:
    """Return the kind of document that a title or file name states, "" if none.

    The longest phrase decides. A single word must stand at the end or the beginning of a part of it, unless `anywhere`:
    "A Survey of Claim Verification", "Hamilton County Survey 2004".
    """
    best, kind = "", ""
    for part in _BORDERS.split(text):
        words = _plain(part)
        bare = f" {_NO_LETTER.sub(' ', words).strip()} "
        bare = _ARTICLE.sub(" ", bare, count=1) if _ARTICLE.match(bare) else bare
        for phrase, named in _kinds().own.items():
            if len(phrase) > len(best) and phrase in words:
                is_code = any(map(str.isdigit, phrase))
                if anywhere or is_code or " " in phrase.strip() or bare.startswith(phrase) or bare.endswith(phrase):
                    best, kind = phrase, named
    return kind


def is_kind(text: str) -> bool:
    """Say whether a text states nothing but a kind of document: "User\u2019s Guide"."""
    return _plain(text) in _kinds().own


def without_kind(text: str) -> str:
    """Return a title without the longest phrase that states its kind: "nova y70: User Guide" → "nova y70"."""
    found = [phrase.strip() for phrase in _kinds().own if phrase in _plain(text)]
    if not found:
        return text
    words = r"[\W_]+".join(re.escape(word) for word in max(found, key=len).split())
    return re.sub(rf"\W*\b{words.replace('users', 'user.?s').replace('owners', 'owner.?s')}\b", "", text, flags=re.I)


def kinds_asked(question: str) -> frozenset[str]:
    """Return the kinds of document that a question names; only phrases of several words, and forms, name any."""
    words = _plain(question)
    named = [
        phrase
        for phrase in _kinds().asked
        if phrase in words and (" " in phrase.strip() or any(map(str.isdigit, phrase)))
    ]
    return frozenset(kind for phrase in named for kind in _kinds().asked[phrase])


@lru_cache(maxsize=1_000)
def _plain(text: str) -> str:
    return f" {' '.join(re.findall(r'[^\W_]+', lexical.fold(_APOSTROPHES.sub('', text)).lower()))} "


def chunk_vector(
    text: str, *, language: str, title: str, key: str, section: str = "", cover: str = "", table: str = ""
) -> SparseVector:
    """Return the sparse vector of a chunk, with the words of title, file name, section, cover and table header."""
    context = _context(title, key, section, cover, table)
    return lexical.document_vector(text, language=language or "en", context=context)


def passage_score(
    query: Mapping[int, float],
    text: str,
    *,
    language: str,
    title: str,
    key: str,
    section: str = "",
    cover: str = "",
    table: str = "",
) -> float:
    """Return the dot product of a question's sparse vector and `chunk_vector(text, …)`."""
    return lexical.score(query, text, language=language or "en", context=_context(title, key, section, cover, table))


def _context(title: str, key: str, section: str, cover: str, table: str) -> Sequence[tuple[str, float]]:
    named = ((name_of(title, key), NAME_WEIGHT), (section, SECTION_WEIGHT), (cover, COVER_WEIGHT))
    return (*named, (table, TABLE_WEIGHT)) if table else named
