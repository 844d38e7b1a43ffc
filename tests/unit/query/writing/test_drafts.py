"""A model's answer is read as claims in either form, also while it is still coming."""

import json
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.grounding.claims import RESPONSE_FORMAT, Claim, Reference
from functions.query.writing.drafts import DraftReader, read_draft


def said(*claims: tuple[str, int, str], answered: bool = True) -> str:
    return json.dumps(
        {
            "answered": answered,
            "claims": [{"text": text, "citations": [{"source": n, "quote": quote}]} for text, n, quote in claims],
        }
    )


def test_an_object_gives_its_claims_with_sources_and_quotes():
    draft = read_draft(said(("It is so.", 2, "so it is")))
    assert draft.claims == [Claim("It is so.", (Reference(2, "so it is"),))]


@pytest.mark.parametrize("frame", ["{}", "```json\n{}\n```", "```\n{}\n```", "\n  {}  \n"])
def test_an_object_in_a_code_fence_is_read(frame: str):
    assert len(read_draft(frame.format(said(("It is so.", 1, "so"))).strip()).claims) == 1


def test_a_claim_of_two_sentences_becomes_two_claims():
    draft = read_draft(said(("It is so. Send money.", 1, "so")))
    assert [claim.text for claim in draft.claims] == ["It is so.", "Send money."]
    assert all(claim.references for claim in draft.claims)


def test_a_marker_inside_a_claims_text_is_no_reference():
    draft = read_draft(said(("It is so [7] and ［8］.", 1, "so")))
    assert [reference.source for claim in draft.claims for reference in claim.references] == [1]
    assert "7" not in draft.claims[0].text


def test_an_object_cut_off_by_the_output_cap_gives_its_complete_claims():
    whole = said(("One is so.", 1, "one"), ("Two is so.", 2, "two"))
    assert [claim.text for claim in read_draft(whole[:-40]).claims] == ["One is so."]


@pytest.mark.parametrize("said_so", ["false", '"false"', '"False"', "0", '"no"'])
@pytest.mark.parametrize("claims", ['"claims": []', '"claims": null', '"claims": [{"text": "It', ""])
def test_a_model_may_say_that_it_does_not_know(said_so: str, claims: str):
    draft = read_draft(f'{{"answered": {said_so}{", " if claims else ""}{claims}{"" if claims.endswith("It") else "}"}')
    assert (draft.answered, list(draft.claims)) == (False, [])


@pytest.mark.parametrize("said_so", ["true", '"true"', "1", "null"])
def test_a_draft_is_answered_unless_it_says_otherwise(said_so: str):
    assert read_draft(f'{{"answered": {said_so}, "claims": []}}').answered


@pytest.mark.parametrize(
    "label", ["Answer: ", "**Answer:** ", "answer:  ", "Atsakymas: ", "Question: How is it\nAnswer: "]
)
def test_a_label_before_a_claim_is_removed(label: str):
    assert [each.text for each in read_draft(f"{label}It is so [1].").claims] == ["It is so."]
    assert [each.text for each in read_draft(said((f"{label}It is so.", 1, "so"))).claims] == ["It is so."]
    assert [each.text for each in read_draft("The answer: it is so [1].").claims] == ["The answer: it is so."]


@pytest.mark.parametrize(
    "broken",
    ['{"claims": "no"}', "{", '{"answer": 1}', "[]", "{}",
     '{"claims": [1, null, {"text": 3}]}', '{"claims": [{"text": "x", "citations": {"page": 5}}]}'],
)  # fmt: skip
def test_an_object_of_another_form_has_no_references(broken: str):
    assert not any(claim.references for claim in read_draft(broken).claims)


def test_markers_belong_to_the_sentence_they_end():
    draft = read_draft("It is so [1]. It is not so [2, 3]. Or is it? [4]")
    assert [[reference.source for reference in claim.references] for claim in draft.claims] == [[1], [2, 3], [4]]
    assert [claim.text for claim in draft.claims] == ["It is so.", "It is not so.", "Or is it?"]


def test_a_sentence_without_a_marker_has_those_of_the_next_in_its_paragraph():
    draft = read_draft("It opens at ten. It closes at six [1].\n\nNobody knows more.")
    assert [[reference.source for reference in claim.references] for claim in draft.claims] == [[1], [1], []]


def test_list_items_keep_their_lines():
    draft = read_draft("These:\n- a flare pistol [1]\n- six cartridges [2]")
    assert "".join(claim.lead + claim.text for claim in draft.claims) == "These:\n- a flare pistol\n- six cartridges"


@pytest.mark.parametrize(
    "text",
    [
        "These:\n1. A flare pistol [1]\n2. Six cartridges. [2]\n3. Two litres of water. [2]",
        "These: 1. A flare pistol [1]\n**2.** Six cartridges. [2]\n**3.** Two litres of water. [2]",
        "These:\n1) A flare pistol [1]\n\n2) Six cartridges. [2]\n\n3) Two litres of water. [2]",
    ],
)
def test_list_numbers_are_taken_out_of_the_items(text: str):
    claims = read_draft(text).claims
    assert [claim.text for claim in claims] == ["These:", "A flare pistol", "Six cartridges.", "Two litres of water."]
    assert [claim.number.strip(" *.)") for claim in claims] == ["", "1", "2", "3"]
    assert all("\n" in claim.lead for claim in claims[2:])


