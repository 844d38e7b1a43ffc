"""Completing a follow-up by rule: "And in Q3 2025?" becomes the question before it, about another quarter.

A follow-up without a verb takes the place of the part of the same kind (a time, a code, a name, a thing) in the last
complete question; a question about two things that were named gets their names; a pronoun is exchanged for the thing
that the last question is about. What is not clear stays as it was typed.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from functions.query.understanding.asked_alone import is_plural, with_question_word
from functions.query.understanding.parts import Token, tokens_of
from functions.query.understanding.phrases import (
    YEAR,
    Phrase,
    Sentence,
    is_part_of_a_year,
    is_time,
    read,
    small_words,
)
from functions.query.understanding.pointing import POINTS_AT_A_THING, names_another_thing, points_back, pronoun_of
from functions.query.understanding.question import SENTENCE_BORDER
from shared import lexical

MAX_LINKED_WORDS = 6
"""Words of a follow-up without a verb at most, without those that link it to what was said."""
MAX_BARE_WORDS = 4
"""The same if nothing links it: more are a question in key words."""
MAX_CODE_WORDS = 3
"""Words of a code or a time that is a follow-up on its own at most: "Q3 2025?"."""
SURE_LIKENESS = 3
"""Likeness from which two things are of a kind."""
ENDING = 2
"""Letters by which two Lithuanian words are in the same case; names need only the last one."""
COMPOUND = 5
"""Last letters that two German nouns of a kind share: "Halbtagsplatz" and "Ganztagsplatz"."""
MAX_WORDS = 30
"""A question of more words is neither completed nor taken as a model."""
MAX_TOPIC_WORDS = 7
"""Words of the thing that takes a pronoun's place at most."""
MAX_DIFFERENT_WORDS = 6
"""Words by which two questions about two things of a kind differ at most."""
MAX_WORDS_OF_TWO = 10
"""Words of a question about two things that were named at most."""
MAX_OTHER_WORDS = 1
"""Words with a meaning of their own that such a question has at most beside "both": "Are both waterproof?"."""

_YEAR_BEFORE = re.compile(
    r"(?:in )?(?:the )?(?:year before|(?:previous|prior|preceding) year)|im vorjahr|(?:im|das) jahr davor"
)
_YEAR_AFTER = re.compile(r"(?:in )?(?:the )?(?:year after|following year)|im folgejahr|(?:im|das) jahr danach")
_NUMBERS_TOGETHER = re.compile(r"\d\S* \d")
"""What no question has that was completed rightly: "clause 9.4 4.1"."""
_END = " .?!…"
_GERMAN_ARTICLES = {
    ("der", "er"): "der", ("der", "ihn"): "den", ("den", "er"): "der", ("den", "ihn"): "den", ("einen", "er"): "der",
    ("einen", "ihn"): "den", ("die", "sie"): "die", ("eine", "sie"): "die", ("das", "es"): "das",
}  # fmt: skip
"""The article of a noun that takes a pronoun's place, by its article before and the pronoun."""


def completed(question: str, before: Sequence[str], language: str, telling: Collection[str]) -> str:
    """Return a follow-up as a whole question, made from the questions `before`, oldest first; "" if it is not clear.

    `telling` are the words that show what the conversation is about: a pronoun stands only for a thing with one.
    """
    if not small_words(language) or not before or SENTENCE_BORDER.search(question):
        return ""
    complete = _complete_questions(before, language)
    return _completed(question, complete, language, telling) if complete.texts else ""


class _Complete(NamedTuple):
    """The questions of a conversation that can be understood alone; `has_last` if the last one is among them."""

    texts: Sequence[str]
    has_last: bool


def _complete_questions(before: Sequence[str], language: str) -> _Complete:
    """Return the questions that can be understood alone, completed where they could not."""
    found = _Complete((), has_last=False)
    for text in before:
        last = _last_sentence(text)
        whole = _completed(last, found, language) if found.texts else ""
        whole = whole or (last if _is_complete(last, language) else "")
        found = _Complete([*found.texts, whole], has_last=True) if whole else _Complete(found.texts, has_last=False)
    return found


def _is_complete(question: str, language: str) -> bool:
    return (
        len(question.split()) <= MAX_WORDS
        and not is_fragment(question, language)
        and not points_back(question, language)
        and bool(read(question, language).phrases)
    )


def _last_sentence(text: str) -> str:
    """Return a text's last question, or else its last sentence."""
    sentences = SENTENCE_BORDER.split(text.strip())
    return next((each for each in reversed(sentences) if each.endswith("?")), sentences[-1])


