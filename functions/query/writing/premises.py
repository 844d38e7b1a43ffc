"""Whether the words of a question mean something in the document that answers.

"How many wheels does the display have?" is refused where nothing names wheels (`missing_words`). Only an answer without
a model needs that: it would quote the next best sentence, while a model reads the sources. A word is missing if the
document that answers best holds neither it, in its passages, sections and name, nor a form or synonym of it, nor a word
that it may be misspelt for, nor what it is short for ("CEO"), nor another word for it behind the same one ("fingerprint
sensor" for "fingerprint reader"), nor a figure in its unit or currency ("€14" for "under 15 euros"). Adverbs judge
instead of naming, and line items and ratios are answered from a financial statement that does not name them. Words of
asking, of measures and of a document's parts may be missing (`texts/question_words.txt`): pages that answer do without
them; so may words that the question explains after it, and all words of one about the asker's own matters ("my dog
chewed the sofa"). What stands after "which" or "how many" may not, however much else is there. Languages without a list
are not judged.

Common words are often said in others ("phones" for "telephones", "on time" for "by 8:15"), so one that is missing
refuses nothing. But where they are much of what the question names, the answer is doubtful, and its confidence is low
(`names_what_is_missing`): "How much is a first class ticket?" where there are no classes.
"""

import re
from collections.abc import Collection, Mapping, Sequence, Set
from difflib import SequenceMatcher
from functools import cache, lru_cache
from itertools import groupby
from string import digits
from typing import NamedTuple

from functions.query.grounding.facts import facts_in
from functions.query.grounding.quantities import CURRENCY_SIGN, NUMBER, is_unit, read_number, unit_name
from functions.query.grounding.words import is_stop_word, other_words_of, spells_out
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.ranking import words_of_statements
from functions.query.retrieval.rescoring import is_latin, plain_words, words_by_beginning
from functions.query.understanding.question import (
    DEGREES,
    asking_part,
    explaining_part,
    lines_of,
    of_any_language,
    patterns_of,
    word_lists,
)
from functions.query.understanding.spelling import OPENINGS, distance
from functions.query.understanding.vocabulary import are_of_family, document_words
from functions.query.writing.statements import statements_of
from functions.query.writing.table_words import comparison_in
from shared import identity, lexical
from shared.dates import years_written
from shared.language import language_of

MIN_RARITY = 4.4
"""Rarity (`lexical.background`) of the rarest missing word from which on a premise is false: about 1 word in 80."""
MIN_SHARE = 0.25
"""Minimum share of the missing words in the rarity of the question's rare words without names."""
MIN_MISSING = 0.2
"""Share, by rarity, of what a question names that must be missing for an answer to be doubtful."""
MIN_LETTERS = 3
MISSPELT = 0.84
"""Minimum similarity of a word to one that it may be misspelt for, of at least `MIN_MISSPELT_LETTERS`."""
MIN_MISSPELT_LETTERS = 6
MIN_FORM_LETTERS = 5
ENDING_LETTERS = 2
"""Two forms of a word, each of at least 5 letters, differ in the shorter one's last two at most: "erase", "erasure"."""

POUNDS = ("pound", "pounds")
_OF_MONEY = re.compile(
    r"\b(?:cost|price|pay|paid|fee|charge|deposit|rent|hire|buy|afford|spend|cheap|for under)", re.IGNORECASE
)
"""What is a weight or a currency, and what tells that a question is about money."""
MAX_INITIALS = 5
"""Letters of the longest short form that is looked for as the initials of words."""

