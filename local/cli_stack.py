"""The verbs that run the stack: up, down, status, logs, reset, index."""

import argparse
import json
import os
import shlex
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from botocore.exceptions import BotoCoreError, ClientError

from local import costs, metrics
from local.cli_documents import counts_of, lines_of
from local.cli_upload import ANSWERABLE
from local.client import ApiError
from local.page import BUILT, INDEX
from local.report import Reporter
from local.stack import pinecone_index, sam
from local.stack.aws import Deployed
from local.stack.components import FUNCTIONS, NAMES, STREAMING
from local.stack.config import EXTRACTIVE_CHAT_MODEL, PROJECT, LocalConfig, LocalStackError
from local.stack.laptop import Laptop
from shared.settings import Settings

SHOWN = 10
"""Documents that `status` lists."""
TABLE_WIDTH = 100
"""Characters that the table of metrics needs; in a pipe rich takes 80 and would cut names off."""
CHAT_PROBE_TIMEOUT_S = 3.0
"""How long `up` waits for a chat model's server."""
_NOTHING_COUNTED = "Nothing has been counted yet: upload a document, or ask a question."


def up(laptop: Laptop) -> int:
    """Bring the stack up and print how to use it."""
    begun = time.monotonic()
    deployed = laptop.up()
    laptop.report.markup(f"[bold green]The laptop stack is up[/] [dim]({time.monotonic() - begun:.1f} s)[/]")
    if laptop.config.chat_base_url:
        laptop.report.say(who_writes(laptop.config))
    if told := what_is_set(laptop.config):
        laptop.report.say(told)
    laptop.report.say(how_to_use(laptop.config, deployed, laptop.token()))
    return 0


def how_to_use(config: LocalConfig, deployed: Deployed, token: str) -> str:
    """Return addresses, token and ready-to-paste lines."""
    default = config.state == config.project / ".recto"
    state = "" if default else f" --state {shlex.quote(str(config.state))}"
    inside = Path(sys.prefix).is_relative_to(config.project)
    python = Path(sys.executable).relative_to(config.project) if inside else Path(sys.executable)
    return f"""
Page     {page_of(config)}
API      {config.streaming_url} (use this one; its reference: {config.streaming_url}/docs)
Gateway  {deployed.api_url} (the same through the emulated API Gateway, for tests; it serves few clients at once)
Bucket   {deployed.bucket}
Token    valid for an hour; for a new one: {python} -m local token{state} (an administrator's: --role admin)

export API={config.streaming_url}
export TOKEN={token}

# upload a PDF, either way
{python} -m local upload{state} local/samples
AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_DEFAULT_REGION=us-east-1 \\
  aws s3 cp my.pdf s3://{deployed.bucket}/uploads/demo/my.pdf --endpoint-url {config.aws_url}

# see what there is, and ask; `ask` without a question begins a conversation
{python} -m local documents{state}
{python} -m local ask{state} "How many people can winter at the station?"
curl -s -H "Authorization: Bearer $TOKEN" "$API/documents"
curl -s -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
  -d '{{"question": "How many people can winter at the station?"}}' "$API/query"

# the same, streamed
curl -sN -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -H "Accept: text/event-stream" \\
  -d '{{"question": "How many people can winter at the station?"}}' "$API/query"

Stop it with: {python} -m local down{state}"""


def who_writes(config: LocalConfig) -> str:
    """Return which model on a server of one's own writes the answers, how to go back, and whether it can be reached."""
    told = f"""
Model    {config.chat_model} at {config.chat_base_url}, until you choose another; back to the emulated one:
         make up ARGS="--chat-base-url= --chat-model={EXTRACTIVE_CHAT_MODEL}\""""
    try:
        # Any answer will do: what the server says of the key and the model, `python -m local smoke` tests.
        httpx.get(f"{config.chat_base_url.rstrip('/')}/models", timeout=CHAT_PROBE_TIMEOUT_S)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        told += f"\n         It cannot be reached ({error}): until then answers are sentences of the sources."
    return told


def what_is_set(config: LocalConfig) -> str:
    """Return the template's parameters that each `up` keeps, and how to go back; nothing if all are a laptop's own."""
    own = sam.parameters(replace(config, parameters={}))
    chosen = {name: value for name, value in config.parameters.items() if value != own[name]}
    if not chosen:
        return ""
    name = next(iter(chosen))
    return f"""
Settings {" ".join(f"{name}={value}" for name, value in chosen.items())}
         Each `up` keeps them until you give `--parameter` again, which replaces all of them; back to what was before:
         make up ARGS="--parameter {name}={own[name]}\""""


