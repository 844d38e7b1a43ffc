"""What all readers share: finding files, reading JSON lines, drawing a sample."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from evals.errors import DataError


def data_folder(path: Path, form: str, *needed: str) -> Path:
    """Return the folder when it holds all of `needed`. Raises `DataError` that names what is missing."""
    if not path.is_dir():
        raise DataError(f"{path} is not a folder. --data takes a folder of this form:\n{form}")
    missing = [name for name in needed if not (path / name).exists()]
    if missing:
        raise DataError(f"{path} lacks {' and '.join(missing)}. Expected is:\n{form}")
    return path


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line numbers (from 1) and objects. Raises `DataError` for a line that is no JSON object."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as UTF-8 text: {error}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError(f"{path}, line {number}: not JSON ({error}).") from error
        if not isinstance(row, dict):
            raise DataError(f"{path}, line {number}: a JSON object is expected, not {type(row).__name__}.")
        yield number, row


def sampled[T](items: Sequence[T], size: int | None, *, key: Callable[[T], str]) -> list[T]:
    """Return `size` of the items, always the same ones for the same keys, in their order; all when `size` is None.

    Chosen by the hash of the key, so that a larger sample holds the smaller one.
    """
    if size is None or size >= len(items):
        return list(items)
    chosen = sorted(range(len(items)), key=lambda at: hashlib.sha256(key(items[at]).encode()).digest())[:size]
    return [items[at] for at in sorted(chosen)]


def fingerprint(*paths: Path) -> str:
    """Return 16 hex digits that change when a file's content or name does."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
