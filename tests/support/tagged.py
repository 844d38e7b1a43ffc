"""Tagged PDFs for tests: what is written, and the tree of tags that tells its structure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from tests.support.pdfs import document, text

Written = tuple[float, float, str]
"""A text and where its base line begins."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag with others or texts in it; a cell may go over several columns or rows."""

    kind: str
    within: Sequence["Tag | Written"] = ()
    columns: int = 1
    rows: int = 1


@dataclass(slots=True)
class _Tree:
    content: bytes = b""
    objects: dict[int, bytes] = field(default_factory=dict)
    parents: list[int] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: count(9_100))

    def add(self, tag: Tag, parent: int) -> int:
        number = next(self.numbers)
        kids: list[bytes] = []
        for each in tag.within:
            if isinstance(each, Tag):
                kids.append(b"%d 0 R" % self.add(each, number))
                continue
            mark = len(self.parents)
            self.parents.append(number)
            self.content += b"/P<</MCID %d>>BDC %bEMC\n" % (mark, text(*each))
            kids.append(b"%d" % mark)
        spans = b"/A<</O/Table/ColSpan %d/RowSpan %d>>" % (tag.columns, tag.rows)
        spans = spans if tag.columns > 1 or tag.rows > 1 else b""
        kind, inner = tag.kind.encode(), b" ".join(kids)
        self.objects[number] = b"<</Type/StructElem/S/%b/P %d 0 R/Pg 10 0 R/K[%b]%b>>" % (kind, parent, inner, spans)
        return number


def tagged_pdf(
    *tags: Tag, untold: Sequence[Written] = (), drawn: bytes = b"", extra: Mapping[int, bytes] = {}
) -> bytes:
    """Make a page of what is in tags; `untold` is written before it, and `drawn` behind it, in none.

    `extra` objects should be numbered from 9002 to 9099.
    """
    tree = _Tree()
    tops = b" ".join([b"%d 0 R" % tree.add(tag, 9_001) for tag in tags])
    parents = b" ".join([b"%d 0 R" % number for number in tree.parents])
    root = b"<</Type/StructTreeRoot/K[%b]/ParentTree<</Nums[0[%b]]>>>>" % (tops, parents)
    content = b"".join([b"/Artifact BMC %bEMC\n" % text(*each) for each in untold]) + tree.content + drawn
    catalog = b"/MarkInfo<</Marked true>>/StructTreeRoot 9001 0 R"
    return document([content], catalog=catalog, page=b"/StructParents 0", extra={9_001: root, **tree.objects, **extra})


def table(*rows: Sequence[Tag]) -> Tag:
    """A table of rows of cells."""
    return Tag("Table", [Tag("TR", row) for row in rows])


def cell(x: float, y: float, words: str, *, names: bool = False, columns: int = 1, rows: int = 1) -> Tag:
    """A cell with a text in it; an empty one without words."""
    return Tag("TH" if names else "TD", [(x, y, words)] if words else [], columns, rows)
