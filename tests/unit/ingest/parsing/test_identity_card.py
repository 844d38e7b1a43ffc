"""The identity card: whose, by whom, kind, period, date, version and product, found by rules; nothing is guessed."""

import pytest

from functions.ingest.parsing.identity_card import card_of
from functions.ingest.parsing.titles import Beginning, filing_of, title_of
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import Line
from shared.models import Labels


def card(
    *lines: str, file_name: str = "scan.pdf", metadata: str = "", author: str = "", running: tuple[str, ...] = ()
) -> Labels:
    """Return the card of a document whose first line is its largest."""
    cover = [Line(text, size=20.0 if not at else 10.0) for at, text in enumerate(lines)]
    beginning = Beginning(file_name, metadata, [cover], running, 10.0, Vocabulary(), author)
    filing = filing_of("\n".join(lines), metadata)
    return card_of(beginning, title_of(beginning, filing), filing)


def quarterly(ended: str, *text: str, file_name: str = "q.pdf", form: str = "10-Q") -> Labels:
    period = "fiscal year" if form == "10-K" else "quarterly period"
    return card(
        "SECURITIES AND EXCHANGE COMMISSION",
        f"FORM {form}",
        f"For the {period} ended {ended}",
        "Commission File Number: 001-12345",
        "Plum Orchards, Inc.",
        "(Exact name of registrant as specified in its charter)",
        "Common Stock, $0.01 par value | PLUM | The Nasdaq Stock Market LLC",
        *text,
        file_name=file_name,
    )


def test_a_filings_card_names_registrant_symbol_form_and_end() -> None:
    assert quarterly("December 31, 2022", "six months ended", "the six months ended") == {
        "organisation": ["Plum Orchards, Inc.", "PLUM"],
        "kind": "10-Q",
        "period": ["Q2 2023"],
        "date": "2022-12-31",
    }


@pytest.mark.parametrize(
    ("ended", "told", "form", "period"),
    [
        ("October 1, 2022", "nine months ended", "10-Q", "Q3 2022"),
        ("July 29, 2023", "twenty-six weeks ended", "10-Q", "Q2 2024"),
        ("September 30, 2022", "three months ended", "10-Q", "Q1 2023"),
        ("September 30, 2022", "", "10-Q", "Q3 2022"),
        ("January 1, 2023", "in fiscal 2022", "10-K", "2022"),
        ("January 28, 2023", "in fiscal 2023", "10-K", "2023"),
        ("January 28, 2023", "in fiscal 2022", "10-K", "2022"),
        ("June 30, 2023", "in fiscal 2022", "10-K", "2023"),
    ],
)
def test_fiscal_periods_are_named_by_their_end_and_by_what_the_report_tells(
    ended: str, told: str, form: str, period: str
) -> None:
    assert quarterly(ended, told, told, form=form)["period"] == [period]


def test_a_quarter_of_the_file_name_comes_first() -> None:
    card = quarterly("September 30, 2022", *["three months ended"] * 2, file_name="2022 Q3 PLUM.pdf")
    assert card["period"] == ["Q3 2022", "Q1 2023"]


def test_a_manuals_card_has_product_version_date_and_maker() -> None:
    found = card(
        "Object Press P70 User Manual",
        "Issue | 26",
        "Date | 2024-02-28",
        "Copyright \u00a9 Plum Presses Co., Ltd. 2024. All rights reserved.",
    )
    assert found == {
        "organisation": ["Plum Presses Co., Ltd."],
        "kind": "user manual",
        "date": "2024-02-28",
        "version": "26",
        "product": "Object Press P70",
    }


def test_a_release_names_its_company_by_its_listing() -> None:
    text = "Kaunas, May 3, 2023 \u2013 Plum Orchards, Inc. (NASDAQ: PLUM) today reported its results."
    found = card("Plum Orchards Reports First-Quarter 2023 Financial Results", text)
    assert found["organisation"] == ["Plum Orchards, Inc.", "PLUM"]
    assert found["kind"] == "earnings release"
    assert found["period"] == ["Q1 2023"]