def is_fragment(question: str, language: str) -> bool:
    """Say whether a question has no verb, and is linked to what was said before: "And for children?"."""
    return bool(small_words(language)) and _fragment(question, language, bare=False) is not None


def _completed(question: str, complete: _Complete, language: str, telling: Collection[str] | None = None) -> str:
    last = read(complete.texts[-1], language)
    return (
        _about_two(question, complete.texts, language)
        or _turned(question, last, language)
        or _exchanged(question, last, language)
        or (with_question_word(question, last, language) if complete.has_last else "")
        or (_with_thing(question, last, language, telling) if complete.has_last else "")
    )


# --- A follow-up without a verb ---


@dataclass(frozen=True, slots=True)
class _Fragment:
    """A follow-up without a verb, and the thing that it names.

    `is_dative`: it stands in another case than what it replaces ("was ist mit der …").
    """

    sentence: Sentence
    phrase: Phrase
    is_linked: bool
    is_dative: bool

    @property
    def is_code_or_time(self) -> bool:
        """Say whether it is nothing but a code or a time."""
        return (
            self.phrase.kind in ("code", "time")
            and len(self.sentence.tokens) <= len(self.phrase.core) <= MAX_CODE_WORDS
        )

    @property
    def thing(self) -> str:
        """The words without the preposition."""
        return self.sentence.words(self.phrase.start, len(self.sentence.tokens))

    @property
    def without_article(self) -> str:
        """The words without preposition and article."""
        return self.sentence.words(self.phrase.start + self.phrase.has_article, len(self.sentence.tokens))


def _fragment(question: str, language: str, *, bare: bool = True) -> _Fragment | None:
    words = small_words(language)
    tokens = [token for token in tokens_of(question) if not token.is_mark]
    said = [token.folded for token in tokens]
    linked = 1 if said and said[0] in words["link"] else 0
    abouts = [each.split("_") for each in words["about"]]
    about = max((each for each in abouts if said[linked : linked + len(each)] == each), key=len, default=[])
    rest = tokens[linked + len(about) :]
    if language == "en" and [token.folded for token in rest[:2]] in (["the", "one"], ["the", "ones"]):
        rest = rest[2:]
    if about and rest and rest[-1].folded == "aus":
        rest = rest[:-1]
    is_linked = bool(linked or about)
    if not rest or len(rest) > (MAX_LINKED_WORDS if is_linked else MAX_BARE_WORDS) or not (is_linked or bare):
        return None
    if any(token.folded in words["border"] - words["prep"] - words["own"] - words["time"] for token in rest):
        return None
    if any(token.folded.rpartition("-")[2] in words["held"] for token in rest):
        return None  # "sont-ils" is a verb
    text = question[rest[0].start : rest[-1].end]
    if rest[0].folded in words["prep"] | words["article"]:
        text = text[:1].lower() + text[1:]
    if language == "en" and rest[0].folded in words["own"] and len(rest) > 1:
        text = f"the {question[rest[1].start : rest[-1].end]}"
    sentence = read(text, language, is_part=is_linked)
    if not sentence.phrases or sentence.phrases[0].first:
        return None
    return _Fragment(sentence, sentence.phrases[0], is_linked, about[-1:] == ["mit"])


def _turned(question: str, last: Sentence, language: str) -> str:
    """Return the last question with its small word turned: "And against?" behind "Who voted for item 35?"."""
    words = small_words(language)
    said = [token.folded for token in tokens_of(question) if not (token.is_mark or token.folded in words["link"])]
    for pair in words["pair"]:
        one, other = pair.split("_")
        before = {one: other, other: one}.get(said[0]) if len(said) == 1 else None
        places = [at for at, token in enumerate(last.tokens) if token.folded == before]
        if len(places) == 1:
            return last.with_words(places[0], places[0] + 1, said[0])
    return ""


