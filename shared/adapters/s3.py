"""The S3 bucket: reads objects for ingest, lists them for maintenance, changes them for the API, reads small ones."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from threading import BoundedSemaphore
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from botocore.exceptions import ClientError, IncompleteReadError

from shared.adapters.aws import aws_errors
from shared.deadline import call_within
from shared.errors import ChangedMeanwhile, DependencyTimeout, NotFound
from shared.models import ObjectHead
from shared.ports import ListedObject, PresignedPost, SmallObject

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import (
        GetObjectOutputTypeDef,
        GetObjectRequestTypeDef,
        ListObjectsV2OutputTypeDef,
        ListObjectVersionsOutputTypeDef,
        ObjectIdentifierTypeDef,
        PutObjectRequestTypeDef,
    )


_GONE = {"404", "NoSuchKey", "NoSuchVersion", "NotFound"}
_NO_VERSION = {"400", "405", "InvalidArgument", "MethodNotAllowed"}
"""What HEAD answers for an unknown version id, and for that of a delete marker."""
_UNCHANGED = {"304", "NotModified"}
_CHANGED = {"412", "PreconditionFailed", "409", "ConditionalRequestConflict"}
"""What S3 answers to a conditional write that lost against an earlier or a simultaneous write."""
READ_S = 2.0
"""Maximum seconds of a whole read, because a question waits for it."""
MAX_AT_ONCE = 8
"""Maximum concurrent reads, including abandoned ones that have not ended."""
_READ_BYTES = 256 * 1024
_DELETE_BATCH = 1_000
"""Maximum objects in one DeleteObjects request (S3's limit)."""


class S3Objects:
    """Implements `ObjectReader`, `ObjectListing` and `ObjectStore` on one bucket."""

    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def head(self, key: str, *, version_id: str = "") -> ObjectHead | None:
        """Return this version of `key`, else the current one; None where it is gone (also if it is a delete marker)."""
        named = {"VersionId": version_id} if version_id else {}
        with aws_errors("objects"):
            try:
                found = self._client.head_object(Bucket=self._bucket, Key=key, **named)  # type: ignore[arg-type]
            except ClientError as error:
                code = error.response.get("Error", {}).get("Code")
                if code in _GONE or (version_id and code in _NO_VERSION):
                    return None
                raise
        return ObjectHead(
            key=key,
            version_id=found.get("VersionId", "") or found["ETag"].strip('"'),
            etag=found["ETag"].strip('"'),
            size_bytes=found["ContentLength"],
            last_modified=found["LastModified"],
            metadata=found.get("Metadata", {}),
        )

    def download(self, head: ObjectHead, path: Path) -> None:
        """Write this version's bytes to `path`, piece by piece. Raises `NotFound` if the version is gone."""
        request: GetObjectRequestTypeDef = {"Bucket": self._bucket, "Key": head.key, "IfMatch": f'"{head.etag}"'}
        if _versioned(head):
            request["VersionId"] = head.version_id
        with aws_errors("objects"):
            try:
                answer = self._client.get_object(**request)
            except ClientError as error:
                # 412 comes where the bucket keeps no versions and the object was replaced since HEAD.
                if error.response.get("Error", {}).get("Code") in _GONE | {"PreconditionFailed", "412"}:
                    raise NotFound("This version of the object is gone.") from error
                raise
            with path.open("wb") as file:
                for piece in answer["Body"].iter_chunks(_READ_BYTES):
                    file.write(piece)

    def folders(self, prefix: str) -> Iterator[str]:
        """Yield the distinct parts of keys between `prefix` and the next `/`."""
        for page in self._listing(Prefix=prefix, Delimiter="/"):
            for folder in page.get("CommonPrefixes", ()):
                yield folder["Prefix"].removeprefix(prefix).removesuffix("/")

    def under(self, prefix: str, *, after: str = "") -> Iterator[ListedObject]:
        """Yield the objects under `prefix` with keys after `after`, ordered by key."""
        for page in self._listing(Prefix=prefix, StartAfter=after):
            for found in page.get("Contents", ()):
                yield ListedObject(found["Key"], found["ETag"].strip('"'), found["LastModified"])

    def read(self, key: str, *, max_bytes: int) -> SmallObject | None:
        """Return the object and its ETag, or None; of one that is larger, its first `max_bytes` + 1 bytes."""
        with aws_errors("objects"):
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=key)
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") in _GONE:
                    return None
                raise
            return SmallObject(answer["ETag"].strip('"'), _start_of(answer, max_bytes + 1))

    def write(self, key: str, body: bytes, *, content_type: str, replacing: str | None = None) -> str:
        """Write an object and return its ETag.

        `replacing` is the ETag of the version to replace, or "" if there must be none; None writes in any case. Raises
        `ChangedMeanwhile` if another version is there by now, or if this write loses against a simultaneous one.
        """
        request: PutObjectRequestTypeDef = {
            "Bucket": self._bucket,
            "Key": key,
            "Body": body,
            "ContentType": content_type,
        }
        if replacing:
            request["IfMatch"] = f'"{replacing}"'
        elif replacing is not None:
            request["IfNoneMatch"] = "*"
        with aws_errors("objects"):
            try:
                return self._client.put_object(**request)["ETag"].strip('"')
            except ClientError as error:
                code = error.response.get("Error", {}).get("Code", "")
                # A key that is gone cannot be the version to replace.
                if code not in _CHANGED and not (replacing and code in _GONE):
                    raise
                lost = error
        # botocore sends a request again when its response is lost, and then meets its own write.
        found = self.read(key, max_bytes=len(body))
        if found is None or found.body != body:
            raise ChangedMeanwhile from lost
        return found.etag

    def _listing(self, **request: Any) -> "Iterator[ListObjectsV2OutputTypeDef]":
        pages = iter(self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, **request))
        while True:
            with aws_errors("objects"):
                page = next(pages, None)
            if page is None:
                return
            yield page

    def presigned_post(
        self,
        key: str,
        *,
        max_bytes: int,
        content_type: str,
        expires_s: int,
        metadata: Mapping[str, str] = MappingProxyType({}),
    ) -> PresignedPost:
        """Return a form that allows one upload to this key, of this type, of 1 to `max_bytes` bytes.

        The uploaded object has the user metadata, and no other.
        """
        stated = {f"x-amz-meta-{name}": value for name, value in metadata.items()}
        with aws_errors("objects"):
            form = self._client.generate_presigned_post(
                self._bucket,
                key,
                Fields={"Content-Type": content_type, **stated},
                Conditions=[
                    {"Content-Type": content_type},
                    *({name: value} for name, value in stated.items()),
                    ["content-length-range", 1, max_bytes],
                ],
                ExpiresIn=expires_s,
            )
        return PresignedPost(form["url"], form["fields"])

    def presigned_get(self, head: ObjectHead, *, expires_s: int, file_name: str, content_type: str) -> str:
        """Return a link that shows this version in a browser, as `content_type`, until it expires."""
        version = {"VersionId": head.version_id} if _versioned(head) else {}
        with aws_errors("objects"):
            return self._client.generate_presigned_url(
                "get_object",
                Params={
                    "Bucket": self._bucket,
                    "Key": head.key,
                    "ResponseContentType": content_type,
                    "ResponseContentDisposition": _inline(file_name),
                    **version,
                },
                ExpiresIn=expires_s,
            )

    def delete_all_versions(self, key: str) -> int:
        """Remove every version and delete marker of `key`; return how many there were."""
        return self.delete_versions(key)[0]

    def delete_versions(self, key: str, *, until: datetime | None = None) -> tuple[int, int]:
        """Remove versions and delete markers of `key` up to a time; return how many, and how many newer there are."""
        removed = newer = 0
        with aws_errors("objects"):
            batch: list[ObjectIdentifierTypeDef] = []
            for page in self._versions(key):
                # The prefix also matches longer keys ("a.pdf" and "a.pdf.pdf").
                entries = [
                    entry
                    for entry in (*page.get("Versions", ()), *page.get("DeleteMarkers", ()))
                    if entry["Key"] == key
                ]
                old = [entry for entry in entries if until is None or entry["LastModified"] <= until]
                newer += len(entries) - len(old)
                batch += [{"Key": key, "VersionId": entry["VersionId"]} for entry in old]
                while len(batch) >= _DELETE_BATCH:
                    removed += self._delete(batch[:_DELETE_BATCH])
                    batch = batch[_DELETE_BATCH:]
            return removed + self._delete(batch), newer

    def _versions(self, key: str) -> "Iterator[ListObjectVersionsOutputTypeDef]":
        marker: dict[str, Any] = {}
        while True:  # a paginator would bypass the client's time limit
            page = self._client.list_object_versions(Bucket=self._bucket, Prefix=key, **marker)
            yield page
            if not page.get("IsTruncated"):
                return
            marker = {"KeyMarker": page["NextKeyMarker"], "VersionIdMarker": page["NextVersionIdMarker"]}

    def _delete(self, batch: "list[ObjectIdentifierTypeDef]") -> int:
        if not batch:
            return 0
        answer = self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": batch, "Quiet": True})
        for failed in answer.get("Errors", ()):
            # DeleteObjects reports errors per object inside a 200 response: raise them.
            response = {"Error": {"Code": failed.get("Code", ""), "Message": failed.get("Message", "")}}
            raise ClientError({**response, "ResponseMetadata": {"HTTPStatusCode": 503}}, "DeleteObjects")  # type: ignore[typeddict-item]
        return len(batch)


