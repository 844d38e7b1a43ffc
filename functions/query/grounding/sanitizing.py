"""Removes images, unknown links, markup and foreign markers from an answer.

A tracking image or a link in a rendered answer can send the question to the author of a PDF. So images and active
markup are always removed, and an address is kept, as plain text, only if a source contains the same address.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from functions.query.understanding.question import normalized, shortened

NAME_CHARACTERS = 160

INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
"""Characters without width, which can hide messages and split words that a filter looks for."""
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3010: "[", 0x3011: "]", 0x2024: "."}
"""Full-width forms of ASCII, which a renderer or a reader may treat as ASCII."""
_WITH_FULL_WIDTH = re.compile(f"[{''.join(map(chr, _FULL_WIDTH))}]")

_CJK_DOT = re.compile(r"(?<=[A-Za-z\d])[。｡](?=[A-Za-z\d])")
"""A CJK full stop inside a host name, which browsers take for a dot."""

_TARGET = r"(?:<[^<>\n]*>|(?:[^\s()<>]|\([^\s()]*\))*)"
_IMAGE = re.compile(rf"!\[([^\[\]]*)\](?:\(\s*{_TARGET}[^()\n]*\)|\[[^\[\]\n]*\])?")
_LINK = re.compile(rf"\[([^\[\]\n]*)\]\(\s*({_TARGET})[^()\n]*\)")
_SPLIT_SCRIPT = re.compile(r"\]\(\s*(?:j\s*a\s*v\s*a|v\s*b)\s*s\s*c\s*r\s*i\s*p\s*t\s*:[^\n]*", re.IGNORECASE)
"""A link to a script with white space in the scheme, which browsers leave out."""
_DEFINITION = re.compile(r"^[ \t]*\[([^\[\]\n]+)\]:[ \t]*\S.*$", re.MULTILINE)
_REFERENCE = re.compile(r"\[([^\[\]\n]+)\]\[[^\[\]\n]*\]")
_TAG = re.compile(r"</?[A-Za-z!?][^<>]*>|<!--.*?-->|<(?:img|script|iframe|svg|object|embed|style)\b[^<>]*\Z", re.DOTALL)
_HIDDEN = re.compile(r"<\s*(script|style|template)\b[^<>]*>.*?(?:</\s*\1\b[^<>]*>|\Z)", re.DOTALL | re.IGNORECASE)
"""Elements that a renderer runs or hides are removed with their content."""
_ACTIVE_TAG = re.compile(
    r"</?\s*(?:a|applet|audio|base|body|button|embed|form|frame|html|iframe|img|input|link|math|meta|object|picture|"
    r"script|source|style|svg|template|track|video)\b|\bon\w+\s*=|\bsrc\s*=|\bhref\s*=|\bstyle\s*=",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"""(?<![\w@])(?:
        (?:[a-z][a-z0-9+.-]{1,20}:(?=//|[\\/]{2})|//)[^\s<>"'\])}|]+         # https://…, ftp://…, //host/…
      | (?:javascript|vbscript|data|file|blob|mailto|tel|sms|intent|about|hxxps?):(?=\S)[^\s<>"'\])}|]+
      | www\.[^\s<>"'\])}|]+
      | [\w.+-]+@(?:[\w-]+\.)+[a-z]{2,}                                        # mail
      | (?:[\w-]+\.)+[^\W\d_]{2,24}(?::\d+)?[/?\#][^\s<>"'\])}|]+                # host/path
      | (?:[\w-]+\.)+(?:com|org|net|info|biz|example|test|invalid|xyz|top|site|shop|store|cloud|online|click|link|zip|
            mov|app|dev|ai|io|co|me|tk|ru|cn|lt|eu|de|uk|fr|pl|us|gov|edu|int|mil)(?![\w.-]*\w)(?:[/?\#:][^\s<>"'\])}|]*)?
      | \d{1,3}(?:\.\d{1,3}){3}(?::\d+)?/[^\s<>"'\])}|]*                    # 203.0.113.5/x
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_FORBIDDEN_SCHEME = re.compile(r"\s*(?:javascript|vbscript|data|file|blob|intent|about)\s*:", re.IGNORECASE)
_TRAILING = ".,;:!?…'\"”’»"
_BRACKETED = re.compile(
    r"[ \t]*\[\s*(?:(?:source|src|doc(?:ument)?|n)\s*[#:=]?\s*)?\d{1,4}(?:\s*[-–,;&]\s*\d{1,4})*\s*\]", re.I
)
_CARET = re.compile(r"[ \t]*\[\^[^\[\]\n]*\](?::[^\n]*)?")
_SITE_OF_COMPANY = re.compile(
    r"(?<![\w./:@-])[\w-]+\.[A-Za-z]{2,24}(?=,? (?:Inc|Corp|Ltd|LLC|PLC|GmbH|AG|SE|SA|NV)\b)", re.I
)
MAX_PASSES = 4
"""Times that markup is removed from a text, since a removal can create new markup."""
SHORTEST_SOUGHT = 8
"""Characters of an address that is also looked for broken over lines, at least."""


@dataclass(frozen=True, slots=True)
class CleanedText:
    """A cleaned text, and what was removed: "image", "link", "html", "marker", sorted."""

    text: str
    findings: Sequence[str]


class SourceTexts:
    """The texts of the sources; an answer may only repeat addresses and tags that are in them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._given = tuple(texts)

    def holds_address(self, address: str) -> bool:
        """Return whether a text contains this exact address, possibly broken over lines."""
        if _FORBIDDEN_SCHEME.match(address):
            return False
        wanted = _comparable(address)
        if wanted in self._addresses:
            return True
        broken = re.compile(
            r"(?<!\w)" + r"\s*".join(map(re.escape, wanted)) + r"/?(?=[\s)\]>\"',;]|[.:!?](?:\s|\Z)|\Z)", re.IGNORECASE
        )
        return len(wanted) >= SHORTEST_SOUGHT and any(broken.search(text) for text in self._texts)

    @cached_property
    def _texts(self) -> Sequence[str]:
        return [plain(text) for text in self._given]  # only answers with an address or a tag need them

    @cached_property
    def _addresses(self) -> frozenset[str]:
        return frozenset(_comparable(match.group()) for text in self._texts for match in _ADDRESS.finditer(text))

    def holds(self, words: str) -> bool:
        """Return whether a text contains these characters."""
        return any(words in text for text in self._texts)


def plain(text: str) -> str:
    """Return the text without invisible characters and with full-width forms as ASCII."""
    if text.isascii():
        return text if text.isprintable() else INVISIBLE.sub("", text)
    shown = INVISIBLE.sub("", text)
    return _CJK_DOT.sub(".", shown.translate(_FULL_WIDTH) if _WITH_FULL_WIDTH.search(shown) else shown)


def cleaned(text: str, sources: SourceTexts) -> CleanedText:
    """Remove images, active markup, addresses and tags that are in no source, and markers (ours are added later)."""
    found: set[str] = set()
    text = plain(text)

    def drop(finding: str, keep: str = "") -> str:
        found.add(finding)
        return keep

    def link(match: "re.Match[str]") -> str:
        target = match[2].strip("<> ")
        if sources.holds_address(target):
            return f"{match[1]} ({target})" if target not in match[1] else match[1]
        return drop("link", match[1])

    def address(match: "re.Match[str]") -> str:
        whole = match.group()
        bare = whole.rstrip(_TRAILING)
        return whole if sources.holds_address(bare) else drop("link", whole[len(bare) :])

    def tag(match: "re.Match[str]") -> str:
        whole = match.group()
        if not _ACTIVE_TAG.search(whole) and sources.holds(whole):
            return whole
        inner = whole.strip("<>")
        if re.match(r"[a-z][a-z0-9+.-]*:|[^\s<>@]+@", inner, re.IGNORECASE):  # an autolink
            return inner if sources.holds_address(inner) else drop("link")
        return drop("html", " ")

    for _ in range(MAX_PASSES):  # a removal can create new markup: "![]![](a)(b)"
        before = text
        text = _IMAGE.sub(lambda _match: drop("image"), text)
        text = _DEFINITION.sub(lambda _match: drop("link"), text)
        text = _LINK.sub(link, text)
        text = _SPLIT_SCRIPT.sub(lambda _match: drop("link", "]"), text)
        text = _REFERENCE.sub(lambda match: drop("link", match[1]) if not match[1].isdigit() else match.group(), text)
        text = _CARET.sub(lambda _match: drop("marker"), text)
        text = _HIDDEN.sub(lambda _match: drop("html", " "), text)
        text = _TAG.sub(tag, text)
        text = _ADDRESS.sub(address, text)
        text = _BRACKETED.sub(lambda _match: drop("marker"), text)
        text = text.replace("![", drop("image", "[")) if "![" in text else text
        if text == before:
            break
    else:
        text = re.sub(r"[\[\]<>!]|://", "", text)
    if found:
        text = re.sub(r"(?<=[.!?])[ \t]*:(?=\s)", "", text)  # the rest of a removed definition
    return CleanedText(re.sub(r"[ \t]{2,}", " ", text).strip(), sorted(found))


def without_markers(text: str) -> str:
    """Write a text's own "[3]" as "(3)", so that it is not mistaken for a marker of the answer."""
    return re.sub(
        r"[\[【［]\s*((?:source\s*)?\d{1,4}(?:\s*[-–,;]\s*\d{1,4})*)\s*[\]】］]", r"(\1)", text, flags=re.IGNORECASE
    )


def plain_name(text: str) -> str:
    """Return a name from a PDF or a user on one line, without markup, links and markers.

    A company may be called like its site: "AMAZON.COM, INC." is kept.
    """
    bare = cleaned(without_markers(normalized(text)), SourceTexts(_SITE_OF_COMPANY.findall(text))).text
    return shortened(" ".join(bare.split()), NAME_CHARACTERS)


def _comparable(address: str) -> str:
    bare = re.sub(r"^[a-z][a-z0-9+.-]*://|^//|^mailto:|^tel:", "", address.rstrip(_TRAILING), flags=re.IGNORECASE)
    host, slash, path = bare.partition("/")
    return (host.lower().removeprefix("www.") + slash + path).rstrip("/")
