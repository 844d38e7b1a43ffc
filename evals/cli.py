"""The command line of the evaluation."""

import argparse
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from evals.cache import DEFAULT
from evals.calibration.setting import LAPTOP, TARGETS
from evals.commands.common import Options
from evals.embedding import RemoteModel
from evals.errors import EvalError
from evals.progress import Display
from shared.errors import RectoError
from shared.models import EmbeddingSpace

KS = "1,5,10"
OPENAI_URL = "https://api.openai.com/v1"
OPENAI_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072}
_TALKATIVE = ("pypdf", "bm25s", "recto", "httpx", "nltk")
"""What these log about each page or request is not what is asked for here."""


@contextmanager
def _errors_only() -> Iterator[None]:
    """Keep the talkative libraries quiet for a while."""
    loggers = {logger: logger.level for logger in map(logging.getLogger, _TALKATIVE)}
    for logger in loggers:
        logger.setLevel(logging.ERROR)
        logger.addFilter(_is_error)  # bm25s sets its own level when it is imported
    try:
        yield
    finally:
        for logger, level in loggers.items():
            logger.setLevel(level)
            logger.removeFilter(_is_error)


def _is_error(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.ERROR


def main(arguments: Sequence[str]) -> int:
    """Run one command and return the exit code: 0 done, 1 not as asked, 2 wrong arguments, 130 interrupted."""
    parsed = vars(_parser().parse_args(arguments))
    command = parsed.pop("command")
    display = Display(quiet=parsed.pop("quiet", False))
    try:
        with _errors_only():
            call = getattr(import_module(f"evals.commands.{command}"), command)
            return int(call(**_call_arguments(command, parsed, display)))
    except EvalError as error:
        print(error, file=sys.stderr)
        return 1
    except RectoError as error:
        print(error.message, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. The same command goes on where this one stopped.", file=sys.stderr)
        return 130


def _call_arguments(command: str, parsed: dict[str, Any], display: Display) -> dict[str, Any]:
    if command in {"compare", "report"}:
        return {**parsed, "display": display}
    shared = ("data", "json", "sample", "cache", "seed", "fresh")
    remote = _remote(*(parsed.pop(f"embedding_{name}") for name in ("model", "dimensions", "url")))
    options = Options(display=display, remote=remote, **{name: parsed.pop(name) for name in shared})
    return {"options": options, **parsed}


def _remote(model: str, dimensions: int | None, url: str) -> RemoteModel | None:
    if not model:
        if url or dimensions:
            raise EvalError("--embedding-url and --embedding-dimensions need --embedding-model.")
        return None
    dimensions = dimensions or OPENAI_DIMENSIONS.get(model)
    if dimensions is None:
        raise EvalError(f"Say how many dimensions the vectors of {model} have: --embedding-dimensions.")
    return RemoteModel(EmbeddingSpace(model, dimensions), url or OPENAI_URL, os.environ.get("OPENAI_API_KEY", "none"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals", description="Measures Recto's quality beside its peers.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    common = _common()

    one = commands.add_parser("retrieval", parents=[common], help="page hits, MRR and nDCG on PDFs with questions")
    one.add_argument(
        "--system",
        action="append",
        dest="systems",
        type=_names,
        metavar="NAME",
        help="recto (default), langchain, llamaindex, bm25-pages, or all; more than one with commas: the first is "
        "compared with the others",
    )
    one.add_argument("--k", dest="ks", type=_numbers, default=KS, metavar="N,N", help="ranks reported (%(default)s)")
    one.add_argument("--per-document", action="store_true", help="search each question's own PDF only")
    _in_process(one, "run Recto's pipelines in this process, not through the running laptop stack")

    one = commands.add_parser(
        "chunking", parents=[common], help="Chroma's protocol: recall, precision, IoU, precision Ω"
    )
    one.add_argument("--k", type=_positive, default=5, help="chunks retrieved (%(default)s, as published)")
    one.add_argument(
        "--chunkers",
        type=_names,
        default="",
        metavar="NAME,NAME",
        help="recto, langchain, llamaindex, … (default: all)",
    )
    one.add_argument("--sizes", type=_numbers, default="200,512", metavar="N,N", help="tokens a chunk (%(default)s)")
    one.add_argument(
        "--same-mean", action="store_true", help="set the others so that their chunks are as large as ours on average"
    )

    one = commands.add_parser("documents", parents=[common], help="does the document a question names come first?")
    one.add_argument("--system", action="append", dest="systems", type=_names, metavar="NAME", help="as in `retrieval`")

    commands.add_parser("scifact", parents=[common], help="nDCG@10 and R@10: dense, lexical, hybrid")

    one = commands.add_parser("rewrite", parents=[common], help="follow-ups: the rewrite beside the turn as it is")
    one.add_argument("--k", type=_positive, default=5, help="passages looked at (%(default)s)")

    one = commands.add_parser("answers", parents=[common], help="citations, quotes, support, refusals")
    one.add_argument("--model", default="", help="chat model; without one, answers are extractive")
    one.add_argument("--base-url", default="", help="base URL of the chat server, ends in /v1 (key in OPENAI_API_KEY)")
    _in_process(one, "accepted as in `retrieval`; this command always does")

    one = commands.add_parser(
        "extractive", parents=[common], help="does an answer without a model point at the gold excerpt (Chroma's texts)"
    )
    one.add_argument("--k", type=_positive, default=7, help="passages an answer is made from (%(default)s)")
    one.add_argument("--size", type=_positive, default=512, help="tokens a chunk (%(default)s)")

    one = commands.add_parser("calibrate", parents=[common], help="what every threshold refuses, and which to choose")
    one.add_argument(
        "--lost", type=_share, default=0.025, help="share of answerable questions that may be refused (%(default)s)"
    )
    one.add_argument(
        "--write",
        dest="write_to",
        choices=TARGETS,
        nargs="?",
        const=LAPTOP,
        default="",
        help="write the threshold down, for the laptop stack (default) or for `make deploy`; else it is only shown",
    )
    one.add_argument("--html", type=Path, metavar="OUT", help="write a page with the curve here")
    _in_process(one, "accepted as in `retrieval`; this command always does")

    one = commands.add_parser("compare", help="is the difference of two results real, and which questions changed")
    one.add_argument("a", type=Path, metavar="A.json")
    one.add_argument("b", type=Path, metavar="B.json")
    one.add_argument("--json", type=Path, metavar="OUT", help="write the comparison here")
    one.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (%(default)s)")

    one = commands.add_parser("report", help="a Markdown and an HTML page from results written with --json")
    one.add_argument("results", type=Path, nargs="+", metavar="RESULT.json")
    one.add_argument("--out", type=Path, default=Path("report"), help="files OUT.md and OUT.html (%(default)s)")
    return parser


def _common() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder of the data set")
    common.add_argument("--json", type=Path, metavar="OUT", help="write the result here")
    common.add_argument("--sample", type=_positive, metavar="N", help="only so many questions, always the same ones")
    common.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        default=Path(os.environ.get("RECTO_EVALS_CACHE", DEFAULT)),
        help="where vectors and results are kept (.recto/evals-cache)",
    )
    common.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (%(default)s)")
    common.add_argument("--fresh", action="store_true", help="measure again; only vectors are taken from the cache")
    common.add_argument(
        "--embedding-model",
        default="",
        metavar="NAME",
        help="embed with this model behind OpenAI's API instead of MiniLM (key in OPENAI_API_KEY; it costs money)",
    )
    common.add_argument("--embedding-dimensions", type=_positive, metavar="N", help="dimensions of its vectors")
    common.add_argument("--embedding-url", default="", metavar="URL", help=f"its server ({OPENAI_URL}); ends in /v1")
    common.add_argument("--quiet", action="store_true", help="show no progress")
    return common


def _in_process(parser: argparse.ArgumentParser, help: str) -> None:
    parser.add_argument("--in-process", action="store_true", help=help)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 on")
    return number


def _share(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return number


def _numbers(text: str) -> list[int]:
    return [_positive(part) for part in text.split(",")]


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
