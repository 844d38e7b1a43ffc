"""What README and docs promise exists: verbs, routes, error codes, files."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic_core.core_schema import ErrorType

from functions.ingest.changes import PREFIXES, document_ref_of
from functions.ingest.sources import ChunkMetadata, KnowledgeChunk, QuestionAnswer, open_json
from functions.query.api.roles import PERMISSIONS, PUBLIC
from functions.query.api.schemas import CitationOut, ClaimOut, QueryOut, SourceOut, SupportOut
from functions.query.app import app
from functions.query.limits import LimitReached
from functions.query.retrieval.filters import InvalidFilter
from local.cli import _parser
from shared import errors
from shared.models import SourceType
from shared.telemetry import VERSION
from tests.support.readme import PAGES, PROJECT, blocks, commands, page, section
from tests.support.template import properties, template

LINES = [line.strip() for block in blocks("bash") for line in block.replace("\\\n", " ").splitlines()]


def test_the_readme_is_read_in_ten_minutes():
    assert len(page("README.md").splitlines()) <= 250


@pytest.mark.parametrize("verb", sorted(set(re.findall(r"\bmake ([a-z-]+)\b", "\n".join(LINES)))))
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
        for method, path in re.findall(r"\| `(GET|POST|PUT|PATCH|DELETE) ([^`?]+)[^`]*` \|", page("docs/api.md"))
    }
    served = {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path))
        for path, methods in app.openapi()["paths"].items()
        for method in methods
    }
    assert documented == served


def test_the_table_of_routes_names_the_roles_of_the_code():
    rows = re.findall(r"^\| `([A-Z]+ [^`?]+)[^`]*` \| [^|]+ \| ([^|]+) \|$", page("docs/api.md"), re.M)
    documented = {route: frozenset(roles.split(", ")) for route, roles in rows if route not in PUBLIC}
    assert documented == PERMISSIONS


def test_every_error_code_of_the_table_is_one_of_the_tree():
    classes = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.RectoError)]
    gateway = {(each["status"], each["code"]) for each in said_by_the_gateway()}
    known = (
        {(each.status, each.code) for each in (*classes, InvalidFilter, LimitReached)}
        | {(405, "method_not_allowed")}
        | gateway
    )
    rows = re.findall(r"^\| (\d{3}) \| ([^|]+) \|", page("docs/api.md"), re.M)
    told = {(int(status), code) for status, codes in rows for code in re.findall(r"`(\w+)`", codes)}
    assert told <= known
    assert gateway <= told
    text = json.dumps(properties("Api")["GatewayResponses"])
    codes = set(re.findall(r'\\"code\\":\\"(\w+)\\"', text)) - {"invalid_api_key", "rate_limit_exceeded"}
    assert {each for each in codes if f"`{each}`" not in section("docs/api.md", "## Errors")} == set()


def said_by_the_gateway() -> list[dict[str, Any]]:
    """The problems API Gateway answers with by itself."""
    answers = properties("Api")["GatewayResponses"].values()
    return [json.loads(each["ResponseTemplates"]["application/json"]) for each in answers if "StatusCode" in each]


def alarms() -> list[str]:
    """The names of the template's alarms."""
    return [name for name, each in template()["Resources"].items() if each["Type"] == "AWS::CloudWatch::Alarm"]


def test_the_costs_count_the_alarms_there_are():
    assert f"CloudWatch logs, a dashboard and {len(alarms())} alarms" in section("docs/operating.md", "## Costs")


def test_each_alarm_has_an_entry_in_the_runbook_and_each_entry_an_alarm():
    rows = re.findall(r"^\| `(\w+Alarm)` \| ([^|]+) \| ([^|]+) \|$", section("docs/operating.md", "## Alarms"), re.M)
    assert sorted(name for name, _, _ in rows) == sorted(alarms())
    assert all(len(what) > 20 and len(action) > 20 for _, what, action in rows)


def test_each_example_event_is_told_with_what_comes_back():
    told = re.findall(r"`(\w+\.json)`", section("docs/operating.md", "## Running one function on an event"))
    assert set(told) == {path.name for path in (PROJECT / "events").glob("*.json")}


def test_the_longest_name_of_a_stack_leaves_room_for_that_of_its_bucket():
    rest = re.sub(r"\$\{AWS::StackName\}", "", properties("Uploads")["BucketName"]["Fn::Sub"])
    rest = rest.replace("${AWS::AccountId}", "1" * 12).replace("${AWS::Region}", "ap-southeast-1")
    assert f"of {63 - len(rest)} characters at most" in section("docs/operating.md", "## Deploying to AWS")