def _exchanged(question: str, last: Sentence, language: str) -> str:
    """Return the last question with what a fragment names in place of the part of its kind; "" if it is none."""
    fragment = _fragment(question, language)
    if fragment is None:
        return ""
    phrase, folded = fragment.phrase, fragment.sentence.text.casefold()
    years = -1 if _YEAR_BEFORE.fullmatch(folded) else 1 if _YEAR_AFTER.fullmatch(folded) else 0
    if years:
        shifted = YEAR.sub(lambda year: str(int(year[0]) + years), last.text)
        return shifted if shifted != last.text else ""
    if not fragment.is_linked and (
        not (phrase.prep or phrase.has_article or fragment.is_code_or_time) or _repeats(fragment, last, language)
    ):
        return ""
    if language == "lt" and phrase.kind in ("plain", "name") and not phrase.prep:
        return _with_same_ending(fragment, last, language)
    likeness = [_likeness(phrase, each, language) for each in last.phrases]
    best = max(likeness, default=0)
    if best >= SURE_LIKENESS:
        # Of things that are as like, the first; but of times and names the last.
        places = [at for at, each in enumerate(likeness) if each == best]
        whole = _in_place(
            fragment, last, last.phrases[places[-1] if phrase.prep or phrase.kind != "plain" else places[0]]
        )
        return "" if _NUMBERS_TOGETHER.search(whole) and not _NUMBERS_TOGETHER.search(last.text) else whole
    is_added = fragment.is_linked and phrase.prep and not is_part_of_a_year(folded)
    return f"{last.text.rstrip(_END)} {fragment.sentence.text}?" if is_added else ""


def _with_same_ending(fragment: _Fragment, last: Sentence, language: str) -> str:
    """Return the last question with other words in place of those in the same case: "O vaikams?"."""
    words = fragment.sentence.tokens
    small = small_words(language)["border"] | small_words(language)["prep"]
    alike = (
        at + 1
        for at in reversed(range(len(words) - 1, len(last.tokens)))
        if last.tokens[at].folded not in small and _is_same_case(last.tokens[at], words[-1], is_first=not at)
    )
    stop = next(alike, 0)
    return last.with_words(stop - len(words), stop, fragment.sentence.text) if stop else ""


def _is_same_case(old: Token, new: Token, *, is_first: bool) -> bool:
    if new.is_name:
        return old.is_name and not is_first and old.folded[-1] == new.folded[-1]
    return old.folded[-ENDING:] == new.folded[-ENDING:]


def taken_over(question: str, whole: str, language: str) -> str:
    """Return how a completed question begins, before the case that the follow-up asks for: "When is it open".

    Empty for a code or a number: a row of a table may be found by what was asked of another one.
    """
    fragment = _fragment(question, language)
    if fragment is None or not fragment.phrase.prep or any(map(str.isdigit, question)):
        return ""
    before, found, _ = whole.partition(f" {fragment.sentence.text}")
    return before if found else ""


def _repeats(fragment: _Fragment, last: Sentence, language: str) -> bool:
    """Say whether words without a link name what the last question named, and so are a question in key words."""
    named = {lexical.stem(token.folded, language) for token in last.tokens if token.is_name or len(token.folded) > 3}
    said = {lexical.stem(token.folded, language) for token in fragment.sentence.tokens} - {fragment.phrase.head}
    return not said.isdisjoint(named - small_words(language)["prep"] - small_words(language)["article"])


def _likeness(new: Phrase, old: Phrase, language: str) -> int:
    """Say how well one thing can take the place of another, 0 if not at all."""
    if (new.kind == "time") != (old.kind == "time"):
        # "On Sundays" and "at Easter", which is in no list
        return SURE_LIKENESS if {new.prep, old.prep} == {"on", "at"} and "plain" not in (new.kind, old.kind) else 0
    same_prep = bool(new.prep) and new.prep == old.prep
    if new.kind != "time" and (
        new.head == old.head or (language == "de" and new.head[-COMPOUND:] == old.head[-COMPOUND:])
    ):
        return 6 + same_prep
    is_only_core = new.core.stop == new.stop and new.core.start - new.start == new.has_article
    if new.kind == old.kind and new.kind != "plain" and (is_only_core or new.kind == "time"):
        return 4 + same_prep
    places = small_words(language)["place"]
    is_place = bool(new.prep) and new.kind == old.kind and {new.prep, old.prep} <= places
    return SURE_LIKENESS if same_prep or (is_place and new.has_article == old.has_article) else 0


def _in_place(fragment: _Fragment, last: Sentence, old: Phrase) -> str:
    new = fragment.phrase
    if new.kind == old.kind == "time":
        return _with_time(fragment, last, old)
    is_core = new.kind == old.kind != "plain" and new.head != old.head
    if is_core and new.core.stop == len(fragment.sentence.tokens) and new.core.start - new.start == new.has_article:
        return last.with_words(old.core.start, old.core.stop, fragment.sentence.words(new.core.start, new.core.stop))
    if new.prep and old.prep:
        return last.with_words(old.first, old.stop, fragment.sentence.text)
    keeps_article = old.has_article and (
        fragment.is_dative or (not new.has_article and (new.head == old.head or new.kind == "code"))
    )
    start = old.start + 1 if keeps_article else old.start
    return last.with_words(start, old.stop, fragment.without_article if keeps_article else fragment.thing)


