"""An answer that a browser test sends itself, event by event, in place of the service.

The page's `fetch` is replaced for questions only, so that a test can look at every state in between for as long as it
likes: `stream.emit("delta", text="…")`.
"""

import json
from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Page

type Json = dict[str, Any]

INSTALLED = """
(() => {
  const real = window.fetch;
  const encoder = new TextEncoder();
  const fake = { controller: null, asked: [], stopped: 0, problems: [] };
  window.answerStream = fake;
  window.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.method !== "POST" || !/\\/(query|messages)$/.test(request.url)) return real(request);
    fake.asked.push(JSON.parse(await request.clone().text()));
    const problem = fake.problems.shift();
    if (problem) {
      const headers = { "content-type": "application/problem+json" };
      return new Response(JSON.stringify(problem), { status: problem.status, headers });
    }
    const body = new ReadableStream({ start: (controller) => { fake.controller = controller; } });
    request.signal.addEventListener("abort", () => {
      fake.stopped += 1;
      fake.controller?.error(new DOMException("stopped", "AbortError"));
      fake.controller = null;
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  fake.send = (text) => fake.controller.enqueue(encoder.encode(text));
})();
"""


class AnswerStream:
    """The answers of one page."""

    def __init__(self, page: Page) -> None:
        self._page = page
        page.add_init_script(INSTALLED)
        page.evaluate(INSTALLED)

    def waits(self) -> None:
        """Wait until a question has come that has no answer yet."""
        self._page.wait_for_function("() => answerStream.controller !== null")

    def emit(self, name: str, **data: Any) -> None:
        """Send one event."""
        self.waits()
        self._page.evaluate("(text) => answerStream.send(text)", f"event: {name}\ndata: {json.dumps(data)}\n\n")

    def done(self, answer: Json) -> None:
        """Send the last event, and end."""
        self.emit("done", **answer)
        self.end()

    def end(self) -> None:
        """End the answer as it is."""
        self.waits()
        self._page.evaluate("() => { answerStream.controller.close(); answerStream.controller = null; }")

    def fail_next(self, status: int, code: str) -> None:
        """Let the next question fail."""
        problem = {"status": status, "code": code, "title": code, "detail": f"detail of {code}", "request_id": "r-1"}
        self._page.evaluate("(problem) => { answerStream.problems.push(problem); }", problem)

    @property
    def asked(self) -> list[Json]:
        """The bodies of the questions so far."""
        found: list[Json] = self._page.evaluate("() => answerStream.asked")
        return found

    @property
    def stopped(self) -> int:
        """How many answers the page has stopped."""
        count: int = self._page.evaluate("() => answerStream.stopped")
        return count


def citation(n: int, **more: Any) -> Json:
    """Return a citation of page `n` (printed) of document `n`."""
    return {
        "n": n,
        "document_id": f"{n:032x}",
        "title": f"Handbook {n}",
        "source_type": "pdf",
        "page_start": n + 2,
        "page_end": n + 2,
        "page_label": str(n),
        "section": f"{n} Care > {n}.1 Water",
        "quote": f"Quote number {n} says so.",
        "char_start": 0,
        "char_end": 25,
        "score": 0.5,
        "key": f"uploads/demo/handbook-{n}.pdf",
        "file_name": f"handbook-{n}.pdf",
        "version_id": "",
        "rects": [],
        "page_sizes": [],
        "corrected": False,
        **more,
    }


def source(n: int, page: int) -> Json:
    """Return a passage of a page of document `n`."""
    names = ("document_id", "title", "key", "section", "score", "corrected")
    of = {name: value for name, value in citation(n).items() if name in names}
    return {"chunk_id": f"{n}-{page}", "page_start": page, "page_end": page, "page_label": "", "band": "high", **of}


def claim(text: str, *citations: int, verdict: str = "confirmed", derived: str = "") -> Json:
    """Return a claim."""
    return {"text": text, "verdict": verdict, "citations": list(citations), "derived": derived}


def answer(text: str, citations: Sequence[Json] = (), claims: Sequence[Json] = (), **more: Any) -> Json:
    """Return the whole answer, as `done` has it."""
    unconfirmed = sum(each["verdict"] == "unconfirmed" for each in claims)
    support = {"claims": len(claims), "confirmed": len(claims) - unconfirmed, "unconfirmed": unconfirmed}
    return {
        "answer": text,
        "mode": "generated",
        "no_relevant_info": False,
        "refusal": None,
        "handoff_offered": False,
        "citations": list(citations),
        "claims": list(claims),
        "sources": [],
        "nearest": [],
        "conversation_id": "01M838EQD4670PB322F3W9D50N",
        "message_id": "01M838EQD4670PB322F3W9D50M",
        "support": {**support, "dropped": 0, "flags": []},
        "cached": False,
        "dropped_citations": 0,
        "rewritten": None,
        "suggestions": [],
        "warnings": [],
        **more,
    }
