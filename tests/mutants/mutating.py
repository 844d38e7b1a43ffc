"""Small changes of the product's code, by Cosmic Ray's operators."""

import ast
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cosmic_ray.ast import get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

_SWAPS = {
    "ComparisonOperator": "Lt_LtE LtE_Lt Gt_GtE GtE_Gt Lt_Gt Gt_Lt Eq_NotEq NotEq_Eq Is_IsNot IsNot_Is",
    "BinaryOperator": "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Mul Mod_FloorDiv BitOr_BitAnd BitAnd_BitOr",
    "UnaryOperator": "Delete_Not Delete_USub",
}
OPERATORS = (
    *(f"core/Replace{kind}_{swap}" for kind, swaps in _SWAPS.items() for swap in swaps.split()),
    *(f"core/Replace{name}" for name in ("AndWithOr", "OrWithAnd", "BreakWithContinue", "ContinueWithBreak")),
    *(f"core/Replace{name}" for name in ("TrueWithFalse", "FalseWithTrue")),
    "core/AddNot",
    "core/ExceptionReplacer",
    "core/NumberReplacer",
    "core/ZeroIterationForLoop",
)
"""Those that change what code does and not whether it runs: a float that is shifted left, or a dataclass that is none,
says nothing about the tests.
"""


_CACHE = re.compile(r"cache(?!d_property)")
"""What remembers results for all callers; a `cached_property` does so for one object, and each test has its own."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: the `occurrence`-th place of an operator in a file, and the function it lies in.

    `function` is "" at the top, in the head of a function, whose defaults import reads, and in functions that remember
    their results, which only the first caller enters.
    `lines` are the first and last of the statement, or of the head of a compound one.
    """

    path: str
    operator: str
    occurrence: int
    line: int
    function: str
    lines: tuple[int, int]
    source: str

    @property
    def name(self) -> str:
        """Return a name that is the same in every run."""
        return f"{self.path}:{self.line}:{self.kind}:{self.occurrence}"

    @property
    def kind(self) -> str:
        """Return the operator's name as people write it."""
        return self.operator.removeprefix("core/")


def mutants_of(root: Path, path: str) -> list[Mutant]:
    """Return every change that can be made to a file, in order."""
    source = (root / path).read_text()
    places, texts = _Places(source), source.splitlines()
    nodes = list(_walk(get_ast(source)))
    found = []
    for name in OPERATORS:
        operator, occurrence = _operator(name), 0
        for node in nodes:
            for (line, column), _end in operator.mutation_positions(node):
                if not places.is_left_alone(line, column):
                    where = line, places.function(line), places.statement(line), texts[line - 1].strip()
                    found.append(Mutant(path, name, occurrence, *where))
                occurrence += 1
    return sorted(found, key=lambda mutant: (mutant.line, mutant.operator, mutant.occurrence))


def sample_of(mutants: Sequence[Mutant], seed: int) -> list[Mutant]:
    """Return one change of each line that has any, in random order: a longer sample begins with the shorter one.

    First the operator is drawn, then its place: lines full of numbers are no more than others. However long the sample,
    each room has its share of it.
    """
    pick = random.Random(seed)
    lines: dict[tuple[str, int], dict[str, list[Mutant]]] = {}
    for mutant in mutants:
        lines.setdefault((mutant.path, mutant.line), {}).setdefault(mutant.operator, []).append(mutant)
    chosen = [pick.choice(pick.choice(list(here.values()))) for here in lines.values()]
    rooms: dict[str, list[Mutant]] = {}
    for mutant in chosen:
        rooms.setdefault(str(Path(mutant.path).parent), []).append(mutant)
    ordered = []
    for room in rooms.values():
        pick.shuffle(room)
        begin = pick.random()
        ordered += [((begin + index) / len(room), mutant) for index, mutant in enumerate(room)]
    return [mutant for _place, mutant in sorted(ordered, key=lambda each: each[0])]


def mutated(root: Path, mutant: Mutant) -> str:
    """Return the file's text with the change."""
    text: str | None = mutate_code((root / mutant.path).read_text(), _operator(mutant.operator), mutant.occurrence)
    assert text is not None
    return text


@cache
def _operator(name: str) -> Any:
    return get_operator(name)()


def _walk(node: Any) -> Iterator[Any]:
    """Yield nodes in the order in which Cosmic Ray's visitor counts occurrences."""
    yield node
    for child in getattr(node, "children", ()):
        yield from _walk(child)


class _Places:
    """Which function a line lies in, and which places say nothing to a test.

    Those are types, logs, what never runs, the decorators of classes (frozen or not, with slots or without), sizes of
    caches, and the star before parameters that are only given by name.
    """

    def __init__(self, source: str) -> None:
        self._functions: list[tuple[int, int, str]] = []
        self._statements: list[tuple[int, int]] = []
        self._left_alone: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self._enter(ast.parse(source), "")

    def function(self, line: int) -> str:
        inside = [name for first, last, name in self._functions if first <= line <= last]
        return inside[-1] if inside else ""

    def statement(self, line: int) -> tuple[int, int]:
        around = [(first, last) for first, last in self._statements if first <= line <= last]
        return min(around, key=lambda lines: lines[1] - lines[0], default=(line, line))

    def is_left_alone(self, line: int, column: int) -> bool:
        return any(first <= (line, column) < last for first, last in self._left_alone)

    def _enter(self, node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, ast.stmt):
                body = getattr(child, "body", None)
                last = max(child.lineno, body[0].lineno - 1) if body else child.end_lineno or child.lineno
                self._statements.append((child.lineno, last))
            match child:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    caches = [each for each in child.decorator_list if _CACHE.search(ast.unparse(each))]
                    for each in caches:
                        self._leave_alone(each)
                    name = "" if caches else f"{prefix}{child.name}"
                    around = prefix.rpartition(".<locals>.")[0]
                    self._functions.append((child.lineno, child.body[0].lineno - 1, around))
                    self._functions.append((child.body[0].lineno, child.end_lineno or 0, name))
                    self._leave_alone(child.returns)
                    if child.args.kwonlyargs:
                        before = [*child.args.posonlyargs, *child.args.args, *child.args.defaults, child.args.vararg]
                        ends = [((each.end_lineno or 0), (each.end_col_offset or 0)) for each in before if each]
                        named = child.args.kwonlyargs[0]
                        begin = max(ends, default=(child.lineno, child.col_offset))
                        self._left_alone.append((begin, (named.lineno, named.col_offset)))
                    inner = f"{prefix}{child.name}.<locals>."
                case ast.ClassDef():
                    for decorator in child.decorator_list:
                        self._leave_alone(decorator)
                    inner = f"{prefix}{child.name}."
                case ast.arg() | ast.AnnAssign():
                    self._leave_alone(child.annotation)
                case ast.TypeAlias():
                    self._leave_alone(child)
                case ast.Call(func=ast.Attribute(value=ast.Name(id="logger" | "metrics"))):
                    self._leave_alone(child)
                case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    self._leave_alone(child)
            self._enter(child, inner)

    def _leave_alone(self, node: Any) -> None:
        if node is not None:
            first, last = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
            self._left_alone.append((first, last))
