"""The Lambda packages: what is taken out, what must stay, and bytecode that is valid wherever it is unzipped."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

from local.packaging import compile_bytecode, copy_source, prune


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


def test_bytecode_is_used_whatever_became_of_the_files_times(tmp_path: Path) -> None:
    write(tmp_path, "functions/__init__.py", "shared/__init__.py")
    source = tmp_path / "shared" / "told.py"
    source.write_text("print('from the bytecode')\n")
    compile_bytecode(tmp_path)
    # Newer, and of another size: bytecode checked against its source would be thrown away.
    source.write_text("print('compiled again, from the source')\n")
    run = subprocess.run([sys.executable, "-c", "import shared.told"], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout.strip() == "from the bytecode", run.stderr


def test_code_that_does_not_compile_stops_the_build(tmp_path: Path) -> None:
    write(tmp_path, "functions/__init__.py", "shared/__init__.py")
    (tmp_path / "shared" / "broken.py").write_text("def\n")
    with pytest.raises(ValueError, match="shared/ does not compile"):
        compile_bytecode(tmp_path)
