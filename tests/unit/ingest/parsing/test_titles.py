"""Titles: metadata that are no template, the cover by size without what many documents share, filings, file names."""

import pytest

from functions.ingest.parsing.titles import Beginning, filing_of, title_from_file_name, title_of, usable_title
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import Line


@pytest.mark.parametrize(
    ("metadata", "title"),
    [
        ("Rules of Procedure", "Rules of Procedure"),
        ("Microsoft Word - Annual report 2023", "Annual report 2023"),
        ("Microsoft Word - report_v3.doc", ""),
        ("untitled", ""),
        ("Untitled-1", ""),
        ("Document1", ""),
        ("2310.07609v1", ""),
        ("C:\\users\\me\\x", ""),
        ("  Taisyklės\u00a0ir  nuostatai ", "Taisyklės ir nuostatai"),
        ("目录与前言", "目录与前言"),
    ],
)
def test_a_title_is_taken_only_if_sane(metadata: str, title: str) -> None:
    assert usable_title(metadata) == title


def test_a_file_name_makes_a_title() -> None:
    assert title_from_file_name("uploads/acme/My_annual+report.pdf") == "My annual report"
    assert title_from_file_name(".pdf") == "Untitled"


COVER = """UNITED STATES
SECURITIES AND EXCHANGE COMMISSION
Washington, D.C. 20549
FORM {form}
{period}
Commission File Number: 1-2345 {name}"""


@pytest.mark.parametrize(
    ("form", "period", "name", "title"),
    [
        (
            "10-K", "For the fiscal year ended December 31, 2021", "\n__\nORCHARD CO., INC. (Exact name of registrant",
            "ORCHARD CO., INC., Form 10-K, fiscal year ended December 31, 2021",
        ),
        (
            "10-Q/A", "For the quarterly period ended | JULY 1, 2023", "\nPlum plc\n(Exact Name of Registrant as",
            "Plum plc, Form 10-Q/A, quarterly period ended July 1, 2023",
        ),
        (
            "8-K", "Date of Report (Date of first event): May 3, 2023", "\nPlum, Inc .\n(Exact name of the registrant",
            "Plum, Inc., Form 8-K, reported May 3, 2023",
        ),
        (
            "10-Q", "For the Quarterly Period Ended March 31, 2023", "PEAR CORPORATION\nWASHINGTON | 91-1144442",
            "PEAR CORPORATION, Form 10-Q, quarterly period ended March 31, 2023",
        ),
        ("10-K", "an annual report", "Plum plc (Exact name of registrant", "Plum plc, Form 10-K"),
        (
            "10-K", "For the year ended\n31 March 2021", "\nTHE PLUM &\nPEAR COMPANY\n(Exact names of registrants",
            "THE PLUM & PEAR COMPANY, Form 10-K, year ended 31 March 2021",
        ),
        (
            "10-Q", "For the quarterly period ended July 1, 2023\nFor the transition period from to",
            "Plum Inc. (Exact name of Registrant", "Plum Inc., Form 10-Q, quarterly period ended July 1, 2023",
        ),
        (
            "10-Q", "For the quarterly period ended July 1, 2023",
            "\nFor the transition period from ____ to ____ Plum Inc. (Exact name of Registrant",
            "Plum Inc., Form 10-Q, quarterly period ended July 1, 2023",
        ),
        ("10-K", "For the fiscal year ended May 31, 2021", "\n____", ""),
        ("of the matter", "For the fiscal year ended May 31, 2021", "Plum plc (Exact name of registrant", ""),
    ],
)  # fmt: skip
def test_a_filings_cover_says_whose_report_it_is_and_of_when(form: str, period: str, name: str, title: str) -> None:
    filing = filing_of(COVER.format(form=form, period=period, name=name))
    assert (filing.title if filing else "") == title


@pytest.mark.parametrize(
    "generic", ["Contents", "User Guide", "Owner\u2019s Manual", "UNITED STATES SECURITIES AND EXCHANGE COMMISSION"]
)
def test_what_any_document_says_is_no_title(generic: str) -> None:
    assert usable_title(generic) == ""
    assert usable_title(f"{generic} of the Orchard") != ""


def beginning(*lines: Line, metadata: str = "", file_name: str = "scan_17.pdf") -> Beginning:
    words = Vocabulary()
    for line in lines:
        words.add(line.text)
    return Beginning(file_name, metadata, [[*lines]], (), 10.0, words)


def line(text: str, size: float = 10.0, y: float = 0.0) -> Line:
    return Line(text, y0=y, y1=y + size, size=size)


BODY = line("The orchard was planted in 1911 and yields plums and pears.", y=400)


def test_a_filing_without_a_name_on_its_cover_is_named_by_its_metadata() -> None:
    cover = COVER.format(form="10-K", period="For the fiscal year ended May 31, 2021", name="")
    filing = filing_of(cover, "Form 10-K for Plum Corp filed 06/30/2021")
    assert filing is not None
    assert filing.title == "Plum Corp, Form 10-K, fiscal year ended May 31, 2021"


def test_capitals_set_apart_from_their_words_are_joined_in_a_name() -> None:
    filing = filing_of(COVER.format(form="10-K", period="", name="\nPLUM O RCHARDS I NC (Exact name of registrant"))
    assert filing is not None
    assert filing.registrant == "PLUM ORCHARDS INC"


