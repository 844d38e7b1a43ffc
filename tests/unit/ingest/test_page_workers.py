"""Workers that read pages by OCR and describe figures: page by page, resumed, given up, and told to ingest once."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from functions.ingest import figures, reading
from functions.ingest.changes import PagesRequest, change_body
from functions.ingest.figures import DescribedFigure, FigureDescriber, notes_of, usable
from functions.ingest.lease import InvocationTime
from functions.ingest.parsing.process import ChildFailed
from functions.ingest.parsing.wire import RawPage, unpack
from functions.ingest.reading import PageReader, pages_by
from shared.errors import DependencyError, DependencyRefused, DependencyUnavailable, NotFound
from shared.models import Completion, ObjectHead, Usage
from tests.support.clock import FakeClock

KEY = "uploads/acme/a.pdf"
HEAD = ObjectHead(KEY, "v1", "e", 3)
CHANGE = json.loads(change_body(KEY))


@dataclass
class World:
    """The bucket, the stored pages, the queues and the model."""

    head_: ObjectHead | None = HEAD
    is_gone: bool = False
    is_busy: bool = False
    name: str = ""
    stored: dict[int, bytes] = field(default_factory=dict)
    too_large: Set[int] = frozenset()
    begun: list[float] = field(default_factory=list)
    ended: int = 0
    sent: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[bytes, str, float]] = field(default_factory=list)
    answers: list[str | DependencyError] = field(default_factory=list)
    spent: list[Mapping[str, Usage]] = field(default_factory=list)
    prepared: int = 0
    model: str = "gpt"

    def head(self, key: str) -> ObjectHead | None:
        assert key == KEY
        return self.head_

    def download(self, head: ObjectHead, path: Path) -> None:
        if self.is_gone:
            raise NotFound
        path.write_bytes(b"pdf")

    def reading(self, *_: str) -> str:
        return self.name

    def begin(self, *_: str, seconds: float) -> bool:
        self.begun.append(seconds)
        return not self.is_busy

    def end(self, *_: str) -> None:
        self.ended += 1

    def numbers(self, *_: str) -> Set[int]:
        return frozenset(self.stored)

    def save(self, tenant: str, document_id: str, version_id: str, number: int, page: bytes) -> bool:
        is_large = number in self.too_large and len(page) > 400
        if not is_large:
            self.stored[number] = page
        return not is_large

    def finish(self, *at: str) -> None:
        self.name = at[-1]

    def send(self, body: str, *, delay_s: int = 0) -> None:
        self.sent.append(json.loads(body))

    def prepare(self) -> None:
        self.prepared += 1

    def describe(self, picture: bytes, *, caption: str, timeout_s: float) -> Completion:
        self.asked.append((picture, caption, timeout_s))
        answer = self.answers.pop(0)
        if isinstance(answer, DependencyError):
            raise answer
        return Completion(answer, "stop", self.model, Usage(10, 2))

    def record(self, tenant: str, user: str, spent: Mapping[str, Usage], *, questions: int, now: object) -> None:
        assert (tenant, user, questions) == ("acme", "", 0)
        self.spent.append(spent)


def deadline(*left: float) -> InvocationTime:
    """Time that is left at each look; the last one stays."""
    rest = list(left)
    return InvocationTime(lambda: rest.pop(0) if len(rest) > 1 else rest[0], 60)


# --- OCR ---


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[int]]]:
    """Pages come without a child; what was asked for is noted."""
    asked: list[tuple[str, list[int]]] = []

    def pages(engine: str, path: Path, numbers: Sequence[int], limits: object) -> Iterator[RawPage]:
        assert path.read_bytes() == b"pdf"
        asked.append((engine, list(numbers)))
        for number in numbers:
            page = RawPage(number, label="x" * 500, engine=engine.partition(":")[0])
            picture = base64.b64encode(b"png%d" % number).decode()
            page.figures = [(0, 0, 1, 1, f"Figure {number}.{at}", picture) for at in range(2)]
            yield page

    monkeypatch.setattr(reading, "pages_by", pages)
    monkeypatch.setattr(figures, "pages_by", pages)
    return asked


def read(
    world: World, *pages: int, left: Sequence[float] = (900,), version: str = "v1", most: int = 9
) -> dict[str, Any]:
    ports: Any = world
    reader = PageReader(ports, ports, ports, ports, "eng+lit", most, world.prepare)
    request = PagesRequest("read", KEY, version, pages)
    reader.read(request, deadline(*left))
    return dict(json.loads(request.body))


def test_every_page_is_read_once_and_the_change_told(engine: list[Any]) -> None:
    world = World(stored={2: b"x"})
    read(world, 5, 2, 3, 3)
    assert engine == [("tesseract:eng+lit", [3, 5])]
    assert (sorted(world.stored), world.name, world.sent, world.ended, world.prepared) == (
        [2, 3, 5],
        "2/eng+lit/3",
        [CHANGE],
        1,
        1,
    )
    page = unpack(world.stored[3])
    assert isinstance(page, RawPage)
    assert (page.number, page.engine, page.error) == (3, "tesseract", "")
    read(world, 5, 2, 3)
    assert (world.sent, len(engine), len(world.begun)) == ([CHANGE, CHANGE], 1, 1)


def test_only_so_many_pages_of_a_document_are_read(engine: list[Any]) -> None:
    world = World()
    read(world, 4, 3, 2, 1, most=2)
    assert (engine, world.name) == ([("tesseract:eng+lit", [1, 2])], "2/eng+lit/2")


def test_with_little_time_the_request_is_sent_again(engine: list[Any]) -> None:
    world = World()
    body = read(world, 1, 2, 3, left=(900, 900, 59))
    assert (sorted(world.stored), world.name, world.sent, world.ended) == ([1, 2], "", [body], 1)
    read(world, 1, 2, 3)
    assert (engine[1][1], world.name, world.sent[1:]) == ([3], "2/eng+lit/3", [CHANGE])


def test_a_page_that_does_not_fit_is_kept_as_one_that_could_not_be_read(engine: list[Any]) -> None:
    world = World(too_large={2})
    read(world, 1, 2)
    page = unpack(world.stored[2])
    assert isinstance(page, RawPage)
    assert (page.error, page.engine, world.name) == ("too much text", "tesseract", "2/eng+lit/2")


@pytest.mark.parametrize(
    "world",
    [World(head_=None), World(head_=ObjectHead(KEY, "v2", "e", 3)), World(is_gone=True)],
    ids=["deleted", "replaced", "gone"],
)
def test_a_version_that_is_gone_counts_as_read(world: World) -> None:
    read(world, 1)
    assert (world.stored, world.name, world.sent, world.ended) == ({}, "", [CHANGE], 1)


def test_while_another_worker_reads_nothing_is_done_or_told() -> None:
    world = World(is_busy=True)
    read(world, 1, left=(321,))
    assert (world.stored, world.sent, world.begun, world.ended) == ({}, [], [321], 0)


# --- pages of a child ---


def test_after_a_page_that_cannot_be_read_a_new_child_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    runs: list[tuple[int, int]] = []

    def run(engine: str, path: Path, first: int, last: int, limits: object) -> Iterator[RawPage]:
        runs.append((first, last))
        for number in range(first, last + 1):
            if number in {3, 4, 9}:
                raise ChildFailed(f"died at {number}")
            yield RawPage(number, engine=engine)

    monkeypatch.setattr(reading, "_run", run)
    limits: Any = None
    found = list(pages_by("tesseract:eng", Path("x"), [1, 2, 3, 4, 5, 8, 9], limits))
    assert [(page.number, page.error) for page in found] == [
        *((1, ""), (2, ""), (3, "died at 3"), (4, "died at 4"), (5, ""), (8, ""), (9, "died at 9")),
    ]
    assert {page.engine for page in found if page.error} == {"tesseract"}
    assert runs == [(1, 5), (4, 5), (5, 5), (8, 9)]


# --- figures ---


def described(
    world: World, *pages: int, left: Sequence[float] = (900,), last_try: bool = False, most: int = 9, clock: Any = None
) -> float | None:
    ports: Any = world
    describer = FigureDescriber(ports, ports, ports, ports, ports, clock or FakeClock(), most)
    return describer.describe(PagesRequest("describe", KEY, "v1", pages), deadline(*left), last_try=last_try)


def frames(world: World) -> dict[int, DescribedFigure]:
    return {number: DescribedFigure(**json.loads(frame)) for number, frame in world.stored.items()}


LAMP, SHIP = "It shows a lamp on a table.", "It shows a ship at sea."


def test_each_figure_is_described_stored_and_counted(engine: list[Any]) -> None:
    world = World(answers=[LAMP, "NONE", SHIP, "![x](y)"])
    assert described(world, 1, 4) is None
    assert engine == [("figures", [1, 4])]
    found = frames(world)
    each = figures.ON_A_PAGE
    assert {number: (one.page, one.caption, one.text, one.problem) for number, one in found.items()} == {
        each: (1, "Figure 1.0", LAMP, ""),
        each + 1: (1, "Figure 1.1", "", ""),
        4 * each: (4, "Figure 4.0", SHIP, ""),
        4 * each + 1: (4, "Figure 4.1", "", "no usable answer from gpt"),
    }
    assert [(picture, caption) for picture, caption, _ in world.asked][:2] == [
        (b"png1", "Figure 1.0"),
        (b"png1", "Figure 1.1"),
    ]
    assert world.spent == [{"gpt": Usage(10, 2)}] * 4
    assert (world.name.split()[0], world.name.split("/")[1:], world.sent, world.ended) == (
        "figures",
        ["gpt", "4"],
        [CHANGE],
        1,
    )
    assert notes_of(list(found.values())) == {
        1: "figures described by a model: 1",
        4: "figures described by a model: 1; figures not described: 1 (no usable answer from gpt)",
    }
    assert found[each].passage.splitlines() == [
        "[Figure on page 1 in the words of the model gpt, not of the document]",
        LAMP,
    ]


def test_a_document_without_figures_has_a_reading_and_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "pages_by", lambda *_: iter([RawPage(1)]))
    world = World()
    described(world, 1)
    assert (world.name, world.sent) == ("none", [])


def test_so_many_figures_of_a_document_are_described(engine: list[Any]) -> None:
    world = World(answers=[LAMP] * 9)
    described(world, 1, 2, 3, most=3)
    assert (len(world.stored), world.name.rpartition("/")[2]) == (3, "3")


def test_with_little_time_the_rest_is_asked_for_again(engine: list[Any]) -> None:
    world = World(answers=[LAMP] * 9)
    described(world, 1, 2, left=(900, 900, 59))
    assert (len(world.stored), world.name, [each.get("recto") for each in world.sent]) == (1, "", ["describe"])
    described(world, 1, 2)
    assert (len(world.stored), len(world.asked), world.sent[-1]) == (4, 4, CHANGE)


def test_a_worker_has_its_slice_of_time(engine: list[Any]) -> None:
    class Slow(FakeClock):
        def monotonic(self) -> float:
            self.advance(figures.SLICE_S / 3)
            return super().monotonic()

    world = World(answers=[LAMP] * 9)
    described(world, 1, 2, 3, clock=Slow())
    assert len(world.stored) == 3


def test_a_picture_that_the_model_refuses_is_noted_and_the_next_one_asked_about(engine: list[Any]) -> None:
    world = World(answers=[DependencyRefused("chat", "no"), LAMP])
    described(world, 1)
    first, second = frames(world).values()
    assert (first.text, first.problem[-9:], second.text, second.problem) == ("", " from gpt", LAMP, "")


def test_a_model_that_is_down_is_asked_again_and_given_up_at_the_last_try(engine: list[Any]) -> None:
    world = World(answers=[DependencyUnavailable("chat", "down")] * 2)
    with pytest.raises(DependencyUnavailable):
        described(world, 1)
    assert (world.stored, world.sent, world.ended) == ({}, [], 1)
    described(world, 1, 2, last_try=True)
    assert {one.problem for one in frames(world).values()} == {"unavailable from gpt"}
    assert (len(world.stored), len(world.asked), world.sent) == (4, 2, [CHANGE])


def test_while_another_worker_describes_the_message_comes_back_unless_it_is_the_last_try() -> None:
    assert described(World(is_busy=True), 1) == figures.BUSY_S
    assert described(World(is_busy=True), 1, last_try=True) is None


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("A lamp\r\n  and   a table.", "A lamp\nand a table."),
        ("See [the lamp here](http://x.y) now.", "See the lamp here now."),
        ("none.", ""),
        ("**NONE**", ""),
        ("12 34", None),
        ("", None),
    ],
)
def test_a_models_words_are_plain_text(answer: str, text: str | None) -> None:
    assert usable(answer) == text


def test_a_long_description_ends_with_a_sentence_or_a_word() -> None:
    limit = figures.MAX_CHARACTERS
    sentences = "A lamp is lit. " * limit
    cut = usable(sentences)
    assert cut is not None
    assert (cut.endswith("A lamp is lit."), limit - 15 < len(cut) <= limit) == (True, True)
    words = usable("lamp " * limit)
    assert words is not None
    assert (words.endswith("lamp"), limit - 5 <= len(words) <= limit) == (True, True)