def page_of(config: LocalConfig) -> str:
    """Return the page's address, and how to get the page if it is not built."""
    missing = "" if (BUILT / INDEX).exists() else " (not built yet: `make web`, then reload)"
    return f"{config.page_urls[0]}{missing}"


def down(laptop: Laptop) -> int:
    """Stop everything."""
    if not any(s.pid or s.died for s in laptop.status()):
        laptop.report.say("The laptop stack is not running.")
        return 0
    return 0 if laptop.down() else 1


def status(laptop: Laptop) -> int:
    """Print what runs and the documents of the demo tenant; 0 when everything runs and answers.

    Programs that have died are named; everything that can still be read is printed.
    """
    found = laptop.status()
    for component in found:
        state = f"running, pid {component.pid}" if component.pid else "died" if component.died else "stopped"
        hint = f": `python -m local logs {component.name}` shows why, `up` starts it again" if component.died else ""
        laptop.report.say(f"{component.name:10} port {component.port:<6} {state}{hint}")
    laptop.report.say(f"{'state':10} {laptop.config.state}")
    running = {component.name for component in found if component.pid}
    if not running:
        return 1
    answers = _print_api(laptop, serves=STREAMING in running)
    return 0 if answers and len(running) == len(found) else 1


def _print_api(laptop: Laptop, *, serves: bool) -> bool:
    """Print the API's addresses and the documents; return whether it answers."""
    try:
        deployed = laptop.deployed()
        laptop.report.say(f"{'page':10} {page_of(laptop.config) if serves else 'its server is not running'}")
        laptop.report.say(f"{'api':10} {laptop.config.streaming_url if serves else 'its server is not running'}")
        laptop.report.say(f"{'gateway':10} {deployed.api_url}")
        with laptop.client(streaming=serves) as api:
            documents = list(api.documents(limit=200))
    except (LocalStackError, ApiError, httpx.HTTPError, BotoCoreError, ClientError) as error:
        laptop.report.say(f"{'api':10} does not answer: {error or type(error).__name__}")
        return False
    laptop.report.say(f"{'documents':10} {counts_of(documents)}")
    # Documents that are still being read come first, then those changed last.
    documents.sort(key=lambda each: str(each["updated_at"]), reverse=True)
    documents.sort(key=lambda each: each["status"] in ANSWERABLE)
    for line in lines_of(documents[:SHOWN]):
        laptop.report.markup(f"  {line}")
    if len(documents) > SHOWN:
        laptop.report.say(f"  … and {len(documents) - SHOWN:,} more: `python -m local documents` lists all.")
    return True


def reset(laptop: Laptop, *, yes: bool) -> int:
    """Stop and delete everything, after asking."""
    if not yes:
        if not sys.stdin.isatty():
            raise LocalStackError("This deletes every document and conversation of the laptop stack: add --yes.")
        answer = input(f"Delete every document and conversation under {laptop.config.state}? [y/N] ")
        if answer.strip().lower() not in {"y", "yes"}:
            return 1
    laptop.reset()
    laptop.report.say("Deleted.")
    return 0


