"""Does a part of a claim say something of its own, beside what its proof says?"""

import re
from itertools import groupby

from functions.query.words import stems_of

LEAST_CLAUSE = 3
LEAST_CLAUSE_COVERAGE = 1 / 3
"""A part of a sentence between colons, commas or dashes, if it has so many content words, must have this much proof."""
MOST_STRANGE_INSIDE = 4
MOST_STRANGE_AT_END = 3
"""Content words in a row, none of which the proof holds, from which on a claim says something of its own. Fewer are
enough at its beginning and end, where something false is put before or behind something true."""

_CLAUSE = re.compile(r"[:;,()—–]\s|\s[-(]")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def wanders(claim: str, held: frozenset[str], language: str) -> bool:
    """Say whether a clause of a claim, or a run of its words, stands nowhere among the stems that are held."""
    for clause in _CLAUSE.split(claim):
        stems = stems_of(clause, language)
        if len(stems) >= LEAST_CLAUSE and len(stems & held) < LEAST_CLAUSE_COVERAGE * len(stems):
            return True
    strange = [not stems <= held for stems in (stems_of(word, language) for word in _WORD.findall(claim)) if stems]
    runs = [len(list(run)) if is_strange else 0 for is_strange, run in groupby(strange)]
    at_end = max(runs[:1] + runs[-1:], default=0)
    return max(runs, default=0) >= MOST_STRANGE_INSIDE or at_end >= MOST_STRANGE_AT_END
