"""Checks whether a claim contradicts the sentences it cites: by a negation, an antonym, or a changed number."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from functions.query.grounding.facts import facts_in
from functions.query.grounding.known_facts import known_facts, missing_facts
from functions.query.grounding.words import (
    LONGEST_COMPARED_TOKENS,
    content_stems,
    has_digit,
    is_stop_word,
    stem_of,
    stems_of,
    tokens_of,
    with_synonyms,
)
from functions.query.understanding.question import lines_of, word_lists
from shared.dates import is_year
from shared.lexical import fold

# --- negations and antonyms ---

Reversal = Literal["", "likely", "certain"]
LIKELY_SHARE = 0.6
CERTAIN_SHARE = 0.75
"""Share of a claim's content words that a sentence must contain for a likely or certain contradiction."""

MIN_PART_WORDS = 3
"""Content words from which a part of a claim, joined by ", and" or the like, is compared on its own."""

_EXCEPTIONS = word_lists("claim_words.txt")["excepting"]
_DENYING = word_lists("claim_words.txt")["denying"]
"""Words of a sentence of which a claim may say with a negation what is not so: "rejected the move", "will not move"."""
_JOINED = re.compile(r";\s|,\s(?:and|but|while|whereas|although|though|with)\s", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NEGATING_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "ne", "nebe")
_NEXT_CLAUSE = word_lists("claim_words.txt")["next_clause"]
"""Words that begin another clause, to which the denial of a verb does not reach."""
_OF_NOUNS = frozenset(("no", "none", "without", "nor", "neither"))
"""Negations of a noun."""
_WITH = frozenset(("with", "without"))
_MODAL_ADJECTIVES = frozenset(("need", "able", "possible", "going", "supposed", "longer"))
"""Words after a negation that is of the verb behind them: "not able to manage", "no longer valid"."""
_SHARES = word_lists("claim_words.txt")["shares"]
"""Nouns whose denial is that of what they are a part in: "had no role in the design"."""
_AUXILIARIES = word_lists("claim_words.txt")["auxiliaries"]
WORDS_BEFORE = 3
WORDS_AFTER = 2
"""Words before and behind the closest part of a sentence in which its negation may stand."""
FIRST_WORDS = 3
"""Words of a claim among which the number stands that says what it is about."""


def _read_opposites() -> tuple[frozenset[str], dict[str, set[tuple[int, int]]]]:
    """Return the negations, and each antonym's stem with its lines and sides in the file."""
    negations: frozenset[str] = frozenset()
    sides: dict[str, set[tuple[int, int]]] = {}
    for number, line in enumerate(lines_of("opposites.txt")):
        groups = [group.split() for group in line.split("|")]
        if groups[0][:1] == ["not"]:
            negations = frozenset(groups[0])
            continue
        for side, words in enumerate(groups):
            for word in words:
                sides.setdefault(stem_of(word, "en"), set()).add((number, side))
    return negations, sides


def _sides_of(word: str) -> set[tuple[int, int]]:
    return _ANTONYM_SIDES.get(stem_of(word, "en"), set())


_NEGATIONS, _ANTONYM_SIDES = _read_opposites()


_ECHOED = frozenset(("no", "non", "ne"))
_ECHOING = word_lists("claim_words.txt")["echoing"]
"""Negations of French, Spanish and Italian, and those that only repeat them: "ne … pas", "no … nunca"."""


def is_negation(word: str) -> bool:
    """Return whether a word (folded, in lower case) negates."""
    return word in _NEGATIONS or (word.endswith(("n't", "nt")) and word[:-2].rstrip("'n") in _AUXILIARIES)


def is_verb_negation(word: str) -> bool:
    """Return whether a word (folded, in lower case) negates a verb, not a noun: "not", but not "without"."""
    return is_negation(word) and word not in _OF_NOUNS


def count_negations(words: Sequence[str]) -> int:
    """Return how many of the words (folded, in lower case) negate; one that repeats another adds nothing."""
    count = sum(map(is_negation, words))
    if not _ECHOED.isdisjoint(words):
        count -= sum(word in _ECHOING for word in words)
    nors = words.count("nor")
    return count - nors if count > nors else count


def has_opposite(word: str) -> bool:
    """Return whether a word (folded, in lower case) has an antonym."""
    return bool(_sides_of(word))