_ASKED_FOR = re.compile(
    r"\b(?:how many|which|what|whose|kiek|kuri\w*|koki\w*)\s+([^\W\d_]+(?:\s+[^\W\d_]+)?)", re.IGNORECASE
)
"""The two words after a question word: what is asked for. If it is missing, whatever else is there does not matter."""
_HOW = re.compile(r"\bhow ([^\W\d_]+)", re.IGNORECASE)
"""What says how something is measured, and names nothing: "how often", "how late"."""
_THERE_IS = of_any_language(patterns_of("asked_patterns.txt")["there_is"])
_OF_THE_ASKER = {
    language: re.compile(rf"\b(?:{words})\b")
    for language, words in (
        ("en", "my|My"),
        ("lt", "mano|Mano"),
        ("de", r"[mM]ein\w*"),
        ("es", "mis?"),
        ("fr", "mon|ma|mes"),
    )
}
"""What tells of the asker's own matters, by language: documents need not mention them."""
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_CIRCUMSTANCES = re.compile(
    r"\b(?:if|when|while) (?:i|we|you|he|she|it|they|my|our|your|an?|the|some\w*)\b"
    r"(?:(?! (?:what|where|who|which|why|how)\b)[^,.?])*"
    r"|\A[^,.?]+(?=, (?:what|when|where|who|which|why|how|can|could|do|does|did|am|is|are|may|should|must|will)\b)",
    re.IGNORECASE,
)
"""What a question says of its case, not what it asks: "If a stone cracks the windscreen, how much do I pay?"."""
_NO_WORD = re.compile(r"\bo['’]clock\b|\\\w+|\$[^$]*\$|\S*[@/_\\{}]\S*|\S*\d\S*")
"""Formulas, addresses, numbers, times and identifiers: they are compared elsewhere, or written in other ways."""


_TILL = re.compile(r"\b(?:the|an?|this|that|each|every|any|no|which|my|our|your|their) (till)\b", re.IGNORECASE)
"""What holds a shop's money; elsewhere "till" is a word of asking, another one for "until"."""


class Exempt(NamedTuple):
    """The words of one language that may be missing, by their first two letters, and their stems."""

    words: Mapping[str, Sequence[str]]
    stems: frozenset[str]

    @classmethod
    def of(cls, words: Sequence[str], language: str) -> "Exempt":
        """Prepare a list of words."""
        plain = sorted(word for each in words for word in plain_words(each, latin=False))
        by_beginning = {beginning: list(group) for beginning, group in groupby(plain, key=lambda word: word[:2])}
        return cls(by_beginning, frozenset(lexical.stem(word, language) for word in plain))

    def has(self, word: str, stem: str) -> bool:
        """Return whether a word is one of these, perhaps misspelt."""
        return stem in self.stems or any(is_misspelt(word, other) for other in self.words.get(word[:2], ()))


def missing_words(question: str, passages: Sequence[Passage]) -> Sequence[str]:
    """Return the words of a question, as typed, that make its premise false; empty if it may be answered."""
    language = _language(question, passages)
    exempt = exempt_words().get(language)
    if exempt is None or any(each.language not in {"", language} for each in passages):
        return ()
    asked = what_is_asked(question)
    rare, missing = _named_words(question, passages, language, exempt)
    weights = [rare[word].rarity for word in missing]
    # Names say which thing is meant, not what is asked about it.
    others = [each.rarity for word, each in rare.items() if word in missing or each.typed.islower()]
    wanted = frozenset(plain_words(" ".join(_ASKED_FOR.findall(asked)), latin=False))
    is_wanted = any(word in wanted and rare[word].rarity >= MIN_RARITY for word in missing)
    share = 0.0 if is_wanted else MIN_SHARE
    of_the_asker = _OF_THE_ASKER.get(language)
    if of_the_asker and of_the_asker.search(asked) and not is_wanted:
        return ()
    is_rare = max(weights, default=0.0) >= MIN_RARITY and sum(weights) >= share * sum(others)
    if not is_rare and not _is_nowhere(asked, rare.keys(), missing, passages[0]):
        return ()
    return [each.typed for word, each in rare.items() if word in missing and each.rarity >= identity.MIN_RARITY]


