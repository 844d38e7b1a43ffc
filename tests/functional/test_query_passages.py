"""Passages that an editor leaves out or corrects: at once, truthfully cited, through replacements and re-indexes."""

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from functions.ingest import bootstrap as ingest_bootstrap
from functions.query import bootstrap
from shared.models import content_hash_of, document_id_of
from tests.support.ingest import Stack, lambda_record, pdf_of
from tests.support.query_stack import Faulty, call, query_stack

WRONG = "The ferry to Aaland sails at seven in the morning."
RIGHT = "The ferry to Aaland sails at nine in the morning."
OTHER = "The harbour office is closed on Sundays."
QUESTION = "When does the ferry to Aaland sail?"
numbers = itertools.count()


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("passages")) as made:
        yield made


@pytest.fixture
def tenant() -> str:
    return f"harbour{next(numbers)}"


@dataclass
class Editor:
    """One tenant's knowledge file, each of its entries a passage, and an editor of it."""

    stack: Stack
    tenant: str
    key: str = field(init=False)

    def __post_init__(self) -> None:
        self.key = f"knowledge/{self.tenant}/harbour.json"

    @property
    def document_id(self) -> str:
        return document_id_of(self.tenant, self.key)

    def put(self, *texts: str) -> None:
        entries = [
            {"metadata": {"chunk_id": f"c{at}"}, "languageVariants": {"en": {"text": text}}}
            for at, text in enumerate(texts)
        ]
        self.stack.put(self.key, json.dumps(entries).encode())
        assert self.stack.deliver(self.key) == []

    def send(self, method: str, path: str, body: dict[str, Any] | None = None, **more: Any) -> tuple[int, Any]:
        status, answer, _ = call(method, path, body, tenant=self.tenant, **more)
        return status, answer

    def get(self, path: str) -> Any:
        status, answer = self.send("GET", path)
        assert status == 200, answer
        return answer

    def found(self) -> dict[str, str]:
        """Return text → passage id of all that a search finds."""
        status, answer = self.send("POST", "/search", {"question": QUESTION, "limit": 100, "top_k": 50})
        assert status == 200, answer
        return {each["text"]: each["passage_id"] for each in answer["passages"]}

    def edit(self, text: str, /, **changes: Any) -> Any:
        """Change the passage whose original is `text`, by the id that stays the same."""
        name = f"{self.document_id}#{content_hash_of(text)}"
        if self.send("GET", f"/passages/{quote(name, safe='')}")[0] == 404:
            name = self.found()[text]
        status, answer = self.send("PATCH", f"/passages/{quote(name, safe='')}", changes)
        assert status == 200, answer
        return answer

    def edits(self) -> dict[str, str]:
        """Return original → state."""
        listed = self.get(f"/documents/{self.document_id}/edits")["passages"]
        return {each["original"]: each["state"] for each in listed}

    def deliver(self) -> int:
        """Deliver the changes that the API and a re-index have sent."""
        for delivered in itertools.count():
            found = self.stack.aws.sqs.receive_message(QueueUrl=self.stack.aws.queue_url).get("Messages", [])
            if not found:
                return delivered
            assert self.stack.invoke({"Records": [lambda_record(found[0])]})["batchItemFailures"] == []
            receipt = found[0]["ReceiptHandle"]
            self.stack.aws.sqs.delete_message(QueueUrl=self.stack.aws.queue_url, ReceiptHandle=receipt)
        raise AssertionError("unreachable")

    def reindex(self) -> None:
        steps = ingest_bootstrap.reindexer()
        steps.start(self.tenant)
        self.deliver()
        steps.switch(self.tenant)
        bootstrap.reset()  # a container remembers the pointer for five seconds

    def ask(self, question: str = QUESTION) -> Any:
        status, answer = self.send("POST", "/query", {"question": question})
        assert status == 200, answer
        return answer


@pytest.fixture
def editor(stack: Stack, tenant: str) -> Editor:
    made = Editor(stack, tenant)
    made.put(WRONG, OTHER)
    return made


def test_an_excluded_passage_is_not_answered_from_at_once_nor_from_the_cache(editor: Editor):
    assert WRONG in editor.ask()["citations"][0]["quote"]
    assert editor.ask()["cached"]
    passage = editor.edit(WRONG, excluded=True, note="misprint")
    assert (passage["state"], passage["excluded"], passage["original"]) == ("applied", True, WRONG)
    assert [(each["by"], each["excluded"], each["note"]) for each in passage["changes"]] == [("ann", True, "misprint")]
    assert set(editor.found()) == {OTHER}
    assert editor.ask()["no_relevant_info"]
    assert editor.deliver() == 0, "an exclusion costs no ingest"
    assert editor.edit(WRONG, excluded=False)["state"] == "original"
    assert set(editor.found()) == {WRONG, OTHER}
    assert not editor.ask()["no_relevant_info"]


