"""A reporter that records what it prints."""

import io

from rich.console import Console

from local.report import Reporter


class Said:
    """`reporter` for the code, `text` for the test."""

    def __init__(self) -> None:
        self.console = Console(file=io.StringIO(), record=True, width=250)
        self.reporter = Reporter(self.console)

    @property
    def text(self) -> str:
        return self.console.export_text(clear=False)
