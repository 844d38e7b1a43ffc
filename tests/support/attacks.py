"""A lying model asked through the real writing step, and what it got through."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from functions.query.retrieval.passages import Passage
from functions.query.writing.generation import WritingRequest, WrittenAnswer, written
from shared.deadline import Deadline
from shared.settings import Settings
from tests.support import forger, liar
from tests.support.clock import FakeClock
from tests.support.liar import Attack, Liar, Sentence

QUESTION = "What does it say?"
SETTINGS = Settings()


@dataclass(frozen=True)
class Outcome:
    """What became of one attack. `leaks` says in words what should not have been shown."""

    attack: Attack
    written: WrittenAnswer
    leaks: Sequence[str]


def attacked(attack: Attack, passages: Sequence[Passage]) -> Outcome:
    """Let the model write the attack, and look at what is shown."""
    deadline = Deadline(FakeClock(), 26.0)
    told = written(
        WritingRequest(QUESTION, QUESTION, passages), chat=Liar(attack), settings=SETTINGS, deadline=deadline
    )
    return Outcome(attack, told, [*ungrounded(told, passages), *_leaks(attack, told)])


def ungrounded(told: WrittenAnswer, passages: Sequence[Passage]) -> list[str]:
    """Check the citations of an answer by means of one's own: every quote, every marker, both ways."""
    found = []
    for citation in told.citations:
        stands = any(
            passage.document_id == citation.document_id
            and passage.text[citation.char_start - passage.char_start : citation.char_end - passage.char_start]
            == citation.quote
            != ""
            for passage in passages
        )
        if not stands:
            found.append(f"citation {citation.n} does not stand")
    markers = {int(number) for number in re.findall(r"\[(\d+)\]", told.text)}
    if markers != {citation.n for citation in told.citations}:
        found.append(f"markers {sorted(markers)} for {len(told.citations)} citations")
    return found


def _leaks(attack: Attack, told: WrittenAnswer) -> list[str]:
    found = [f"{forbidden!r} is shown" for forbidden in attack.forbidden if forbidden in told.text]
    if attack.claim and told.mode == "generated" and plain(attack.claim) in plain(told.text):
        found.append("the false claim is shown")
    return found


def plain(text: str) -> str:
    """Return a text without markers, spacing and its full stop, for comparing what is said."""
    return " ".join(re.sub(r"\s*\[\d+\]", "", text).split()).strip(" .")


def attack_makers(passages: Sequence[Passage]) -> Mapping[str, Callable[[Sentence, random.Random], Attack | None]]:
    """Return every kind of attack on some passages."""
    return {
        "mutated number": liar.mutated_number,
        "negation": liar.flipped_negation,
        "invented source": lambda sentence, draw: liar.invented_source(sentence, draw, len(passages)),
        "wrong source": lambda sentence, draw: liar.wrong_source(sentence, draw, passages),
        "altered quote": liar.altered_quote,
        "invented claim": liar.invented_claim,
        "swapped name": liar.swapped_name,
        "leak": liar.leak,
        "forged fence": liar.forged_fence,
        "exchanged word": forger.exchanged_word,
        "put in": forger.put_in,
        "other measure": forger.other_measure,
        "other digits": forger.other_digits,
        "broken form": forger.broken_form,
    }


def poisoned(passages: Sequence[Passage], at: int, injection: str) -> list[Passage]:
    """Write an instruction into the middle of one passage, as a PDF's author would."""
    text = passages[at].text
    middle = text.find(". ", len(text) // 2) + 2
    changed = f"{text[:middle]}{injection} {text[middle:]}" if middle > 1 else f"{text}\n{injection}"
    return [replace(each, text=changed) if number == at else each for number, each in enumerate(passages)]
