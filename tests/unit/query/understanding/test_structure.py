"""Questions about the elements of one document: told from questions about what stands there."""

import pytest

from functions.query.understanding.structure import StructureQuestion, structure_question, without_politeness


def asked(question: str, language: str = "en") -> StructureQuestion:
    found = structure_question(question, language)
    assert found is not None, question
    return found


@pytest.mark.parametrize(
    ("question", "kind", "number"),
    [
        ("What is section 3 about?", "section", "3"),
        ("What's in chapter 4.2?", "section", "4.2"),
        ("Summarise Appendix B", "section", "B"),
        ("What is Part II called?", "section", "II"),
        ("What does Item 1A cover?", "section", "1A"),
        ("What does Figure 1 show?", "figure", "1"),
        ("What is the title of Fig. 3?", "figure", "3"),
        ("What does Table 6-2 list?", "table", "6-2"),
        ("What is on page 5?", "page", "5"),
        ("What is on the last page?", "page", "last"),
        ("What is the third chapter about?", "section", "3"),
        ("What's on page two?", "page", "2"),
        ("What is 4.2 about?", "section", "4.2"),
    ],
)
def test_an_element_is_asked_for_by_its_number(question: str, kind: str, number: str):
    found = asked(question)
    assert (found.wants, found.kind, found.number) == ("one", kind, number)


@pytest.mark.parametrize(
    ("question", "language", "kind", "number"),
    [
        ("Was steht in Kapitel 3?", "de", "section", "3"),
        ("Was zeigt Abbildung 2?", "de", "figure", "2"),
        ("¿De qué trata el capítulo 2?", "es", "section", "2"),
        ("Que montre la figure 3 ?", "fr", "figure", "3"),
        ("Apie ką yra 3 skyrius?", "lt", "section", "3"),
        ("Kas yra 2 lentelėje?", "lt", "table", "2"),
    ],
)
def test_it_is_asked_for_in_five_languages(question: str, language: str, kind: str, number: str):
    found = asked(question, language)
    assert (found.wants, found.kind, found.number, found.language) == ("one", kind, number, language)


@pytest.mark.parametrize(
    ("question", "wants", "kind"),
    [
        ("List the chapters.", "all", "section"),
        ("Which sections does the paper have?", "all", "section"),
        ("Give me the table of contents.", "all", "section"),
        ("How many figures are there?", "all", "figure"),
        ("How many tables are in the paper?", "all", "table"),
        ("How many clauses does the contract have?", "all", "section"),
        ("What do the authors recommend?", "named", "section"),
        ("Who is the first author?", "authors", "section"),
        ("Who is it by?", "authors", "section"),
        ("How many agenda items are there?", "all", "section"),
        ("Which note covers pensions?", "whereabouts", "section"),
        ("On which page is Table 3?", "whereabouts", "table"),
        ("What is the conclusion?", "named", "section"),
        ("What do the authors conclude?", "named", "section"),
        ("What are the key points of this report?", "findings", "section"),
        ("Who are the authors?", "authors", "section"),
        ("Who wrote this paper?", "authors", "section"),
        ("What does the chapter on safety say?", "headed", "section"),
        ("Which page explains how to take a screenshot?", "whereabouts", "section"),
        ("Where does the manual talk about descaling?", "whereabouts", "section"),
    ],
)
def test_all_of_them_or_one_by_its_name_is_asked_for(question: str, wants: str, kind: str):
    found = asked(question)
    assert (found.wants, found.kind, found.terms) == (wants, kind, ())


def test_what_is_looked_for_and_whose_name_is_said_is_kept():
    assert asked("On which page is the warranty?").sought == ("warranty",)
    assert asked("What is Figure 2 of the Brunata manual?").terms == ("brunata",)
    assert asked("What is chapter 5 called?").only_name
    assert asked("How many chapters are there?").counts
    assert asked("What is the second chapter?").by_order
    assert not asked("What is chapter 2?").by_order
    named = asked("Which section of the staff handbook covers working from home?")
    assert (named.sought, named.terms) == (("working", "home"), ("staff",))
    assert asked("Which table lists the filters?").kind == "table"


def test_a_document_is_named_before_the_word_for_it_too():
    assert asked("What sections does the inspection report have?").terms == ("inspection",)
    assert asked("Who wrote the strong sleep paper?").terms == ("strong", "sleep")
    assert asked("Who wrote the plum standards?").terms == ("plum", "standards")
    assert asked("Which sections does the warranty have?").terms == ("warranty",)
    assert asked("How many tables does the sleep summary have?").terms == ("sleep",)


def test_a_polite_request_is_no_question_for_yes_or_no():
    assert without_politeness("Can you explain Figure 8?", "en") == "explain Figure 8?"
    assert without_politeness("Können Sie Abbildung 8 erklären?", "de") == "Abbildung 8 erklären?"
    assert without_politeness("Can the filter be washed?", "en") == "Can the filter be washed?"


@pytest.mark.parametrize(
    "question",
    [
        "Which parts cost more than 100 euros?",
        "What does unit 4 cost?",
        "How many red bars are in Figure 1?",
        "What methods does the service use for encryption?",
        "What does section 4 say?",  # told as it stands
        "Where is the fire assembly point?",
        "Where can I report side effects?",
        "Which table is by the window?",
        "Which table can I book?",
        "Who could not take part in the study?",
        "What is the page limit?",
        "What does version 2.1 include?",
        "Which article may be exchanged twice?",
        "What is table service?",
        "What is covered?",
        "How many modules are implemented with Java?",
        "",
        "What is on page 5 " + "and what else is there " * 6,
    ],
)
def test_what_asks_for_something_else_is_none(question: str):
    assert structure_question(question, "en") is None


@pytest.mark.parametrize(
    ("question", "wants", "kind"),
    [
        ("How many tables are there in {}?", "all", "table"),
        ("What is chapter 3 of {} about?", "one", "section"),
        ("Who wrote {}?", "authors", "section"),
    ],
)
def test_a_document_may_be_named_in_quotation_marks(question: str, wants: str, kind: str):
    name = "Growing plums, pears, quinces and medlars without poison in gardens of cold countries"
    found = structure_question(question.format(f"“{name}”"), "en")
    assert found is not None
    assert (found.wants, found.kind, found.terms) == (wants, kind, tuple(name.lower().replace(",", "").split()))
    assert structure_question(question.format(name), "en") is None


def test_what_is_quoted_may_be_what_is_looked_for():
    found = structure_question("Which page explains “the alarm”?", "en")
    assert found is not None
    assert (found.wants, found.sought, found.terms) == ("whereabouts", ("alarm",), ())
