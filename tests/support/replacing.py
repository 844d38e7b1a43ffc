"""One document is replaced again and again while several clients ask about it."""

import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from local.client import ApiClient, ApiError
from local.report import Reporter
from local.stack.laptop import Laptop
from local.stack.users import DEMO
from shared.models import document_id_of
from tests.support.sample_pdfs import SampleText, make_pdf

KEY = f"uploads/{DEMO.tenant}/replaced-under-readers.pdf"
QUESTION = "How many steps has the lighthouse of Tarnholm, and how many rooms?"
VERSIONS = ("red", "blue")
_COLOURS = re.compile(r"\b(red|blue)\b")
CLIENTS = 4
PATIENCE_S = 120.0
"""How long a client waits for one answer: what it holds is looked at here, not how fast a busy machine is."""


def pdf_of_version(colour: str) -> bytes:
    """Make the document: every sentence names its version."""
    steps, rooms = (214, 9) if colour == "red" else (377, 12)
    chapters = [
        "# Steps",
        f"The {colour} lighthouse of Tarnholm has {steps} steps. The {colour} steps are made of granite.",
        "# Rooms",
        f"The {colour} lighthouse of Tarnholm has {rooms} rooms. The {colour} rooms have windows to the sea.",
        "# Lamp",
        f"The lamp of the {colour} lighthouse of Tarnholm is lit at dusk by the {colour} keeper.",
    ]
    return make_pdf(SampleText({"title": f"The {colour} lighthouse", "subtitle": "A test", "edition": "One"}, chapters))


@dataclass
class Observed:
    """The answers that the clients got."""

    answers: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    replacements: int = 0
    seconds: float = 0.0

    @property
    def held(self) -> bool:
        """Whether every answer was of one whole version, and both were seen."""
        return not self.faults and all(self.answers[colour] for colour in VERSIONS)

    def summary(self) -> str:
        """Return one line for a person."""
        shown = "".join(f"\n  ✗ {fault}" for fault in self.faults[:5])
        return (
            f"replacing: {self.answers.total()} answers to {CLIENTS} clients in {self.seconds:.0f} s, while the "
            f"document was replaced {self.replacements} times: {self.answers['red']} red, {self.answers['blue']} blue, "
            f"{len(self.faults)} empty, mixed or failed{shown}"
        )


def replace_under_readers(laptop: Laptop, *, queries: int, report: Reporter) -> Observed:
    """Have the clients ask `queries` times in all while the document changes its colour; return what they got."""
    observed, lock, done = Observed(), threading.Lock(), threading.Event()
    bucket, document_id = laptop.deployed().bucket, document_id_of(DEMO.tenant, KEY)
    begun = time.monotonic()

    def put(colour: str, api: ApiClient) -> None:
        etag = laptop.aws.s3.put_object(Bucket=bucket, Key=KEY, Body=pdf_of_version(colour))["ETag"].strip('"')
        api.wait_until(document_id, lambda d: d["etag"] == etag and d["status"] in {"READY", "FAILED"})

    def ask(count: int) -> None:
        with laptop.client(DEMO, PATIENCE_S) as api:
            for _ in range(count):
                try:
                    colour, fault = _judge(api, document_id)
                except Exception as error:
                    colour, fault = "none", f"{type(error).__name__}: {error}"
                with lock:
                    observed.answers[colour] += 1
                    if fault:
                        observed.faults.append(fault)

    def replace() -> None:
        try:
            with laptop.client(DEMO, PATIENCE_S) as api:
                while not done.is_set():
                    put(VERSIONS[(observed.replacements + 1) % 2], api)
                    observed.replacements += 1
        except Exception as error:
            with lock:
                observed.faults.append(f"no replacement: {type(error).__name__}: {error}")

    with laptop.client(DEMO, PATIENCE_S) as api:
        put(VERSIONS[0], api)
    share = [queries // CLIENTS + (n < queries % CLIENTS) for n in range(CLIENTS)]
    clients = [threading.Thread(target=ask, args=(count,), daemon=True) for count in share]
    replacer = threading.Thread(target=replace, daemon=True)
    for thread in (replacer, *clients):
        thread.start()
    with report.live("Replacing under readers") as show:
        while any(client.is_alive() for client in clients):
            show(f"{observed.answers.total() // 50 * 50} answers, replaced {observed.replacements} times")
            clients[0].join(0.5)
            time.sleep(0.1)
    done.set()
    replacer.join()
    observed.seconds = time.monotonic() - begun
    return observed


def _judge(api: ApiClient, document_id: str) -> tuple[str, str]:
    """Ask once; return the version that was answered from, and what is wrong with the answer."""
    answer = _query(api, document_id)
    if answer["no_relevant_info"] or not answer["citations"] or not answer["sources"]:
        return "none", f"nothing was found (best score {answer['best_score']})"
    said = [answer["answer"], *(c["quote"] for c in answer["citations"]), *(s["title"] for s in answer["sources"])]
    colours = {colour for text in said for colour in _COLOURS.findall(text)}
    generations = {source["chunk_id"].split("#")[1] for source in answer["sources"]}
    if len(colours) != 1 or len(generations) != 1:
        return "mixed", f"a mixture: {sorted(colours)} of generations {sorted(generations)}"
    return colours.pop(), ""


def _query(api: ApiClient, document_id: str) -> dict[str, Any]:
    """Ask; again if the API says that there are too many requests, or that it had too little time."""
    while True:
        try:
            return api.query(QUESTION, filter={"document_id": {"$in": [document_id]}})
        except ApiError as error:
            if error.status not in {429, 504}:
                raise
            time.sleep(1.0)