def _is_nowhere(asked: str, rare: Set[str], missing: Set[str], nearest: Passage) -> bool:
    """Return whether nothing is held of what a question asks whether there is, or whether something has it.

    It must name nothing else but the document: of "Is there a fee for cancelling?" a sentence on cancelling may tell.
    """
    found = _THERE_IS.search(asked)
    told = next(filter(None, found.groups()), "") if found else ""
    wanted = rare & frozenset(plain_words(told, latin=False))
    names = plain_words(" ".join((nearest.title, *nearest.organisations)), latin=False)
    others = rare - wanted - frozenset(plain_words(" ".join(_HOW.findall(asked)), latin=False))
    return (
        bool(wanted)
        and wanted <= missing
        and all(any(are_forms(word, name) or word == name for name in names) for word in others)
    )


def names_what_is_missing(question: str, passages: Sequence[Passage]) -> bool:
    """Say whether a document mentions too little of what a question names, common words counted, to answer it surely.

    Of German questions the nouns are counted, which have capitals, unless they are a part of a longer word there.
    """
    language = _language(question, passages)
    if any(each.language not in {"", language} for each in passages):
        return False
    if language == "de":
        rare = _german_nouns(question)
        missing = _missing_nouns(rare.keys(), passages)
    elif (exempt := exempt_words().get(language)) is not None:
        rare, missing = _named_words(question, passages, language, exempt)
        measures = frozenset(plain_words(" ".join(_HOW.findall(question)), latin=False))
        missing = missing - measures
    else:
        return False
    return sum(rare[word].rarity for word in missing) > MIN_MISSING * sum(each.rarity for each in rare.values())


class _Word(NamedTuple):
    typed: str
    rarity: float


def _language(question: str, passages: Sequence[Passage]) -> str:
    return language_of(question) or next((each.language for each in passages if each.language), "")


def _named_words(
    question: str, passages: Sequence[Passage], language: str, exempt: Exempt
) -> tuple[Mapping[str, _Word], Set[str]]:
    """Return the words that name what a question asks about, and those of them that the passages do not mention."""
    asked = what_is_asked(question)
    on_statement = words_of_statements(asked, passages)
    named = () if any(map(is_identified, passages)) else identity.names_in(asked)
    explained = frozenset(plain_words(explaining_part(question), latin=False))
    authors = {word for name in named for word in plain_words(name, latin=False)}  # as in `absent_subjects`
    left_out = {*on_statement, *authors, *explained}
    rare = {
        word: each
        for word, each in _rare_words(asked, language).items()
        if word not in left_out and not (language == "en" and word.endswith("ly"))
    }
    first = next(iter(rare), "")
    if (
        first
        and language == "en"
        and asked.lstrip().startswith(rare[first].typed)
        and _is_misspelt_opening(*rare[first])
    ):
        del rare[first]
    things = frozenset(map(str.lower, _TILL.findall(asked))) if language == "en" else frozenset[str]()
    missing = _missing(frozenset(rare), passages, language, exempt, things)
    if missing:
        long_forms = document_words(asked)
        missing = {word for word in missing if not _is_spelled_out(rare[word].typed, passages, long_forms)}
        missing = {word for word in missing if not _is_unit_there(rare[word].typed, asked, passages)}
        if language == "en":
            missing = {word for word in missing if not _is_in_compound(rare[word].typed, asked, passages)}
    for clause in _CIRCUMSTANCES.findall(asked) if missing and language == "en" else ():
        words = rare.keys() & frozenset(plain_words(clause, latin=False))
        if words - missing:  # the case is spoken of there, if in other words
            missing -= words
    return rare, missing


def _rare_words(asked: str, language: str) -> dict[str, _Word]:
    table = lexical.background(language)
    rare: dict[str, _Word] = {}
    for typed in re.findall(r"[^\W\d_]+", _NO_WORD.sub(" ", asked)):
        for word in plain_words(typed, latin=False):
            rarity = table.get(lexical.stem(word, language), lexical.MAX_RARITY)
            if rarity >= identity.MIN_RARITY and len(word) >= MIN_LETTERS and not is_stop_word(word):
                rare[word] = _Word(typed, rarity)
    return rare


