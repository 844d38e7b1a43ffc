"""Prints what is read of a made document: `python -m tests.support.looking_back tables 37`."""

import sys

from tests.support.retold import parsed, retold
from tests.support.varied_documents import document_of


def main(kind: str, number: str) -> None:
    """Print what is read of a document."""
    print(retold(*parsed(*document_of(kind, int(number)))))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
