"""Who may see what: no token, a forged one, another tenant, a group."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from local.client import ApiClient, ApiError
from local.stack import asserts, users
from local.stack.laptop import Laptop
from tests.support.waiting import until


def test_the_emulator_really_has_every_route_trigger_and_table(laptop: Laptop) -> None:
    assert asserts.missing_parts(laptop.aws, laptop.deployed()) == []


def test_the_api_is_alive(api: ApiClient) -> None:
    assert api.healthz()["status"] == "ok"


@pytest.mark.parametrize(("method", "path"), [("GET", "/documents"), ("POST", "/query"), ("DELETE", "/documents/x")])
def test_there_is_nothing_without_a_token(laptop: Laptop, method: str, path: str) -> None:
    with ApiClient(laptop.deployed().api_url) as nobody:
        assert_unknown(nobody.request(method, path, json={"question": "Who are you?"}))


def assert_unknown(answer: httpx.Response) -> None:
    """401 in problem details, which a browser may read."""
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["www-authenticate"] == "Bearer"
    assert (answer.json()["status"], answer.json()["code"]) == (401, "not_authenticated")


def test_a_tampered_token_is_no_token(laptop: Laptop) -> None:
    head, claims, signature = laptop.token().split(".")
    middle = len(signature) // 2
    forged = signature[:middle] + ("A" if signature[middle] != "A" else "B") + signature[middle + 1 :]
    for _ in range(2):  # API Gateway keeps the second one's answer
        with ApiClient(laptop.deployed().api_url, f"{head}.{claims}.{forged}") as forger:
            assert_unknown(forger.request("POST", "/query", json={"question": "Who are you?"}))


def test_the_gateway_keeps_for_every_route_what_the_authorizer_said_once(laptop: Laptop) -> None:
    with ApiClient(laptop.deployed().api_url, laptop.token()) as client:
        for method, path, status in (
            ("GET", "/documents", 200),
            ("GET", "/documents/x", 404),
            ("POST", "/query", 400),
            ("DELETE", "/documents/x", 404),
        ):
            assert client.request(method, path, json={}).status_code == status


def test_a_preflight_needs_no_token(laptop: Laptop) -> None:
    headers = {
        "Origin": "https://app.example.com",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    with ApiClient(laptop.deployed().api_url) as browser:
        answer = browser.request("OPTIONS", "/query", headers=headers)
    assert answer.is_success
    assert answer.headers["access-control-allow-origin"] in {"*", "https://app.example.com"}
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert "authorization" in answer.headers["access-control-allow-headers"].lower()


def test_another_tenants_documents_do_not_exist(api: ApiClient, other_api: ApiClient, samples: dict[str, str]) -> None:
    for document_id in samples.values():
        for call in (other_api.document, other_api.delete_document):
            with pytest.raises(ApiError) as unknown:
                call(document_id)
            assert (unknown.value.status, unknown.value.code) == (404, "not_found")
        assert api.document(document_id)["status"] == "READY"
    assert not set(samples.values()) & {d["document_id"] for d in other_api.documents()}


def test_another_tenants_documents_are_not_answered_from(other_api: ApiClient, samples: dict[str, str]) -> None:
    answer = other_api.query("How many people can winter at Skarvnes station?")
    assert (answer["no_relevant_info"], answer["sources"]) == (True, [])


def test_another_users_conversation_does_not_exist(
    api: ApiClient, other_api: ApiClient, samples: dict[str, str]
) -> None:
    conversation_id = api.query("How many people can winter at Skarvnes station?")["conversation_id"]
    with pytest.raises(ApiError) as unknown:
        other_api.conversation(conversation_id)
    assert unknown.value.status == 404
    with pytest.raises(ApiError) as unknown:
        other_api.query("And in summer?", conversation_id=conversation_id)
    assert unknown.value.status == 404


def test_a_question_that_is_none_is_told_so_in_problem_details(api: ApiClient) -> None:
    answer = api.request("POST", "/query", json={"question": ""})
    assert answer.status_code == 400
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert {"title", "status", "code", "request_id"} <= answer.json().keys()


CHAMBERS = "chambers"
IN_FORCE_S = 60.0
"""Seconds until which a change has to be in force."""


def member(laptop: Laptop, name: str, group: str) -> ApiClient:
    """A client of a user of the tenant in this Cognito group."""
    pool, user = laptop.deployed().one("AWS::Cognito::UserPool"), users.User(name, CHAMBERS, group)
    if group not in {each["GroupName"] for each in laptop.aws.cognito.list_groups(UserPoolId=pool)["Groups"]}:
        laptop.aws.cognito.create_group(UserPoolId=pool, GroupName=group)
    users.create(laptop.aws.cognito, pool, user, password=users.password_of(laptop.config.state))
    token = users.id_token(laptop.aws, laptop.config, laptop.deployed(), user)
    return ApiClient(laptop.deployed().api_url, token, 60.0)


def test_a_closed_folder_opens_for_a_group_of_the_token_only(
    laptop: Laptop, pdf_about: Callable[..., bytes], tmp_path: Path
) -> None:
    prefix, brief = f"uploads/{CHAMBERS}/closed/", tmp_path / "brief.pdf"
    brief.write_bytes(
        pdf_about("Brief", "# The wharf", "The wharf of Tolliver was let to the Penhallow brothers in 1903.")
    )
    question = "To whom was the wharf of Tolliver let in 1903?"
    with (
        member(laptop, "admin@chambers.example.com", "admin") as admin,
        member(laptop, "lawyer@chambers.example.com", "legal") as lawyer,
        member(laptop, "clerk@chambers.example.com", "reader") as clerk,
    ):
        body = {"folders": [{"prefix": prefix, "allowed_groups": ["legal"]}]}
        answer = admin.request("PUT", "/access", json=body, headers={"If-Match": '""'})
        assert answer.status_code == 200, answer.text
        document_id = admin.upload(brief, "closed/brief.pdf").document_id
        admin.wait_until_final(document_id)
        assert "Penhallow" in lawyer.query(question)["answer"]
        assert "Penhallow" not in json.dumps(clerk.query(question))
        assert clerk.request("GET", f"/documents/{document_id}").status_code == 404
        assert document_id not in clerk.request("GET", "/documents").text
        # Put into the bucket past the API: the event puts them in force.
        closed = {"folders": [{"prefix": prefix, "allowed_groups": []}]}
        bucket = laptop.deployed().bucket
        laptop.aws.s3.put_object(Bucket=bucket, Key=f"access/{CHAMBERS}.json", Body=json.dumps(closed).encode())
        until(
            lambda: lawyer.request("GET", f"/documents/{document_id}").status_code,
            lambda status: status == 404,
            what="the rule's force",
            within_s=IN_FORCE_S,
        )
        assert "Penhallow" not in json.dumps(lawyer.query(question))
        etag = admin.request("GET", "/access").json()["etag"]
        answer = admin.request("PUT", "/access", json=body, headers={"If-Match": f'"{etag}"'})
        assert answer.status_code == 200, answer.text
        assert "Penhallow" in lawyer.query(question)["answer"]
