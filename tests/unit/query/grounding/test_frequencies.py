"""What happens "every month" needs evidence that names months."""

import pytest

from functions.query.grounding.frequencies import is_of_another_time


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("The filter is changed every month.", "The filter is changed once a quarter.", True),
        ("The filter is changed monthly.", "The filter is changed every six months.", False),
        ("A pitch costs €35 a week.", "A pitch costs €35 a season.", True),
        ("A pitch costs €35 a week.", "A pitch costs €35 for seven days, that is a week.", False),
        ("It costs €90 a year.", "The annual fee is €90.", False),
        ("It is cleaned daily.", "It is cleaned on Mondays.", True),
        ("A week later it was sold.", "It was sold then.", False),
        ("It was a day of rest.", "Nobody worked.", False),
    ],
)
def test_a_claim_counts_by_the_time_of_its_evidence(claim: str, text: str, expected: bool):
    assert is_of_another_time(claim, [text]) is expected