def test_a_corrected_passage_is_left_out_until_it_is_embedded_and_then_cited_as_corrected(editor: Editor):
    assert editor.ask()["citations"][0]["corrected"] is False
    assert editor.edit(WRONG, text=RIGHT)["state"] == "pending"
    assert set(editor.found()) == {OTHER}
    assert editor.deliver() == 1
    assert set(editor.found()) == {RIGHT, OTHER}
    answer = editor.ask()
    (citation,) = answer["citations"]
    assert (citation["corrected"], citation["quote"]) == (True, RIGHT)
    assert RIGHT[citation["char_start"] : citation["char_end"]] == citation["quote"]
    assert answer["sources"][0]["corrected"]
    assert editor.edits() == {WRONG: "applied"}
    page = editor.get(f"/documents/{editor.document_id}/pages/1")
    assert page["text"].startswith(WRONG), "the page says what the file says"
    assert page["complete"]
    assert editor.edit(WRONG, text=None)["state"] == "pending"
    assert set(editor.found()) == {OTHER}
    editor.deliver()
    assert set(editor.found()) == {WRONG, OTHER}
    assert [each["text"] for each in editor.edit(WRONG, note="as it was")["changes"]] == [RIGHT, "", ""]


def test_a_pdfs_corrected_passage_keeps_its_page(stack: Stack, tenant: str):
    editor = Editor(stack, tenant)
    editor.key = f"uploads/{tenant}/harbour.pdf"
    stack.put(editor.key, pdf_of(["An empty quay.", WRONG], title="Harbour"))
    stack.deliver(editor.key)
    (original,) = editor.found()
    editor.edit(original, text=original.replace("seven", "nine"))
    editor.deliver()
    citation = editor.ask()["citations"][0]
    assert citation["corrected"]
    assert "nine" in citation["quote"]
    assert "seven" in editor.get(f"/documents/{editor.document_id}/pages/2")["text"]


def test_edits_outlive_replacements_and_reindexes_as_long_as_the_text_is_there(editor: Editor):
    editor.edit(WRONG, text=RIGHT)
    editor.edit(OTHER, excluded=True)
    editor.deliver()
    editor.put("A new first passage about gulls.", OTHER, WRONG)
    assert set(editor.found()) == {RIGHT, "A new first passage about gulls."}
    assert editor.edits() == {WRONG: "applied", OTHER: "applied"}
    editor.put("Only gulls.", OTHER)
    assert set(editor.found()) == {"Only gulls."}
    assert editor.edits() == {WRONG: "not_applied", OTHER: "applied"}
    editor.put(WRONG, "Only gulls.")
    assert set(editor.found()) == {RIGHT, "Only gulls."}
    editor.reindex()
    assert set(editor.found()) == {RIGHT, "Only gulls."}
    assert editor.edits() == {WRONG: "applied", OTHER: "not_applied"}


def test_edits_are_erased_with_the_document(editor: Editor):
    editor.edit(WRONG, text=RIGHT, note="secret")
    editor.deliver()
    editor.stack.delete(editor.key)
    editor.stack.deliver(editor.key, event="ObjectRemoved:Delete")
    items = editor.stack.aws.dynamodb.scan(TableName=editor.stack.aws.documents_table)["Items"]
    mine = [item for item in items if item["pk"]["S"] == f"TENANT#{editor.tenant}" and "EDIT#" in item["sk"]["S"]]
    assert [set(item) for item in mine] == [{"pk", "sk", "expires_at"}]
    assert editor.send("GET", f"/documents/{editor.document_id}/edits")[0] == 410
    editor.put(WRONG)
    assert set(editor.found()) == {WRONG}
    assert editor.edits() == {}


def test_no_earlier_answer_about_an_edited_document_is_given_while_the_index_is_down(editor: Editor):
    editor.ask()
    editor.edit(WRONG, excluded=True)
    with Faulty(editor.stack, editor.stack.pinecone_url, route="/query", kind="status", status=500):
        assert editor.send("POST", "/query", {"question": QUESTION})[0] == 503


def test_a_lost_notification_is_sent_again_with_the_next_change_and_found_by_maintenance(editor: Editor):
    editor.edit(WRONG, text=RIGHT)
    queue = editor.stack.aws.queue_url
    lost = editor.stack.aws.sqs.receive_message(QueueUrl=queue)["Messages"][0]
    editor.stack.aws.sqs.delete_message(QueueUrl=queue, ReceiptHandle=lost["ReceiptHandle"])
    editor.edit(WRONG, note="again")
    assert editor.deliver() == 1
    assert RIGHT in editor.found()


