"""FAQs: one object of the bucket each, with the status of its ingest; and all of them as a CSV file."""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched, islice

from functions.query.ports import ObjectStore
from functions.query.readable import ReadableDocuments
from functions.query.understanding.question import normalized
from shared.deadline import Workers
from shared.errors import InvalidRequest
from shared.models import Document, DocumentError, DocumentStatus, document_id_of

JSON = "application/json"
MAX_BYTES = 256 * 1024
"""Maximum bytes of an FAQ's object that the API shows; ingest takes 32 KB of text."""
AT_ONCE = 8
"""Objects read or written at the same time."""
LOOKED_UP = 100
"""Ids of a listing whose rules are read at a time."""
FAQ_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
"""What an id looks like: the object's name without `.json`. Objects of other names are documents only."""

_ID = re.compile(FAQ_ID)
_WORKERS = Workers("faqs")


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with its answer, in the form that ingest reads (docs/documents.md)."""

    question: str
    answer: str
    language: str = ""
    department_id: str = ""
    tags: Mapping[str, str | Sequence[str]] = field(default_factory=dict)

    @property
    def body(self) -> bytes:
        """The object's bytes, the same for the same values."""
        values = {name: getattr(self, name) for name in ("question", "answer", "language", "department_id", "tags")}
        stored = {name: value for name, value in values.items() if value}
        return json.dumps(stored, ensure_ascii=False, indent=1).encode()

    @classmethod
    def of(cls, body: bytes) -> "Pair":
        """Read an object; fields that are missing or of another type, as in one written by hand, become empty."""
        try:
            stored = json.loads(body)
        except (ValueError, RecursionError):
            stored = None
        held = stored if isinstance(stored, dict) else {}
        tags = held.get("tags")
        return cls(
            **{name: _text(held.get(name)) for name in ("question", "answer", "language", "department_id")},
            tags={str(name): _tag(value) for name, value in tags.items()} if isinstance(tags, dict) else {},
        )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _tag(value: object) -> str | Sequence[str]:
    return [_text(each) for each in value] if isinstance(value, list) else _text(value)


@dataclass(frozen=True, slots=True)
class Faq:
    """An FAQ as it is in the bucket. `status` and `error` are those of the ingest of this version."""

    faq_id: str
    document_id: str
    pair: Pair
    etag: str
    status: DocumentStatus
    error: DocumentError | None = None


def key_of(tenant: str, faq_id: str) -> str:
    """Return the key of an FAQ's object."""
    return f"faq/{tenant}/{faq_id}.json"


def is_faq_id(faq_id: str) -> bool:
    """Say whether this can be the id of an FAQ."""
    return _ID.fullmatch(faq_id) is not None


def read_faq(tenant: str, faq_id: str, objects: ObjectStore, registry: ReadableDocuments) -> Faq | None:
    """Return an FAQ; None if there is none, or if the reader may not read it. Raises `DependencyError`."""
    key = key_of(tenant, faq_id)
    if not registry.is_readable(tenant, key):
        return None
    found = objects.read(key, max_bytes=MAX_BYTES)
    if found is None:
        return None
    return faq_of(tenant, faq_id, found.body or b"", found.etag, registry)


def faq_of(tenant: str, faq_id: str, body: bytes, etag: str, registry: ReadableDocuments) -> Faq:
    """Return the FAQ with these bytes: PENDING until ingest has handled this version."""
    document_id = document_id_of(tenant, key_of(tenant, faq_id))
    document = registry.get(tenant, document_id)
    if document is not None and document.etag == etag and document.status is not DocumentStatus.DELETED:
        return Faq(faq_id, document_id, Pair.of(body), etag, document.status, document.error)
    return Faq(faq_id, document_id, Pair.of(body), etag, _underway(document))


def _underway(document: Document | None) -> DocumentStatus:
    being_read = document is not None and document.status is DocumentStatus.PROCESSING
    return DocumentStatus.PROCESSING if being_read else DocumentStatus.PENDING


