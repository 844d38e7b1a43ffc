"""Small objects read whole, and only when they changed: against moto."""

import pytest

from shared.adapters.s3 import S3SmallObjects
from shared.errors import DependencyError
from tests.support.moto_aws import MockedAws

KEY = "glossary/acme.json"


def test_what_is_not_there_is_none(aws: MockedAws):
    assert S3SmallObjects(aws.s3, aws.bucket).read_small("glossary/nobody.json", known_etag="", max_bytes=10) is None


def test_an_object_comes_with_its_etag_and_its_bytes_only_once(aws: MockedAws):
    reader = S3SmallObjects(aws.s3, aws.bucket)
    aws.s3.put_object(Bucket=aws.bucket, Key=KEY, Body=b"one")
    first = reader.read_small(KEY, known_etag="", max_bytes=10)
    assert first is not None
    assert first.body == b"one"
    again = reader.read_small(KEY, known_etag=first.etag, max_bytes=10)
    assert again is not None
    assert (again.etag, again.body) == (first.etag, None)
    aws.s3.put_object(Bucket=aws.bucket, Key=KEY, Body=b"two")
    changed = reader.read_small(KEY, known_etag=first.etag, max_bytes=10)
    assert changed is not None
    assert changed.body == b"two"


def test_of_a_large_object_one_byte_too_many_is_read_and_no_more(aws: MockedAws):
    aws.s3.put_object(Bucket=aws.bucket, Key=KEY, Body=b"x" * 1_000)
    found = S3SmallObjects(aws.s3, aws.bucket).read_small(KEY, known_etag="", max_bytes=10)
    assert found is not None
    assert found.body == b"x" * 11


def test_a_refusal_is_an_error_of_the_tree(aws: MockedAws):
    with pytest.raises(DependencyError, match="objects"):
        S3SmallObjects(aws.s3, "no-such-bucket-anywhere").read_small(KEY, known_etag="", max_bytes=10)
