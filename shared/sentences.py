"""Where sentences begin and end, as character positions, for any text that came out of a PDF."""

import re
from collections.abc import Iterator

_TERMINATOR = re.compile(
    r"""[.!?…]+ [)\]"'”’»]*            # a full stop and what closes with it
        (?= \s+ ["'“‘«(\[]* [^\W_a-z] | \s*\Z )   # then a capital, a digit, another script, or the end
      | [。！？]+ [」』）”]*            # CJK needs no space
      | \n\s*\n                        # a paragraph ends a sentence whatever it ends with
      | \n (?= [ \t]* (?: [-–•▪◦*·] | \(?\d{1,3}[.)] | \|? ) \s )   # so does the start of a list item
    """,
    re.VERBOSE,
)
_ABBREVIATION = re.compile(
    r"""(?:^|[\s("'“‘\[])
        (?: [A-Z] | [A-Za-z](?:\.[A-Za-z])+ | e\.g | i\.e | etc | vs | cf | al | approx | ca
          | figs? | eqs? | secs? | nos? | vols? | pp? | eds? | art | ch | par | ref | incl | excl | est | resp
          | dr | mr | mrs | ms | prof | st | sr | jr | inc | ltd | co | corp | llc | gen | sen | rep | gov
          | jan | feb | mar | apr | jun | jul | aug | sept? | oct | nov | dec | pvz | kt | pan | tel | str | nr
        )\.$""",
    re.VERBOSE | re.IGNORECASE,
)


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield `(start, end)` of every sentence, in order, white space at the borders left out.

    A sentence ends at a terminator that is followed by white space and something that can begin one, at a blank line,
    or before a list item; a known abbreviation or an initial does not end it.
    """
    begin = 0
    for match in _TERMINATOR.finditer(text):
        end = match.end()
        if (
            text[match.start()] == "."
            and match.group().startswith(".")
            and not match.group().startswith("..")
            and end < len(text)
            and _ABBREVIATION.search(text, max(0, match.start() - 12), match.start() + 1)
        ):
            continue
        yield from _stripped(text, begin, end)
        begin = end
    yield from _stripped(text, begin, len(text))


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end
