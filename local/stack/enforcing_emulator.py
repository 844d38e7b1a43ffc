"""Starts the AWS emulator so that it enforces IAM, and records each call it judged: `python THIS_FILE CALLS.jsonl`.

It runs in the emulator's own environment, so it imports nothing of Recto. One line a call: who (an ARN), action,
resource, and whether it was allowed. The emulator does not know the condition key `dynamodb:LeadingKeys`, so it is
added here.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def record_calls(evaluator: Any, file: Path) -> None:
    """Replace the emulator's `enforce` by one that also writes down what it decided."""
    judge = evaluator.enforce
    out = file.open("a", buffering=1, encoding="utf-8")

    def enforce(access_key: str, action: str, service: str, region: str, resource_arn: str = "*", **more: Any) -> Any:
        denial = judge(access_key, action, service, region, resource_arn=resource_arn, **more)
        call = {"who": evaluator.caller_arn(), "action": action, "resource": resource_arn, "allowed": denial is None}
        out.write(json.dumps(call) + "\n")
        return denial

    evaluator.enforce = enforce


def leading_keys(request: object) -> Iterator[str]:
    """Yield the partition keys (`pk` in all our tables) of a DynamoDB request: of its keys, items, condition values."""
    if isinstance(request, dict):
        for name, value in request.items():
            if name in {"pk", ":pk"} and isinstance(value, dict):
                yield str(value.get("S"))
            else:
                yield from leading_keys(value)
    elif isinstance(request, list):
        for each in request:
            yield from leading_keys(each)


def name_leading_keys(actions: Any) -> None:
    """Give the emulator's judge the partition keys of every DynamoDB request; a scan has none, as on AWS."""
    context_of = actions.dynamodb_service_context

    def with_keys(body: bytes) -> dict[str, Any]:
        keys = sorted(set(leading_keys(json.loads(body or b"{}"))))
        return {**context_of(body), **({"dynamodb:LeadingKeys": keys} if keys else {})}

    actions.dynamodb_service_context = with_keys


if __name__ == "__main__":
    os.environ["AUTH"] = "true"
    from ministack.app import main  # type: ignore[import-not-found]
    from ministack.core import iam_actions, iam_evaluator  # type: ignore[import-not-found]

    name_leading_keys(iam_actions)
    record_calls(iam_evaluator, Path(sys.argv.pop(1)))
    sys.exit(main())
