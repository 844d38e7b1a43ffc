"""Reads an answer in plain sentences, and the many ways in which models name the source of a sentence.

All of them are first written as `[1]` or `[1, 2]`: `[1][2]`, `[1-3]`, `[1, p. 30]`, `[Source 1]`, `[[1]](#1)`,
`【1†source】`, `<sup>1</sup>`, a raised ¹, footnotes `[^a]` by their definitions, "According to source 1, …", and `(1)`
where nothing else is a marker.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from functions.query.grounding.claims import MAX_REFERENCES, Claim, Reference, lead_of
from functions.query.grounding.sanitizing import INVISIBLE
from shared.text import BULLETS, SEPARATOR, sentence_spans

_SOURCE = r"(?:sources?|src|quellen?|fuentes?|šaltin\w*|źród[łl]\w*|fonti?e?s?|bron(?:nen)?)"
"""Our prompt's word and its translations."""
_SYNONYM = rf"(?:{_SOURCE}|documents?|docs?|passages?|excerpts?|citations?|cite|references?|refs?)"
_SIGNS = r"[\s.:=#№\"'_]*"
_AND = r"(?:and|und|et|ir|y)"
_NUMBERS = rf"\d{{1,6}}(?:\s*(?:[,;&+–—-]\s*(?:{_AND}\s*)?|{_AND}\s*)(?:{_SYNONYM}{_SIGNS})?[\[\^]?\d{{1,6}}\]?){{0,9}}"
_LOCATOR = rf"(?:\s*(?:[,;(†|\"'“]|:(?!\d+\s*\])|{_SOURCE}\b)[^\[\]【】\n]{{0,300}}?)?"
"""What may follow the numbers: a page, a title, a quote."""
_BRACKETED = re.compile(
    rf"\^?[\[【［〔⟦]{{1,2}}\s*\^?\s*(?:{_SYNONYM}{_SIGNS})?\#?(?P<numbers>{_NUMBERS})\s*\^?{_LOCATOR}"
    r"\s*[\]】］〕⟧]{1,2}\^?(?:\([^()\n]{0,300}\))?"
    rf"|<sup>\s*[\[(]?(?:{_SYNONYM}{_SIGNS})?(?P<raised>{_NUMBERS})[\])]?\s*</sup>"
    rf"|<(?:source|cite|ref)\b[^<>\d]*(?P<element>{_NUMBERS})[^<>]*>(?:\s*</(?:source|cite|ref)>)?"
    rf"|\((?:see\s+)?{_SOURCE}{_SIGNS}\[?(?P<named>{_NUMBERS})\]?{_LOCATOR}\)"
    rf"|(?:(?<=[.!?…\"”»])|[–—-])\s+{_SOURCE}(?:\s*:\s*(?P<said>{_NUMBERS})\b|\s*(?P<last>{_NUMBERS})(?=[.\s]*(?:\n|\Z)))\.?",
    re.IGNORECASE,
)
_PARENTHESES = re.compile(rf"(?:(?<=[.!?…\"”)])|\s)\s*\((?P<numbers>{_NUMBERS})\)")
_ENDS_WITH_PARENTHESES = re.compile(rf"[\s.!?…\"”)]\({_NUMBERS}\)[.!?\s]*\Z")
_RAISED = re.compile(
    r"(?:(?<=[^\W\d_]{4})|(?<=[.!?,;:\"”»)]))"
    r"(?P<numbers>[¹²³⁴⁵⁶⁷⁸⁹⁰]+(?:[,˒⁾⁽ ]+[¹²³⁴⁵⁶⁷⁸⁹⁰]+)*|\^\d{1,2}\^?)(?=[\s.!?,;:]|\Z)"
)
"""A raised number behind a word or a full stop; behind a short word it may be a power (m²)."""
_DIGITS_OF_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_ATTRIBUTED = re.compile(
    rf"(?P<before>\A|\n\s*|[.!?]\s+)(?:(?:according to|as stated in|as per|per|in|from|based on)\s+(?:the\s+)?"
    rf"(?:\[?{_SOURCE}[\s.:#]*\[?(?P<numbers>{_NUMBERS})\]?|\[(?P<named>{_NUMBERS})\])[,:]"
    rf"|{_SOURCE}\s*\[?(?P<said>{_NUMBERS})\]?\s+(?:states|says|mentions|notes|explains|indicates|confirms|specifies)\s+that)"
    r"\s+(?P<first>\w)(?P<rest>[^\n.!?]*)",
    re.IGNORECASE,
)
_FOOTNOTE = re.compile(r"\[\^([^\[\]\s]{1,20})\]")
_DEFINITION = re.compile(
    r"^[ \t]*\[(?:\^([^\[\]\s]{1,20})|(\d{1,3}))\]:[ \t]*(.*(?:\n[ \t]+\S.*)*)(?:\n|\Z)", re.MULTILINE
)
_NAMED_NUMBER = re.compile(rf"(?:\b{_SYNONYM}{_SIGNS}|\[)(\d{{1,6}})", re.IGNORECASE)
_LIST_OF_SOURCES = re.compile(
    rf"^[ \t#*_\-–—>]*(?:{_SYNONYM}|sources? (?:used|cited)|works cited|bibliography|footnotes|notes)"
    r"[ \t]*[*_]*:?[*_]*[ \t]*(?:\n|(?=[ \t]*[\[\d])|\Z)",
    re.IGNORECASE | re.MULTILINE,
)
_ENTRY = re.compile(
    r"[\s>]*(?:[-*•+][ \t]+)?(?:\[|【|\(?\d{1,3}[.):\]]|" + _SOURCE + r"\b|[-*•]|[\"“]|\Z)", re.IGNORECASE
)