def _german_nouns(question: str) -> Mapping[str, _Word]:
    asked = what_is_asked(question).lstrip()
    rare = _rare_words(asked, "de")
    return {word: each for word, each in rare.items() if each.typed[0].isupper() and not asked.startswith(each.typed)}


def _missing_nouns(nouns: Collection[str], passages: Sequence[Passage]) -> Set[str]:
    """Return the nouns that are no word of the passages and no part of one: "Essen" is one of "Mittagessen"."""
    texts = (f"{each.whole}\n{each.section}\n{each.title}\n{each.key}\n{each.cover}" for each in passages)
    words = set(plain_words("\n".join(texts), latin=False))
    return {
        noun
        for noun in nouns
        if not any(
            lexical.stem(noun, "de") in word or are_forms(noun, word) or is_misspelt(noun, word) for word in words
        )
    }


def what_is_asked(question: str) -> str:
    """Return the sentences that ask, without definitions, conditions, brackets and what says how to look."""
    return _IN_BRACKETS.sub(" ", asking_part(question))


def _missing(words: Set[str], passages: Sequence[Passage], language: str, exempt: Exempt, things: Set[str]) -> Set[str]:
    """Return the words that no passage holds in any form, without exempt ones that are no `things`."""
    held = near_words(words, passages)

    def is_missing(word: str) -> bool:
        stem, near = lexical.stem(word, language), held[word[:2]]
        return (
            (word in things or not exempt.has(word, stem))
            and all(lexical.stem(other, language) != stem for other in near)
            and not any(
                are_forms(word, other) or are_of_family(word, other, language) or is_misspelt(word, other)
                for other in near
            )
        )

    missing = {word: lexical.stem(word, language) for word in words if is_missing(word)}
    if missing:
        stems = frozenset(
            stem
            for each in passages
            for statement in statements_of(each.text, language, each.above)
            for stem in (*statement.stems, *statement.context_stems)
        )
        return {
            word
            for word, stem in missing.items()
            if stems.isdisjoint(other_words_of(stem, language))
            and not (word in DEGREES and _has_figures(stem, language, passages))
        }
    return frozenset()


def _has_figures(degree: str, language: str, passages: Sequence[Passage]) -> bool:
    """Return whether passages may tell what has the most or the least, without such a word; of prices: have any."""
    is_of_price = "price" in other_words_of(degree, language)
    return not is_of_price or any(re.search(CURRENCY_SIGN, each.text) for each in passages)


def near_words(words: Collection[str], passages: Sequence[Passage]) -> Mapping[str, Set[str]]:
    """Return, by each beginning (first two letters) of `words`, the words of texts, sections, titles and file names."""
    held: dict[str, set[str]] = {word[:2]: set() for word in words}
    latin = all(map(is_latin, words))
    for passage in passages:
        sections = "\n".join({passage.section, *(section.path for section in passage.sections)})
        around = f"{sections}\n{identity.name_of(passage.title, passage.key)}\n{passage.cover}\n"
        around += " ".join((*passage.organisations, *map(identity.initials_of, passage.organisations)))
        words = words_by_beginning(passage.text, latin)
        for beginning, near in held.items():
            # "EMUI12.0" is of EMUI.
            near.update(part for word in words.get(beginning, ()) for part in (word, word.rstrip(digits)))
        for word in plain_words(around, latin=latin):
            if word[:2] in held:
                held[word[:2]].add(word)
    return held


def _is_in_compound(typed: str, asked: str, passages: Sequence[Passage]) -> bool:
    """Return whether another word for it stands there behind the same one: "card scanner" for "card reader"."""
    word = typed.lower().removesuffix("s")
    others = next((group for group in word_lists("compound_words.txt").values() if word in group), frozenset[str]())
    before = re.search(rf"([^\W\d_]+(?:-[^\W\d_]+)?)[ -]{re.escape(typed)}\b", asked) if others else None
    if before is None or is_stop_word(before[1]):
        return False
    pattern = re.compile(
        rf"\b{re.escape(before[1])}[ -](?:{'|'.join(map(re.escape, sorted(others)))})s?\b", re.IGNORECASE
    )
    return any(pattern.search(each.text) for each in passages)