JSON_KINDS = section("docs/documents.md", "## FAQs, resolved questions and knowledge files")


def test_the_objects_the_readme_shows_are_taken_whole_and_every_kind_is_told(tmp_path: Path):
    rows = dict(re.findall(r"^\| `(\w+)/\{tenant\}/[^`]+\.json` \|.*\| `(\w+)` \|$", JSON_KINDS, re.M))
    assert rows == {prefix: kind.value for prefix, kind in PREFIXES.items() if kind is not SourceType.PDF}
    pair, knowledge = re.findall(r"^```json\n(.*?)^```$", JSON_KINDS, re.M | re.S)
    for prefix, text in (("faq", pair), ("resolved", pair), ("knowledge", knowledge)):
        (tmp_path / "a.json").write_text(text, encoding="utf-8")
        subject = document_ref_of(f"{prefix}/acme/a.json")
        assert subject is not None
        source = open_json(subject, tmp_path / "a.json")
        assert source.result().error is None
        assert len(list(source.chunks)) == (2 if prefix == "knowledge" else 1)


def test_the_fields_of_the_readmes_objects_are_those_that_are_read():
    pair, knowledge = (json.loads(text) for text in re.findall(r"^```json\n(.*?)^```$", JSON_KINDS, re.M | re.S))
    assert set(pair) == set(QuestionAnswer.model_fields)
    (chunk,) = knowledge
    assert set(chunk) == set(KnowledgeChunk.model_fields)
    assert set(chunk["metadata"]) == set(ChunkMetadata.model_fields) - {"is_active"}  # told once, at the chunk


def test_every_warning_an_answer_may_carry_is_explained():
    code = "".join(path.read_text() for path in (PROJECT / "functions" / "query").rglob("*.py"))
    told = set(re.findall(r'"(\w+_(?:unavailable|unusable|invalid|relaxed|short|supported)|not_saved)"', code))
    told -= set(get_args(ErrorType))  # pydantic's, which problems.py puts in plain words
    told |= {f"{part}_unavailable" for part in re.findall(r'warning_about\("(\w+)"\)', code)}
    assert len(told) > 10
    assert {each for each in told if f"`{each}`" not in section("docs/api.md", "### Warnings")} == set()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_every_linked_file_is_there(path: Path):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_the_answer_that_is_shown_has_every_field():
    (text, *_) = re.findall(r"^```json\n(.*?)^```$", section("docs/api.md", "## Asking"), re.M | re.S)
    shown = json.loads(text)
    assert set(shown) == set(QueryOut.model_fields)
    for name, form in (("citations", CitationOut), ("claims", ClaimOut), ("sources", SourceOut)):
        assert set(shown[name][0]) == set(form.model_fields)
    assert set(shown["support"]) == set(SupportOut.model_fields)


def test_the_examples_of_the_api_can_be_pasted_in_their_order():
    assert not_pasteable(blocks("bash", pages=[PROJECT / "docs" / "api.md"])) == []


@pytest.mark.parametrize(
    ("lines", "faults"),
    [
        ('curl "$API/x" -H "$TOKEN"', []),
        ('ROOM=$(curl "$API/rooms" | jq -r .id)\ncurl "$API/rooms/$ROOM"', []),
        ('curl "$API/rooms/$ROOM"', ["$ROOM"]),
        ('curl "$API/rooms/$ROOM"\nROOM=$(curl "$API/rooms" | jq -r .id)', ["$ROOM"]),
        ('curl "$API/rooms/ab12…"', ["…"]),
    ],
)
def test_what_cannot_be_pasted_is_found(lines: str, faults: list[str]):
    assert not_pasteable([lines]) == faults


def not_pasteable(examples: list[str]) -> list[str]:
    """Return the variables that nothing before sets (`make up` and the shell set two each), and ellipses."""
    found, known = [], {"API", "TOKEN", "PATH", "PWD"}
    for line in (line for example in examples for line in commands(example)):
        found += [f"${name}" for name in re.findall(r"\$\{?([A-Za-z_]\w*)", line) if name not in known]
        found += re.findall("…", line)
        known |= set(re.findall(r"^([A-Z_]+)=", line))
    return found


def test_the_version_is_the_projects():
    assert tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["version"] == VERSION