@pytest.mark.parametrize(
    ("title", "named"),
    [
        ("Plumor reports first-quarter 2023 financial results", "Plumor"),
        ("Plum & Pear Orchards Announces Third Quarter 2023 Earnings", "Plum & Pear Orchards"),
        ("Third quarter 2023 financial results: the orchard reports growth", ""),
    ],
)
def test_a_release_without_a_listing_names_its_company_in_its_title(title: str, named: str) -> None:
    found = card(title, "Net sales rose.")
    assert found["kind"] == "earnings release"
    assert found.get("organisation", [""]) == [named]


def test_running_lines_and_covers_name_institutions() -> None:
    found = card("On plums", running=("PLUM NOTES | Institute of Orchards",))
    assert found["organisation"] == ["Institute of Orchards"]
    assert card("On plums", "UAB \u201eSlyv\u0173 sodas\u201c")["organisation"] == ["Slyv\u0173 sodas"]


@pytest.mark.parametrize(
    "text",
    [
        "the Company reported this, and our Committee agreed with the Department",
        "c is not a company; see (c) Funding Percentage",
        "Delivery takes until 3 May 2023 for orders that are placed by post before noon",
        "release of the brakes 2018",
    ],
)
def test_nothing_is_guessed(text: str) -> None:
    assert card("On plums", text) == {}


PROSE = (
    "the plum is a fruit that grows on trees in most gardens of the north and is eaten with or without its skin",
    "who wants to grow them needs a place in the sun, some water and patience, because the first years bring none",
    "after that a tree carries more than one household can eat, so that jam is made of them, or they are dried",
    "quinces and medlars take longer still, yet bear in poor ground, near walls, even where no other fruit would stand",
)


@pytest.mark.parametrize(
    ("lines", "authors"),
    [
        (("Anna Brazauskas and Bo R. Lindqvist",), ["Anna Brazauskas", "Bo R. Lindqvist"]),
        (("Anna Brazauskas\u22171 Bo Lindqvist\u2020",), ["Anna Brazauskas", "Bo Lindqvist"]),
        (("Anna Brazauskas, Orchard University", "Oslo, Norway", "Bo Lindqvist"), ["Anna Brazauskas", "Bo Lindqvist"]),
        (("Brazauskas, A. and Lindqvist, B. R.",), ["A. Brazauskas", "B. R. Lindqvist"]),
        (("Anna Brazauskas * 1 Bo Lindqvist * 1",), ["Anna Brazauskas", "Bo Lindqvist"]),
        (("By A. B. LEE, M.A., F.R.S.",), ["A. B. LEE"]),
        (("(C) Ann Lee 2011/09/16",), ["Ann Lee"]),
        (("by Ann Lee",), ["Ann Lee"]),
        (("by Ann Lee, Bo Ray and J. K. Om",), ["Ann Lee", "Bo Ray", "J. K. Om"]),
        (("Prepared by: Dr. Ann Lee, Head of Orchards",), ["Ann Lee"]),
        (("Verfasst von Ann Lee und Bo Ray",), ["Ann Lee", "Bo Ray"]),
        (("The Plum Development Team",), ["The Plum Development Team"]),
        (("\u00a9 2021 Ann Lee. All rights reserved",), ["Ann Lee"]),
        (("Abstract", "Anna Brazauskas"), []),
        (("Quick Start", "Plum Growing"), []),
        (("by the end of March",), []),
        (("\u00a9 2021 Plum Technologies",), []),
        (("(c) 2021 Terms Apply",), []),
        (("by Isaac Newton, who had found it while he sat below a tree of apples",), []),
        (("By Order Of The Board",), []),
        (("Contact the Support Team",), []),
        (("Dear Mr. Lindqvist",), []),
    ],
)
def test_authors_are_whom_the_lines_around_the_title_name(lines: tuple[str, ...], authors: list[str]) -> None:
    assert card("On plums", *lines, *PROSE).get("author", []) == authors


def test_metadata_name_an_author_whom_the_first_pages_name_too() -> None:
    assert card("On plums", "A talk of Ann B. Lee, at Marwick", author="Ann Lee; jsmith")["author"] == ["Ann Lee"]
    assert "author" not in card("On plums", *PROSE, author="Ann Lee")


