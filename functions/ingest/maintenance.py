"""The scheduled Lambda: compares bucket and registry, resumes stalled documents, sweeps orphans; re-indexes.

The event of the slow schedule is ignored: it means all of the first three. `make sweep` goes step by step instead,
to show its progress: `{"recto": "tenants"}` lists the tenants, `{"recto": "compare", "tenant": "…", "after": "…"}`
compares the objects of one of them with the registry, `{"recto": "sweep", "tenant": "…"}` sweeps its orphans,
`{"recto": "resume_stalled"}` resumes stalled documents. `{"recto": "reindex", "action": "start", "tenant": "…"}` takes
one step of a tenant's re-index: start, status, switch, rollback or confirm. `{"recto": "reindex_automatically"}`, every
five minutes, re-indexes tenants whose documents were built with other settings. `{"recto": "erase"}`, as often,
continues erasures; with `settle_s` it waits that long for running requests (the receipts say so). `{"recto": "rules"}`,
as often, too, looks for folder rules whose event was lost.
"""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.ingest import bootstrap
from functions.ingest.lease import InvocationTime
from functions.ingest.reindex import take_step
from functions.ingest.repair import MAX_CHANGES, Reason, resume_stalled, sweep_tenants
from shared.telemetry import logger, metrics


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Do what the event asks for, or one whole round; return the counts."""
    deadline = InvocationTime(lambda: context.get_remaining_time_in_millis() / 1_000)
    metrics.add_metric("Rounds", MetricUnit.Count, 1)  # a round that counts nothing would log a warning
    tenant = str(event.get("tenant", ""))
    match event.get("recto"):
        case "tenants":
            tenants = bootstrap.comparison().tenants()
            metrics.add_metric("Tenants", MetricUnit.Count, len(tenants))
            return {"tenants": tenants}
        case "compare":
            return _compare([tenant], deadline, after=str(event.get("after", "")), at_once=True)
        case "sweep":
            return _sweep([tenant], deadline)
        case "resume_stalled":
            return _resume_stalled()
        case "reindex":
            metrics.add_metric("ReindexSteps", MetricUnit.Count, 1)
            if event.get("action") == "start" and tenant:
                _compare([tenant], deadline, at_once=True)
            return take_step(bootstrap.reindexer(), str(event.get("action", "")), tenant)
        case "reindex_automatically":
            automatic = bootstrap.automatic_reindex()
            return {"automatic": False} if automatic is None else automatic.run(deadline)
        case "erase":
            return _erase(event, deadline)
        case "rules":
            return _compare_rules()
    tenants = bootstrap.comparison().tenants()
    random.shuffle(tenants)  # so that time does not always run out for the same tenant
    # First what needs no provider: if one is down, only the sweep fails.
    resumed, compared = _resume_stalled(), _compare(tenants, deadline)
    swept = _sweep(tenants, deadline)
    unfinished = sorted({*compared["unfinished"], *swept["unfinished"]})
    return compared | swept | {"changes": resumed["changes"] + compared["changes"], "unfinished": unfinished}


def _erase(event: Mapping[str, Any], deadline: InvocationTime) -> dict[str, Any]:
    """Continue the erasures that are not finished."""
    eraser = bootstrap.eraser()
    if "settle_s" in event:
        eraser = replace(eraser, settle_s=float(event["settle_s"]), visible_s=float(event["settle_s"]))
    counts = eraser.run(deadline)
    metrics.add_metric("ErasuresFinished", MetricUnit.Count, counts["finished"])
    metrics.add_metric("ErasuresUnfinished", MetricUnit.Count, counts["unfinished"])
    return dict(counts)


def _compare(tenants: list[str], deadline: InvocationTime, *, after: str = "", at_once: bool = False) -> dict[str, Any]:
    """Compare these tenants' objects with the registry; `unfinished` ones continue after the key `after`."""
    comparison = bootstrap.comparison()
    changes: Counter[Reason] = Counter()
    objects = young = 0
    oldest_s = 0.0
    unfinished, last = [], ""
    for tenant in tenants:
        most = MAX_CHANGES - changes.total()
        if deadline.is_near or not most:
            unfinished.append(tenant)
            continue
        compared = comparison.compare(tenant, deadline, after=after, most=most, at_once=at_once)
        objects, young = objects + compared.objects, young + compared.young
        changes.update(compared.changes)
        oldest_s = max(oldest_s, compared.oldest_s)
        if not compared.finished:
            unfinished.append(tenant)
            last = compared.last
    by_reason = {reason.value: changes[reason] for reason in Reason}
    counts = {"objects": objects, "young": young, "changes": changes.total(), **by_reason}
    metrics.add_metric("OldestUnfinishedDocument", MetricUnit.Seconds, oldest_s)
    missed = changes.total() - changes[Reason.FAILED] - changes[Reason.RULES]
    metrics.add_metric("MissedEvents", MetricUnit.Count, missed)
    metrics.add_metric("FolderRulesNotInForce", MetricUnit.Count, changes[Reason.RULES])
    metrics.add_metric("FailedDocumentsRetried", MetricUnit.Count, changes[Reason.FAILED])
    logger.info("compared", extra={**counts, "tenants": len(tenants), "tenants_unfinished": len(unfinished)})
    return {**counts, "unfinished": unfinished, "after": last}


def _compare_rules() -> dict[str, Any]:
    """Send a change for all folder rules in the bucket that are not in force."""
    changes = bootstrap.comparison().compare_rules()
    metrics.add_metric("FolderRulesNotInForce", MetricUnit.Count, changes)
    return {"changes": changes}


def _sweep(tenants: list[str], deadline: InvocationTime) -> dict[str, Any]:
    """Sweep these tenants; `unfinished` names those it ran out of time for."""
    reconciler, reindexer = bootstrap.batch().reconciler, bootstrap.reindexer()
    for tenant in tenants:
        reindexer.purge_dropped(tenant)
    swept = sweep_tenants(tenants, fence=reconciler.fence, access=reconciler.access, deadline=deadline)
    metrics.add_metric("OrphansSwept", MetricUnit.Count, swept.orphans)
    metrics.add_metric("SweepsCutShort", MetricUnit.Count, len(swept.unfinished))
    counts = {"vectors": swept.vectors, "orphans": swept.orphans}
    logger.info("swept", extra={**counts, "tenants": len(tenants), "tenants_unfinished": len(swept.unfinished)})
    return {**counts, "unfinished": list(swept.unfinished)}


def _resume_stalled() -> dict[str, Any]:
    """Send a change for every unfinished document that no worker holds."""
    changes = resume_stalled(bootstrap.scan(), bootstrap.comparison().queue)
    metrics.add_metric("StalledDocuments", MetricUnit.Count, changes)
    return {"changes": changes}
