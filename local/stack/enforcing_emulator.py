"""Starts the AWS emulator so that it enforces IAM, and records each call it judged: `python THIS_FILE CALLS.jsonl`.

It runs in the emulator's own environment, so it imports nothing of Recto. One line a call: who (an ARN), action,
resource, and whether it was allowed.
"""

import json
import os
import sys
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


if __name__ == "__main__":
    os.environ["AUTH"] = "true"
    from ministack.app import main  # type: ignore[import-not-found]
    from ministack.core import iam_evaluator  # type: ignore[import-not-found]

    record_calls(iam_evaluator, Path(sys.argv.pop(1)))
    sys.exit(main())
