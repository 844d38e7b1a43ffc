"""The scheduled Lambda: sweeps orphans, wakes forgotten documents, re-indexes by itself or when asked to.

The event of the slow schedule is ignored: it means sweep and wake. `make sweep` goes step by step instead, to show how
far it is: `{"recto": "tenants"}` lists the tenants, `{"recto": "sweep", "tenant": "…"}` sweeps one of them,
`{"recto": "wake"}` wakes the forgotten. `{"recto": "reindex", "action": "start", "tenant": "…"}` takes one step of a
re-index of a tenant: start, progress, switch, rollback or confirm. `{"recto": "renew"}`, every five minutes, brings
tenants to the settings of the day.
"""

import random
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.ingest import bootstrap
from functions.ingest.deadline import Deadline
from functions.ingest.reindex_steps import take_step
from functions.ingest.sweeper import hint_forgotten, sweep_tenants, tenants_of
from shared.ports import DocumentScan
from shared.telemetry import MetricUnit, logger, metrics


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Do what is asked, or one whole round; answer with what was seen and done."""
    deadline = Deadline(lambda: context.get_remaining_time_in_millis() / 1_000)
    metrics.add_metric("Rounds", MetricUnit.Count, 1)  # a round that counts nothing would log a warning
    scan, tenant = bootstrap.scan(), str(event.get("tenant", ""))
    match event.get("recto"):
        case "tenants":
            tenants = tenants_of(scan)
            metrics.add_metric("Tenants", MetricUnit.Count, len(tenants))
            return {"tenants": tenants}
        case "sweep":
            return _sweep([tenant], deadline)
        case "wake":
            return _wake(scan)
        case "reindex":
            metrics.add_metric("ReindexSteps", MetricUnit.Count, 1)
            return take_step(bootstrap.reindexer(), str(event.get("action", "")), tenant)
        case "renew":
            renewal = bootstrap.renewal()
            return {"automatic": False} if renewal is None else renewal.look(deadline)
    tenants = tenants_of(scan)
    random.shuffle(tenants)  # so that none is always the one the time is too short for
    return _wake(scan) | _sweep(tenants, deadline)


def _sweep(tenants: list[str], deadline: Deadline) -> dict[str, Any]:
    """Sweep these tenants; `unfinished` names those the time was too short for."""
    reconciler, reindexer = bootstrap.batch().reconciler, bootstrap.reindexer()
    for tenant in tenants:
        reindexer.tidy(tenant)
    swept = sweep_tenants(tenants, fence=reconciler.fence, workshop=reconciler.workshop, deadline=deadline)
    metrics.add_metric("OrphansSwept", MetricUnit.Count, swept.orphans)
    metrics.add_metric("SweepsCutShort", MetricUnit.Count, len(swept.unfinished))
    counts = {"vectors": swept.vectors, "orphans": swept.orphans}
    logger.info("swept", extra={**counts, "tenants": len(tenants), "tenants_unfinished": len(swept.unfinished)})
    return {**counts, "unfinished": list(swept.unfinished)}


def _wake(scan: DocumentScan) -> dict[str, Any]:
    """Send a hint for every document that nobody works on although it is not finished."""
    hints = hint_forgotten(scan, bootstrap.batch().reconciler.queue)
    metrics.add_metric("ForgottenDocuments", MetricUnit.Count, hints)
    return {"hints": hints}
