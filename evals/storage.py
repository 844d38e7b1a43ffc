"""Files on disk: cached results, and the JSON that `--json` writes."""

import gzip
import hashlib
import json
import platform
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from evals.errors import EvalError

PROJECT = Path(__file__).resolve().parents[1]
DEFAULT_CACHE = PROJECT / ".recto" / "evals-cache"
Json = dict[str, Any]


class ResultCache:
    """JSON values under a folder, each in a file named by the hash of what it depends on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "results"

    def get[T](self, kind: str, depends_on: Mapping[str, object], make: Callable[[], T], *, fresh: bool = False) -> T:
        """Return what `make` returned for the same `depends_on`; call it when nothing is kept yet, or when `fresh`.

        `T` must survive JSON. A file that cannot be read is made again.
        """
        name = hashlib.sha256(json.dumps(depends_on, sort_keys=True, default=str).encode()).hexdigest()[:32]
        path = self._folder / kind / f"{name}.json.gz"
        if not fresh:
            try:
                with gzip.open(path, "rt", encoding="utf-8", errors="surrogatepass") as file:
                    kept: T = json.load(file)
            except (OSError, EOFError, ValueError):
                pass
            else:
                return kept
        made = make()
        _write(path, gzip.compress(json.dumps(made, ensure_ascii=False).encode("utf-8", "surrogatepass"), 5))
        return made


@cache
def file_hash(path: Path) -> str:
    """Return 32 hex digits of the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


@cache
def source_hash(*paths: str) -> str:
    """Return 16 hex digits that change when one of these files, or a source file in these folders, does."""
    digest = hashlib.sha256()
    for name in paths:
        place = PROJECT / name
        files = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.suffix in {".py", ".txt"})
        for path in files:
            digest.update(f"{path.relative_to(PROJECT)}\0{file_hash(path)}\n".encode())
    return digest.hexdigest()[:16]


def environment() -> dict[str, str]:
    """Return what else influences the figures: Python's version and the kind of machine."""
    return {"python": platform.python_version(), "machine": platform.machine()}


def write_json(path: Path, result: Mapping[str, Any]) -> None:
    """Write a result, completely or not at all. Raises `EvalError`."""
    write_text(path, json.dumps(_rounded(result), ensure_ascii=False, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a result for people, completely or not at all. Raises `EvalError`."""
    try:
        _write(path, text.encode())
    except OSError as error:
        raise EvalError(f"The result cannot be written to {path}: {error}") from error


def read_json(path: Path, *needed: str) -> Json:
    """Read a result that has every key of `needed`. Raises `EvalError`."""
    try:
        result = json.loads(path.read_text())
    except OSError as error:
        raise EvalError(f"{path} cannot be read: {error}") from error
    except ValueError as error:
        raise EvalError(f"{path} is not JSON ({error}): give a file written with --json.") from error
    missing = [key for key in needed if key not in result] if isinstance(result, dict) else ["JSON object"]
    if missing:
        raise EvalError(f"{path} has no {', '.join(missing)}: give a file written by `python -m evals … --json`.")
    found: Json = result
    return found


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".writing-", delete=False) as file:
        file.write(data)
    temporary = Path(file.name)
    temporary.chmod(0o644)
    temporary.replace(path)


def _rounded(value: Any) -> Any:
    """Round floats to six digits, so that files differ only where figures do."""
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return round(value, 6)
        case Mapping():
            return {str(key): _rounded(each) for key, each in value.items()}
        case list() | tuple():
            return [_rounded(each) for each in value]
    return str(value)
