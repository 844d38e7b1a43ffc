"""The ingest Lambda: receives change notifications, reconciles each, and returns the messages to retry."""

from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.ingest import bootstrap
from functions.ingest.changes import unpack
from functions.ingest.lease import InvocationTime
from shared.telemetry import logger, metrics


class ChangesFailed(Exception):
    """A bare S3 event could not be processed, and no queue will retry it; the log says why."""


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, list[dict[str, str]]]:
    """Process one SQS batch or one bare S3 event; return the partial failures of the batch."""
    deliveries = unpack(event, request_id=context.aws_request_id)
    metrics.add_metric("Deliveries", MetricUnit.Count, len(deliveries))
    deadline = InvocationTime(lambda: context.get_remaining_time_in_millis() / 1_000)
    failed = bootstrap.batch().handle(deliveries, deadline)
    if failed and not deliveries[0].receipt_handle:
        raise ChangesFailed(f"{len(failed)} of {len(deliveries)} failed")
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}
