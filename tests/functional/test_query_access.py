"""Who may read which document: each way out of the service, before and after a right is lost."""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from functions.query import bootstrap, withholding
from functions.query.answer import Question
from functions.query.pipeline import answer_events
from functions.query.writing.localization import texts_for
from shared.access import AccessRule
from shared.deadline import Deadline
from shared.errors import AccessLost
from shared.models import Principal, document_id_of
from tests.support.ingest import Stack, pdf_of
from tests.support.query_stack import query_stack, raw_call

HR, OPEN = "uploads/acme/hr/pay.pdf", "uploads/acme/canteen.pdf"
PAY, SOUP = document_id_of("acme", HR), document_id_of("acme", OPEN)
WHAT = "What does the harbour pilot earn a month?"
SECRET = "7,310"
SETTINGS = {"ANSWER_CACHE_TTL_S": "3600", "HANDOFF_OFFER": "true", "UNANSWERED_DAYS": "30"}
IN_HR, OTHERS = ("hr",), ()


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with (
        pytest.MonkeyPatch.context() as patch,
        query_stack(patch, tmp_path_factory.mktemp("access"), **SETTINGS) as made,
    ):
        text = f"The harbour pilot earns {SECRET} euros a month. The pay is due on the last working day."
        made.put(HR, pdf_of([text], title="Harbour wages"))
        made.put(OPEN, pdf_of(["The canteen serves barley soup on Mondays. It is open until four."], title="Canteen"))
        assert made.deliver(HR, OPEN) == []
        yield made


@pytest.fixture(autouse=True)
def rules(stack: Stack) -> Iterator[Callable[..., None]]:
    """Set the folder rules; in the beginning the folder is closed to all but the group `hr`."""

    def put(*folders: tuple[str, list[str]]) -> None:
        body = {"folders": [{"prefix": prefix, "allowed_groups": groups} for prefix, groups in folders]}
        assert call("PUT", "/access", body, role="admin", headers={"If-Match": "*"})[0] == 200

    put(("uploads/acme/hr/", ["hr"]))
    bootstrap.services.cache_clear()  # a container notices a tenant's first rule within five seconds
    yield put
    own = {"access": None}
    assert call("PATCH", f"/documents/{PAY}", own, role="admin")[0] == 200


def call(
    method: str, path: str, body: Any = None, *, groups: tuple[str, ...] = (), role: str = "reader", **more: Any
) -> tuple[int, Any]:
    authorizer = {"member_of": json.dumps(groups)}
    status, text, _ = raw_call(method, path, body, groups=role, authorizer=authorizer, **more)
    return status, json.loads(text) if text.startswith(("{", "[")) else text


def ask(groups: tuple[str, ...], question: str = WHAT, **more: Any) -> dict[str, Any]:
    user = more.pop("user", "ann")
    status, answer = call("POST", "/query", {"question": question, **more}, groups=groups, user=user)
    assert status == 200, answer
    return dict(answer)


def shown(value: object) -> str:
    return json.dumps(value).lower()


def test_what_one_may_not_read_is_in_no_answer() -> None:
    assert SECRET in ask(IN_HR)["answer"]
    denied = ask(OTHERS)
    assert SECRET not in shown(denied)
    assert PAY not in shown(denied)
    assert "barley" in ask(OTHERS, "What does the canteen serve on Mondays?")["answer"]


def test_editors_are_bound_by_rules_and_administrators_are_not() -> None:
    for role, may in (("editor", False), ("agent", False), ("admin", True)):
        status, answer = call("POST", "/query", {"question": WHAT}, role=role)
        assert (status, SECRET in shown(answer)) == (200, may), role


def test_answers_are_cached_apart() -> None:
    first, again, other = ask(IN_HR), ask(IN_HR, user="bob"), ask(OTHERS)
    assert again["cached"], "readers of the same groups share an answer"
    assert SECRET in first["answer"]
    assert SECRET not in shown(other)


