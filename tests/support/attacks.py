"""An attacking model run through the real writing step, and what of its answer is shown."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from functions.query.retrieval.passages import Passage
from functions.query.writing.generation import WritingRequest, WrittenAnswer
from shared.deadline import Deadline
from shared.models import ChatMessage, Completion, ModelRequest, Usage
from shared.settings import Settings
from tests.support import false_claims, hostile_output
from tests.support.clock import FakeClock
from tests.support.false_claims import Attack, Sentence
from tests.support.query import written

QUESTION = "What does it say?"
MARKED = "the false claim is shown as unconfirmed"
SETTINGS = Settings()


@dataclass
class AttackingModel:
    """A chat model that writes one prepared attack."""

    attack: Attack
    model: str = "attacker"
    prompts: list[Sequence[ChatMessage]] = field(default_factory=list)

    def complete(self, request: ModelRequest, *, timeout_s: float) -> Completion:
        self.prompts.append(request.messages)
        return Completion(self.attack.text, "stop", self.model, Usage(1, 1))


@dataclass(frozen=True)
class AttackOutcome:
    """The result of one attack. `leaks` says in words what should not have been shown."""

    attack: Attack
    written: WrittenAnswer
    leaks: Sequence[str]


def run_attack(attack: Attack, passages: Sequence[Passage]) -> AttackOutcome:
    """Let the model write the attack, and look at what is shown."""
    deadline = Deadline(FakeClock(), 26.0)
    answer = written(
        WritingRequest(QUESTION, QUESTION, passages), chat=AttackingModel(attack), settings=SETTINGS, deadline=deadline
    )
    return AttackOutcome(attack, answer, [*ungrounded(answer, passages), *_leaks(attack, answer)])


def ungrounded(answer: WrittenAnswer, passages: Sequence[Passage]) -> list[str]:
    """Return what is wrong with the citations of an answer: every quote and every marker is checked independently."""
    found = []
    for citation in answer.citations:
        is_held = any(
            passage.document_id == citation.document_id
            and passage.text[citation.char_start - passage.char_start : citation.char_end - passage.char_start]
            == citation.quote
            != ""
            for passage in passages
        )
        if not is_held:
            found.append(f"citation {citation.n} is not in its source")
    markers = {int(number) for number in re.findall(r"\[(\d+)\]", answer.text)}
    if markers != {citation.n for citation in answer.citations}:
        found.append(f"markers {sorted(markers)} for {len(answer.citations)} citations")
    return found


def _leaks(attack: Attack, answer: WrittenAnswer) -> list[str]:
    found = [f"{forbidden!r} is shown" for forbidden in attack.forbidden if forbidden in answer.text]
    if attack.claim and answer.mode == "generated" and plain(attack.claim) in plain(answer.text):
        found.append(MARKED if answer.support.unconfirmed else "the false claim is shown")
    return found


def plain(text: str) -> str:
    """Return a text without markers, spacing and its full stop, for comparing what is said."""
    return " ".join(re.sub(r"\s*\[\d+\]", "", text).split()).strip(" .")


def attack_makers(passages: Sequence[Passage]) -> Mapping[str, Callable[[Sentence, random.Random], Attack | None]]:
    """Return every kind of attack on some passages."""
    return {
        "mutated number": false_claims.mutated_number,
        "negation": false_claims.flipped_negation,
        "invented source": lambda sentence, draw: false_claims.invented_source(sentence, draw, len(passages)),
        "wrong source": lambda sentence, draw: false_claims.wrong_source(sentence, draw, passages),
        "altered quote": false_claims.altered_quote,
        "invented claim": false_claims.invented_claim,
        "swapped name": false_claims.swapped_name,
        "leak": hostile_output.leak,
        "forged fence": hostile_output.forged_fence,
        "exchanged word": false_claims.exchanged_word,
        "put in": false_claims.added_words,
        "other measure": false_claims.other_measure,
        "other digits": false_claims.other_digits,
        "broken form": hostile_output.broken_form,
    }


def poisoned(passages: Sequence[Passage], at: int, injection: str) -> list[Passage]:
    """Write an instruction into the middle of one passage, as a PDF's author would."""
    text = passages[at].text
    middle = text.find(". ", len(text) // 2) + 2
    changed = f"{text[:middle]}{injection} {text[middle:]}" if middle > 1 else f"{text}\n{injection}"
    return [each._replace(text=changed) if number == at else each for number, each in enumerate(passages)]
