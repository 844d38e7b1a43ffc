"""A lease is kept while a job runs, and nothing new is begun near the end of an invocation."""

import threading

import pytest

from functions.ingest.lease import InvocationTime, OutOfTime, heartbeat
from shared.errors import DependencyUnavailable, LeaseLost


@pytest.mark.parametrize(("left_s", "is_near"), [(45.0, False), (44.9, True), (900.0, False)])
def test_the_last_three_quarters_of_a_minute_are_kept_back(left_s: float, is_near: bool) -> None:
    assert InvocationTime(lambda: left_s).is_near is is_near
    assert not InvocationTime(lambda: left_s, keep_back_s=10.0).is_near
    assert OutOfTime(7).chunks_done == 7


class Beats:
    """Counts beats, fails as told, and says when there were enough."""

    def __init__(self, *errors: Exception, enough: int) -> None:
        self.errors = list(errors)
        self.left = enough
        self.enough = threading.Event()

    def __call__(self) -> None:
        self.left -= 1
        if not self.left:
            self.enough.set()
        if self.errors:
            raise self.errors.pop(0)


def test_a_lease_is_renewed_until_the_job_ends_whatever_fails_in_between() -> None:
    beats = Beats(DependencyUnavailable("registry", "down"), enough=3)
    with heartbeat(beats, every_s=0.001):
        assert beats.enough.wait(10)
    after = beats.left
    assert not [thread for thread in threading.enumerate() if thread.name == "heartbeat"]
    assert beats.left == after


def test_a_lost_lease_is_not_renewed() -> None:
    beats = Beats(LeaseLost(), enough=1)
    with heartbeat(beats, every_s=0.001):
        assert beats.enough.wait(10)
        for thread in threading.enumerate():
            if thread.name == "heartbeat":
                thread.join(10)
        assert beats.left == 0


def test_a_job_that_is_short_needs_no_beat() -> None:
    beats = Beats(enough=1)
    with heartbeat(beats, every_s=60):
        pass
    assert beats.left == 1
