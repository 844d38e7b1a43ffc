"""The house keeps its own rules: one meaning for each class name, vendors behind their adapters, a map that is true."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.support.readme import PROJECT, page

PRODUCT = sorted(path for room in ("functions", "shared", "local", "evals") for path in (PROJECT / room).rglob("*.py"))
PRIVATE = re.compile(r"\._(transport|http|network_backend|pool|client|adapter)\b")
"""Attributes that would reach into a vendor's SDK."""
EXCEPTION = PROJECT / "shared" / "adapters" / "pinecone_sdk.py"
MAP = page("docs/architecture.md")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_no_two_classes_have_one_name() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path in PRODUCT:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(path.relative_to(PROJECT)))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_only_one_small_file_reaches_into_an_sdk() -> None:
    reaching = {
        path
        for path in PRODUCT
        if PROJECT / "shared" in path.parents or PROJECT / "functions" in path.parents
        for match in PRIVATE.finditer(path.read_text(encoding="utf-8"))
        if not path.read_text(encoding="utf-8")[: match.start()].endswith("self")
    }
    assert reaching <= {EXCEPTION}
    assert len(EXCEPTION.read_text(encoding="utf-8").splitlines()) <= 40


def test_no_package_file_hides_code() -> None:
    """An `__init__.py` holds a docstring: whoever looks for code finds it in a module."""
    for path in PRODUCT:
        if path.name == "__init__.py":
            assert [type(node) for node in tree(path).body] in ([], [ast.Expr]), path


STEPS = re.findall(r"^\| \d+ \| `([\w/]+\.py)` \| `([\w.]+)` \|", MAP, re.M)


def test_the_map_follows_a_question_and_an_upload() -> None:
    question, upload = MAP.split("\n## An upload", 1)
    assert 5 <= len(set(re.findall(r"^\| \d+ \| `([\w/]+\.py)`", question, re.M))) <= 12
    assert 5 <= len(set(re.findall(r"^\| \d+ \| `([\w/]+\.py)`", upload, re.M))) <= 10


@pytest.mark.parametrize(("file", "name"), STEPS, ids=[f"{file}:{name}" for file, name in STEPS])
def test_every_step_of_the_map_stands_where_it_says(file: str, name: str) -> None:
    body: list[ast.stmt] = tree(PROJECT / file).body
    for part in name.split("."):
        (node,) = [
            each
            for each in body
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and each.name == part
        ]
        body = node.body


@pytest.mark.parametrize("test", sorted(set(re.findall(r"`(tests/[\w/]+\.py)`", MAP))))
def test_every_test_the_map_names_is_there(test: str) -> None:
    assert (PROJECT / test).is_file()


def test_a_superseded_decision_says_so_in_its_first_line() -> None:
    for path in (PROJECT / "docs" / "decisions").glob("*.md"):
        first, _, rest = path.read_text(encoding="utf-8").partition("\n")
        assert ("superseded" in first.lower()) == ("superseded by" in rest.lower()), path.name
