"""The scheduled Lambda: sweeps orphans and wakes forgotten documents; also re-indexes when asked to.

The event of a schedule is ignored; `{"recto": "reindex", "tenant": "…"}` sends a hint for every document (of one
tenant, if named).
"""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.ingest import bootstrap
from functions.ingest.sweeper import reindex, sweep_everything
from shared.telemetry import MetricUnit, logger, metrics


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, int]:
    """Do one round; answer with what was seen and done."""
    reconciler, scan = bootstrap.batch().reconciler, bootstrap.scan()
    if event.get("recto") == "reindex":
        hints = reindex(scan, reconciler.queue, tenant=str(event.get("tenant", "")))
        metrics.add_metric("ReindexHints", MetricUnit.Count, hints)
        return {"hints": hints}
    swept = sweep_everything(scan, reconciler.fence, reconciler.tools.vectors, reconciler.queue)
    metrics.add_metric("OrphansSwept", MetricUnit.Count, swept.orphans)
    metrics.add_metric("ForgottenDocuments", MetricUnit.Count, swept.hints)
    result = {"vectors": swept.vectors, "orphans": swept.orphans, "hints": swept.hints}
    logger.info("swept", extra=result)
    return result
