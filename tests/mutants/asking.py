"""What the driver asks of the processes that run tests (`warm`), and what they answer."""

from dataclasses import dataclass

NAME = "RECTO_WARM"
"""The environment variable with the descriptors to read requests from and to write answers to."""

OPTIONS = ("-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no")


@dataclass(frozen=True, slots=True)
class Request:
    """Which tests to run until one fails, with which change of which file, if any."""

    names: list[str]
    limit_s: float
    environment: dict[str, str]
    path: str = ""
    original: str = ""
    changed: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of it. `code`: 0 all passed, 1 the test `failed` did, 70 the process died, None the limit was overrun.

    `whole`: the change lies in functions that exist and were all given their new code, so a fresh start says the same
    (but for what import has computed from them).
    """

    code: int | None
    failed: str = ""
    whole: bool = True
