"""A numbered part that a question names is found by its number, and said to be absent only where that is known."""

import pytest

from functions.query.retrieval.numbered import NumberedPart, is_sign
from functions.query.retrieval.ranking import WITH_PART, NamedPlaces
from tests.support.query import passage

LEASE = (
    "3. Rent\n\n3.1 The tenant pays £900 a month. 3.2 Rent is due on the first day.\n\n"
    "3.3 See clause 5.4 for late payment.\n\n4. Pets\n\n4.1 One cat may be kept."
)
BYLAWS = (
    "§ 3 Mitglieder\n\n(1) Mitglied wird, wer schwimmen kann.\n\n"
    "(2) Der Vorstand entscheidet. (3) Wer austritt, schreibt ihm.\n\n§ 4 Beiträge\n\n(1) Erwachsene zahlen 120 Euro."
)


@pytest.mark.parametrize(
    ("question", "number", "within"),
    [
        ("What does clause 4.2 say?", (4, 2), ""),
        ("section 3.1.4", (3, 1, 4), ""),
        ("Was steht in § 7 Abs. 2?", (7,), "2"),
        ("What does Article 12(b) allow?", (12,), "b"),
        ("Was sagt Regel 5?", (5,), ""),
        ("Ką sako 5 straipsnio 2 dalis?", (5,), "2"),
        ("¿Qué dice el artículo 5 apartado 2?", (5,), "2"),
    ],
)
def test_a_part_is_named_by_its_sign_and_number(question, number, within):
    part = NumberedPart.of(question)
    assert (part.number, part.within) == (number, within)


@pytest.mark.parametrize(
    "question",
    [
        "How many clauses are there?",
        "What are the 3 rules?",
        "What does section 12A say?",
        "Does the article 5% more?",
        "How does clause 4.1 differ from clause 4.2?",
        "Subsection 4 of what?",
    ],
)
def test_other_numbers_name_no_part_and_several_parts_name_none(question):
    assert NumberedPart.of(question) is None


@pytest.mark.parametrize(
    ("asked", "text", "told", "closed"),
    [
        ("clause 3.2", LEASE, "3.2 Rent is due on the first day.", True),
        ("clause 3.1", LEASE, "3.1 The tenant pays £900 a month.", True),
        ("clause 4.1", LEASE, "4.1 One cat may be kept.", False),
        ("section 4", LEASE, "4. Pets\n\n4.1 One cat may be kept.", False),
        ("§ 3 Abs. 2", BYLAWS, "(2) Der Vorstand entscheidet.", True),
        ("§ 3 (3)", BYLAWS, "(3) Wer austritt, schreibt ihm.", True),
        ("§ 4", BYLAWS, "§ 4 Beiträge\n\n(1) Erwachsene zahlen 120 Euro.", False),
        ("rule 2", "Rule 1: Knock.\n\nRule 2: Wait.\n\nRule 3: Enter.", "Rule 2: Wait.", True),
    ],
)
def test_a_part_goes_from_its_number_to_the_next_that_is_no_part_of_it(asked, text, told, closed):
    span = NumberedPart.of(asked).span_in(text)
    assert (text[span.start : span.end].strip(), span.closed) == (told, closed)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("clause 5.4", LEASE),  # named there, but it does not begin there
        ("clause 3.10", LEASE),
        ("section 3", "3 metres of rope are needed."),
        ("section 20", "20 March: we plant the tree, and there will be soup for everybody."),
        ("section 4.2", "Contents\n\n4.2 Staff .......... 17\n"),
        ("section 4", "The price is £3. 4 Men came."),
    ],
)
def test_a_number_in_a_sentence_or_in_a_table_of_contents_begins_no_part(asked, text):
    assert NumberedPart.of(asked).span_in(text) is None


def test_lists_do_not_count_where_parts_have_signs():
    text = "Article 1\nBring:\n2. A towel.\n3. A cap.\nArticle 2\nPay at the desk."
    span = NumberedPart.of("Article 2").span_in(text)
    assert text[span.start : span.end] == "Article 2\nPay at the desk."


@pytest.mark.parametrize(
    ("asked", "absent"),
    [
        ("clause 3.7", True),
        ("clause 12", True),
        ("clause 3.2", False),
        ("clause 5.4", False),  # spoken of
        ("clause 3.1.2", False),  # no number there has three steps
    ],
)
def test_a_part_is_absent_from_a_document_that_is_numbered_like_it(asked, absent):
    assert NumberedPart.of(asked).is_absent_from([passage(LEASE)._replace(chunk_index=0)]) is absent


def test_a_part_within_a_part_is_absent_where_others_stand():
    known = [passage(BYLAWS)._replace(chunk_index=0)]
    assert NumberedPart.of("§ 3 Abs. 7").is_absent_from(known)
    assert not NumberedPart.of("§ 3 Abs. 2").is_absent_from(known)


def test_nothing_is_absent_from_a_document_of_which_passages_are_unknown():
    known = [passage(LEASE, n=n)._replace(chunk_index=at) for n, at in ((1, 0), (2, 2))]
    assert not NumberedPart.of("clause 12").is_absent_from(known)


def test_the_passage_in_which_the_part_begins_is_ranked_higher():
    named = NamedPlaces.of("What does clause 3.2 say?")
    assert named.boost(passage(LEASE)) == WITH_PART
    assert named.boost(passage("See clause 3.2.")) == 0.0


@pytest.mark.parametrize(
    ("words", "expected"), [("clause 4.2", True), ("§ 7", True), ("motion 12/1", False), ("room 4", False)]
)
def test_a_sign_and_a_number_name_a_part(words: str, *, expected: bool):
    assert is_sign(words) is expected