def test_its_routes_say_that_there_is_none() -> None:
    for path in ("", "/content", "/pages/1", "/report", "/edits"):
        assert call("GET", f"/documents/{PAY}{path}", role="editor")[0] == 404, path
        assert call("GET", f"/documents/{PAY}{path}", role="editor", groups=IN_HR)[0] == 200, path
    source = ask(IN_HR)["sources"][0]["chunk_id"].replace("#", "%23")
    assert call("GET", f"/passages/{source}", role="editor")[0] == 404
    for method, body in (("PATCH", {"access": None}), ("PATCH", {"labels": {"goal": "x"}}), ("DELETE", None)):
        assert call(method, f"/documents/{PAY}", body, role="editor")[0] == 404
    for body in ({"filename": "hr/pay.pdf"}, {"filename": "hr/new.pdf", "access": {"allowed_groups": ["*"]}}):
        assert call("POST", "/documents", body, role="editor")[0] == 403


def test_lists_counts_and_searches_leave_it_out() -> None:
    message = [{"role": "user", "content": WHAT}]
    tool = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {}}}
    tool["params"] = {"name": "search", "arguments": {"question": WHAT}}
    ways: list[tuple[str, str, Any]] = [
        ("GET", "/documents", None),
        ("POST", "/search", {"question": WHAT, "limit": 100}),
        ("POST", "/query", {"question": "Which documents do you have?"}),
        ("POST", "/v1/chat/completions", {"model": "recto", "messages": message}),
        ("POST", "/v1/responses", {"model": "recto", "input": WHAT}),
        ("POST", "/mcp", tool),
    ]
    for method, path, body in ways:
        headers = {"Accept": "application/json, text/event-stream"}
        for groups in (IN_HR, OTHERS):
            status, found = call(method, path, body, groups=groups, role="editor", headers=headers)
            assert status == 200, (path, found)
            traces = [trace for trace in (SECRET, PAY, "harbour wages") if trace in shown(found)]
            assert bool(traces) is bool(groups), (path, groups, traces)
    counted = [ask(groups, "How many documents do you have?")["answer"] for groups in (IN_HR, OTHERS)]
    assert counted[0] != counted[1]


def test_a_change_is_in_force_for_the_next_question_without_indexing_anew(
    stack: Stack, rules: Callable[..., None]
) -> None:
    before = stack.document(HR).generation
    assert SECRET not in ask(OTHERS)["answer"]
    rules()
    assert SECRET in ask(OTHERS)["answer"]
    assert call("PATCH", f"/documents/{PAY}", {"access": {"allowed_users": ["bob"]}}, role="admin")[0] == 200
    assert SECRET not in shown(ask(IN_HR))
    assert SECRET in ask(OTHERS, user="bob")["answer"]
    assert stack.document(HR).generation == before
    assert stack.document(HR).access == AccessRule(frozenset(), frozenset({"bob"}))


def test_the_longest_folder_decides(rules: Callable[..., None]) -> None:
    rules(("uploads/acme/", ["hr"]), ("uploads/acme/hr/", ["*"]))
    assert SECRET in ask(OTHERS)["answer"]
    assert "barley" not in shown(ask(OTHERS, "What does the canteen serve on Mondays?"))


def test_an_old_answer_is_withheld_with_what_followed_it(rules: Callable[..., None]) -> None:
    first = ask(IN_HR)
    conversation = first["conversation_id"]
    ask(IN_HR, "And when is it due?", conversation_id=conversation, language="lt")
    rules(("uploads/acme/hr/", ["board"]))
    status, read = call("GET", f"/conversations/{conversation}", groups=IN_HR)
    answers = [each for each in read["messages"] if each["role"] == "assistant"]
    assert [each["withheld"] for each in answers] == [True, True]
    assert [each["content"] for each in answers] == [texts_for("en").withheld, texts_for("lt").withheld]
    assert next(each["content"] for each in read["messages"] if each["role"] == "user") == WHAT
    for form in ("markdown", "json"):
        status, export = call("GET", f"/conversations/{conversation}/export", groups=IN_HR, params={"format": form})
        assert (status, SECRET in shown(export)) == (200, False)
    status, receipt = call("GET", f"/messages/{first['message_id']}/receipt", groups=IN_HR)
    assert (status, receipt["code"]) == (403, "access_lost")
    assert SECRET not in shown(ask(IN_HR, "How much is that a year?", conversation_id=conversation))
    rules(("uploads/acme/hr/", ["hr"]))
    status, read = call("GET", f"/conversations/{conversation}", groups=IN_HR)
    assert SECRET in shown(read), "it was kept"