def _is_unit_there(typed: str, asked: str, passages: Sequence[Passage]) -> bool:
    """Return whether texts have the figure that a question gives in a unit or currency, or one to compare it with."""
    word = typed.lower()
    given = re.search(rf"({NUMBER})[ -]?{re.escape(typed)}\b", asked) if is_unit(word) else None
    if given is None:
        return False
    units = {unit_name(word), *(("gbp",) if word in POUNDS and _OF_MONEY.search(asked) else ())}
    figures = [fact for each in passages for fact in facts_in(each.text) if fact.unit in units]
    compared = comparison_in(asked)
    if compared is not None and compared.found.start() <= given.start() < compared.found.end():
        signs = (sign[0] for each in passages for sign in re.finditer(CURRENCY_SIGN, each.table))
        return bool(figures) or not units.isdisjoint(map(unit_name, signs))
    return any(fact.values & read_number(given[1]).values for fact in figures)


def _is_misspelt_opening(word: str, rarity: float) -> bool:
    """Return whether the first word of a question is no word, but nearly one of asking: "wat", "hwo"."""
    return rarity == lexical.MAX_RARITY and any(distance(word.lower(), other, most=1) == 1 for other in OPENINGS)


def _is_spelled_out(typed: str, passages: Sequence[Passage], long_forms: Mapping[str, str]) -> bool:
    """Return whether the words that a short form stands for are there: "Chief Executive Officer" for "CEO".

    They are the documents' words for it (`texts/field_terms.txt`), or words with its letters as their initials.
    """
    parts = [
        part for short, words in long_forms.items() if short.lower() == typed.lower() for part in words.split(", ")
    ]
    if any(part in each.text.lower() for part in parts for each in passages):
        return True
    if not (typed.isupper() and typed.isascii() and MIN_LETTERS <= len(typed) <= MAX_INITIALS):
        return False
    return any(spells_out(each.text, typed) for each in passages)


def are_forms(word: str, other: str) -> bool:
    """Return whether two words, in lower case, begin alike enough to be forms of one."""
    shortest = min(len(word), len(other))
    shared = max(shortest - ENDING_LETTERS, MIN_FORM_LETTERS - 1)
    return shortest >= MIN_FORM_LETTERS and word[:shared] == other[:shared]


def is_misspelt(word: str, other: str) -> bool:
    """Return whether one long word may be the other, misspelt."""
    return (
        min(len(word), len(other)) >= MIN_MISSPELT_LETTERS
        and abs(len(word) - len(other)) <= ENDING_LETTERS
        and _are_similar(word, other)
    )


@lru_cache(maxsize=5_000)
def _are_similar(word: str, other: str) -> bool:
    matcher = SequenceMatcher(None, word, other)
    return matcher.quick_ratio() >= MISSPELT and matcher.ratio() >= MISSPELT  # the first is quicker, and never less


def is_identified(passage: Passage) -> bool:
    """Say whether the passage's document has an identity card, or a year in its name."""
    carded = passage.organisations or passage.kind or passage.periods
    return bool(carded) or bool(years_of_name(passage.title, passage.key))


@lru_cache(maxsize=5_000)
def years_of_name(title: str, key: str) -> frozenset[int]:
    """Return the years in the name of a document."""
    return frozenset(map(int, years_written(identity.name_of(title, key))))


def words_of_asking(language: str) -> frozenset[str]:
    """Return the stems of the words of asking, of measures and of a document's parts in a language."""
    exempt = exempt_words().get(language)
    return exempt.stems if exempt else frozenset()


@cache
def exempt_words() -> Mapping[str, Exempt]:
    """Return the words that may be missing, by language."""
    lines = (line.split() for line in lines_of("question_words.txt"))
    return {language: Exempt.of(words, language) for language, *words in lines}
