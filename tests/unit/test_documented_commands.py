"""Every command of README and operating guide is run by a test, or says that it cannot be verified here."""

import re
import shlex
import subprocess

import botocore.session
import pytest
from botocore import xform_name

from evals.cli import _parser as evals_parser
from local.cli import _parser as local_parser
from tests.support.local_stack import own_environment
from tests.support.readme import PROJECT, blocks, commands

PAGES = [PROJECT / "README.md", PROJECT / "docs" / "operating.md"]
MARK = "not verifiable here"
TESTS = "".join(
    path.read_text(encoding="utf-8")
    for folder in ("e2e", "functional", "unit/local")
    for path in (PROJECT / "tests" / folder).rglob("*.py")
)
MODULES = {
    "deploy-check": "deploying",
    "destroy": "destroying",
    "publish-page": "publishing",
    "releases": "releases",
}
"""Verbs that need an account: their tests call the module, with AWS emulated."""
DEVELOPERS = {
    "setup",
    "demo",
    "web",
    "test",
    "test-web",
    "test-clients",
    "mutants",
    "snapshots",
    "check",
    "bench",
    "soak",
    "chaos",
    "fuzz",
    "eval",
}
"""Verbs of `make` that every run of the tests begins with, that run tests, or are too long to be a test themselves."""


def inline(page_text: str) -> list[str]:
    """Return the commands in running text and tables, each with the words after it."""
    prose = re.sub(r"^[ ]*```.*?^[ ]*```$", "", page_text, flags=re.M | re.S)
    prose = re.sub(r"\s+", " ", prose)
    found = re.findall(r"`((?:make|python -m|aws|sam) [^`]+)`(?=(.{0,80}))", prose)
    return [f"{command}  # {after}" for command, after in found]


def running() -> set[str]:
    """Return the commands, by their first words, of the blocks that say in which test they run."""
    texts = [path.read_text(encoding="utf-8") for path in PAGES]
    tests = {test for text in texts for test in re.findall(r"<!-- runs in ([\w/.]+) -->", text)}
    lines = [line for test in tests for block in blocks("bash", test=test, pages=PAGES) for line in commands(block)]
    return set(re.findall(r"\bmake [a-z-]+|\baws [a-z0-9-]+ [a-z-]+", "\n".join(lines)))


RUNNING = running()
MAKEFILE = (PROJECT / "Makefile").read_text(encoding="utf-8")
FENCED = [(block, line) for block in blocks("bash", test="", pages=PAGES) for line in commands(block)]
INLINE = [line for path in PAGES for line in inline(path.read_text(encoding="utf-8"))]


def is_marked(line: str, block: str = "") -> bool:
    """Whether a line, or the first one of its block for all of it, says that it cannot be verified here."""
    return MARK in " ".join(line.split()) or commands(block)[:1] == [f"# {MARK}"]


def words_of(line: str) -> list[str]:
    """Return the words of a command without variables before it, and without its comment."""
    words = shlex.split(line.split("  # ")[0], comments=True)
    return words[1:] if words[0].endswith("=…") else words


def judge(line: str) -> None:
    """Fail unless a command is understood, and run by a test."""
    words = words_of(line)
    if words[0] == "aws":
        assert_known_to_aws(words)
        assert " ".join(words[:3]) in RUNNING, f"no test runs this, and no mark says that none can: {line}"
    elif words[0] == "sam":
        assert f"$(SAM) {words[1]}" in MAKEFILE
    elif words[0] == "make":
        judge_make(words)
    elif words[:3] == ["python", "-m", "tests.support.dashboard_run"]:
        assert (PROJECT / "tests" / "support" / "dashboard_run.py").exists()
    elif words[:3] == ["python", "-m", "evals"]:
        evals_parser().parse_args([*words[3:], *(["--data", "x"] if len(words) == 4 else [])])
    else:
        assert words[:3] == ["python", "-m", "local"], f"no test runs this, and no mark says that none can: {line}"
        judge_local(words[3:])


def judge_make(words: list[str]) -> None:
    """Fail unless it is a target, and what it runs is understood and run by a test."""
    make = ["make", "-n", "-o", "setup", *words[1:]]
    plan = subprocess.run(make, cwd=PROJECT, env=own_environment(), capture_output=True, text=True, check=False)
    assert plan.returncode == 0, plan.stderr
    if "=" in words[1]:
        assert re.search(rf"^{words[1].split('=')[0]} \?=", MAKEFILE, re.M)
    elif words[1] not in DEVELOPERS:
        runs = [line for line in plan.stdout.splitlines() if line.startswith(".venv/bin/python -m local ")]
        judge_local(shlex.split(runs[-1])[3:], " ".join(words[:2]))


def judge_local(arguments: list[str], made_by: str = "") -> None:
    """Fail unless the parser takes the arguments, and a test runs the verb."""
    verb = local_parser().parse_args(arguments).verb
    if made_by in RUNNING or f"make {verb}" in RUNNING:
        return
    ran = rf"(?:run_local\([^)]*|\bmain\(\[)\"{verb}\"|import (?:\w+, )*{MODULES.get(verb, 'nothing')}\n"
    assert re.search(ran, TESTS), f"no test runs {verb}"


def assert_known_to_aws(words: list[str]) -> None:
    """Fail unless botocore knows service, operation and options. `s3 cp` is the CLI's own, `s3api` its name for S3."""
    _, service, operation, *rest = words
    if service == "s3":
        return
    model = botocore.session.get_session().get_service_model("s3" if service == "s3api" else service)
    names = {xform_name(name, "-"): name for name in model.operation_names}
    shape = model.operation_model(names[operation]).input_shape
    options = {xform_name(name, "-") for name in shape.members} | {"query", "output"}
    given = {word.removeprefix("--").removeprefix("no-") for word in rest if word.startswith("--")}
    known = options | {name.removeprefix("enable-") for name in options}
    assert {name.removeprefix("enable-") for name in given} <= known, given - known


@pytest.mark.parametrize(("block", "line"), FENCED, ids=[line for _, line in FENCED])
def test_a_command_in_a_block_is_run_by_a_test_or_marked(block: str, line: str) -> None:
    if is_marked(line, block):
        for piece in re.findall(r"\baws [a-z0-9-]+ [a-z-]+", line):
            assert_known_to_aws(piece.split())
    else:
        judge(line)


@pytest.mark.parametrize("line", INLINE)
def test_a_command_in_the_text_is_run_by_a_test_or_marked(line: str) -> None:
    if not is_marked(line):
        judge(line)
    elif line.startswith("aws "):
        assert_known_to_aws(words_of(line))


def test_the_guide_says_that_a_deployment_itself_needs_an_account() -> None:
    assert "and so does `make deploy`" in " ".join(PAGES[1].read_text(encoding="utf-8").split())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_block_that_says_where_it_runs_runs_there(path: object) -> None:
    text = (PROJECT / str(path)).read_text(encoding="utf-8")
    for test in re.findall(r"<!-- runs in ([\w/.]+) -->", text):
        assert test in (PROJECT / test).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "line",
    ["make nothing", "make user ARGS=ann", "python -m local delete", "python -m evals x", "aws s3 ls", "aws sqs purge"],
)
def test_a_command_that_is_wrong_or_not_run_is_found(line: str) -> None:
    with pytest.raises((AssertionError, SystemExit, KeyError)):
        judge(line)
