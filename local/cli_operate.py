"""The operator's verbs: sweep, redrive. On the laptop stack, or on AWS with `--stack-name`."""

from local.operate import Target, maintain, redriven
from local.report import Reporter

SHOWN = 20
"""Keys that are named one by one."""


def sweep(target: Target, report: Reporter) -> int:
    """Delete vectors that a crash left, and take up forgotten documents; 1 when the time was too short somewhere."""
    tenants = [str(tenant) for tenant in maintain(target, {"recto": "tenants"})["tenants"]]
    vectors = orphans = 0
    unfinished = []
    with report.live("Sweeping") as show:
        for number, tenant in enumerate(tenants, start=1):
            show(f"tenant {number} of {len(tenants)}, {vectors:,} vectors seen, {orphans:,} orphans deleted")
            swept = maintain(target, {"recto": "sweep", "tenant": tenant})
            vectors += swept["vectors"]
            orphans += swept["orphans"]
            unfinished += swept["unfinished"]
    hints = maintain(target, {"recto": "wake"})["hints"]
    report.say(
        f"{len(tenants)} tenants, {vectors:,} vectors: {orphans:,} orphans deleted, "
        f"{hints:,} forgotten documents taken up again."
    )
    for tenant in unfinished:
        report.say(f"The time was too short for tenant {tenant}: what was found is deleted; sweep once more.")
    return 1 if unfinished else 0


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
