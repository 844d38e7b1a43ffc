"""The prototype of decision 18: an adapter on Pinecone's Documents API, against the requests the SDK makes.

It is no part of the product. It shows that the port can be served, and what the fusion by the client costs.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pinecone import Index
from pinecone.errors import PineconeValueError
from pinecone.models.documents.score_by import DenseVectorQuery, SparseVectorQuery
from pinecone.models.vectors.sparse import SparseValues

from shared.models import Match, SparseVector, VectorRecord

UNIT = [1.0, 0.0]
SPARSE = SparseVector([7], [0.5])


class DocumentIndex:
    """What the vector index does, with documents: `dense` and `sparse` are fields of the schema."""

    def __init__(self, index: Index) -> None:
        self._documents = index.documents

    def upsert(self, *, namespace: str, records: Sequence[VectorRecord]) -> None:
        self._documents.upsert(namespace=namespace, documents=[self._document(record) for record in records])

    def query(self, *, namespace: str, vector: Sequence[float], sparse: SparseVector, top_k: int) -> list[Match]:
        """Two searches; the sum is made here, of the stored vectors that come back."""
        clauses = (
            DenseVectorQuery(field="dense", values=list(vector)),
            SparseVectorQuery(field="sparse", sparse_values=SparseValues(list(sparse.indices), list(sparse.values))),
        )
        found: dict[str, Any] = {}
        for clause in clauses:
            answer = self._documents.search(
                namespace=namespace, score_by=[clause], top_k=top_k, include_fields=["text", "dense", "sparse"]
            )
            found |= {document.id: document for document in answer.matches}
        weights = dict(zip(sparse.indices, sparse.values, strict=True))
        matches = [
            Match(
                document_id,
                sum(a * b for a, b in zip(vector, document.dense, strict=True))
                + sum(weights.get(index, 0.0) * value for index, value in _terms(document.sparse)),
                {"text": document.text},
            )
            for document_id, document in found.items()
        ]
        return sorted(matches, key=lambda match: -match.score)[:top_k]

    def delete(self, *, namespace: str, ids: Sequence[str]) -> None:
        self._documents.delete(namespace=namespace, ids=list(ids))

    def list_ids(self, *, namespace: str, prefix: str) -> list[str]:
        return [each.id for each in self._documents.list(namespace=namespace, prefix=prefix)]

    @staticmethod
    def _document(record: VectorRecord) -> dict[str, Any]:
        assert record.sparse is not None
        sparse = {"indices": list(record.sparse.indices), "values": list(record.sparse.values)}
        return {"_id": record.id, "dense": list(record.values), "sparse": sparse, **record.metadata}


def _terms(sparse: Any) -> Iterator[tuple[int, float]]:
    fields = sparse if isinstance(sparse, dict) else {"indices": sparse.indices, "values": sparse.values}
    yield from zip(fields["indices"], fields["values"], strict=True)


class Recorder(ThreadingHTTPServer):
    """Answers each request with what is prepared for its last word, and keeps (path, API version, body)."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.seen: list[tuple[str, str, dict[str, Any]]] = []
        self.answers: dict[str, list[dict[str, Any]]] = {}


class Answering(BaseHTTPRequestHandler):
    server: Recorder

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append((self.path, self.headers["x-pinecone-api-version"], body))
        content = json.dumps(self.server.answers[self.path.rpartition("/")[2]].pop(0)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with Recorder() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def index(recorder: Recorder) -> Iterator[Index]:
    with Index(host=f"http://127.0.0.1:{recorder.server_port}", api_key="k") as client:
        yield client


def stored(document_id: str, dense: list[float], value: float, score: float) -> dict[str, Any]:
    sparse = {"indices": [7], "values": [value]}
    return {"_id": document_id, "_score": score, "text": document_id, "dense": dense, "sparse": sparse}


def test_chunks_become_documents(recorder: Recorder, index: Index) -> None:
    recorder.answers = {
        "upsert": [{"upserted_count": 1}],
        "delete": [{}],
        "list": [{"documents": [{"_id": "d#g#0"}], "namespace": "t", "usage": {"read_units": 1}}],
    }
    adapter = DocumentIndex(index)
    adapter.upsert(namespace="t", records=[VectorRecord("d#g#0", UNIT, {"text": "a", "page_start": 3}, SPARSE)])
    adapter.delete(namespace="t", ids=["d#g#0"])
    assert adapter.list_ids(namespace="t", prefix="d#g#") == ["d#g#0"]
    document = {
        "_id": "d#g#0",
        "dense": UNIT,
        "sparse": {"indices": [7], "values": [0.5]},
        "text": "a",
        "page_start": 3,
    }
    assert recorder.seen == [
        ("/namespaces/t/documents/upsert", "2026-07", {"documents": [document]}),
        ("/namespaces/t/documents/delete", "2026-07", {"ids": ["d#g#0"]}),
        ("/namespaces/t/documents/list", "2026-07", {"prefix": "d#g#"}),
    ]


def test_a_hybrid_search_is_two_and_their_sum_needs_the_vectors_back(recorder: Recorder, index: Index) -> None:
    both, words = stored("both", [0.6, 0.8], 1.0, 0.6), stored("words", [0.0, 1.0], 2.0, 1.0)
    told: dict[str, Any] = {"namespace": "t", "usage": {"read_units": 1}}
    pages = [{"matches": [both], **told}, {"matches": [words, both], **told}]
    recorder.answers = {"search": pages}
    matches = DocumentIndex(index).query(namespace="t", vector=UNIT, sparse=SPARSE, top_k=2)
    assert [(match.id, match.score) for match in matches] == [
        ("both", pytest.approx(0.6 + 0.5)),
        ("words", pytest.approx(1.0)),
    ]
    clauses = [body["score_by"][0] for _, _, body in recorder.seen]
    assert [clause["type"] for clause in clauses] == ["dense_vector", "sparse_vector"]
    assert all("dense" in body["include_fields"] for _, _, body in recorder.seen)


def test_the_api_does_not_add_a_dense_and_a_sparse_score(index: Index) -> None:
    sparse = SparseVectorQuery(field="sparse", sparse_values=SparseValues([7], [0.5]))
    with pytest.raises(PineconeValueError):
        index.documents.search(namespace="t", score_by=[DenseVectorQuery(field="dense", values=UNIT), sparse], top_k=1)