_GROUPS = ("numbers", "raised", "element", "named", "said", "last")
_RANGE = re.compile(rf"(\d{{1,6}})(?:\s*[-–—]\s*(?:{_SYNONYM}{_SIGNS})?(\d{{1,6}}))?", re.IGNORECASE)
_PLAIN = re.compile(r"\[(\d{1,6}(?:, \d{1,6})*)\]")
_WRAPPED = re.compile(
    rf"(?P<sign>\*\*|[*`])(?P<wrapped>{_PLAIN.pattern})(?P=sign)"
    rf"|(?:[(–—-]\s*)?\b{_SOURCE}\s*:?\s*(?P<said>{_PLAIN.pattern})(?:\s*\))?",
    re.IGNORECASE,
)
"""A marker in bold or code, or behind "Source:"."""
_MARKED = re.compile(rf"\s*(?:{_PLAIN.pattern})")
_LEADING = re.compile(rf"(?:{_PLAIN.pattern}\s*)+")
_OPENS_WITH_MARKER = re.compile(rf"(?:[{BULLETS}>]\s+|\d{{1,3}}[.)]\s+)?{_PLAIN.pattern}\s*[:–-]?\s*(?=\w|\"|“|\*)")
_LABEL = re.compile(
    r"\s*(?:(?:sure|certainly|of course|okay)[!,.]\s+)?(?:(?:Question:.{1,500}?\s)?[#*_ ]{0,6}"
    r"(?:(?:final |short |direct )?answer|response|assistant|antwort|respuesta|réponse|atsakymas)"
    r"[*_]{0,3}:[*_]{0,3}\s+)?(?=\S)",
    re.IGNORECASE | re.DOTALL,
)
_LABEL_LINE = re.compile(
    r"^[ \t]*[#*_]*[ \t]*(?:final |short |direct )?answer[*_]*(?::[*_]*[ \t]*|[*_]*[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_NO_WORDS = re.compile(r"[\s\W_]*\Z")
_RUN = re.compile(r"\s*?\n\s*\n\s*|[^\S\n]{4,}|([^\w\s])\1{7,}")
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})\w*[ \t]*$\n?", re.MULTILINE)
_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+[^\n\[\]]*|(?:\*\*|__)[^\n*_.!?:\[\]]{1,80}(?:\*\*|__))[ \t]*(?:\n|\Z)", re.MULTILINE
)
_QUOTED = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_BOLD_SENTENCE = re.compile(r"(?P<sign>\*\*|__)(?P<said>[^*_\n]{3,500}[.!?])(?P=sign)")
_BREAK = re.compile(r"</?(?:p|ul|ol|div|br|h[1-6])\b[^<>]*>", re.IGNORECASE)
_HTML_ITEM = re.compile(r"<li\b[^<>]*>", re.IGNORECASE)
_INLINE = re.compile(r"</(?:li|b|strong|em|i|span)>|<(?:b|strong|em|i|span)>", re.IGNORECASE)
_RULED = re.compile(r"^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?$", re.MULTILINE)
_ENDED = re.compile(r"[.!?…。！？\]]['\"”’»)*_]*\s*\Z")


