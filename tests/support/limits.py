"""Limits: those of lengths and distances, found to the hundredth; those that modules and schemas name, and the defaults
of parameters and fields, as text.
"""

import ast
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.support.aws_requests import as_json

ROOT = Path(__file__).parents[2]
NUMBERS = (int, float, bool)


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
    lines = []
    found = {name: list(_limits_in(path)) for name, path in _modules_of(package).items() if name not in left_out}
    for name in _imported([name for name, limits in found.items() if limits], asking):
        module = importlib.import_module(name)
        values = [(limit, getattr(module, limit)) for limit in found[name]]
        lines += [f"{name}.{limit}: {_plain(value)}" for limit, value in values if not isinstance(value, Path)]
    return "\n".join(lines)


def named_defaults(package: ModuleType, asking: Path) -> str:
    """Return the defaults that are numbers, true or false, of each function's parameters and each class's fields.

    Also the bounds of annotated types.
    The file of tests that is asking imports each module with one by its name.
    """
    found = {name: list(_defaults_in(path)) for name, path in _modules_of(package).items()}
    modules = _imported([name for name, defaults in found.items() if defaults], asking)
    return "\n".join(f"{name}.{default}" for name in modules for default in found[name])


def _modules_of(package: ModuleType) -> Mapping[str, Path]:
    paths = sorted(Path(package.__path__[0]).rglob("*.py"))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in paths}


def _imported(names: Sequence[str], asking: Path) -> Sequence[str]:
    text = asking.read_text()
    assert [name for name in names if f"\nimport {name}\n" not in text] == [], "import these modules at the top"
    return names


def _plain(value: object) -> str:
    if isinstance(value, Set):
        return f"{{{', '.join(sorted(map(_plain, value)))}}}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name!r}: {_plain(each)}' for name, each in value.items())}}}"
    return repr(value)


def _limits_in(path: Path) -> Iterator[str]:
    """Yield the constants of a module that are numbers or hold some, but not what a call makes of numbers."""
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.Assign(targets=[target], value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                pass
            case _:
                continue
        for name in (each.id for each in ast.walk(target) if isinstance(each, ast.Name)):
            if name.isupper() and not isinstance(value, ast.Call) and _holds(value, (int, float)):
                yield name


def _defaults_in(path: Path) -> Iterator[str]:
    """Yield each function and class of a module with its defaults, as `name: parameter=default, …`."""

    def enter(node: ast.AST, prefix: str) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from enter(child, prefix)
                continue
            pairs = _fields_of(child) if isinstance(child, ast.ClassDef) else _parameters_of(child)
            told = [f"{name}={_numbers_of(value)}" for name, value in pairs if _holds(value, NUMBERS)]
            if told:
                yield f"{prefix}{child.name}: {', '.join(told)}"
            yield from enter(child, f"{prefix}{child.name}.")

    tree = ast.parse(path.read_text())
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=ast.Subscript(value=ast.Name("Annotated")) as value) if (
                _holds(value, NUMBERS)
            ):
                calls = [each for each in ast.walk(value) if isinstance(each, ast.Call) and _holds(each, NUMBERS)]
                yield f"{name}: {', '.join(map(_numbers_of, calls))}"
    yield from enter(tree, "")


def _parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, ast.expr]]:
    given, only = function.args, function.args.kwonlyargs
    last = [*given.posonlyargs, *given.args][-len(given.defaults) :] if given.defaults else []
    pairs = [*zip(last, given.defaults, strict=True), *zip(only, given.kw_defaults, strict=True)]
    yield from ((parameter.arg, default) for parameter, default in pairs if default is not None)


def _fields_of(kind: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for node in kind.body:
        match node:
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                yield ast.unparse(target), value


def _numbers_of(value: ast.expr) -> str:
    """Return a default as it is written; of a call only the arguments that hold numbers, true or false."""
    if not isinstance(value, ast.Call):
        return ast.unparse(value)
    named = [(each.arg, each.value) for each in value.keywords]
    kept = [(name, each) for name, each in [*((None, each) for each in value.args), *named] if _holds(each, NUMBERS)]
    told = ", ".join(f"{name}={ast.unparse(each)}" if name else ast.unparse(each) for name, each in kept)
    return f"{ast.unparse(value.func)}({told})"


def _holds(value: ast.expr, kinds: tuple[type, ...]) -> bool:
    return any(isinstance(each, ast.Constant) and type(each.value) in kinds for each in ast.walk(value))


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
