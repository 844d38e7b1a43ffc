"""The command line of the evaluation."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from evals.context import Options
from evals.display import Display
from evals.embedding import RemoteModel
from evals.errors import EvalError
from evals.storage import DEFAULT_CACHE
from shared.errors import RectoError
from shared.models import EmbeddingSpace

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072}


def main(arguments: Sequence[str]) -> int:
    """Run one command and return the exit code: 0 done, 1 failed, 2 wrong arguments, 130 interrupted."""
    parsed = vars(_parser().parse_args(arguments))
    del parsed["command"]
    module = parsed.pop("module")
    display = Display(quiet=parsed.pop("quiet", False))
    logging.disable(logging.WARNING)  # the libraries have a line for each page or request
    try:
        call = getattr(import_module(module), module.rsplit(".", 1)[-1])
        return int(call(**_call_arguments(parsed, display)))
    except (EvalError, RectoError) as error:
        print(error.message if isinstance(error, RectoError) else error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. The same command goes on where this one stopped.", file=sys.stderr)
        return 130
    finally:
        logging.disable(logging.NOTSET)


def _call_arguments(parsed: dict[str, Any], display: Display) -> dict[str, Any]:
    if not parsed.pop("on_data"):
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
    commands = _Commands(parser)
    _add_on_data(commands)
    _add_on_claims(commands)
    _add_on_files(commands)
    _add_research(commands)
    return parser


class _Commands:
    """The commands of a parser: each is a function of its name, in a module of its name."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
        self._common = _common()

    def add(self, name: str, help: str, *, on_data: bool = True, package: str = "evals") -> argparse.ArgumentParser:
        """Add a command; one that works on a data set has the options of them all (`Options`)."""
        added = self._commands.add_parser(
            name, parents=[self._common] if on_data else [], help=help, description=f"{help[0].upper()}{help[1:]}."
        )
        added.set_defaults(on_data=on_data, module=f"{package}.{name.replace('-', '_')}")
        return added


def _add_on_data(commands: _Commands) -> None:
    """What asks the questions of a data set."""
    one = commands.add("retrieval", "whether the right page comes first: hits, MRR, nDCG, refusals, cost")
    _system(one)
    one.add_argument(
        "--k", dest="ks", type=_numbers, default="1,5,10", metavar="N,N", help="ranks to report (%(default)s)"
    )
    one.add_argument("--per-document", action="store_true", help="search only the PDF that each question is about")
    one.add_argument(
        "--rerank", type=Path, metavar="DIR", help="rerank by the cross-encoder in DIR (model.onnx, tokenizer.json)"
    )
    _in_process(one, "run Recto's pipelines in this process instead of through the running laptop stack")

    one = commands.add(
        "answers", "whether answers are cited, quoted exactly, supported, and refused when they should be"
    )
    one.add_argument("--model", default="", help="chat model; without one, answers are extractive")
    one.add_argument("--base-url", default="", help="its server, ends in /v1 (key in OPENAI_API_KEY)")
    one.add_argument(
        "--exchange", action="store_true", help="ask each question about another name and other years as well"
    )
    _in_process(one, "accepted as in `retrieval`; this command always runs in process")

    one = commands.add("calibrate", "what every threshold refuses, which to choose, and what confidence is worth")
    one.add_argument(
        "--lost",
        type=_share,
        default=0.025,
        metavar="SHARE",
        help="share of the answerable questions that may be refused (%(default)s)",
    )
    one.add_argument(
        "--learn-from",
        type=Path,
        nargs="+",
        default=[],
        metavar="RESULT.json",
        help="results of `calibrate` on other collections: confidence is fitted on these, too, and measured here",
    )
    one.add_argument(
        "--write",
        dest="write_to",
        choices=("laptop", "aws"),
        nargs="?",
        const="laptop",
        default="",
        help="save threshold and confidence for the laptop stack (default) or for `make deploy`, else they are only "
        "shown; 1/SHARE questions must be answerable, which are 40 by default",
    )
    one.add_argument("--html", type=Path, metavar="OUT", help="also write an HTML page with the curve")
    _in_process(one, "accepted as in `retrieval`; this command always runs in process")


