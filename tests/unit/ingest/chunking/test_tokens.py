"""The vocabulary comes from a file and never from the network."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from functions.ingest.chunking import tokens
from shared.errors import ConfigurationError

NAME = "cl100k_base"


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which no vocabulary has ever been stored."""
    monkeypatch.delenv(tokens.CACHE_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tokens.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    monkeypatch.setattr(tokens, "PACKAGE_ROOT", tmp_path / "package")
    return tmp_path


def test_the_vocabulary_in_the_package_is_used(nowhere: Path) -> None:
    shipped = nowhere / "package" / "tiktoken_cache"
    tokens.write_vocabularies(shipped)
    assert tokens.vocabulary_directory(NAME) == shipped


def test_a_developers_machine_builds_it_once(nowhere: Path) -> None:
    built = tokens.vocabulary_directory(NAME)
    assert built == nowhere / "cache" / "recto" / "tiktoken"
    (file,) = built.iterdir()
    stamp = file.stat().st_mtime_ns
    assert tokens.vocabulary_directory(NAME) == built
    assert file.stat().st_mtime_ns == stamp


def test_a_damaged_file_is_not_used(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = nowhere / "given"
    tokens.write_vocabularies(given)
    (file,) = given.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    monkeypatch.setenv(tokens.CACHE_VARIABLE, str(given))
    assert tokens.vocabulary_directory(NAME) != given


def test_many_workers_may_build_it_at_the_same_time(nowhere: Path) -> None:
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(tokens.vocabulary_directory(NAME))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {nowhere / "cache" / "recto" / "tiktoken"}
    assert len(list(found[0].iterdir())) == 1


def test_without_file_and_wheel_the_error_says_what_to_do(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "quicktok", None)
    with pytest.raises(ConfigurationError, match=r"python -m functions\.ingest\.chunking\.tokens tiktoken_cache"):
        tokens.vocabulary_directory(NAME)


def test_a_cache_that_cannot_be_written_to_is_passed_over(nowhere: Path) -> None:
    (nowhere / "cache").write_text("a file where a directory should be")
    assert tokens.vocabulary_directory(NAME) == nowhere / "tmp" / "recto-tiktoken"


def test_an_unwritable_cache_is_an_error_that_says_what_to_do(nowhere: Path) -> None:
    for name in ("cache", "tmp"):
        (nowhere / name).write_text("a file where a directory should be")
    with pytest.raises(ConfigurationError, match="writable"):
        tokens.vocabulary_directory(NAME)


def test_an_unknown_encoding_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="cl100k_base"):
        tokens.encoding("gpt2")


def test_the_command_of_the_package_build_writes_what_tiktoken_reads(tmp_path: Path) -> None:
    target = tmp_path / "tiktoken_cache"
    subprocess.run(
        [sys.executable, "-m", "functions.ingest.chunking.tokens", str(target)],
        check=True,
        cwd=Path(__file__).parents[4],
    )
    # no network in this child: a proxy that refuses everything stands in the way
    code = "import tiktoken; print(len(tiktoken.get_encoding('cl100k_base').encode('Hello world')))"
    environment = {**os.environ, tokens.CACHE_VARIABLE: str(target), "HTTPS_PROXY": "http://127.0.0.1:9"}
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    assert result.stdout.strip() == "2"


def test_the_command_without_a_directory_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert tokens.main([]) == 2
    assert "DIR" in capsys.readouterr().err
