"""Gives the dashboard something to show, then draws it: `python -m tests.support.dashboard_run PICTURE [--state DIR]`.

It needs a running laptop stack. It uploads, asks, gets refusals, and makes a chat model and then an embedding model
fail. The metrics that AWS records by itself (API Gateway, SQS, Lambda), and the emulator does not, are measured here
and put into the emulator's CloudWatch. It takes some three minutes; docs/images/dashboard.png was made with it.
"""

import argparse
import random
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console

from local import cli_stack
from local.cli_demo import sample_pdfs, sample_questions
from local.client import ApiClient
from local.operate import laptop_target, sweep
from local.report import Reporter
from local.stack.config import PROJECT, LocalConfig
from local.stack.laptop import Laptop
from tests.support.sample_pdfs import SampleText, make_pdf

SECONDS = 160
"""How long questions are asked."""
FAULTS: Mapping[range, Mapping[str, Any]] = {
    range(50, 75): {"route": "/v1/chat/completions", "kind": "status", "status": 503},
    range(85, 100): {"route": "/v1/embeddings", "kind": "status", "status": 401},
    range(115, 130): {"route": "/v1/chat/completions", "kind": "status", "status": 429},
}
"""What fails in which seconds of the run."""
REPORT = re.compile(r"^REPORT .*\bDuration: (\d+) ms")


@dataclass
class Run:
    """One run on one stack. `dice` decide what is asked."""

    laptop: Laptop
    dice: random.Random = field(default_factory=lambda: random.Random(12))

    def play(self) -> None:
        """Upload, ask and break things for `SECONDS`."""
        begun = time.monotonic()
        questions = [each.question for each in sample_questions()]
        with self.laptop.client() as api:
            files = self._files()
            for pdf in sample_pdfs():
                api.upload(pdf)
            while (second := int(time.monotonic() - begun)) < SECONDS:
                with self._broken(second):
                    if self.dice.random() < 0.25:
                        name, content = next(files)
                        api.send(api.announce(name), content)
                    self._ask(api, self.dice.choice(questions))
                    self._ask(api, self.dice.choice(("Hello!", "", f"What is the number {second} good for?")))
                self._look_at_the_queues()
                time.sleep(0.5)
        sweep(laptop_target(self.laptop), self.laptop.report)
        self._put_durations()

    def _files(self) -> Iterator[tuple[str, bytes]]:
        head = {"title": "Notes", "subtitle": "A run", "edition": "First edition"}
        number = 0
        while True:
            number += 1
            yield f"run/{number}.pdf", make_pdf(SampleText(head, ["# Facts", f"Note {number} is about the ferry."]))
            yield f"run/{number}.pdf", b"This is no PDF."

    @contextmanager
    def _broken(self, second: int) -> Iterator[None]:
        faults = f"{self.laptop.config.openai_url.removesuffix('/v1')}/_admin/faults"
        for rule in [rule for seconds, rule in FAULTS.items() if second in seconds]:
            httpx.post(faults, json=rule).raise_for_status()
        try:
            yield
        finally:
            httpx.delete(faults).raise_for_status()

    def _ask(self, api: ApiClient, question: str) -> None:
        begun = time.monotonic()
        status = api.request("POST", "/query", json={"question": question}).status_code
        stage = self.laptop.deployed().api_url.rsplit("/", 1)[-1]
        dimensions = {"ApiName": "recto", "Stage": stage}
        self._put("AWS/ApiGateway", "Latency", 1_000 * (time.monotonic() - begun), dimensions)
        self._put("AWS/ApiGateway", "4XXError", 400 <= status < 500, dimensions)
        self._put("AWS/ApiGateway", "5XXError", status >= 500, dimensions)

    def _look_at_the_queues(self) -> None:
        outputs = self.laptop.deployed().outputs
        for url in (outputs["QueueUrl"], outputs["DlqUrl"]):
            names: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
            found = self.laptop.aws.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
            dimensions = {"QueueName": url.rsplit("/", 1)[-1]}
            self._put("AWS/SQS", "ApproximateNumberOfMessagesVisible", float(found[names[0]]), dimensions)

    def _put_durations(self) -> None:
        outputs = self.laptop.deployed().outputs
        for name in (outputs["QueryFunctionName"], outputs["IngestFunctionName"]):
            for at_ms, _, message in self.laptop.aws.log_events(f"/aws/lambda/{name}", 0):
                if took := REPORT.search(message):
                    self._put("AWS/Lambda", "Duration", float(took[1]), {"FunctionName": name}, at_ms / 1_000)

    def _put(
        self, namespace: str, name: str, value: float, dimensions: Mapping[str, str], at: float | None = None
    ) -> None:
        named = [{"Name": key, "Value": each} for key, each in dimensions.items()]
        datum = {"MetricName": name, "Dimensions": named, "Value": float(value), "Timestamp": at or time.time()}
        self.laptop.aws.client("cloudwatch").put_metric_data(Namespace=namespace, MetricData=[datum])


def main() -> None:
    """Play, and draw."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.dashboard_run")
    parser.add_argument("picture", type=Path)
    parser.add_argument("--state", type=Path, default=PROJECT / ".recto")
    given = parser.parse_args()
    laptop = Laptop(LocalConfig.load(given.state.resolve(), {}), Reporter(Console()))
    Run(laptop).play()
    cli_stack.show_metrics(laptop, given.picture)


if __name__ == "__main__":
    main()
