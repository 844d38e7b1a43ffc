"""The verbs `documents`, `delete` and `status`."""

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from local import cli_documents, cli_stack
from local.cli import main
from local.cli_documents import name_of
from local.report import Reporter
from local.stack.config import LocalConfig, LocalStackError
from local.stack.laptop import Laptop, Status


def document(key: str, status: str = "READY", **more: object) -> dict[str, Any]:
    name = name_of(key)
    about = {"document_id": f"id-{name}", "key": key, "title": f"Title of {name}", "status": status}
    return about | {"page_count": 7, "error": None, "updated_at": "2026-11-22T14:03:00"} | more


DOCUMENTS = [
    document("uploads/demo/a/report.pdf"),
    document("uploads/demo/b/report.pdf"),
    document("uploads/demo/letter.pdf", "FAILED", page_count=0, error={"message": "It is no PDF."}),
    document("faq/demo/bicycles.json", title="Where are bicycles parked?"),
]


class FakeLaptop:
    """A laptop whose API knows some documents."""

    def __init__(self, found: list[dict[str, Any]], tmp_path: Path) -> None:
        self.report = Reporter()
        self.config = LocalConfig(state=tmp_path)
        self.found = found
        self.deleted: list[str] = []
        self.dead: set[str] = set()

    @contextmanager
    def client(self, *_: object, **__: object) -> Iterator["FakeLaptop"]:
        yield self

    def documents(self, *, limit: int, status: str | None = None) -> Iterator[dict[str, Any]]:
        return (each for each in self.found if status in {None, each["status"]})

    def delete_document(self, document_id: str) -> None:
        self.deleted.append(document_id)

    def status(self) -> list[Status]:
        names = ("ministack", "streaming", "pinecone", "openai")
        return [Status(name, None if name in self.dead else 7, 1, name in self.dead) for name in names]

    def deployed(self) -> Any:
        if "ministack" in self.dead:
            raise LocalStackError("The laptop stack is not running.")
        return argparse.Namespace(api_url="http://gateway")


@pytest.fixture
def laptop(tmp_path: Path) -> FakeLaptop:
    return FakeLaptop(DOCUMENTS, tmp_path)


def listed(laptop: FakeLaptop, *search: str, status: str | None = None, as_json: bool = False) -> int:
    arguments = argparse.Namespace(tenant="demo", search=search, status=status, json=as_json)
    return cli_documents.documents(cast("Laptop", laptop), arguments)


def deleted(laptop: FakeLaptop, *names: str, yes: bool = True) -> int:
    return cli_documents.delete(cast("Laptop", laptop), argparse.Namespace(tenant="demo", names=list(names), yes=yes))


# --- documents -------------------------------------------------------------------------------------------------------


