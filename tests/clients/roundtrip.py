"""A round trip with the generated Python client: `python roundtrip.py URL TOKEN`; mypy --strict checks it."""

import sys

from recto_client import AuthenticatedClient, Client
from recto_client.api.asking import ask
from recto_client.api.conversations import read_conversation
from recto_client.api.documents import announce_upload, list_documents
from recto_client.models import (
    ConversationOut,
    DocumentListOut,
    DocumentStatus,
    FilterConditionIn,
    FilterIn,
    Problem,
    QueryBody,
    QueryOut,
    UploadBody,
    UploadOut,
)


def main(url: str, token: str) -> None:
    """Ask, read the conversation, announce an upload, and be refused twice. Raises `AssertionError`."""
    client = AuthenticatedClient(base_url=url, token=token, timeout=None)

    listed = list_documents.sync(client=client, limit=1, status=DocumentStatus.READY)
    assert isinstance(listed, DocumentListOut), listed
    (document,) = listed.documents
    assert document.title == "Orsk Lighthouse Handbook"

    about = FilterIn(document_id=FilterConditionIn(in_=[document.document_id]))
    question = "How often must the lens of the lighthouse lamp be cleaned?"
    asked = ask.sync(client=client, body=QueryBody(question=question, filter_=about))
    assert isinstance(asked, QueryOut), asked
    assert "Thursday" in asked.answer
    assert asked.citations[0].page_start == 2

    kept = read_conversation.sync(asked.conversation_id, client=client)
    assert isinstance(kept, ConversationOut), kept
    assert [message.role for message in kept.messages] == ["user", "assistant"]

    upload = announce_upload.sync(client=client, body=UploadBody(filename="reports/2024.pdf"))
    assert isinstance(upload, UploadOut), upload
    assert upload.upload.fields["Content-Type"] == "application/pdf"

    wrong = ask.sync_detailed(client=client, body=QueryBody(question="x", filter_=FilterIn(or_=[])))
    assert wrong.status_code == 422
    assert isinstance(wrong.parsed, Problem)
    assert wrong.parsed.path == "filter.$or"

    nobody = announce_upload.sync_detailed(client=Client(base_url=url), body=UploadBody(filename="a.pdf"))
    assert isinstance(nobody.parsed, Problem)
    assert nobody.parsed.code == "not_authenticated"


main(*sys.argv[1:])
sys.stdout.write("python: ok\n")
