"""Are a claim's words those of its proof, or does it say something of its own?"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby
from typing import Literal

from functions.query.grounding.facts import evidence_of, facts_in, missing
from functions.query.grounding.polarity import are_opposite
from functions.query.grounding.quotes import Stretch
from functions.query.grounding.words import content_stems, stems_of, with_synonyms
from shared.lexical import fold

# --- A claim that repeats a sentence but for a word: every word of it may stand there, and it is false all the same ---

ALIKE = 0.75
"""Share of equal words, in order, from which on a claim is taken to repeat a sentence."""
MOST_WORDS = 150

_TOKEN = re.compile(r"(?:(?<!\d)[-−])?[$€£¥]?\d+(?:[.,:]\d+)*%?|[^\W\d_]+(?:['’][^\W\d_]+)?|\w+")


def repeats(claim: str, sentences: Sequence[str]) -> bool:
    """Say whether a claim is one of the sentences, word for word and number for number."""
    said = tokens_of(claim)
    return any(said == tokens_of(sentence) for sentence in sentences)


def contradiction(claim: str, sentences: Sequence[str]) -> Literal["", "number", "negation"]:
    """Say whether a claim repeats some sentence with other numbers or the opposite in it, and none as it is."""
    found: Literal["", "number", "negation"] = ""
    said = tokens_of(claim)
    if len(said) > MOST_WORDS:
        return ""
    for sentence in sentences:
        held = tokens_of(sentence)
        if said == held:
            return ""
        if len(held) > MOST_WORDS:
            continue
        matcher = SequenceMatcher(None, said, held, autojunk=False)
        if matcher.quick_ratio() < 0.5 or sum(b.size for b in matcher.get_matching_blocks()) < ALIKE * len(said):
            continue
        if _reordered(said, held):
            found = "number"
            continue
        replaced = list(_replaced(matcher, said, held))
        if any(_differ(" ".join(mine), " ".join(theirs)) or _regrouped(mine, theirs) for mine, theirs in replaced):
            found = "number"
        elif any(are_opposite(mine[:-1], theirs[:-1]) for mine, theirs in replaced):
            found = "negation"
        else:
            return ""
    return found


def _replaced(
    matcher: "SequenceMatcher[str]", said: Sequence[str], held: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield the words of one text that stand in the place of others, with the next word: it may be a number's unit."""
    ends = ("", "")
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        if kind == "replace":
            yield (*said, *ends)[start : end + 1], (*held, *ends)[other_start : other_end + 1]


def _reordered(said: Sequence[str], held: Sequence[str]) -> bool:
    """Say whether a claim has a sentence's numbers in another order: "from 7 to 5" for "from 5 to 7"."""
    mine, theirs = _numbers(said), _numbers(held)
    if not set(mine) <= set(theirs):
        return False
    rest = iter(theirs)
    if all(number in rest for number in mine):
        return False
    # Two parts of a sentence may change places with their numbers in them.
    return not _neighbours(said) <= _neighbours(held)


def _neighbours(tokens: Sequence[str]) -> set[tuple[str, ...]]:
    """Return each number with the word before it and the word behind it that carry meaning."""
    words = [token for token in tokens if any(map(str.isdigit, token)) or content_stems(token)]
    found = set()
    for at, word in enumerate(words):
        if any(map(str.isdigit, word)):
            found.add(("before", *words[max(0, at - 1) : at], word))
    return found


def _numbers(tokens: Sequence[str]) -> list[str]:
    return [re.sub(r"[^\d.]", "", token) for token in tokens if any(map(str.isdigit, token))]


def _regrouped(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Say whether a point became a comma or a comma a point: 4.321 for 4,321 in the same sentence is another number."""
    number, other = mine[0], theirs[0]
    return number != other and number.replace(".", ",") == other.replace(".", ",") and number[:1].isdigit()


def _differ(mine: str, theirs: str) -> bool:
    if not facts_in(mine) or not facts_in(theirs):
        return False
    return bool(missing(mine, evidence_of([theirs], theirs))) and bool(missing(theirs, evidence_of([mine], mine)))


@lru_cache(maxsize=512)
def tokens_of(text: str) -> tuple[str, ...]:
    """Return the words and numbers of a text, folded, in lower case, in order."""
    return tuple(fold(match.group()).lower() for match in _TOKEN.finditer(text))


QUOTED_COVERAGE = 0.5
LOCATED_COVERAGE = 0.65
FEW_WORDS_COVERAGE = 0.75
"""Share of a claim's content words that its proof must hold: quotes that the writer gave, sentences that were looked
for because there were none, and either for a claim of one or two such words."""
LEAST_CLAUSE = 3
LEAST_CLAUSE_COVERAGE = 0.4
"""A part of a sentence between colons, commas or dashes, if it has so many content words, must have this much proof."""
MOST_STRANGE_INSIDE = 4
MOST_STRANGE_AT_END = 3
"""Content words in a row, none of which the proof holds, from which on a claim says something of its own. Fewer are
enough at its beginning and end, where something false is put before or behind something true."""
SAYS_NOTHING = stems_of(
    "percent cent per proc procentai procentų according document documents source sources states says"
)
"""Words that a claim may have and its proof not: for signs ("%", which facts compare), and for where it stands."""

_CLAUSE = re.compile(r"[:;,()—–]\s|\s[-(]")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def is_covered(claim: str, said: frozenset[str], stretches: Sequence[Stretch], *, question: str, language: str) -> bool:
    """Say whether enough of a claim's content words `said` stand in its proof; titles and the question count half."""
    if not said:
        return True
    own = frozenset().union(*(stretch.stems for stretch in stretches))
    own |= with_synonyms(said, own, language)
    around = stems_of(question, language).union(*(stretch.context for stretch in stretches)) - own
    share = (len(said & own) + 0.5 * len(said & around)) / len(said)
    quoted = any(stretch.quoted for stretch in stretches)
    needed = FEW_WORDS_COVERAGE if len(said) < LEAST_CLAUSE else QUOTED_COVERAGE if quoted else LOCATED_COVERAGE
    return share >= needed and not wanders(claim, own | around, language)


def wanders(claim: str, held: frozenset[str], language: str) -> bool:
    """Say whether a clause of a claim, or a run of its words, stands nowhere among the stems that are held."""
    for clause in _CLAUSE.split(claim):
        stems = stems_of(clause, language) - SAYS_NOTHING
        if len(stems) >= LEAST_CLAUSE and len(stems & held) < LEAST_CLAUSE_COVERAGE * len(stems):
            return True
    strange = [
        not stems <= held
        for stems in (stems_of(word, language) - SAYS_NOTHING for word in _WORD.findall(claim))
        if stems
    ]
    runs = [len(list(run)) if is_strange else 0 for is_strange, run in groupby(strange)]
    at_end = max(runs[:1] + runs[-1:], default=0)
    return max(runs, default=0) >= MOST_STRANGE_INSIDE or at_end >= MOST_STRANGE_AT_END
