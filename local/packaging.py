"""Make a Lambda package: `python -m local.packaging query --arch arm64 --into DIR --uv UV`.

`sam build` calls this through the Makefile. Dependencies come from uv.lock, hashes checked, as wheels for the Lambda's
Python and processor, so it works on any host. What the function can never use is removed, and everything is
byte-compiled: on Lambda the package's directory is read-only, so a missing .pyc is compiled again at every cold start.
"""

import argparse
import os
import py_compile
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path

from functions.ingest.chunking.tokens import write_vocabularies

ROOT = Path(__file__).resolve().parent.parent
PYTHON_VERSION = "3.13"
PLATFORMS = {"arm64": "aarch64-manylinux_2_28", "x86_64": "x86_64-manylinux_2_28"}
"""The processors of Lambda, and the wheels that run on Amazon Linux 2023 (glibc 2.34)."""

AWS_SERVICES = frozenset({"dynamodb", "events", "s3", "secretsmanager", "sqs", "sts"})
"""The AWS services that the functions call.

botocore describes 400 services in 28 MB of data; the others are removed.
"""

FUNCTIONS = ("authorizer", "identity", "ingest", "ocr", "query")
WITHOUT_DEPENDENCIES = frozenset({"identity"})
"""Packages of our own code only."""

BUILD_ONLY = {"authorizer": (), "ingest": ("quicktok-v1",), "ocr": ("quicktok-v1",), "query": ()}

SOURCE_OF = {"ocr": "ingest"}
"""Packages with the code and the libraries of another one, and libraries of their own."""
"""Needed to make the package (the tokenizer's vocabulary), not to run it; quicktok would bring numpy along, 60 MB."""

BYTECODE = ROOT / ".tools" / "cache" / "bytecode"
"""Bytecode of former builds: the packages have most libraries in common, and the next build has nearly all."""
BYTECODE_KEPT_S = 7 * 86_400.0
"""Seconds after which bytecode is removed that no build has used."""

VOCABULARY_DIRECTORY = "tiktoken_cache"
"""Where functions/ingest/chunking/tokens.py looks for the tokenizer's vocabulary, from the package's root."""


def build(function: str, arch: str, into: Path, uv: str) -> None:
    """Fill `into` with what the function needs and nothing else. `into` is emptied first."""
    if into.exists():
        shutil.rmtree(into)
    into.mkdir(parents=True)
    if function not in WITHOUT_DEPENDENCIES:
        install_dependencies(function, arch, into, uv)
        prune(into)
    copy_source(function, into)
    if function == "ingest":
        write_vocabularies(into / VOCABULARY_DIRECTORY)
    compile_bytecode(into, BYTECODE)


def install_dependencies(function: str, arch: str, into: Path, uv: str) -> None:
    """Install the function's group of uv.lock as wheels for `arch`. Raises `CalledProcessError` when uv cannot."""
    left_out = [f"--prune={name}" for name in BUILD_ONLY[function]]
    # Without VIRTUAL_ENV: uv must not take an activated venv of another project for this one's.
    env = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    groups = [f"--only-group={group}" for group in {SOURCE_OF.get(function, function), function}]
    export = [uv, "export", "--quiet", "--frozen", *groups, "--no-emit-project", *left_out]
    exported = subprocess.run(export, cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE).stdout
    # `sync` takes exactly what is pinned; `install` would let an override in pyproject.toml choose a newer version.
    install = [uv, "pip", "sync", "--quiet", "--python", sys.executable, "--target", str(into)]
    install += ["--python-version", PYTHON_VERSION, "--python-platform", PLATFORMS[arch]]
    install += ["--require-hashes", "-", "--only-binary", ":all:"]
    subprocess.run(install, cwd=ROOT, env=env, check=True, input=exported)


def prune(into: Path) -> None:
    """Remove what never runs: other services' descriptions, type stubs, tests, examples, scripts, installers' records.

    Each `.dist-info` keeps METADATA, entry points and licences: `importlib.metadata` needs them.
    """
    for path in list(_dispensable(into)):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _dispensable(into: Path) -> Iterator[Path]:
    yield from (
        into / name
        for name in ("bin", "boto3/examples", ".lock", "share/tessdata/osd.traineddata")
        if (into / name).exists()
    )
    for data in (into / "botocore" / "data", into / "boto3" / "data"):
        yield from (path for path in data.glob("*") if path.is_dir() and path.name not in AWS_SERVICES)
    for pattern in ("*.pyi", "*.dist-info/RECORD", "*.dist-info/INSTALLER", "*.dist-info/REQUESTED"):
        yield from into.rglob(pattern)
    for name in ("tests", "__pycache__"):
        yield from (path for path in into.rglob(name) if path.is_dir())


def copy_source(function: str, into: Path) -> None:
    """Copy our own code: `shared`, and this function's part of `functions`."""
    not_code = shutil.ignore_patterns("__pycache__", "*.pyc")
    (into / "functions").mkdir()
    shutil.copy2(ROOT / "functions" / "__init__.py", into / "functions")
    folder = SOURCE_OF.get(function, function)
    shutil.copytree(ROOT / "functions" / folder, into / "functions" / folder, ignore=not_code)
    shutil.copytree(ROOT / "shared", into / "shared", ignore=not_code)


def compile_bytecode(into: Path, kept: Path) -> None:
    """Compile every module beside its source, paths as on Lambda. Raises `ValueError` when one of ours does not.

    What a former build has compiled from the same bytes is taken from `kept`, where builds may be at work side by side.
    """
    kept.mkdir(parents=True, exist_ok=True)
    for source in into.rglob("*.py"):
        inside = source.relative_to(into)
        try:
            _compile(source, inside, kept)
        except py_compile.PyCompileError:
            if inside.parts[0] in ("functions", "shared"):
                raise ValueError(f"{inside.parts[0]}/ does not compile: run `make check`.") from None
            # Some packages contain templates for other Pythons that do not compile; nothing imports those.
    for each in kept.iterdir():
        with suppress(FileNotFoundError):  # another build was faster
            if each.stat().st_mtime < time.time() - BYTECODE_KEPT_S:
                each.unlink()


def _compile(source: Path, inside: Path, kept: Path) -> None:
    made = kept / sha256(MAGIC_NUMBER + f"{inside}\0".encode() + source.read_bytes()).hexdigest()
    target = Path(cache_from_source(str(source)))
    target.parent.mkdir(exist_ok=True)
    target.unlink(missing_ok=True)
    if not _linked(made, target):
        new = kept / f"{made.name}.{os.getpid()}"
        # Unchecked: zip archives change the files' times, and a .pyc that is checked against them would be ignored.
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(source), str(new), f"/var/task/{inside}", doraise=True, invalidation_mode=mode)
        new.replace(made)
        _linked(made, target)


def _linked(made: Path, target: Path) -> bool:
    """Put kept bytecode in its place; return whether there is any."""
    try:
        os.utime(made)
        target.hardlink_to(made)
    except FileNotFoundError:
        return False
    except OSError:  # on another disk
        shutil.copyfile(made, target)
    return True


def main() -> None:
    """Read the command line and build one package."""
    parser = argparse.ArgumentParser(prog="python -m local.packaging", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("function", choices=FUNCTIONS)
    parser.add_argument("--arch", choices=sorted(PLATFORMS), required=True)
    parser.add_argument("--into", type=Path, required=True, help="the package's directory; emptied first")
    parser.add_argument("--uv", default="uv", help="the uv to use")
    arguments = parser.parse_args()
    build(arguments.function, arguments.arch, arguments.into.resolve(), arguments.uv)


if __name__ == "__main__":
    main()
