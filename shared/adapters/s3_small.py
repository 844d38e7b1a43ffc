"""Small objects of the bucket, read whole and only when they changed."""

from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from threading import BoundedSemaphore, Thread
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from shared.adapters.aws import aws_errors
from shared.errors import DependencyTimeout
from shared.ports import SmallObject

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_GONE = {"404", "NoSuchKey", "NotFound"}
_UNCHANGED = {"304", "NotModified"}


READ_S = 2.0
"""Seconds a whole read may take: a question waits for it."""
MOST_AT_ONCE = 8
"""Reads under way: those that hang are left behind, and no more than these."""


class S3SmallObjects:
    """Implements `SmallObjectReader` on one bucket. A call takes `read_s` at most, however slowly the bytes come.

    The client's own timeout is one for each read, which a server outlasts that sends a byte now and then.
    """

    def __init__(self, client: "S3Client", bucket: str, *, read_s: float = READ_S) -> None:
        self._client = client
        self._bucket = bucket
        self._read_s = read_s
        self._free = BoundedSemaphore(MOST_AT_ONCE)

    def read_small(self, key: str, *, known_etag: str, most_bytes: int) -> SmallObject | None:
        """Return the object, without its bytes where its ETag is the known one; None where there is none.

        At most one byte more than `most_bytes` is read, so that a larger one shows. Raises `DependencyError`.
        """
        if not self._free.acquire(blocking=False):
            raise DependencyTimeout("objects", "too many reads hang")
        found: Future[SmallObject | None] = Future()

        def read() -> None:
            try:
                found.set_result(self._read(key, known_etag, most_bytes))
            except Exception as error:  # noqa: BLE001  whoever waits raises it
                found.set_exception(error)
            finally:
                self._free.release()

        Thread(target=read, name="small-object", daemon=True).start()
        try:
            return found.result(self._read_s)
        except NotInTime as error:
            raise DependencyTimeout("objects", "the object did not come in time") from error

    def _read(self, key: str, known_etag: str, most_bytes: int) -> SmallObject | None:
        changed_since = {"IfNoneMatch": f'"{known_etag}"'} if known_etag else {}
        with aws_errors("objects"):
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=key, **changed_since)  # type: ignore[arg-type]
            except ClientError as error:
                code = error.response.get("Error", {}).get("Code", "")
                status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
                if code in _UNCHANGED or status == 304:
                    return SmallObject(known_etag, None)
                if code in _GONE:
                    return None
                raise
            with answer["Body"] as body:
                return SmallObject(answer["ETag"].strip('"'), body.read(most_bytes + 1))
