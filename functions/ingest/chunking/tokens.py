"""The tokenizer, with its vocabulary from a file that ships in the package: nothing is ever fetched.

tiktoken downloads a vocabulary it does not find in `TIKTOKEN_CACHE_DIR`, and neither a Lambda nor a test
may use the internet. So the file is found and checked here first, and tiktoken is called only when it will not need
the network.

`python -m functions.ingest.chunking.tokens DIR [ENCODING ...]` writes the vocabularies into DIR; the package build
runs it.
"""

import base64
import functools
import hashlib
import importlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from shared.errors import ConfigurationError

# Number of ordinary tokens and SHA-256 of OpenAI's vocabulary files, as `tiktoken_ext.openai_public` states them.
VOCABULARIES = {
    "cl100k_base": (100_256, "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"),
    "o200k_base": (199_998, "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
}
CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
PACKAGE_ROOT = Path(__file__).resolve().parents[3]

_lock = threading.Lock()


@functools.cache
def encoding(name: str = "cl100k_base") -> Any:
    """Return the `tiktoken.Encoding` called `name`, loaded from a local file.

    Raises `ConfigurationError` if the name is unknown, or if no intact vocabulary can be found or built offline.
    """
    if name not in VOCABULARIES:
        raise ConfigurationError(f"Unknown encoding {name!r}: use one of {', '.join(VOCABULARIES)}.")
    directory = vocabulary_directory(name)
    import tiktoken  # late: half of the import time of this package

    with _lock:  # tiktoken takes the directory from the environment and from nowhere else
        os.environ[CACHE_VARIABLE] = str(directory)
        return tiktoken.get_encoding(name)


def vocabulary_directory(name: str) -> Path:
    """Return a directory that holds the intact vocabulary `name`, building it offline if there is none.

    Looked at in turn: `TIKTOKEN_CACHE_DIR`, `tiktoken_cache` at the root of the package, the user's cache directory.
    Raises `ConfigurationError` if all of them fail and the `quicktok-v1` wheel is not installed.
    """
    places = list(_places())
    for place in places:
        if _is_intact(place / _file_name(name), name):
            return place
    try:
        data = _vocabulary(name)
    except ImportError as error:
        raise ConfigurationError(
            f"The vocabulary of {name} is in none of {', '.join(map(str, places))} and is never downloaded. "
            "Put it into the package with `python -m functions.ingest.chunking.tokens tiktoken_cache`, or install "
            "quicktok-v1, from which it can be built here."
        ) from error
    for place in places[-2:]:  # never write into the package or an operator's directory
        try:
            _write(place / _file_name(name), data)
        except OSError:
            continue
        return place
    raise ConfigurationError(
        f"The vocabulary of {name} could not be written to {' or '.join(map(str, places[-2:]))}: make one of them "
        f"writable, or run `python -m functions.ingest.chunking.tokens DIR` and set {CACHE_VARIABLE}=DIR."
    )


def write_vocabularies(directory: Path, names: Sequence[str] = ("cl100k_base",)) -> None:
    """Write the vocabularies `names` into `directory` under the file names tiktoken looks for.

    Needs the `quicktok-v1` wheel, which holds the same vocabularies; each file is checked against OpenAI's SHA-256.
    Raises `ConfigurationError` for an unknown name or a vocabulary that does not match.
    """
    for name in names:
        if name not in VOCABULARIES:
            raise ConfigurationError(f"Unknown encoding {name!r}: use one of {', '.join(VOCABULARIES)}.")
        if not _is_intact(directory / _file_name(name), name):
            _write(directory / _file_name(name), _vocabulary(name))


def _places() -> Iterator[Path]:
    if given := os.environ.get(CACHE_VARIABLE):
        yield Path(given)
    yield PACKAGE_ROOT / "tiktoken_cache"
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("HOME", "")
    user = Path(home) if os.environ.get("XDG_CACHE_HOME") else Path(home, ".cache")
    # Lambda has no usable HOME: its /tmp serves as both.
    yield (user if home else Path(tempfile.gettempdir())) / "recto" / "tiktoken"
    yield Path(tempfile.gettempdir()) / "recto-tiktoken"


def _file_name(name: str) -> str:
    url = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
    return hashlib.sha1(url.encode()).hexdigest()  # noqa: S324 - tiktoken's naming, not a safeguard


def _is_intact(path: Path, name: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == VOCABULARIES[name][1]
    except OSError:
        return False


def _vocabulary(name: str) -> bytes:
    """Rebuild OpenAI's file from the wheel's: one line a token, its bytes in base64 and its rank."""
    source = importlib.import_module("quicktok").get_encoding(name)
    count, digest = VOCABULARIES[name]
    data = b"".join(base64.b64encode(source.decode_bytes([rank])) + b" %d\n" % rank for rank in range(count))
    if hashlib.sha256(data).hexdigest() != digest:
        raise ConfigurationError(
            f"quicktok-v1 holds another vocabulary than OpenAI's {name}: install the locked version (`uv sync`)."
        )
    return data


def _write(path: Path, data: bytes) -> None:
    """Write atomically: several workers may do this at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as temporary:
        try:
            temporary.write(data)
            temporary.flush()
            Path(temporary.name).replace(path)
        except OSError:
            Path(temporary.name).unlink(missing_ok=True)
            raise


def main(arguments: Sequence[str]) -> int:
    """Write vocabularies: the directory, then the encodings (default cl100k_base). Returns the exit code."""
    if not arguments:
        sys.stderr.write("usage: python -m functions.ingest.chunking.tokens DIR [ENCODING ...]\n")
        return 2
    names = arguments[1:] or ["cl100k_base"]
    write_vocabularies(Path(arguments[0]), names)
    sys.stdout.write(f"{', '.join(names)} in {arguments[0]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
