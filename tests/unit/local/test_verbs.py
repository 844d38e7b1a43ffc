"""The verbs of `python -m local`: each has something to run, and asking for help loads none of it."""

import subprocess
import sys

import httpx
import pytest

from local.cli import _parser
from local.stack.config import PROJECT
from local.verbs import VERBS, _unreachable

HEAVY = ("boto3", "botocore", "httpx", "pydantic_settings", "rich", "onnxruntime", "local.verbs")
WITH_HELP = f"""
import runpy, sys
sys.argv = ["python -m local", *sys.argv[1:], "--help"]
try:
    runpy.run_module("local", run_name="__main__")
finally:
    print("loaded:", *(name for name in {HEAVY!r} if name in sys.modules))
"""


def verbs_of_the_parser() -> set[str]:
    """The verbs that the parser takes."""
    (choices,) = (action.choices for action in _parser()._actions if action.dest == "verb")
    assert choices is not None
    return set(choices)


def test_each_verb_of_the_parser_runs_something_and_nothing_else_does() -> None:
    assert verbs_of_the_parser() == set(VERBS)


@pytest.mark.parametrize("verb", ["", "ask", "erasure", "logs", "index"])
def test_help_loads_nothing_that_runs_a_verb(verb: str) -> None:
    words = [verb] if verb else []
    ran = subprocess.run(
        [sys.executable, "-c", WITH_HELP, *words], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert f"usage: python -m local {verb}".strip() in ran.stdout
    assert ran.stdout.splitlines()[-1] == "loaded:"


@pytest.mark.parametrize(("address", "helps"), [("http://127.0.0.1:8082/query", True), ("https://a.example/v1", False)])
def test_a_server_that_is_gone_is_named_and_on_the_laptop_how_to_start_it(address: str, helps: bool) -> None:
    told = _unreachable(httpx.ConnectError("Connection refused", request=httpx.Request("POST", address)))
    assert told.startswith(f"Nothing answers at {address.rsplit('/', 1)[0]} (Connection refused).")
    assert ("python -m local up" in told) is helps


def test_a_reader_that_has_seen_enough_ends_a_verb_quietly() -> None:
    many = "from local import verbs; verbs.VERBS['status'] = lambda *_: print('x' * 1_000_000) or 0; "
    code = f"import argparse, sys; {many}sys.exit(verbs.run(argparse.Namespace(verb='status')))"
    piped = f'set -o pipefail; {sys.executable} -c "$CODE" | head -c 1'
    ran = subprocess.run(
        ["bash", "-c", piped], cwd=PROJECT, env={"CODE": code, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (141, "")
