"""Results as JSON: written whole or not at all, and read back with an error that says what is wrong."""

import json
import platform
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evals.errors import EvalError

Json = dict[str, Any]


def environment() -> dict[str, str]:
    """Return what else decides about figures: Python and the machine's kind."""
    return {"python": platform.python_version(), "machine": platform.machine()}


def rounded(value: Any, digits: int = 6) -> Any:
    """Return the value with its floats rounded, so that files differ only where figures do."""
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return round(value, digits)
        case Mapping():
            return {str(key): rounded(each, digits) for key, each in value.items()}
        case list() | tuple():
            return [rounded(each, digits) for each in value]
    return str(value)


def write_json(path: Path, result: Mapping[str, Any]) -> None:
    """Write a result. Raises `EvalError` when it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".writing-", delete=False) as file:
            json.dump(rounded(result), file, ensure_ascii=False, indent=1)
            file.write("\n")
        temporary = Path(file.name)
        temporary.chmod(0o644)
        temporary.replace(path)
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
    if not isinstance(result, dict):
        raise EvalError(f"{path} is not a result: give a file written by `python -m evals … --json`.")
    missing = [key for key in needed if key not in result]
    if missing:
        raise EvalError(f"{path} has no {', '.join(missing)}: give a file written by `python -m evals … --json`.")
    found: Json = result
    return found
