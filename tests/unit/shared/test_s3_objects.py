"""Objects, the queue, events and the secret, through their adapters."""

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from shared.adapters.events import EventBridgeSender
from shared.adapters.s3 import S3Objects
from shared.adapters.secrets import read_secret
from shared.adapters.sqs import SqsChangeNotifier, SqsChangeQueue
from shared.errors import ChangedMeanwhile, ConfigurationError, DependencyRefused, DependencyUnavailable, NotFound
from shared.models import ObjectHead
from tests.support.moto_aws import MockedAws


@pytest.fixture
def objects(aws: MockedAws) -> S3Objects:
    return S3Objects(aws.s3, aws.bucket)


class Called:
    """A client that notes its calls."""

    def __init__(self, answer: object = None) -> None:
        self.answer, self.calls = answer, list[tuple[str, dict[str, object]]]()

    def __getattr__(self, name: str) -> Callable[..., object]:
        def call(**request: object) -> object:
            self.calls.append((name, request))
            return self.answer

        return call


def put(aws: MockedAws, key: str, data: bytes) -> str:
    return aws.s3.put_object(Bucket=aws.bucket, Key=key, Body=data, ContentType="application/pdf")["VersionId"]


def test_head_tells_version_and_size(aws: MockedAws, objects: S3Objects) -> None:
    version = put(aws, "a b/ü.pdf", b"12345")
    head = objects.head("a b/ü.pdf")
    assert head is not None
    assert (head.version_id, head.size_bytes) == (version, 5)
    assert head.last_modified is not None
    assert head.last_modified.tzinfo is not None


def test_what_is_not_there_or_deleted_is_none(aws: MockedAws, objects: S3Objects) -> None:
    assert objects.head("never") is None
    put(aws, "deleted", b"x")
    aws.s3.delete_object(Bucket=aws.bucket, Key="deleted")
    assert objects.head("deleted") is None


