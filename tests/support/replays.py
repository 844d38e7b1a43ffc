"""Answers of every kind to questions about invented places, to be asked again: each must come out the same."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.support.ingest import Stack, pdf_of
from tests.support.query_stack import call

TENANT = "atlas"
PLACES = (
    "Orsk", "Brunn", "Calder", "Delmar", "Eskil", "Farrow", "Gistel", "Harlan", "Ismere", "Jovik",
    "Kelso", "Lunden", "Mardal", "Norra", "Ostrava", "Pellin", "Quorn", "Rosvik", "Selby", "Torvald",
)  # fmt: skip
FACTS = {
    "height of the tower": ("The height of the tower of {place} is {n} metres.", 20, 90),
    "length of the pier": ("The length of the pier of {place} is {n} feet, measured at low tide.", 200, 900),
    "price of a ferry ticket": (
        "In {place}, the price of a ferry ticket is {n} crowns, and half of it for children.",
        3,
        40,
    ),
    "number of bells": ("The number of bells in the church of {place} is {n}.", 2, 12),
    "depth of the harbour": ("The depth of the harbour of {place} is {n} fathoms at the quay.", 4, 30),
    "keeper of the archive": ("The keeper of the archive of {place} is paid {n} crowns a month.", 300, 900),
}
DOCUMENTS = 5
PATIENCE = 10
"""The most times that a request is sent."""


def text_of(place: str, *, seed: int = 0) -> str:
    """Return what a document says about a place; another seed gives other numbers."""
    pick = random.Random(f"{place}{seed}")
    return "\n\n".join(line.format(place=place, n=pick.randint(low, high)) for line, low, high in FACTS.values())


def key_of(number: int) -> str:
    """Return the key of a document."""
    return f"uploads/{TENANT}/atlas-{number}.pdf"


def put(stack: Stack, number: int, *, seed: int = 0) -> None:
    """Upload one document, a place a page, and have it ingested."""
    places = PLACES[number::DOCUMENTS]
    stack.put(key_of(number), pdf_of([text_of(place, seed=seed) for place in places], title=f"Atlas, part {number}"))
    assert stack.deliver(key_of(number)) == []


@dataclass(frozen=True)
class Asker:
    """A user of the tenant who asks over the wire."""

    user: str = "ann"
    groups: str = "editor"

    def send(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Send a request; return status and body."""
        return call(method, path, body, tenant=TENANT, user=self.user, groups=self.groups)[:2]

    def ask(self, question: str, **body: Any) -> dict[str, Any]:
        """Ask until everything worked, because on a busy machine a call may come too late; return the answer."""
        for _ in range(PATIENCE):
            status, answer = self.send("POST", "/query", {"question": question, **body})
            if status == 200 and not answer["warnings"]:
                break
        assert status == 200, answer
        assert not answer["warnings"], answer["warnings"]
        return answer

    def replay(self, answer: dict[str, Any], *, degraded: bool = False) -> dict[str, Any]:
        """Ask the question of an answer again, until no step failed for a passing reason."""
        for _ in range(PATIENCE):
            status, replayed = self.send("POST", f"/messages/{answer['message_id']}/replay")
            if status == 200 and (degraded or not replayed["now"]["warnings"]):
                break
        assert status == 200, replayed
        return replayed


def answers(count: int) -> Iterator[tuple[Asker, dict[str, Any]]]:
    """Ask a number of questions: plain, filtered, follow-ups, of several parts, unanswerable, small talk, repeated."""
    pick = random.Random(1)
    ann, bob = Asker(), Asker("bob", "reader")
    last: dict[str, Any] = {}
    for n in range(count):
        place, other = pick.sample(PLACES, 2)
        fact = pick.choice(list(FACTS))
        plain = f"What is the {fact} of {place}?"
        match n % 10:
            case 0:
                last = ann.ask(plain)
                yield ann, last
            case 1:
                yield ann, ann.ask(f"And in {other}?", conversation_id=last["conversation_id"])
            case 2:
                yield ann, ann.ask(f"Compare the {fact} of {place} and {other}.")
            case 3:
                yield ann, ann.ask(f"Who won the football world cup in {1930 + 4 * (n % 20)}?")
            case 4:
                yield ann, ann.ask(plain, top_k=2, filter={"page_start": {"$lte": 3}}, preferences={"tone": "dry"})
            case 5:
                repeated = ann.ask(plain)
                yield bob, bob.ask(plain)
                assert repeated["answer"]
            case 6:
                yield (
                    ann,
                    ann.ask(pick.choice(["Hello", "Thank you!", "How many documents are there?", "Who are you?"])),
                )
            case 7:
                yield ann, ann.ask(f"Summarise the document Atlas, part {n % DOCUMENTS}")
            case 8:
                yield ann, ann.ask(plain.lower().replace("what is the", "tell me the"), mode="session")
            case _:
                yield ann, ann.ask(f"Wie hoch ist der Turm von {place}?", language="de")
