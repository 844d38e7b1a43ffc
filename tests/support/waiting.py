"""Wait for what another process does."""

import time
from collections.abc import Callable


def until[T](
    look: Callable[[], T],
    is_done: Callable[[T], bool] = bool,
    *,
    what: str = "this",
    within_s: float = 60.0,
    every_s: float = 0.2,
) -> T:
    """Look until `is_done` is true of what is seen, and return that; fail after `within_s`, naming `what` and the last.

    An exception of `look` is the caller's.
    """
    ends_at = time.monotonic() + within_s
    while not is_done(seen := look()):
        assert time.monotonic() < ends_at, f"in {within_s:g} s {what} did not come true; seen last: {seen!r}"
        time.sleep(every_s)
    return seen
