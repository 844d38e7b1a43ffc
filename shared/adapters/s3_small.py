"""Small objects of the bucket, read whole and only when they changed."""

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from shared.adapters.aws import aws_errors
from shared.ports import SmallObject

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_GONE = {"404", "NoSuchKey", "NotFound"}
_UNCHANGED = {"304", "NotModified"}


class S3SmallObjects:
    """Implements `SmallObjectReader` on one bucket. The client's own read timeout and attempts bound a call."""

    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def read_small(self, key: str, *, known_etag: str, most_bytes: int) -> SmallObject | None:
        """Return the object, without its bytes where its ETag is the known one; None where there is none.

        At most one byte more than `most_bytes` is read, so that a larger one shows. Raises `DependencyError`.
        """
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
