"""What is told of the elements of one document: its sections, figures, tables and pages."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from functions.query.answer import Answer, Delta, Done, Question
from functions.query.pipeline import answer_events, answer_question
from shared.deadline import Deadline
from shared.models import Match
from shared.ports import CatalogueEntry
from tests.support.query import WHO, FakeChat, match, query_ports

DOCUMENT = "manual.pdf"
CONTENTS = "Contents\n1 Setting up\n2 Care"
PAGES = (
    # page, its sections, its text
    ("The Brunata Duo\nAnn Lee, Bo Berg and Cy Dorn\nAbstract\nThis manual is about the boiler of the machine.", ()),
    (CONTENTS, ("Contents", "1 Setting up", "2 Care")),
    (
        "1 Setting up\n\nPlace the machine on a level table that carries twenty kilograms. As Figure 1 shows, its feet "
        "can be turned until the machine does not tilt.\n\nFigure 1: The feet of the machine, from below",
        ("1 Setting up",),
    ),
    (
        "2 Care\n\n2.1 Descaling\n\nDescale the boiler of the machine every ninety days with citric acid.\n\n"
        "2.2 Filters\n\nChange the filter of the machine once in every six months of use.\n\nTable 1: Filters that fit",
        ("2 Care", "2 Care > 2.1 Descaling", "2 Care > 2.2 Filters"),
    ),
    ("References\n\nLee, A., Berg, B. Boilers and how they are descaled. arXiv preprint, 2020.\n", ()),
)


def chunks(labels: Sequence[str] = ("",) * len(PAGES)) -> list[Match]:
    found: list[Match] = []
    start, path = 0, ""
    for at, ((text, paths), label) in enumerate(zip(PAGES, labels, strict=True)):
        own = path.rsplit(" > ", 1)[-1]
        starts = [f"{start + max(text.find(each.rsplit(' > ', 1)[-1]), 0)}|{each}" for each in paths]
        hit = match(
            text,
            document_id=DOCUMENT,
            title="The Brunata Duo",
            chunk_index=at,
            section=paths[0] if paths else own,
            sections=starts,
            pages=[f"{at + 1}|{start}|{label}"],
            page_start=at + 1,
            page_end=at + 1,
            page_label=label,
            char_start=start,
        )
        found.append(replace(hit, id=f"{DOCUMENT}#g1#{at}"))
        path = paths[-1] if paths else path
        start += len(text) + 2
    return found


def ask(question: str, *, hits: Sequence[Match] = (), chat: FakeChat | None = None, **more: object) -> Answer:
    entry = CatalogueEntry(
        DOCUMENT, f"uploads/acme/{DOCUMENT}", "The Brunata Duo", "g1", len(PAGES), "en", page_count=len(PAGES)
    )
    documents = [entry._replace(**more)]
    ports = query_ports(hits or chunks(), documents=documents, chat=chat)
    return answer_question(Question(question), WHO, ports, Deadline(ports.clock, 26))


def quotes(answer: Answer) -> list[str]:
    return [citation.quote for citation in answer.citations]


def test_the_sections_are_listed_with_the_pages_where_they_begin():
    answer = ask("List the chapters")
    assert answer.mode == "service"
    assert answer.text == "Outline of “The Brunata Duo”:\n- 1 Setting up (page 3)\n- 2 Care (page 4)"
    assert ask("How many chapters are there?").text.startswith("As far as I can tell, there are 2.\n")


def test_a_section_is_told_with_the_sections_within_it_and_what_they_say():
    answer = ask("What is chapter 2 about?")
    assert answer.text.startswith(
        "“2 Care”, page 4 of “The Brunata Duo”:\n- 2.1 Descaling (page 4)\n- 2.2 Filters (page 4)\n\n"
    )
    assert quotes(answer) == [
        "Descale the boiler of the machine every ninety days with citric acid.",
        "Change the filter of the machine once in every six months of use.",
    ]
    assert {citation.page_start for citation in answer.citations} == {4}


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is section 2.1 called?", "“2.1 Descaling”, page 4"),
        ("What is the first chapter called?", "“1 Setting up”, page 3"),
        ("What is the last chapter called?", "“2 Care”, page 4"),
    ],
)
def test_its_name_is_told_alone_where_only_that_is_asked(question: str, name: str):
    assert ask(question).text == f"{name} of “The Brunata Duo”"


def test_the_number_of_a_bookmark_without_one_is_read_from_the_text():
    pages = [chunk.metadata for chunk in chunks()]
    pages[3] |= {"text": str(pages[3]["text"]).replace("2 Care", "Chapter 2\nCare"), "sections": []}
    pages[3] |= {"sections": [f"{int(str(pages[3]['char_start'])) + 10}|Care"]}
    found = [Match(f"{DOCUMENT}#g1#{at}", 0.8, page) for at, page in enumerate(pages)]
    answer = ask("What is chapter 2 called?", hits=found)
    assert answer.text == "“Care”, page 4 of “The Brunata Duo”"


def test_the_letter_of_an_appendix_is_read_from_the_text_too():
    pages = [chunk.metadata for chunk in chunks()]
    for at, number, letter, name in ((2, "1", "A", "Setting up"), (3, "2", "B", "Care")):
        pages[at] |= {"text": str(pages[at]["text"]).replace(f"{number} {name}", f"{letter} {name.upper()}")}
        pages[at] |= {"sections": [f"{pages[at]['char_start']}|{name}"], "section": name}
    found = [Match(f"{DOCUMENT}#g1#{at}", 0.8, page) for at, page in enumerate(pages)]
    assert ask("What is Appendix B called?", hits=found).text == "“Care”, page 4 of “The Brunata Duo”"
    assert ask("How many appendices are there?", hits=found).text.startswith("As far as I can tell, there are 2.\n")


def test_where_no_section_has_a_number_they_are_counted():
    pages = [chunk.metadata for chunk in chunks()]
    for page in pages:
        page["sections"] = [name.replace("|1 ", "|").replace("|2 ", "|") for name in page.get("sections", [])]  # type: ignore[union-attr]
        page["sections"] = [name for name in page["sections"] if "2." not in name]
        page["text"] = str(page["text"]).replace("1 Setting", "Setting").replace("2 Care", "Care")
    found = [Match(f"{DOCUMENT}#g1#{at}", 0.8, page) for at, page in enumerate(pages)]
    assert ask("What is section 2 called?", hits=found).text == "“Care”, page 4 of “The Brunata Duo”"
    assert not ask("What is section 3 called?", hits=found).text.startswith("“")


def test_a_section_is_found_by_words_of_its_heading():
    assert quotes(ask("What does the section on filters say?")) == [
        "Change the filter of the machine once in every six months of use."
    ]


def test_a_figure_is_told_by_its_caption_then_by_who_speaks_of_it():
    answer = ask("What does Figure 1 show?")
    assert quotes(answer) == [
        "Figure 1: The feet of the machine, from below",
        "As Figure 1 shows, its feet can be turned until the machine does not tilt.",
    ]
    assert quotes(ask("What is the title of Figure 1?")) == ["Figure 1: The feet of the machine, from below"]


def test_captions_are_counted_and_listed():
    assert ask("How many tables are there?").text == (
        "Tables of “The Brunata Duo” that have a caption: 1.\n- Table 1: Filters that fit (page 4)"
    )


def test_a_page_is_told_by_its_number_or_its_printed_label():
    assert quotes(ask("What is on page 3?"))[0].startswith("Place the machine on a level table")
    assert ask("What is on page 3?").text.startswith(
        "Page 3 of “The Brunata Duo”:\n- 1 Setting up\n- Figure 1: The feet of the machine, from below\n\n"
    )
    answer = ask("What is on page 1?", hits=chunks(("i", "ii", "1", "2", "3")))
    assert answer.text.startswith("Page 3 (printed 1) of “The Brunata Duo”:\n- 1 Setting up")
    answer = ask("What is on page 4?", hits=chunks(("701", "702", "703", "704", "705")))
    assert answer.text.startswith("Page 4 (printed 704) of")


def test_lists_give_a_page_as_it_is_counted_and_as_it_is_printed():
    printed = chunks(("i", "ii", "1", "2", "3"))
    assert ask("List the chapters", hits=printed).text.endswith(
        "- 1 Setting up (page 3, printed 1)\n- 2 Care (page 4, printed 2)"
    )
    assert ask("On which page is Table 1?", hits=printed).text.endswith("Filters that fit (page 4, printed 2)")


def test_a_page_that_is_not_there_is_said_to_be_missing():
    assert ask("What is on page 40?").text == ("Pages of “The Brunata Duo”: 5. I can read nothing on page 40.")


def test_the_lines_that_name_the_authors_are_quoted():
    card = {"author": ["Ann Lee", "Bo Berg"]}
    assert quotes(ask("Who are the authors?", card=card)) == ["Ann Lee, Bo Berg and Cy Dorn"]


def test_authors_whom_no_line_names_are_told():
    answer = ask("Who wrote this manual?", labels={"author": ["Di Ems"]})
    assert answer.text == "The authors of “The Brunata Duo” are given as: Di Ems."


def test_a_document_that_names_no_author_is_said_to_name_none():
    assert ask("Who wrote the letter?").mode != "service"
    assert ask("Who wrote this document?").text == "I found nobody whom “The Brunata Duo” names as its author."


def test_where_something_stands_is_told_with_its_page():
    answer = ask("On which page do I find descaling?")
    assert answer.text.startswith("In “The Brunata Duo” there is:\n- 2.1 Descaling (page 4)")
    answer = ask("Which table shows the filters?")
    assert answer.text == "In “The Brunata Duo” there is:\n- Table 1: Filters that fit (page 4)"
    assert ask("On which page is Table 1?").text == answer.text
    answer = ask("Which page says how many kilograms the table carries?")
    assert answer.text.endswith("\n\nYou find this in “The Brunata Duo”, page 3.")
    answer = ask("Which page says how many kilograms the table carries?", hits=chunks(("i", "ii", "1", "2", "3")))
    assert answer.text.endswith("\n\nYou find this in “The Brunata Duo”, page 3, printed 1.")


@pytest.mark.parametrize(
    "question",
    ["What is chapter 2 about?", "List the chapters", "Which page says how many kilograms the table carries?"],
)
def test_the_events_of_such_an_answer_add_up_to_its_text(question: str):
    entry = CatalogueEntry(DOCUMENT, f"uploads/acme/{DOCUMENT}", "The Brunata Duo", "g1", len(PAGES), "en")
    ports = query_ports(chunks(), documents=[entry])
    events = list(answer_events(Question(question), WHO, ports, Deadline(ports.clock, 26)))
    done = events[-1]
    assert isinstance(done, Done)
    assert "".join(event.text for event in events if isinstance(event, Delta)) == done.answer.text


@pytest.mark.parametrize("question", ["What is chapter 2 about?", "What is unit 2 about?", "List the units"])
def test_a_document_of_which_nothing_is_found_is_no_error(question: str):
    entry = CatalogueEntry(DOCUMENT, f"uploads/acme/{DOCUMENT}", "The Brunata Duo", "g1", len(PAGES), "en")
    ports = query_ports([], documents=[entry])
    assert answer_question(Question(question), WHO, ports, Deadline(ports.clock, 26)).no_relevant_info


def test_the_list_of_references_is_no_part_of_what_a_section_says():
    assert not any("arXiv" in quote for quote in quotes(ask("Summarise chapter 2")))


def test_captions_are_no_part_of_what_a_section_says():
    pages = [chunk.metadata for chunk in chunks()]
    caption = "Table 1: The filter of the machine is of felt. Each filter of the machine fits."
    pages[3] |= {"text": str(pages[3]["text"]).replace("Table 1: Filters that fit", caption)}
    found = [Match(f"{DOCUMENT}#g1#{at}", 0.8, page) for at, page in enumerate(pages)]
    assert not any("fits" in quote or "felt" in quote for quote in quotes(ask("What is chapter 2 about?", hits=found)))


def test_a_model_writes_from_the_passages_of_the_element():
    chat = FakeChat("Descale the boiler of the machine every ninety days with citric acid. [1] It costs 900 euros. [1]")
    answer = ask("What is chapter 2 about?", chat=chat)
    assert answer.mode == "generated"
    assert "900" not in answer.text
    assert "Place the machine" not in str(chat.asked)


def test_what_a_model_does_not_want_to_tell_is_quoted():
    chat = FakeChat("I do not know.")
    answer = ask("What is chapter 2 about?", chat=chat)
    assert answer.mode == "extractive"
    assert quotes(answer) == quotes(ask("What is chapter 2 about?"))
    assert len(chat.asked) == 1


@pytest.mark.parametrize(
    "question", ["What is chapter 9 about?", "What does Figure 8 show?", "What is the abstract of part 4?"]
)
def test_an_element_that_the_document_does_not_have_is_an_ordinary_question(question: str):
    assert not ask(question).text.startswith(("“", "Page"))


@pytest.mark.parametrize(
    ("question", "card", "text"),
    [
        ("When was this manual published?", {"date": "2024-02-28"}, "The date of “The Brunata Duo” is 2024-02-28."),
        (
            "Who published this manual?",
            {"organisation": ["Acme"]},
            "“The Brunata Duo” names as its organisation: Acme.",
        ),
        ("Which version of the manual is this?", {"version": "2.1"}, "The version of “The Brunata Duo” is 2.1."),
    ],
)
def test_what_the_identity_card_says_is_told(question: str, card: dict[str, object], text: str):
    assert ask(question, card=card).text == text
    assert ask(question).text != text


def test_a_report_is_summarised_that_is_not_named_but_chosen():
    assert "Setting up" in ask("What does this manual cover?").text


def test_among_several_documents_one_must_be_named_or_spoken_of():
    other = CatalogueEntry("other.pdf", "uploads/acme/other.pdf", "Annual Report", "g1", 1, "en")
    manual = CatalogueEntry(DOCUMENT, f"uploads/acme/{DOCUMENT}", "The Brunata Duo", "g1", len(PAGES), "en")
    ports = query_ports(chunks(), documents=[other, manual])

    def told(question: str) -> str:
        return answer_question(Question(question), WHO, ports, Deadline(ports.clock, 26)).text

    assert told("What is chapter 2 of the Brunata Duo about?").startswith("“2 Care”")
    assert not told("What is chapter 2 about?").startswith("“2 Care”")
    assert told("Which sections does the Brunata summary have?").startswith("Outline of “The Brunata Duo”")
    documents = [other._replace(title="Minutes of the board"), manual]
    ports = query_ports(chunks(), documents=documents)
    assert not told("Which sections do the Brunata minutes have?").startswith("Outline")


def test_a_numbered_chapter_is_no_appendix():
    pages = [chunk.metadata for chunk in chunks()]
    for at, name in ((3, "A Care"), (4, "B Sources")):
        pages[at] |= {"sections": [f"{pages[at]['char_start']}|{name}"], "section": name}
    found = [Match(f"{DOCUMENT}#g1#{at}", 0.8, page) for at, page in enumerate(pages)]
    assert ask("How many appendices are there?", hits=found).text.startswith("As far as I can tell, there are 2.\n")


def test_the_only_document_need_not_be_called_what_the_question_calls_it():
    assert ask("Which sections does the warranty have?").text.startswith("Outline of “The Brunata Duo”")
    assert not ask("Which sections does the Florenza warranty have?").text.startswith("Outline")


def test_a_single_appendix_is_known_by_the_sections_within_it():
    pages = [chunk.metadata for chunk in chunks()]
    pages[3] |= {"sections": [f"{pages[3]['char_start']}|A Care", f"{pages[3]['char_start']}|A Care > A.1 Descaling"]}
    found = [Match(f"{DOCUMENT}#g1#{at}", 0.8, page) for at, page in enumerate(pages)]
    assert ask("What is Appendix A called?", hits=found).text == "“A Care”, page 4 of “The Brunata Duo”"


def test_who_did_something_else_is_searched_for():
    card = {"author": ["Ann Lee"]}
    for question in ("Who is the study funded by?", "Who wrote the letter that the board read in March?"):
        assert ask(question, card=card).mode != "service"
