"""Errors have the statuses that docs/api.md tells, and say in words what they are."""

import re
from pathlib import Path

import pytest

from shared import errors
from shared.errors import DependencyError, RectoError, cut_name

API = Path(__file__).parents[3] / "docs" / "api.md"
DOCUMENTED = {
    code: int(status)
    for status, codes in re.findall(
        r"^\| (\d{3}) \| ((?:`\w+`(?:, )?)+) \|", API.read_text(encoding="utf-8"), re.MULTILINE
    )
    for code in re.findall(r"`(\w+)`", codes)
    if (status, code) != ("429", "busy")  # API Gateway's own
}
CLASSES = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, RectoError)]
INTERNAL = {
    "LeaseLost": 409,  # no client sees one of these
    "DocumentRejected": 422,
    "DependencyError": 502,
}
RETRIABLE = {"DependencyTimeout", "DependencyUnavailable", "RateLimited"}


@pytest.mark.parametrize("kind", CLASSES, ids=[each.__name__ for each in CLASSES])
def test_an_error_has_the_documented_status(kind: type[RectoError]) -> None:
    assert kind.status == INTERNAL.get(kind.__name__, DOCUMENTED.get(kind.code))
    assert kind.retriable is (kind.__name__ in RETRIABLE)


def test_an_error_says_what_it_is() -> None:
    assert errors.NotFound().message == "There is no such thing, or it is not yours."
    assert errors.NotFound("No lamp.").message == "No lamp."
    failed = errors.DependencyUnavailable("chat", "down", retry_after_s=3)
    assert (failed.message, failed.dependency, failed.retry_after_s) == ("chat: down", "chat", 3)
    assert DependencyError("chat").message == "chat failed."
    assert failed.warning_about("model") == "model_unavailable"
    assert errors.KeyRefused("chat").warning_about("model") == "model_refused"
    assert errors.DocumentRejected("EMPTY", "Nothing.").reason_code == "EMPTY"


@pytest.mark.parametrize(("name", "shown"), [("x" * 200, "x" * 200), ("x" * 201, "x" * 200 + "…"), ("", "")])
def test_a_clients_name_is_repeated_in_part(name: str, shown: str) -> None:
    assert cut_name(name) == shown
