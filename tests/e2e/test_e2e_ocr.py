"""A scan that is put into the bucket is read by OCR, answered from, and forgotten when it is deleted."""

from local.stack import users
from local.stack.laptop import Laptop
from shared.models import document_id_of
from tests.support.ingest import scan_of
from tests.support.waiting import until

PAGE = (
    "The lighthouse of Brimholm was lit for the first time in 1874. Its lamp burned herring oil until 1921, "
    "and the keeper climbed 212 steps every evening to trim the wick. "
)


def test_a_scan_is_answered_from_with_its_place_on_the_page(laptop: Laptop, samples: dict[str, str]) -> None:
    key = f"uploads/{users.DEMO.tenant}/ocr/lighthouse.pdf"
    laptop.aws.s3.put_object(Bucket=laptop.deployed().bucket, Key=key, Body=scan_of([PAGE]))
    document_id = document_id_of(users.DEMO.tenant, key)
    with laptop.client(users.DEMO) as client:
        document = client.wait_until_final(document_id)
        assert (document["status"], document["error"]) == ("READY", None)
        answer = client.query("How many steps did the keeper of the lighthouse of Brimholm climb?")
        (citation,) = [each for each in answer["citations"] if each["document_id"] == document_id][:1]
        assert citation["ocr"] is True
        assert "212 steps" in citation["quote"]
        assert citation["rects"]
        assert client.delete_document(document_id)["status"] == "DELETING"
        path = f"/documents/{document_id}"
        until(lambda: client.request("GET", path).status_code, lambda status: status == 404, what="the deletion")
    tables = laptop.deployed().of_type("AWS::DynamoDB::Table")
    (table,) = [each.physical_id for each in tables if each.logical_id == "DocumentsTable"]
    left = laptop.aws.dynamodb.query(
        TableName=table,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": f"OCR#{users.DEMO.tenant}#{document_id}"}},
    )
    assert left["Items"] == []