def are_opposite(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether a word (folded, in lower case) of one text has an antonym in the other."""
    said, held = frozenset(mine), frozenset(theirs)
    return any(_is_opposed(word, said, held) for word in said) or any(_is_opposed(word, held, said) for word in held)


def are_opposite_anywhere(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return the same of texts whose words are not in the same places, where "with" says nothing of a "without"."""
    return are_opposite(*([word for word in words if word not in _WITH] for words in (mine, theirs)))


def direction_of(word: str) -> int:
    """Return 1 for a word (folded, in lower case) of rising, -1 for one of falling, 0 for any other."""
    sides = {side for line, side in _sides_of(word) if (line, 0) in _sides_of("increase")}
    return 0 if len(sides) != 1 else 1 - 2 * sides.pop()


_LIMITS = tuple(
    (
        re.compile(rf"\bnot? (?:\w+ ){{0,3}}?(?:{denied})\b", re.IGNORECASE),
        re.compile(rf"\b(?:{said})\b", re.IGNORECASE),
    )
    for denied, said in (
        ("(?:more|longer|later|higher) than", "up to|at most|maximum|until|limit(?:ed)? (?:is|to)|max"),
        ("(?:less|fewer|earlier|lower) than", "at least|minimum|from|min"),
        (r"longer\b(?! than)", "within|until|up to|during|in the first|for the first"),
        (r"later than\b[^.;]*\b(?:in advance|before|ahead)", "at least|minimum"),
    )
)
"""What denies that something is beyond a limit ("will not pay more than 7%"), and what states such a limit."""
_FROM_OR_TO = re.compile(r"\b(from|to)[\s$€£¥]*\Z", re.IGNORECASE)


def moves_against_its_word(claim: str) -> bool:
    """Return whether a claim calls the move from one number to another a rise though it falls, or the other way round.

    "Sales fell to $200 million from $87 million."
    """
    text = fold(claim)
    facts = (fact for fact in facts_in(claim) if fact.kind == "number" and fact.values and not fact.negative)
    numbers = [fact for fact in facts if fact.unit or not is_year(fact.text)]
    end = 0
    for first, second in pairwise(numbers):
        before, end = text[end : first.start], second.start
        ways = [match and match[1].lower() for match in map(_FROM_OR_TO.search, (before, text[: second.start]))]
        words = [word.lower() for word in _WORD.findall(before)]
        direction = next(
            (way for word in reversed(words) if not word.startswith("loss") and (way := direction_of(word))), 0
        )
        if not direction or first.unit != second.unit or sorted(map(str, ways)) != ["from", "to"]:
            continue
        old, new = (first, second) if ways[0] == "from" else (second, first)
        if {(a > b) - (a < b) for a in new.values for b in old.values} == {-direction}:
            return True
    return False


def reversal(claim: str, sentences: Sequence[str], language: str) -> Reversal:
    """Return whether a claim says the opposite of the sentence nearest to it.

    "certain" if nearly all its content words are in the sentence, with one negation more or fewer or with an antonym;
    "likely" if most are. Sentences that share few words with the claim are ignored.
    """
    parts = [part for part in _JOINED.split(claim) if len(content_stems(part, language)) >= MIN_PART_WORDS]
    plain = _without_negations(_words(claim))
    is_copy = any(_without_negations(_words(sentence)) == plain for sentence in sentences)
    whole = parts if len(parts) > 1 and not is_copy else [claim]
    return max((_part_reversal(part, sentences, language) for part in whole), key=("", "likely", "certain").index)


def _part_reversal(claim: str, sentences: Sequence[str], language: str) -> Reversal:
    said = frozenset(content_stems(claim, language)) - _negation_stems(language)
    texts = [nearest_piece(each, said, language) for each in sentences]
    found = [result for each in texts if (result := _reversal(claim, each, said, language)) is not None]
    # One sentence that agrees is enough: a source may say something in two ways.
    return max(found, key=("likely", "certain").index) if found and all(found) else ""


def nearest_piece(sentence: str, said: frozenset[str], language: str) -> str:
    """Return the part of a sentence between semicolons that alone holds a claim's words, but for those with opposites.

    `said`: the stems of the claim. Without such a part it is the whole sentence.
    """
    if "; " not in sentence:
        return sentence
    held = said.intersection(content_stems(sentence, language))
    held -= {stem for word in _words(sentence) if has_opposite(word) for stem in stems_of(word, language)}
    pieces = [piece for piece in sentence.split("; ") if held and held <= frozenset(content_stems(piece, language))]
    return pieces[0] if len(pieces) == 1 else sentence


def _states_limit(claim: str, sentence: str) -> bool:
    """Return whether a claim denies what is beyond a limit that the sentence states: "not more than", "up to"."""
    return any(denied.search(claim) and said.search(sentence) for denied, said in _LIMITS)


def _reversal(claim: str, sentence: str, said: frozenset[str], language: str) -> Reversal | None:
    """Compare a claim with one sentence; None if they share too few words."""
    mine, theirs = _words(claim), _words(sentence)
    if _without_negations(mine) == _without_negations(theirs):
        return "certain" if count_negations(mine) % 2 != count_negations(theirs) % 2 else ""
    if len(said) < 2:
        return None
    held = frozenset(content_stems(sentence, language))
    share = len(said & held) / len(said)
    # A word whose antonym is in the sentence does not count as missing.
    words, others = frozenset(mine) - _WITH, frozenset(theirs) - _WITH
    opposed = {word for word in words if _is_opposed(word, words, others)}
    rest = said - {stem for word in opposed for stem in content_stems(word, language)}
    share = max(share, len(rest & held) / len(rest) if len(rest) > 1 else share)
    if share < LIKELY_SHARE:
        return None
    begin, end = _closest_part(theirs, said, language)
    wide = theirs[max(0, begin - WORDS_BEFORE) : end + WORDS_AFTER]
    parity = count_negations(mine) % 2
    negated = parity not in {count_negations(part) % 2 for part in (theirs[begin:end], wide)}
    # Farther away, a negation may be of something else: "… and no changes were made".
    agrees = parity == count_negations(theirs) % 2
    negated = negated and not (agrees and said & _negated_stems(theirs, language))
    negated = negated and denies_what_other_says(mine, wide, language)
    opposite = are_opposite_anywhere(mine, wide)
    if not negated and not opposite:
        return ""
    differs = parity != count_negations(wide) % 2
    if opposite and differs and are_opposite_anywhere(_without_negations(mine), _without_negations(theirs)):
        denied = _negated_stems(mine, language) | _negated_stems(theirs, language)
        turned = opposed | {word for word in others if _is_opposed(word, others, words)}
        if any(denied & stems_of(word, language) for word in turned):
            return ""  # "not allowed" is "prohibited"; "with" and "without" are negations themselves
        if negated:
            return "likely"
    if negated and others & _EXCEPTIONS:
        return "likely"  # "all but those of X are asked": "those of X are not asked"
    if negated and others & _DENYING and count_negations(mine) > count_negations(theirs):
        return "likely"
    if negated and not opposite and (agrees or _states_limit(claim, sentence)):
        return "likely"
    if _is_about_another(claim, sentence):
        return "likely"
    repeated = len(set(mine) & set(theirs)) / max(1, len(set(mine)))
    # A negation that only the claim has was added; one that it lacks may be paraphrased.
    added = count_negations(mine) > 0 and not count_negations(theirs)
    near = max(share, repeated) if opposite else repeated
    return "certain" if added or near >= CERTAIN_SHARE else "likely"


def _is_about_another(claim: str, sentence: str) -> bool:
    """Return whether a claim and a sentence begin with different numbers: "Version 8.1 gets …", "Version 7 gets …"."""
    numbers = [
        next((word for word in tokens_of(text)[:FIRST_WORDS] if has_digit(word)), "") for text in (claim, sentence)
    ]
    return all(numbers) and numbers[0] != numbers[1]


def denies_what_other_says(mine: Sequence[str], theirs: Sequence[str], language: str) -> bool:
    """Return whether a text negates a word that the other has, too; what else it denies may be left out or added."""
    texts = (mine, theirs)
    said = [frozenset(stem for word in text for stem in content_stems(word, language)) for text in texts]
    negated = [_negated_stems(text, language) for text in texts]
    changed = negated[0] ^ negated[1]
    known = (said[0] & said[1]) | with_synonyms(said[0], said[1], language) | with_synonyms(said[1], said[0], language)
    return not changed or bool(changed & known)


def _negated_stems(words: Sequence[str], language: str) -> frozenset[str]:
    """Return the stem of the first content word after each negation, of the last one before it if none follows.

    What an "or" adds is denied, too: "may not paint walls or put up shelves".
    """
    found: set[str] = set()
    negated = False
    for at, word in enumerate(words):
        negated = is_verb_negation(word) or (negated and word not in _NEXT_CLAUSE)
        if is_negation(word) or (negated and word in {"or", "nor"}):
            after = (
                stems
                for other in words[at + 1 :]
                if other not in _MODAL_ADJECTIVES and other not in _SHARES and (stems := stems_of(other, language))
            )
            before = (stems for other in reversed(words[:at]) if (stems := stems_of(other, language)))
            found |= next(after, next(before, frozenset()))
    return frozenset(found)


def _is_opposed(word: str, mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Return whether the other text has an antonym of a word, but not the word itself."""
    if word in theirs:
        return False
    forms = [] if is_stop_word(word) else [f"{prefix}{word}" for prefix in _NEGATING_PREFIXES]
    if any(form in theirs and form not in mine for form in forms):
        return True

    def has(tokens: frozenset[str], line: int, side: int) -> bool:
        return any((line, side) in _sides_of(token) for token in tokens)

    return any(
        has(theirs, line, 1 - side) and not has(theirs, line, side) and not has(mine, line, 1 - side)
        for line, side in _sides_of(word)
    )


def _closest_part(tokens: Sequence[str], said: frozenset[str], language: str) -> tuple[int, int]:
    """Return the shortest part of a sentence that contains all the claim's words in it."""
    places = [
        (at, stem) for at, token in enumerate(tokens) for stem in said.intersection(content_stems(token, language))
    ]
    wanted = {stem for _, stem in places}
    best = (0, len(tokens))
    for first, (begin, _) in enumerate(places):
        lacking = set(wanted)
        for at, stem in places[first:]:
            lacking.discard(stem)
            if not lacking:
                if at + 1 - begin < best[1] - best[0]:
                    best = (begin, at + 1)
                break
    return best


def _without_negations(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if token not in _NEGATIONS]


@lru_cache(maxsize=1_024)
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(fold(text).lower().replace("’", "'")))


@lru_cache(maxsize=8)
def _negation_stems(language: str) -> frozenset[str]:
    return frozenset(stem for word in _NEGATIONS for stem in stems_of(word, language))


# --- near copies: a claim that copies a sentence with one number or word changed ---

NEAR_COPY_SHARE = 0.75
"""Share of equal words, in order, from which a claim counts as a copy of a sentence."""


def near_copy_conflict(claim: str, sentences: Sequence[str]) -> Literal["", "number", "negation"]:
    """Return whether a claim copies a sentence with other numbers or an antonym, and none unchanged."""
    found: Literal["", "number", "negation"] = ""
    said = tokens_of(claim)
    if len(said) > LONGEST_COMPARED_TOKENS:
        return ""
    for sentence in sentences:
        held = tokens_of(sentence)
        if said == held:
            return ""
        if len(held) > LONGEST_COMPARED_TOKENS:
            continue
        if sum((Counter(said) & Counter(held)).values()) < NEAR_COPY_SHARE * len(said):
            continue
        matcher = SequenceMatcher(None, said, held, autojunk=False)
        if sum(block.size for block in matcher.get_matching_blocks()) < NEAR_COPY_SHARE * len(said):
            continue
        replaced = list(_replaced(matcher, said, held))
        if _are_numbers_reordered(said, held) or any(_is_another_number(mine, theirs) for mine, theirs in replaced):
            found = "number"
        elif any(are_opposite(mine[:-1], theirs[:-1]) for mine, theirs in replaced):
            found = "negation"
        else:
            return ""
    return found


def _replaced(
    matcher: "SequenceMatcher[str]", said: Sequence[str], held: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield the replaced words of both texts, each with the next word, which may be a number's unit.

    A word that the sentence has elsewhere after the same word was moved: "in March 2021".
    """
    ends = ("", "")
    pairs = set(pairwise(held))
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        if kind == "replace" and not (end == start + 1 and start and (said[start - 1], said[start]) in pairs):
            yield (*said, *ends)[start : end + 1], (*held, *ends)[other_start : other_end + 1]


def _are_numbers_reordered(said: Sequence[str], held: Sequence[str]) -> bool:
    """Return whether a claim has a sentence's numbers in another order: "from 7 to 5" for "from 5 to 7"."""
    mine, theirs = ([re.sub(r"[^\d.]", "", each) for each in tokens if has_digit(each)] for tokens in (said, held))
    if not set(mine) <= set(theirs):
        return False
    # A date may stand before or after another number.
    parts = [
        ([each for each in numbers if is_year(each) == years] for numbers in (mine, theirs)) for years in (True, False)
    ]
    if all(_is_in_order(*part) for part in parts):
        return False
    # Two parts of a sentence may swap places together with their numbers.
    return not _numbers_in_context(said) <= _numbers_in_context(held)


def _is_in_order(numbers: Sequence[str], others: Sequence[str]) -> bool:
    rest = iter(others)
    return all(number in rest for number in numbers)


def _numbers_in_context(tokens: Sequence[str]) -> set[tuple[str, ...]]:
    """Return each number with the content word before it."""
    words = [token for token in tokens if has_digit(token) or content_stems(token)]
    return {(*words[max(0, at - 1) : at], word) for at, word in enumerate(words) if has_digit(word)}


def _is_another_number(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    number, other = mine[0], theirs[0]
    if number != other and number.replace(".", ",") == other.replace(".", ",") and number[:1].isdigit():
        return True  # 4.321 for 4,321 in the same sentence
    said, held = " ".join(mine), " ".join(theirs)
    if not facts_in(said) or not facts_in(held):
        return False
    return bool(missing_facts(said, known_facts([held], held)) and missing_facts(held, known_facts([said], said)))
