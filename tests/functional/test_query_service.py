"""Talk and questions about the collection, through the real handler, with the registry on moto and calls counted."""

from collections.abc import Iterator

import pytest

from tests.support.ingest import Stack, pdf_of
from tests.support.query_stack import call, calls_of, events_of, forget_calls, query_stack, web_server

CHAT = "/v1/chat/completions"
EMBED = "/v1/embeddings"
SPARE = "uploads/acme/spares/mill-manual-2023.pdf"
THEIRS = "uploads/other/secret-manual-2023.pdf"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("service")) as made:
        for key, title in ((SPARE, "Mill manual"), (THEIRS, "Secret manual")):
            made.put(key, pdf_of(["The mill stands by the river. Its wheel turns in spring."], title=title))
            assert made.deliver(key) == []
        yield made


def ask(question: str, **more: str) -> dict[str, object]:
    status, answer, _ = call("POST", "/query", {"question": question, **more})
    assert status == 200, answer
    return answer


@pytest.mark.parametrize(
    "question",
    ["Hello!", "Thanks a lot", "Who are you?", "What can you do?", "Which documents do you have?", "What is it?", "?"],
)
def test_talk_calls_no_model_and_no_index(stack: Stack, question: str):
    forget_calls(stack)
    answer = ask(question)
    assert answer["mode"] == "service"
    assert answer["answer"]
    assert (answer["no_relevant_info"], answer["citations"], answer["sources"]) == (False, [], [])
    assert calls_of(stack, stack.openai_url, CHAT) == calls_of(stack, stack.openai_url, EMBED) == 0
    assert calls_of(stack, stack.pinecone_url, "/query") == 0


def test_the_list_names_the_tenants_documents_only(stack: Stack):
    text = str(ask("Which documents do you have?")["answer"])
    assert "Documents I answer from: 2." in text
    assert "Mill manual (mill-manual-2023.pdf)" in text
    assert "Orsk Lighthouse Handbook" in text
    assert "Secret" not in text


def test_a_count_by_kind_and_year_comes_from_the_registry_and_follows_a_deletion(stack: Stack):
    key = "uploads/acme/pump-manual-2023.pdf"
    stack.put(key, pdf_of(["The pump is oiled in May."], title="Pump manual"))
    assert stack.deliver(key) == []
    assert "“2023 manuals”: 2." in str(ask("List all manuals of 2023")["answer"])
    assert call("DELETE", f"/documents/{stack.document(key).document_id}")[0] == 202
    assert "“2023 manuals”: 1." in str(ask("List all manuals of 2023")["answer"])


def test_talk_is_saved_in_the_conversation_and_streamed_like_any_answer(stack: Stack):
    first = ask("Hello!")
    ask("Danke!", conversation_id=str(first["conversation_id"]))
    _, saved, _ = call("GET", f"/conversations/{first['conversation_id']}")
    assert [turn["content"] for turn in saved["messages"]][::2] == ["Hello!", "Danke!"]
    with web_server() as client:
        streamed = client.post("/query", json={"question": "Hello!"}, headers={"Accept": "text/event-stream"})
    events = events_of(streamed.text)
    assert [name for name, _ in events if name != "delta"] == ["sources", "support", "done"]
    assert "".join(data["text"] for name, data in events if name == "delta") == first["answer"]
    assert events[-1][1]["mode"] == "service"


def test_each_part_of_a_question_is_searched_for_alone_and_one_without_evidence_says_so(stack: Stack):
    answer = ask("When does the wheel of the mill turn, and how often must the lens of the lamp be cleaned?")
    quotes = " ".join(citation["quote"] for citation in answer["citations"])  # type: ignore[attr-defined]
    assert "spring" in quotes
    assert "vinegar every Thursday" in quotes
    answer = ask("How often must the lens of the lamp be cleaned, and who won the chess tournament of 1998?")
    assert "vinegar every Thursday" in str(answer["answer"])
    assert "Nothing was found in the documents about “Who won the chess tournament of 1998?”." in str(answer["answer"])


def test_a_misspelt_question_is_searched_for_once_more_before_it_is_refused(stack: Stack):
    forget_calls(stack)
    assert ask("Who won the chess tournament of 1998?")["no_relevant_info"]
    once = calls_of(stack, stack.pinecone_url, "/query")
    forget_calls(stack)
    answer = ask("Is the lightohuse keepre in the cottgae?")
    assert answer["rewritten"] == "Is the lighthouse keeper in the cottage?"
    assert not answer["no_relevant_info"]
    assert calls_of(stack, stack.pinecone_url, "/query") == 2 * once


def test_a_document_is_summarised_from_its_own_passages(stack: Stack):
    answer = ask("Summarise the lighthouse handbook")
    assert answer["mode"] in ("generated", "extractive")
    assert {citation["title"] for citation in answer["citations"]} == {"Orsk Lighthouse Handbook"}  # type: ignore[attr-defined]
    assert str(ask("Summarise the document Zeppelin")["answer"]).startswith("There is no document called “zeppelin”")
