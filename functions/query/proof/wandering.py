"""Are a claim's words those of its proof, or does it say something of its own?"""

import re
from collections.abc import Sequence
from itertools import groupby

from functions.query.proof.stretches import Stretch
from functions.query.proof.synonyms import with_synonyms
from functions.query.proof.words import stems_of

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
