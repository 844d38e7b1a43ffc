"""Questions about elements of one document: its sections, figures, tables and pages, by number, name, or all of them.

A question is one only if every other word asks for the element, or is a small word, or names the document: "What is
chapter 3 about?", "List the figures of the trial report", "What is on the last page?". The words stand in
`texts/structure_words.txt`.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import Literal, NamedTuple

from functions.query.retrieval.numbered import NumberedPart
from functions.query.understanding.question import lines_of
from functions.query.understanding.talk import by_language, document_named_in, folded_words, kinds_of_documents
from shared.language import FUNCTION_WORDS
from shared.lexical import fold

ElementKind = Literal["section", "figure", "table", "page"]
_KINDS: Sequence[ElementKind] = ("section", "figure", "table", "page")
MAX_WORDS = 24
"""Words of such a question at most."""
MAX_SOUGHT = 8
"""Words of what is looked for at most: "On which page is the warranty?"."""
MAX_NAME_WORDS = 6
"""Words of a document's name in a question at most."""
MAX_BETWEEN = 3
"""Words of which one is a preposition before that name: "of the new trial"."""
MAX_HEADED = 4
"""Words of a heading by which its section is asked for at most."""
MAX_AHEAD = 5
"""Words of a question up to the order of the item that it asks for, at most: "What is the third step?"."""
LAST = "last"
"""The number of the last section or page."""

_WORD = re.compile(r"[^\W\d_]+")
_STEPS = re.compile(r"(?<![\w.,-])\d{1,2}(?:\.\d{1,2}){1,3}(?![\w%€$£-]|[.,]\d)")
"""A section's number of several steps."""
_NUMBER = (
    r"\d{1,3}(?:[.-]\d{1,3}){0,3}[A-Za-z]?(?![\w%]|[.,]\d)|[A-Z]\.?\d{1,3}(?!\w)|[A-Z](?![\w'’])|[IVXL]{1,5}(?![\w'’])"
)


class StructureQuestion(NamedTuple):
    """What a question wants of an element of a document.

    `wants` is one element by its `number` ("one"), by the `names` that its heading may have ("named"), or by words that
    its heading holds ("headed"), all of them ("all"), what the document comes to ("findings"), where something stands
    ("whereabouts"), or who wrote it ("authors"). `sign` is what the
    element is called, in small letters. `by_order`: the number counts them ("the third chapter"). `only_name`: its name
    is enough. `counts`: how many there are. `sought` are the words to look for, `terms` words that must name the
    document. `may_mean_another`: something in it may be meant ("Who wrote the letter?").
    """

    wants: Literal["one", "named", "headed", "all", "findings", "whereabouts", "authors"]
    language: str
    kind: ElementKind = "section"
    sign: str = ""
    number: str = ""
    by_order: bool = False
    names: Sequence[Sequence[str]] = ()
    only_name: bool = False
    counts: bool = False
    sought: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    may_mean_another: bool = False


class OrderQuestion(NamedTuple):
    """Which item of a list a question asks for: its `number` (or `LAST`), what it is called, what the list is `about`.

    `phrase`: both words as asked, "first aid". `is_any_item`: it is called as items of any list are ("step").
    """

    number: str
    item: str
    is_any_item: bool
    about: str
    phrase: str


class StructureWords(NamedTuple):
    """What `texts/structure_words.txt` holds of one language: the lines of each kind, in order."""

    lines: Mapping[str, Sequence[Sequence[str]]]

    def of(self, *kinds: str) -> frozenset[str]:
        """Return all words of these kinds."""
        return frozenset(word for kind in kinds for line in self.lines.get(kind, ()) for word in line)

    def phrases(self, kind: str) -> Sequence[Sequence[Sequence[str]]]:
        """Return the phrases of each line of a kind, as their words."""
        return [[phrase.split("_") for phrase in line] for line in self.lines.get(kind, ())]


def structure_question(question: str, language: str) -> StructureQuestion | None:
    """Return what a question wants of an element of a document, None for any other question.

    The name of the document may stand in quotation marks, however long it is.
    """
    found = _read(question, language)
    named = document_named_in(question)
    if named is None or (found is not None and (found.sought or found.names)):
        return found
    rest = _read(named.beside, language)
    if rest is None or rest.wants in ("whereabouts", "headed") or rest.terms:
        return found
    return rest._replace(terms=tuple(named.words), may_mean_another=False)


def _read(question: str, language: str) -> StructureQuestion | None:
    words = folded_words(question)
    is_possible = not _telling_words().isdisjoint(words) or _STEPS.search(question) is not None
    if not is_possible or len(words) > MAX_WORDS:
        return None
    for code in _in_order(language):
        known = _words()[code]
        counted = _in_digits(question, known)
        words = folded_words(counted)
        for read in (_one, _all, _whereabouts, _named, _authors, _headed):
            found = read(counted, words, code, known)
            if found is not None:
                return found
    return None


