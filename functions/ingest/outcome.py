"""How a hint was dealt with."""

from enum import StrEnum

from shared.models import DocumentStatus


class Outcome(StrEnum):
    """How a hint was dealt with; every one of these consumes the message."""

    PUBLISHED = "published"
    REJECTED = "rejected"
    REMOVED = "removed"
    UNCHANGED = "unchanged"
    STALE = "stale"
    NOTED = "noted"
    IGNORED = "ignored"
    CONTINUED = "continued"


class TryLater(Exception):
    """Nothing is wrong, but this message must come back after `after_s` seconds."""

    def __init__(self, reason: str, *, after_s: float, status: DocumentStatus = DocumentStatus.PROCESSING) -> None:
        super().__init__(reason)
        self.after_s = after_s
        self.status = status