def read_sentences(text: str, *, cut: bool = False) -> list[Claim]:
    """Split a text with markers into sentences; one without a marker gets those of the next in its paragraph.

    A text that was `cut` off may be nothing but unfinished thoughts: it is an answer only if each of its whole
    sentences names its source, and of it only those are read.
    """
    claims: list[Claim] = []
    marked: list[bool] = []
    waiting = 0
    end_before = 0
    text = _prepared(text)
    leads = _OPENS_WITH_MARKER.match(text) is not None
    for start, end in sentence_spans(text):
        between, raw = text[end_before:start], text[start:end]
        end_before = end
        bare = _without_label(_MARKED.sub("", raw).strip())
        leading = _LEADING.match(raw) if claims else None
        if leading and not (leads and _OPENS_WITH_MARKER.match(raw)):
            # Markers after the full stop belong to the previous sentence.
            between, raw = leading.group(), raw[leading.end() :]
            references = (*claims[-1].references, *_references_in(between))
            claims[-1], marked[-1] = replace(claims[-1], references=references[:MAX_REFERENCES]), True
            claims, waiting = _with_last_references(claims, waiting)
        if _NO_WORDS.match(bare):
            continue
        if re.search(r"\n\s*\n", between):
            waiting = len(claims)
        own = _references_in(raw)
        claims.append(Claim(bare, own, lead_of(between) if claims else ""))
        marked.append(bool(own))
        if own:
            claims, waiting = _with_last_references(claims, waiting)
    if cut and claims and not _ENDED.search(text):
        del claims[-1], marked[-1]
    return claims if all(marked) or not cut else []


def without_markers_of(text: str) -> tuple[str, Sequence[Reference]]:
    """Return a claim's text without markers and labels, and the sources that the markers name."""
    plain = _with_plain_markers(_calm(text))
    return _without_label(_MARKED.sub("", plain)), _references_in(plain)


def _without_label(text: str) -> str:
    """Return a text without a leading "Answer:" (and question), which models copy from FAQs."""
    label = _LABEL.match(text)
    return text[label.end() :] if label else text


def source_numbers(label: str) -> Sequence[int]:
    """Return the numbers in a label like "1", "[1]", "Source 1", "[1, 2]", "1, p. 30"; none if it is no such label."""
    label = label.strip()
    found = _BRACKETED.fullmatch(label) or _BRACKETED.fullmatch(f"[{label}]")
    return _expanded(next(filter(None, found.groups()))) if found else ()


def _references_in(text: str) -> Sequence[Reference]:
    """Return the references of a text whose markers are plain."""
    numbers = (int(number) for marker in _PLAIN.finditer(text) for number in marker[1].split(", "))
    return tuple(Reference(number) for number in islice(dict.fromkeys(numbers), MAX_REFERENCES))


def _calm(text: str) -> str:
    """Shorten runs of one sign, of spaces and of empty lines, which mean nothing and take long to match."""
    return _RUN.sub(lambda run: "\n\n" if "\n" in run.group() else run.group()[:3], INVISIBLE.sub("", text))


