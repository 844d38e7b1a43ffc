"""The checks of an answer: what they let through, and what they catch."""

from evals.answer_checks import check, content_words, recall_of, sentences_with_markers
from shared.models import Citation, SourceType
from tests.support.query import passage

TEXT = "The mast is 12.5 m high. It was built in 1974 by two brothers."
SOURCE = passage(TEXT)


def citation(quote: str, *, n: int = 1, shift: int = 0) -> Citation:
    start = SOURCE.char_start + TEXT.find(quote) + shift
    return Citation(n, SOURCE.document_id, "", SourceType.PDF, 1, 1, "", "", quote, start, start + len(quote), 0.5)


def test_a_sentence_its_quote_says_is_supported_exact_and_valid() -> None:
    it = check("The mast is 12.5 m high. [1]", [citation("The mast is 12.5 m high.")], [SOURCE])
    assert (it.valid, it.exact, it.supported) == (1.0, 1.0, 1.0)


def test_a_number_the_quote_does_not_hold_is_not_supported() -> None:
    assert check("The mast is 13.5 m high [1].", [citation("The mast is 12.5 m high.")], [SOURCE]).supported == 0.0


def test_a_table_row_is_told_with_the_names_of_its_columns() -> None:
    text = "Stores | Unit | Minimum\nDiesel fuel | litres | 48,000\nPetrol | litres | 900"
    row = "Diesel fuel | litres | 48,000"
    source = passage(text, char_start=0)
    at = text.index(row)
    cited = Citation(1, source.document_id, "", SourceType.PDF, 1, 1, "", "", row, at, at + len(row), 0.5)
    assert check("Stores: Diesel fuel; Unit: litres; Minimum: 48,000 [1]", [cited], [source]).supported == 1.0
    assert check("Stores: Diesel fuel; Unit: litres; Minimum: 900 [1]", [cited], [source]).supported == 0.0


def test_a_sentence_without_a_citation_is_not_supported() -> None:
    it = check("The mast is 12.5 m high [1]. Two brothers built it.", [citation("The mast is 12.5 m high.")], [SOURCE])
    assert it.supported == 0.5


def test_a_quote_that_is_one_character_off_is_not_exact() -> None:
    it = check("It was built in 1974 [1].", [citation("built in 1974", shift=1)], [SOURCE])
    assert it.exact == 0.0


def test_a_quote_of_a_document_that_was_not_given_is_not_exact() -> None:
    it = check("It was built in 1974 [1].", [citation("built in 1974")], [passage(TEXT, n=2)])
    assert it.exact == 0.0


def test_a_marker_without_citation_and_a_citation_without_marker_are_both_invalid() -> None:
    it = check("It was built in 1974 [2].", [citation("built in 1974")], [SOURCE])
    assert it.valid == 0.0


def test_an_answer_without_citations_has_no_share_of_exact_ones() -> None:
    it = check("Nothing is known.", [], [SOURCE])
    assert (it.citations, it.valid, it.exact, it.supported) == (0, None, None, 0.0)


def test_markers_behind_the_full_stop_belong_to_the_sentence_before() -> None:
    assert sentences_with_markers("It is high. [1] It is old. [2]") == ["It is high. [1]", "It is old. [2]"]


def test_words_are_compared_without_case_plural_or_separators() -> None:
    assert content_words("The Masts of 1,200 ships, 15%") == {"mast", "1200", "ship", "15"}


def test_recall_is_the_share_of_the_expected_words_and_none_without_words() -> None:
    assert recall_of("two brothers, 1974", ["built in 1974"]) == 1 / 3
    assert recall_of("the", ["x"]) is None
