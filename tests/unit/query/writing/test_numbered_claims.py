"""A part asked for by its number is told as it stands; of a long one what answers."""

from functions.query.writing.numbered_claims import part_claims
from tests.support.query import passage

LEASE = (
    "3. Rent\n\n3.1 The tenant pays £900 a month. 3.2 Rent is due on the first day.\n\n"
    "4. Pets\n\n4.1 One cat may be kept."
)


def told(question, *passages):
    return [claim.text for claim in part_claims(question, passages)]


def test_the_part_is_told_alone_from_whichever_passage_it_is_in():
    other = passage("Rent is due on the first day of the month.", n=2)
    claims = part_claims("What does clause 3.2 say?", [other, passage(LEASE)])
    assert [(each.text, each.references[0].source) for each in claims] == [("3.2 Rent is due on the first day.", 2)]


def test_a_part_is_told_with_its_parts_each_paragraph_by_itself():
    assert told("section 3", passage(LEASE)) == [
        "3. Rent",
        "3.1 The tenant pays £900 a month. 3.2 Rent is due on the first day.",
    ]


def test_a_question_that_asks_more_is_no_question_for_the_part():
    lease = passage(LEASE, title="Lease of Fern Court", language="en")
    assert told("What does clause 3.2 of the lease say?", lease) == ["3.2 Rent is due on the first day."]
    assert told("What do you process under clause 3.2 of the GDPR?", lease) == []
    assert told("Was steht in § 4.1?", lease) == [], "it is in another language"


def test_nothing_is_told_of_a_part_that_is_not_there_or_is_only_a_heading():
    assert told("What does clause 3.7 say?", passage(LEASE)) == []
    assert told("What does clause 6 say?", passage("5.1 Pay.\n\n6. Keys")) == []
    assert told("When is rent due?", passage(LEASE)) == []
