"""What the README promises exists: its verbs, its routes, its error codes, its files."""

import re
import tomllib

import pytest

from functions.query.app import app
from functions.query.retrieval.filters import InvalidFilter
from local.cli import _parser
from shared import errors
from shared.version import VERSION
from tests.support.readme import PROJECT, TEXT, blocks, section

LINES = [line.strip() for block in blocks("bash") for line in block.replace("\\\n", " ").splitlines()]


def test_the_readme_holds_no_gaps():
    assert "@@" not in TEXT


@pytest.mark.parametrize("verb", sorted(set(re.findall(r"\bmake ([a-z]+)\b", "\n".join(LINES)))))
def test_every_make_verb_is_a_target(verb: str):
    assert re.search(rf"^{verb}:", (PROJECT / "Makefile").read_text(), re.M)


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("python -m local")])
def test_every_local_command_is_understood(line: str):
    words = re.sub(r"\s#.*", "", line).split()[3:]
    arguments = re.findall(r'"[^"]*"|\S+', " ".join(words))
    assert _parser().parse_args(arguments).verb == words[0]


def test_every_route_of_the_table_is_served_and_every_served_route_is_in_it():
    documented = {
        (method, re.sub(r"\{\w+\}", "{}", path))
        for method, path in re.findall(
            r"\| `(GET|POST|PUT|PATCH|DELETE) ([^`?]+)[^`]*` \|", section("## The API by example")
        )
    }
    served = {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path))
        for path, methods in app.openapi()["paths"].items()
        for method in methods
    }
    assert documented == served


def test_every_error_code_of_the_table_is_one_of_the_tree():
    classes = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.RectoError)]
    known = {(each.status, each.code) for each in (*classes, InvalidFilter)} | {(405, "method_not_allowed")}
    rows = re.findall(r"^\| (\d{3}) \| ([^|]+) \|", section("## The API by example"), re.M)
    assert rows
    for status, codes in rows:
        for code in re.findall(r"`(\w+)`", codes):
            assert (int(status), code) in known


def test_every_warning_an_answer_may_carry_is_explained():
    code = "".join(path.read_text() for path in (PROJECT / "functions" / "query").rglob("*.py"))
    told = set(re.findall(r'"(\w+_(?:unavailable|unusable|invalid|relaxed|short|supported)|not_saved)"', code))
    told |= {f"{arm}_search_unavailable" for arm in ("dense", "hybrid")}
    assert len(told) > 10
    assert {each for each in told if f"`{each}`" not in section("## The API by example")} == set()


def test_every_linked_file_is_there():
    for target in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (PROJECT / target).exists(), target


def test_the_version_is_the_projects():
    assert tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["version"] == VERSION
