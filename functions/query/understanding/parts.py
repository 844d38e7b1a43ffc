"""Questions in parts: several questions in one text, two questions joined by "and", and comparisons.

Each part is searched for alone, because no passage may be about all of them. The rules are cautious: "terms and
conditions" is one thing, and a question that is not split is still searched for as a whole.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from functions.query.understanding.question import (
    LEAST,
    MOST,
    SENTENCE_BORDER,
    QuestionPart,
    without_answer_form,
    words_by_language,
)
from shared import identity, lexical

MAX_PARTS = 4
MIN_RARITY = 2.0
"""Rarity of a word that a part can be searched by; each part has one that no other part has."""
MAX_CHARACTERS = 600
"""Longer questions are pasted texts, which are not split."""
MAX_RUN = 6
"""Words of one of the things that are compared at most."""

_TOKEN = re.compile(r"[^\s,;:?!()¿¡]+|[,;:?!()]")
_END = " .?!,;:"
_EXTREME = re.compile(rf"\b(?:{MOST}|{LEAST})\b", re.IGNORECASE)
_OTHER_END = re.compile(
    rf"(?:which|who)(?: one)?(?: is| are| was| were| has| had)?(?: the)? ({MOST}|{LEAST})", re.IGNORECASE
)
"""A part that asks who has the most or least, and does not say of what."""
CUE_BEFORE = 3
"""Words before "and" among which a word such as "between" stands."""


class Token(NamedTuple):
    """A word or a mark of a question, and where it stands."""

    text: str
    folded: str
    start: int
    end: int

    @property
    def is_mark(self) -> bool:
        """Say whether it is punctuation."""
        return self.text in ",;:?!()"

    @property
    def is_name(self) -> bool:
        """Say whether it has a capital letter or a digit."""
        return any(character.isupper() or character.isdigit() for character in self.text)


def parts_of(question: str, language: str) -> Sequence[QuestionPart]:
    """Return the parts of a question, two to four, each a question; nothing if it is one question."""
    language = language or "en"
    words = words_by_language("part_words.txt").get(language)
    if words is None or len(question) > MAX_CHARACTERS:
        return ()
    text = without_answer_form(question, language)
    tokens = tokens_of(text)
    for parts in (
        _several_questions(text, words),
        _joined_questions(text, tokens, words),
        _compared(text, tokens, words, language),
    ):
        chosen = list({part.question: part for part in parts}.values())
        if 2 <= len(chosen) <= MAX_PARTS and _differ([part.question for part in chosen], language):
            return chosen
    return ()


def may_have_parts(question: str, language: str) -> bool:
    """Say whether it is worth asking a model for the parts of a question."""
    words = words_by_language("part_words.txt").get(language or "en", {})
    cues = [words.get(kind, frozenset()) for kind in ("compare", "compared", "versus", "cue")]
    said = frozenset(token.folded for token in tokens_of(question[:MAX_CHARACTERS]))
    return any(said & cue for cue in cues) or bool(parts_of(question, language))


def _several_questions(text: str, words: Mapping[str, frozenset[str]]) -> Sequence[QuestionPart]:
    """Return the sentences that are questions, each after the statements at the beginning, which are its context."""
    sentences = SENTENCE_BORDER.split(text)
    asking = [sentence for sentence in sentences if sentence.endswith("?")]
    if len(asking) < 2 or not all(_asks(tokens_of(sentence), words) for sentence in asking):
        return ()
    context = sentences[: sentences.index(asking[0])]
    return [QuestionPart(_asked(sentence), " ".join((*context, _capital(sentence)))) for sentence in asking]


def _joined_questions(
    text: str, tokens: Sequence[Token], words: Mapping[str, frozenset[str]]
) -> Sequence[QuestionPart]:
    """Return the questions that "and" joins, or commas and then "and": each begins with a word that asks."""
    if not _asks(tokens, words):
        return ()
    borders = [
        at
        for at in range(2, len(tokens) - 2)
        if (tokens[at].folded in words["and"] or tokens[at].text == ",") and tokens[at + 1].folded in words["ask"]
    ]
    if not borders or tokens[borders[-1]].text == ",":
        return ()
    starts = [0, *(tokens[at + 1].start for at in borders)]
    ends = [*(tokens[at].start for at in borders), len(text)]
    parts = [text[start:stop].strip(_END) for start, stop in zip(starts, ends, strict=True)]
    end = "?" if text.endswith("?") else ""
    return [QuestionPart(_asked(part), _capital(_completed(part, parts[0])) + end) for part in parts]


def _asked(part: str) -> str:
    """Return what to call a part that is a question: its words, written as one."""
    return f"{_capital(part.strip(_END))}?"


def _completed(part: str, first: str) -> str:
    """Return a part that only asks for the other end ("and which the lowest") in the words of the first part."""
    other = _OTHER_END.fullmatch(part)
    return _EXTREME.sub(other[1], first, count=1) if other and _EXTREME.search(first) else part


def _compared(
    text: str, tokens: Sequence[Token], words: Mapping[str, frozenset[str]], language: str
) -> Sequence[QuestionPart]:
    """Return one question for each of the things that are compared: the question without the others."""
    for joiner in _joiners(tokens, words):
        left = _run(tokens, joiner.first - 1, -1, joiner.least, language)
        right = _run(tokens, _after_article(tokens, joiner.last + 1, words), 1, len(tokens), language)
        if not left or not right:
            continue
        left, right = _aligned(tokens, left, right)
        if joiner.needs_names and (not _is_named(tokens, left) or _kind(tokens, left) != _kind(tokens, right)):
            continue
        things = [*_listed_before(tokens, left, joiner.least, language), left, right]
        before = text[: joiner.cut] if joiner.cut is not None and joiner.cut < tokens[things[0].start].start else None
        between = joiner.kept + text[joiner.cut_end : tokens[things[0].start].start] if before is not None else ""
        head = text[: tokens[things[0].start].start] if before is None else before + between.lstrip()
        tail = text[tokens[right.stop - 1].end :]
        named = [text[tokens[thing.start].start : tokens[thing.stop - 1].end] for thing in things]
        return [QuestionPart(name, _capital(f"{head}{name}{tail}".strip())) for name in named]
    return ()


class _Joiner(NamedTuple):
    """The words `first` to `last` between two things that are compared; the first one begins at word `least` or later.

    The characters `cut` to `cut_end` only say that a comparison is asked for, but for the words `kept` among them ("the
    difference in revenue between").
    """

    first: int
    last: int
    least: int = 0
    cut: int | None = None
    cut_end: int = 0
    needs_names: bool = False
    kept: str = ""


def _joiners(tokens: Sequence[Token], words: Mapping[str, frozenset[str]]) -> Iterator[_Joiner]:
    for at, token in enumerate(tokens):
        cue = next(
            (tokens[back] for back in range(max(0, at - CUE_BEFORE), at) if tokens[back].folded in words["cue"]), None
        )
        is_between = cue is not None and token.folded in words["between"]
        if is_between or (at < 2 and token.folded in words["compare"]):
            joining = words["and"] if is_between else words["with"]
            found = (to for to in range(at + 2, len(tokens) - 1) if tokens[to].folded in joining)
            # "the difference in revenue between": without "in"
            behind = [each.text for each in tokens[:at] if is_between and cue and each.start > cue.start][1:]
            kept = "".join(f"{word} " for word in behind)
            for to in found:
                start = cue.start if cue is not None and is_between else token.start
                yield _Joiner(to, to, at + 1, _with_article(tokens, start, words), token.end, kept=kept)
        elif 1 <= at < len(tokens) - 1 and token.folded in words.get("versus", ()):
            yield _Joiner(at, at)
        elif 1 <= at < len(tokens) - 2 and token.folded in words["compared"] and tokens[at + 1].folded in words["with"]:
            yield _Joiner(at, at + 1, needs_names=True)


def _with_article(tokens: Sequence[Token], start: int, words: Mapping[str, frozenset[str]]) -> int:
    """Return where the article before the word at this character begins, or the word itself."""
    at = next(number for number, token in enumerate(tokens) if token.start == start)
    return tokens[at - 1].start if at and tokens[at - 1].folded in words.get("article", ()) else start


def _after_article(tokens: Sequence[Token], at: int, words: Mapping[str, frozenset[str]]) -> int:
    """Return the first word from `at` on that is no article, nor one of "that of"."""
    while at < len(tokens) - 1 and tokens[at].folded in words.get("article", ()) and not tokens[at].is_name:
        at += 1
    return at


def _run(tokens: Sequence[Token], at: int, step: int, bound: int, language: str) -> range | None:
    """Return the words of one thing, from `at` on in one direction up to a common word or a mark."""
    end = at
    while (
        (end >= bound if step < 0 else end < bound) and not tokens[end].is_mark and _is_content(tokens[end], language)
    ):
        end += step
    found = range(end + 1, at + 1) if step < 0 else range(at, end)
    return found if 0 < len(found) <= MAX_RUN else None


def _is_content(word: Token, language: str) -> bool:
    if word.is_name or not word.folded.isalpha():
        return True
    table = lexical.background(language)
    return table.get(lexical.stem(word.folded, language), lexical.MAX_RARITY) >= identity.MIN_RARITY


def _aligned(tokens: Sequence[Token], left: range, right: range) -> tuple[range, range]:
    """Leave out what only stands beside one thing and belongs to both: "M250 and M350 batteries"."""
    names_left, names_right = ([tokens[at].is_name for at in span] for span in (left, right))
    length = len(left)
    if len(right) > length and all(names_left) and all(names_right[:length]) and not any(names_right[length:]):
        right = right[:length]
    length = len(right)
    if len(left) > length and all(names_right) and all(names_left[-length:]) and not any(names_left[:-length]):
        left = left[-length:]
    return left, right


def _is_named(tokens: Sequence[Token], span: range) -> bool:
    return any(tokens[at].is_name for at in span)


def _kind(tokens: Sequence[Token], span: range) -> bool:
    """Say whether a thing has a number in it: a year is not compared with a name."""
    return any(character.isdigit() for at in span for character in tokens[at].text)


def _listed_before(tokens: Sequence[Token], left: range, least: int, language: str) -> Sequence[range]:
    """Return the things before the first of two, where commas divide them: "A, B and C"."""
    found: list[range] = []
    while left.start - 2 >= least and tokens[left.start - 1].text == ",":
        before = _run(tokens, left.start - 2, -1, least, language)
        if before is None:
            break
        found.append(before)
        left = before
    return found[::-1]


def tokens_of(text: str) -> Sequence[Token]:
    """Return the words and marks of a text."""
    found = []
    for match in _TOKEN.finditer(text):
        shown = match.group().rstrip(".") or match.group()
        found.append(Token(shown, lexical.fold(shown).casefold(), match.start(), match.start() + len(shown)))
    return found


def _asks(sentence: Sequence[Token], words: Mapping[str, frozenset[str]]) -> bool:
    """Say whether a sentence begins with a word that asks, or with "and" and one."""
    first, *others = [token.folded for token in sentence[:2]] or [""]
    return first in words["ask"] or (first in words["and"] and not words["ask"].isdisjoint(others))


def _differ(parts: Sequence[str], language: str) -> bool:
    """Say whether each part has words to search for, or asks for an end, that no other part has."""
    stems = [_rare_stems(part, language).union(_EXTREME.findall(part)) for part in parts]
    return all(own.difference(*stems[:at], *stems[at + 1 :]) for at, own in enumerate(stems))


def _rare_stems(text: str, language: str) -> frozenset[str]:
    table = lexical.background(language) or lexical.background("en")
    stems = (terms[0][0] for terms in lexical.words_of(text, language) if terms)
    return frozenset(stem for stem in stems if table.get(stem, lexical.MAX_RARITY) >= MIN_RARITY)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
