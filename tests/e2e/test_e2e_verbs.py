"""`python -m local` as a person uses it, on the running stack."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from local.client import ApiClient
from local.stack.config import LocalConfig
from local.stack.laptop import Laptop
from tests.support.local_stack import run_local


def test_up_again_changes_nothing_and_prints_how_to_use_the_stack(state: Path) -> None:
    again = run_local(state, "up")
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("(unchanged)") == 2  # neither built nor deployed
    for line in ("export TOKEN=", "aws s3 cp", "curl"):
        assert line in again.stdout
    config = LocalConfig.load(state, {})
    assert f"export API={config.streaming_url}\n" in again.stdout
    assert f"{config.aws_url}/_aws/execute-api/" in again.stdout  # API Gateway, named as what it is


def test_upload_tells_pages_and_chunks_and_leaves_what_is_unchanged(
    state: Path, tmp_path: Path, pdf_about: Callable[..., bytes]
) -> None:
    (tmp_path / "deep").mkdir()
    pdf = pdf_about("The brewery of Lomm", "# Facts", "The brewery of Lomm has brewed dark beer since 1641.")
    (tmp_path / "deep" / "brewery.pdf").write_bytes(pdf)
    first = run_local(state, "upload", str(tmp_path))
    assert first.returncode == 0, first.stdout + first.stderr
    assert "deep/brewery.pdf: READY, 2 pages, " in first.stdout
    assert "unchanged" in run_local(state, "upload", str(tmp_path)).stdout


def test_upload_of_a_broken_file_says_why_and_fails(state: Path, tmp_path: Path) -> None:
    (tmp_path / "letter.pdf").write_text("Dear reader, this is not a PDF.\n")
    result = run_local(state, "upload", str(tmp_path / "letter.pdf"))
    assert result.returncode == 1
    assert "letter.pdf: FAILED, " in result.stdout


def test_a_refused_file_is_named_and_does_not_stop_the_others(
    state: Path, tmp_path: Path, pdf_about: Callable[..., bytes]
) -> None:
    pdf = pdf_about("The ferry of Sund", "# Facts", "The ferry of Sund crosses the sound in eleven minutes.")
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "empty.pdf").write_bytes(b"")
    (folder / "ferry.pdf").write_bytes(pdf)
    (tmp_path / "notes.txt").write_text("Not a PDF.\n")
    result = run_local(state, "upload", str(tmp_path / "notes.txt"), str(folder))
    assert result.returncode == 1
    assert "notes.txt: refused, Only PDFs can be uploaded" in result.stdout
    assert "empty.pdf: refused, " in result.stdout
    assert "<Error>" not in result.stdout + result.stderr
    assert "ferry.pdf: READY, " in result.stdout


def test_a_streamed_answer_ends_with_how_to_go_on(state: Path, samples: dict[str, str]) -> None:
    streamed = run_local(state, "ask", "--stream", "How often are the coffee boilers descaled?")
    mode, took, more = streamed.stdout.splitlines()[-1].split(" · ")
    assert mode == "generated"
    assert float(took.removesuffix(" ms")) > 0
    conversation = more.removeprefix("continue with --conversation ")
    again = run_local(state, "ask", "--conversation", conversation, "And the steam boiler?")
    assert again.returncode == 0, again.stderr
    assert again.stdout.rstrip().endswith(conversation)


def test_ask_prints_answer_page_and_quote_or_a_clear_refusal(state: Path, samples: dict[str, str]) -> None:
    answered = run_local(state, "ask", "At what temperature is the coffee boiler of the Brunata Duo held?")
    assert answered.returncode == 0, answered.stderr
    assert "93 degrees" in answered.stdout
    assert "page 3 (printed 1)" in answered.stdout
    refused = run_local(state, "ask", "Who won the football world cup in 1998?")
    assert refused.stdout.startswith("No relevant information:")
    raw = json.loads(run_local(state, "ask", "--json", "How are bears counted?").stdout)
    assert raw["conversation_id"]
    replayed = run_local(state, "replay", raw["message_id"])
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    assert "The same decision, sources and claims." in replayed.stdout


def test_a_document_is_listed_asked_about_in_a_conversation_and_deleted(
    state: Path, tmp_path: Path, pdf_about: Callable[..., bytes]
) -> None:
    answer = "The lighthouse of Brim is 41 metres high."
    (tmp_path / "lighthouse.pdf").write_bytes(pdf_about("The lighthouse of Brim", "# Facts", answer))
    assert run_local(state, "upload", str(tmp_path)).returncode == 0
    assert "lighthouse.pdf" in run_local(state, "documents", "lighthouse").stdout
    said = run_local(state, "ask", typed="How high is the lighthouse of Brim?\n/sources\n/documents\n")
    assert said.returncode == 0, said.stderr
    assert answer in said.stdout
    assert "[1] lighthouse.pdf, page" in said.stdout
    deleted = run_local(state, "delete", "lighthouse.pdf", "--yes")
    assert deleted.returncode == 0, deleted.stderr
    assert "Deleted: lighthouse.pdf." in deleted.stdout
    gone = run_local(state, "delete", "lighthous.pdf", "--yes")
    assert gone.returncode == 1
    assert "There is no document lighthous.pdf." in gone.stderr


def test_one_release_is_live_and_has_a_version_of_every_function(state: Path, laptop: Laptop) -> None:
    listed = run_local(state, "releases")
    assert listed.returncode == 0, listed.stderr
    (live,) = [line for line in listed.stdout.splitlines() if line.startswith("live")]
    for output in ("QueryFunctionName", "IngestFunctionName", "MaintenanceFunctionName"):
        assert f"{laptop.deployed().outputs[output]} " in live


def test_token_prints_the_token_and_nothing_else(state: Path, laptop: Laptop) -> None:
    token = run_local(state, "token").stdout.strip()
    with ApiClient(laptop.deployed().api_url, token) as api:
        assert api.healthz()["status"] == "ok"


def test_logs_of_the_functions_can_be_read(state: Path, samples: dict[str, str]) -> None:
    logs = run_local(state, "logs", "ingest", "-n", "200")
    assert logs.returncode == 0, logs.stderr
    assert logs.stdout.strip()
    assert run_local(state, "logs", "ingest", "-n", "0").stdout == ""
    assert run_local(state, "logs", "ingest", "-n", "-5").returncode == 2


def test_a_built_function_is_invoked_without_a_container(state: Path, samples: dict[str, str]) -> None:
    def response(event: str) -> dict[str, Any]:
        invoked = run_local(state, "invoke", f"events/{event}.json")
        assert invoked.returncode == 0, invoked.stdout + invoked.stderr
        return dict(json.loads(invoked.stdout.partition("\n")[2]))

    assert response("api_get_healthz")["body"]["status"] == "ok"
    answer = response("api_post_query")
    assert answer["statusCode"] == 200
    assert answer["body"]["citations"][0]["file_name"] == "brunata-duo-maintenance-manual.pdf"
    assert response("sqs_s3_put") == response("sqs_ocr") == {"batchItemFailures": []}
    assert response("maintenance_rules")["changes"] == 0
    assert "sam local invoke QueryFunction" in run_local(state, "sam-env").stdout


def test_documents_and_conversations_outlive_a_restart(
    state: Path, laptop: Laptop, api: ApiClient, samples: dict[str, str]
) -> None:
    conversation_id = api.query("How many people can winter at Skarvnes station?")["conversation_id"]
    assert run_local(state, "down").returncode == 0
    assert run_local(state, "status").returncode == 1
    up = run_local(state, "up")
    assert up.returncode == 0, up.stderr
    assert up.stdout.count("(unchanged)") == 2
    with laptop.client() as after:
        assert {i: after.document(i)["status"] for i in samples.values()} == dict.fromkeys(samples.values(), "READY")
        assert len(after.conversation(conversation_id)["messages"]) == 2
        again = after.query("How many people can winter at Skarvnes station?")
    assert again["citations"]
    assert run_local(state, "status").returncode == 0
