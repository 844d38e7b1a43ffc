"""Answers asked for again: the same as long as nothing changes; whatever changes is named (`make bench`: 200)."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest

from functions.query import bootstrap, receipts
from functions.query.bootstrap import Services, services
from functions.query.ports import QueryPorts
from tests.support.ingest import Stack, pdf_of
from tests.support.query import FakeChat
from tests.support.query_stack import Faulty, query_stack
from tests.support.replays import DOCUMENTS, TENANT, Asker, answers, key_of, put
from tests.support.replays import text_of as text_of_place

QUESTION = "What is the number of bells of Orsk?"
BROCK = f"uploads/{TENANT}/brock.pdf"
ANN = Asker()


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("replays")) as made:
        for number in range(DOCUMENTS):
            put(made, number)
        yield made


def kinds(replayed: dict[str, Any], part: str = "causes") -> list[str]:
    return [each["kind"] for each in replayed[part]]


def text_of(replayed: dict[str, Any], kind: str) -> str:
    (text,) = [each["text"] for each in replayed["causes"] if each["kind"] == kind]
    return str(text)


def test_answers_of_every_kind_come_out_the_same(stack: Stack) -> None:
    modes = Counter()
    for asker, answer in answers(12):
        replayed = asker.replay(answer)
        modes[answer["mode"]] += 1
        assert (replayed["identical"], replayed["causes"], replayed["effects"]) == (True, [], []), replayed["then"]
        assert not replayed["now"]["caches"]["answer"]
        if answer["mode"] != "service":
            assert replayed["answer"] == answer["answer"]
    assert {"generated", "refused", "service"} <= modes.keys()


def test_a_replay_saves_nothing(stack: Stack) -> None:
    answer = ANN.ask(QUESTION)

    def items() -> list[str]:
        found = stack.aws.dynamodb.scan(TableName="conversations")["Items"]
        return sorted(f"{each['pk']['S']} {each['sk']['S']}" for each in found if "USAGE" not in each["pk"]["S"])

    before = items()
    replayed = ANN.replay(answer)
    assert items() == before
    assert ANN.send("GET", f"/messages/{replayed['now']['message_id']}/receipt")[0] == 404


@pytest.mark.parametrize("stranger", [Asker("mallory"), Asker("eve", "admin")], ids=["user", "admin"])
def test_only_whoever_asked_may_replay(stack: Stack, stranger: Asker) -> None:
    answer = ANN.ask(QUESTION)
    assert stranger.send("POST", f"/messages/{answer['message_id']}/replay")[0] == 404


def test_changed_settings_are_named_with_their_values(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = ANN.ask(QUESTION)
    monkeypatch.setenv("RECTO_TOP_K", "2")
    monkeypatch.setenv("RECTO_SCORE_THRESHOLD", "0.99")
    bootstrap.reset()
    replayed = ANN.replay(answer)
    monkeypatch.undo()
    bootstrap.reset()
    assert kinds(replayed) == ["settings"]
    assert "`top_k` was 7 and is 2" in text_of(replayed, "settings")
    assert "`score_threshold` was 0.35 and is 0.99" in text_of(replayed, "settings")
    assert not replayed["identical"]
    assert "decision" in kinds(replayed, "effects")


def test_another_release_is_named_though_the_answer_is_the_same(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = ANN.ask(QUESTION)
    monkeypatch.setattr(receipts, "RELEASE", "2026-11-24")
    replayed = ANN.replay(answer)
    assert (replayed["identical"], kinds(replayed)) == (True, ["code"])
    assert "2026-11-24" in text_of(replayed, "code")


@pytest.fixture
def restored(stack: Stack) -> Iterator[None]:
    """Put the first document back after a test that changes it."""
    yield
    put(stack, 0)


@pytest.mark.usefixtures("restored")
def test_a_replaced_document_is_named(stack: Stack) -> None:
    answer = ANN.ask(QUESTION)
    put(stack, 0, seed=7)
    replayed = ANN.replay(answer)
    assert text_of(replayed, "documents") == "“Atlas, part 0” was replaced by another version of the file."
    assert {"sources", "claims"} <= {*kinds(replayed, "effects")}


def test_a_deleted_document_is_told_without_its_name(stack: Stack) -> None:
    stack.put(BROCK, pdf_of(["The weir of Brock is opened by the miller at noon."], title="The weir"))
    assert stack.deliver(BROCK) == []
    answer = ANN.ask("Who opens the weir of Brock, and when?")
    assert ANN.send("DELETE", f"/documents/{answer['citations'][0]['document_id']}")[0] == 202
    replayed = ANN.replay(answer)
    assert text_of(replayed, "documents") == "A document is gone, or you may no longer read it."
    assert "The weir" not in json.dumps(replayed)
    assert not replayed["identical"]


def edit(answer: dict[str, Any], **changes: Any) -> None:
    path = f"/passages/{quote(answer['sources'][0]['chunk_id'], safe='')}"
    status, body = ANN.send("PATCH", path, changes)
    assert status == 200, body


def test_a_passage_that_an_editor_left_out_is_named(stack: Stack) -> None:
    answer = ANN.ask(QUESTION)
    edit(answer, excluded=True)
    replayed = ANN.replay(answer)
    edit(answer, excluded=False)
    assert text_of(replayed, "documents").startswith("An editor has left out or corrected passages of “Atlas, part 0”")
    assert not replayed["identical"]
    assert ANN.replay(answer)["identical"]


@pytest.mark.usefixtures("restored")
def test_a_labelled_document_was_ingested_again_and_answers_the_same(stack: Stack) -> None:
    answer = ANN.ask(QUESTION)
    status, body = ANN.send(
        "PATCH", f"/documents/{answer['citations'][0]['document_id']}", {"labels": {"goal": "bells"}}
    )
    assert status == 200, body
    assert stack.deliver(key_of(0)) == []
    replayed = ANN.replay(answer)
    assert text_of(replayed, "documents").startswith("“Atlas, part 0” was ingested again")
    assert (replayed["identical"], replayed["effects"]) == (True, [])


def test_a_new_document_is_named(stack: Stack) -> None:
    answer = ANN.ask("How many stairs has the belfry of Zander?")
    key = f"uploads/{TENANT}/zander.pdf"
    stack.put(key, pdf_of(["The belfry of Zander has 214 stairs, and no lift."], title="Zander"))
    assert stack.deliver(key) == []
    replayed = ANN.replay(answer)
    assert text_of(replayed, "documents") == "“Zander” was uploaded, or ingested again, since."
    assert {"decision", "sources", "claims"} <= {*kinds(replayed, "effects")}


@pytest.fixture
def answered_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeChat], None]:
    """Have another model answer."""

    def swap(chat: FakeChat) -> None:
        made = Services.query_ports

        def ports(self: Services, *arguments: Any) -> QueryPorts:
            return replace(made(self, *arguments), chat=chat, rewriter=None)

        monkeypatch.setattr(Services, "query_ports", ports)

    return swap


def claiming(sentence: str) -> FakeChat:
    claims = [{"text": sentence, "citations": [{"source": 1, "quote": sentence}]}]
    return FakeChat(json.dumps({"answered": True, "claims": claims}))


def test_a_model_that_answers_otherwise_is_named(stack: Stack, answered_by: Callable[[FakeChat], None]) -> None:
    _, pier, _, bells, *_ = text_of_place("Orsk").split("\n\n")
    answered_by(claiming(bells))
    answer = ANN.ask(QUESTION, fresh=True)
    assert answer["mode"] == "generated"
    answered_by(claiming(pier))
    replayed = ANN.replay(answer)
    assert kinds(replayed) == ["model"]
    assert text_of(replayed, "model") == "The model was asked exactly the same, and wrote something else."
    assert "claims" in kinds(replayed, "effects")


def test_a_failing_model_is_named(stack: Stack) -> None:
    answer = ANN.ask(QUESTION)
    with Faulty(stack, stack.openai_url, route="/v1/chat/completions", kind="status", status=500):
        replayed = ANN.replay(answer, degraded=True)
    bootstrap.reset()
    assert text_of(replayed, "degraded") == "Now, not everything worked: model_unavailable."
    assert "decision" in kinds(replayed, "effects")
    assert replayed["now"]["warnings"] == ["model_unavailable"]


def test_another_glossary_is_named(stack: Stack) -> None:
    answer = ANN.ask("What is the number of carillons of Orsk?")
    glossary = {"version": 1, "entities": [{"name": "bell", "spellings": ["carillon", "carillons"]}]}
    stack.put(f"glossary/{TENANT}.json", json.dumps(glossary).encode())
    bootstrap.reset()
    replayed = ANN.replay(answer)
    stack.aws.s3.delete_object(Bucket=services().settings.bucket, Key=f"glossary/{TENANT}.json")
    bootstrap.reset()
    assert text_of(replayed, "question").startswith("The question was searched for in other words")