def test_a_list_of_documents_in_an_old_answer_is_withheld_too(rules: Callable[..., None]) -> None:
    conversation = ask(IN_HR, "Which documents do you have?")["conversation_id"]
    assert "harbour wages" in shown(call("GET", f"/conversations/{conversation}", groups=IN_HR)[1])
    rules(("uploads/acme/hr/", ["board"]))
    assert "harbour wages" not in shown(call("GET", f"/conversations/{conversation}", groups=IN_HR)[1])


def test_others_work_shows_each_what_they_may_read_themselves() -> None:
    answer = ask(IN_HR)
    rating = {"rating": "down"}
    assert call("PUT", f"/messages/{answer['message_id']}/feedback", rating, groups=IN_HR)[0] == 200
    sent: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shared.adapters.events.EventBridgeSender.send", lambda _, __, detail: sent.append(detail))
        path = f"/conversations/{answer['conversation_id']}/handoff"
        status, handoff = call("POST", path, {"reason": "why?"}, groups=IN_HR)
    assert status == 201
    assert len(sent) == 1
    assert SECRET not in sent[0], "who gets the event is not known"
    for path, role in (("/feedback", "editor"), (f"/handoffs/{handoff['handoff_id']}", "agent")):
        for groups in (IN_HR, OTHERS):
            status, seen = call("GET", path, groups=groups, role=role)
            assert (status, SECRET in shown(seen)) == (200, bool(groups)), (path, groups)
    for groups in (IN_HR, OTHERS):
        status, seen = call("GET", "/insights/unanswered", groups=groups, role="editor")
        assert (status, PAY in shown(seen)) == (200, bool(groups))


def test_a_stream_ends_when_the_right_is_lost(monkeypatch: pytest.MonkeyPatch, rules: Callable[..., None]) -> None:
    monkeypatch.setattr(withholding, "CHECK_EVERY_S", 0.0)
    principal = Principal("acme", "ann", frozenset({"reader", "hr"}))
    services = bootstrap.services().for_reader(principal)
    deadline = Deadline(services.clock, 30)
    ports = services.query_ports("acme", deadline)
    events = answer_events(Question(WHAT, is_saved=False), principal, ports, deadline)
    assert next(events)
    rules(("uploads/acme/hr/", ["board"]))
    with pytest.raises(AccessLost):
        next(events)


def test_metadata_of_the_object_state_a_rule_once(stack: Stack, rules: Callable[..., None]) -> None:
    rules()
    body, _bucket = (
        pdf_of([f"The harbour pilot earns {SECRET} euros a month, as before."], title="Harbour wages"),
        "acme",
    )
    stack.aws.s3.put_object(
        Bucket=stack.aws.bucket, Key=HR, Body=body, Metadata={"allowed-groups": "hr", "allowed-users": ""}
    )
    assert stack.deliver(HR) == []
    assert stack.document(HR).access == AccessRule(frozenset({"hr"}))
    assert SECRET not in shown(ask(OTHERS))
    assert call("PATCH", f"/documents/{PAY}", {"access": None}, role="admin")[0] == 200
    assert stack.deliver(HR) == []
    assert stack.document(HR).access is None, "the same version does not state it again"
    assert SECRET in ask(OTHERS)["answer"]


