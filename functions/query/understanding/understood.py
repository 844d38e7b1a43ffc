"""What a question is understood to be: the value that rewriting gives and searching takes."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from functions.query.understanding.answer_form import searched_for
from shared.models import Filter, Usage

NO_USAGE = Usage()
QueryMode = Literal["question", "session"]
"""What is searched for: the question made to stand alone, or all that was asked in the conversation."""


class Variation(NamedTuple):
    """Another wording that is searched together with the question, and its share of the score (all shares are 1)."""

    text: str
    weight: float


class Boost(NamedTuple):
    """Passages whose metadata match `filter` are worth `lift` more, in units of cosine."""

    filter: Filter
    lift: float


@dataclass(frozen=True, slots=True)
class Understood:
    """A question made searchable.

    `question` is what was typed, normalised; `standalone` is what is meant, and `searched` what of it is embedded and
    searched for. `variations` are
    `query_variations` at most; `standalone` has the share that they leave. `filter` and `boosts` come from the tenant's
    glossary. `language` is the question's (ISO 639-1), empty when it cannot be told. `rewritten_by` is empty where the
    question stands as it was typed.
    """

    question: str
    standalone: str
    language: str = ""
    variations: tuple[Variation, ...] = ()
    filter: Filter | None = None
    boosts: tuple[Boost, ...] = ()
    rewritten_by: Literal["", "heuristic", "model"] = ""
    model: str = ""
    usage: Usage = NO_USAGE
    warnings: tuple[str, ...] = ()

    @property
    def searched(self) -> str:
        """What is embedded and searched for: the question without what only says how to answer."""
        return searched_for(self.standalone, self.language or "en")
