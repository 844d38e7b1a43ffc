"""`make destroy`: nothing goes without being asked for, nothing is forgotten, and it can be run again at any point."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends

from local import deploying, destroying
from local.cli import main
from local.environments import AwsAccount, Environment, find_stack, has_bucket
from local.stack.config import LocalStackError
from local.stack.template import bucket_name
from tests.support.aws_emulator import ACCOUNT, deploy, emulated_account, real_template, small_template
from tests.support.moto_aws import REGION, MockedAws, mocked_aws
from tests.support.said import Said

DEV = Environment("dev", "recto-dev")


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AwsAccount]:
    with emulated_account(tmp_path_factory.mktemp("aws")) as running:
        yield running


@pytest.fixture
def said() -> Said:
    return Said()


def destroy(account: AwsAccount, said: Said, *, answer: str = "recto-dev", yes: bool = False) -> int:
    return destroying.destroy(DEV, account, said.reporter, yes=yes, ask=lambda _: answer, wait=lambda _: None)


def bucket_of(account: AwsAccount) -> str:
    return bucket_name(DEV.stack, account.id, account.region)


@pytest.fixture
def stack(account: AwsAccount) -> Iterator[str]:
    deploy(account, DEV.stack, small_template())
    s3 = account.client("s3")
    for text in (b"one", b"two"):
        s3.put_object(Bucket=bucket_of(account), Key="uploads/acme/a.pdf", Body=text)
    s3.delete_object(Bucket=bucket_of(account), Key="uploads/acme/a.pdf")
    yield DEV.stack
    if find_stack(account, DEV.stack):
        cloudformation = account.client("cloudformation")
        cloudformation.update_termination_protection(StackName=DEV.stack, EnableTerminationProtection=False)
    destroy(account, Said(), yes=True)


def test_stack_and_bucket_go_and_what_is_kept_is_told_with_commands(
    account: AwsAccount, stack: str, said: Said
) -> None:
    table = account.client("cloudformation").describe_stack_resource(StackName=stack, LogicalResourceId="Documents")
    name = table["StackResourceDetail"]["PhysicalResourceId"]
    assert destroy(account, said) == 0
    assert find_stack(account, stack) is None
    assert not has_bucket(account, bucket_of(account))
    assert f"the bucket {bucket_of(account)} with 3 versions of documents, 6 bytes" in said.text
    assert f"aws dynamodb delete-table --table-name {name}" in said.text
    assert "--deletion-protection INACTIVE" in said.text
    assert "https://api.pinecone.io/indexes/recto " in said.text
    account.client("dynamodb").describe_table(TableName=name)
    again = Said()
    assert destroy(account, again) == 0
    assert "There is neither a stack recto-dev nor a bucket" in again.text
    assert f"aws dynamodb delete-table --table-name {name}" in again.text


@pytest.mark.parametrize("answer", ["", "y", "recto", "recto-prod"])
def test_another_answer_than_the_name_deletes_nothing(account: AwsAccount, stack: str, said: Said, answer: str) -> None:
    assert destroy(account, said, answer=answer) == 1
    assert "Nothing was deleted." in said.text
    assert find_stack(account, stack) is not None


def test_where_nobody_can_be_asked_it_says_how_to_go_on(
    account: AwsAccount, stack: str, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(LocalStackError, match="CONFIRM=no"):
        destroying.destroy(DEV, account, said.reporter, yes=False)
    assert find_stack(account, stack) is not None


def test_termination_protection_is_respected(account: AwsAccount, stack: str, said: Said) -> None:
    account.client("cloudformation").update_termination_protection(StackName=stack, EnableTerminationProtection=True)
    with pytest.raises(LocalStackError, match="--no-enable-termination-protection"):
        destroy(account, said, yes=True)
    assert find_stack(account, stack) is not None
    assert has_bucket(account, bucket_of(account))


def test_an_interrupted_run_goes_on_with_the_stack_already_gone(account: AwsAccount, stack: str, said: Said) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(destroying, "_empty", interrupt)
        with pytest.raises(KeyboardInterrupt):
            destroy(account, said, yes=True)
    assert find_stack(account, stack) is None
    assert has_bucket(account, bucket_of(account))
    again = Said()
    assert destroy(account, again, yes=True) == 0
    assert not has_bucket(account, bucket_of(account))
    assert "aws dynamodb delete-table" in again.text


def test_another_stacks_bucket_and_logs_are_left_alone(account: AwsAccount, stack: str, said: Said) -> None:
    deploy(account, "recto-dev-2", small_template())
    try:
        assert destroy(account, said) == 0
        assert "recto-dev-2" not in said.text
        assert has_bucket(account, bucket_name("recto-dev-2", account.id, account.region))
    finally:
        other = Environment("dev-2", "recto-dev-2")
        destroying.destroy(other, account, Said().reporter, yes=True, wait=lambda _: None)


def test_the_real_template_leaves_what_it_says(account: AwsAccount, said: Said) -> None:
    deploy(account, DEV.stack, real_template(account), {"IngestMaximumConcurrency": "0"})
    assert deploying.check(DEV, account, [], said.reporter) == 0
    assert "IngestMaximumConcurrency=0 (default: 5)" in said.text
    assert destroy(account, said) == 0
    assert deploying.check(DEV, account, [], said.reporter) == 0  # nothing is in the way of the next deployment
    again = Said()
    assert destroy(account, again) == 0
    # S3's test event wakes the ingest function, which may outlive the stack and make its log group again.
    lines = [line.strip() for line in again.text.splitlines() if line.startswith("  aws ") and " logs " not in line]
    assert sorted(line.split()[1] + " " + line.split()[2] for line in lines) == [
        "cognito-idp delete-user-pool",
        "cognito-idp update-user-pool",
        "dynamodb delete-table",
        "dynamodb delete-table",
    ]
    for line in sorted(lines, reverse=True):  # each does what it says; the pool's protection is taken off first
        words = line.split()
        options = {key.removeprefix("--"): value for key, value in zip(words[3::2], words[4::2], strict=True)}
        named = {"".join(part.title() for part in key.split("-")): value for key, value in options.items()}
        getattr(account.client(words[1]), words[2].replace("-", "_"))(**named)
    after = Said()
    assert destroy(account, after) == 0
    assert not [line for line in after.text.splitlines() if line.startswith("  aws ") and " logs " not in line]
    assert not account.client("lambda").list_functions()["Functions"]


def test_the_verbs_reach_the_account_of_the_shell(
    account: AwsAccount, stack: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", account.client("s3").meta.endpoint_url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", account.region)
    assert main(["deploy-check", "--config-env", "dev", "TopK=3"]) == 0
    assert main(["deploy-check", "--config-env", "dev", "TpoK=3"]) == 1
    assert "no parameter TpoK" in capsys.readouterr().err
    assert main(["destroy", "--config-env", "dev", "--yes"]) == 0
    assert "aws dynamodb delete-table" in capsys.readouterr().out
    assert find_stack(account, stack) is None


def test_without_credentials_it_says_what_to_check(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    assert main(["destroy", "--config-env", "dev", "--yes"]) == 1
    assert "aws sts get-caller-identity" in capsys.readouterr().err
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    assert main(["deploy-check", "--config-env", "dev"]) == 1
    assert "export AWS_DEFAULT_REGION" in capsys.readouterr().err


# --- a large bucket, and one that fails -------------------------------------------------------------------------------


@pytest.fixture
def s3_account() -> Iterator[AwsAccount]:
    with pytest.MonkeyPatch.context() as patch, mocked_aws(patch) as aws:
        yield AwsAccount(ACCOUNT, REGION, clients(aws))


def clients(aws: MockedAws) -> Any:
    made = {"s3": aws.s3}
    return lambda service: made[service]


BUCKET = "uploads-bucket"


def fill(account: AwsAccount, count: int) -> None:
    """Put objects, every third with a delete marker; not by API, which takes moto half a minute."""
    backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    for number in range(count):
        backend.put_object(BUCKET, f"uploads/acme/{number:05}.pdf", b"x")
    for number in range(0, count, 3):
        account.client("s3").delete_object(Bucket=BUCKET, Key=f"uploads/acme/{number:05}.pdf")


def left_in(account: AwsAccount) -> int:
    return len(list(destroying._versions(account, BUCKET)))


class FailingS3:
    """An S3 client whose DeleteObjects reports errors for some keys, as many times as told, and may be interrupted."""

    def __init__(self, s3: Any, *, fails: int = 0, interrupt_after: int | None = None) -> None:
        self._s3, self._fails, self._calls, self._interrupt_after = s3, fails, 0, interrupt_after
        self.largest = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._s3, name)

    def delete_objects(self, *, Bucket: str, Delete: Any) -> Any:  # noqa: N803 - boto3's names
        self._calls += 1
        self.largest = max(self.largest, len(Delete["Objects"]))
        if self._interrupt_after is not None and self._calls > self._interrupt_after:
            raise KeyboardInterrupt
        objects = Delete["Objects"]
        errors: list[dict[str, str]] = []
        if self._fails > 0:
            self._fails -= 1
            spared, objects = objects[:2], objects[2:]
            errors = [{**each, "Code": "InternalError", "Message": "We encountered an error."} for each in spared]
        answer = self._s3.delete_objects(Bucket=Bucket, Delete={**Delete, "Objects": objects}) if objects else {}
        return {**answer, "Errors": errors}


def test_1500_objects_with_versions_and_delete_markers_go_in_batches(s3_account: AwsAccount, said: Said) -> None:
    fill(s3_account, 1500)
    s3_account.client("s3").create_multipart_upload(Bucket=BUCKET, Key="uploads/acme/half.pdf")
    counting = FailingS3(s3_account.client("s3"))
    account = AwsAccount(ACCOUNT, REGION, lambda _: counting)
    destroying._empty(account, BUCKET, 2000, said.reporter)
    assert counting.largest == 1000
    assert left_in(s3_account) == 0
    assert "Uploads" not in s3_account.client("s3").list_multipart_uploads(Bucket=BUCKET)
    assert "2,000 of 2,000 versions" in said.text
    destroying._delete_bucket(s3_account, BUCKET)
    assert not has_bucket(s3_account, BUCKET)


def test_keys_that_fail_for_a_moment_are_tried_again(s3_account: AwsAccount, said: Said) -> None:
    fill(s3_account, 9)
    failing = FailingS3(s3_account.client("s3"), fails=2)
    account = AwsAccount(ACCOUNT, REGION, lambda _: failing)
    destroying._empty(account, BUCKET, 12, said.reporter)
    assert left_in(s3_account) == 0


def test_keys_that_keep_failing_are_named_and_the_rest_is_gone(s3_account: AwsAccount, said: Said) -> None:
    fill(s3_account, 9)
    failing = FailingS3(s3_account.client("s3"), fails=99)
    account = AwsAccount(ACCOUNT, REGION, lambda _: failing)
    with pytest.raises(LocalStackError, match=r"2 versions could not be deleted(.|\n)*00000.pdf: We encountered"):
        destroying._empty(account, BUCKET, 12, said.reporter)
    assert left_in(s3_account) == 2


def test_ctrl_c_while_emptying_leaves_the_rest_for_the_next_run(
    s3_account: AwsAccount, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(destroying, "BATCH", 10)
    fill(s3_account, 30)
    stopping = FailingS3(s3_account.client("s3"), interrupt_after=1)
    with pytest.raises(KeyboardInterrupt):
        destroying._empty(AwsAccount(ACCOUNT, REGION, lambda _: stopping), BUCKET, 40, said.reporter)
    assert left_in(s3_account) == 30
    destroying._empty(s3_account, BUCKET, 40, said.reporter)
    assert left_in(s3_account) == 0


def test_an_upload_during_the_emptying_is_told(s3_account: AwsAccount) -> None:
    fill(s3_account, 1)
    with pytest.raises(LocalStackError, match="Something was put into"):
        destroying._delete_bucket(s3_account, BUCKET)
