"""Figures described by a model, so that what they show can be searched: off unless a model is configured.

Ingest sends itself a message for a document that has figures; another invocation draws them and has them described,
one by one. Each description is stored at once, so that a killed worker causes at most one to be paid for twice. When
all are there, a change is sent, and ingest builds the document again with them. A figure that fails gets a note instead
of a description: the document is searchable in any case.
"""

import base64
import json
import re
from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass, field

from aws_lambda_powertools.metrics import MetricUnit

from functions.ingest.changes import DocumentRef, PagesRequest, change_body, document_ref_of
from functions.ingest.lease import InvocationTime
from functions.ingest.parsing.process import Limits
from functions.ingest.parsing.wire import FIGURE_ENGINE, SentFigure
from functions.ingest.ports import ChangeQueue, FigureReader, ObjectReader, ReadPages
from functions.ingest.reading import NOTHING, PictureReading, downloaded, pages_by
from shared.errors import DependencyError, DependencyRefused, KeyRefused
from shared.models import NO_USAGE, ObjectHead, Usage
from shared.ports import Clock, UsageRecorder
from shared.prices import cost_usd
from shared.telemetry import logger, metrics

DESCRIBING_VERSION = 1
"""Increase this when figures are described differently: it is part of a reading's name."""
SLICE_S = 90.0
"""Seconds after which the rest goes to the end of the queue: uploads do not wait for other documents' figures."""
DESCRIBE_S = 60.0
"""Seconds for one description, its retries included."""
HELD_S = SLICE_S + DESCRIBE_S + 30.0
"""Seconds after which another worker may take over from one that was killed."""
BUSY_S = 60.0
LIMITS = Limits(page_s=20.0, cpu_s=20, memory_mb=320)
"""Seconds for finding and drawing the figures of a page; a normal page takes .1."""
ON_A_PAGE = 10
"""More than `parsing.figures.MAX_ON_PAGE`: figures are numbered page x this + place on the page."""
MAX_CHARACTERS = 1_500
MIN_LETTERS = 12
"""A description with fewer letters is useless."""

_LINK = re.compile(r"!?\[([^\]\n]{0,200})\]\([^)\n]*\)|<[^>\n]{1,300}>|(?:https?://|www\.)\S+", re.IGNORECASE)
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe\U000e0000-\U000e007f]"
)
_SENTENCE_END = re.compile(r"[.!?。](?=\s|$)")


@dataclass(frozen=True, slots=True)
class DescribedFigure:
    """A figure of a page (from 1): the model's description, or the problem; neither, if it shows nothing."""

    page: int
    caption: str
    model: str
    text: str = ""
    problem: str = ""

    @property
    def passage(self) -> str:
        """The text that is indexed: it begins by saying that these are a model's words."""
        return f"[Figure on page {self.page} in the words of the model {self.model}, not of the document]\n{self.text}"

    @property
    def frame(self) -> bytes:
        """The stored form."""
        return json.dumps(asdict(self), ensure_ascii=False).encode("utf-8", "replace")


def notes_of(figures: Sequence[DescribedFigure]) -> dict[int, str]:
    """Return what the report of each page says of its figures."""
    notes: dict[int, str] = {}
    for page in sorted({figure.page for figure in figures}):
        own = [figure for figure in figures if figure.page == page]
        described = sum(bool(figure.text) for figure in own)
        said = [f"figures described by a model: {described}"] if described else []
        if problems := [figure.problem for figure in own if figure.problem]:
            said.append(f"figures not described: {len(problems)} ({'; '.join(dict.fromkeys(problems))})")
        if said:
            notes[page] = "; ".join(said)
    return notes


class Figures(PictureReading):
    """Figures described by a model."""

    __slots__ = ()

    def described(self, ref: DocumentRef, head: ObjectHead) -> Sequence[DescribedFigure]:
        """Return the figures in their order, also those that could not be described."""
        found = self.store.pages(ref.tenant, ref.document_id, head.version_id)
        return [DescribedFigure(**json.loads(found[number])) for number in sorted(found)]

    def request(self, ref: DocumentRef, head: ObjectHead, pages: Sequence[int]) -> None:
        """Request descriptions of the figures on these pages, unless they were made already."""
        if self.queue and pages and not self.store.reading(ref.tenant, ref.document_id, head.version_id):
            self.ask("describe", ref, head, pages)


@dataclass(slots=True)
class Turn:
    """One worker's run on one object version: what is stored by now, and why it gave up, if it did."""

    at: tuple[str, str, str]
    done: Set[int]
    is_last_try: bool
    deadline: InvocationTime
    until: float
    given_up: str = ""
    described: int = field(default=0)