def list_faqs(
    tenant: str, *, limit: int, after: str, objects: ObjectStore, registry: ReadableDocuments
) -> tuple[Sequence[Faq], str]:
    """Return FAQs ordered by id, and the last id if there are more. Raises `DependencyError`."""
    ids = list(islice(_readable_ids(tenant, after, objects, registry), limit + 1))
    found: list[Faq] = []
    for some in batched(ids[:limit], AT_ONCE, strict=False):
        reads = [_WORKERS.submit(read_faq, tenant, each, objects, registry) for each in some]
        found += [faq for read in reads if (faq := read.result()) is not None]
    return found, ids[limit - 1] if len(ids) > limit else ""


def _readable_ids(tenant: str, after: str, objects: ObjectStore, registry: ReadableDocuments) -> Iterator[str]:
    """Yield the ids of the FAQs that the reader may read: neither the number nor the ids of the others are shown."""
    for some in batched(_ids(tenant, after, objects), LOOKED_UP, strict=False):
        hidden = registry.unreadable_keys(tenant, (key_of(tenant, each) for each in some))
        yield from (each for each in some if key_of(tenant, each) not in hidden)


def _ids(tenant: str, after: str, objects: ObjectStore) -> Iterator[str]:
    folder = f"faq/{tenant}/"
    for listed in objects.under(folder, after=key_of(tenant, after) if after else ""):
        name = listed.key.removeprefix(folder)
        if name.endswith(".json") and is_faq_id(name.removesuffix(".json")):
            yield name.removesuffix(".json")


# --- the CSV file ---

COLUMNS = ("id", "question", "answer", "language", "department_id", "tags", "etag")
MAX_ROWS = 500
"""Rows of one import: about five seconds of requests to S3."""
MAX_EXPORTED = 1_000
_DELIMITERS = ",;\t"
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
"""The beginning of a cell that a spreadsheet takes for a formula, after any number of our own apostrophes.

OWASP, "CSV Injection", https://owasp.org/www-community/attacks/CSV_Injection, read 2026-11-23."""


@dataclass(frozen=True, slots=True)
class CsvRow:
    """One row of an imported file: its number as a spreadsheet shows it, and its cells by column."""

    number: int
    cells: Mapping[str, str]


def csv_of(faqs: Iterable[Faq]) -> str:
    """Return FAQs as CSV with a header (RFC 4180); a cell that could be taken for a formula gets an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for faq in faqs:
        pair = faq.pair
        tags = json.dumps(pair.tags, ensure_ascii=False) if pair.tags else ""
        cells = (faq.faq_id, pair.question, pair.answer, pair.language, pair.department_id, tags, faq.etag)
        writer.writerow(map(guarded, cells))
    return text.getvalue()


def guarded(cell: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would run as a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """Return the cell without that apostrophe."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def rows_of(body: bytes) -> Sequence[CsvRow]:
    """Read a CSV file in UTF-8 whose first row names columns of `COLUMNS`, separated by commas, semicolons or tabs.

    Empty rows are left out. Raises `InvalidRequest` for a file that cannot be read as a whole.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest("The file is not in UTF-8: save it as “CSV UTF-8”.") from error
    header = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = [name.strip().lower() for name in next(reader, [])]
        _check(columns)
        rows = [
            CsvRow(number, dict(zip(columns, map(unguarded, cells), strict=False)))
            for number, cells in enumerate(islice(reader, MAX_ROWS + 1), start=2)
            if any(map(str.strip, cells))
        ]
    except csv.Error as error:
        raise InvalidRequest(f"The file is not readable as CSV at line {reader.line_num}: {error}.") from error
    if len(rows) > MAX_ROWS:
        raise InvalidRequest(f"The file has more than {MAX_ROWS} rows: import it in parts.")
    return rows


def _check(columns: Sequence[str]) -> None:
    unknown = sorted(set(columns) - set(COLUMNS))
    if unknown or len(set(columns)) < len(columns) or not {"question", "answer"} <= set(columns):
        raise InvalidRequest(
            f"The first row must name the columns, question and answer at least; known are {', '.join(COLUMNS)}."
        )


def id_of_question(question: str, language: str) -> str:
    """Return the id of an imported question without one: the same when the file is imported again."""
    said = f"{normalized(question).casefold()}\0{language.casefold()}"
    return f"q-{hashlib.sha256(said.encode()).hexdigest()[:24]}"
