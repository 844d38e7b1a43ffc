"""Logs, metrics and traces by Powertools, and the version.

Logs carry ids, sizes and timings; never a document, a question, an answer or a token, unless `RECTO_LOG_CONTENT` is
set. The template sets `POWERTOOLS_SERVICE_NAME` and `POWERTOOLS_LOG_LEVEL` for each function. Outside Lambda, traces
are dropped.
"""

import os
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


def traced[**P, R](handler: Callable[P, R]) -> Callable[P, R]:
    """Trace a Lambda handler without its return value; if tracing is off, return it unchanged."""
    return handler if tracer.disabled else tracer.capture_lambda_handler(handler, capture_response=False)
