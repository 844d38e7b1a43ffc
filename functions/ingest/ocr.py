"""The OCR Lambda: reads the pages that a message asks for, and has their document ingested again."""

import json
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.ingest import bootstrap
from functions.ingest.changes import PagesRequest
from functions.ingest.lease import InvocationTime
from functions.ingest.reading import KEEP_BACK_S
from shared.errors import RectoError
from shared.telemetry import logger, metrics


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, list[dict[str, str]]]:
    """Process the one message of a batch; return it if it is to come back."""
    deadline = InvocationTime(lambda: context.get_remaining_time_in_millis() / 1_000, KEEP_BACK_S)
    metrics.add_metric("OcrRequests", MetricUnit.Count, len(event["Records"]))
    for record in event["Records"]:
        try:
            request = PagesRequest.of("read", json.loads(record["body"]))
        except (ValueError, RecursionError):
            request = None
        if request is None:
            logger.error("unreadable message dropped", extra={"problem": "not a request to read pages"})
            metrics.add_metric("UnreadableMessages", MetricUnit.Count, 1)
            continue
        try:
            bootstrap.page_reader().read(request, deadline)
        except RectoError as error:
            logger.warning("message failed", extra={"message_id": record["messageId"], "code": error.code})
            metrics.add_metric("FailedMessages", MetricUnit.Count, 1)
            return {"batchItemFailures": [{"itemIdentifier": record["messageId"]}]}
    return {"batchItemFailures": []}