def _with_time(fragment: _Fragment, last: Sentence, old: Phrase) -> str:
    """Return the last question with another time; a quarter keeps the year that was said."""
    new = fragment.phrase
    words = fragment.sentence.text if new.prep and old.prep else fragment.thing
    year = YEAR.search(last.words(old.start, old.stop))
    if year and is_part_of_a_year(words) and not YEAR.search(words):
        words = f"{words} {year[0]}"
    if old.core.stop < old.stop:
        return last.with_words(old.core.start, old.core.stop, words)
    return last.with_words(old.first if new.prep else old.start, old.stop, words)


# --- Questions about two things that were named ---


def _about_two(question: str, complete: Sequence[str], language: str) -> str:
    """Return a question about "the two", "both" or "the difference" with the two things that were named."""
    words = small_words(language)
    tokens = [token for token in tokens_of(question) if not token.is_mark]
    said = [token.folded.removesuffix("'s") for token in tokens]
    pair = _two_things(complete, language) if _asks_of_two(said, language) else None
    if pair is None:
        return ""
    asked, end = question.rstrip(_END), "?" if question.rstrip().endswith("?") else ""
    if said[0] in words["compare"]:
        return f"{question[: tokens[0].end]} {_joined(pair, 'and', language)}{end}"
    between = next((at for at, word in enumerate(said) if word in words["between"]), len(said))
    if said[between - 1] in words["cue"]:
        asked = question[: tokens[between - 1].end]
        named = pair if language == "en" else _without_articles(pair, language)
        word = next(iter(words["between"]))
        return f"{asked}{_of_what(complete, pair, language)} {word} {_joined(named, 'and', language)}{end}"
    return f"{asked}, {_joined(pair, 'and' if said[0] in words['help'] else 'or', language)}{end}"


def _asks_of_two(said: Sequence[str], language: str) -> bool:
    words = small_words(language)
    small = words["border"] | words["prep"] | words["article"] | words["whole"] | words["cue"] | {"one"}
    if not said or len(said) > MAX_WORDS_OF_TWO:
        return False
    if said[0] in words["compare"]:
        return all(word in small for word in said[1:])
    others = [word for word in said if word not in small]
    if said[-1] in words["cue"]:
        return not others
    if said[0] in words["choice"] and said[1:2]:
        if said[1] == "one":
            return words["prep"].isdisjoint(said)
        if said[1] in words["help"]:
            return len(others) <= MAX_OTHER_WORDS
    return not words["whole"].isdisjoint(said) and len(others) <= MAX_OTHER_WORDS


def _two_things(complete: Sequence[str], language: str) -> tuple[str, str] | None:
    """Return the things in which the last two questions differ, or else the only two codes or names of them."""
    sentences = [read(each, language) for each in complete[-2:]]
    if len(sentences) > 1 and (found := _difference(*sentences)):
        return found
    named: dict[str, str] = {}
    for sentence in sentences:
        for each in sentence.phrases:
            if each.kind in ("code", "name"):
                named.setdefault(sentence.words(each.core.start, each.core.stop), sentence.words(each.start, each.stop))
    first, *others = named.values() or [""]
    return (first, others[0]) if len(others) == 1 else None


def _difference(one: Sentence, other: Sentence) -> tuple[str, str] | None:
    mine, theirs = ([token.folded for token in each.tokens] for each in (one, other))
    start = _common(mine, theirs)
    same = start + _common(mine[start:][::-1], theirs[start:][::-1])
    length = max(len(mine), len(theirs))
    if not start or same < length / 2 or not 0 < length - same <= MAX_DIFFERENT_WORDS:
        return None
    found = [
        next((each for each in sentence.phrases if each.first <= start < each.stop), None) for sentence in (one, other)
    ]
    first, second = found
    return (one.words(first.start, first.stop), other.words(second.start, second.stop)) if first and second else None


def _common(some: Sequence[str], others: Sequence[str]) -> int:
    """Return how many words two texts begin with alike."""
    pairs = enumerate(zip(some, others, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(some), len(others)))


def _without_articles(pair: tuple[str, str], language: str) -> tuple[str, str]:
    """Return two things without their articles, which would have to be in another case."""
    articles = small_words(language)["article"]
    first, second = (each.partition(" ")[2] if each.split()[0].casefold() in articles else each for each in pair)
    return first, second


