"""Logs, metrics and traces by Powertools, and the version.

Logs carry ids, sizes and timings; never a document, a question, an answer or a token, unless `RECTO_LOG_CONTENT` is
set. The template sets `POWERTOOLS_SERVICE_NAME` and `POWERTOOLS_LOG_LEVEL` for each function. Outside Lambda, traces
are dropped.
"""

import os
import re
import warnings
from collections.abc import Callable

from aws_lambda_powertools import Logger, Metrics, Tracer

VERSION = "0.1.0"
"""The deployed version; a test checks that pyproject.toml has the same."""

# An invocation without metrics needs no warning in the log.
warnings.filterwarnings("ignore", message="No application metrics to publish")

_SERVICE = os.environ.get("POWERTOOLS_SERVICE_NAME", "recto")

METRICS_NAMESPACE = os.environ.get("POWERTOOLS_METRICS_NAMESPACE", "Recto")
"""Of the stack: two stacks in one account must not add up."""

logger = Logger(service=_SERVICE, utc=True)
metrics = Metrics(namespace=METRICS_NAMESPACE, service=_SERVICE)
# `auto_patch` would import and wrap every client library at each cold start.
tracer = Tracer(service=_SERVICE, auto_patch=False)


_MASKED = (
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), "[e-mail]"),
    (re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"), "[iban]"),
    (re.compile(r"\b\d(?:[ -]?\d){12,18}\b"), "[card]"),
    (re.compile(r"(?<!\w)(?:\+|00)\d(?:[ ()/.-]{0,2}\d){6,14}\b"), "[phone]"),
    (re.compile(r"(?<![\w.,-])0\d{1,4}[ /-]\d(?:[ -]?\d){4,9}\b"), "[phone]"),
)
"""What is masked where content is logged: addresses, IBANs, numbers as long as a card's, and phone numbers that begin
with +, 00 or an area code. A name is not recognised."""


def masked(text: str) -> str:
    """Return a text for the log, without e-mail addresses, IBANs, card and phone numbers."""
    for pattern, instead in _MASKED:
        text = pattern.sub(instead, text)
    return text


def traced[**P, R](handler: Callable[P, R]) -> Callable[P, R]:
    """Trace a Lambda handler without its return value; if tracing is off, return it unchanged."""
    return handler if tracer.disabled else tracer.capture_lambda_handler(handler, capture_response=False)
