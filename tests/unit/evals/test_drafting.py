"""Questions that are read off documents: whole, answered where they say, and none where a document offers none."""

from collections.abc import Sequence

import pytest

from evals.drafting import Collection, QuestionDraft, SourceDocument, drafts_of, sayings_of
from shared.models import Block, Page

Part = tuple[str, str]


def page_of(number: int, *parts: Part) -> Page:
    """A page of blocks, each a kind and a text."""
    blocks: list[Block] = []
    text = ""
    for kind, written in parts:
        text += "\n\n" if text else ""
        blocks.append(Block(kind, len(text), len(text) + len(written)))  # type: ignore[arg-type]
        text += written
    return Page(number, text, "", tuple(blocks))


def document(
    *pages: Sequence[Part], name: str = "handbook.pdf", title: str = "Station Handbook", language: str = "en"
) -> SourceDocument:
    return SourceDocument(name, title, language, [page_of(at, *parts) for at, parts in enumerate(pages, start=1)])


def asked(*pages: Sequence[Part], language: str = "en") -> dict[str, QuestionDraft]:
    return {draft.question: draft for draft in drafts_of(document(*pages, language=language))}


def test_a_question_of_the_document_itself_is_asked_with_the_answer_below_it() -> None:
    found = asked(
        [
            ("heading", "1. How do I reset the boiler?"),
            ("paragraph", "Hold the red button for ten seconds. Then wait."),
        ],
        [("paragraph", "Q: Who may open the valve? Only a technician of the station may open the valve.")],
    )
    reset = found["How do I reset the boiler?"]
    assert (reset.kind, reset.pages, reset.answer) == ("how-to", (1,), "Hold the red button for ten seconds.")
    assert found["Who may open the valve?"].answer == "Only a technician of the station may open the valve."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does this mean?", "It means that nobody may enter the room."),
        (
            "Ms. Lee, Belinda Li, and Ann Yih. Language models as checkers?",
            "In Proceedings of the third workshop, 2020.",
        ),
        ("what about lower case openings?", "They are cut out of the middle of a sentence."),
        ("How high is the tower?", "Too short."),
        ("Bigger concern: will it go too far?", "Nobody can tell at the moment of writing."),
    ],
)
def test_questions_that_make_no_sense_alone_or_are_not_answered_are_left_out(question: str, answer: str) -> None:
    assert asked([("paragraph", question), ("paragraph", answer)]) == {}


def test_definitions_abbreviations_and_figures_are_asked_for() -> None:
    found = asked(
        [
            ("paragraph", "The drain box is a steel container behind the drip tray. Empty the drain box each week."),
            ("paragraph", "Each member joins the Thesis Advisory Committee (TAC) in the first year."),
            ("paragraph", "The maximum depth of the borehole is 48 metres. The depth is shown in Table 2."),
        ]
    )
    assert found["What is the drain box?"].quote == "The drain box is a steel container behind the drip tray."
    assert found["What does TAC stand for?"].answer == "Thesis Advisory Committee"
    assert found["What is the maximum depth of the borehole?"].answer == "48 metres"
    assert len(found) == 3


def test_a_heading_names_a_task_where_the_document_uses_its_first_word_as_a_verb() -> None:
    steps = ("list_item", "1. Turn the key to the left until it clicks.")
    use = ("paragraph", "You must open the lid to clean the filter. If you clean it weekly, you can clean it fast.")
    found = asked([("heading", "Clean the Filter"), steps, use])
    assert found["How do I clean the filter?"].answer == "Turn the key to the left until it clicks."
    leaders = ("paragraph", "The leadership of the school trains its leadership for leadership in the region.")
    assert not any(draft.kind == "how-to" for draft in asked([("heading", "Leadership Programmes"), leaders]).values())


def test_a_word_that_is_mostly_a_noun_names_no_task() -> None:
    plans = (
        "The plan is new. A plan is good. They like to plan, must plan and can plan. This plan is the plan of the plan."
    )
    steps = ("list_item", "1. Read the plan of the town until it is understood.")
    found = asked([("heading", "Plan Overview"), steps, ("paragraph", plans)])
    assert not any(draft.kind == "how-to" for draft in found.values())


ROWS = "Month | Visitors | Days open\nMay | 14,905 | 25\nJune | 13,240 | 26\nJuly | 17,618 | 27"


def test_a_row_and_a_column_with_names_are_asked_for_once() -> None:
    found = asked([("table", ROWS)])
    assert len(found) == 3
    for question, draft in found.items():
        assert draft.kind == "table"
        assert draft.answer in draft.quote
        assert any(f"“{month}”" in question and draft.quote.startswith(month) for month in ("May", "June", "July"))