def _start_of(answer: "GetObjectOutputTypeDef", most: int) -> bytes:
    """Return the first `most` bytes of an object, or all if it has fewer. Raises botocore's errors.

    `with answer["Body"]` would give urllib3's stream, whose errors nobody translates, and a read of a number of bytes
    does not notice that the connection broke before the end.
    """
    with closing(answer["Body"]) as body:
        start = body.read(most)
    stated = answer.get("ContentLength", 0)  # an answer in pieces states none
    if len(start) < min(most, stated):
        raise IncompleteReadError(actual_bytes=len(start), expected_bytes=stated)
    return start


def _versioned(head: ObjectHead) -> bool:
    """Return whether the version id is real; without bucket versioning, the ETag is used instead."""
    return head.version_id not in {"", "null", head.etag}


def _inline(file_name: str) -> str:
    """Return the header of RFC 6266: a plain name, and the whole one for browsers that read it."""
    printable = "".join(filter(str.isprintable, file_name))
    plain = "".join(c for c in printable if c.isascii() and c not in '"\\') or "document.pdf"
    return f"inline; filename=\"{plain}\"; filename*=UTF-8''{quote(printable, safe='')}"


class S3SmallObjects:
    """Implements `SmallObjectReader` on one bucket. A whole read takes at most `read_s`, even from a slow server."""

    def __init__(self, client: "S3Client", bucket: str, *, read_s: float = READ_S) -> None:
        self._client = client
        self._bucket = bucket
        self._read_s = read_s
        self._free = BoundedSemaphore(MAX_AT_ONCE)

    def read_small(self, key: str, *, known_etag: str, max_bytes: int) -> SmallObject | None:
        """Return the object, without its bytes if its ETag is the known one, or None. Raises `DependencyError`.

        Reads up to `max_bytes` + 1 bytes, so that the caller can detect a larger object.
        """
        if not self._free.acquire(blocking=False):
            raise DependencyTimeout("objects", "too many earlier reads have not ended")

        def read() -> SmallObject | None:
            try:
                return self._read(key, known_etag, max_bytes)
            finally:
                self._free.release()

        return call_within(self._read_s, "objects", read)

    def _read(self, key: str, known_etag: str, max_bytes: int) -> SmallObject | None:
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
            return SmallObject(answer["ETag"].strip('"'), _start_of(answer, max_bytes + 1))
