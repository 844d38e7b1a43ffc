"""The fixed sentences of answers, by language, from one JSON file each under `texts/`; and language names."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple

from functions.query.grounding.sanitizing import plain_name
from functions.query.retrieval.passages import Passage
from functions.query.understanding.question import TEXTS, lines_of, reviewed_text
from shared.lexical import fold
from shared.models import PageStart
from shared.settings import Settings

_NAMES = {
    "ar": "Arabic العربية", "bg": "Bulgarian български", "ca": "Catalan català", "cs": "Czech čeština česky",
    "da": "Danish dansk", "de": "German Deutsch", "el": "Greek ελληνικά", "en": "English",
    "es": "Spanish español castellano", "et": "Estonian eesti", "fi": "Finnish suomi suomeksi",
    "fr": "French français", "he": "Hebrew עברית", "hi": "Hindi हिन्दी", "hr": "Croatian hrvatski",
    "hu": "Hungarian magyar magyarul", "it": "Italian italiano", "ja": "Japanese 日本語", "ko": "Korean 한국어",
    "lt": "Lithuanian lietuvių lietuviškai", "lv": "Latvian latviešu latviski", "nl": "Dutch Nederlands",
    "no": "Norwegian norsk bokmål", "pl": "Polish polski polsku", "pt": "Portuguese português",
    "ro": "Romanian română", "ru": "Russian русский русском русски", "sk": "Slovak slovenčina slovensky",
    "sl": "Slovenian slovenščina slovensko", "sv": "Swedish svenska", "th": "Thai ไทย", "tr": "Turkish Türkçe",
    "uk": "Ukrainian українська українською", "zh": "Chinese 中文 汉语 漢語",
}  # fmt: skip
"""Languages of answers: their English name, then their own. Fixed sentences exist for some of them."""


class Texts(NamedTuple):
    """The fixed sentences of one language."""

    language_name: str
    no_relevant_info: str
    handoff_offer: str
    dont_know: str
    not_mentioned: str
    not_about: str
    printed: str
    unconfirmed: str
    left_out: str
    counted: str
    first_shown: str
    unsure: str
    further: str
    left_open: str
    none_meets: str
    part_not_found: str
    part_unavailable: str
    search_incomplete: str
    all_in_others: str
    most_in_others: str
    languages: Mapping[str, str]
    withheld: str
    erased: str
    only_english: str = ""


@cache
def languages() -> frozenset[str]:
    """Return the language codes that texts are shipped for."""
    return frozenset(path.stem for path in TEXTS.glob("*.json"))


@cache
def texts_for(language: str, default: str = "en") -> Texts:
    """Return the texts of `language` ("lt", "lt-LT"), of `default` if it is empty; English where none are shipped."""
    chosen = _code(language) or default
    if chosen not in languages():
        chosen = "en"
    return Texts(**json.loads(reviewed_text(f"{chosen}.json")))


def language_name(language: str, default: str = "en") -> str:
    """Return a language's English name; the `default`'s if the language is not known."""
    return _NAMES.get(_code(language), _NAMES.get(_code(default), "English")).split()[0]


def _own_name(language: str) -> str:
    """Return what a language calls itself, its code if it is not known."""
    return next(iter(_NAMES.get(_code(language), "").split()[1:2]), "") or _NAMES.get(_code(language), language)


def comparable(sentence: str) -> str:
    """Return a sentence in a form for comparison: case, apostrophes, outer punctuation and spaces are normalised."""
    return " ".join(sentence.replace("’", "'").casefold().split()).strip(" .!\"'*_")


def language_code_of(wish: str) -> str:
    """Return the code of a language given as "lt", "lt-LT", "Lithuanian", "lietuvių" or "in Lithuanian".

    Empty if the name is unknown or several languages are named.
    """
    code = _code(wish.strip())
    if code in _NAMES:
        return code
    named = {_codes_by_name().get(word, "") for word in re.split(r"[\s.,;:!?/()\"'-]+", _plain(wish))} - {""}
    return named.pop() if len(named) == 1 else ""


@cache
def _codes_by_name() -> Mapping[str, str]:
    return {_plain(name): code for code, names in _NAMES.items() for name in names.split()}


def _plain(name: str) -> str:
    return fold(name).casefold()


def _code(language: str) -> str:
    return language.replace("_", "-").split("-")[0].lower()


# --- Refusals, and recognising a model's own words for "I do not know" ---

Refusal = Literal["no_relevant_info", "not_mentioned", "model_does_not_know", "nothing_proven"]
"""Which step found nothing: the search; the comparison of the question's words with the sources, which are near it; the
model that read them; or the verification, which left no claim."""

MAX_WORDS_SHOWN = 3
_COMPARED_CHARACTERS = 400
_COURTESY = "+ "
_NAMED = "SOURCES"
_LEAD = r"\W*(?:[^.!?;:\n]{0,80},\s+)?(?:(?:but|however|unfortunately|sorry|bet|deja|aber|leider|mais|pero|ale),?\s+)*"
"""What may precede such a sentence: "Based on the sources,", "I'm sorry, but"."""


def refusal_text(kind: Refusal, language: str, settings: Settings) -> str:
    """Return the text of a refusal, with the offer of a person's help if that is configured."""
    texts = texts_for(language, settings.default_language)
    text = texts.no_relevant_info if kind == "no_relevant_info" else texts.dont_know
    return _offering(text, texts, language, settings)


def incomplete_text(refusal: str, language: str, settings: Settings) -> str:
    """Return a refusal's text with the sentence that a part of the search failed."""
    return f"{refusal} {texts_for(language, settings.default_language).search_incomplete}"


