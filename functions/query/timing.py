"""How long each stage of a request took."""

from collections.abc import Iterator
from contextlib import contextmanager

from shared.ports import Clock


class StageTimer:
    """Adds up the milliseconds of named stages."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.timings_ms: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside, errors included."""
        begun = self._clock.monotonic()
        try:
            yield
        finally:
            elapsed_ms = (self._clock.monotonic() - begun) * 1_000
            self.timings_ms[name] = round(self.timings_ms.get(name, 0.0) + elapsed_ms, 2)