def test_folder_rules_put_into_the_bucket_are_in_force_and_wrong_ones_are_not(stack: Stack) -> None:
    key = "access/acme.json"
    stack.put(key, json.dumps({"folders": [{"prefix": "uploads/acme/", "allowed_groups": ["board"]}]}).encode())
    assert stack.deliver(key) == []
    assert SECRET not in shown(ask(IN_HR))
    stack.put(key, b'{"folders": [{"prefix": "uploads/other/"}]}')
    assert stack.deliver(key) == []
    assert SECRET not in shown(ask(IN_HR)), "the former rules stay"
    status, told = call("GET", "/access", role="admin")
    assert (status, told["in_force"], len(told["errors"])) == (200, False, 2)
    stack.delete(key)
    assert stack.deliver(key, event="ObjectRemoved:Delete") == []
    assert SECRET in ask(OTHERS)["answer"]


def test_folder_rules_are_changed_by_whoever_has_read_them_and_checked() -> None:
    status, told = call("GET", "/access", role="admin")
    assert (status, told["in_force"]) == (200, True)
    body = {"folders": [{"prefix": "uploads/acme/x/", "allowed_groups": ["hr"]}]}
    assert call("PUT", "/access", body, role="admin")[0] == 428
    assert call("PUT", "/access", body, role="admin", headers={"If-Match": '"old"'})[0] == 412
    status, after = call("PUT", "/access", body, role="admin", headers={"If-Match": f'"{told["etag"]}"'})
    assert (status, after["in_force"]) == (200, True)
    for wrong in ("uploads/other/x/", "uploads/acme/x", "hr/"):
        body = {"folders": [{"prefix": wrong, "allowed_groups": ["hr"]}]}
        assert call("PUT", "/access", body, role="admin", headers={"If-Match": "*"})[0] == 400, wrong
    for role in ("reader", "editor", "agent"):
        assert call("GET", "/access", role=role)[0] == call("PUT", "/access", body, role=role)[0] == 403


def test_an_upload_brings_its_rule_along(stack: Stack) -> None:
    access = {"allowed_groups": ["hr"], "allowed_users": ["Žofie, 2"]}
    status, form = call("POST", "/documents", {"filename": "new.pdf", "access": access}, role="admin")
    assert status == 201
    assert form["upload"]["fields"]["x-amz-meta-allowed-users"] == "%C5%BDofie%2C%202"
    path = f"/documents/{form['document_id']}"
    status, told = call("GET", path, role="admin")
    assert told["access"] == access
    assert call("GET", path)[0] == 404, "its name is not shown either"
    assert form["document_id"] not in shown(call("GET", "/documents")[1])
    long = {"allowed_groups": [f"{number:03}{'ä' * 60}" for number in range(50)]}
    assert call("POST", "/documents", {"filename": "long.pdf", "access": long}, role="admin")[0] == 400
    stack.aws.s3.put_object(
        Bucket=stack.aws.bucket,
        Key=form["key"],
        Body=pdf_of(["A new page."]),
        Metadata={
            name.removeprefix("x-amz-meta-"): value
            for name, value in form["upload"]["fields"].items()
            if "meta" in name
        },
    )
    assert stack.deliver(form["key"]) == []
    assert stack.document(form["key"]).access == AccessRule(frozenset({"hr"}), frozenset({"Žofie, 2"}))


def test_lists_have_no_gaps_where_something_is_hidden(rules: Callable[..., None]) -> None:
    def listed(groups: tuple[str, ...], **params: str) -> list[Any]:
        pages, cursor = [], ""
        while not pages or cursor:
            status, page = call("GET", "/documents", groups=groups, params={"limit": "1", "cursor": cursor, **params})
            assert status == 200
            cursor = page["next_cursor"]
            pages.append([each["key"] for each in page["documents"]])
            place = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
            assert groups or PAY not in place, "a cursor names a document"
        return pages

    assert listed(IN_HR, q="wages") == [[HR]]
    assert listed(OTHERS, q="wages") == listed(OTHERS, q="zebra") == [[]]
    assert [HR] in listed(IN_HR)
    everything = listed(OTHERS)
    assert [HR] not in everything
    assert all(everything), "no page is empty"
    assert listed(OTHERS, status="FAILED") == [[]]