def index(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Create the Pinecone index of a real account (`up` does it for the emulator)."""
    key = os.environ.get("PINECONE_API_KEY", "")
    if not key:
        raise LocalStackError("PINECONE_API_KEY is not set: put your key there (app.pinecone.io, API keys).")
    options = {name: getattr(arguments, name) for name in ("name", "dimension", "cloud", "region")}
    created = pinecone_index.ensure(arguments.control_url, **options, api_key=key)
    reporter.say(f"Index {arguments.name}: {'created' if created else 'already there'}, ready, tested.")
    return 0


def show_metrics(laptop: Laptop, picture: Path | None = None) -> int:
    """Print the functions' metrics since the stack was deployed, or draw the dashboard with them."""
    laptop.deployed()
    found = laptop.log_lines()
    # The emulator repeats in its own log what the ingest function prints.
    lines = [line for name in found.keys() - set(NAMES) | {STREAMING} for line in found[name]]
    if picture is not None:
        return _draw_dashboard(laptop, metrics.series_of(lines), picture)
    summaries = metrics.summaries_of(lines)
    if not summaries:
        laptop.report.say(_NOTHING_COUNTED)
        return 0
    console = laptop.report.console
    console.width = max(console.width, TABLE_WIDTH)
    console.print(metrics.table_of(summaries))
    return 0


def _draw_dashboard(laptop: Laptop, series: dict[metrics.Series, list[metrics.Point]], picture: Path) -> int:
    from local import dashboard  # matplotlib takes half a second to import

    client = laptop.aws.client("cloudwatch")
    name = laptop.deployed().one("AWS::CloudWatch::Dashboard")
    body = json.loads(client.get_dashboard(DashboardName=name)["DashboardBody"])
    series |= {each: found for each in dashboard.series_in(body) if (found := _measured_by_aws(client, each))}
    if not series:
        laptop.report.say(_NOTHING_COUNTED)
        return 1
    try:
        dashboard.draw(body, series, picture)
    except OSError as error:
        raise LocalStackError(f"{picture} cannot be written: {error.strerror}.") from None
    laptop.report.say(f"Drawn: {picture}")
    return 0


def show_costs(reporter: Reporter, given: argparse.Namespace) -> int:
    """Print what a month costs, as a Markdown table."""
    alarms = (PROJECT / "template.yaml").read_text().count("Type: AWS::CloudWatch::Alarm")
    load = costs.Workload(given.documents, given.pages, given.questions)
    try:
        items = costs.bill(load, Settings(), chat_model=given.chat_model, alarms=alarms)
    except KeyError as error:
        raise LocalStackError(f"{error.args[0]} Add it there.") from None
    reporter.say(costs.table(items))
    return 0


def _measured_by_aws(client: Any, series: metrics.Series) -> list[metrics.Point]:
    """Return the last three hours of a series from the emulator's CloudWatch, by the second."""
    now = datetime.now(UTC)
    found = client.get_metric_statistics(
        Namespace=series.namespace,
        MetricName=series.name,
        Dimensions=[{"Name": name, "Value": value} for name, value in series.dimensions],
        StartTime=now - timedelta(hours=3),
        EndTime=now,
        Period=1,
        Statistics=["Average", "SampleCount"],
    )
    return [
        metrics.Point(each["Timestamp"].timestamp(), each["Average"])
        for each in found["Datapoints"]
        for _ in range(int(each["SampleCount"]))
    ]


# --- logs ------------------------------------------------------------------------------------------------------------


def logs(laptop: Laptop, arguments: argparse.Namespace) -> int:
    """Print the ends of logs, and with `--follow` the lines added later."""
    names = [arguments.component] if arguments.component else [*NAMES, *FUNCTIONS]
    sources = {
        name: _function_lines(laptop, name) if name in FUNCTIONS else _file_lines(laptop.supervisor.log_of(name))
        for name in names
    }
    limit: int | None = arguments.lines
    printed = False
    while True:
        for name, source in sources.items():
            fresh = next(source)
            for line in fresh if limit is None else fresh[max(0, len(fresh) - limit) :]:
                print(f"{name:11} {line}" if len(names) > 1 else line, flush=True)
                printed = True
        if not arguments.follow:
            if not printed and limit:
                print("Nothing has been logged yet.", file=sys.stderr)
            return 0
        limit = None
        time.sleep(0.5)


def _file_lines(path: Path) -> Iterator[list[str]]:
    """Yield the lines added to a file since the previous call."""
    position = 0
    while True:
        if not path.exists():
            yield []
            continue
        with path.open("rb") as file:
            if path.stat().st_size < position:
                position = 0  # the log was started anew
            file.seek(position)
            added = file.read()
        whole = added.rpartition(b"\n")[0]
        position += len(whole) + 1 if whole else 0
        yield whole.decode(errors="replace").splitlines()


def _function_lines(laptop: Laptop, name: str) -> Iterator[list[str]]:
    """Yield the lines added to a function's log group since the previous call; none while nothing is deployed."""
    since = 0
    seen: set[tuple[int, str, str]] = set()  # the emulator gives events no id
    while True:
        try:
            function = laptop.deployed().outputs[f"{name.title()}FunctionName"]
            events = laptop.aws.log_events(f"/aws/lambda/{function}", since)
        except (LocalStackError, KeyError):
            events = []
        fresh = [event for event in events if event not in seen]
        seen.update(fresh)
        since = max((timestamp_ms for timestamp_ms, _, _ in fresh), default=since)
        yield [message.rstrip("\n") for _, _, message in fresh]
