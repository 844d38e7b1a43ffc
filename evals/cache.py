"""Results kept on disk by content and settings: the same inputs are worked on once."""

import gzip
import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
DEFAULT = PROJECT / ".recto" / "evals-cache"


class ResultCache:
    """JSON values under a folder, each in a file named by the hash of what it depends on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "results"

    def get[T](self, kind: str, depends_on: Mapping[str, object], make: Callable[[], T], *, fresh: bool = False) -> T:
        """Return what `make` returned for the same `depends_on`, calling it when there is nothing yet, or when `fresh`.

        `T` must survive JSON. A file that cannot be read is made anew.
        """
        name = hashlib.sha256(json.dumps(depends_on, sort_keys=True, default=str).encode()).hexdigest()[:32]
        path = self._folder / kind / f"{name}.json.gz"
        if not fresh:
            try:
                with gzip.open(path, "rt", encoding="utf-8", errors="surrogatepass") as file:
                    held: T = json.load(file)
            except (OSError, EOFError, ValueError):
                pass
            else:
                return held
        made = make()
        _write(path, made)
        return made


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".writing-", delete=False) as temporary:
        temporary.write(gzip.compress(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"), 5))
    Path(temporary.name).replace(path)


@cache
def file_hash(path: Path) -> str:
    """Return 32 hex digits of the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


@cache
def source_hash(*packages: str) -> str:
    """Return 16 hex digits that change when a Python file (or data file) of these folders of the project does."""
    digest = hashlib.sha256()
    for package in packages:
        place = PROJECT / package
        files = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.suffix in {".py", ".txt"})
        for path in files:
            digest.update(f"{path.relative_to(PROJECT)}\0{file_hash(path)}\n".encode())
    return digest.hexdigest()[:16]