def in_others_text(refusal: str, spoken: Sequence[str], *, are_all: bool, language: str, settings: Settings) -> str:
    """Return a refusal's text with the sentence that the documents are in other languages, the first one mostly."""
    texts = texts_for(language, settings.default_language)
    names = [texts.languages.get(each) or _own_name(each) for each in spoken]
    sentence = texts.all_in_others if are_all else texts.most_in_others
    return f"{refusal} {sentence.format(languages=', '.join(names), first=names[0])}"


def not_mentioned_text(
    words: Sequence[str], nearest: Passage, page: PageStart, language: str, settings: Settings
) -> str:
    """Return the text of a refusal of words that no source mentions, with the place of what is nearest."""
    texts = texts_for(language, settings.default_language)
    return _offering(_about_nearest(texts.not_mentioned, words, nearest, page, texts), texts, language, settings)


def not_about_text(names: Sequence[str], nearest: Passage, language: str, settings: Settings) -> str:
    """Return the text of a refusal of names and years that no passage is about, with the place of what is nearest."""
    texts = texts_for(language, settings.default_language)
    page = nearest.page_at(nearest.char_start)
    return _offering(_about_nearest(texts.not_about, names, nearest, page, texts), texts, language, settings)


def _about_nearest(sentence: str, words: Sequence[str], nearest: Passage, page: PageStart, texts: Texts) -> str:
    return sentence.format(
        words=", ".join(f"“{word}”" for word in words[:MAX_WORDS_SHOWN]),
        place=plain_name(nearest.title or nearest.key.rsplit("/", 1)[-1]),
        page=page_name(page, texts),
    )


def page_name(page: PageStart, texts: Texts, *, set_off: bool = False) -> str:
    """Return a page's number as a viewer counts, and the printed one where that is another: "15, printed 13".

    `set_off` puts the printed one into brackets, for the middle of a sentence: "15 (printed 13)".
    """
    if page.label in ("", str(page.number)):
        return str(page.number)
    printed = texts.printed.format(label=page.label)
    return f"{page.number} ({printed})" if set_off else f"{page.number}, {printed}"


def _offering(refusal: str, texts: Texts, language: str, settings: Settings) -> str:
    return with_language_note(f"{refusal} {texts.handoff_offer}" if settings.handoff_offer else refusal, language)


def with_language_note(text: str, language: str) -> str:
    """Say, after a fixed text in English, that there is none in `language`, if that is so."""
    if not language or _code(language) in languages():
        return text
    return f"{text} {texts_for('en').only_english}"


_OF_ITSELF = re.compile(r"\b(?:I|ich|je|yo|aš|[Ll]et me)\b")


def is_remark(sentence: str) -> bool:
    """Say whether a sentence without a source is the model speaking of itself: "I hope this helps." claims nothing."""
    return _OF_ITSELF.search(sentence) is not None


def without_notes(answer: str) -> str:
    """Return an answer without what was added to its claims: marks, a count, a heading, what is left out."""
    for texts in map(texts_for, languages()):
        answer = answer.removesuffix(f"\n\n{texts.left_out}")
        for note in (texts.first_shown, texts.counted):
            counted = r"\d+".join(map(re.escape, re.split(r"\{\w+\}", note)))
            answer = re.sub(rf"\n\n{counted}\Z", "", answer)
        answer = (
            answer.removeprefix(f"{texts.left_open}\n\n")
            .removeprefix(f"{texts.none_meets}\n\n")
            .replace(f"\n\n{texts.further}\n", "\n")
            .replace(f" {texts.unconfirmed}", "")
        )
    return answer


def says_it_does_not_know(sentences: Iterable[str]) -> bool:
    """Say whether a model's ungrounded sentences only say that the sources do not contain the answer."""
    ignorance, courtesy = _phrases()
    found = False
    for sentence in sentences:
        if ignorance.has(sentence):
            found = True
        elif not courtesy.has(sentence):
            return False
    return found


class _Phrases(NamedTuple):
    sentences: frozenset[str]
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, sentences: Iterable[str], patterns: Iterable[str]) -> "_Phrases":
        joined = "|".join(f"(?:{pattern})" for pattern in patterns)
        return cls(frozenset(map(comparable, sentences)), re.compile(f"{_LEAD}(?:{joined})", re.IGNORECASE))

    def has(self, sentence: str) -> bool:
        folded = " ".join(fold(sentence[:_COMPARED_CHARACTERS].replace("’", "'")).split())
        return comparable(sentence) in self.sentences or self.pattern.match(folded) is not None


@cache
def _phrases() -> tuple[_Phrases, _Phrases]:
    """Return the phrases for "I do not know", and the polite ones that may accompany them."""
    lines = lines_of("dont_know_patterns.txt", comment="# ")
    definition = f"{_NAMED} = "
    named = next(line.removeprefix(definition) for line in lines if line.startswith(definition))
    patterns = [line.replace(_NAMED, named) for line in lines if not line.startswith(definition)]
    known = [texts_for(language) for language in languages()]
    return (
        _Phrases.of(
            (text for texts in known for text in (texts.dont_know, texts.no_relevant_info)),
            (pattern for pattern in patterns if not pattern.startswith(_COURTESY)),
        ),
        _Phrases.of(
            (texts.handoff_offer for texts in known),
            (pattern.removeprefix(_COURTESY) for pattern in patterns if pattern.startswith(_COURTESY)),
        ),
    )
