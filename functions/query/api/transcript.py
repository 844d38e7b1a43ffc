"""A conversation as a Markdown file. Titles, quotes and answers come from PDFs that anybody may have written, so their
text is escaped: none of it is read as markup."""

import re
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import quote

from functions.query.api.schemas import ClaimOut, ConversationOut, MessageOut, StoredCitationOut
from functions.query.grounding.sanitizing import plain, plain_name
from shared.text import counted

_MARKUP = re.compile(r"([\\`*_{}\[\]<>&~|$^@#]|:(?=//)|(?<=\bwww)\.)", re.IGNORECASE)
"""What begins markup inside a line, mathematics and bare addresses included."""
_AT_THE_START = re.compile(r"^(?:[+\-=:]|\d+(?=[.)]))")
"""What begins a list, an underline or a definition at the start of a line."""
_ITEM = re.compile(r"^(- |\d{1,3}\. )(?=\S)")
"""Lists of an answer stay lists: the service writes them itself."""
_UNSAFE_IN_A_NAME = re.compile(r"[^\w .()-]+")
_NOT_ASCII = re.compile(r"[^A-Za-z0-9 .()-]+")
NAME_CHARACTERS = 80
_STATES = {"changed": "changed since", "erased": "erased since"}


def markdown_of(conversation: ConversationOut) -> str:
    """Return a conversation with the quotes, pages and verdicts of its answers."""
    lines = [
        f"# {escaped(conversation.title)}",
        "",
        f"{_time(conversation.created_at)} to {_time(conversation.updated_at)}, "
        f"{counted(conversation.message_count, 'message')}, conversation {conversation.conversation_id}",
    ]
    for message in conversation.messages:
        lines += _message_lines(message)
    if conversation.next_cursor:
        lines += ["", f"*The rest is on the next page, with the cursor `{conversation.next_cursor}`.*"]
    return "\n".join([*lines, ""])


def escaped(text: str) -> str:
    """Return the text on one line, with no character that Markdown or HTML reads as markup."""
    line = _MARKUP.sub(r"\\\1", " ".join(plain(text).split()))
    start = _AT_THE_START.match(line)
    if start is None:
        return line
    number = start.group()
    return f"{number}\\{line[start.end() :]}" if number.isdecimal() else f"\\{line}"


def disposition_of(title: str, ending: str) -> str:
    """Return a `Content-Disposition` (RFC 6266) that names a file after a title."""
    words = _UNSAFE_IN_A_NAME.sub(" ", plain_name(title)).split()
    name = " ".join(words)[:NAME_CHARACTERS].strip(" .") or "conversation"
    ascii_name = " ".join(_NOT_ASCII.sub(" ", name).split()).strip(" .") or "conversation"
    return f"attachment; filename=\"{ascii_name}.{ending}\"; filename*=UTF-8''{quote(f'{name}.{ending}', safe='')}"


def _message_lines(message: MessageOut) -> Iterator[str]:
    yield from ("", f"## {'Question' if message.role == 'user' else 'Answer'}, {_time(message.created_at)}", "")
    yield from _text_lines(message.content, lists=message.role == "assistant")
    if message.claims:
        yield from ("", "### Claims", "", *map(_claim_line, message.claims))
    if message.citations:
        yield from ("", "### Sources", "")
        for citation in message.citations:
            yield from _citation_lines(citation)
    if given := message.feedback:
        words = ", ".join(escaped(each) for each in (given.rating, given.reason or "", given.comment) if each)
        yield from ("", f"Feedback, {_time(given.updated_at)}: {words}")


def _text_lines(text: str, *, lists: bool) -> Iterator[str]:
    for line in text.splitlines():
        item = _ITEM.match(line) if lists else None
        words = escaped(line[item.end() :] if item else line)
        # A mark of a list without words would underline the line before it, and make that a heading.
        yield f"{item.group() if item else ''}{words}  " if words else ""  # two spaces keep the end of the line


def _claim_line(claim: ClaimOut) -> str:
    markers = "".join(f" \\[{n}\\]" for n in claim.citations)
    derived = f" ({escaped(claim.derived)})" if claim.derived else ""
    return f"- **{claim.verdict}**: {escaped(claim.text)}{markers}{derived}"


def _citation_lines(citation: StoredCitationOut) -> Iterator[str]:
    pages = f"page {citation.page_start}"
    if citation.page_end != citation.page_start:
        pages = f"pages {citation.page_start} to {citation.page_end}"
    if citation.page_label:
        pages += f" (printed {citation.page_label})"
    parts = [citation.title, citation.file_name, pages, citation.section, _STATES.get(citation.state or "", "")]
    yield f"- \\[{citation.n}\\] {', '.join(escaped(part) for part in parts if part)}"
    yield ""
    yield from (f"  > {escaped(line)}  " for line in citation.quote.splitlines() if line.strip())
    yield ""


def _time(stored: str) -> str:
    return f"{datetime.fromisoformat(stored):%Y-%m-%d %H:%M} UTC"
