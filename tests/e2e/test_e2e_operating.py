"""The operating guide's own lines, run by a shell: from the keys to a first answer, as its reader would."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local.stack.config import PROJECT
from local.stack.laptop import Laptop
from tests.support.local_stack import own_environment
from tests.support.readme import blocks

INDEX, KEYS, USER, QUESTION = blocks(
    "bash", test="tests/e2e/test_e2e_operating.py", pages=[PROJECT / "docs" / "operating.md"]
)
# What a shell of the reader's has: the AWS CLI, and everything installed (`make` would else look for updates).
SHELL = f"""
aws() {{ "{sys.executable}" -m tests.support.aws_cli "$@"; }}
make() {{ command make -o setup "$@"; }}
"""
ANSWER = "Everyone has 28 days of leave in a year, and asks for it two weeks ahead."


@pytest.fixture(scope="module")
def shell(laptop: Laptop) -> Callable[..., str]:
    """Run lines in a shell whose account is the laptop stack; return what they print."""
    account = {
        "AWS_ENDPOINT_URL": laptop.config.aws_url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "API": laptop.deployed().api_url,
    }

    def run(lines: str, **more: str) -> str:
        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", SHELL + lines],
            cwd=PROJECT,
            env=own_environment() | account | more,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    return run


@pytest.fixture
def keys(laptop: Laptop) -> Iterator[dict[str, str]]:
    """The keys in the secret, which is put back afterwards."""
    secret = laptop.deployed().outputs["SecretId"]
    before = laptop.aws.secrets.get_secret_value(SecretId=secret)["SecretString"]
    yield json.loads(before)
    laptop.aws.secrets.put_secret_value(SecretId=secret, SecretString=before)


def test_the_index_is_created_and_tried_out(laptop: Laptop, shell: Callable[..., str]) -> None:
    arguments = f"--name recto-as-documented --dimension 384 --control-url {laptop.config.pinecone_url}"
    printed = shell(INDEX.replace("…", "any-key"), ARGS=arguments)
    assert "ready, tested." in printed


def test_keys_a_user_an_upload_and_the_first_answer(
    laptop: Laptop, shell: Callable[..., str], keys: dict[str, str], pdf_about: Callable[..., bytes], tmp_path: Path
) -> None:
    outputs = laptop.deployed().outputs
    lines = KEYS.replace("SECRET_ID", outputs["SecretId"])
    shell(lines.replace("sk-…", keys["OPENAI_API_KEY"]).replace("…", keys["PINECONE_API_KEY"]))
    assert json.loads(laptop.aws.secrets.get_secret_value(SecretId=outputs["SecretId"])["SecretString"]) == {
        name: keys[name] for name in ("OPENAI_API_KEY", "PINECONE_API_KEY")
    }
    printed = shell(USER)
    assert "tenant acme, role editor." in printed
    (password,) = (line.removeprefix("Password: ") for line in printed.splitlines() if line.startswith("Password: "))
    handbook = tmp_path / "handbook.pdf"
    handbook.write_bytes(pdf_about("The handbook", "# Leave", ANSWER))
    lines = QUESTION.replace("BUCKET", laptop.deployed().bucket).replace("CLIENT_ID", outputs["UserPoolClientId"])
    answer = json.loads(shell(lines.replace("cp handbook.pdf", f"cp {handbook}").replace("…", password)))
    assert answer["citations"][0]["quote"] == ANSWER