def order_question(question: str, language: str) -> OrderQuestion | None:
    """Return which item of which list a question asks for: "What is the third step of the cleaning?"; None if none."""
    words = folded_words(question)
    for code in _in_order(language):
        known = _words()[code]
        ordinals = _ordinals(known)
        if known.of("which", "list", "named").isdisjoint(words[:2]):
            continue
        at = next((at for at, word in enumerate(words[:MAX_AHEAD]) if word in ordinals), None)
        if at is None or at + 1 == len(words):
            continue
        asking = known.of("which", "list", "named")
        asked = [word for word in (*words[:at], *words[at + 2 :]) if word not in asking]
        item = words[at + 1]
        about, phrase = " ".join(asked), f"{words[at]} {item}"
        return OrderQuestion(ordinals[words[at]], item, item in known.of("items"), about, phrase)
    return None


def without_politeness(question: str, language: str) -> str:
    """Return the question without "Can you" in front of it: it asks for more than yes or no."""
    words = folded_words(question)
    for code in _in_order(language):
        for phrase in chain.from_iterable(_words()[code].phrases("polite")):
            if words[: len(phrase)] == phrase:
                return re.sub(rf"^\W*(?:\w+\W+){{{len(phrase)}}}", "", question)
    return question


def signs_of(kind: ElementKind) -> frozenset[str]:
    """Return the words, in any language, by which an element of this kind is called before its number."""
    return frozenset(word for known in _words().values() for word in known.of(kind))


@lru_cache(maxsize=64)  # a question is read once for each language
def number_in(text: str, kind: ElementKind) -> tuple[str, str, int, int] | None:
    """Return the sign and the number of the first element of a kind that a text names, and from where to where."""
    found = _numbered(kind).search(fold(text))
    if found is None or len(fold(text)) != len(text):
        return None
    sign = found["sign"] or found["behind"]
    return sign.casefold(), found["number"] or found["before"], found.start(), found.end()


def is_called(sign: str, kind: Literal["chapter", "general", "tops", "annex"]) -> bool:
    """Say whether a sign, in any language, is one for chapters, any section, those at the top, or annexes."""
    return any(sign in known.of(kind) for known in _words().values())


def are_one(one: str, other: str) -> bool:
    """Say whether two signs name the same kind of section: equal, or both an annex."""
    return one == other or any({one, other} <= known.of("annex") for known in _words().values())


def is_document(word: str) -> bool:
    """Say whether a word, in any language, may mean the document as a whole: "the minutes"."""
    return any(word in known.of("documents") for known in _words().values())


def is_contents(heading: str) -> bool:
    """Say whether a heading is that of a table of contents."""
    return folded_words(heading) in _phrases("contents")


def lists_references(heading: str) -> bool:
    """Say whether a heading is that of a list of references."""
    return folded_words(heading) in _phrases("references")


@cache
def _phrases(kind: str) -> Sequence[Sequence[str]]:
    return [phrase for known in _words().values() for line in known.phrases(kind) for phrase in line]


@cache
def _numbered(kind: ElementKind) -> re.Pattern[str]:
    signs = "|".join(sorted(map(re.escape, signs_of(kind)), key=len, reverse=True))
    return re.compile(
        rf"(?<!\w)(?P<sign>(?i:{signs}))\.?[ ]?(?:(?i:no|nr)\.?[ ]?)?(?P<number>{_NUMBER})"
        rf"|(?<![\w.,])(?P<before>\d{{1,3}}(?:\.\d{{1,3}}){{0,3}})\.?[ ](?P<behind>(?i:{signs}))(?!\w)"
    )


def _one(question: str, words: Sequence[str], code: str, known: StructureWords) -> StructureQuestion | None:
    """Return a question for one element by its number: "Figure 2", "the third chapter", "the last page"."""
    for kind in _KINDS:
        named, by_order = number_in(question, kind), None
        if named is not None:
            sign, number, start, end = named
            if sign not in known.of(kind):
                continue
            rest = folded_words(f"{question[:start]} , {question[end:]}")
        else:
            by_order = _by_ordinal(words, known.of(kind), known)
            told = by_order or (_by_number_alone(question, known) if kind == "section" else None)
            if told is None:
                continue
            sign, number, left = told
            rest = [*left]
        if kind == "section" and NumberedPart.of(question) is not None and not known.of("reads").isdisjoint(rest):
            return None  # "What does section 4 say?" is told as it stands
        asked = known.of("asks", "reads", "named", "which", "where", "list", *_KINDS)
        terms = _unknown(rest, code, asked)
        if terms is None:
            return None
        only_name = not known.of("named").isdisjoint(rest)
        is_where = kind in ("figure", "table") and not known.of("page", "where").isdisjoint(rest)
        wants: Literal["one", "whereabouts"] = "whereabouts" if is_where else "one"
        is_counted = by_order is not None
        return StructureQuestion(wants, code, kind, sign, number, is_counted, only_name=only_name, terms=terms)
    return None


