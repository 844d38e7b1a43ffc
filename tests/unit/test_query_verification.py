"""Quotes are cut out of the stored text, never out of the model's mouth."""

import re

from hypothesis import given
from hypothesis import strategies as st

from functions.query.citations import CitedAnswer, cite, keep_verified
from functions.query.extractive import extractive_answer
from shared.models import PageStart
from tests.support.query import passage

FIRST = passage("Revenue was $82,959 million in the June quarter. Costs fell by 3 %.", n=1)
SECOND = passage("The museum opens at ten. It is closed on Mondays\nand on public holi-\ndays.", n=2)


def test_a_sentence_that_stands_in_the_source_is_quoted_whole():
    cited = cite("Costs fell by 3 % [1].", [FIRST, SECOND])
    assert [each.quote for each in cited.citations] == ["Costs fell by 3 %."]


def test_a_paraphrase_is_proven_by_the_nearest_sentence():
    cited = cite("June quarter revenue came to $82,959 million [1].", [FIRST, SECOND])
    assert cited.citations[0].quote == "Revenue was $82,959 million in the June quarter."


def test_a_line_break_or_hyphen_in_the_source_does_not_hide_a_quote():
    cited = cite("It is closed on Mondays and on public holi days [2].", [FIRST, SECOND])
    assert cited.citations[0].quote == "It is closed on Mondays\nand on public holi-\ndays."


def test_citations_are_numbered_in_the_order_they_appear():
    cited = cite("The museum opens at ten [2]. Costs fell by 3 % [1]. The museum opens at ten [2].", [FIRST, SECOND])
    assert cited.text == "The museum opens at ten [1]. Costs fell by 3 % [2]. The museum opens at ten [1]."
    assert [each.document_id for each in cited.citations] == ["doc2", "doc1"]


def test_one_marker_may_name_several_sources():
    cited = cite("The museum opens at ten and costs fell by 3 % [1, 2].", [FIRST, SECOND])
    assert cited.text.endswith("[1] [2].")


def test_a_source_that_does_not_say_it_is_no_proof():
    cited = cite("Elephants migrate north each winter [1].", [FIRST])
    assert cited == CitedAnswer("Elephants migrate north each winter.", [], 1)


def test_a_quote_gets_the_very_page_it_stands_on():
    spread = passage(
        "First page here. Second page here.", n=1, page_end=2, pages=(PageStart(1, 100, "i"), PageStart(2, 117, "ii"))
    )
    cited = cite("Second page here [1].", [spread])
    assert (cited.citations[0].page_start, cited.citations[0].page_label) == (2, "ii")


def test_a_citation_that_does_not_stand_is_taken_out_with_its_marker():
    cited = cite("Costs fell by 3 % [1]. The museum opens at ten [2].", [FIRST, SECOND])
    kept = keep_verified(cited, [FIRST])
    assert kept.text == "Costs fell by 3 % [1]. The museum opens at ten."
    assert [each.n for each in kept.citations] == [1]
    assert kept.dropped == 1


@given(
    answer=st.lists(
        st.one_of(
            st.sampled_from(
                ["Costs fell by 3 %", "The museum opens at ten.", "[1]", "[2]", "[1, 2]", "[9]", "[0]", "\n"]
            ),
            st.text(max_size=12),
        ),
        max_size=12,
    ).map(" ".join)
)
def test_whatever_a_model_writes_every_citation_stands_and_every_marker_has_one(answer: str):
    cited = keep_verified(cite(answer, [FIRST, SECOND]), [FIRST, SECOND])
    texts = {"doc1": FIRST, "doc2": SECOND}
    for citation in cited.citations:
        source = texts[citation.document_id]
        assert (
            source.text[citation.char_start - source.char_start : citation.char_end - source.char_start]
            == citation.quote
        )
    assert [each.n for each in cited.citations] == list(range(1, len(cited.citations) + 1))
    assert {int(n) for n in re.findall(r"\[(\d+)\]", cited.text)} <= {each.n for each in cited.citations}


def test_the_extractive_answer_prefers_the_sentence_with_the_rare_words():
    texts = [
        passage("The station has 12 rooms. The station has a mess hall. The generator burns 40 litres a day.", n=1)
    ]
    assert extractive_answer("How many litres does the station's generator burn?", texts).citations[0].quote == (
        "The generator burns 40 litres a day."
    )


def test_the_extractive_answer_has_something_to_say_even_with_no_shared_word():
    assert extractive_answer("¿Cuánto?", [FIRST]).citations[0].quote.startswith("Revenue was")


def test_an_endless_sentence_is_quoted_only_in_part():
    row = "alpha beta gamma delta " * 200
    answer = extractive_answer("alpha", [passage(row)])
    assert len(answer.citations[0].quote) <= 600


def test_a_list_that_is_said_whole_is_quoted_whole():
    listed = passage("Safety first. Carry with you:\n- a flare pistol\n- six cartridges\nThen go.")
    cited = cite("Carry with you:\n- a flare pistol\n- six cartridges [1]", [listed])
    assert cited.citations[0].quote == "Carry with you:\n- a flare pistol\n- six cartridges"
