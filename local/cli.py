"""`python -m local`: its arguments, and where it begins. `--help` lists the verbs, and loads nothing that runs one."""

import argparse
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from local.costs import Workload
from local.stack.components import LOG_NAMES
from local.stack.config import DEMO_ROLE, EXTRACTIVE_CHAT_MODEL, KEPT_RELEASES
from local.stack.template import parameter_defaults
from shared.models import ROLES, DocumentStatus

REINDEX_STEPS = ("run", "start", "status", "switch", "rollback", "confirm")


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return int(text)


def _email(text: str) -> str:
    if not re.fullmatch(r"[^@\s]+@[^@\s]+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not an e-mail address")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local", description="Run the laptop stack and call its API.")
    verbs = _Verbs(parser)
    _add_starting(verbs)
    _add_documents(verbs)
    _add_asking(verbs)
    _add_laptop(verbs)
    _add_operating(verbs)
    _add_deploying(verbs)
    _add_preparing(verbs)
    return parser


class _Verbs:
    """The verbs of a parser, and the arguments that several of them share."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        self.state = argparse.ArgumentParser(add_help=False)
        text = "folder of the stack's state (default: RECTO_STATE, else .recto)"
        self.state.add_argument("--state", type=Path, metavar="DIR", help=text)
        self.start = _start_arguments()
        self.tenant = argparse.ArgumentParser(add_help=False)
        text = "the user's tenant (default: demo)"
        self.tenant.add_argument("--tenant", choices=("demo", "other"), default="demo", help=text)
        self.stack = argparse.ArgumentParser(add_help=False)
        text = "a stack in the AWS account of your credentials (default: the laptop's)"
        self.stack.add_argument("--stack-name", metavar="NAME", help=text)
        self.environment = argparse.ArgumentParser(add_help=False)
        text = "environment of samconfig.toml, which names the stack (default: default)"
        self.environment.add_argument("--config-env", default="default", metavar="NAME", help=text)

    def add(self, name: str, text: str, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        """Add a verb; the first sentence of `text` stands in the list of verbs, without its full stop."""
        summary = text.split(". ")[0].removesuffix(".")
        return self._verbs.add_parser(name, help=summary, description=text, parents=parents)


def _start_arguments() -> argparse.ArgumentParser:
    start = argparse.ArgumentParser(add_help=False)
    for name, default in (("aws", 4566), ("pinecone", 5081), ("openai", 8081), ("streaming", 8082)):
        text = f"(default: RECTO_{name.upper()}_PORT, else {default})"
        start.add_argument(f"--{name}-port", type=int, metavar="PORT", help=text)
    start.add_argument("--chat-base-url", metavar="URL", help="an OpenAI-compatible server that writes the answers")
    model = f"its model (default: the emulator's {EXTRACTIVE_CHAT_MODEL}; '' for none: extractive answers)"
    start.add_argument("--chat-model", metavar="NAME", help=model)
    start.add_argument(
        "--chat-key", metavar="KEY", help="its key (better in RECTO_CHAT_KEY, which no process list shows)"
    )
    text = "a parameter of template.yaml; may be repeated"
    start.add_argument("--parameter", action="append", metavar="NAME=VALUE", help=text)
    text = "have the AWS emulator enforce the functions' roles, and record their calls in logs/calls.jsonl"
    start.add_argument("--enforce-roles", action="store_true", default=None, help=text)
    return start


def _add_starting(verbs: _Verbs) -> None:
    """What starts the stack."""
    text = "Start the emulators, build and deploy the real template; print the page's address, a token and commands."
    verbs.add("up", text, verbs.state, verbs.start)
    text = "Show everything: start the stack, upload the samples, ask, check every citation, print the page's address."
    demo = verbs.add("demo", text, verbs.state, verbs.start)
    demo.add_argument("--stop", action="store_true", help="stop the stack at the end")


def _add_documents(verbs: _Verbs) -> None:
    """What changes and lists documents."""
    text = "Upload PDFs and wait until they can be queried."
    upload = verbs.add("upload", text, verbs.state, verbs.tenant)
    upload.add_argument("paths", nargs="+", type=Path, metavar="FILE", help="PDFs, or folders that contain them")
    text = "give up when nothing has changed for this many seconds (default: %(default)s)"
    upload.add_argument("--timeout", type=float, default=600, metavar="S", help=text)
    text = "replace documents of the same name without asking; a script replaces none without this"
    upload.add_argument("--replace", action="store_true", help=text)

    text = "List the documents with status and pages, all or those whose name or title contains the words."
    listing = verbs.add("documents", text, verbs.state, verbs.tenant)
    listing.add_argument("search", nargs="*", metavar="WORD")
    listing.add_argument("--status", choices=[status.value for status in DocumentStatus], help="only these")
    listing.add_argument("--json", action="store_true", help="print what the API returns")
    deleting = verbs.add("delete", "Delete documents for good, after asking.", verbs.state, verbs.tenant)
    deleting.add_argument("names", nargs="+", metavar="NAME", help="a name as `documents` lists it, or an id")
    deleting.add_argument("--yes", action="store_true", help="do not ask")


def _add_asking(verbs: _Verbs) -> None:
    """What asks questions, and signs in."""
    text = "Ask one question, or without one start a conversation, which reads questions line by line."
    ask = verbs.add("ask", text, verbs.state, verbs.tenant)
    ask.add_argument("question", nargs="?", help="without it, a conversation begins")
    ask.add_argument("--conversation", metavar="ID", help="continue this conversation")
    ask.add_argument("--top-k", type=int, metavar="N", help="maximum number of passages to answer from")
    ask.add_argument("--stream", action="store_true", help="print the answer while it is generated")
    ask.add_argument("--json", action="store_true", help="print the API's response unchanged")
    text = (
        "Ask the question of an answer again, with its history and filters, and say what differs and why (also on "
        "AWS). Exit code 0: the same decision, sources and claims; 3: something else."
    )
    replayed = verbs.add("replay", text, verbs.state, verbs.tenant, verbs.stack)
    replayed.add_argument("message", metavar="MESSAGE", help="the `message_id` of an answer")
    replayed.add_argument("--json", action="store_true", help="print both receipts and the differences as they come")
    text = "Print a fresh ID token, valid for an hour."
    signed_in = verbs.add("token", text, verbs.state, verbs.tenant)
    text = "the user's role, for example admin for GET /admin/health (default: %(default)s)"
    signed_in.add_argument("--role", choices=ROLES, default=DEMO_ROLE, help=text)


def _add_laptop(verbs: _Verbs) -> None:
    """What looks at the laptop stack, calls its functions, and stops it."""
    verbs.add("status", "Show what runs and which documents exist.", verbs.state)
    logs = verbs.add("logs", "Show logs of the emulators or of the functions.", verbs.state)
    logs.add_argument("component", nargs="?", choices=LOG_NAMES, help="default: all of them")
    logs.add_argument("-f", "--follow", action="store_true", help="continue as lines are added")
    logs.add_argument("-n", "--lines", type=_count, default=40, metavar="N", help="lines to show first (default: 40)")
    text = "Print the functions' metrics: answers, refusals, times, tokens, cost, ingest."
    counted = verbs.add("metrics", text, verbs.state)
    text = "draw the dashboard as PNG instead, as CloudWatch would show it"
    counted.add_argument("--picture", type=Path, metavar="FILE", help=text)
    text = "Run a built function on an event, against the running laptop stack: prints its logs and its response."
    invoked = verbs.add("invoke", text, verbs.state)
    invoked.add_argument("event", type=Path, metavar="EVENT", help="a JSON file such as events/api_get_healthz.json")
    text = "its name in template.yaml (default: the one that handles such events)"
    invoked.add_argument("--function", default="", metavar="NAME", help=text)
    text = "Write what `sam local invoke` needs to reach the laptop stack, and print the command (it needs containers)."
    verbs.add("sam-env", text, verbs.state)
    verbs.add("down", "Stop everything; state is kept.", verbs.state)
    text = "Stop and delete everything except built packages and the evaluations' files."
    reset = verbs.add("reset", text, verbs.state)
    reset.add_argument("--yes", action="store_true", help="do not ask")


def _add_operating(verbs: _Verbs) -> None:
    """What operates a stack, on the laptop or on AWS."""
    text = "Ingest what the bucket holds and the index lacks, and delete vectors that a crash left (also on AWS)."
    verbs.add("sweep", text, verbs.state, verbs.stack)
    text = "Retry what is in the dead-letter queue, once the cause is fixed (also on AWS)."
    verbs.add("redrive", text, verbs.state, verbs.stack)
    text = (
        "Reindex all documents beside the old index version and switch without a gap (also on AWS). run (the default) "
        "starts, waits and switches; after Ctrl-C it continues where it stopped. The old version is kept for "
        "`rollback`, until `confirm` deletes it. After a change of settings the stack does all this itself "
        "(ReindexAutomatically)."
    )
    reindex = verbs.add("reindex", text, verbs.state, verbs.stack)
    reindex.add_argument("step", nargs="?", choices=REINDEX_STEPS, default="run", help="default: run")
    reindex.add_argument("--tenant", default="", metavar="NAME", help="whose documents (default: every tenant's)")

    text = (
        "Releases of the functions (also on AWS): list them, go back to the one before the live one (or to --release), "
        f"or delete all but the newest {KEPT_RELEASES} and the live one (prune). Tables, roles and alarms stay as they "
        "are."
    )
    released = verbs.add("releases", text, verbs.state, verbs.stack)
    released.add_argument(
        "step", nargs="?", choices=("list", "rollback", "prune"), default="list", help="default: list"
    )
    released.add_argument("--release", default="", metavar="NAME", help="which one to go back to")

    text = "Test a deployed stack: keys, index, models, users, alarms, one document from upload to deletion."
    verbs.add("smoke", text, verbs.state, verbs.stack)
    text = "Create a user with tenant and role, ready to sign in (also on AWS)."
    user = verbs.add("user", text, verbs.state, verbs.stack)
    user.add_argument("email", type=_email)
    user.add_argument("--tenant", required=True, metavar="NAME", help="whose documents; it can never be changed")
    text = "what the user may do (default: reader); docs/api.md has the table"
    user.add_argument("--role", choices=ROLES, default="reader", help=text)
    user.add_argument("--invite", action="store_true", help="mail a temporary password instead of printing one")
    text = (
        "Erasures (also on AWS): verify a receipt (FILE), finish those that were begun, check every store for traces "
        "of erased documents and users (ID …; default: all that have a receipt)."
    )
    erasing = verbs.add("erasure", text, verbs.state, verbs.stack)
    erasing.add_argument("step", choices=("verify", "finish", "check"))
    erasing.add_argument("names", nargs="*", metavar="FILE|ID", help="a receipt to verify; or ids to look for")
    text = "finish: seconds to wait for running requests, instead of as long as they may take (receipts say so)"
    erasing.add_argument("--settle", type=float, metavar="S", help=text)
    text = (
        "API keys for machine clients (also on AWS): create one (NAME is what uses it; the key is printed once), list "
        "a tenant's, revoke one (NAME is its id; it stops working within a minute)."
    )
    keys = verbs.add("keys", text, verbs.state, verbs.stack)
    keys.add_argument("step", choices=("create", "list", "revoke"))
    text = "the name of a new key, or the id of one to revoke"
    keys.add_argument("name", nargs="?", default="", metavar="NAME", help=text)
    keys.add_argument("--tenant", required=True, metavar="NAME", help="whose documents it can read")
    keys.add_argument("--role", choices=ROLES, default="reader", help="what it may do (default: reader)")
    keys.add_argument("--days", type=int, default=0, metavar="N", help="how long it works (default: until revoked)")


def _add_deploying(verbs: _Verbs) -> None:
    """What deploys a stack to AWS and deletes it, and what it costs."""
    text = "Print what a month costs, at the prices in shared/prices.json."
    costing = verbs.add("costs", text)
    month = Workload()
    costing.add_argument(
        "--documents", type=_count, default=month.documents, metavar="N", help="(default: %(default)s)"
    )
    costing.add_argument(
        "--pages", type=_count, default=month.pages, metavar="N", help="of each (default: %(default)s)"
    )
    costing.add_argument(
        "--questions", type=_count, default=month.questions, metavar="N", help="(default: %(default)s)"
    )
    costing.add_argument("--chat-model", default="gpt-6-luna", metavar="NAME", help="(default: %(default)s)")
    text = "Check what `make deploy` is about to deploy: names, parameters, the deployed stack; list what it keeps."
    check = verbs.add("deploy-check", text, verbs.environment)
    text = "parameters that the deploy sets"
    check.add_argument("parameters", nargs="*", metavar="NAME=VALUE", help=text)
    text = "Upload the page to the stack of an environment, if it serves one; `make deploy` does this at its end."
    verbs.add("publish-page", text, verbs.environment)
    text = "Delete a stack from AWS with its bucket and all documents, after asking; say what is kept."
    destroy = verbs.add("destroy", text, verbs.environment)
    destroy.add_argument("--yes", action="store_true", help="do not ask")


def _add_preparing(verbs: _Verbs) -> None:
    """What prepares an index and checks files for the bucket."""
    text = "Create the Pinecone index of a real account, with the template's defaults."
    _add_index(verbs.add("index", text))
    text = "Check a tenant's glossary before it is put into the bucket."
    glossary = verbs.add("glossary", text)
    glossary.add_argument("step", choices=("check",))
    glossary.add_argument("file", type=Path, metavar="FILE", help="the JSON file")
    glossary.add_argument("--question", default="", metavar="TEXT", help="show how it changes this question")
    text = "Check a tenant's folder rules, who may read which documents, before they are put into the bucket."
    access = verbs.add("access", text)
    access.add_argument("step", choices=("check",))
    access.add_argument("file", type=Path, metavar="FILE", help="the JSON file")
    access.add_argument("--tenant", default="", metavar="NAME", help="whose rules they are (default: the file's name)")
    access.add_argument("--key", default="", metavar="KEY", help="show who may read the document with this key")


def _add_index(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.ArgumentDefaultsHelpFormatter
    defaults = parameter_defaults()
    parser.add_argument("--name", default=defaults["PineconeIndex"], help="template parameter PineconeIndex")
    dimension = int(defaults["EmbeddingDimensions"])
    parser.add_argument("--dimension", type=int, default=dimension, help="EmbeddingDimensions")
    parser.add_argument("--cloud", default="aws", choices=("aws", "gcp", "azure"), help="cloud provider")
    parser.add_argument("--region", default="us-east-1", help="region of that cloud")
    url = defaults["PineconeControlUrl"]
    parser.add_argument("--control-url", default=url, metavar="URL", help="PineconeControlUrl")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code: 0 success, 1 failure, 2 wrong usage, 130 interrupted."""
    return ready(argv)()


def ready(argv: Sequence[str] | None = None) -> Callable[[], int]:
    """Read the arguments and load what they need; return what then runs. Exits for `--help` and wrong usage."""
    parser = _parser()
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:  # the verb's own usage helps, not that of all verbs
        parser.exit(
            2,
            f"python -m local {arguments.verb}: error: unrecognized arguments: {' '.join(unknown)}. "
            f"`python -m local {arguments.verb} --help` lists what it takes.\n",
        )
    from local.verbs import run  # here, because loading takes seconds, which `--help` need not wait for

    return partial(run, arguments)
