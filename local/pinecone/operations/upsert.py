"""POST /vectors/upsert."""

from local.pinecone import limits
from local.pinecone.answers import Answer, stored_name, write_answer
from local.pinecone.database import Index
from local.pinecone.errors import DataError
from local.pinecone.fields import json_list, namespace, parse
from local.pinecone.records import record_from

FIELDS = {"vectors": json_list, "namespace": namespace}


def upsert(index: Index, body: bytes) -> Answer:
    """Store vectors, replacing those of the same id; the namespace comes into being with its first vector."""
    request = parse(body, FIELDS)
    vectors = request["vectors"] or []
    if not vectors:
        raise DataError("No vectors provided for upsert")
    if len(vectors) > limits.MAX_UPSERT_VECTORS:
        raise DataError(
            f"The requested batch size of {len(vectors)} exceeds the maximum batch size of {limits.MAX_UPSERT_VECTORS}"
        )
    records = [record_from(vector, index.space) for vector in vectors]
    handle = index.namespace(stored_name(request["namespace"]), create=True)
    lsn = handle.write(lambda _committed: {record.id: record for record in records})
    return write_answer({"upsertedCount": len(records)}, lsn)
