"""When the providers' keys are read again: after a refusal, after a while, and not more often."""

from collections.abc import Mapping

import pytest

from shared.adapters.secrets import REREAD_EVERY_S, Secret
from shared.errors import ConfigurationError

TTL_S = 900.0


class Vault:
    """A secret whose value and time are set by hand; counts the readings."""

    def __init__(self) -> None:
        self.values: dict[str, str] | None = {"A": "a1", "B": "b1"}
        self.at = 0.0
        self.readings = 0
        self.secret = Secret(self.read, ttl_s=TTL_S, now=lambda: self.at)

    def read(self) -> Mapping[str, str]:
        self.readings += 1
        if self.values is None:
            raise ConfigurationError("no secret")
        return dict(self.values)


@pytest.fixture
def vault() -> Vault:
    return Vault()


def test_a_key_is_the_first_of_its_names_that_the_secret_has(vault: Vault):
    assert vault.secret.key("A", "B").current() == "a1"
    assert vault.secret.key("X", "B").current() == "b1"
    assert vault.secret.key("X").current() == ""


def test_keys_are_read_again_after_a_while(vault: Vault):
    key = vault.secret.key("A")
    vault.values = {"A": "a2"}
    vault.at = TTL_S - 1
    assert (key.current(), vault.readings) == ("a1", 1)
    vault.at = TTL_S
    assert (key.current(), key.current(), vault.readings) == ("a2", "a2", 2)


def test_a_refused_key_is_read_again_at_once_but_once_a_minute(vault: Vault):
    key = vault.secret.key("A")
    assert not key.renewed("a1")
    assert not key.renewed("a1")
    assert vault.readings == 2
    vault.values = {"A": "a2"}
    vault.at = REREAD_EVERY_S
    assert key.renewed("a1")
    assert (key.current(), vault.readings) == ("a2", 3)


def test_a_key_that_another_call_has_read_already_is_not_read_again(vault: Vault):
    vault.values = {"A": "a2"}
    key = vault.secret.key("A")
    assert key.renewed("a1")
    assert key.renewed("a1")
    assert vault.readings == 2


def test_a_secret_that_cannot_be_read_again_leaves_the_keys_as_they_are(vault: Vault):
    vault.values = None
    vault.at = TTL_S
    assert vault.secret.key("A").current() == "a1"
    assert vault.secret.key("A").current() == "a1"
    assert vault.readings == 2, "the next try waits"