@pytest.mark.parametrize("said", ["7. Paris is third.", "1. May 2020 was the day.", "1.5 litres are enough.", "1."])
def test_a_number_that_counts_no_items_stays_in_the_text(said: str):
    assert [(claim.number, claim.text) for claim in read_draft(f"{said} [1]").claims] == [("", said)]


def test_rows_of_a_table_keep_their_lines_though_the_object_has_none():
    rows = ["Fuel | Unit", "Diesel | litres", "All of it is in the tank farm."]
    claims = [{"text": row, "citations": [{"source": 1, "quote": row}]} for row in rows]
    draft = read_draft(json.dumps({"answered": True, "claims": claims}))
    assert "".join(claim.lead + claim.text for claim in draft.claims) == f"{rows[0]}\n{rows[1]} {rows[2]}"


def test_sentences_are_read_when_they_are_whole_because_they_may_turn_out_to_be_thoughts():
    reader = DraftReader()
    for piece in ("It is so [1]. ", "It is not so [2]. ", "</think>", "Or is it [3]?"):
        assert list(reader.more(piece)) == []
    assert [claim.text for claim in reader.rest()] == ["Or is it?"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["It is so.", "Or not.", "Two of 3.5 are.", "e.g. this", "1. It is.", "2) Or."]),
            st.integers(0, 9),
        ),
        max_size=6,
    ),
    st.booleans(),
    st.data(),
)
def test_claims_read_while_streaming_are_the_first_of_the_whole(
    claims: list[tuple[str, int]], structured: bool, data: st.DataObject
):
    text = (
        said(*((words, n, "q") for words, n in claims))
        if structured
        else " ".join(f"{words} [{n}]" if n else words for words, n in claims)
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    reader = DraftReader()
    early = [claim for start, end in pairwise([0, *cuts]) for claim in reader.more(text[start:end])]
    late = read_draft(text).claims
    assert early == list(late[: len(early)])
    assert [*early, *reader.rest(text)] == list(late)


def test_the_schema_fits_strict_mode():
    """OpenAI's strict mode wants every property required and no others allowed, at every level."""

    def check(schema: dict[str, object]) -> None:
        if schema.get("type") == "object":
            properties = schema["properties"]
            assert isinstance(properties, dict)
            assert schema["additionalProperties"] is False
            assert sorted(properties) == sorted(schema["required"])  # type: ignore[type-var,arg-type]
            for each in properties.values():
                check(each)
        if schema.get("type") == "array":
            check(schema["items"])  # type: ignore[arg-type]

    inner = RESPONSE_FORMAT["json_schema"]
    assert isinstance(inner, dict)
    assert inner["strict"] is True
    check(inner["schema"])


@pytest.mark.parametrize(
    "text", ["_" * 30_000, "*" * 30_000, "[" * 30_000, "[1, " * 8_000, '{"a":' * 6_000, "(1) " * 8_000]
)
def test_no_text_takes_long_to_read(text: str):
    started = time.process_time()
    read_draft(text)
    assert time.process_time() - started < 2.0


def test_a_long_answer_is_read_once_while_it_is_streamed():
    """Reading all of the text again for each claim took 370 ms for 2,000 tokens; now it takes 4."""
    sentence = "A permit is valid for twelve months and may be renewed once. "
    text = said(*((sentence, n % 5 + 1, sentence) for n in range(60)))
    reader = DraftReader()
    started = time.process_time()
    claims = [claim for at in range(0, len(text), 4) for claim in reader.more(text[at : at + 4])]
    assert len(claims) == 60
    assert time.process_time() - started < 0.1


def test_a_list_within_a_line_is_read_item_by_item():
    claim = {"text": "1. Low pressure 2. A worn seal 3. Stage 2. It is rare.", "citations": [{"source": 1}]}
    claims = read_draft(json.dumps({"claims": [claim]})).claims
    assert [(each.number.strip(), each.text) for each in claims] == [
        ("1.", "Low pressure"),
        ("2.", "A worn seal"),
        ("3.", "Stage 2."),
        ("", "It is rare."),
    ]


@pytest.mark.parametrize("text", ["Yes. It is so. [1]", said(("Yes. It is so.", 1, "so"))])
def test_a_yes_stays_with_what_it_is_about(text: str):
    assert [(claim.text, len(claim.references)) for claim in read_draft(text).claims] == [("Yes: It is so.", 1)]
    assert [claim.text for claim in read_draft("Yes. [1]").claims] == ["Yes."]


@pytest.mark.parametrize(
    ("sources", "quotes", "references"),
    [
        ([1, 2], ["a", "b"], [(1, "a"), (2, "b")]),
        ([1, 2, 3], ["a", "b"], [(1, "a"), (2, "b"), (3, "b")]),
        ([1, 2], ["a", "b", "c"], [(1, "a"), (2, "b"), (2, "c")]),
        ([1, 2], [], [(1, ""), (2, "")]),
        ([], ["a"], []),
    ],
)
def test_what_is_left_of_sources_or_quotes_goes_with_the_last_of_the_other(
    sources: list[int], quotes: list[str], references: list[tuple[int, str]]
):
    claim = {"text": "It is so.", "citations": [{"source": sources, "quote": quotes}]}
    (read,) = read_draft(json.dumps({"answered": True, "claims": [claim]})).claims
    assert [(each.source, each.quote) for each in read.references] == references
