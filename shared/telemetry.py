"""Logs, metrics and traces by Powertools, wired in one place.

Logs carry ids, sizes and timings; never a document, a question, an answer or a token, unless `RECTO_LOG_CONTENT` says
so. The service's name and the level come from `POWERTOOLS_SERVICE_NAME` and `POWERTOOLS_LOG_LEVEL`, which the template
sets for each function; outside of Lambda traces go nowhere.
"""

import os
import warnings
from collections.abc import Callable

from aws_lambda_powertools import Logger, Metrics, Tracer

# --- The version of what is deployed; the same as in pyproject.toml, which a test checks ---

VERSION = "0.1.0"

# An invocation that measured nothing is no reason for a line in the log.
warnings.filterwarnings("ignore", message="No application metrics to publish")

_SERVICE = os.environ.get("POWERTOOLS_SERVICE_NAME", "recto")

logger = Logger(service=_SERVICE, utc=True)
metrics = Metrics(namespace="Recto", service=_SERVICE)
# No `auto_patch`: it would import and wrap every client library at every cold start.
tracer = Tracer(service=_SERVICE, auto_patch=False)


def traced[**P, R](handler: Callable[P, R]) -> Callable[P, R]:
    """Trace a Lambda handler, without what it returns; where tracing is off, leave it as it is."""
    return handler if tracer.disabled else tracer.capture_lambda_handler(handler, capture_response=False)
