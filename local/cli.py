"""`python -m local`: runs the laptop stack and talks to it.

up       start the emulators, build and deploy the real template, print the URL, a token, ready-to-paste lines
demo     up, upload the sample PDFs, ask the sample questions, check every citation, down again
upload   upload files or folders and wait until they can be asked about
ask      ask one question
token    print a fresh ID token
status   what runs, and which documents there are
logs     show logs of the emulators or of the functions
down     stop; everything is kept for the next `up`
reset    stop and forget everything
sweep    take up what the bucket holds and the index does not show, delete vectors that a crash left (also on AWS)
reindex  build all documents anew beside the old ones and switch without a gap (also on AWS)
redrive  give what lies with the dead letters another try (also on AWS)
index    create the Pinecone index of a real account
glossary check a tenant's glossary before it is put into the bucket
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import httpx
from botocore.exceptions import BotoCoreError, ClientError

from local import cli_api, cli_demo, cli_stack, operate
from local.client import ApiError, NotInTime
from local.operate import aws_target, laptop_target
from local.report import Reporter
from local.stack import sam
from local.stack.config import EXTRACTIVE_CHAT_MODEL, PORTS, PROJECT, LocalConfig, LocalStackError
from local.stack.laptop import Laptop
from shared.settings import Settings

OPERATE = {"sweep": operate.sweep, "redrive": operate.redrive}


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 up")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    state = argparse.ArgumentParser(add_help=False)
    state.add_argument(
        "--state", type=Path, metavar="DIR", help="where everything is kept (default: RECTO_STATE, else .recto)"
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, text: str, parents: Sequence[argparse.ArgumentParser] = ()) -> argparse.ArgumentParser:
        return verbs.add_parser(name, help=text, description=text, parents=[state, *parents])

    start = argparse.ArgumentParser(add_help=False)
    for name, default in (("aws", 4566), ("pinecone", 5081), ("openai", 8081), ("streaming", 8082)):
        start.add_argument(
            f"--{name}-port", type=int, metavar="PORT", help=f"(default: RECTO_{name.upper()}_PORT, else {default})"
        )
    start.add_argument("--chat-base-url", metavar="URL", help="an OpenAI-compatible server that writes the answers")
    start.add_argument(
        "--chat-model",
        metavar="NAME",
        help=f"its model (default: the emulator's {EXTRACTIVE_CHAT_MODEL}; '' for none: extractive answers)",
    )
    start.add_argument(
        "--chat-key", metavar="KEY", help="its key (better: RECTO_CHAT_KEY, which no process list shows)"
    )
    start.add_argument(
        "--parameter", action="append", metavar="NAME=VALUE", help="a parameter of template.yaml; may be repeated"
    )

    verb("up", "Start, build, deploy, check; print how to use it.", [start])
    demo = verb("demo", "From nothing to cited answers, with the time each step took.", [start])
    demo.add_argument("--keep", action="store_true", help="leave the stack running")
    verb("down", "Stop everything; state is kept.")
    verb("status", "Show what runs and which documents there are.")
    logs = verb("logs", "Show logs.")
    logs.add_argument("component", nargs="?", choices=cli_stack.LOG_NAMES, help="default: all of them")
    logs.add_argument("-f", "--follow", action="store_true", help="go on as lines are added")
    logs.add_argument("-n", "--lines", type=_count, default=40, metavar="N", help="lines to begin with (default: 40)")
    reset = verb("reset", "Stop and forget everything but built packages and what evals keeps.")
    reset.add_argument("--yes", action="store_true", help="do not ask")
    token = verb("token", "Print a fresh ID token, good for an hour.")
    token.add_argument("--tenant", choices=("demo", "other"), default="demo")
    upload = verb("upload", "Upload PDFs and wait until they can be asked about.")
    upload.add_argument(
        "paths", nargs="+", type=Path, metavar="FILE", help="PDFs, or folders that are searched for them"
    )
    upload.add_argument(
        "--timeout", type=float, default=600, metavar="S", help="seconds to wait for each (default: 600)"
    )
    ask = verb("ask", "Ask one question.")
    ask.add_argument("question")
    ask.add_argument("--conversation", metavar="ID", help="go on with this conversation")
    ask.add_argument("--top-k", type=int, metavar="N", help="passages to answer from at most")
    ask.add_argument("--stream", action="store_true", help="print the answer while it is written (on its own port)")
    ask.add_argument("--json", action="store_true", help="print the API's answer as it came")
    for talk in (upload, ask):
        talk.add_argument("--tenant", choices=("demo", "other"), default="demo", help="whose documents (default: demo)")
    for name, text in (
        ("sweep", "Take up what the bucket holds and the index does not show, and delete vectors that a crash left."),
        ("redrive", "Give what lies with the dead letters another try, once the cause is mended."),
    ):
        verb(name, text).add_argument(
            "--stack-name",
            metavar="NAME",
            help="a stack in the AWS account of your credentials (default: the laptop's)",
        )
    operate.add_arguments(verb("reindex", operate.HELP))
    defaults = Settings.model_fields
    index = verbs.add_parser(
        "index",
        help="Create the Pinecone index of a real account.",
        description="Create the index of the account PINECONE_API_KEY belongs to, with the template's defaults.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    index.add_argument("--name", default=defaults["pinecone_index"].default, help="template parameter PineconeIndex")
    index.add_argument(
        "--dimension", type=int, default=defaults["embedding_dimensions"].default, help="EmbeddingDimensions"
    )
    index.add_argument("--metric", default="dotproduct", choices=("dotproduct", "cosine"), help="how scores are made")
    index.add_argument("--cloud", default="aws", choices=("aws", "gcp", "azure"), help="where it lies")
    index.add_argument("--region", default="us-east-1", help="in which region of that cloud")
    index.add_argument(
        "--control-url", default=defaults["pinecone_control_url"].default, metavar="URL", help="PineconeControlUrl"
    )
    words = verbs.add_parser("glossary", help="Check a tenant's glossary before it is put into the bucket.")
    words.add_argument("step", choices=("check",))
    words.add_argument("file", type=Path, metavar="FILE", help="the JSON file")
    words.add_argument("--question", default="", metavar="TEXT", help="show what it makes of this question")
    return parser


def _config(arguments: argparse.Namespace) -> LocalConfig:
    environ = os.environ
    state = arguments.state or Path(environ.get("RECTO_STATE") or PROJECT / ".recto")
    names = (*PORTS, "chat_base_url", "chat_model", "chat_key")
    flags = {name: getattr(arguments, name, None) for name in names}
    if given := getattr(arguments, "parameter", None):
        if not all("=" in each for each in given):
            raise LocalStackError("A parameter is given as NAME=VALUE, for example --parameter LeaseSeconds=20.")
        parameters = dict(each.split("=", 1) for each in given)
        if unknown := sorted(parameters.keys() - sam.known_parameters(PROJECT)):
            # SAM would leave it out without a word.
            raise LocalStackError(f"template.yaml has no parameter {', '.join(unknown)}: see docs/settings.md.")
        flags["parameters"] = parameters
    if arguments.verb in {"up", "demo"} and flags["chat_key"] is None:
        flags["chat_key"] = environ.get("RECTO_CHAT_KEY")
    return LocalConfig.load(state.resolve(), environ, **flags)


def _run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    if arguments.verb == "index":
        return cli_stack.index(reporter, arguments)
    if arguments.verb == "glossary":
        return operate.check_glossary(arguments.file, arguments.question)
    laptop = Laptop(_config(arguments), reporter)
    if arguments.verb in {*OPERATE, "reindex"}:
        target = aws_target(arguments.stack_name) if arguments.stack_name else laptop_target(laptop)
        if arguments.verb == "reindex":
            return operate.reindex(target, reporter, arguments.step, arguments.tenant)
        return OPERATE[arguments.verb](target, reporter)
    match arguments.verb:
        case "up":
            return cli_stack.up(laptop)
        case "demo":
            return cli_demo.demo(laptop, keep=arguments.keep)
        case "down":
            return cli_stack.down(laptop)
        case "status":
            return cli_stack.status(laptop)
        case "logs":
            return cli_stack.logs(laptop, arguments.component, lines=arguments.lines, follow=arguments.follow)
        case "reset":
            return cli_stack.reset(laptop, yes=arguments.yes)
        case "token":
            return cli_api.token(laptop, arguments.tenant)
        case "upload":
            return cli_api.upload(laptop, arguments.paths, tenant=arguments.tenant, timeout_s=arguments.timeout)
        case _:
            return cli_api.ask(laptop, arguments)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code: 0 well, 1 failed, 2 misused, 130 interrupted."""
    arguments = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, _interrupt)  # a supervisor's stop is as clean as Ctrl-C
    reporter = Reporter()
    try:
        return _run(arguments, reporter)
    except KeyboardInterrupt:
        reporter.say("Interrupted.")
        return 130
    except (LocalStackError, ApiError, NotInTime) as error:
        print(error, file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError, httpx.HTTPError) as error:
        print(f"{type(error).__name__}: {error}\n`python -m local logs` may tell more.", file=sys.stderr)
        return 1
