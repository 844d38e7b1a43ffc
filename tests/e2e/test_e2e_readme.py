"""The README's own lines, run by a shell against the deployed stack."""

import json
import os
import subprocess

import pytest

from local.client import ApiClient
from local.stack import users
from local.stack.laptop import Laptop
from tests.support.readme import blocks


@pytest.mark.parametrize("block", blocks("bash", test="tests/e2e/test_e2e_readme.py"))
def test_the_lines_of_the_readme_do_what_it_says(block: str, laptop: Laptop, samples: dict[str, str]) -> None:
    base, token = laptop.config.streaming_url, laptop.token(users.DEMO)  # as `make up` prints them
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        env={**os.environ, "API": base, "TOKEN": token},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    decoder = json.JSONDecoder()
    rest = ran.stdout.strip()
    answers = []
    while rest:
        answer, end = decoder.raw_decode(rest)
        answers.append(answer)
        rest = rest[end:].lstrip()
    assert len(answers) == block.count("curl")
    expects_error = "0123456789abcdef" in block
    assert all(("code" in answer) == expects_error for answer in answers), answers


def test_the_health_check_needs_no_token(laptop: Laptop) -> None:
    with ApiClient(laptop.deployed().api_url) as api:
        assert api.healthz()["status"] == "ok"
