"""Of options to tick only the ticked ones are told, and a claim is compared with these."""

import pytest

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.judge import Verdict
from functions.query.grounding.table_cells import with_ticked_only
from functions.query.grounding.verify import Verifier
from functions.query.writing.extractive import extract
from tests.support.query import passage

FORM = """Consent form

May swim: ☐ Yes ☒ No

Eats no meat: ☒ Yes ☐ No

Photo consent: ☑ Yes ☐ No

☐ Needs medicine on the trip
☒ Has a bus pass"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("May swim: ☐ Yes ☒ No", "May swim: No"),
        ("May swim: Yes ☐ No ☒", "May swim: No"),
        ("in the last 90 days. Yes ☒ No ☐ Indicate by", "in the last 90 days. Yes Indicate by"),
        ("Photos | ☐ Yes / ☒ No", "Photos | No"),
        ("Size: ☐ small ☑ medium ☑ very large", "Size: medium, very large"),
        ("Photos; Agreed: ☐ Yes ☒ No; Page: 3", "Photos; Agreed: No; Page: 3"),
        ("☒ Red ☐ Blue\n☐ Left ☒ Right", "Red\nRight"),
    ],
)
def test_the_ticked_options_are_left(text: str, told: str) -> None:
    assert with_ticked_only(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "May swim: ☐ Yes ☐ No",
        "May swim: ☒ Yes ☒ No",
        "☐ Needs medicine on the trip",
        "✓ Fast ✗ Cheap",
        "□ Open the lid",
        "Small filer ☒ Large filer ☐ Other filer ☐",
    ],
)
def test_where_it_is_not_clear_which_are_ticked_all_are_left(text: str) -> None:
    assert with_ticked_only(text) == text


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("May the child swim?", "May swim: No"),
        ("Is there photo consent?", "Photo consent: Yes"),
        ("Does the child need medicine on the trip?", "☐ Needs medicine on the trip"),
    ],
)
def test_an_answer_tells_what_is_ticked_and_leaves_an_empty_box(question: str, told: str) -> None:
    claims = extract(question, [passage(FORM)]).claims
    assert claims[0].text == told


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Eats no meat: Yes", Verdict.CONFIRMED),
        ("Photo consent: Yes", Verdict.CONFIRMED),
        ("Photo consent: No", Verdict.REFUTED),
    ],
)
def test_a_claim_is_compared_with_what_is_ticked(claim: str, verdict: Verdict) -> None:
    line = next(line for line in FORM.split("\n") if line.startswith(claim.partition(":")[0]))
    [judged] = Verifier([passage(FORM)], language="en").judge(Claim(claim, (Reference(1, line),)))
    assert judged.judgement.verdict is verdict