def test_only_editors_of_the_tenant_may_and_ids_are_checked(editor: Editor):
    passage_id = editor.found()[WRONG]
    path = f"/passages/{quote(passage_id, safe='')}"
    assert editor.get(path)["state"] == "original"
    assert editor.send("PATCH", path, {"excluded": True}, groups="reader")[0] == 403
    assert call("PATCH", path, {"excluded": True}, tenant="stranger")[0] == 404
    unknown = [
        "x",
        f"{editor.document_id}#{'0' * 32}",
        f"{editor.document_id}#{passage_id.split('#')[1]}#999",
        f"{editor.document_id}#01M80F0X2T492PVHYSD46AFH6R#0",
        f"{'0' * 32}#g#0",
    ]
    for name in unknown:
        assert editor.send("PATCH", f"/passages/{quote(name, safe='')}", {"excluded": True})[0] == 404, name
    for body in ({"text": ""}, {"text": "x" * 4_001}, {"exclude": True}, {"note": "x" * 1_001}):
        assert editor.send("PATCH", path, body)[0] == 400, body
    assert editor.edits() == {}


def test_of_two_editors_who_read_the_same_state_one_wins(editor: Editor):
    services = bootstrap.services()
    editor.edit(WRONG, note="seen")
    document = services.registry.get(editor.tenant, editor.document_id)
    edit = services.edits.get(editor.tenant, editor.document_id, content_hash_of(WRONG))
    assert document is not None
    assert edit is not None
    editor.edit(WRONG, excluded=True)
    assert not services.edits.save(document, edit, before=edit)
    assert editor.get(f"/documents/{editor.document_id}/edits")["passages"][0]["excluded"]


# --- random edits, replacements and re-indexes against a model --------------------------------------------------------

TEXTS = [f"Passage {name} tells how the ferry to Aaland sails." for name in ("one", "two", "three")]
STEPS = st.one_of(
    st.tuples(st.just("put"), st.sets(st.sampled_from(TEXTS), min_size=1).map(sorted)),
    st.tuples(st.just("exclude"), st.sampled_from(TEXTS)),
    st.tuples(st.just("include"), st.sampled_from(TEXTS)),
    st.tuples(st.just("correct"), st.sampled_from(TEXTS)),
    st.tuples(st.just("take back"), st.sampled_from(TEXTS)),
    st.tuples(st.just("deliver"), st.none()),
    st.tuples(st.just("reindex"), st.none()),
)


@dataclass
class Model:
    """What should be found: by text, whether it is there, left out, corrected, and corrected in the index."""

    there: set[str] = field(default_factory=lambda: set(TEXTS))
    excluded: set[str] = field(default_factory=set)
    corrected: set[str] = field(default_factory=set)
    built: set[str] = field(default_factory=set)

    def found(self) -> set[str]:
        shown = {text for text in self.there - self.excluded if (text in self.corrected) == (text in self.built)}
        return {correction_of(text) if text in self.corrected else text for text in shown}

    def rebuild(self) -> None:
        self.built = self.corrected - self.excluded


def correction_of(text: str) -> str:
    return text.replace("sails", "does not sail")


@settings(max_examples=4, phases=[Phase.explicit, Phase.reuse, Phase.generate])  # each step takes a tenth of a second
@given(steps=st.lists(STEPS, min_size=4, max_size=9))
def test_what_is_found_is_what_the_edits_say(stack: Stack, steps: Sequence[tuple[str, Any]]):
    editor, model = Editor(stack, f"model{next(numbers)}"), Model()
    editor.put(*TEXTS)
    for text in TEXTS:
        editor.edit(text, note="known")  # so that it can be edited while it is not found
    reindexed = False
    for step, given_ in steps:
        match step:
            case "put":
                editor.put(*given_)
                model.there = set(given_)
                model.rebuild()
            case "exclude" | "include":
                editor.edit(given_, excluded=step == "exclude")
                (model.excluded.add if step == "exclude" else model.excluded.discard)(given_)
            case "correct" | "take back":
                editor.edit(given_, text=correction_of(given_) if step == "correct" else None)
                (model.corrected.add if step == "correct" else model.corrected.discard)(given_)
            case "deliver":
                editor.deliver()
                model.rebuild()
            case "reindex" if not reindexed:  # a second one must wait a minute for the first
                editor.reindex()
                reindexed = True
                model.rebuild()
        assert set(editor.found()) == model.found(), (step, given_)
    editor.deliver()
    model.rebuild()
    assert set(editor.found()) == model.found()