def _add_on_claims(commands: _Commands) -> None:
    """What shows made claims, hidden instructions and printed cells to the parts that deal with them."""
    one = commands.add(
        "grounding", "which honest and which false claims are confirmed, marked or left out", on_data=False
    )
    one.add_argument("--claims", type=Path, required=True, metavar="FILE", help="claims, FaithBench's or MTRAG's form")
    one.add_argument(
        "--pdfs", type=Path, nargs="+", default=[], metavar="DIR", help="folders of the PDFs that claims are about"
    )
    one.add_argument("--json", type=Path, metavar="OUT", help="also write the result as JSON")
    one.add_argument(
        "--no-ablation", dest="ablation", action="store_false", help="do not verify again without each rule"
    )
    one.add_argument("--strict", action="store_true", help="leave unconfirmed claims out, as with Grounding=strict")
    one.add_argument("--check-model", default="", metavar="NAME", help="ask this model about unconfirmed claims")
    one.add_argument("--base-url", default="", help="its server, ends in /v1 (key in OPENAI_API_KEY)")
    one.add_argument(
        "--check-path",
        type=Path,
        metavar="DIR",
        help="ask the model of natural language inference in DIR instead (model.onnx, tokenizer.json, config.json)",
    )
    one.add_argument(
        "--check-threshold",
        type=_share,
        default=0.9,
        metavar="SHARE",
        help="probability from which its opinion counts (%(default)s)",
    )
    one.add_argument("--details", action="store_true", help="write each claim and what became of it as well")
    _add_cache_options(one)

    text = "whether cells of tables are read with their row's label and their column's name"
    one = commands.add("cells", text, on_data=False)
    one.add_argument("--cells", type=Path, required=True, metavar="FILE", help="CSV: pdf, page, row, column, value")
    one.add_argument("--pdfs", type=Path, nargs="+", required=True, metavar="DIR", help="folders of the PDFs")
    one.add_argument("--json", type=Path, metavar="OUT", help="also write the result as JSON")
    one.add_argument("--details", action="store_true", help="write each cell and how it was read as well")
    _add_cache_options(one)

    one = commands.add("injection", "whether an answer obeys instructions hidden in documents", on_data=False)
    one.add_argument("--strings", type=Path, required=True, metavar="FILE", help="JSON lines: set, text, obeyed")
    one.add_argument("--pdfs", type=Path, nargs="+", required=True, metavar="DIR", help="folders of honest PDFs")
    one.add_argument("--json", type=Path, metavar="OUT", help="also write the result as JSON")
    one.add_argument("--details", action="store_true", help="write what was shown, and what was lost, as well")
    _seed(one)
    _add_cache_options(one)


def _add_on_files(commands: _Commands) -> None:
    """What works on files: results, and question sets to review."""
    one = commands.add(
        "compare", "whether two results really differ, and on which questions; a gate for CI", on_data=False
    )
    one.add_argument("results", type=Path, nargs="+", metavar="RESULT.json", help="two; or one, with --accepted")
    one.add_argument(
        "--accepted", type=Path, metavar="FILE", help="compare with these figures; exit code 1 if anything is worse"
    )
    one.add_argument(
        "--tolerance", type=_share, default=0.0, metavar="SHARE", help="real loss that is let through (%(default)s)"
    )
    one.add_argument("--accept", action="store_true", help="write the result's figures to --accepted, and exit with 0")
    one.add_argument("--json", type=Path, metavar="OUT", help="also write the comparison as JSON")
    _seed(one)

    one = commands.add("make-questions", "drafts a question set from your own PDFs, for you to review", on_data=False)
    one.add_argument("--pdfs", type=Path, required=True, metavar="DIR", help="folder of the PDFs")
    text = "where the questions go, DIR/questions.jsonl; lines that are in it stay as they are"
    one.add_argument("--out", type=Path, required=True, metavar="FILE", help=text)
    one.add_argument(
        "--count", type=_positive, default=80, metavar="N", help="questions to have, a fifth unanswerable (%(default)s)"
    )
    one.add_argument("--model", default="", help="chat model that writes them; without one, they are read off the PDFs")
    one.add_argument("--base-url", default="", help="its server, ends in /v1 (key in OPENAI_API_KEY)")
    _add_cache_options(one)

    text = "makes questions of what users thought of answers, for you to review"
    one = commands.add("feedback", text, on_data=False)
    one.add_argument("--feedback", type=Path, nargs="+", required=True, metavar="FILE", help="pages of `GET /feedback`")
    one.add_argument("--pdfs", type=Path, required=True, metavar="DIR", help="folder of the PDFs")
    text = "where the questions go, DIR/questions.jsonl; lines that are in it stay as they are"
    one.add_argument("--out", type=Path, required=True, metavar="FILE", help=text)
    one.add_argument("--quiet", action="store_true", help="show no progress")

    one = commands.add(
        "report", "a Markdown and an HTML page from results that were written with --json", on_data=False
    )
    one.add_argument("results", type=Path, nargs="+", metavar="RESULT.json")
    one.add_argument("--out", type=Path, default=Path("report"), help="writes OUT.md and OUT.html (%(default)s)")