def test_documents_are_listed_with_status_pages_name_and_title(
    laptop: FakeLaptop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert listed(laptop) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["READY", "7", "pages", "a/report.pdf", "Title", "of", "a/report.pdf"]
    assert lines[2].split() == ["READY", "7", "pages", "faq/bicycles.json", "Where", "are", "bicycles", "parked?"]
    assert lines[3].split() == ["FAILED", "letter.pdf", "It", "is", "no", "PDF."]
    assert lines[4] == "4 documents: 3 READY, 1 FAILED."


def test_documents_are_searched_by_words_of_name_and_title(
    laptop: FakeLaptop, capsys: pytest.CaptureFixture[str]
) -> None:
    listed(laptop, "PARKED")
    assert "1 document: 1 READY." in capsys.readouterr().out
    listed(laptop, "report", "b/")
    assert "b/report.pdf" in capsys.readouterr().out
    listed(laptop, "nowhere")
    assert capsys.readouterr().out == "No document matches.\n"


def test_documents_as_json_are_those_of_the_api(laptop: FakeLaptop, capsys: pytest.CaptureFixture[str]) -> None:
    listed(laptop, status="FAILED", as_json=True)
    assert json.loads(capsys.readouterr().out) == [DOCUMENTS[2]]


def test_an_empty_list_says_how_documents_come_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed(FakeLaptop([], tmp_path))
    assert "python -m local upload" in capsys.readouterr().out


# --- delete ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["letter.pdf", "id-letter.pdf", "uploads/demo/letter.pdf"])
def test_a_document_is_deleted_by_name_key_or_id(
    laptop: FakeLaptop, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert deleted(laptop, name) == 0
    assert laptop.deleted == ["id-letter.pdf"]
    assert "Deleted: letter.pdf. No answer uses it from now on." in capsys.readouterr().out


def test_a_file_name_that_several_documents_have_must_be_told_apart(laptop: FakeLaptop) -> None:
    with pytest.raises(LocalStackError, match=r"Several .* report\.pdf: a/report\.pdf, b/report\.pdf"):
        deleted(laptop, "letter.pdf", "report.pdf")
    assert laptop.deleted == []


def test_a_mistyped_name_is_answered_with_the_nearest(laptop: FakeLaptop) -> None:
    with pytest.raises(LocalStackError, match=r"no document leter\.pdf\. Did you mean letter\.pdf\?"):
        deleted(laptop, "leter.pdf")


def test_nothing_is_deleted_without_consent(
    laptop: FakeLaptop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    with pytest.raises(LocalStackError, match="--yes"):
        deleted(laptop, "letter.pdf", yes=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: "n")
    assert deleted(laptop, "letter.pdf", yes=False) == 1
    assert "Nothing was deleted." in capsys.readouterr().out
    assert laptop.deleted == []
    monkeypatch.setattr("builtins.input", lambda _: "y")
    assert deleted(laptop, "letter.pdf", yes=False) == 0
    assert laptop.deleted == ["id-letter.pdf"]


# --- status ----------------------------------------------------------------------------------------------------------


def test_status_lists_documents_those_with_a_problem_first(
    laptop: FakeLaptop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli_stack.status(cast("Laptop", laptop)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[lines.index("documents  4 documents: 3 READY, 1 FAILED") + 1].split()[:2] == ["FAILED", "letter.pdf"]


@pytest.mark.parametrize("dead", ["openai", "pinecone", "streaming"])
def test_status_shows_everything_else_when_one_program_is_dead(
    laptop: FakeLaptop, dead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    laptop.dead = {dead}
    assert cli_stack.status(cast("Laptop", laptop)) == 1
    told = capsys.readouterr().out
    assert f"died: `python -m local logs {dead}` shows why, `up` starts it again" in told
    assert "a/report.pdf" in told
    assert "http://gateway" in told


def test_status_without_the_aws_emulator_says_what_is_missing(
    laptop: FakeLaptop, capsys: pytest.CaptureFixture[str]
) -> None:
    laptop.dead = {"ministack"}
    assert cli_stack.status(cast("Laptop", laptop)) == 1
    assert "does not answer: The laptop stack is not running." in capsys.readouterr().out


def test_the_logs_of_the_maintenance_function_can_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "maintenance", "--state", str(tmp_path)]) == 0
    assert capsys.readouterr().err == "Nothing has been logged yet.\n"


def test_a_name_with_a_line_break_stays_on_one_line() -> None:
    (line,) = cli_documents.lines_of([document("uploads/demo/new\nline.pdf", title="New line")])
    assert "new�line.pdf" in line
    assert "\n" not in line


def test_a_long_name_is_cut_in_the_table() -> None:
    (line,) = cli_documents.lines_of([document(f"uploads/demo/{'long' * 60}.pdf", title="A")])
    assert f"{'long' * 14}lon…  " in line
    (line,) = cli_documents.lines_of([document(f"uploads/demo/{'l' * 56}.pdf", title="A")])
    assert f"{'l' * 56}.pdf  " in line


def test_an_option_that_a_verb_does_not_have_names_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["documents", "--limit", "5"])
    assert "`python -m local documents --help`" in capsys.readouterr().err
