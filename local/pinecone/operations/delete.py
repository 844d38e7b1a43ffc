"""POST /vectors/delete: by id, by filter, or all of a namespace."""

from local.pinecone.answers import Answer, existing_namespace, write_answer
from local.pinecone.database import Changes, Committed, Index
from local.pinecone.errors import DataError
from local.pinecone.fields import boolean, json_object, namespace, parse, vector_ids
from local.pinecone.filters import parse_filter

FIELDS = {"ids": vector_ids, "deleteAll": boolean, "filter": json_object, "namespace": namespace}


def delete(index: Index, body: bytes) -> Answer:
    """Remove records; unknown ids are no error, an unknown namespace is. A filter makes the vendor ignore the ids."""
    request = parse(body, FIELDS)
    if request["deleteAll"] and request["ids"]:
        raise DataError("No explicit IDs allowed when delete_all=true")
    if request["deleteAll"] and request["filter"] is not None:
        raise DataError("No filter allowed when delete_all=true")
    if request["filter"] is not None and not request["filter"]:
        raise DataError("Delete with empty metadata filter is not allowed")
    if not (request["deleteAll"] or request["ids"] or request["filter"]):
        raise DataError("Must provide either IDs, a filter or delete_all=true for delete")
    node = parse_filter(request["filter"]) if request["filter"] else None
    handle = existing_namespace(index, request["namespace"])

    def decide(committed: Committed) -> Changes:
        if request["deleteAll"]:
            ids = committed.ids()
        elif node is not None:
            ids = committed.select(node)
        else:
            ids = [record_id for record_id in request["ids"] if committed.get(record_id) is not None]
        return dict.fromkeys(ids)

    return write_answer({}, handle.write(decide))