def _in_digits(question: str, known: StructureWords) -> str:
    """Return the question with the number behind a sign in digits: "page 2" of "page two"."""
    words = list(_WORD.finditer(question))
    numbers = {word: str(at) for line in known.lines.get("cardinal", ()) for at, word in enumerate(line, start=1)}
    for before, word in reversed(list(pairwise(words))):
        number = numbers.get(fold(word[0]).casefold())
        if number and fold(before[0]).casefold() in known.of(*_KINDS):
            question = f"{question[: word.start()]}{number}{question[word.end() :]}"
    return question


def _by_number_alone(question: str, known: StructureWords) -> tuple[str, str, Sequence[str]] | None:
    """Return the number of a section that is not called one: "What is 4.2 about?"."""
    found = _STEPS.findall(question)
    rest = folded_words(_STEPS.sub(" , ", question))
    is_asked = not known.of("asks", "about").isdisjoint(rest) and known.of(*_KINDS).isdisjoint(rest)
    return (known.lines["section"][0][0], found[0], rest) if len(found) == 1 and is_asked else None


def _by_ordinal(
    words: Sequence[str], signs: frozenset[str], known: StructureWords
) -> tuple[str, str, Sequence[str]] | None:
    ordinals = _ordinals(known)
    for at, (word, sign) in enumerate(pairwise(words)):
        if word in ordinals and sign in signs:
            return sign, ordinals[word], [*words[:at], *words[at + 2 :]]
    return None


def _ordinals(known: StructureWords) -> Mapping[str, str]:
    """Return the numbers that words for an order mean: "third", "last"."""
    ordinals = {word: str(at) for line in known.lines.get("ordinal", ()) for at, word in enumerate(line, start=1)}
    return ordinals | dict.fromkeys(known.of("last"), LAST)


def _all(_: str, words: Sequence[str], code: str, known: StructureWords) -> StructureQuestion | None:
    """Return a question for all elements of a kind: "List the figures", "the table of contents"."""
    said = frozenset(words)
    asking = known.of("list", "count", "which", "asks")
    for phrase in chain.from_iterable(known.phrases("contents")):
        if said.issuperset(phrase) and (terms := _unknown(words, code, asking.union(phrase))) is not None:
            return StructureQuestion("all", code, terms=terms)
    for kind in _KINDS[:3]:
        several = known.of(f"{kind}s") & said
        if not several or known.of("list", "count", "which").isdisjoint(said):
            continue
        terms = _unknown(words, code, asking | known.of(f"{kind}s"))
        if terms is None:
            return None
        counts = not known.of("count").isdisjoint(said)
        return StructureQuestion("all", code, kind, min(several), counts=counts, terms=terms)
    return None


def _named(_: str, words: Sequence[str], code: str, known: StructureWords) -> StructureQuestion | None:
    """Return a question for a section by its name, or for what the document comes to."""
    said = frozenset(words)
    asking = known.of("asks", "list", "which", "section")
    for line in known.phrases("heading"):
        phrase = next((each for each in line if said.issuperset(each)), None)
        if phrase is None or said.isdisjoint(asking):
            continue
        terms = _unknown(words, code, asking.union(known.of("doers"), phrase))
        if terms is not None:
            return StructureQuestion("named", code, names=line, terms=terms)
    nouns = known.of("asked")
    if len(nouns & said) > 1 and (terms := _unknown(words, code, asking | nouns | known.of("doers"))) is not None:
        return StructureQuestion(
            "findings", code, names=list(chain.from_iterable(known.phrases("findings"))), terms=terms
        )
    return None


def _authors(_: str, words: Sequence[str], code: str, known: StructureWords) -> StructureQuestion | None:
    said = frozenset(words)
    for phrase in chain.from_iterable(known.phrases("authors")):
        if said.issuperset(phrase):
            asking = known.of("asks", "which", "list", "named", "ordinal").union(phrase)
            terms = _unknown(words, code, asking)
            if terms is not None:
                is_document = bool(terms) or not said.isdisjoint(_any(code))
                return StructureQuestion("authors", code, terms=terms, may_mean_another=not is_document)
            terms = _beside(words, code, asking | known.of("in"))
            is_name = len(terms) <= MAX_NAME_WORDS
            return StructureQuestion("authors", code, terms=terms, may_mean_another=True) if is_name else None
    return None


