"""Logs and metrics by Powertools, and the version.

Logs carry ids, sizes and timings; never a document, a question, an answer or a token, unless `RECTO_LOG_CONTENT` is
"true". An unexpected error may quote any of them, so of its traceback only the frames are logged. The template sets
`POWERTOOLS_SERVICE_NAME` and `POWERTOOLS_LOG_LEVEL` for each function.
"""

import logging
import os
import re
import warnings
from collections.abc import Callable
from traceback import format_tb
from types import TracebackType

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

VERSION = "0.1.0"
"""The deployed version; a test checks that pyproject.toml has the same."""
RELEASE = os.environ.get("RELEASE", "")
"""The name of the deployment that made this release (`python -m local releases`)."""

# An invocation without metrics needs no warning in the log.
warnings.filterwarnings("ignore", message="No application metrics to publish")

_SERVICE = os.environ.get("POWERTOOLS_SERVICE_NAME", "recto")

METRICS_NAMESPACE = os.environ.get("POWERTOOLS_METRICS_NAMESPACE", "Recto")
"""The stack's own namespace: the metrics of two stacks in one account must not be added up."""


class FramesFormatter(LambdaPowertoolsFormatter):
    """Powertools' JSON lines, with tracebacks that leave out what the errors say: pydantic's quote their input."""

    def formatException(  # noqa: N802 - logging's name
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None],
    ) -> str:
        """Return frames and types of an error and of its causes, the first cause first."""
        if os.environ.get("RECTO_LOG_CONTENT") == "true":
            return masked(super().formatException(ei))
        parts, error = [], ei[1]
        while error is not None:
            parts.append("".join(format_tb(error.__traceback__)) + type(error).__qualname__)
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\n\n".join(reversed(parts))


def _without_traceback(record: logging.LogRecord) -> bool:
    record.exc_info = record.exc_text = None
    return True


for _server in ("mangum.http", "uvicorn.error", "asyncio"):
    # These loggers would log our errors once more, with their messages.
    logging.getLogger(_server).addFilter(_without_traceback)

logger = Logger(service=_SERVICE, logger_formatter=FramesFormatter(utc=True, serialize_stacktrace=False))
metrics = Metrics(namespace=METRICS_NAMESPACE, service=_SERVICE)


# --- masking ----------------------------------------------------------------------------------------------------------

_GAP = r"[\s.\u2013-]{0,2}"
_EMAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_IBAN = re.compile(r"\b(?=(?: ?[A-Z0-9]){15})[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_LIKE_IBANS = re.compile(rf"\b(?:[A-Z]{{2}}{_GAP}|[a-z]{{2}})\d{{2}}(?:{_GAP}[A-Za-z0-9]){{11,}}\b")
_IBAN_BEGINS = re.compile(rf"[A-Za-z]{{2}}{_GAP}\d{{2}}")
_LIKE_CARDS = re.compile(rf"\b\d(?:{_GAP}\d){{12,}}\b")
_CARD_BEGINS = re.compile(r"[3-6]|22[02-9]|2[3-7]")
_PHONES = (
    re.compile(r"(?:(?<!\w)\+\(?|(?<![\w.,-])00)\d(?:[\s()/.\u2013-]{0,2}\d){6,14}\b"),
    re.compile(r"(?<![\w.,-])(?:\(0\d{1,4}\)|0\d{1,4})[\s/.-]{1,2}\d(?:[\s/.-]?\d){4,9}\b"),
    re.compile(r"(?<![\w.,-])(?:\(\d{3}\)\s?\d{3}[\s.-]|\d{3}([.-])\d{3}\1)\d{4}\b"),
    re.compile(r"(?<![\w.,-])0[1-9]\d{8,10}\b"),
)
_NO_PHONE = re.compile(r"\d{1,2}[\s/.-](?:0?\d|1[0-2])[\s/.-](?:19|20)\d\d\b|\+\d{1,2}(?:[\s.]\d{3}){2}$")
"""A date that begins with 0, and an amount with a plus before its thousands."""


def masked(text: str) -> str:
    """Return a text for the log, without e-mail addresses, IBANs, card and phone numbers. A name is not recognised.

    An IBAN is known by its groups of four or its check digits (ISO 13616), a card's number by how it begins and its
    check digit (ISO/IEC 7812), a phone number by +, 00, an area code with 0 or in brackets, or its groups.
    """
    text = _IBAN.sub("[iban]", _EMAIL.sub("[e-mail]", text))
    text = _LIKE_IBANS.sub(lambda run: _mask_parts(run[0], _IBAN_BEGINS, 34, _is_iban, "[iban]"), text)
    text = _LIKE_CARDS.sub(lambda run: _mask_parts(run[0], _CARD_BEGINS, 19, _is_card, "[card]"), text)
    for phone in _PHONES:
        text = phone.sub(lambda found: found[0] if _NO_PHONE.match(found[0]) else "[phone]", text)
    return text


def _mask_parts(run: str, begins: re.Pattern[str], longest: int, is_one: Callable[[str], bool], instead: str) -> str:
    """Replace each part of `run` that matches: groups that follow each other, of `longest` characters at most."""
    groups = [group.span() for group in re.finditer(r"[A-Za-z0-9]+", run)]
    kept, at, first = "", 0, 0
    while first < len(groups):
        begin = groups[first][0]
        within = range(first, min(first + longest, len(groups))) if begins.match(run, begin) else ()
        for last in reversed(within):
            end = groups[last][1]
            if is_one(re.sub(r"[^A-Za-z0-9]", "", run[begin:end]).upper()):
                kept, at, first = kept + run[at:begin] + instead, end, last
                break
        first += 1
    return kept + run[at:]


def _is_iban(text: str) -> bool:
    if not (15 <= len(text) <= 34 and text[2:4].isdigit() and 2 * sum(map(str.isdigit, text)) >= len(text)):
        return False
    return int("".join(str(int(each, 36)) for each in text[4:] + text[:4])) % 97 == 1


def _is_card(digits: str) -> bool:
    if not 13 <= len(digits) <= 19:
        return False
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(each - 9 * (each > 9) for each in doubled)) % 10 == 0
