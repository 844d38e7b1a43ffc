"""The threat model claims nothing that no test holds: each test that it names exists."""

import ast
import re
from functools import cache

import pytest

from tests.support.readme import PROJECT, page

MODEL = page("docs/threat-model.md")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", MODEL)))
OWASP = [
    "Prompt injection", "Sensitive information disclosure", "Supply chain", "Data and model poisoning",
    "Improper output handling", "Excessive agency", "System prompt leakage", "Vector and embedding weaknesses",
    "Misinformation", "Unbounded consumption",
]  # fmt: skip


@cache
def functions_in(file: str) -> set[str]:
    tree = ast.parse((PROJECT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[f"{file}::{name}" for file, name in NAMED])
def test_every_test_that_the_threat_model_names_exists(file: str, name: str) -> None:
    assert (PROJECT / file).is_file()
    assert not name or name in functions_in(file)


def test_every_row_of_attacks_and_of_owasps_list_names_a_test() -> None:
    attacks, owasp = (MODEL.split(f"\n## {title}")[1].split("\n## ")[0] for title in ("Attacks tried", "OWASP"))
    for section in (attacks, owasp):
        rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
        assert rows
        assert [row for row in rows if "`tests/" not in row] == []
    for number, risk in enumerate(OWASP, start=1):
        assert f"| LLM{number:02d} {risk} |" in owasp
