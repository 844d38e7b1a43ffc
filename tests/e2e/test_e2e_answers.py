"""A PDF in the bucket becomes a cited answer from the API."""

import io
import re
from typing import Any

import pypdf
import pytest

from local.cli_demo import SAMPLES, SampleQuestion, fault_of, sample_pdfs, sample_questions
from local.client import ApiClient, ApiError

QUESTIONS = sample_questions()
ANSWERABLE = [q for q in QUESTIONS if q.answerable]
REFUSED = [q for q in QUESTIONS if not q.answerable]


def test_every_sample_becomes_ready_with_all_its_pages(api: ApiClient, samples: dict[str, str]) -> None:
    for pdf in sample_pdfs():
        document = api.document(samples[pdf.name])
        assert document["status"] == "READY", document
        assert document["page_count"] == len(pypdf.PdfReader(pdf).pages)
        assert document["chunk_count"] >= 1


@pytest.mark.parametrize("expected", ANSWERABLE, ids=lambda q: q.question)
def test_an_answer_cites_the_right_page_of_the_right_document(
    api: ApiClient, samples: dict[str, str], expected: SampleQuestion
) -> None:
    answer = api.query(expected.question)
    assert fault_of(expected, answer, samples) == ""


def test_the_fact_asked_for_stands_in_the_answer_or_its_quotes(api: ApiClient, samples: dict[str, str]) -> None:
    lacking = []
    for expected in ANSWERABLE:
        answer = api.query(expected.question)
        said = " ".join([answer["answer"], *(c["quote"] for c in answer["citations"])])
        if _letters(expected.answer) not in _letters(said):
            lacking.append((expected.question, said))
    # An extractive model may quote a neighbouring sentence; most facts have to be there word for word.
    assert len(lacking) <= len(ANSWERABLE) // 4, lacking


def test_quotes_stand_on_the_pages_they_name(api: ApiClient, samples: dict[str, str]) -> None:
    names = {document_id: name for name, document_id in samples.items()}
    seen = 0
    for expected in ANSWERABLE:
        for citation in api.query(expected.question)["citations"]:
            if citation["document_id"] in names:
                reader = pypdf.PdfReader(SAMPLES / names[citation["document_id"]])
                span = range(citation["page_start"], citation["page_end"] + 1)
                text = " ".join(reader.pages[number - 1].extract_text() for number in span)
                assert _letters(citation["quote"]) in _letters(text), citation
                assert citation["page_label"] == reader.page_labels[citation["page_start"] - 1]
                seen += 1
    assert seen >= len(ANSWERABLE)


def _letters(text: str) -> str:
    """Letters and digits only: two PDF readers space and bullet the same page differently."""
    return re.sub(r"[\W_]+", "", text).lower()


@pytest.mark.parametrize("expected", REFUSED, ids=lambda q: q.question)
def test_what_no_document_says_is_refused_without_a_model_call(
    api: ApiClient, samples: dict[str, str], expected: SampleQuestion
) -> None:
    answer = api.query(expected.question)
    assert (answer["no_relevant_info"], answer["mode"], answer["citations"]) == (True, "refused", [])
    assert answer["handoff_offered"]
    assert answer["answer"]
    assert answer["usage"]["output_tokens"] == 0


def test_a_conversation_goes_on_and_is_read_back(api: ApiClient, samples: dict[str, str]) -> None:
    first = api.query("How many people can winter at Skarvnes station?")
    conversation_id = first["conversation_id"]
    second = api.query("And how much water may each of them use there?", conversation_id=conversation_id)
    assert second["conversation_id"] == conversation_id
    stored = api.conversation(conversation_id)
    assert [m["role"] for m in stored["messages"]] == ["user", "assistant", "user", "assistant"]
    assert stored["messages"][0]["content"] == "How many people can winter at Skarvnes station?"
    assert stored["messages"][1]["content"] == first["answer"]
    assert [c["quote"] for c in stored["messages"][1]["citations"]] == [c["quote"] for c in first["citations"]]
    page = api.conversation(conversation_id, limit=3)
    rest = api.conversation(conversation_id, limit=3, cursor=page["next_cursor"])
    assert [m["message_id"] for m in page["messages"] + rest["messages"]] == [
        m["message_id"] for m in stored["messages"]
    ]


def test_a_filter_keeps_to_one_document(api: ApiClient, samples: dict[str, str]) -> None:
    museum = samples["tides-museum-annual-report.pdf"]
    answer = api.query("How many visitors came?", filter={"document_id": {"$eq": museum}})
    assert {source["document_id"] for source in answer["sources"]} == {museum}


def test_a_filename_that_is_no_pdf_is_refused_before_anything_is_sent(api: ApiClient) -> None:
    with pytest.raises(ApiError) as refused:
        api.announce("notes.docx")
    assert (refused.value.status, refused.value.code) == (400, "invalid_request")


def test_a_form_is_good_for_its_own_key_only(api: ApiClient, pdf_about: Any) -> None:
    promised = api.announce("mine.pdf")
    content = io.BytesIO(pdf_about("A note", "# One", "Nothing of interest.")).getvalue()
    stolen = dict(promised.fields) | {"key": "uploads/other/theirs.pdf"}
    with pytest.raises(ApiError) as refused:
        api.send(type(promised)(promised.document_id, promised.key, promised.url, stolen), content)
    assert refused.value.status == 403