def test_a_row_and_a_column_with_two_values_are_not_asked_for() -> None:
    other = ROWS.replace("14,905", "9,999").replace("| 25", "| 24")
    questions = asked([("table", ROWS)], [("table", other)])
    assert not any("“May”" in question for question in questions)
    assert any("“June”" in question for question in questions)


def test_a_column_that_is_a_time_is_asked_for_as_one() -> None:
    found = asked(
        [("table", "Item | 2024 | 2025\nTickets | 0 | 6,914\nSalaries | 9,780 | 13,905\nEnergy | 2,310 | 4,612")]
    )
    assert found
    assert all(question.startswith("What was “") and question[-6:-1] in (" 2024", " 2025") for question in found)


@pytest.mark.parametrize(
    "table",
    [
        "Choose the mode | Result\nPIP | Adjust the picture\nSource | Choose the channel",
        "a | b\n1 | 2\n3 | 4\n5 | 6",
        "Name | Value\nx | 1\nx | 2\nx | 3",
    ],
)
def test_tables_without_names_or_of_words_only_give_nothing(table: str) -> None:
    assert asked([("table", table)]) == {}


def test_page_furniture_and_garbled_text_give_nothing() -> None:
    notice = ("paragraph", "The warranty card is a paper that comes with the machine. Keep the warranty card.")
    assert asked(*([notice] for _ in range(5))) == {}
    assert asked([("paragraph", "The T h e r m o is a d e v i c e of t h e h o u s e. Use the T h e r m o.")]) == {}


def test_a_section_is_asked_for_when_it_has_something_to_say() -> None:
    body = " ".join(["The house is quiet from ten at night until seven in the morning."] * 4)
    found = asked(
        [("heading", "Quiet Hours"), ("paragraph", body)], [("heading", "Contents page"), ("paragraph", "See below.")]
    )
    assert [draft.kind for draft in found.values()] == ["section"]


def test_another_language_has_its_own_sentences_and_an_unknown_one_none() -> None:
    text = "Der Ablaufkasten ist ein Behälter aus Stahl. Der Ablaufkasten wird wöchentlich geleert."
    assert list(asked([("paragraph", text)], language="de")) == ["Was ist mit „Ablaufkasten“ gemeint?"]
    assert asked([("paragraph", text)], language="xx") == {}


@pytest.mark.parametrize("language", ["de", "es", "fr", "lt"])
def test_every_language_has_the_sentences_that_english_cannot_do_without(language: str) -> None:
    needed = {
        "definition",
        "definition_sentence",
        "abbreviation",
        "table",
        "section",
        "according_to",
        "openings",
        "nouns",
    }
    assert needed <= sayings_of(language).keys() <= sayings_of("en").keys()


def test_a_question_that_two_documents_could_answer_names_its_own() -> None:
    definition = ("paragraph", "The drain box is a steel container. Empty the drain box.")
    here, there = document([definition]), document([definition], name="b.pdf", title="Machine Manual: part two")
    alone, both = Collection([here]), Collection([here, there])
    (draft,) = drafts_of(here)
    assert alone.unambiguous(draft) == draft
    named = both.unambiguous(draft)
    assert named is not None
    assert named.question == "What is the drain box according to “Station Handbook”?"
    (other,) = drafts_of(there)
    named = both.unambiguous(other)
    assert named is not None
    assert named.question.endswith("according to “Machine Manual”?")
    copy = document([definition], name="3276a5b991c49cf5f9a4af0f7d6fce67.pdf")
    same_title = Collection([here, copy])
    named = same_title.unambiguous(draft)
    assert named is not None
    assert named.question.endswith("according to “handbook”?")  # the file's name tells it apart
    (unnamed,) = drafts_of(copy)
    assert same_title.unambiguous(unnamed) is None


def test_what_is_unanswerable_is_in_no_document() -> None:
    definition = "The drain box is a steel container for ventilation. Empty the drain box for ventilation."
    stated = "In 2025 the Thesis Advisory Committee (TAC) met. The total grant for all ventilation is 48 crowns."
    here = document([("paragraph", definition), ("table", ROWS)], [("paragraph", stated)])
    collection = Collection([here])
    drafts = drafts_of(here)
    found = list(collection.unanswerable(drafts))
    assert len(found) > 1
    everything = " ".join(page.text for page in here.pages).casefold().split()
    for draft in found:
        assert (draft.kind, draft.pages, draft.answer) == ("unanswerable", (), "")
        before = {word for each in drafts for word in each.question.split()}
        new = [word.strip("?“”").casefold() for word in draft.question.split() if word not in before]
        assert new
        assert not set(new) & set(everything)
    assert list(collection.unanswerable(drafts)) == found
    assert not any(map(collection.lacks, ("containers", "Ventilation", "2025", "TAC")))
    assert all(map(collection.lacks, ("penguin", "2034", "ACT")))
