"""Answers that break off or cannot be read: each adapter says that its service failed; no part passes for the whole."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.aws import batch_get, dynamo_errors, dynamodb_client, pages, s3_client, sqs_client
from shared.adapters.openai import OpenAIChatModel, OpenAIEmbedder
from shared.adapters.openai_responses import OpenAIResponsesModel
from shared.adapters.pinecone import PineconeIndex, PineconeReranker
from shared.adapters.retry import Retry
from shared.adapters.s3 import S3Objects, S3SmallObjects
from shared.adapters.sqs import SqsChangeQueue
from shared.errors import DependencyUnavailable
from shared.models import ChatMessage, EmbeddingSpace, ModelRequest, ObjectHead, VectorRecord
from tests.support.raw_server import answering, response

JSON = {"Content-Type": "application/json"}
DYNAMO = {"Content-Type": "application/x-amz-json-1.0"}
OBJECT = {"Content-Type": "application/json", "ETag": '"abc"', "Last-Modified": "Wed, 25 Nov 2026 10:00:00 GMT"}
EVENTS = {"Content-Type": "text/event-stream"}
GARBLED = {"Content-Encoding": "gzip"}
HEAD = ObjectHead("uploads/t/a.pdf", "v1", "abc", 100, datetime.now(UTC))
QUESTION = [ChatMessage("user", "Why?")]

HALF_AN_ITEM = response(200, DYNAMO, b'{"Item": {"pk": {"S": "TENANT#a"', stated=300)
HALF_A_PAGE = response(200, DYNAMO, b'{"Items": [], "Count": 0}', stated=300)
NO_JSON = [response(200, DYNAMO, body) for body in (b"<html>Sign in</html>", b"", b'{"Item": {"pk"', b'"text"')]
HALF_A_REFUSAL = response(400, DYNAMO, b'{"__type": "Conditional', stated=300)
HALF_AN_OBJECT = response(200, OBJECT, b'{"terms": []}', stated=100)
CUT_CHUNK = (
    b'HTTP/1.1 200 OK\r\nETag: "abc"\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{"a": 1}\r\n'
)


@pytest.fixture(autouse=True)
def _account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0)


def get_item() -> Any:
    with dynamo_errors("registry"):
        return dynamodb_client().get_item(TableName="t", Key={"pk": {"S": "a"}})


def query() -> object:
    return list(pages("registry", dynamodb_client().query, TableName="t", KeyConditionExpression="pk = :pk"))


def get_batch() -> object:
    return list(batch_get(dynamodb_client(), "t", [{"pk": {"S": "a"}}], retry=Retry("registry", attempts=1)))


def send_message() -> object:
    return SqsChangeQueue(sqs_client(), "http://queue/q").send("a change")  # type: ignore[func-returns-value]


@pytest.mark.parametrize("call", [get_item, query, get_batch, send_message])
@pytest.mark.parametrize("said", [HALF_AN_ITEM, HALF_A_PAGE, HALF_A_REFUSAL, *NO_JSON])
def test_half_an_answer_of_aws_is_not_taken_for_an_empty_one(
    monkeypatch: pytest.MonkeyPatch, call: Callable[[], object], said: bytes
) -> None:
    with answering(said) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        with pytest.raises(DependencyUnavailable, match="BrokenAnswer"):
            call()


@pytest.mark.parametrize("broken", [HALF_AN_ITEM, *NO_JSON])
def test_a_broken_answer_of_aws_is_asked_for_again(monkeypatch: pytest.MonkeyPatch, broken: bytes) -> None:
    whole = response(200, DYNAMO, b'{"Item": {"pk": {"S": "TENANT#a"}}}')
    with answering(broken, whole) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        assert get_item()["Item"] == {"pk": {"S": "TENANT#a"}}


def test_an_answer_that_says_nothing_may_be_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(response(200, DYNAMO, b"")) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        SqsChangeQueue(sqs_client(), "http://queue/q").extend("receipt", visibility_s=1)


def test_json_may_stand_between_white_space(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(response(200, DYNAMO, b'\r\n{"Item": {"pk": {"S": "a"}}}\n')) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        assert get_item()["Item"] == {"pk": {"S": "a"}}


XHTML = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" '
    b'"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">\n<html xmlns="http://www.w3.org/1999/xhtml"></html>'
)
PAGES = [b"<html>Sign in<br>", b"<!DOCTYPE html>\n<p>Sign in", XHTML, b"<!-- Sign in --><html></html>"]


@pytest.mark.parametrize("body", [*PAGES, b"", b"<Empty/>", b"<ListBucketResult>"])
def test_a_listing_that_is_no_xml_is_the_buckets_failure(monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    with answering(response(200, {"Content-Type": "text/html"}, body)) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        objects = S3Objects(s3_client(), "b")
        with pytest.raises(DependencyUnavailable, match="objects"):
            list(objects.under("uploads/a/"))
        with pytest.raises(DependencyUnavailable, match="objects"):
            objects.delete_versions("uploads/a/a.pdf")


@pytest.mark.parametrize("page", PAGES)
def test_a_web_page_is_no_sign_that_an_object_was_written_or_deleted(
    monkeypatch: pytest.MonkeyPatch, page: bytes
) -> None:
    version = (
        b"<Version><Key>a</Key><VersionId>v1</VersionId><LastModified>2026-11-25T10:00:00Z</LastModified></Version>"
    )
    listed = response(200, {}, b"<ListVersionsResult>" + version + b"</ListVersionsResult>")
    signed_out = response(200, {"Content-Type": "text/html", "ETag": '"abc"'}, page)
    with answering(listed, signed_out) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        with pytest.raises(DependencyUnavailable, match="objects"):
            S3Objects(s3_client(), "b").delete_all_versions("a")
        with pytest.raises(DependencyUnavailable, match="objects"):
            S3Objects(s3_client(), "b").write("a", b"text", content_type="text/plain")


@pytest.mark.parametrize("declared", [b"", b'<?xml version="1.0" encoding="UTF-8"?>\n'])
def test_a_list_without_entries_is_an_empty_one(monkeypatch: pytest.MonkeyPatch, declared: bytes) -> None:
    name = b' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>'
    listed = declared + b"<ListBucketResult" + name + b"</ListBucketResult>"
    versions = declared + b"<ListVersionsResult" + name + b"</ListVersionsResult>"
    with answering(response(200, {}, listed), response(200, {}, versions)) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        objects = S3Objects(s3_client(), "b")
        assert list(objects.under("uploads/a/")) == []
        assert objects.delete_versions("uploads/a/a.pdf") == (0, 0)


@pytest.mark.parametrize("said", [HALF_AN_OBJECT, CUT_CHUNK], ids=["length", "chunk"])
def test_half_an_object_is_not_taken_for_the_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: bytes
) -> None:
    with answering(said) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        objects, small = S3Objects(s3_client(), "b"), S3SmallObjects(s3_client(), "b")
        with pytest.raises(DependencyUnavailable, match="objects"):
            objects.read("access/a.json", max_bytes=1_000)
        with pytest.raises(DependencyUnavailable, match="objects"):
            small.read_small("glossary/a.json", known_etag="", max_bytes=1_000)
        with pytest.raises(DependencyUnavailable, match="objects"):
            objects.download(HEAD, tmp_path / "a.pdf")


def test_the_start_of_an_object_that_is_too_long_is_no_broken_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(response(200, OBJECT, b"0123456789")) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        found = S3Objects(s3_client(), "b").read("access/a.json", max_bytes=3)
        assert found is not None
        assert found.body == b"0123"


def complete(model: OpenAIChatModel) -> object:
    return model.complete(ModelRequest(QUESTION, max_output_tokens=9, temperature=0.0), timeout_s=5)


def stream(model: OpenAIChatModel) -> object:
    return list(model.stream(ModelRequest(QUESTION, max_output_tokens=9, temperature=0.0), timeout_s=5))


UNREADABLE = {
    "garbled": response(200, JSON | GARBLED, b"no gzip"),
    "garbled events": response(200, EVENTS | GARBLED, b"no gzip"),
    "garbled error": response(500, JSON | GARBLED, b"no gzip"),
    "half": response(200, JSON, b'{"choices": [', stated=300),
    "half the events": response(200, EVENTS, b'data: {"choices": []}\n\n', stated=300),
    "not HTTP": b"SSH-2.0-OpenSSH_9.9\r\n",
    "calls by name": response(200, JSON, b'{"choices": [{"message": {"content": null, "tool_calls": {"a": 1}}}]}'),
}


@pytest.mark.parametrize("said", UNREADABLE.values(), ids=UNREADABLE.keys())
@pytest.mark.parametrize("ask", [complete, stream])
@pytest.mark.parametrize("api", [OpenAIChatModel, OpenAIResponsesModel])
def test_a_chat_models_answer_that_cannot_be_read_is_its_failure(
    said: bytes, ask: Callable[[OpenAIChatModel], object], api: type[OpenAIChatModel]
) -> None:
    with answering(said) as url:
        model = api(base_url=f"{url}/v1", api_key="key", model="m", retry=Retry("chat", attempts=1))
        with pytest.raises(DependencyUnavailable, match="chat"):
            ask(model)
        model.close()


@pytest.mark.parametrize("said", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_vectors_that_cannot_be_read_are_the_models_failure(said: bytes) -> None:
    retry = Retry("embeddings", attempts=1)
    with answering(said) as url:
        model = OpenAIEmbedder(base_url=f"{url}/v1", api_key="key", space=EmbeddingSpace("m", 3), retry=retry)
        with pytest.raises(DependencyUnavailable, match="embeddings"):
            model.embed(["a"], timeout_s=5)
        model.close()


@pytest.fixture(params=["garbled", "garbled error", "half", "not HTTP", "not UTF-8"])
def broken_index(request: pytest.FixtureRequest) -> Iterator[str]:
    not_utf8 = response(200, JSON, b'{"matches": [{"id": "\xff", "score": 1}], "data": [{"index": "\xff"}]}')
    with answering(UNREADABLE.get(request.param, not_utf8)) as url:
        yield url


def test_an_answer_of_the_index_that_cannot_be_read_is_its_failure(
    broken_index: str, request: pytest.FixtureRequest
) -> None:
    index = PineconeIndex(host=broken_index, api_key="key", writes=Retry("vectors", attempts=1), write_timeout_s=5)
    with pytest.raises(DependencyUnavailable, match="vectors"):
        index.query(namespace="n", vector=[1.0], top_k=1, timeout_s=5)
    reranker = PineconeReranker(base_url=broken_index, api_key="key", model="m")
    with pytest.raises(DependencyUnavailable, match="rerank"):
        reranker.rerank("Why?", ["a", "b"], timeout_s=5)
    if "UTF-8" not in request.node.name:  # the id is in no other answer
        with pytest.raises(DependencyUnavailable, match="vectors"):
            index.upsert(namespace="n", records=[VectorRecord("a", [1.0], {})])
        with pytest.raises(DependencyUnavailable, match="vectors"):
            list(index.list_ids(namespace="n", prefix="a"))
    index.close()
    reranker.close()
