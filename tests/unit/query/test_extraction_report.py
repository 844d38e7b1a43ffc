"""What a report says, in every language that is shipped."""

import json
from dataclasses import replace

import pytest

from functions.query.extraction_report import MAX_SHOWN_RANGES, report_of
from functions.query.understanding.question import TEXTS as ALL_TEXTS
from shared.models import (
    OCR_FAILED,
    OCR_PENDING,
    Document,
    DocumentError,
    DocumentStatus,
    PageReport,
    PageState,
    SourceType,
    ranges_of,
)

TEXTS = ALL_TEXTS / "reports"
LANGUAGES = sorted(path.stem for path in TEXTS.glob("*.json"))


def document(*states: PageState, pages: int = 0, status: DocumentStatus = DocumentStatus.PARTIAL) -> Document:
    report = [PageReport(n, 100 if state == "text" else 0, state) for n, state in enumerate(states, start=1)]
    return Document("acme", "d", "uploads/acme/d.pdf", status, page_count=pages or len(states), report=report)


def test_pages_are_told_as_ranges_with_what_to_do() -> None:
    report = report_of(document("text", "scanned", "scanned", "text", "scanned", "failed", pages=9), "en")
    assert report.summary == "Part of the document can be searched. Pages with text: 2 of 9."
    assert [(each.kind, each.ranges) for each in report.findings] == [
        ("scanned", [(2, 3), (5, 5)]),
        ("failed", [(6, 6)]),
        ("not_reached", [(7, 9)]),
    ]
    assert report.findings[0].text == "Pages 2–3, 5: pictures without text."
    assert "OCR" in report.findings[0].remedy


def test_an_empty_page_needs_no_remedy_and_entries_are_called_so() -> None:
    whole = document("text", "empty", status=DocumentStatus.READY)
    assert [(each.kind, each.remedy) for each in report_of(whole, "en").findings] == [("empty", "")]
    file = Document(
        "acme", "d", "knowledge/acme/k.json", DocumentStatus.PARTIAL, page_count=2,
        report=[PageReport(1, 9), PageReport(2, 0, "failed")], source_type=SourceType.KNOWLEDGE,
    )  # fmt: skip
    (finding,) = report_of(file, "en").findings
    assert finding.text == "Entry 2: could not be read."
    assert finding.remedy == "Correct these entries and upload the file again."


@pytest.mark.parametrize("language", LANGUAGES)
def test_why_a_pdf_could_not_be_read_is_said_in_the_readers_language(language: str) -> None:
    recorded = "The document has 5616 pages, 5000 are allowed: split it into parts."
    failed = replace(document(status=DocumentStatus.FAILED), error=DocumentError("TOO_MANY_PAGES", recorded))
    error = report_of(failed, language).error
    assert error is not None
    assert (error.message == recorded) is (language == "en")
    assert "5616" in error.message
    assert "5000" in error.message


def test_an_error_without_a_translation_stays_as_it_was_recorded() -> None:
    recorded = DocumentError("RETRIES_EXHAUSTED", "The index is down.")
    assert report_of(replace(document(status=DocumentStatus.FAILED), error=recorded), "de").error == recorded
    entry = replace(
        document(), source_type=SourceType.KNOWLEDGE, error=DocumentError("TOO_LARGE", "k2.json: at most 9")
    )
    assert report_of(entry, "de").error == entry.error


def test_the_failures_are_the_same_in_all_languages() -> None:
    files = [TEXTS.parent / "failures" / f"{language}.json" for language in LANGUAGES if language != "en"]
    keys = [json.loads(path.read_text("utf-8")).keys() for path in files]
    assert keys[0]
    assert all(each == keys[0] for each in keys)


@pytest.mark.parametrize(
    ("code", "said"), [("PAGES_NEED_OCR", "Run OCR"), (OCR_PENDING, "in a few minutes"), (OCR_FAILED, "OcrLanguages")]
)
def test_what_to_do_about_unread_pages_follows_from_what_ocr_has_done(code: str, said: str) -> None:
    partly = replace(document("text", "scanned", "failed"), error=DocumentError(code, "…"))
    scanned, failed = report_of(partly, "en").findings
    assert scanned.text == "Page 2: pictures without text."
    assert said in scanned.remedy
    assert failed.remedy.startswith("Open the file")


def test_many_ranges_are_cut_in_the_sentence_only() -> None:
    states: list[PageState] = ["scanned" if n % 2 else "text" for n in range(2 * MAX_SHOWN_RANGES + 4)]
    (finding,) = report_of(document(*states), "en").findings
    assert len(finding.ranges) == MAX_SHOWN_RANGES + 2
    assert finding.text.count(",") == MAX_SHOWN_RANGES
    assert "…" in finding.text


def test_ranges() -> None:
    assert ranges_of([]) == []
    assert ranges_of([3, 1, 2, 7]) == [(1, 3), (7, 7)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("status", [each for each in DocumentStatus if each is not DocumentStatus.DELETED])
def test_every_status_and_finding_has_words_in_every_language(language: str, status: DocumentStatus) -> None:
    states: tuple[PageState, ...] = ("text", "empty", "scanned", "garbled", "hidden", "failed")
    report = report_of(document(*states, pages=7, status=status), language)
    assert len(report.findings) == 6
    assert not any("{" in each.text + each.remedy for each in report.findings)
    assert report.summary
    assert "{" not in report.summary


def test_the_languages_are_those_of_problems() -> None:
    assert sorted(path.stem for path in (TEXTS.parent / "problems").glob("*.json")) == LANGUAGES
    keys = [json.loads((TEXTS / f"{language}.json").read_text("utf-8")).keys() for language in LANGUAGES]
    assert all(each == keys[0] for each in keys)
