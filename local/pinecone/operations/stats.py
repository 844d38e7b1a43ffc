"""POST and GET /describe_index_stats."""

from local.pinecone.answers import Answer, shown_name
from local.pinecone.database import Index
from local.pinecone.errors import DataError
from local.pinecone.fields import json_object, parse

FIELDS = {"filter": json_object}


def describe_index_stats(index: Index, body: bytes) -> Answer:
    """Count the records of each namespace. Serverless indexes refuse a filter here, and so does this one."""
    if parse(body, FIELDS)["filter"]:
        raise DataError("Serverless and Starter indexes do not support describing index stats with metadata filtering")
    counts = {handle.row.name: handle.count() for handle in index.namespaces()}
    sparse_only = index.space.dimension is None
    return Answer(
        {
            "namespaces": {shown_name(name): {"vectorCount": n} for name, n in counts.items() if n or name},
            "indexFullness": 0,
            "totalVectorCount": sum(counts.values()),
            **({} if sparse_only else {"dimension": index.space.dimension}),
            "metric": index.space.metric,
            "vectorType": "sparse" if sparse_only else "dense",
            "memoryFullness": 0,
            "storageFullness": 0,
        }
    )
