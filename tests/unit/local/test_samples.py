"""The committed sample PDFs are what their texts say, and the sample questions can be answered from them."""

from functools import cache
from pathlib import Path

import pypdf
import pytest

from local.cli_demo import SAMPLES, SampleQuestion, sample_pdfs, sample_questions
from tests.support.sample_pdfs import SampleText, make_pdf, sample_texts

QUESTIONS = sample_questions()


@cache
def reader(name: str) -> pypdf.PdfReader:
    return pypdf.PdfReader(SAMPLES / name)


@pytest.mark.parametrize("source", list(sample_texts()), ids=lambda s: s.fields["file"])
def test_a_committed_pdf_is_what_the_generator_makes(source: SampleText) -> None:
    committed = (SAMPLES / source.fields["file"]).read_bytes()
    assert committed == make_pdf(source), "run `python -m tests.support.sample_pdfs`"
    assert len(committed) < 150_000


@pytest.mark.parametrize("path", sample_pdfs(), ids=lambda p: p.name)
def test_a_sample_has_pages_outline_and_two_kinds_of_page_labels(path: Path) -> None:
    pdf = reader(path.name)
    assert 4 <= len(pdf.pages) <= 8
    assert len(pdf.outline) >= 5
    assert pdf.page_labels[:4] == ["i", "ii", "1", "2"]
    assert pdf.metadata is not None
    assert pdf.metadata.title


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q.answerable], ids=lambda q: q.question)
def test_the_answer_is_on_the_named_page(question: SampleQuestion) -> None:
    for page in question.pages:
        assert question.answer in " ".join(reader(question.doc).pages[page - 1].extract_text().split())


def test_there_are_questions_about_every_sample_and_some_that_must_be_refused() -> None:
    assert {q.doc for q in QUESTIONS if q.answerable} == {path.name for path in sample_pdfs()}
    assert sum(q.answerable for q in QUESTIONS) >= 8
    assert any(not q.answerable for q in QUESTIONS)