def test_a_letter_that_mentions_a_form_is_no_filing() -> None:
    assert filing_of("Dear shareholders, our Form 10-K was filed with the Securities and Exchange Commission.") is None


@pytest.mark.parametrize(
    ("metadata", "title"),
    [
        ("Growing plums", "Growing plums"),
        ("Company letterhead template", "Plums for everyone"),
        ("Plums, Exhibit 99.1", "Plums for everyone"),
    ],
)
def test_metadata_make_the_title_if_the_pages_bear_it_out(metadata: str, title: str) -> None:
    pages = beginning(line("Plums for everyone", 24), line("On growing them", 11), BODY, metadata=metadata)
    assert title_of(pages, None) == title


def test_metadata_that_are_the_name_of_a_file_are_no_title_beside_a_heading() -> None:
    named = beginning(line("Plums for everyone", 24), BODY, metadata="PlumsForEveryone report_plums_INS1-97")
    assert title_of(named, None) == "Plums for everyone"
    assert title_of(beginning(BODY, metadata="plums_everyone"), None) == "plums_everyone"


def test_a_remark_that_the_title_cuts_off_is_left_out() -> None:
    cut = beginning(line("Growing plums (in partnership with the pears", 24), BODY)
    assert title_of(cut, None) == "Growing plums"


def test_metadata_are_believed_where_nothing_else_is_known() -> None:
    assert title_of(beginning(metadata="Growing plums"), None) == "Growing plums"
    assert title_of(beginning(BODY, metadata="Letterhead"), None) == "Letterhead"


def test_what_many_covers_say_is_passed_over() -> None:
    pages = beginning(line("User Guide", 32), line("Table of Contents", 26), line("Plum press P70", 20, 90), BODY)
    assert title_of(pages, None) == "Plum press P70: User Guide"


def test_a_short_heading_takes_the_next_largest_lines_with_it() -> None:
    pages = beginning(line("ORCHARD", 40, 10), line("COUNTY", 40, 60), line("HISTORIC TREES SURVEY", 20, 200), BODY)
    assert title_of(pages, None) == "ORCHARD COUNTY: HISTORIC TREES SURVEY"


@pytest.mark.parametrize(
    ("below", "title"),
    [
        ("by Ann B. Lee and Bo Ray", "FLASHER"),
        ("by the river of the north", "FLASHER: by the river of the north"),
        ("By Region", "FLASHER: By Region"),
        ("por último", "FLASHER: por último"),
    ],
)
def test_a_line_that_names_the_authors_is_no_part_of_a_title(below: str, title: str) -> None:
    assert title_of(beginning(line("FLASHER", 30, 100), line(below, 16, 200), BODY), None) == title


@pytest.mark.parametrize(
    ("first", "below", "title"),
    [
        ("Orchard Berry DB", "Upgrade Guide", "Orchard Berry DB: Upgrade Guide"),
        ("Orchard", "Changes:", "Orchard"),
        ("How to keep an orchard", "Upgrade Guide", "How to keep an orchard"),
        ("Copyright © 2013 Orchard", "Version 1.5", "plums"),
        ("Copyright Law of Graz", "1. Definitions", "Copyright Law of Graz"),
        ("Plum Data Sheet", "Section 1. Use", "Plum Data Sheet"),
    ],
)
def test_a_block_as_large_is_part_of_a_title_of_few_words(first: str, below: str, title: str) -> None:
    pages = beginning(line(first, 30, 100), line(below, 30, 300), BODY, file_name="plums.pdf")
    assert title_of(pages, None) == title


def test_a_page_of_many_lines_is_no_cover() -> None:
    text = [line(f"The plum number {n} is ripe in July.", 10, 400 + 12 * n) for n in range(12)]
    pages = beginning(line("Orchard Staff Handbook", 30, 100), line("Our Values", 30, 300), *text)
    assert title_of(pages, None) == "Orchard Staff Handbook"


def test_metadata_that_end_in_the_middle_are_no_title() -> None:
    lines = line("Orchard Follies, or,", 20, 10), line("Why Plums Matter", 20, 32), BODY
    assert title_of(beginning(*lines, metadata="Orchard Follies, or,"), None) == "Orchard Follies, or, Why Plums Matter"


def test_a_title_of_four_lines_is_whole() -> None:
    lines = [line(text, 40, 10 + 45 * at) for at, text in enumerate(("How to", "prune", "a plum", "tree"))]
    assert title_of(beginning(*lines, BODY), None) == "How to prune a plum tree"


def test_without_anything_else_the_file_names_the_document() -> None:
    assert title_of(beginning(BODY, file_name="plum_press_p70.pdf"), None) == "plum press p70"


@pytest.mark.parametrize("mark", ["*", "∗", "†", " *", "**"])
def test_the_mark_of_a_note_is_no_part_of_a_title(mark: str) -> None:
    assert title_of(beginning(line(f"On Terraces{mark}", 20), line("Text of it", y=40)), None) == "On Terraces"
    assert usable_title("Plan of C*") == "Plan of C"
    assert usable_title("Trees of 1984*") == "Trees of 1984*"
