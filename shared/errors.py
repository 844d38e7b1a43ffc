"""Every error that Recto raises on purpose.

    RectoError
    ├── ClientError                the caller can fix it (4xx)
    │   ├── InvalidRequest         400 invalid_request
    │   ├── NotAuthenticated       401 not_authenticated
    │   ├── NotAllowed             403 not_allowed
    │   ├── NotFound               404 not_found
    │   ├── Conflict               409 conflict
    │   ├── Erased                 410 erased
    │   ├── ChangedMeanwhile       412 changed_meanwhile
    │   └── VersionNeeded          428 version_needed
    ├── DependencyError            a service we call failed
    │   ├── DependencyTimeout      504 timeout           retriable
    │   ├── DependencyUnavailable  503 unavailable       retriable (5xx, connection refused, reset)
    │   ├── RateLimited            503 busy              retriable, with the seconds to wait
    │   ├── QuotaExhausted         503 quota_exhausted   final: retries will not help
    │   └── DependencyRefused      502 upstream_refused  final: it rejected our request (4xx)
    │       └── KeyRefused                               or our key (401, 403)
    ├── LeaseLost                  another worker took over this document; stop, write nothing
    ├── DocumentRejected           this object cannot be made searchable; the registry says why
    └── ConfigurationError         the deployment is misconfigured; fails at start

`code` is stable: clients may switch on it. `retriable` tells the ingest queue whether a retry can help.
"""

from typing import ClassVar

from shared.models import NO_USAGE


class RectoError(Exception):
    """The base class: a code, an HTTP status, and whether a retry can help."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    retriable: ClassVar[bool] = False

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (self.__doc__ or "").split("\n")[0])

    @property
    def message(self) -> str:
        """The message shown to the user."""
        return str(self)


MAX_NAME_CHARACTERS = 200


def cut_name(name: str) -> str:
    """Shorten a name sent by a client, so that an error message can repeat it."""
    return name if len(name) <= MAX_NAME_CHARACTERS else f"{name[:MAX_NAME_CHARACTERS]}…"


class ClientError(RectoError):
    """The request cannot be served as it is."""

    code, status = "invalid_request", 400


class InvalidRequest(ClientError):
    """The request is not in the expected form."""


class NotAuthenticated(ClientError):
    """A valid token is needed."""

    code, status = "not_authenticated", 401


class NotAllowed(ClientError):
    """This account may not do that."""

    code, status = "not_allowed", 403


class AccessLost(ClientError):
    """You may no longer read a document that this answer is being made from. Ask again."""

    code, status = "access_lost", 403


class NotFound(ClientError):
    """There is no such thing, or it is not yours."""

    code, status = "not_found", 404


class Conflict(ClientError):
    """Someone else changed it in the meantime."""

    code, status = "conflict", 409


class Erased(ClientError):
    """It was here, and has been erased."""

    code, status = "erased", 410


class ChangedMeanwhile(ClientError):
    """It is not the version that you have read: read it again, then change it."""

    code, status = "changed_meanwhile", 412


class VersionNeeded(ClientError):
    """Send `If-Match` with the ETag that you have read, so that no one else's change is lost."""

    code, status = "version_needed", 428


class DependencyError(RectoError):
    """A service we depend on failed.

    `dependency` names it ("embeddings", "vectors", "chat", "registry", "objects", "cache", "conversations"). `usage`
    are the tokens that were billed all the same.
    """

    code, status = "dependency_error", 502

    def __init__(self, dependency: str, message: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(f"{dependency}: {message}" if message else f"{dependency} failed.")
        self.dependency = dependency
        self.retry_after_s = retry_after_s
        self.usage = NO_USAGE

    def warning_about(self, part: str) -> str:
        """Return the warning of an answer without `part`: "model_unavailable", or "model_refused" if it lasts."""
        return f"{part}_{'unavailable' if self.retriable else 'refused'}"


class DependencyTimeout(DependencyError):
    """A dependency did not answer in time."""

    code, status, retriable = "timeout", 504, True


class DependencyUnavailable(DependencyError):
    """A dependency is down."""

    code, status, retriable = "unavailable", 503, True


class RateLimited(DependencyError):
    """A dependency asks us to slow down."""

    code, status, retriable = "busy", 503, True


class QuotaExhausted(DependencyError):
    """The account with a provider has no quota left."""

    code, status = "quota_exhausted", 503


class DependencyRefused(DependencyError):
    """A dependency rejected our request; a retry will not help."""

    code, status = "upstream_refused", 502


class KeyRefused(DependencyRefused):
    """A dependency rejected our API key."""


class LeaseLost(RectoError):
    """Another worker now holds the lease on this document."""

    code, status = "lease_lost", 409


class DocumentRejected(RectoError):
    """This object cannot be made searchable."""

    status = 422

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.reason_code = code


class ConfigurationError(RectoError):
    """The deployment is misconfigured."""

    code = "configuration_error"
