"""Glossaries out of the bucket, held in the container."""

from threading import Lock
from typing import NamedTuple

from functions.query.understanding.glossary import (
    MOST_BYTES,
    NO_GLOSSARY,
    Glossary,
    GlossaryInvalid,
    glossary_key,
    parse_glossary,
)
from shared.errors import DependencyError
from shared.ports import Clock, SmallObjectReader

MOST_TENANTS = 200
"""Glossaries held at once; the one that was read longest ago goes."""
RETRY_S = 5.0
"""Seconds for which a bucket that could not be read is not asked again."""


class _Held(NamedTuple):
    glossary: Glossary | None
    etag: str
    error: GlossaryInvalid | DependencyError | None
    fresh_until: float


class CachedGlossaries:
    """Implements `GlossarySource`: at most one conditional read a tenant every `ttl_s` seconds.

    While the bucket cannot be read, the glossary that was read last is used.
    """

    def __init__(self, objects: SmallObjectReader, clock: Clock, *, ttl_s: float) -> None:
        self._objects = objects
        self._clock = clock
        self._ttl_s = ttl_s
        self._held: dict[str, _Held] = {}
        self._turns: dict[str, Lock] = {}
        self._lock = Lock()

    def of(self, tenant: str) -> Glossary:
        """Return the tenant's glossary. Raises `DependencyError` and `GlossaryInvalid`."""
        held = self._held.get(tenant)
        if held is None or not self._is_fresh(held):
            with self._turns.setdefault(tenant, Lock()):
                held = self._held.get(tenant)  # whoever had to wait finds what was read meanwhile
                if held is None or not self._is_fresh(held):
                    held = self._read(tenant, held)
                    self._hold(tenant, held)
        if held.glossary is not None:
            return held.glossary
        error = held.error or AssertionError("a glossary or an error is held")
        raise error.with_traceback(None)  # else it grew with every question, and held what each of them was about

    def _is_fresh(self, held: _Held) -> bool:
        return held.fresh_until > self._clock.monotonic()

    def _hold(self, tenant: str, held: _Held) -> None:
        with self._lock:
            self._held.pop(tenant, None)
            self._held[tenant] = held
            while len(self._held) > MOST_TENANTS:
                oldest = next(iter(self._held))
                del self._held[oldest]
                self._turns.pop(oldest, None)

    def _read(self, tenant: str, held: _Held | None) -> _Held:
        key = glossary_key(tenant)
        known = held.etag if held else ""
        try:
            found = self._objects.read_small(key, known_etag=known, most_bytes=MOST_BYTES)
        except DependencyError as error:
            return _Held(held.glossary if held else None, known, error, self._clock.monotonic() + RETRY_S)
        fresh_until = self._clock.monotonic() + self._ttl_s
        if found is None:
            return _Held(NO_GLOSSARY, "", None, fresh_until)
        if held is not None and found.body is None:
            return _Held(held.glossary, held.etag, held.error, fresh_until)
        try:
            return _Held(parse_glossary(found.body or b"", file=key), found.etag, None, fresh_until)
        except GlossaryInvalid as error:
            return _Held(None, found.etag, error, fresh_until)
