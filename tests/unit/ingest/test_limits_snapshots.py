"""The named limits, waits and weights of reading, chunking and ingest, with what each is for.

As in `tests/unit/query/test_limits_snapshots.py`: `make snapshots` stores what comes out now.
"""

from pathlib import Path

import functions.ingest
import functions.ingest.bootstrap
import functions.ingest.changes
import functions.ingest.chunking.borders
import functions.ingest.chunking.chunker
import functions.ingest.chunking.packing
import functions.ingest.chunking.tokens
import functions.ingest.chunking.units
import functions.ingest.delivery
import functions.ingest.embedding
import functions.ingest.erasing
import functions.ingest.figures
import functions.ingest.index_versions
import functions.ingest.lease
import functions.ingest.maintenance
import functions.ingest.parsing.accents
import functions.ingest.parsing.authors
import functions.ingest.parsing.by_column
import functions.ingest.parsing.chart_titles
import functions.ingest.parsing.child
import functions.ingest.parsing.columns
import functions.ingest.parsing.distances
import functions.ingest.parsing.drawn_signs
import functions.ingest.parsing.engine_figures
import functions.ingest.parsing.engine_pdfium
import functions.ingest.parsing.engine_pypdf
import functions.ingest.parsing.engine_tesseract
import functions.ingest.parsing.figures
import functions.ingest.parsing.footnotes
import functions.ingest.parsing.fork_server
import functions.ingest.parsing.guard
import functions.ingest.parsing.heading_lines
import functions.ingest.parsing.heading_words
import functions.ingest.parsing.headings
import functions.ingest.parsing.identity_card
import functions.ingest.parsing.items
import functions.ingest.parsing.joining
import functions.ingest.parsing.labelled
import functions.ingest.parsing.layout
import functions.ingest.parsing.legible
import functions.ingest.parsing.lettering
import functions.ingest.parsing.letters
import functions.ingest.parsing.line_numbers
import functions.ingest.parsing.listings
import functions.ingest.parsing.lost_spaces
import functions.ingest.parsing.order
import functions.ingest.parsing.outline
import functions.ingest.parsing.page_marks
import functions.ingest.parsing.page_objects
import functions.ingest.parsing.paragraphs
import functions.ingest.parsing.parse
import functions.ingest.parsing.parts
import functions.ingest.parsing.pdfium
import functions.ingest.parsing.places
import functions.ingest.parsing.placing
import functions.ingest.parsing.plain_numbers
import functions.ingest.parsing.process
import functions.ingest.parsing.reflow
import functions.ingest.parsing.report
import functions.ingest.parsing.rights
import functions.ingest.parsing.ruled
import functions.ingest.parsing.running
import functions.ingest.parsing.sections
import functions.ingest.parsing.seen
import functions.ingest.parsing.sides
import functions.ingest.parsing.sideways
import functions.ingest.parsing.slides
import functions.ingest.parsing.table_cells
import functions.ingest.parsing.table_columns
import functions.ingest.parsing.table_grid
import functions.ingest.parsing.table_groups
import functions.ingest.parsing.table_headers
import functions.ingest.parsing.table_labels
import functions.ingest.parsing.tables
import functions.ingest.parsing.tagged_tables
import functions.ingest.parsing.tags
import functions.ingest.parsing.text
import functions.ingest.parsing.titles
import functions.ingest.parsing.unruled
import functions.ingest.parsing.vocabulary
import functions.ingest.parsing.white_space
import functions.ingest.parsing.wire
import functions.ingest.parsing.words
import functions.ingest.pipeline
import functions.ingest.ports
import functions.ingest.reading
import functions.ingest.reconcile
import functions.ingest.reindex
import functions.ingest.repair
import functions.ingest.sources
from tests.support.limits import named_defaults, named_limits
from tests.support.snapshots import check

HERE = Path(__file__).parent / "snapshots"


def test_the_named_limits_are_as_stored() -> None:
    check(HERE / "limits.txt", named_limits(functions.ingest, Path(__file__)))


def test_the_defaults_of_parameters_and_fields_are_as_stored() -> None:
    check(HERE / "defaults.txt", named_defaults(functions.ingest, Path(__file__)))