def _of_what(complete: Sequence[str], pair: tuple[str, str], language: str) -> str:
    """Return " in revenue" for what two times are compared in; empty for other things."""
    if language != "en" or not any(is_time(token.folded, language) for token in tokens_of(pair[0])):
        return ""
    last = read(complete[-1], language)
    thing = next((each for each in last.phrases if not each.prep and each.kind != "time"), None)
    return f" in {last.words(thing.start, thing.stop)}" if thing else ""


def _joined(pair: tuple[str, str], by: Literal["and", "or"], language: str) -> str:
    words = small_words(language)[by]
    return f" {min(words, key=lambda word: (word in 'ou', word))} ".join(pair)


# --- A pronoun that stands for a thing ---


@dataclass(frozen=True, slots=True)
class _Topic:
    """What a question is about: a noun in the plural, or a name, or words in which there is a name or a code."""

    words: str
    is_many: bool
    is_name: bool
    has_name: bool


def _topic(sentence: Sentence, language: str) -> _Topic | None:
    """Return what a question is about; None if it is one of several things.

    A thing that it speaks of first ("a child lock"); what a value belongs to, if that has a code or a name ("What is
    the flow of the VP-20?"); or else its first thing.
    """
    words = small_words(language)
    things = [each for each in sentence.phrases if each.kind != "time" and not each.is_asked]
    plain = [each for each in things if not each.prep]
    of_value = sentence.tokens[0].folded in words["noun"]
    chosen = next((each for each in plain[1:] if sentence.tokens[each.start].folded in {"a", "an"}), None)
    chosen = chosen or next((each for each in things if of_value and each.kind == "code"), None)
    chosen = chosen or next((each for each in things if of_value and each.kind == "name"), None)
    chosen = chosen or next(iter(plain), None) or next(iter(things), None)
    if chosen is None:
        return None
    beside = [
        *sentence.tokens[max(chosen.first - 1, 1) : chosen.first],
        *sentence.tokens[chosen.stop : chosen.stop + 1],
    ]
    if any(token.folded in words["link"] for token in beside):
        return None
    stop, is_named = chosen.stop, chosen.kind != "plain"
    for each in sentence.phrases:
        is_behind = each.first == stop and each.prep and each.kind != "time"
        if is_behind and chosen.kind == "plain" and each.stop - chosen.start <= MAX_TOPIC_WORDS:
            stop, is_named = each.stop, is_named or each.kind != "plain"
    head = sentence.tokens[chosen.stop - 1].folded
    is_many = chosen.kind == "plain" and is_plural(head)
    return _Topic(sentence.words(chosen.start, stop), is_many, chosen.kind == "name", is_named)


def _with_thing(question: str, last: Sentence, language: str, telling: Collection[str] | None) -> str:
    """Return a question with what the last one is about in place of the pronoun that stands for it; "" if unclear.

    It must be one of the `telling` words or have one; if they are not known, it must have a code or a name.
    """
    pronoun, topic = pronoun_of(question, language), _topic(last, language)
    if pronoun is None or topic is None:
        return ""
    if names_another_thing(question, pronoun, language):
        return ""
    words = topic.words.split()
    is_told = topic.has_name if telling is None else any(word.casefold() in topic.words.casefold() for word in telling)
    if not is_told or len(words) > MAX_TOPIC_WORDS or not _asks(question, language):
        return ""
    said, before, after = pronoun[0].casefold(), question[: pronoun.start()], question[pronoun.end() :]
    if language == "de":
        article = _GERMAN_ARTICLES.get((words[0].casefold(), said))
        return f"{before}{' '.join((article, *words[1:]))}{after}" if article else ""
    if language != "en" or not POINTS_AT_A_THING.fullmatch(said):
        return ""
    if not topic.is_name and topic.is_many != said.startswith("th"):
        return ""
    thing = topic.words
    if words[0] in {"a", "an"} and last.tokens[0].folded in small_words(language)["help"]:
        thing = " ".join(("the", *words[1:]))  # "Is there a pool?" and "Is it open?"
    if said in {"its", "their"}:
        thing += "'" if thing.endswith("s") else "'s"
    return f"{before}{thing if before else thing[:1].upper() + thing[1:]}{after}"


def _asks(question: str, language: str) -> bool:
    """Say whether a question begins as one, or with a word that links it to what was said and then as one."""
    said = [token.folded for token in tokens_of(question)[:2]]
    words = small_words(language)
    asking = words["ask"] | words["help"]
    return bool(said) and (said[0] in asking or (said[0] in words["link"] and not asking.isdisjoint(said[1:])))