def _prepared(text: str) -> str:
    """Return the answer's sentences with plain markers: no preamble, headings, fences, or list of sources."""
    text = _FENCE.sub("", _calm(text))
    text = _with_plain_markers(_without_list_of_sources(_without_definitions(text)))
    if not _PLAIN.search(text):
        text = _RAISED.sub(lambda found: f" {_plain(found)}", text)
    if not _PLAIN.search(text) and _ENDS_WITH_PARENTHESES.search(text):
        text = _PARENTHESES.sub(lambda found: f" {_plain(found)}", text)
    label = _LABEL_LINE.search(text)
    if label and not _PLAIN.search(text, 0, label.start()):
        text = text[label.end() :]
    return _without_layout(_without_label(text)).strip()


def _without_layout(text: str) -> str:
    """Remove headings, quotation signs, and a table's lines; its rows are written as in the sources."""
    text = _BOLD_SENTENCE.sub(r"\g<said>", text)
    text = _INLINE.sub("", _HTML_ITEM.sub("\n- ", _BREAK.sub("\n", text)))
    lines = _HEADING.sub("", _QUOTED.sub("", text)).split("\n")
    kept: list[str] = []
    row = 0
    for number, line in enumerate(lines):
        if _RULED.match(line) or (number + 1 < len(lines) and "|" in line and _RULED.match(lines[number + 1])):
            row = 0
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        row = row + 1 if line.lstrip().startswith("|") and len(cells) > 1 else 0
        kept.append(_row(cells, row) if row else line)
    return "\n".join(kept)


def _row(cells: Sequence[str], number: int) -> str:
    """Join a row's cells without its own number; a cell that holds only markers belongs to the one before."""
    cells = cells[1:] if cells[0].rstrip(".)") == str(number) else cells
    values = [cell for cell in cells if _MARKED.sub("", cell).strip()]
    markers = "".join(f" {cell}" for cell in cells if cell and cell not in values)
    return SEPARATOR.join(values) + markers


def _with_plain_markers(text: str) -> str:
    text = _ATTRIBUTED.sub(lambda said: f"{said['before']}{said['first'].upper()}{said['rest']} {_plain(said)}", text)
    return _WRAPPED.sub(lambda found: f" {found['wrapped'] or found['said']}", _BRACKETED.sub(_plain, text))


def _plain(marker: re.Match[str]) -> str:
    groups = marker.groupdict()
    numbers = _expanded(next(groups[name] for name in _GROUPS if groups.get(name)))
    return f"[{', '.join(map(str, numbers))}]"


def _expanded(numbers: str) -> Sequence[int]:
    """Return the numbers of a list; "2-4" are three, if it is as short as a list of sources can be."""
    found: list[int] = []
    for each in _RANGE.finditer(numbers.translate(_DIGITS_OF_RAISED)):
        first, last = int(each[1]), int(each[2] or each[1])
        found += range(first, last + 1) if first <= last < first + MAX_REFERENCES else [first, last]
    return tuple(dict.fromkeys(found))


def _without_definitions(text: str) -> str:
    """Take the definitions of footnotes out of a text, and write the source that one names in place of its mark."""
    footnotes = {note or number: said for note, number, said in _DEFINITION.findall(text)}
    rest = _DEFINITION.sub("", text)
    if not footnotes or not rest.strip():
        return text

    def marker(note: re.Match[str]) -> str:
        named = _NAMED_NUMBER.search(footnotes.get(note[1], ""))
        return f"[{named[1]}]" if named else note.group()

    return _FOOTNOTE.sub(marker, rest)


def _without_list_of_sources(text: str) -> str:
    """Cut a text before "Sources:" if only entries of a list follow; it claims nothing."""
    for heading in _LIST_OF_SOURCES.finditer(text):
        lines = text[heading.end() :].split("\n")
        if heading.start() and all(_ENTRY.match(line) for line in lines):
            return text[: heading.start()]
    return text


def _with_last_references(claims: list[Claim], waiting: int) -> tuple[list[Claim], int]:
    """Give the last claim's references to the waiting claims before it."""
    last = claims[-1].references
    given = [claim if claim.references else replace(claim, references=last) for claim in claims[waiting:]]
    return [*claims[:waiting], *given], len(claims)
