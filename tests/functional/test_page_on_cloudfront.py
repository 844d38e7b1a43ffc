"""The page on CloudFront: template.yaml and the upload of `make deploy`, on the emulated CloudFront.

The emulator keeps nothing in a cache and asks for no certificate; it holds the distribution to the bucket's policy.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from local import destroying, publishing
from local.environments import AwsAccount, Environment, find_stack
from local.page import ASKED_AGAIN, HEADERS, KEPT_FOR_GOOD, content_security_policy
from tests.support.aws_emulator import deploy, emulated_account, real_template
from tests.support.said import Said

DEV = Environment("dev", "recto-page")


@dataclass(frozen=True)
class Visited:
    """The deployed page: the account, the stack's outputs, and a browser's way to the distribution."""

    account: AwsAccount
    outputs: dict[str, str]
    http: httpx.Client


def built(folder: Path, name: str = "index-1.js") -> Path:
    (folder / "assets").mkdir(parents=True, exist_ok=True)
    (folder / "assets" / name).write_text("export {};")
    (folder / "widget.js").write_text("void 0;")
    (folder / "index.html").write_text(f'<!doctype html><script type="module" src="./assets/{name}"></script>')
    return folder


def without_tls_only(account: AwsAccount, bucket: str) -> None:
    """Leave the rest of the bucket's policy in force: the emulator's distribution fetches by plain HTTP."""
    s3 = account.client("s3")
    policy = json.loads(s3.get_bucket_policy(Bucket=bucket)["Policy"])
    policy["Statement"] = [each for each in policy["Statement"] if each["Sid"] != "TlsOnly"]
    s3.put_bucket_policy(Bucket=bucket, Policy=json.dumps(policy))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visited]:
    folder = tmp_path_factory.mktemp("page")
    with emulated_account(folder / "aws") as account:
        deploy(account, DEV.stack, real_template(account), {"Page": "true"})
        stack = find_stack(account, DEV.stack)
        assert stack is not None
        outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
        without_tls_only(account, outputs["PageBucketName"])
        assert publishing.publish(DEV, account, Said().reporter, built=built(folder / "dist")) == 0
        emulator = urlsplit(account.client("s3").meta.endpoint_url)
        host = urlsplit(outputs["PageUrl"]).hostname
        assert host is not None
        local = host.replace("cloudfront.net", f"cloudfront.localhost:{emulator.port}")
        headers = {"host": local, "x-forwarded-proto": "https"}
        with httpx.Client(base_url=emulator.geturl(), headers=headers, trust_env=False, timeout=30) as http:
            yield Visited(account, outputs, http)


def test_the_page_comes_with_the_headers_of_the_template(page: Visited) -> None:
    answered = page.http.get("/")
    assert (answered.status_code, "./assets/index-" in answered.text) == (200, True)
    assert {name: answered.headers[name] for name in HEADERS} == HEADERS
    assert "max-age" in answered.headers["strict-transport-security"]
    assert "unsafe-inline" not in answered.headers["content-security-policy"]


def test_the_policy_is_the_laptops_with_other_addresses(page: Visited) -> None:
    policy = page.http.get("/").headers["content-security-policy"]
    reaches = next(part for part in policy.split("; ") if part.startswith("connect-src")).split()[2:]
    assert policy == content_security_policy(reaches)
    api, pages = urlsplit(page.outputs["ApiUrl"]).netloc, page.outputs["PageSignInUrl"]
    assert [f"https://*.{api.partition('.')[2]}", pages] == reaches[:2]
    assert all(page.outputs["BucketName"] in each for each in reaches[2:])


def test_files_are_kept_as_long_as_their_names_allow(page: Visited) -> None:
    kinds = {
        "/assets/index-1.js": "text/javascript",
        "/": "text/html",
        "/config.json": "application/json",
        "/widget.js": "text/javascript",
    }
    for path, kind in kinds.items():
        answered = page.http.get(path)
        assert answered.headers["content-type"] == kind, path
        assert answered.headers["cache-control"] == (KEPT_FOR_GOOD if "assets" in path else ASKED_AGAIN), path


def test_the_page_is_told_where_to_sign_in_and_where_the_api_is(page: Visited) -> None:
    told = page.http.get("/config.json").json()
    assert told["api"] == page.outputs["ApiUrl"]
    assert "hint" not in told
    assert told["sign_in"]["redirect_uri"] == page.outputs["PageUrl"]
    cognito = page.account.client("cognito-idp")
    client = cognito.describe_user_pool_client(
        UserPoolId=page.outputs["UserPoolId"], ClientId=told["sign_in"]["client_id"]
    )["UserPoolClient"]
    assert client["CallbackURLs"] == client["LogoutURLs"] == [page.outputs["PageUrl"]]
    assert client["AllowedOAuthFlows"] == ["code"]
    assert "ClientSecret" not in client
    assert set(told["sign_in"]["scope"].split()) == set(client["AllowedOAuthScopes"])


def test_plain_http_is_sent_on_to_https(page: Visited) -> None:
    answered = page.http.get("/", headers={"x-forwarded-proto": "http"})
    assert (answered.status_code, answered.headers["location"][:8]) == (301, "https://")


def test_an_upload_leaves_the_files_of_the_build_before(page: Visited, tmp_path: Path) -> None:
    said = Said()
    assert publishing.publish(DEV, page.account, said.reporter, built=built(tmp_path, "index-2.js")) == 0
    assert page.outputs["PageUrl"] in said.text
    assert "index-2.js" in page.http.get("/").text
    assert page.http.get("/assets/index-1.js").status_code == 200


def test_a_build_that_is_missing_is_asked_for(page: Visited, tmp_path: Path) -> None:
    with pytest.raises(publishing.LocalStackError, match="make web"):
        publishing.publish(DEV, page.account, Said().reporter, built=tmp_path / "dist")


def test_the_page_goes_with_its_stack(page: Visited, tmp_path: Path) -> None:
    gone = Environment("dev", "recto-gone")
    deploy(page.account, gone.stack, real_template(page.account), {"Page": "true"})
    publishing.publish(gone, page.account, Said().reporter, built=built(tmp_path))
    destroying.destroy(gone, page.account, Said().reporter, yes=True, wait=lambda _: None)
    buckets = [each["Name"] for each in page.account.client("s3").list_buckets()["Buckets"]]
    assert page.outputs["PageBucketName"] in buckets
    assert not [name for name in buckets if "gone" in name]