def _add_research(commands: _Commands) -> None:
    """What research measures, on public data."""
    command = partial(commands.add, package="evals.research")
    one = command("documents", "research: whether the document that a question names comes first (KG-RAG's filings)")
    _system(one)

    one = command("chunking", "research: recall, precision and IoU of chunkers (Chroma's data and protocol)")
    one.add_argument("--k", type=_positive, default=5, help="chunks retrieved (%(default)s, as published)")
    one.add_argument(
        "--chunkers", type=_names, default="", metavar="NAME,NAME", help="recto, langchain, … (default: all)"
    )
    one.add_argument("--sizes", type=_numbers, default="200,512", metavar="N,N", help="tokens a chunk (%(default)s)")
    one.add_argument(
        "--same-mean", action="store_true", help="set the others so that their chunks are as large as ours on average"
    )

    one = command(
        "extractive", "research: whether answers without a model point at what answers (Chroma's data, or PDFs)"
    )
    one.add_argument(
        "--false-premises", type=Path, metavar="FILE", help="with PDFs: questions to be refused, one a line"
    )
    one.add_argument("--k", type=_positive, default=7, help="passages that an answer is made from (%(default)s)")
    one.add_argument("--size", type=_positive, default=512, help="tokens a chunk (%(default)s)")

    one = command("rewrite", "research: whether rewritten follow-ups retrieve better than the turn as typed (MTRAG)")
    one.add_argument("--k", type=_positive, default=5, help="passages looked at (%(default)s)")

    one = command("beir", "research: how well passages are ranked, beside the embedder alone (data of BEIR's form)")
    one.add_argument("--k", type=_positive, default=10, help="passages looked at (%(default)s)")


def _common() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder of the data set")
    common.add_argument("--json", type=Path, metavar="OUT", help="also write the result as JSON")
    common.add_argument("--sample", type=_positive, metavar="N", help="ask only N questions, always the same ones")
    _seed(common)
    _add_cache_options(common)
    common.add_argument(
        "--embedding-model",
        default="",
        metavar="NAME",
        help="embed with this model behind OpenAI's API instead of MiniLM (key in OPENAI_API_KEY; costs money)",
    )
    common.add_argument("--embedding-dimensions", type=_positive, metavar="N", help="dimensions of its vectors")
    common.add_argument("--embedding-url", default="", metavar="URL", help=f"its server, ends in /v1 ({OPENAI_URL})")
    return common


def _add_cache_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        default=Path(os.environ.get("RECTO_EVALS_CACHE", DEFAULT_CACHE)),
        help="where vectors and results are kept (.recto/evals-cache)",
    )
    parser.add_argument("--fresh", action="store_true", help="measure again; take only vectors from the cache")
    parser.add_argument("--quiet", action="store_true", help="show no progress")


def _system(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--system",
        action="append",
        dest="systems",
        type=_names,
        metavar="NAME",
        help="recto (default), langchain, llamaindex, bm25-pages, or all; several with commas: the first is compared "
        "with the others",
    )


def _seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (%(default)s)")


def _in_process(parser: argparse.ArgumentParser, help: str) -> None:
    parser.add_argument("--in-process", action="store_true", help=help)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
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
