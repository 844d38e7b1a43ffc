"""A tenant with documents, readers and rules that change; and a model of who may read what, made from docs/api.md.

Each document has words that stand in no other one and in no question: its title, its text and its file name have them.
An answer to somebody who may not read it must have none of them, and not its id.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from functions.query import bootstrap, withholding
from functions.query.answer import Question
from functions.query.api.answers import sse_of
from functions.query.pipeline import answer_events
from shared.deadline import Deadline, RequestTimedOut
from shared.errors import AccessLost, DependencyError
from shared.models import Principal, document_id_of
from shared.telemetry import logger
from tests.support.ingest import Stack, pdf_of
from tests.support.query_stack import query_stack, raw_call

TENANT = "acme"
SETTINGS = {
    "ANSWER_CACHE_TTL_S": "3600",
    "EMBEDDING_CACHE_TTL_S": "3600",
    "SUGGESTIONS": "3",
    "HANDOFF_OFFER": "true",
    "UNANSWERED_DAYS": "30",
}
GROUPS = ("red", "green", "blue")
FOLDERS = ("hr/", "hr/handbook/", "legal/", "legal/acme/", "legal/acme/old/")
TOPICS = (
    "boiler", "lighthouse", "vineyard", "telescope", "carousel", "greenhouse", "submarine", "orchestra",
    "printing press", "ferry",
)  # fmt: skip

LATE = {503, 504}
"""What a busy machine makes of a request: no answer, and no leak either."""

type Rule = tuple[frozenset[str], frozenset[str]]
"""Groups and users."""


@dataclass(frozen=True)
class User:
    """A reader with a role and groups."""

    name: str
    role: str
    groups: tuple[str, ...] = ()

    @property
    def principal(self) -> Principal:
        """Who this is to the API."""
        return Principal(TENANT, self.name, frozenset({self.role, *self.groups}))


USERS = (
    User("ann", "reader", ("red",)),
    User("bob", "reader", ("green",)),
    User("cat", "editor", ("blue",)),
    User("dan", "agent", ("red", "green")),
    User("eve", "editor"),
    User("fay", "reader"),
    User("key:01M82Z3Q6W0V6T2C8R4Y1B7N5K", "reader", ("blue",)),
    User("root", "admin"),
)


@dataclass
class Paper:
    """A document: what it is about, and the words that only it has."""

    number: int
    folder: str
    topic: str
    rule: Rule | None = None
    revision: int = 0

    @property
    def mark(self) -> str:
        """Stands in its title, its text and its file name."""
        return f"zq{self.number:02}{''.join(chr(97 + (self.number * 7 + at * 5) % 26) for at in range(5))}"

    @property
    def key(self) -> str:
        """Its key in the bucket."""
        return f"uploads/{TENANT}/{self.folder}{self.mark}.pdf"

    @property
    def document_id(self) -> str:
        """Its id."""
        return document_id_of(TENANT, self.key)

    @property
    def pdf(self) -> bytes:
        """The file."""
        pages = [
            f"The inspection of the {self.topic} takes place every {self.number + 2} weeks. Its warden is "
            f"{self.mark.title()}, who keeps the keys of the {self.topic} in the {self.mark} cupboard.",
            f"The colour of the {self.topic} door is {self.mark} green. "
            f"The {self.topic} was repaired in {1900 + self.number}.",
        ]
        return pdf_of(pages, title=f"The {self.topic} of {self.mark.title()}")


class Leak(AssertionError):
    """Somebody was shown what they may not read."""


@dataclass
class World:
    """The stack, the papers, the rules as the model has them, and what was done."""

    stack: Stack
    random: random.Random
    papers: list[Paper]
    folders: dict[str, Rule] = field(default_factory=dict)
    conversations: dict[str, list[str]] = field(default_factory=dict)
    messages: dict[str, list[str]] = field(default_factory=dict)
    handoffs: list[str] = field(default_factory=list)
    passages: list[str] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    events: list[str] = field(default_factory=list)

    # --- the model ---

    def may_read(self, user: User, paper: Paper) -> bool:
        """Say who may read what: the words of docs/api.md, not the code's."""
        if user.role == "admin":
            return True
        path = f"uploads/{TENANT}/{paper.folder}"
        over = [prefix for prefix in self.folders if path.startswith(prefix)]
        rules = [paper.rule] if paper.rule else []
        if over:
            rules.append(self.folders[max(over, key=len)])
        mine = {user.role, *user.groups, "*"}
        return all(mine & groups or user.name in users for groups, users in rules)

    def forbidden(self, user: User) -> list[Paper]:
        """Return the papers that a user may not read."""
        return [paper for paper in self.papers if not self.may_read(user, paper)]

    def check(self, user: User, shown: str, what: str) -> None:
        """Raise `Leak` if anything that is shown is of a paper that the user may not read."""
        lowered = shown.lower()
        for paper in self.forbidden(user):
            for trace in (paper.mark, paper.document_id):
                if trace in lowered:
                    at = lowered.index(trace)
                    raise Leak(f"{what} shows {user.name} {trace}: …{shown[max(0, at - 200) : at + 60]}…")

    # --- calls ---

    def call(self, user: User, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, str]:
        """Call a route as a user; what comes back is checked."""
        authorizer = {"member_of": json.dumps(list(user.groups))}
        status, text, headers = raw_call(
            method, path, body, user=user.name, groups=user.role, authorizer=authorizer, **more
        )
        self.check(user, text + json.dumps(headers), f"{method} {path}")
        assert status < 500 or status in LATE, (method, path, status, text)
        self.done["late"] += status in LATE
        return status, text

    def read(self, user: User, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        """As `call`, and read the JSON; empty for an error."""
        status, text = self.call(user, method, path, body, **more)
        return json.loads(text) if status < 300 and text else {}

    def admin(self, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        """Call a route as the administrator, until it is done: a change that was too late may be in force or not."""
        for _ in range(20):
            status, text = self.call(USERS[-1], method, path, body, **more)
            if status not in LATE:
                break
        assert status < 300, (method, path, status, text)
        return json.loads(text) if text else {}


# --- what may happen ---


def question_of(world: World) -> str:
    """Return a question about one of the papers, or about all; it has no marks."""
    topic = world.random.choice(world.papers).topic
    return world.random.choice(
        [
            f"How often is the {topic} inspected?",
            f"Who is the warden of the {topic}?",
            f"What is the colour of the {topic} door?",
            f"What is the colour of the {topic} dooor?",
            f"When was the {topic} repaired, and who keeps its keys?",
            f"How often are the {topic} and the {world.random.choice(TOPICS)} inspected?",
            f"What does the {topic} cost in Australia?",
            "Which documents do you have?",
            "How many documents do you have?",
            f"Summarise the document about the {topic}.",
            "Summarise this document.",
        ]
    )


def ask(world: World, user: User) -> None:
    """Ask, or go on in a conversation; or several ask the same."""
    question = question_of(world)
    if world.random.random() < 0.7:
        ask_one(world, user, question)
        return
    for other in (user, *world.random.sample(USERS, 2), user):
        ask_one(world, other, question, is_new=True)


def ask_one(world: World, user: User, question: str, *, is_new: bool = False) -> None:
    """Ask one question as one user."""
    own = world.conversations.setdefault(user.name, [])
    body: dict[str, Any] = {"question": question}
    if own and not is_new and world.random.random() < 0.4:
        body["conversation_id"] = world.random.choice(own[-4:])
        if world.random.random() < 0.5:
            body["question"] = world.random.choice(["And who keeps its keys?", "Why?", "What about its door?"])
    if not is_new and user.role in {"editor", "admin"} and world.random.random() < 0.3:
        body["explain"] = True
    answer = world.read(user, "POST", "/query", body)
    if answer:
        world.done[f"mode:{answer['mode']}"] += 1
        world.done["cached"] += answer["cached"]
        world.done["suggestions"] += len(answer["suggestions"])
        own.append(answer["conversation_id"])
        world.messages.setdefault(user.name, []).append(answer["message_id"])
        world.passages += [each["chunk_id"] for each in answer["sources"]]


def ask_elsewhere(world: World, user: User) -> None:
    """Ask as OpenAI's clients and agents do, or search."""
    question = question_of(world)
    message = {"role": "user", "content": question}
    call = world.random.choice(["chat", "responses", "ask", "search_tool", "list_tool", "search"])
    if call == "chat":
        world.call(user, "POST", "/v1/chat/completions", {"model": "recto", "messages": [message]})
    elif call == "responses":
        world.call(user, "POST", "/v1/responses", {"model": "recto", "input": question})
    elif call == "search":
        world.call(user, "POST", "/search", {"question": question, "limit": 50})
    else:
        name = {"ask": "ask", "search_tool": "search", "list_tool": "list_documents"}[call]
        arguments = {} if name == "list_documents" else {"question": question}
        rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        world.call(user, "POST", "/mcp", rpc, headers={"Accept": "application/json, text/event-stream"})


def look(world: World, user: User) -> None:
    """Open a document in one of the ways there are."""
    paper = world.random.choice(world.papers)
    path = f"/documents/{paper.document_id}"
    way = world.random.choice(["", "", "/content", "/pages/1", "/report", "/edits", "list", "passage"])
    if way == "list":
        world.call(user, "GET", "/documents", params=world.random.choice([None, {"q": paper.topic}, {"limit": "3"}]))
        return
    if way == "passage":
        if world.passages:
            world.call(user, "GET", f"/passages/{quote(world.random.choice(world.passages), safe='')}")
        return
    status, text = world.call(user, "GET", path + way)
    if status in LATE:
        return
    if not world.may_read(user, paper):
        assert status in {403, 404}, (status, text)
    elif way == "":
        assert status == 200, (status, text)
        world.done["opened"] += 1


def meddle(world: World, user: User) -> None:
    """Try to change, replace or delete what one may not read."""
    paper = world.random.choice(world.papers)
    if world.may_read(user, paper) or user.role not in {"editor"}:
        return
    calls: list[tuple[str, str, Any]] = [
        ("PATCH", f"/documents/{paper.document_id}", {"access": None}),
        ("PATCH", f"/documents/{paper.document_id}", {"labels": {"chapter": "x"}}),
        ("DELETE", f"/documents/{paper.document_id}", None),
    ]
    status, text = world.call(user, *world.random.choice(calls))
    assert status in {404, *LATE}, (status, text)
    body = {"filename": paper.key.split("/", 2)[2], "access": {"allowed_groups": ["*"]}}
    status, text = raw_call("POST", "/documents", body, user=user.name, groups=user.role)[:2]
    assert status in {403, *LATE}, (status, text)


def look_back(world: World, user: User) -> None:
    """Read an old conversation, export it, or ask for a receipt."""
    own, messages = world.conversations.get(user.name, []), world.messages.get(user.name, [])
    if not own:
        return
    path = f"/conversations/{world.random.choice(own)}"
    way = world.random.choice(["read", "json", "markdown", "receipt", "list"])
    if way == "read":
        seen = world.read(user, "GET", path, params={"limit": "200"})
        world.done["withheld"] += sum(each["withheld"] for each in seen.get("messages", ()))
    elif way == "receipt":
        status, _ = world.call(user, "GET", f"/messages/{world.random.choice(messages)}/receipt")
        world.done[f"receipt:{status}"] += 1
    elif way == "list":
        world.call(user, "GET", "/conversations")
    else:
        world.call(user, "GET", f"{path}/export", params={"format": way})


def rate(world: World, user: User) -> None:
    """Rate an answer, or read what others rated and asked in vain."""
    messages = world.messages.get(user.name, [])
    if user.role in {"editor", "admin"}:
        seen = world.read(user, "GET", "/feedback", params={"limit": "20"})
        world.done["rated answers seen"] += len(seen.get("feedback", ()))
        if world.random.random() < 0.3:
            world.call(user, "GET", "/insights/unanswered")
    elif messages:
        rating = world.random.choice(["up", "down"])
        world.call(user, "PUT", f"/messages/{world.random.choice(messages)}/feedback", {"rating": rating})


def hand_over(world: World, user: User) -> None:
    """Ask for a person; read what was handed over."""
    own = world.conversations.get(user.name, [])
    if user.role in {"reader"} and own:
        given = world.read(user, "POST", f"/conversations/{world.random.choice(own)}/handoff", {"reason": "please"})
        if given:
            world.handoffs.append(given["handoff_id"])
    elif world.handoffs:
        world.call(user, "GET", "/handoffs")
        world.call(user, "GET", f"/handoffs/{world.random.choice(world.handoffs)}")
    nobody = User("", "")
    for detail in world.events:
        world.check(nobody, detail, "the event of a hand-off")
    world.events.clear()


def stream(world: World, user: User) -> None:
    """Ask, and lose a right while the answer is streamed: the next event is the last."""
    services = bootstrap.services().for_reader(user.principal)
    deadline = Deadline(services.clock, 30)
    question = Question(question_of(world), is_saved=False)
    ports = services.query_ports(TENANT, deadline)
    at = world.random.randrange(4)
    try:
        for number, event in enumerate(answer_events(question, user.principal, ports, deadline)):
            world.check(user, json.dumps(sse_of(event), default=str), "an event")
            if number == at:
                change(world, USERS[-1])
    except AccessLost:
        world.done["streams ended"] += 1
    except (DependencyError, RequestTimedOut):
        world.done["late"] += 1
    else:
        world.done["streams whole"] += 1


# --- changes ---


def some_rule(world: World) -> Rule:
    """Return a rule: groups, sometimes users, sometimes nobody or everybody."""
    groups = world.random.sample([*GROUPS, "editor"], world.random.randint(0, 2))
    if world.random.random() < 0.35:
        groups = ["*"]
    users = [each.name for each in USERS[:-1] if world.random.random() < 0.1]
    return frozenset(groups), frozenset(users)


def as_access(rule: Rule | None) -> dict[str, Any] | None:
    """Return a rule as the API takes it."""
    return None if rule is None else {"allowed_groups": sorted(rule[0]), "allowed_users": sorted(rule[1])}


def change(world: World, _: User) -> None:
    """Change a document's rule or the folders'."""
    if world.random.random() < 0.6:
        paper = world.random.choice(world.papers)
        rule = None if world.random.random() < 0.4 else some_rule(world)
        world.admin("PATCH", f"/documents/{paper.document_id}", {"access": as_access(rule)})
        paper.rule = rule
        return
    folders = {f"uploads/{TENANT}/{each}": some_rule(world) for each in FOLDERS if world.random.random() < 0.3}
    body = {"folders": [{"prefix": prefix, **(as_access(rule) or {})} for prefix, rule in folders.items()]}
    world.admin("PUT", "/access", body, headers={"If-Match": "*"})
    world.folders = folders


def put_into_the_bucket(world: World, _: User) -> None:
    """Replace a file, or the folder rules, in the bucket itself; the file's metadata may state a rule."""
    s3, bucket = world.stack.aws.s3, world.stack.aws.bucket
    if world.random.random() < 0.5:
        folders = {f"uploads/{TENANT}/{each}": some_rule(world) for each in FOLDERS if world.random.random() < 0.3}
        body = {"folders": [{"prefix": prefix, **(as_access(rule) or {})} for prefix, rule in folders.items()]}
        key = f"access/{TENANT}.json"
        s3.put_object(Bucket=bucket, Key=key, Body=json.dumps(body).encode())
        assert world.stack.deliver(key) == []
        world.folders = folders
        return
    paper = world.random.choice(world.papers)
    rule = some_rule(world) if world.random.random() < 0.7 else None
    metadata: Mapping[str, str] = {}
    if rule is not None:
        metadata = {"allowed-groups": ",".join(rule[0]) or ",", "allowed-users": ",".join(map(quote, rule[1]))}
    s3.put_object(Bucket=bucket, Key=paper.key, Body=paper.pdf, Metadata=metadata)
    assert world.stack.deliver(paper.key) == []
    paper.rule = rule if rule is not None else paper.rule


STEPS: Mapping[Callable[[World, User], None], int] = {
    ask: 34,
    ask_elsewhere: 12,
    look: 14,
    look_back: 12,
    rate: 5,
    hand_over: 5,
    stream: 5,
    meddle: 3,
    change: 9,
    put_into_the_bucket: 1,
}
"""What happens, and how often."""


def take(world: World, steps: int, progress: Callable[[str], None] = lambda _: None) -> None:
    """Take random steps. Raises `Leak`, or `AssertionError` for any other wrong answer."""
    kinds, weights = list(STEPS), list(STEPS.values())
    for number in range(steps):
        (step,) = world.random.choices(kinds, weights)
        world.done[step.__name__] += 1
        step(world, world.random.choice(USERS))
        if number % 500 == 499:
            progress(f"{number + 1} steps: {dict(world.done)}")


@contextmanager
def changing_world(patch: pytest.MonkeyPatch, folder: Path, *, seed: int, **settings: str) -> Iterator[World]:
    """Make the tenant; the first rule is there from the beginning, because a container may notice it late."""
    with query_stack(patch, folder, **SETTINGS, **settings) as stack:
        patch.setattr(withholding, "CHECK_EVERY_S", 0.0)
        patch.setenv("POWERTOOLS_METRICS_DISABLED", "true")
        logger.setLevel("ERROR")
        pick = random.Random(seed)
        places = ("", "", "hr/", "hr/", "hr/handbook/", "legal/", "legal/acme/", "legal/acme/old/", "", "legal/")
        papers = [Paper(at, place, topic) for at, (place, topic) in enumerate(zip(places, TOPICS, strict=True))]
        world = World(stack, pick, papers)
        patch.setattr(
            "shared.adapters.events.EventBridgeSender.send", lambda _, kind, detail: world.events.append(detail)
        )
        for paper in papers:
            stack.put(paper.key, paper.pdf)
            assert stack.deliver(paper.key) == []
        for _ in range(6):
            change(world, USERS[-1])
        bootstrap.services.cache_clear()
        try:
            yield world
        finally:
            logger.setLevel("INFO")
