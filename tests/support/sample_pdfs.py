"""Makes the sample PDFs: `python -m tests.support.sample_pdfs`.

The same texts give the same bytes every time (reportlab's invariant mode: fixed dates and ids), so that a test notices
when a committed PDF differs from its text. Each chapter begins on a new page; the cover and the front matter have roman
page labels, the rest arabic ones; chapters and sections are in the outline.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reportlab import platypus
from reportlab.lib import colors
from reportlab.lib.enums import TA_LEFT
from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

FOLDER = Path(__file__).parents[2] / "local" / "samples"
FRONT_MATTER_PAGES = 2
"""The cover and one chapter without a number."""

LINE_WIDTH = 112 * mm

BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=9.6, leading=12.4, spaceAfter=5, alignment=TA_LEFT)
CHAPTER = ParagraphStyle("chapter", parent=BODY, fontName="Helvetica-Bold", fontSize=16, leading=20, spaceAfter=8)
SECTION = ParagraphStyle("section", parent=CHAPTER, fontSize=11, leading=14, spaceBefore=5, spaceAfter=3)
CELL = ParagraphStyle("cell", parent=BODY, fontName="Helvetica", fontSize=7.8, leading=9.6, spaceAfter=0)
HEAD = ParagraphStyle("head", parent=CELL, fontName="Helvetica-Bold")
TITLE = ParagraphStyle("title", parent=CHAPTER, fontSize=24, leading=29, spaceAfter=10)
SUBTITLE = ParagraphStyle("subtitle", parent=BODY, fontSize=13, leading=17, spaceAfter=14)


class OutlineHeading(platypus.Paragraph):  # type: ignore[misc]  # reportlab has no types
    """A heading that adds itself to the PDF's outline."""

    def __init__(self, text: str, style: ParagraphStyle, level: int) -> None:
        super().__init__(text, style)
        self._outline_text = text
        self._level = level

    def draw(self) -> None:
        """Draw the text and bookmark its place."""
        key = f"heading-{self._outline_text}"
        self.canv.bookmarkHorizontal(key, 0, self.height)
        self.canv.addOutlineEntry(self._outline_text, key, level=self._level)
        super().draw()


@dataclass
class SampleText:
    """A sample's text: the fields above the first blank line, and the lines of its body."""

    fields: dict[str, str]
    lines: list[str] = field(default_factory=list)


def read_sample(path: Path) -> SampleText:
    """Read a text: `key: value` lines, a blank line, then headings (`#`, `##`), paragraphs, `- ` items and tables."""
    head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    return SampleText(fields, body.splitlines())


def flowables_of(text: SampleText) -> Iterator[platypus.Flowable]:
    """Turn a text into reportlab's elements: the cover, then every chapter on a page of its own."""
    yield platypus.Spacer(1, 45 * mm)
    yield platypus.Paragraph(text.fields["title"], TITLE)
    yield platypus.Paragraph(text.fields["subtitle"], SUBTITLE)
    yield platypus.Paragraph(text.fields["edition"], BODY)
    items: list[str] = []
    rows: list[list[str]] = []
    for line in [*text.lines, ""]:
        if items and not line.startswith("- "):
            bullets = [platypus.ListItem(platypus.Paragraph(item, BODY), spaceAfter=1) for item in items]
            yield platypus.ListFlowable(bullets, bulletType="bullet", start="•", bulletFontSize=8, leftIndent=12)
            items = []
        if rows and not line.startswith("row: "):
            yield _table(rows)
            rows = []
        if line.startswith("## "):
            yield OutlineHeading(line[3:], SECTION, 1)
        elif line.startswith("# "):
            yield platypus.PageBreak()
            yield OutlineHeading(line[2:], CHAPTER, 0)
        elif line.startswith("- "):
            items.append(line[2:])
        elif line.startswith(("table: ", "row: ")):
            rows.append([cell.strip() for cell in line.partition(": ")[2].split("|")])
        elif line:
            yield platypus.Paragraph(line, BODY)


def _table(rows: list[list[str]]) -> platypus.Table:
    """Set a table; its first row is the header."""
    cells = [[platypus.Paragraph(cell, CELL if number else HEAD) for cell in row] for number, row in enumerate(rows)]
    everywhere = (0, 0), (-1, -1)
    style = [
        ("GRID", *everywhere, 0.4, colors.grey),
        ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
        ("VALIGN", *everywhere, "TOP"),
        ("TOPPADDING", *everywhere, 2),
        ("BOTTOMPADDING", *everywhere, 2),
    ]
    return platypus.Table(cells, colWidths=_column_widths(rows), repeatRows=1, spaceBefore=3, spaceAfter=7, style=style)


def _column_widths(rows: list[list[str]]) -> list[float]:
    """Make every column as wide as its longest cell; where the line is too short, shrink the widest columns."""
    columns = zip(*rows, strict=True)
    widths = [max(stringWidth(cell, HEAD.fontName, HEAD.fontSize) for cell in column) + 14 for column in columns]
    while sum(widths) > LINE_WIDTH:
        widths[widths.index(max(widths))] -= 1
    return widths


def _printed_label(page: int) -> str:
    return ("i", "ii")[page - 1] if page <= FRONT_MATTER_PAGES else str(page - FRONT_MATTER_PAGES)


def make_pdf(text: SampleText) -> bytes:
    """Set one sample and return the PDF's bytes, the same for the same text."""
    title = text.fields["title"]

    def furniture(canvas: Canvas, document: platypus.BaseDocTemplate) -> None:
        page: int = document.page
        if page == 1:
            canvas.setTitle(f"{title}: {text.fields['subtitle']}")
            canvas.setAuthor("Recto samples")
            canvas.addPageLabel(0, "ROMAN_LOWER", 1)
            canvas.addPageLabel(FRONT_MATTER_PAGES, "ARABIC", 1)
            return
        canvas.setFont("Helvetica", 7)
        canvas.drawString(18 * mm, 198 * mm, title)
        canvas.drawRightString(130 * mm, 198 * mm, text.fields["edition"])
        canvas.drawCentredString(74 * mm, 10 * mm, _printed_label(page))

    out = io.BytesIO()
    document = platypus.BaseDocTemplate(out, pagesize=A5, invariant=1, pageCompression=1)
    frame = platypus.Frame(18 * mm, 16 * mm, LINE_WIDTH, 178 * mm, 0, 0, 0, 0)
    document.addPageTemplates(platypus.PageTemplate("page", [frame], onPage=furniture))
    document.build(list(flowables_of(text)))
    return out.getvalue()


def sample_texts() -> list[SampleText]:
    """Return the samples' texts."""
    return [read_sample(path) for path in sorted(FOLDER.glob("*.md"))]


def main() -> None:
    """Write every sample PDF."""
    for text in sample_texts():
        content = make_pdf(text)
        (FOLDER / text.fields["file"]).write_bytes(content)
        print(f"{text.fields['file']}: {len(content):,} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