def test_faqs_that_are_hidden_leave_no_gap_and_no_field(stack: Stack) -> None:
    keys = [f"faq/acme/a{number}.json" for number in range(3)]
    for number, key in enumerate(keys):
        pair = {"question": f"Who rings bell {number}?", "answer": "The sexton.", "tags": {f"grade{number}": "7"}}
        stack.put(key, json.dumps(pair).encode())
    assert stack.deliver(*keys) == []
    for key in keys[:2]:
        body = {"access": {"allowed_groups": ["hr"]}}
        assert call("PATCH", f"/documents/{document_id_of('acme', key)}", body, role="admin")[0] == 200
    for groups, expected in ((IN_HR, ["a0", "a1", "a2"]), (OTHERS, ["a2"])):
        cursor, ids = "", []
        while len(ids) < len(expected):
            status, page = call("GET", "/faqs", groups=groups, role="editor", params={"limit": "1", "cursor": cursor})
            assert (status, len(page["faqs"])) == (200, 1)
            ids += [each["faq_id"] for each in page["faqs"]]
            cursor = page["next_cursor"]
        assert (ids, cursor) == (expected, "")

    def filtered(groups: tuple[str, ...], field: str) -> tuple[int, str]:
        body = {"question": "Who rings the bell?", "filter": {field: "7"}}
        status, answer = call("POST", "/query", body, groups=groups)
        return status, answer["detail"].replace(field, "") if status == 422 else ""

    assert [filtered(IN_HR, field)[0] for field in ("grade0", "grade2", "unheard")] == [200, 200, 422]
    assert filtered(OTHERS, "grade2")[0] == 200
    assert filtered(OTHERS, "grade0") == filtered(OTHERS, "unheard"), "a tag of hidden documents is none"


def test_a_cached_refusal_that_names_a_document_ends_when_that_is_lost(
    monkeypatch: pytest.MonkeyPatch, rules: Callable[..., None]
) -> None:
    monkeypatch.setattr(withholding, "CHECK_EVERY_S", 0.0)
    question = "What does the harbour pilot earn in Zanzibar?"
    refused = ask(IN_HR, question)
    assert (refused["no_relevant_info"], "Harbour wages" in refused["answer"]) == (True, True)
    assert ask(IN_HR, question)["cached"]
    principal = Principal("acme", "ann", frozenset({"reader", "hr"}))
    services = bootstrap.services().for_reader(principal)
    deadline = Deadline(services.clock, 30)
    events = answer_events(
        Question(question, is_saved=False), principal, services.query_ports("acme", deadline), deadline
    )
    assert next(events)
    rules(("uploads/acme/hr/", ["board"]))
    with pytest.raises(AccessLost):
        list(events)


def test_a_replay_says_that_a_right_was_lost_and_nothing_of_the_document(rules: Callable[..., None]) -> None:
    answer = ask(IN_HR, "What does the canteen serve on Mondays?", top_k=1)
    assert [each["document_id"] for each in answer["sources"]] == [SOUP]
    made_from_it = ask(IN_HR)
    rules(("uploads/acme/hr/", ["board"]))
    status, told = call("POST", f"/messages/{answer['message_id']}/replay", groups=IN_HR)
    assert status == 200, told
    assert "A document is gone, or you may no longer read it." in [each["text"] for each in told["causes"]]
    assert not [trace for trace in (SECRET, PAY, "harbour wages") if trace in shown(told)]
    status, told = call("POST", f"/messages/{made_from_it['message_id']}/replay", groups=IN_HR)
    assert (status, told["code"]) == (403, "access_lost")
