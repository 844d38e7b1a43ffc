"""`python -m local replay`: what it prints, and its exit codes."""

import argparse
import json
from typing import Any

import pytest

from local import cli_replay
from local.client import ApiError
from local.report import Reporter
from local.stack.config import LocalStackError

RECEIPT: dict[str, Any] = {
    "question": "How heavy is the bell?",
    "asked_at": "2026-11-23T09:14:03.120Z",
    "index_version": 1,
    "mode": "generated",
    "refusal": None,
    "candidates": [{"source": 1}, {"source": 0}],
    "claims": [{"shown": True}, {"shown": False}],
    "caches": {"answer": True},
}
SAME = {"identical": True, "causes": [], "effects": [], "then": RECEIPT, "now": RECEIPT}
OTHER = {
    **SAME,
    "identical": False,
    "causes": [{"kind": "settings", "text": "Settings changed: `top_k` was 7 and is 2."}],
    "effects": [{"kind": "decision", "text": "Then: answered. Now: refused."}],
    "now": {**RECEIPT, "mode": "refused", "refusal": "no_relevant_info", "caches": {"answer": False}},
}


class Api:
    """Gives one reply."""

    def __init__(self, reply: dict[str, Any] | ApiError) -> None:
        self.reply = reply

    def replay(self, message_id: str) -> dict[str, Any]:
        assert message_id == "M1"
        if isinstance(self.reply, ApiError):
            raise self.reply
        return self.reply


def run(reply: dict[str, Any] | ApiError, *, as_json: bool = False) -> int:
    given = argparse.Namespace(message="M1", json=as_json)
    return cli_replay.replay(Api(reply), Reporter(), given)  # type: ignore[arg-type]


def test_the_same_answer_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(SAME) == 0
    printed = capsys.readouterr().out
    assert "The same decision, sources and claims." in printed
    assert "generated, from the cache; 1 source, 1 claim, 1 dropped" in printed


def test_another_answer_exits_with_3_and_says_what_has_changed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(OTHER) == cli_replay.DIFFERS == 3
    printed = capsys.readouterr().out
    for text in ("Another answer", "Now: refused.", "`top_k` was 7 and is 2", "refused, no_relevant_info"):
        assert text in printed


def test_json_is_what_the_api_returned(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(OTHER, as_json=True) == 3
    assert json.loads(capsys.readouterr().out) == OTHER


def test_a_message_of_somebody_else_is_said_to_have_none() -> None:
    with pytest.raises(LocalStackError, match="no answer M1 with a receipt"):
        run(ApiError(404, "not_found", ""))
    with pytest.raises(ApiError):
        run(ApiError(503, "unavailable", ""))


def test_on_aws_it_runs_as_whoever_asked() -> None:
    with pytest.raises(LocalStackError, match="RECTO_TOKEN"):
        cli_replay.on_aws(None, "", Reporter(), argparse.Namespace(message="M1", json=False))  # type: ignore[arg-type]
