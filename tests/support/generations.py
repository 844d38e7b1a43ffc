"""What is published, as generations."""

from collections.abc import Sequence

from functions.query.ports import PublishedDocuments


def generations(
    registry: PublishedDocuments, tenant: str, document_ids: Sequence[str], *, index_version: int = 1
) -> dict[str, str]:
    """Map each published document to its generation."""
    shown = registry.published_documents(tenant, document_ids, index_version=index_version)
    return {document_id: each.generation for document_id, each in shown.items()}
