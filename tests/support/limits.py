"""Limits: those of lengths and distances, found to the hundredth; those that modules and schemas name, as text."""

import ast
import importlib
from collections.abc import Callable, Iterator, Mapping, Set
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.support.aws_requests import as_json

ROOT = Path(__file__).parents[2]


def limit_of(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return where between two numbers something stops to hold that holds at the lower one, or begins to."""
    at_low = holds(low)
    assert holds(high) is not at_low, f"it is {at_low} at {low} and at {high}"
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) is at_low else (low, middle)
    return round(high, 2)


def named_limits(package: ModuleType, asking: Path, left_out: Set[str] = frozenset()) -> str:
    """Return the constants of a package's modules that are numbers or hold some, one a line.

    The file of tests that is asking imports each module with a limit by its name.
    """
    lines, missing, imported = [], [], asking.read_text()
    for path in sorted(Path(package.__path__[0]).rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        limits = list(_limits_in(path))
        if limits and name not in left_out:
            missing += [] if f"\nimport {name}\n" in imported else [name]
            module = importlib.import_module(name)
            values = [(limit, getattr(module, limit)) for limit in limits]
            lines += [f"{name}.{limit}: {_plain(value)}" for limit, value in values if not isinstance(value, Path)]
    assert missing == [], "import these modules at the top"
    return "\n".join(lines)


def _plain(value: object) -> str:
    if isinstance(value, Set):
        return f"{{{', '.join(sorted(map(_plain, value)))}}}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name!r}: {_plain(each)}' for name, each in value.items())}}}"
    return repr(value)


def _limits_in(path: Path) -> Iterator[str]:
    """Yield the public constants of a module that are numbers or hold some, and the private ones that are a number."""
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.Assign(targets=[target], value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                pass
            case _:
                continue
        for name in (each.id for each in ast.walk(target) if isinstance(each, ast.Name)):
            if name.isupper() and (_is_a_number(value) if name[0] == "_" else _holds_a_number(value)):
                yield name


def _is_a_number(value: ast.expr) -> bool:
    kinds = ast.Constant | ast.UnaryOp | ast.BinOp | ast.operator | ast.unaryop
    return _holds_a_number(value) and all(isinstance(each, kinds) for each in ast.walk(value))


def _holds_a_number(value: ast.expr) -> bool:
    found = (each.value for each in ast.walk(value) if isinstance(each, ast.Constant))
    return not isinstance(value, ast.Call) and any(type(each) in (int, float) for each in found)


def schema_told(schema: Mapping[str, Any]) -> str:
    """Return a schema without its words: type, default, limits, values."""
    silent = {"title", "description", "examples", "example", "required", "properties", "discriminator"}
    kept = {
        name: [schema_told(each) for each in value] if name in {"anyOf", "oneOf", "allOf"} else value
        for name, value in schema.items()
        if name not in silent and value is not None
    }
    if isinstance(kept.get("items"), dict):
        kept["items"] = schema_told(schema["items"])
    told = ", ".join(f"{name} {value if isinstance(value, str) else as_json(value)}" for name, value in kept.items())
    return told.replace("$ref #/components/schemas/", "")
