"""Which span of a passage supports a claim, how a quote is bounded, and how citations are numbered."""

import pytest

from functions.query.grounding.quotes import (
    MAX_PLACES,
    NumberedCitations,
    find_quote,
    nearest_spans,
    quoted_spans,
    with_markers,
)
from functions.query.retrieval.passages import Passage
from tests.support.query import passage


def shown(quote: str, source: Passage) -> list[str]:
    return [source.text[span.start : span.end] for span in quoted_spans(quote, source)]


def nearest(claim: str, text: str) -> list[str]:
    source = passage(text)
    return [source.text[span.start : span.end] for span in nearest_spans(claim, source, "en")]


def test_the_first_five_places_of_a_quote_are_considered() -> None:
    text = "Fees are due. " * 9
    assert [start for start, _ in find_quote("Fees are due.", text)] == [14 * at for at in range(MAX_PLACES)]


@pytest.mark.parametrize(
    ("quote", "is_found"),
    [
        ("one two … five six", True),
        ("one two … five six … nine ten", True),
        ("one two … four five … seven eight … ten eleven", True),
        ("one two … three four … five six … seven eight … nine ten", False),  # too many parts
        ("one … five six", False),  # one word proves nothing
        ("one two … one two", False),  # each part stands behind the one before it
        ("five six … one two", False),
        ("one two […] five six", True),
        ("one two (...) five six", True),
        ("one two ... five six", True),
    ],
)
def test_a_quote_with_omissions_needs_its_parts_in_order(quote: str, is_found: bool) -> None:
    text = "one two three four five six seven eight nine ten eleven"
    assert bool(list(find_quote(quote, text))) is is_found


def test_a_quote_with_an_omission_begins_where_its_parts_follow_one_another() -> None:
    text = "Rent is due. Then other words. Rent is due. It is paid monthly."
    places = [text[start:end] for start, end in find_quote("Rent is due … paid monthly", text)]
    assert places[0].startswith("Rent is due. Then")
    assert all(place.endswith("paid monthly") for place in places)


@pytest.mark.parametrize("length", [1_100, 1_300])
def test_a_quote_longer_than_the_limit_is_not_shown(length: int) -> None:
    text = "word " * (length // 5)
    assert bool(list(find_quote(text, text))) is (length < 1_200)


def test_one_sign_alone_is_found_exactly_or_not_at_all() -> None:
    assert list(find_quote("a", "b a c")) == [(2, 3)]
    assert list(find_quote("a-", "b a c")) == []


def test_a_quote_of_two_words_is_widened_to_its_sentence_and_one_of_three_is_not() -> None:
    source = passage("The fee is waived. It is due in June for all the members.")
    assert shown("in June", source) == ["It is due in June for all the members."]
    assert shown("due in June", source) == ["due in June"]


def test_a_quote_of_two_words_over_two_sentences_or_in_a_very_long_one_stays_as_it_is() -> None:
    assert shown("waived. It", passage("The fee is waived. It is due in June.")) == ["waived. It"]
    assert shown("in June", passage("It is due in June, " + "and so on, " * 120)) == ["in June"]


def test_a_claim_that_is_told_word_for_word_is_its_own_evidence_with_its_full_stop() -> None:
    text = "The fee is waived for members. Others pay in June."
    assert nearest("The fee is waived for members", text) == ["The fee is waived for members."]
    assert nearest("Others pay in June!", text) == ["Others pay in June."]
    assert nearest("fee is waived", text) == ["fee is waived"], "a part of a sentence"
    assert nearest("is waived", text) == ["The fee is waived for members."], "two words prove nothing"


def test_the_nearest_sentence_is_the_one_with_most_of_the_claims_words_and_figures() -> None:
    text = "The fee of guests is 30 euros. The fee of members is 20 euros. Dogs are welcome."
    assert nearest("Members pay a fee of 20 euros each year.", text) == ["The fee of members is 20 euros."]
    assert nearest("Guests pay a fee of 30 euros each year.", text) == ["The fee of guests is 30 euros."]


def test_a_claim_with_hardly_a_word_in_common_has_no_evidence() -> None:
    assert nearest("Elephants migrate north each winter along rivers.", "The fee is waived. Dogs are welcome.") == []
    assert nearest("Elephants migrate north each winter.", "") == []


def test_sentences_are_added_while_each_brings_a_fact_and_a_word_that_lack() -> None:
    text = "Members pay a fee of 20 euros. Guests pay a fee of 30 euros. Dogs cost 5 euros. Cats are free."
    claim = "Members pay a fee of 20 euros and guests pay a fee of 30 euros here."
    assert sorted(nearest(claim, text)) == ["Guests pay a fee of 30 euros.", "Members pay a fee of 20 euros."]
    assert len(nearest("Members pay a fee of 20 euros here, as all members do.", text)) == 1


def test_no_more_than_two_sentences_are_added_to_the_nearest() -> None:
    names = "Members", "Guests", "Pupils", "Nurses", "Farmers"
    text = " ".join(f"{name} pay a fee of {n}0 euros." for n, name in enumerate(names, 2))
    claim = ", ".join(f"{name.lower()} pay a fee of {n}0 euros" for n, name in enumerate(names, 2))
    assert len(nearest(f"It is so: {claim}.", text)) == 3


def test_citations_are_numbered_from_one_in_order_of_first_use_and_once_each() -> None:
    first, second = passage("The fee is waived. It is due in June.", n=1), passage("The fee is waived.", n=2)
    numbered = NumberedCitations()
    spans = [*quoted_spans("The fee is waived", first), *quoted_spans("is due in June", first)]
    spans += [*quoted_spans("The fee is waived", first), *quoted_spans("The fee is waived", second)]
    assert [numbered.number_of(span) for span in spans] == [1, 2, 1, 3]
    assert [(citation.n, citation.quote) for citation in numbered.citations] == [
        (1, "The fee is waived"), (2, "is due in June"), (3, "The fee is waived")
    ]  # fmt: skip
    for citation, source in zip(numbered.citations, (first, first, second), strict=True):
        at = citation.char_start - source.char_start
        assert source.text[at : citation.char_end - source.char_start] == citation.quote


def test_markers_stand_behind_the_claim_once_each_in_order() -> None:
    assert with_markers("It is due. ", [2, 1, 2]) == "It is due. [2] [1]"
    assert with_markers("It is due.", []) == "It is due."


def test_evidence_from_a_table_is_told_with_its_columns_and_its_head() -> None:
    rows = "Who | Fee | Month", "Members | 20 | June", "Pupils | 10 | May", "Guests | 30 | May"
    text = "\n".join(["Fees of the club", *rows, "All of this is in euros."])
    (span,) = quoted_spans("Guests | 30 | May", passage(text))
    assert span.sentences[0] == "Guests | 30 | May"
    told = " ".join(span.sentences)
    assert "Fee: 30" in told
    assert "Fees of the club" in told
    assert "Pupils" not in told
    assert span.statement == "Guests | 30 | May"
