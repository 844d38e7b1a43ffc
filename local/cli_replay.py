"""The verb `replay`: asks the question of an answer again, and says what differs and why."""

import argparse
import json
from collections.abc import Mapping
from typing import Any

from rich.markup import escape

from local.client import ApiClient, ApiError
from local.operate import Target
from local.report import Reporter, counted
from local.stack.config import LocalStackError
from local.stack.laptop import Laptop
from local.stack.users import USERS

DIFFERS = 3
"""The exit code if the answer is no longer the same."""


def on_laptop(laptop: Laptop, given: argparse.Namespace) -> int:
    """Replay an answer of one of the laptop's users."""
    with laptop.client(USERS[given.tenant]) as api:
        return replay(api, laptop.report, given)


def on_aws(target: Target, token: str, report: Reporter, given: argparse.Namespace) -> int:
    """Replay an answer on a deployed stack, as whoever asked for it. Raises `LocalStackError` without their token."""
    if not token:
        raise LocalStackError("Only the asker can read a receipt: set RECTO_TOKEN to their ID token or API key.")
    with ApiClient(target.outputs["ApiUrl"], token) as api:
        return replay(api, report, given)


def replay(api: ApiClient, report: Reporter, given: argparse.Namespace) -> int:
    """Replay an answer; 0 if it is the same, else `DIFFERS`. Raises `ApiError`, `LocalStackError`."""
    try:
        with report.live("Asking again"):
            replayed = api.replay(given.message)
    except ApiError as error:
        if error.status == 404:
            raise LocalStackError(
                f"This user has no answer {given.message} with a receipt: `ask --json` prints an answer's message_id."
            ) from error
        raise
    if given.json:
        print(json.dumps(replayed, indent=2, ensure_ascii=False))
    else:
        print_replay(replayed, report)
    return 0 if replayed["identical"] else DIFFERS


def print_replay(replayed: Mapping[str, Any], report: Reporter) -> None:
    """Print what differs, and what has changed since."""
    then, now = replayed["then"], replayed["now"]
    report.markup(
        f"[bold]{escape(then['question'])}[/] [dim]{then['asked_at'][:19]}, index version {then['index_version']}[/]"
    )
    for name, answered in (("then", then), ("now", now)):
        report.markup(f"  [dim]{name}:[/] {escape(_summary(answered))}")
    if replayed["identical"]:
        report.markup("[bold green]The same[/] decision, sources and claims.")
    else:
        report.markup("[bold yellow]Another answer[/]")
    for each in replayed["effects"]:
        report.markup(f"  [yellow]{each['kind']}[/] {escape(each['text'])}")
    if replayed["causes"]:
        report.say("What has changed since:")
    for each in replayed["causes"]:
        report.markup(f"  [cyan]{each['kind']}[/] {escape(each['text'])}")


def _summary(receipt: Mapping[str, Any]) -> str:
    said = f"refused, {receipt['refusal']}" if receipt["refusal"] else str(receipt["mode"])
    sources = sum(1 for each in receipt["candidates"] if each["source"])
    claims = receipt["claims"]
    dropped = sum(1 for each in claims if not each["shown"])
    cached = ", from the cache" if receipt["caches"]["answer"] else ""
    shown = counted(len(claims) - dropped, "claim")
    return f"{said}{cached}; {counted(sources, 'source')}, {shown}, {dropped} dropped"
