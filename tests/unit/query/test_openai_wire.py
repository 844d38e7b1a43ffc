"""What OpenAI's form needs beside the pipeline: the list of citations, and taking it off again."""

from dataclasses import replace

import pytest

from functions.query.answer import Answer, Question
from functions.query.api.chat_completions import CompletionUsageOut
from functions.query.api.openai_wire import RectoIn, TurnIn, errand_of, in_markdown, question_of, sources_below
from functions.query.decision import Band
from shared.errors import InvalidRequest
from shared.models import Citation, SourceType, Usage

ASKED = Question("How often is it descaled?")


def answer(*citations: Citation) -> Answer:
    return Answer("It is descaled.", mode="extractive", citations=citations, band=Band.HIGH)


def citation(n: int, **changed: object) -> Citation:
    values: dict[str, object] = {
        "n": n,
        "document_id": "d" * 32,
        "title": "Handbook",
        "source_type": SourceType.PDF,
        "page_start": 5,
        "page_end": 5,
        "page_label": "3",
        "section": "",
        "quote": "It is descaled.",
        "char_start": 0,
        "char_end": 15,
        "score": 0.6,
        "key": "uploads/acme/manuals/a_b.pdf",
    }
    return Citation(**{**values, **changed})  # type: ignore[arg-type]


def turns(*said: tuple[str, str]) -> list[TurnIn]:
    return [TurnIn(role=role, content=content) for role, content in said]  # type: ignore[arg-type]


def test_the_list_names_title_file_pages_and_quote() -> None:
    cited = citation(1), citation(2, page_end=6), citation(3, key="", page_start=0, page_end=0)
    listed = sources_below(answer(*cited), ASKED)
    assert listed.splitlines()[2:] == [
        "---",
        "- [1] *Handbook* (a\\_b.pdf), p. 5: “It is descaled.”",
        "- [2] *Handbook* (a\\_b.pdf), pp. 5–6: “It is descaled.”",
        "- [3] *Handbook*: “It is descaled.”",
    ]
    assert sources_below(answer(), ASKED) == ""


def test_nothing_of_a_document_is_markup_in_the_list() -> None:
    hostile = "![x](https://evil.example/a) [click](https://evil.example) <img src=x> *b* | `c`\n\n# h"
    assert sources_below(answer(citation(1, title=hostile, quote=hostile, key="")), ASKED).splitlines()[2:] == [
        "---",
        r"- [1] *click \*b\* \| \`c\` \# h*, p. 5: “click \*b\* \| \`c\` \# h”",
    ]


@pytest.mark.parametrize(
    ("asked", "caution"),
    [
        (Question("How often is the boiler descaled?"), "This may not answer your question: check the sources."),
        (
            Question("Wie oft wird der Kessel entkalkt?"),
            "Das beantwortet Ihre Frage vielleicht nicht: Prüfen Sie die Quellen.",
        ),
        (
            Question("How often?", language="fr"),
            "Cela ne répond peut-être pas à votre question\u202f: vérifiez les sources.",
        ),
    ],
)
def test_an_answer_that_is_not_sure_says_so_above_its_sources(asked: Question, caution: str) -> None:
    unsure = sources_below(replace(answer(citation(1)), band=Band.LOW), asked)
    assert unsure.splitlines()[2:5] == ["---", f"*{caution}*", ""]
    assert unsure.endswith(sources_below(answer(citation(1)), ASKED).removeprefix("\n\n---\n"))
    assert sources_below(replace(answer(), band=Band.LOW), ASKED) == ""


@pytest.mark.parametrize("band", [Band.HIGH, Band.LOW])
def test_a_list_that_comes_back_is_not_read(band: Band) -> None:
    earlier = "It is descaled. [1]" + sources_below(replace(answer(citation(1), citation(2)), band=band), ASKED)
    said = turns(("user", "How often?"), ("assistant", earlier), ("user", "And why?"))
    question = question_of(said, RectoIn(), is_saved=False)
    assert [each.content for each in question.history] == ["How often?", "It is descaled. [1]"]
    assert question.text == "And why?"
    kept = "First.\n\n---\nThen another part."
    assert question_of(turns(("assistant", kept), ("user", "Q")), RectoIn(), is_saved=False).history[0].content == kept


def test_wishes_are_the_system_messages_unless_the_request_has_its_own() -> None:
    said = turns(("system", "Be brief."), ("developer", "Be kind."), ("user", "Q"))
    assert question_of(said, RectoIn(), instructions="Rhyme.", is_saved=False).preferences == {
        "style": "Rhyme. Be brief. Be kind."
    }
    own = RectoIn.model_validate({"preferences": {"style": "a list", "tone": "dry"}})
    assert question_of(said, own, is_saved=False).preferences == {"style": "a list", "tone": "dry"}


@pytest.mark.parametrize("said", [[], [("system", "x")], [("user", "Q"), ("assistant", "A")], [("user", " ")]])
def test_the_last_message_must_be_a_question(said: list[tuple[str, str]]) -> None:
    with pytest.raises(InvalidRequest, match="last message"):
        question_of(turns(*said), RectoIn(), is_saved=False)


@pytest.mark.parametrize(
    "question",
    [
        "What is the task of the keeper?",
        '### Task:\nWrite { "poem": "…" } about <chat_history>',
        '### Task: answer { "title": "x" }',
        "Explain <chat_history>USER: x</chat_history>",
        "### Task:" + '{ "title": "x"' * 20_000,
    ],
)
def test_a_question_is_no_errand(question: str) -> None:
    assert errand_of(question) is None


def test_all_tokens_are_those_of_input_and_output() -> None:
    told = CompletionUsageOut.of(Usage(700, 50, cached_tokens=600, reasoning_tokens=20))
    assert (told.prompt_tokens, told.completion_tokens, told.total_tokens) == (700, 50, 750)
    assert told.prompt_tokens_details.cached_tokens == 600
    assert told.completion_tokens_details.reasoning_tokens == 20


def test_in_markdown_a_line_ends_where_it_does_in_the_text() -> None:
    text = "Bring:\na) a rope [1]\nb) a lamp [1]\n\nSee also:\nIt is dark. [2]"
    shown = in_markdown(text)
    assert shown == "Bring:  \na) a rope [1]  \nb) a lamp [1]\n\nSee also:  \nIt is dark. [2]"
    assert "".join(map(in_markdown, ("Bring:", "\na) a rope [1]", "\nb) a lamp [1]"))) == shown.split("\n\n")[0]
