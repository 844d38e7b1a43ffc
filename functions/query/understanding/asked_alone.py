"""Completing a follow-up that is nothing but a question word: "Why?", "And how many?", about what was asked before."""

from collections.abc import Sequence

from functions.query.understanding.parts import tokens_of
from functions.query.understanding.phrases import Phrase, Sentence, small_words

MIN_WORDS = 3
"""Words of a question at least that another question word can ask, with its mark; of one with a subject, a verb and
what it is asked of, behind the first word."""


def is_plural(word: str) -> bool:
    """Say whether an English noun is in the plural, by its ending."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def with_question_word(question: str, last: Sentence, language: str) -> str:
    """Return the last question with another question word; "" if the follow-up has more words, or it is not clear how.

    "Does it rain?" and "Why?" are "Why does it rain?", "When is it cold?" and "Where?" are "Where is it cold?"; with
    "How many?" what it is asked of must be clear: "Does the zoo have lions?".
    """
    words = small_words(language)
    asking = [token for token in tokens_of(question) if not (token.is_mark or token.folded in words["link"])]
    said = "_".join(token.folded for token in asking)
    if len(last.tokens) < MIN_WORDS or said not in words.get("alone", frozenset()) | words.get("many", frozenset()):
        return ""
    asked = question[asking[0].start : asking[-1].end].capitalize()
    if said in words.get("many", ()):
        return _with_number(asked, last, language)
    first, second = last.tokens[:2]
    if first.folded in words["alone"] and first.folded != said and second.folded in words["help"]:
        return f"{asked} {last.text[second.start :]}" if "_" not in said else ""
    if first.folded not in words["help"]:
        return ""
    rest = f"{last.text[:1].lower()}{last.text[1:]}"
    if not said.endswith("_not"):
        return f"{asked} {rest}"
    subject = next((each for each in last.phrases if each.first == 1), None)
    if subject is None:
        return ""
    end = last.tokens[subject.stop - 1].end
    return f"{asked.partition(' ')[0]} {rest[:end]} not{rest[end:]}"


def _with_number(asked: str, last: Sentence, language: str) -> str:
    """Return how many there are of what the last question asks about in the plural; "" if that is not clear."""
    words = small_words(language)
    first = last.tokens[0]
    if first.folded in words["noun"] and any(each.first == 1 for each in _in_plural(last)):
        return f"{asked} {last.text[last.tokens[1].start :]}"
    thing = _counted(last, language) if first.folded in words["help"] else None
    if thing is None:
        return ""
    start, stop = thing
    before = last.tokens[start - 1 - (last.tokens[start - 1].folded in words["article"])]
    if before.is_mark or before.folded in words["link"]:
        return ""  # "lions and tigers"
    without = last.with_words(start - (last.tokens[start - 1].folded in words["article"]), stop, "")
    return f"{asked} {last.words(start, stop)} {without[:1].lower()}{' '.join(without[1:].split())}".replace(" ?", "?")


def _counted(last: Sentence, language: str) -> tuple[int, int] | None:
    """Return the words of what there are several of: the last thing, or what stands behind "there", or a verb."""
    words = small_words(language)
    if things := _in_plural(last):
        return things[-1].start + things[-1].has_article, things[-1].stop
    is_small = [token.is_mark or token.folded in words["border"] | words["prep"] for token in last.tokens]
    begin = 1 + (last.tokens[1].folded in words["article"] | words["held"])
    stop = next((at for at in range(begin, len(is_small)) if is_small[at]), begin)
    if stop == begin or not is_plural(last.tokens[stop - 1].folded):
        return None
    if last.tokens[1].folded in words["held"]:
        return begin, stop
    # A subject of one word and a verb: "Does the zoo own lions?"
    return (stop - 1, stop) if stop - begin == MIN_WORDS else None


def _in_plural(last: Sentence) -> Sequence[Phrase]:
    """Return the things in the plural, without those behind a preposition."""
    return [
        each
        for each in last.phrases
        if each.kind == "plain" and not each.prep and is_plural(last.tokens[each.stop - 1].folded)
    ]