@pytest.mark.parametrize(
    ("line", "date"),
    [
        ("8. November 2021", "2021-11-08"),
        ("Dernière mise à jour, 5 février 2025", "2025-02-05"),
        ("2023 m. balandžio 5 d.", "2023-04-05"),
        ("03.11.2022", "2022-11-03"),
        ("28/11/2022", "2022-11-28"),
        ("03/04/2022", "2022"),
        ("August 2016", "2016-08"),
        ("Version 2.12, 11 July 2022, as it was given to all growers of plums and of pears", "2022-07-11"),
        ("Madrid, 3 de marzo de 2021", "2021-03-03"),
        ("1er mars 2021", "2021-03-01"),
        ("Date of birth: 3 May 1950", ""),
        ("Effective until 31 December 2025", ""),
        ("(c) 2020 accounts", ""),
        ("2015", "2015"),
        ("Copyright (C) 2009\u20132013 Plum Growers", "2013"),
        ("99 February 2020", "2020-02"),
        (
            "KAUNAS, May 3, 2023 \u2013 Plum Orchards, Inc., which grows plums of all kinds, told its results",
            "2023-05-03",
        ),
        (
            "PURCHASE, N.Y. - April 25, 2023 - Plum Orchards, Inc. grew more plums than in the year before it",
            "2023-04-25",
        ),
        ("In the spring, on May 3, 2023 - a day of frost - nearly all of the blossoms in the gardens died", ""),
        ("2015 | 2016", ""),
    ],
)
def test_a_date_is_as_exact_as_the_document_states_it(line: str, date: str) -> None:
    assert card("On plums", line).get("date", "") == date


def test_a_paper_is_one_with_an_abstract() -> None:
    assert card("Plums considered", "Abstract", file_name="2305.13186v3.pdf") == {"kind": "paper", "version": "3"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [("ISEP_student_handbook_2020.pdf", "handbook"), ("Plums-Brochure-Jul-2021.pdf", "brochure"), ("plums.pdf", None)],
)
def test_a_file_name_tells_the_kind(name: str, kind: str | None) -> None:
    assert card("Plums for everyone", file_name=name).get("kind") == kind


@pytest.mark.parametrize(("page", "version"), [(1, "7.1"), (2, "7.1"), (3, None)])
def test_a_version_is_taken_from_the_first_two_pages(page: int, version: str | None) -> None:
    pages = [[Line(text, size=10.0)] for text in ("Pumps of the north", "About them", "How to use them")]
    pages[page - 1].append(Line("Version 7.1", size=10.0))
    beginning = Beginning("scan.pdf", "", pages, (), 10.0, Vocabulary())
    assert card_of(beginning, title_of(beginning, None), None).get("version") == version


def test_a_month_among_figures_is_no_date_of_the_document() -> None:
    assert "date" not in card("On plums", *PROSE * 9, "June 2023")
    assert "date" not in card("On plums", "June 2023 quarter:", *PROSE)
    assert card("On plums", "June 2023", *PROSE * 9)["date"] == "2023-06"


def test_an_organisation_that_passes_for_a_person_stays_on_the_card() -> None:
    found = card("On plums", "Kestrel Lindqvist (NYSE: KLQ)", *PROSE)
    assert found["organisation"] == ["Kestrel Lindqvist", "KLQ"]


@pytest.mark.parametrize(
    ("line", "version"), [("Plum 5.13.3", "5.13.3"), ("Plums v. 1.3", "1.3"), ("Pear 5.13.3", None), ("Plum 12", None)]
)
def test_what_stands_behind_a_documents_name_is_its_version(line: str, version: str | None) -> None:
    assert card("Plum", line).get("version") == version


def test_a_line_of_the_title_and_an_entry_of_the_contents_do_not_say_the_kind() -> None:
    lines = [
        Line("The plum system and", y0=20, size=20),
        Line("report generator", y0=42, size=20),
        Line("Text", size=10),
    ]
    beginning = Beginning("scan.pdf", "", [lines], (), 10.0, Vocabulary(), "")
    assert "kind" not in card_of(beginning, title_of(beginning, None), None)
    assert "kind" not in card("The plum system and its trees", "3.1 Standard methods")
    assert card("The plum system and its trees", "Standard methods").get("kind") == "standard"


def test_what_a_licence_includes_is_no_organisation() -> None:
    assert "organisation" not in card("Plums", "WITHOUT WARRANTY, INCLUDING BUT NOT LIMITED TO THE WARRANTIES")
    assert card("Plums", "Plum Press Limited")["organisation"] == ["Plum Press Limited"]
