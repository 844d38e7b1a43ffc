"""What people answer: FAQs, on the deployed stack."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from local.client import ApiClient
from local.stack import users
from local.stack.laptop import Laptop

WAIT_S = 120.0


def until[T](look: Callable[[], T], done: Callable[[T], bool]) -> T:
    """Look until it is done."""
    ends_at = time.monotonic() + WAIT_S
    while not done(seen := look()):
        assert time.monotonic() < ends_at, seen
        time.sleep(0.5)
    return seen


def test_of_two_editors_of_one_faq_one_wins_and_its_answer_is_given(api: ApiClient, laptop: Laptop) -> None:
    question = "Which knot holds the ferry at Skarvnes?"
    made = api.request("POST", "/faqs", json={"question": question, "answer": "A clove hitch holds the ferry."})
    assert made.status_code == 201, made.text
    path, etag = f"/faqs/{made.json()['faq_id']}", made.headers["etag"]

    def change(answer: str) -> tuple[int, str]:
        with laptop.client(users.DEMO) as editor:
            body = {"question": question, "answer": answer}
            return editor.request("PUT", path, json=body, headers={"If-Match": etag}).status_code, answer

    with ThreadPoolExecutor(2) as both:
        answers = ("A bowline holds the ferry at Skarvnes.", "A sheet bend holds the ferry at Skarvnes.")
        results = sorted(both.map(change, answers))
    assert [status for status, _ in results] == [200, 412]

    def faq() -> dict[str, Any]:
        found: dict[str, Any] = api.request("GET", path).json()
        return found

    seen = until(faq, lambda found: found["status"] not in {"PENDING", "PROCESSING"})
    assert (seen["status"], seen["answer"]) == ("READY", results[0][1])
    answer = api.query(question)
    assert results[0][1] in answer["answer"]
    assert answer["citations"][0]["document_id"] == seen["document_id"]
    assert api.request("DELETE", path).status_code == 202
    assert api.request("GET", path).status_code == 404
