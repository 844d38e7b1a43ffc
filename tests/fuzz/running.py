"""Requests made from the OpenAPI document: each answer is held against it, and may hold nothing of another tenant's."""

import json
import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from schemathesis.checks import load_all_checks
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks as of_openapi

from functions.query.api.openapi import operations_of
from functions.query.api.roles import PUBLIC
from shared.models import ROLES
from tests.fuzz.world import OURS, THEIRS, World
from tests.support.signed_in import token_of

NOBODY = ""
"""No token."""
WHO: Sequence[str] = (*ROLES, NOBODY)
EVENTS = "text/event-stream"
KNOWN_SHARE = 0.7
"""Share of the path's parameters that name something of one of the tenants."""
STREAMED_SHARE = 0.2
"""Share of the requests to a route that streams which ask for that."""
CHECKS = (
    schemathesis.checks.not_a_server_error,
    of_openapi.status_code_conformance,
    of_openapi.content_type_conformance,
    of_openapi.response_schema_conformance,
    of_openapi.response_headers_conformance,
)
OF_STREAMS = CHECKS[:2]
ROUNDS = 5
"""Rounds at most: routes that can be asked in few ways get fewer requests, and others more in the next round."""


@dataclass
class Report:
    """How many requests were sent, how they were answered, and one example of each kind of failure."""

    sent: int = 0
    statuses: dict[str, dict[int, int]] = field(default_factory=dict)
    failures: dict[tuple[str, str, int], str] = field(default_factory=dict)

    def count(self, route: str, status: int) -> None:
        """Count an answer."""
        self.sent += 1
        of_route = self.statuses.setdefault(route, {})
        of_route[status] = of_route.get(status, 0) + 1

    def __str__(self) -> str:
        lines = [f"{route}: {dict(sorted(counts.items()))}" for route, counts in sorted(self.statuses.items())]
        lines += [f"FAILED {route} {status}: {kind}\n{shown}" for (route, kind, status), shown in self.failures.items()]
        return "\n".join([*lines, f"{self.sent} requests, {len(self.failures)} kinds of failure"])


def fuzz(world: World, *, cases: int, start: int, progress: Callable[[str], None] = lambda _: None) -> Report:
    """Send `cases` requests, spread evenly over routes, roles, right ones and wrong ones; `start` seeds them."""
    load_all_checks()
    schema = schemathesis.openapi.from_dict(without_security(world.document))
    schema.app = world.application
    operations = sorted(
        (each.ok() for each in schema.get_all_operations()),
        key=lambda operation: (operation.method == "delete", operation.path, operation.method),
    )
    report, pick = Report(), random.Random(start)
    runs = [(operation, who, mode) for operation in operations for who in WHO for mode in GenerationMode]
    for _ in range(ROUNDS):
        share = math.ceil((cases - report.sent) / len(runs))
        for at, (operation, who, mode) in enumerate(runs, start=1):
            if report.sent < cases:
                start += 1
                _run(operation, who, mode, min(share, cases - report.sent), start, world, report, pick)
            if at % (2 * len(WHO)) == 0:
                progress(f"{report.sent:6} {operation.label}")
    return report


def without_security(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document as one of an open API, because schemathesis would leave out or replace our tokens."""
    opened: dict[str, Any] = json.loads(json.dumps({**document, "security": []}))
    opened["components"].pop("securitySchemes")
    for _, _, operation in operations_of(opened):
        operation.pop("security", None)
    return opened


def _run(
    operation: Any,
    who: str,
    mode: GenerationMode,
    count: int,
    start: int,
    world: World,
    report: Report,
    pick: random.Random,
) -> None:
    @seed(start)
    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: schemathesis.Case) -> None:
        _send(case, who, world, report, pick)

    try:
        send()
    except Exception as error:  # nothing can be made wrong about some routes
        if type(error).__name__ not in {"Unsatisfiable", "SkipTest"}:
            raise


def _send(case: schemathesis.Case, who: str, world: World, report: Report, pick: random.Random) -> None:
    for name in case.path_parameters or {}:
        if world.ids[name] and pick.random() < KNOWN_SHARE:
            case.path_parameters[name] = pick.choice(sorted(world.ids[name]))
    headers = {"Authorization": f"Bearer {token_of(OURS, 'ann', who)}"} if who else {}
    if "x-event-stream" in case.operation.definition.raw and pick.random() < STREAMED_SHARE:
        headers["Accept"] = EVENTS
    response = case.call(headers=headers)
    route = f"{case.operation.method.upper()} {case.operation.path}"
    report.count(route, response.status_code)
    streamed = EVENTS in "".join(response.headers.get("content-type", []))
    found = [*_found(case, response, OF_STREAMS if streamed else CHECKS)]
    text = (response.content or b"").decode(errors="replace")
    if THEIRS in f"{text} {dict(response.headers)}".casefold() and THEIRS not in _sent_by(case):
        found.append("an answer across tenants")
    if not who and response.status_code < 400 and route not in PUBLIC:
        found.append("an answer without a token")
    for kind in found:
        shown = f"  as {who or 'nobody'}: {case.as_curl_command(headers=headers)}\n  {text[:600]}"
        report.failures.setdefault((route, kind, response.status_code), shown)


def _sent_by(case: schemathesis.Case) -> str:
    return f"{case.query} {case.headers} {case.body}".casefold()


def _found(case: schemathesis.Case, response: Any, checks: Iterable[Any]) -> Iterable[str]:
    try:
        case.validate_response(response, checks=list(checks))
    except FailureGroup as group:
        for failure in group.exceptions:
            yield f"{type(failure).__name__}: {str(failure)[:300]}"
    except Failure as failure:
        yield f"{type(failure).__name__}: {str(failure)[:300]}"


def theirs_is_untouched(world: World) -> Mapping[str, bool]:
    """Say of each thing of the other tenant's that was there before whether it still is."""
    documents = json.loads(world.as_theirs("GET", "/documents"))["documents"]
    answer = world.as_theirs("POST", "/query", {"question": "How often is the Umbermarsh lens polished?"})
    return {
        "document": [each["status"] for each in documents if each["key"].endswith("-bells.pdf")] == ["READY"],
        "answer": "Monday" in answer,
        "faqs": THEIRS in world.as_theirs("GET", "/faqs"),
    }
