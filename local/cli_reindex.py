"""The verb `reindex`: build all documents anew beside the old ones, switch without a gap, go back or confirm."""

import argparse
import time
from collections.abc import Callable
from typing import Any

from local.operate import Target, maintain
from local.report import Reporter
from local.stack.config import LocalStackError

STEPS = ("run", "start", "status", "switch", "rollback", "confirm")
POLL_S = 2.0
_ACTIONS = {"status": "progress"}
HELP = (
    "run (the default) starts, waits and switches; after Ctrl-C it goes on where it was. The old index is kept, so "
    "that `rollback` goes back to it; `confirm` deletes it. Nothing is missing from answers at any time. After a "
    "change of settings the stack does all this by itself (ReindexAutomatically)."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("step", nargs="?", choices=STEPS, default="run", help="default: run")
    parser.add_argument("--tenant", default="", metavar="NAME", help="whose documents (default: every tenant's)")
    parser.add_argument(
        "--stack-name", metavar="NAME", help="a stack in the AWS account of your credentials (default: the laptop's)"
    )


def reindex(
    target: Target, report: Reporter, step: str, tenant: str, *, wait: Callable[[float], None] = time.sleep
) -> int:
    """Take a step, for one tenant or all; 0 when it could be taken for each of them."""
    tenants = [str(name) for name in maintain(target, {"recto": "tenants"})["tenants"]]
    if tenant and tenant not in tenants:
        # An index version would be made for it all the same, and kept, though nobody meant that tenant.
        raise LocalStackError(f"There is no tenant {tenant} with documents; there are: {', '.join(tenants) or 'none'}.")
    if tenant:
        tenants = [tenant]
    elif not tenants:
        report.say("There are no documents yet, and so nothing to index anew.")
    failures = 0
    for name in tenants:
        done = _run(target, report, name, wait) if step == "run" else _ask(target, _ACTIONS.get(step, step), name)
        report.say(_told(done))
        failures += bool(done["conflict"])
    return 1 if failures else 0


def _run(target: Target, report: Reporter, tenant: str, wait: Callable[[float], None]) -> dict[str, Any]:
    """Start or go on, wait until the switch can be made, and make it."""
    state = _ask(target, "start", tenant)
    if state["conflict"]:
        return state
    with report.live(f"Indexing {tenant} anew") as show:
        while True:
            show(f"{state['done']:,} of {state['documents']:,} documents")
            if not state["waiting"]:
                # What cannot be built holds up the switch, and the answer names it.
                state = _ask(target, "switch", tenant)
                if state["phase"] == "switched" or state["failed"]:
                    return state
            wait(POLL_S)
            state = _ask(target, "progress", tenant)


def _ask(target: Target, action: str, tenant: str) -> dict[str, Any]:
    return maintain(target, {"recto": "reindex", "action": action, "tenant": tenant})


def _told(state: dict[str, Any]) -> str:
    current, other = state["current"], state["other"]
    lines = [f"{state['tenant']}: searched is {_name(current)}."]
    if state["phase"] == "building":
        lines.append(f"  Beside it {_name(other)} holds {state['done']:,} of {state['documents']:,} documents.")
    elif state["phase"] == "switched":
        lines.append(f"  {_name(other)} is kept: `reindex rollback` goes back to it, `reindex confirm` deletes it.")
    if state["declined"]:
        lines.append("  It was rolled back: nothing is built anew by itself until the settings change again.")
    lines += [f"  {key} could not be built; `upload` it again or see its status." for key in state["failed"]]
    if state["conflict"]:
        lines.append(f"  {state['conflict']}")
    return "\n".join(lines)


def _name(index_version: dict[str, Any]) -> str:
    named = f"{index_version['namespace']} in {index_version['index']}, {index_version['space']}"
    return f"index version {index_version['number']} ({named})"
