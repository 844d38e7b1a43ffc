"""The operator's verbs: sweep, redrive. On the laptop stack, or on AWS with `--stack-name`."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from local.operate import Target, maintain, redriven
from local.report import Reporter

SHOWN = 20
"""Keys that are named one by one."""
_TOLD = {
    "new": "objects that were never read",
    "replaced": "objects that were replaced",
    "gone": "documents whose object is gone",
    "failed": "documents that failed",
}


def sweep(target: Target, report: Reporter) -> int:
    """Compare bucket and registry, take up the forgotten, delete orphans; 1 when the time was too short somewhere."""
    tenants = [str(tenant) for tenant in maintain(target, {"recto": "tenants"})["tenants"]]
    seen: Counter[str] = Counter()
    unfinished: list[str] = []
    with report.live("Sweeping") as show:
        for number, tenant in enumerate(tenants, start=1):
            for compared in _compared(target, tenant):
                seen.update({name: compared[name] for name in (*_TOLD, "objects", "young")})
                show(
                    f"tenant {number} of {len(tenants)}, {seen['objects']:,} objects, {seen['vectors']:,} vectors seen"
                )
            swept = maintain(target, {"recto": "sweep", "tenant": tenant})
            unfinished += {*compared["unfinished"], *swept["unfinished"]}
            seen.update({name: swept[name] for name in ("vectors", "orphans")})
    changes = maintain(target, {"recto": "wake"})["changes"]
    report.say(
        f"{len(tenants)} tenants, {seen['objects']:,} objects, {seen['vectors']:,} vectors: "
        f"{seen['orphans']:,} orphans deleted, {changes:,} forgotten documents taken up again."
    )
    told = ", ".join(f"{seen[name]:,} {words}" for name, words in _TOLD.items() if seen[name])
    if told:
        report.say(f"Looked at again, because bucket and registry do not agree: {told}.")
    if seen["young"]:
        report.say(f"{seen['young']:,} more changed within the last minutes and are left to their own events.")
    for tenant in unfinished:
        report.say(f"The time was too short for tenant {tenant}: what was found is mended; sweep once more.")
    return 1 if unfinished else 0


def _compared(target: Target, tenant: str) -> Iterator[dict[str, Any]]:
    """Compare a tenant's objects with the registry, in as many steps as it takes; yield what each came to."""
    after = ""
    while True:
        compared = maintain(target, {"recto": "compare", "tenant": tenant, "after": after})
        yield compared
        if not compared["unfinished"] or compared["after"] == after:
            return
        after = compared["after"]


def redrive(target: Target, report: Reporter) -> int:
    """Give every dead letter another try."""
    count = 0
    for count, keys in enumerate(redriven(target), start=1):
        if count <= SHOWN:
            report.say(f"  {', '.join(keys) or 'a message that names no key'}")
        elif count % 100 == 0:
            report.say(f"  … {count:,} so far")
    if not count:
        report.say("There are no dead letters.")
        return 0
    report.say(f"{count:,} dead letters are back in the queue. Their documents tell how it goes.")
    return 0
