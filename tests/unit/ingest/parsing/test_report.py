"""The status says what can be found, and the reason what to do about the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.ingest.parsing.report import is_unread, report_of, status_of, status_of_rejection
from functions.ingest.parsing.wire import Line, RawPage
from shared.errors import DocumentRejected
from shared.models import DocumentStatus, PageReport

STATES = ("text", "empty", "scanned", "garbled", "hidden", "failed")


def reports(*states: str) -> list[PageReport]:
    return [
        PageReport(i, 100 if state == "text" else 0, state)  # type: ignore[arg-type]
        for i, state in enumerate(states, 1)
    ]


@pytest.mark.parametrize(
    ("states", "status", "code"),
    [
        (["text", "text"], "READY", ""),
        (["text", "empty"], "READY", ""),
        (["text", "hidden"], "READY", ""),
        (["text", "scanned"], "PARTIAL", "PAGES_NEED_OCR"),
        (["text", "garbled"], "PARTIAL", "PAGES_NEED_OCR"),
        (["text", "failed"], "PARTIAL", "INCOMPLETE"),
        (["scanned", "empty"], "NEEDS_OCR", "NEEDS_OCR"),
        (["garbled"], "NEEDS_OCR", "NEEDS_OCR"),
        (["failed", "failed"], "FAILED", "UNREADABLE"),
        (["hidden"], "FAILED", "ONLY_HIDDEN_TEXT"),
        (["empty"], "FAILED", "NO_TEXT"),
    ],
)
def test_a_status_follows_from_the_pages(states: list[str], status: str, code: str) -> None:
    got, error = status_of(reports(*states), len(states), [])
    assert (got, error.code if error else "") == (status, code)


def test_pages_that_were_not_reached_make_a_document_partial() -> None:
    status, error = status_of(reports("text", "text"), 5, ["stopped after page 2: time limit of the document"])
    assert status is DocumentStatus.PARTIAL
    assert error is not None
    assert "3 not reached" in error.message
    assert "time limit" in error.message


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (["empty"], "There is no text on the page: check"),
        (["empty", "empty"], "There is no text on any of the 2 pages: check"),
        (["failed"], "The page could not be read: open"),
        (["failed", "failed"], "None of the 2 pages could be read: open"),
    ],
)
def test_one_page_is_spoken_of_as_one(states: list[str], said: str) -> None:
    _, error = status_of(reports(*states), len(states), [])
    assert error is not None
    assert error.message.startswith(said)


@pytest.mark.parametrize(
    ("states", "failed", "code", "said"),
    [
        (["scanned", "garbled"], {1, 2}, "OCR_FAILED", "text cannot be decoded: 2 of 2. OCR found no text"),
        (["scanned", "garbled"], {1}, "NEEDS_OCR", "text cannot be decoded: 2 of 2. Run OCR"),
        (
            ["text", "scanned"],
            {2},
            "OCR_FAILED",
            "Of 2 pages: 1 only a picture of text. The rest can be searched. OCR found",
        ),
        (["text", "scanned", "garbled"], {2}, "PAGES_NEED_OCR", "1 with text that cannot be decoded. The rest"),
        (
            ["text", "scanned", "failed"],
            {2},
            "INCOMPLETE",
            "1 that could not be read. The rest can be searched. OCR found",
        ),
    ],
)
def test_what_ocr_could_not_read_either_is_not_sent_to_ocr_again(
    states: list[str], failed: set[int], code: str, said: str
) -> None:
    _, error = status_of(reports(*states), len(states), [], failed)
    assert error is not None
    assert error.code == code
    assert said in error.message


@given(st.lists(st.sampled_from(STATES), max_size=6), st.integers(0, 3), st.lists(st.just("stopped"), max_size=1))
def test_ready_means_that_text_was_found_and_nothing_is_missing(
    states: list[str], missing: int, problems: list[str]
) -> None:
    status, error = status_of(reports(*states), len(states) + missing, problems)
    complete = not missing and not problems and not {"scanned", "garbled", "failed"} & set(states)
    assert (status is DocumentStatus.READY) == ("text" in states and complete)
    assert (error is None) == (status is DocumentStatus.READY)


def test_a_password_has_a_status_of_its_own() -> None:
    assert status_of_rejection(DocumentRejected("ENCRYPTED", "x"))[0] is DocumentStatus.ENCRYPTED
    assert status_of_rejection(DocumentRejected("DAMAGED", "x"))[0] is DocumentStatus.FAILED


PROSE = "The committee met in the spring of that year and agreed to what had been proposed before."


@pytest.mark.parametrize(
    ("page", "state"),
    [
        (RawPage(1, lines=[Line(PROSE)]), "text"),
        (RawPage(1, lines=[Line(PROSE)], images=1.0), "text"),
        (RawPage(1), "empty"),
        (RawPage(1, images=0.9), "scanned"),
        (RawPage(1, images=0.9, lines=[Line("12")]), "scanned"),
        (RawPage(1, paths=5_000), "scanned"),
        (RawPage(1, hidden=40), "hidden"),
        (RawPage(1, error="time limit"), "failed"),
        (RawPage(1, lines=[Line("7KH FRPPLWWHH PHW LQ WKH VSULQJ RI WKDW VDPH ZKLOH " * 5)]), "garbled"),
    ],
)
def test_a_pages_state_follows_from_what_was_found(page: RawPage, state: str) -> None:
    report = report_of(page, [])
    assert report.state == state
    assert not (state == "garbled" and page.lines)


def stamped(y: float, *, images: float = 1.0, engine: str = "pdfium") -> RawPage:
    stamp = Line("Case 2:18-cv-12857 filed 09/13/18 Page 5 of 16", 50, y, 400, y + 10, 10)
    return RawPage(1, width=600, height=800, images=images, engine=engine, lines=[stamp])


@pytest.mark.parametrize(
    ("page", "state"),
    [
        (stamped(10), "scanned"),
        (stamped(775), "scanned"),
        (stamped(35), "text"),  # a slide's title
        (stamped(755), "text"),
        (stamped(10, images=0.8), "text"),
        (stamped(10, engine="pypdf"), "text"),
    ],
)
def test_a_picture_with_a_stamp_at_its_edge_is_a_scan(page: RawPage, state: str) -> None:
    assert report_of(page, []).state == state
    assert is_unread(page) is (state == "scanned")


def test_the_characters_of_a_stamp_are_counted() -> None:
    page = stamped(10)
    report = report_of(page, [])
    assert report.characters == len(page.lines[0].text)
    assert report.text_layer


@pytest.mark.parametrize(("characters", "state"), [(80, "scanned"), (81, "text"), (242, "text")])
def test_what_is_longer_than_a_stamp_is_text_wherever_it_stands(characters: int, state: str) -> None:
    page = stamped(10)
    page.lines[0].text = ("A title of a page " * 20)[: characters - 1] + "s"
    assert report_of(page, []).state == state


def test_two_lines_of_a_caption_at_the_edge_of_a_picture_are_text() -> None:
    page = stamped(765)
    page.lines.append(Line("The harbour of Selmouth, seen from the lighthouse", 50, 778, 400, 788, 10))
    assert report_of(page, []).state == "text"


def test_what_stands_within_a_picture_is_text_though_a_stamp_is_there_too() -> None:
    page = stamped(10)
    page.lines.append(Line("A title", 50, 100, 400, 110, 10))
    assert report_of(page, []).state == "text"
