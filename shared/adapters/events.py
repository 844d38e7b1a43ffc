"""EventBridge: sends events to the account's default bus."""

from typing import Any

from shared.adapters.aws import aws_errors
from shared.errors import DependencyUnavailable


class EventBridgeSender:
    """Implements `EventSender`. `source` names this stack, because an account's stacks share the bus."""

    def __init__(self, client: Any, source: str) -> None:
        self._client = client
        self._source = source

    def send(self, kind: str, detail: str) -> None:
        """Send one event; `kind` becomes its `detail-type`. Raises `DependencyError`."""
        with aws_errors("events"):
            answer = self._client.put_events(Entries=[{"Source": self._source, "DetailType": kind, "Detail": detail}])
        if answer["FailedEntryCount"]:  # inside a 200
            raise DependencyUnavailable("events", answer["Entries"][0].get("ErrorCode", ""))