def test_the_version_that_was_looked_at_is_downloaded_even_when_a_newer_one_is_there(
    aws: MockedAws, objects: S3Objects, tmp_path: Path
) -> None:
    put(aws, "k", b"first")
    head = objects.head("k")
    put(aws, "k", b"second")
    assert head is not None
    objects.download(head, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"first"


def test_a_version_that_is_gone_is_not_found(aws: MockedAws, objects: S3Objects, tmp_path: Path) -> None:
    version = put(aws, "gone", b"first")
    head = objects.head("gone")
    aws.s3.delete_object(Bucket=aws.bucket, Key="gone", VersionId=version)
    assert head is not None
    with pytest.raises(NotFound):
        objects.download(head, tmp_path / "file")


def test_all_versions_of_one_key_are_deleted_and_of_no_other(aws: MockedAws, objects: S3Objects) -> None:
    for data in (b"1", b"2"):
        put(aws, "v/a.pdf", data)
    aws.s3.delete_object(Bucket=aws.bucket, Key="v/a.pdf")
    put(aws, "v/a.pdf", b"3")
    put(aws, "v/a.pdf.pdf", b"other")
    assert objects.delete_all_versions("v/a.pdf") == 4
    left = aws.s3.list_object_versions(Bucket=aws.bucket, Prefix="v/")
    assert [version["Key"] for version in left["Versions"]] == ["v/a.pdf.pdf"]
    assert objects.delete_all_versions("v/a.pdf") == 0


def test_versions_up_to_a_time_are_deleted_and_the_newer_ones_counted(aws: MockedAws, objects: S3Objects) -> None:
    put(aws, "w.pdf", b"1")
    put(aws, "w.pdf", b"2")
    head = objects.head("w.pdf")
    assert head is not None
    assert head.last_modified is not None
    before = head.last_modified - timedelta(days=1)
    assert objects.delete_versions("w.pdf", until=before) == (0, 2)
    assert objects.delete_versions("w.pdf", until=head.last_modified) == (2, 0)


def test_more_versions_than_fit_one_request_are_deleted_in_several(
    aws: MockedAws, objects: S3Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    aws.s3.meta.events.register(
        "provide-client-params.s3.DeleteObjects",
        lambda params, **_: sizes.append(len(params["Delete"]["Objects"])),
        unique_id="sizes",
    )
    monkeypatch.setattr("shared.adapters.s3._DELETE_BATCH", 2)
    for data in (b"1", b"2", b"3", b"4", b"5"):
        put(aws, "many.pdf", data)
    assert objects.delete_all_versions("many.pdf") == 5
    assert sizes == [2, 2, 1]
    sizes.clear()
    for data in (b"1", b"2"):
        put(aws, "many.pdf", data)
    assert objects.delete_all_versions("many.pdf") == 2
    assert sizes == [2]
    aws.s3.meta.events.unregister("provide-client-params.s3.DeleteObjects", unique_id="sizes")


def test_what_s3_could_not_delete_inside_a_success_is_an_error(aws: MockedAws, objects: S3Objects) -> None:
    put(aws, "kept.pdf", b"1")
    aws.s3.meta.events.register("after-call.s3.DeleteObjects", _not_deleted, unique_id="kept")
    try:
        with pytest.raises(DependencyUnavailable, match="InternalError"):
            objects.delete_all_versions("kept.pdf")
    finally:
        aws.s3.meta.events.unregister("after-call.s3.DeleteObjects", unique_id="kept")


def _not_deleted(parsed: dict[str, object], **_: object) -> None:
    parsed["Errors"] = [{"Key": "kept.pdf", "Code": "InternalError", "Message": "try again"}]


def test_objects_are_listed_by_key_after_a_key_and_folders_once(aws: MockedAws, objects: S3Objects) -> None:
    for key in ("list/a/1", "list/a/2", "list/b/1", "list/top"):
        put(aws, key, b"x")
    assert list(objects.folders("list/")) == ["a", "b"]
    listed = list(objects.under("list/"))
    assert [each.key for each in listed] == ["list/a/1", "list/a/2", "list/b/1", "list/top"]
    assert [each.key for each in objects.under("list/", after="list/a/2")] == ["list/b/1", "list/top"]
    head = objects.head("list/top")
    assert head is not None
    assert (listed[-1].etag, listed[-1].last_modified) == (head.etag, head.last_modified)


def test_an_older_version_is_looked_at_by_its_id_and_none_where_it_is_gone(aws: MockedAws, objects: S3Objects) -> None:
    first = put(aws, "two.pdf", b"1")
    second = put(aws, "two.pdf", b"22")
    sizes = [head.size_bytes for each in (first, second, "") if (head := objects.head("two.pdf", version_id=each))]
    assert sizes == [1, 2, 2]
    aws.s3.delete_object(Bucket=aws.bucket, Key="two.pdf", VersionId=first)
    assert objects.head("two.pdf", version_id=first) is None


def test_a_write_names_what_it_replaces(aws: MockedAws, objects: S3Objects) -> None:
    first = objects.write("rules.json", b"1", content_type="application/json", replacing="")
    second = objects.write("rules.json", b"2", content_type="application/json", replacing=first)
    for stale in (first, ""):
        with pytest.raises(ChangedMeanwhile):
            objects.write("rules.json", b"3", content_type="application/json", replacing=stale)
    with pytest.raises(ChangedMeanwhile):
        objects.write("nothing.json", b"3", content_type="application/json", replacing=first)
    found = objects.read("rules.json", max_bytes=10)
    assert found is not None
    assert (found.etag, found.body) == (second, b"2")
    assert aws.s3.head_object(Bucket=aws.bucket, Key="rules.json")["ContentType"] == "application/json"


def test_a_write_that_meets_itself_has_been_done(objects: S3Objects) -> None:
    done = objects.write("once.json", b"same", content_type="application/json", replacing="")
    assert objects.write("once.json", b"same", content_type="application/json", replacing="") == done


def test_a_write_without_a_version_to_replace_replaces_any(objects: S3Objects) -> None:
    objects.write("any.json", b"1", content_type="application/json")
    etag = objects.write("any.json", b"2", content_type="application/json")
    found = objects.read("any.json", max_bytes=1)
    assert found is not None
    assert (found.etag, found.body) == (etag, b"2")


@pytest.mark.parametrize(("max_bytes", "read"), [(2, b"1234"[:3]), (3, b"1234"), (4, b"1234"), (9, b"1234")])
def test_of_an_object_one_byte_more_than_allowed_is_read(objects: S3Objects, max_bytes: int, read: bytes) -> None:
    objects.write("small.json", b"1234", content_type="application/json")
    found = objects.read("small.json", max_bytes=max_bytes)
    assert found is not None
    assert found.body == read
    assert objects.read("never.json", max_bytes=max_bytes) is None


def test_an_upload_form_binds_key_type_and_size(objects: S3Objects) -> None:
    post = objects.presigned_post("uploads/t/a.pdf", max_bytes=1_000, content_type="application/pdf", expires_s=60)
    policy = json.loads(base64.b64decode(post.fields["policy"]))
    assert ["content-length-range", 1, 1_000] in policy["conditions"]
    assert {"key": "uploads/t/a.pdf"} in policy["conditions"]
    assert {"Content-Type": "application/pdf"} in policy["conditions"]
    assert post.fields["Content-Type"] == "application/pdf"
    assert post.fields["x-amz-algorithm"] == "AWS4-HMAC-SHA256"


def test_an_upload_form_states_the_objects_metadata_and_requires_it(objects: S3Objects) -> None:
    post = objects.presigned_post(
        "uploads/t/a.pdf",
        max_bytes=1_000,
        content_type="application/pdf",
        expires_s=60,
        metadata={"groups": "board"},
    )
    assert post.fields["x-amz-meta-groups"] == "board"
    assert {"x-amz-meta-groups": "board"} in json.loads(base64.b64decode(post.fields["policy"]))["conditions"]


def test_a_reading_link_names_the_version_and_expires(aws: MockedAws, objects: S3Objects) -> None:
    version = put(aws, "link.pdf", b"x")
    head = objects.head("link.pdf")
    assert head is not None
    link = objects.presigned_get(head, expires_s=60, file_name='an "odd"\r\nnäme.pdf', content_type="application/pdf")
    assert f"versionId={version}" in link
    assert "X-Amz-Expires=60" in link
    assert "%0D" not in link
    assert "UTF-8%27%27an%2520%2522odd%2522n%25C3%25A4me.pdf" in link
    assert "filename%3D%22an%20oddnme.pdf%22" in link
    nameless = objects.presigned_get(head, expires_s=60, file_name="文.", content_type="application/pdf")
    assert "filename%3D%22.%22" in nameless
    assert "filename%3D%22document.pdf%22" in objects.presigned_get(
        head, expires_s=60, file_name="文", content_type="application/pdf"
    )


@pytest.mark.parametrize("version_id", ["", "null", "abc"])
def test_where_the_bucket_keeps_no_versions_links_and_downloads_name_none(
    objects: S3Objects, tmp_path: Path, version_id: str
) -> None:
    etag = objects.write("plain.pdf", b"plain", content_type="application/pdf")
    head = ObjectHead("plain.pdf", etag if version_id == "abc" else version_id, etag, 5)
    link = objects.presigned_get(head, expires_s=60, file_name="plain.pdf", content_type="application/pdf")
    assert "versionId" not in link
    objects.download(head, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"plain"
    objects.write("plain.pdf", b"other", content_type="application/pdf")
    with pytest.raises(NotFound):
        objects.download(head, tmp_path / "file")


def test_a_missing_bucket_is_the_objects_fault_by_name(aws: MockedAws) -> None:
    with pytest.raises(DependencyRefused, match="objects"):
        S3Objects(aws.s3, "no-such-bucket").delete_all_versions("k")


def test_a_change_is_seen_again_after_it_was_made_visible(aws: MockedAws) -> None:
    queue = SqsChangeQueue(aws.sqs, aws.queue_url)
    queue.send('{"recto": "change"}', delay_s=-3)
    message = aws.sqs.receive_message(QueueUrl=aws.queue_url)["Messages"][0]
    assert message["Body"] == '{"recto": "change"}'
    assert "Messages" not in aws.sqs.receive_message(QueueUrl=aws.queue_url)
    queue.extend(message["ReceiptHandle"], visibility_s=0)
    assert aws.sqs.receive_message(QueueUrl=aws.queue_url)["Messages"][0]["MessageId"] == message["MessageId"]


def test_waiting_messages_are_counted_with_those_in_work_and_those_put_off(aws: MockedAws) -> None:
    url = aws.sqs.create_queue(QueueName="counted")["QueueUrl"]
    queue = SqsChangeQueue(aws.sqs, url)
    assert queue.waiting() == 0
    for delay_s in (0, 0, 60):
        queue.send("{}", delay_s=delay_s)
    aws.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=1)
    assert queue.waiting() == 3


@pytest.mark.parametrize(("asked", "given"), [(-1, 0), (0, 0), (1, 1), (900, 900), (901, 900)])
def test_a_message_is_put_off_for_as_long_as_the_queue_can(asked: int, given: int) -> None:
    client = Called()
    SqsChangeQueue(client, "url").send("{}", delay_s=asked)  # type: ignore[arg-type]
    assert client.calls == [("send_message", {"QueueUrl": "url", "MessageBody": "{}", "DelaySeconds": given})]


@pytest.mark.parametrize(("asked", "given"), [(-1, 0), (1, 1), (43_200, 43_200), (43_201, 43_200)])
def test_a_message_is_hidden_for_as_long_as_the_queue_can(asked: int, given: int) -> None:
    client = Called()
    SqsChangeQueue(client, "url").extend("r", visibility_s=asked)  # type: ignore[arg-type]
    wanted = {"QueueUrl": "url", "ReceiptHandle": "r", "VisibilityTimeout": given}
    assert client.calls == [("change_message_visibility", wanted)]


def test_a_notice_of_a_change_is_one_of_ingests_own() -> None:
    client = Called()
    SqsChangeNotifier(client, "url").notify("uploads/acme/ü.pdf")  # type: ignore[arg-type]
    body = '{"recto": "change", "key": "uploads/acme/ü.pdf"}'
    assert client.calls == [("send_message", {"QueueUrl": "url", "MessageBody": body, "DelaySeconds": 0})]


def test_an_event_that_the_bus_refused_inside_a_success_is_an_error() -> None:
    client = Called({"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]})
    EventBridgeSender(client, "recto.stack").send("HandoffOpened", "{}")
    entry = {"Source": "recto.stack", "DetailType": "HandoffOpened", "Detail": "{}"}
    assert client.calls == [("put_events", {"Entries": [entry]})]
    client.answer = {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "InternalFailure"}]}
    with pytest.raises(DependencyUnavailable, match="InternalFailure"):
        EventBridgeSender(client, "recto.stack").send("HandoffOpened", "{}")


def test_the_secret_is_a_json_object_of_strings(aws: MockedAws) -> None:
    assert read_secret(aws.secrets, aws.secret_id)["OPENAI_API_KEY"] == "sk-test"


@pytest.mark.parametrize("text", ["sk-plain", "[1]", '{"OPENAI_API_KEY": 7}'])
def test_a_secret_of_another_shape_is_a_configuration_error_that_does_not_show_it(aws: MockedAws, text: str) -> None:
    aws.secrets.put_secret_value(SecretId=aws.secrets.create_secret(Name=f"bad{hash(text)}")["Name"], SecretString=text)
    with pytest.raises(ConfigurationError, match="JSON object") as caught:
        read_secret(aws.secrets, f"bad{hash(text)}")
    assert text not in str(caught.value)


def test_a_missing_key_or_secret_says_what_to_do(aws: MockedAws) -> None:
    with pytest.raises(ConfigurationError, match="no CHAT_API_KEY"):
        read_secret(aws.secrets, aws.secret_id, required=("CHAT_API_KEY",))
    with pytest.raises(ConfigurationError, match="RECTO_SECRET_ID"):
        read_secret(aws.secrets, "")
    with pytest.raises(DependencyRefused, match="ResourceNotFound"):
        read_secret(aws.secrets, "nothing-here")
