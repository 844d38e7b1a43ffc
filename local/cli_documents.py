"""The verbs `documents` and `delete`."""

import argparse
import difflib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.markup import escape

from local.client import ApiClient
from local.report import counted
from local.stack.config import LocalStackError
from local.stack.laptop import Laptop
from local.stack.users import USERS

type Document = Mapping[str, Any]

LONGEST_NAME = 60
"""Characters of a name in a table of documents; `--json` has it whole."""


def name_of(key: str) -> str:
    """Return the name a document was uploaded under; of a document that is no upload, its kind and name."""
    kind, _, rest = key.partition("/")
    name = rest.partition("/")[2]
    return name if kind == "uploads" else f"{kind}/{name}"


def lines_of(documents: Sequence[Document]) -> list[str]:
    """Return a table of documents with rich's markup: status, pages, name, and its title or what is wrong with it."""
    width = max((len(name_of(str(each["key"]))) for each in documents), default=0)
    return [_line(each, min(width, LONGEST_NAME)) for each in documents]


def _line(document: Document, width: int) -> str:
    status, pages = str(document["status"]), document["page_count"]
    colour = {"READY": "green", "PARTIAL": "green", "PENDING": "yellow", "PROCESSING": "yellow"}.get(status, "red")
    problem = (document.get("error") or {}).get("message")
    told = escape(str(problem or document["title"]))
    read = counted(pages, "page") if pages else ""
    # A key may hold a line break, which would tear the table apart.
    name = "".join(each if each.isprintable() else "�" for each in name_of(str(document["key"])))
    name = f"{name[: width - 1]}…" if 0 < width < len(name) else name
    return f"[{colour}]{status:10}[/] {read:>11}  {escape(name):{width}}  [dim]{told}[/]"


def counts_of(documents: Iterable[Document]) -> str:
    """Return how many documents there are, and of which status."""
    counts = Counter(str(each["status"]) for each in documents)
    total = counts.total()
    listed = ", ".join(f"{count:,} {status}" for status, count in counts.most_common())
    return f"{counted(total, 'document')}: {listed}" if total else "no documents"


def documents(laptop: Laptop, arguments: argparse.Namespace) -> int:
    """List the tenant's documents, all or those whose name or title contains the words searched for."""
    with laptop.client(USERS[arguments.tenant], streaming=True) as api:
        found = [each for each in api.documents(limit=200, status=arguments.status) if _holds(each, arguments.search)]
    if arguments.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return 0
    for line in lines_of(sorted(found, key=lambda each: name_of(str(each["key"])))):
        laptop.report.markup(line)
    if found:
        laptop.report.say(f"{counts_of(found)}.")
    elif arguments.search or arguments.status:
        laptop.report.say("No document matches.")
    else:
        laptop.report.say("There are no documents yet: `python -m local upload FILE` adds some.")
    return 0


def _holds(document: Document, search: Sequence[str]) -> bool:
    text = f"{name_of(str(document['key']))} {document['title']}".casefold()
    return all(word.casefold() in text for word in search)


def delete(laptop: Laptop, arguments: argparse.Namespace) -> int:
    """Delete documents named by their names or ids, after asking."""
    with laptop.client(USERS[arguments.tenant], streaming=True) as api:
        known = list(api.documents(limit=200))
        chosen = [_named(name, known) for name in dict.fromkeys(arguments.names)]
        for document in chosen:
            laptop.report.markup(_line(document, 0))
        if not arguments.yes and not _confirmed(chosen):
            laptop.report.say("Nothing was deleted.")
            return 1
        for document in chosen:
            _delete(api, document, laptop)
    return 0


def _delete(api: ApiClient, document: Document, laptop: Laptop) -> None:
    api.delete_document(str(document["document_id"]))
    laptop.report.say(f"Deleted: {name_of(str(document['key']))}. No answer uses it from now on.")


def _named(name: str, known: Sequence[Document]) -> Document:
    """Return the document with that id, key or name, or with that file name if it is the only one."""
    by_name = {name_of(str(each["key"])): each for each in known}
    for each in known:
        if name in {each["document_id"], each["key"]}:
            return each
    if name in by_name:
        return by_name[name]
    similar = [full for full in by_name if full.rsplit("/", 1)[-1] == name]
    if len(similar) == 1:
        return by_name[similar[0]]
    if similar:
        raise LocalStackError(f"Several documents are called {name}: {', '.join(sorted(similar))}. Say which one.")
    nearest = difflib.get_close_matches(name, by_name, n=3)
    meant = f" Did you mean {' or '.join(nearest)}?" if nearest else ""
    raise LocalStackError(f"There is no document {name}.{meant} `python -m local documents` lists all.")


def _confirmed(chosen: Sequence[Document]) -> bool:
    if not sys.stdin.isatty():
        raise LocalStackError("This deletes documents for good: add --yes.")
    what = "this document" if len(chosen) == 1 else f"these {len(chosen)} documents"
    return input(f"Delete {what} for good? [y/N] ").strip().lower() in {"y", "yes"}
