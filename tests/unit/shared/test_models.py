"""Values that are added up."""

from dataclasses import astuple

from shared.models import Usage


def test_the_usage_of_two_calls_is_the_sum_of_each_kind_of_tokens():
    both = Usage(1, 20, 300, 4_000, 50_000) + Usage(2, 30, 400, 5_000, 60_000)
    assert astuple(both) == (3, 50, 700, 9_000, 110_000)
