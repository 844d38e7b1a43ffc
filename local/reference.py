"""The API's reference page, `/docs` on the laptop: made from the OpenAPI document, in one file that fetches nothing."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from functions.query.api.openapi import DocumentedApi, operations_of

PATH = "/docs"
STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1rem; }
nav { columns: 20rem; overflow-wrap: anywhere; margin: 1rem 0 2rem; } nav h2 { font-size: 1rem; margin: .6rem 0 0; }
nav li { list-style: none; }
nav ul, h1, h2, h3 { margin: 0; padding: 0; } h2 { margin-top: 2rem; } a { color: inherit; }
article { border-top: 1px solid var(--line); padding: 1rem 0; } h3 code { font-size: 1rem; }
pre { background: var(--soft); border-radius: .3rem; overflow-x: auto; padding: .6rem; font-size: .85rem; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid var(--line); padding: .2rem .4rem; text-align: left; vertical-align: top; }
.method { border-radius: .3rem; background: var(--soft); font: 600 .8rem monospace; padding: .1rem .4rem; }
"""


class WithReference:
    """ASGI application: serves the reference page at `/docs` without a token, and passes everything else on."""

    def __init__(self, app: ASGIApp, documented: DocumentedApi) -> None:
        self._app = app
        self._documented = documented

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection as ASGI says."""
        if scope["type"] == "http" and scope["path"] == PATH and scope["method"] in ("GET", "HEAD"):
            url = str(Request(scope).base_url).rstrip("/")
            await HTMLResponse(page(self._documented, url))(scope, receive, send)
            return
        await self._app(scope, receive, send)


@cache
def page(documented: DocumentedApi, url: str) -> str:
    """Return the page as HTML; `url` is what its curl lines call."""
    document = documented.openapi()
    by_tag: dict[str, list[tuple[str, str, dict[str, Any]]]] = {tag["name"]: [] for tag in document["tags"]}
    for path, method, operation in operations_of(document):
        by_tag[operation["tags"][0]].append((path, method, operation))
    about = {tag["name"]: tag["description"] for tag in document["tags"]}
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>{escape(document['info']['title'])} API</title><style>{STYLE}</style>",
        f"<h1>{escape(document['info']['title'])} API {escape(document['info']['version'])}</h1>",
        *(f"<p>{_text(each)}</p>" for each in document["info"]["description"].split("\n\n")),
        f"<p><code>{escape(url)}</code> · <a href=openapi.json>openapi.json</a></p><nav>",
    ]
    for tag, operations in by_tag.items():
        parts += [f"<h2>{escape(tag)}</h2><ul>", *(_entry(*each) for each in operations), "</ul>"]
    parts.append("</nav>")
    for tag, operations in by_tag.items():
        parts += [f"<h2>{escape(tag)}</h2><p>{escape(about[tag])}</p>"]
        parts += ["".join(_article(document, url, *each)) for each in operations]
    return "\n".join(parts)


def _entry(path: str, method: str, operation: Mapping[str, Any]) -> str:
    name = f"<span class=method>{method.upper()}</span> {escape(path)}"
    return f"<li><a href='#{operation['operationId']}'>{name}</a></li>"


def _article(
    document: Mapping[str, Any], url: str, path: str, method: str, operation: Mapping[str, Any]
) -> Iterator[str]:
    yield f"<article id='{operation['operationId']}'><h3><span class=method>{method.upper()}</span> "
    yield f"<code>{escape(path)}</code> {escape(operation['operationId'])}</h3>"
    yield from (f"<p>{_text(each)}</p>" for each in operation.get("description", "").split("\n\n") if each)
    if parameters := operation.get("parameters"):
        yield "<table><tr><th>Parameter<th>In<th>Schema<th>Meaning"
        for each in parameters:
            schema = json.dumps({name: value for name, value in each["schema"].items() if name != "title"})
            name = each["name"] + ("" if each.get("required") else "?")
            told = (name, each["in"], schema, each.get("description", ""))
            yield "<tr>" + "".join(f"<td>{_text(text)}" for text in told)
        yield "</table>"
    body = next(iter(operation.get("requestBody", {}).get("content", {}).items()), None)
    yield f"<pre>{escape(_curl(url, path, method, operation, document, body))}</pre>"
    yield "<table><tr><th>Status<th>Meaning"
    for status, answer in operation["responses"].items():
        yield f"<tr><td>{status}<td>{_text(_resolved(document, answer)['description'])}"
    yield "</table>"
    for status, answer in operation["responses"].items():
        for media_type, content in answer.get("content", {}).items():
            if (example := _example(document, content)) is not None:
                yield f"<details><summary>{status} {escape(media_type)}</summary>{_shown(example)}</details>"
    if stream := operation.get("x-event-stream"):
        yield f"<details><summary>{escape(stream['accept'])}: {_text(stream['description'])}</summary>"
        yield f"{_shown(stream['example'])}</details>"
    yield "</article>"


def _curl(
    url: str,
    path: str,
    method: str,
    operation: Mapping[str, Any],
    document: Mapping[str, Any],
    body: tuple[str, Mapping[str, Any]] | None,
) -> str:
    line = f"curl -s {'' if method == 'get' else f'-X {method.upper()} '}"
    if operation.get("security") != []:
        line += '-H "Authorization: Bearer $TOKEN" '
    if body is not None:
        media_type, content = body
        example = _example(document, content)
        sent = example if isinstance(example, str) else json.dumps(example, ensure_ascii=False)
        line += f"-H 'Content-Type: {media_type}' -d '{sent}' "
    return f"{line}'{url}{path}'"


def _text(markdown: str) -> str:
    """Return a sentence as HTML, with text in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(markdown))


def _shown(example: Any) -> str:
    text = example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False)
    return f"<pre>{escape(text)}</pre>"


def _example(document: Mapping[str, Any], content: Mapping[str, Any]) -> Any:
    if "example" in content:
        return content["example"]
    schema = _resolved(document, content.get("schema", {}))
    return next(iter(schema.get("examples", ())), None)


def _resolved(document: Mapping[str, Any], value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow a reference to a component."""
    if "$ref" not in value:
        return value
    _, _, kind, name = value["$ref"].split("/")
    found: Mapping[str, Any] = document["components"][kind][name]
    return found
