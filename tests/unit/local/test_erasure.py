"""`erasure verify`: which files hold a receipt, and what is said of the others."""

import json
from pathlib import Path
from unittest.mock import Mock

import pytest
from rich.console import Console

from local.erasure import verify
from local.operate import Target
from local.report import Reporter
from local.stack.config import LocalStackError

RECEIPT = {"kind": "user", "subject": "ann", "state": "erased", "key": "ab12", "finished_at": "", "signature": "x"}
SECRET = {"RECEIPT_KEY": "secret"}


def verified(file: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what is printed about a file by a stack that has signed none."""
    secrets = Mock(get_secret_value=lambda **_: {"SecretString": json.dumps(SECRET)})
    target = Mock(spec=Target, client=lambda _: secrets, outputs={"SecretId": "s"})
    assert verify(target, Reporter(Console(width=200)), file) == 1
    return capsys.readouterr().out


@pytest.mark.parametrize("held", [RECEIPT, {"erasure_id": "E", "receipt": RECEIPT}], ids=["alone", "in the response"])
def test_a_receipt_is_read_alone_and_in_the_response(
    held: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "RECEIPT.json"
    file.write_text(json.dumps(held))
    assert verified(file, capsys).startswith("NOT genuine")


@pytest.mark.parametrize("held", ["null", '{"erasure_id": "E", "state": "running", "receipt": null}'])
def test_an_erasure_that_is_running_has_no_receipt_yet_and_what_to_do_is_said(held: str, tmp_path: Path) -> None:
    file = tmp_path / "RECEIPT.json"
    file.write_text(held)
    with pytest.raises(LocalStackError, match=r"still running.*`python -m local erasure finish`"):
        verify(Mock(spec=Target), Reporter(), file)


@pytest.mark.parametrize(
    ("held", "said"),
    [("[]", "is no JSON object"), ('"E"', "is no JSON object"), ("{}", "has no `kind`"), ("", "Expecting value")],
)
def test_another_file_is_said_to_be_no_receipt(held: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "RECEIPT.json"
    file.write_text(held)
    with pytest.raises(LocalStackError, match=said):
        verify(Mock(spec=Target), Reporter(), file)
