"""The Lambda packages: what is taken out, what must stay, and bytecode that is valid wherever it is unzipped."""

import importlib.metadata
import os
import py_compile
import subprocess
import sys
import time
from pathlib import Path

import pytest

from local.packaging import BYTECODE_KEPT_S, compile_bytecode, copy_source, prune


def write(root: Path, *files: str) -> None:
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Name: thing\nVersion: 1.2.3\n" if path.name == "METADATA" else "")


def files_in(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_what_can_never_run_is_taken_out(tmp_path: Path) -> None:
    write(
        tmp_path,
        "botocore/data/ec2/2016-11-15/service-2.json.gz",
        "boto3/data/ec2/2016-11-15/resources-1.json",
        "boto3/examples/s3.rst",
        "thing/tests/test_thing.py",
        "thing/tests/__pycache__/test_thing.pyc",
        "thing/core.pyi",
        "bin/thing",
        "thing-1.2.3.dist-info/RECORD",
    )
    prune(tmp_path)
    assert files_in(tmp_path) == set()


def test_what_is_called_stays(tmp_path: Path) -> None:
    kept = {
        "botocore/data/endpoints.json",
        "botocore/data/partitions.json",
        "botocore/data/dynamodb/2012-08-10/service-2.json.gz",
        "thing/core.py",
        "thing/testing.py",
        "thing-1.2.3.dist-info/METADATA",
        "thing-1.2.3.dist-info/entry_points.txt",
        "thing-1.2.3.dist-info/licenses/LICENSE",
    }
    write(tmp_path, *kept)
    prune(tmp_path)
    assert files_in(tmp_path) == kept
    (found,) = importlib.metadata.distributions(path=[str(tmp_path)])
    assert found.version == "1.2.3"


@pytest.mark.parametrize(("function", "other"), [("query", "ingest"), ("ingest", "query"), ("identity", "query")])
def test_a_package_holds_its_own_part_of_the_code(function: str, other: str, tmp_path: Path) -> None:
    copy_source(function, tmp_path)
    assert (tmp_path / "functions" / function / "app.py").exists()
    assert (tmp_path / "shared" / "settings.py").exists()
    assert not (tmp_path / "functions" / other).exists()
    assert not [file for file in files_in(tmp_path) if "__pycache__" in file or file.startswith("local")]


def bytecode_in(package: Path) -> dict[str, bytes]:
    return {path.parent.parent.name: path.read_bytes() for path in package.rglob("*.pyc")}


def test_bytecode_is_used_whatever_became_of_the_files_times(tmp_path: Path) -> None:
    write(tmp_path, "functions/__init__.py", "shared/__init__.py")
    source = tmp_path / "shared" / "told.py"
    source.write_text("print('from the bytecode')\n")
    compile_bytecode(tmp_path, tmp_path / "kept")
    # Newer, and of another size: bytecode checked against its source would be thrown away.
    source.write_text("print('compiled again, from the source')\n")
    run = subprocess.run([sys.executable, "-c", "import shared.told"], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout.strip() == "from the bytecode", run.stderr


def test_code_that_does_not_compile_stops_the_build(tmp_path: Path) -> None:
    write(tmp_path, "functions/__init__.py", "shared/__init__.py")
    (tmp_path / "shared" / "broken.py").write_text("def\n")
    with pytest.raises(ValueError, match="shared/ does not compile"):
        compile_bytecode(tmp_path, tmp_path / "kept")


def test_a_template_for_another_python_does_not_stop_the_build(tmp_path: Path) -> None:
    write(tmp_path, "functions/__init__.py", "shared/__init__.py")
    (tmp_path / "thing.py").write_text("print {{ name }}\n")
    compile_bytecode(tmp_path, tmp_path / "kept")
    assert set(bytecode_in(tmp_path)) == {"functions", "shared"}


def test_the_same_source_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_one = py_compile.compile

    def compile_and_note(file: str, *more: object, **named: object) -> object:
        compiled.append(Path(file).parent.name)
        return compile_one(file, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(py_compile, "compile", compile_and_note)
    for package in ("one", "two"):
        write(tmp_path / package, "functions/__init__.py", "shared/__init__.py")
        (tmp_path / package / "shared" / "__init__.py").write_text(f"NAME = {package!r}\n")
        compile_bytecode(tmp_path / package, tmp_path / "kept")
    assert sorted(compiled) == ["functions", "shared", "shared"], "empty in both; another text in each"
    one, two = (bytecode_in(tmp_path / package) for package in ("one", "two"))
    assert one["functions"] == two["functions"]
    assert one["shared"] != two["shared"]


def test_bytecode_that_no_build_has_used_for_long_is_removed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    write(tmp_path, "package/shared/__init__.py", "kept/unused")
    compile_bytecode(tmp_path / "package", kept)
    old = time.time() - BYTECODE_KEPT_S - 60
    for each in kept.iterdir():
        os.utime(each, (old, old))
    compile_bytecode(tmp_path / "package", kept)
    assert len(list(kept.iterdir())) == 1, "what has been used just now stays"
