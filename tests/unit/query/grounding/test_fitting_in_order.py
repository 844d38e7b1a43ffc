"""Which column a number is of, by the order of names and numbers."""

from functions.query.grounding.columns import ColumnMention
from functions.query.grounding.facts import Fact
from functions.query.grounding.fitting import _column_in_order


def test_a_number_is_of_the_last_column_named_before_it_or_of_the_first_named():
    mentions = [ColumnMention(at, at + 4, frozenset({column})) for at, column in ((0, 1), (20, 2), (60, 3))]
    early, late = (Fact("number", "7", start=at) for at in (10, 40))
    assert _column_in_order([early, late], late, mentions) == {2}
    assert _column_in_order([early, late], early, mentions) == {1}
    assert _column_in_order([early, late], late, mentions[1:]) == {3}, "as many names as numbers: by their order"
    assert _column_in_order([late], Fact("number", "7", start=5), mentions[1:]) == {2}, "none is named before it"