@dataclass(frozen=True, slots=True)
class FigureDescriber:
    """Describes the figures of one document version at a time. `max_figures` of a document are described at most."""

    objects: ObjectReader
    store: ReadPages
    queue: ChangeQueue
    reader: FigureReader
    usage: UsageRecorder
    clock: Clock
    max_figures: int

    def describe(self, request: PagesRequest, deadline: InvocationTime, *, last_try: bool = False) -> float | None:
        """Describe what is left, then send a change; with little time left, send the request again instead.

        If another worker has it, return the seconds after which the message must come back, else None. At the last try
        a figure that fails is given up, with a note. Raises `DependencyError`.
        """
        ref = document_ref_of(request.key)
        if ref is None:
            return None
        at = (ref.tenant, ref.document_id, request.version_id)
        if not self.store.reading(*at):
            if not self.store.begin(*at, seconds=HELD_S):
                return None if last_try else BUSY_S
            turn = Turn(at, self.store.numbers(*at), last_try, deadline, self.clock.monotonic() + SLICE_S)
            try:
                is_finished = self._describe(request, turn)
            finally:
                self.store.end(*at)
                metrics.add_metric("FiguresDescribed", MetricUnit.Count, turn.described)
            if not is_finished:
                self.queue.send(request.body)
                return None
        if self.store.reading(*at) != NOTHING:
            self.queue.send(change_body(request.key))
        return None

    def _describe(self, request: PagesRequest, turn: Turn) -> bool:
        """Describe figures one by one; False when time is short. A version that is gone counts as finished."""
        first = max(turn.done, default=0) // ON_A_PAGE  # the pages before it are done
        with downloaded(self.objects, request) as path:
            if path is None:
                return True
            for page in pages_by(FIGURE_ENGINE, path, [number for number in request.pages if number >= first], LIMITS):
                for place, figure in enumerate(page.figures):
                    number = page.number * ON_A_PAGE + place
                    if number in turn.done:
                        continue
                    if len(turn.done) >= self.max_figures:
                        return self._finish(turn)
                    if turn.deadline.is_near or self.clock.monotonic() > turn.until:
                        return False
                    said = self._said_of(page.number, figure, turn)
                    self.store.save(*turn.at, number, said.frame)
                    turn.done = turn.done | {number}
        return self._finish(turn)

    def _finish(self, turn: Turn) -> bool:
        name = f"figures {DESCRIBING_VERSION}/{self.reader.model}/{len(turn.done)}" if turn.done else NOTHING
        self.store.finish(*turn.at, name)
        return True

    def _said_of(self, page: int, figure: SentFigure, turn: Turn) -> DescribedFigure:
        """Ask the model. Raises `DependencyError` if another try may help, and there is one."""
        *_, caption, picture = figure
        said = DescribedFigure(page, caption[:MAX_CHARACTERS], self.reader.model, problem=turn.given_up)
        if turn.given_up:
            return said
        left_s = turn.deadline.remaining_s() - turn.deadline.keep_back_s / 2
        try:
            answer = self.reader.describe(
                base64.b64decode(picture), caption=said.caption, timeout_s=min(DESCRIBE_S, left_s)
            )
        except DependencyError as error:
            self._record(turn, error.usage)
            is_about_the_picture = isinstance(error, DependencyRefused) and not isinstance(error, KeyRefused)
            if not (is_about_the_picture or error.usage != NO_USAGE or turn.is_last_try):
                raise
            problem = f"{error.code} from {self.reader.model}"
            logger.warning("figure not described", extra={"document_id": turn.at[1], "page": page, "code": error.code})
            if not is_about_the_picture and error.usage == NO_USAGE:
                turn.given_up = problem
            return DescribedFigure(page, said.caption, said.model, problem=problem)
        self._record(turn, answer.usage)
        text = usable(answer.text)
        if text is None:
            return DescribedFigure(page, said.caption, said.model, problem=f"no usable answer from {self.reader.model}")
        turn.described += bool(text)
        return DescribedFigure(page, said.caption, said.model, text)

    def _record(self, turn: Turn, usage: Usage) -> None:
        """Count the tokens as soon as they are spent, as an ingest's. A failure is only logged."""
        if usage == NO_USAGE:
            return
        metrics.add_metric("CostUsd", MetricUnit.Count, cost_usd(self.reader.model, usage) or 0.0)
        try:
            self.usage.record(turn.at[0], "", {self.reader.model: usage}, questions=0, now=self.clock.now())
        except DependencyError as error:
            logger.error("usage not counted", extra={"tenant": turn.at[0], "error": error.message})


def usable(answer: str) -> str | None:
    """Return a model's words as plain text: no links, pictures, tags or control codes; at most `MAX_CHARACTERS`.

    Empty if the model says that the figure shows nothing; None if nothing of its words can be used.
    """
    text = _LINK.sub(r"\1", _CONTROL.sub("", answer.replace("\r", "\n")))
    text = "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))
    if text.strip(" .*'\"`").upper() == "NONE":
        return ""
    if len(text) > MAX_CHARACTERS:
        text = text[:MAX_CHARACTERS]
        ends = [found.end() for found in _SENTENCE_END.finditer(text)]
        text = text[: ends[-1]] if ends and ends[-1] > MAX_CHARACTERS // 2 else text.rsplit(" ", 1)[0]
    return text if sum(map(str.isalpha, text)) >= MIN_LETTERS else None