def _headed(_: str, words: Sequence[str], code: str, known: StructureWords) -> StructureQuestion | None:
    """Return a question for a section by words of its heading: "the troubleshooting chapter"."""
    signs = known.of("chapter").union(line[0] for line in known.lines["section"])
    if signs.isdisjoint(words):
        return None
    sought = _beside(words, code, known.of("asks", "reads", "named", "which", "section"))
    is_heading = 0 < len(sought) <= MAX_HEADED and not any(map(str.isdigit, sought))
    return StructureQuestion("headed", code, sought=sought) if is_heading else None


def _whereabouts(_: str, words: Sequence[str], code: str, known: StructureWords) -> StructureQuestion | None:
    """Return a question for the page, section or table where something stands: "Which page explains the alarm?"."""
    places = known.of("whereabouts", "where", "parts", "figure", "table")
    at = next((n for n, word in enumerate(words[:3]) if word in places), None)
    if at is None:
        return None
    kind: ElementKind = (
        "figure" if words[at] in known.of("figure") else "table" if words[at] in known.of("table") else "section"
    )
    is_told = not known.of("asks").isdisjoint(words)
    name = _name_in(words, code)
    if words[at] in known.of("where"):
        is_asked = is_told or name is not None
    else:
        is_which = words[at - 1 : at] and words[at - 1] in known.of("which")
        is_asked = bool(is_which or known.of("list").intersection(words[:at])) and (
            is_told or words[at] in known.of("whereabouts")
        )
    sought = _beside(words, code, known.of("asks", "which", "whereabouts", "where", "parts", "doers", kind))
    terms = tuple(word for word in sought if word in (name or ()))
    sought = tuple(word for word in sought if word not in terms)
    is_sought = is_asked and 0 < len(sought) <= MAX_SOUGHT
    return StructureQuestion("whereabouts", code, kind, sought=sought, terms=terms) if is_sought else None


def _name_in(words: Sequence[str], code: str) -> Sequence[str] | None:
    """Return what stands behind a preposition up to a word for a document ("in the user manual"), None without both."""
    for at, word in enumerate(words):
        if word in kinds_of_documents(code) or is_document(word):
            before = words[max(0, at - MAX_NAME_WORDS) : at]
            first = next((n for n in range(len(before), 0, -1) if before[n - 1] in _words()[code].of("in")), None)
            if first is not None:
                return [*before[first:], word]
    return None


def _unknown(words: Sequence[str], code: str, asking: frozenset[str]) -> tuple[str, ...] | None:
    """Return the words that must name the document; None if they do not stand where its name does.

    That is behind a preposition, or before the word for the document: "of the trial", "the trial report".
    """
    found = _beside(words, code, asking)
    if not found:
        return found
    first, after = words.index(found[0]), len(words) - words[::-1].index(found[-1])
    is_behind = not _words()[code].of("in").isdisjoint(words[max(0, first - MAX_BETWEEN) : first])
    is_before = any(word in kinds_of_documents(code) or is_document(word) for word in words[after - 1 : after + 1])
    return found if (is_behind or is_before) and len(found) <= MAX_NAME_WORDS else None


def _beside(words: Sequence[str], code: str, asking: frozenset[str]) -> tuple[str, ...]:
    """Return the words that neither ask, nor are small, nor mean a document."""
    known = _small(code) | asking | _any(code) | kinds_of_documents(code)
    return tuple(word for word in words if word not in known)


def _small(code: str) -> frozenset[str]:
    return by_language(code)[0][1].common | _function_words(code)


@cache
def _function_words(code: str) -> frozenset[str]:
    return frozenset(word for each in FUNCTION_WORDS.get(code, ()) for word in folded_words(each))


def _any(code: str) -> frozenset[str]:
    return by_language(code)[0][1].words.get("any", frozenset())


def _in_order(language: str) -> Sequence[str]:
    return sorted(_words(), key=lambda code: (code != language, code != "en"))


@cache
def _telling_words() -> frozenset[str]:
    """Return the words of which every such question has one, in any language."""
    kinds = ("parts", "where", "whereabouts", "asked", *_KINDS, *(f"{kind}s" for kind in _KINDS))
    words = (known.of(*kinds) for known in _words().values())
    phrases = (word for kind in ("contents", "heading", "authors") for phrase in _phrases(kind) for word in phrase)
    return frozenset(chain(phrases, *words))


@cache
def _words() -> Mapping[str, StructureWords]:
    lines: dict[str, dict[str, list[Sequence[str]]]] = {}
    for text in lines_of("structure_words.txt"):
        code, kind, *words = text.split()
        lines.setdefault(code, {}).setdefault(kind, []).append(words)
    return {code: StructureWords(held) for code, held in lines.items()}
