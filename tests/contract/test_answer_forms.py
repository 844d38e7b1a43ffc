"""The forms in which models and servers answer, at the wire: what is claimed is shown, what was thought is not.

Each form is sent by each server, whole and as a stream cut into small pieces, to the real adapter and the real writing
step. Where a model thinks, its thoughts hold a sentence of a source with its marker, and a whole answer as JSON: both
would pass the verification.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from functions.query.grounding.verify import VerifiedClaim
from functions.query.writing.generation import WritingRequest, WrittenAnswer, write
from shared.adapters.openai import OpenAIChatModel
from shared.adapters.retry import Retry
from shared.deadline import Deadline
from shared.settings import Settings
from tests.support.chat_servers import SERVERS, ChatServer, Content, Reply, RunningServer, running_chat_server
from tests.support.clock import FakeClock
from tests.support.query import passage

SOURCES = [
    passage("The machine makes coffee. It must be descaled every 90 days with citric acid."),
    passage("The museum opens at ten and closes at six. The contract runs for at most 12 months.", n=2),
    passage("The red lever is behind the cellar door.", n=3),
]
QUESTION = "How often must the machine be descaled, and when does the museum open?"
FIRST = "It must be descaled every 90 days."
SECOND = "The museum opens at ten."
BOTH = f"{FIRST} [1] {SECOND} [2]"
LINES = f"{FIRST} [1]\n{SECOND} [2]"
SETTINGS = Settings()


def claim(text: str, source: Any, quote: str, original: str = "") -> dict[str, Any]:
    return {"citations": [{"source": source, "quote": quote}], "original": original, "text": text}


CLAIMS = [
    claim(FIRST, 1, "It must be descaled every 90 days with citric acid."),
    claim(SECOND, 2, "The museum opens at ten and closes at six."),
]
ASKED = json.dumps({"answered": True, "claims": CLAIMS})
MARKED = f"{FIRST} [1] {SECOND} [2]"
LEVER = "The red lever is behind the cellar door."
DRAFT = json.dumps({"answered": True, "claims": [claim(LEVER, 3, LEVER)]})
THOUGHTS = f"Okay, the user asks how often.\n{LEVER} [3]\nSo I could write {DRAFT}\nHmm, no."


def objects(*claims: Any, **more: Any) -> str:
    return json.dumps({"answered": True, "claims": list(claims), **more})


def with_source(first: Any, second: Any) -> str:
    return objects(claim(FIRST, first, FIRST), claim(SECOND, second, SECOND))


def written_as(**form: str) -> str:
    """Write both claims with other names: what `form` maps to "text", "n", "[n]" and so on is filled in."""

    def filled(text: str, n: int) -> dict[str, Any]:
        known: dict[str, Any] = {"text": text, "n": n, "[n]": [n], "text [n]": f"{text} [{n}]", "[]": []}
        known |= {"quote": text, "cited": [{"source": n, "quote": text}]}
        return {name: known[value] for name, value in form.items()}

    return objects(filled(FIRST, 1), filled(SECOND, 2))


@dataclass(frozen=True)
class Form:
    """One form of an answer, and the text that it must become."""

    name: str
    content: Content
    shown: str = BOTH
    finish_reason: str = "stop"
    message: dict[str, Any] = field(default_factory=dict)
    mode: str = "generated"


CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "grounded_answer", "arguments": ASKED}}
NONE = "I don't have that information in the sources. You can ask for a person to help you with it."

OBJECTS = [
    Form("the object that was asked for", ASKED),
    Form("pretty-printed", json.dumps(json.loads(ASKED), indent=2)),
    Form("in a fence", f"```json\n{ASKED}\n```"),
    Form("in a fence behind text", f"Here is the answer you asked for:\n\n```json\n{ASKED}\n```\n\nI hope this helps!"),
    Form("behind text", f"Sure! Based on the sources: {ASKED}"),
    Form("before text", f"{ASKED}\n\nLet me know if you need anything else."),
    Form("in a string", json.dumps(ASKED)),
    Form("in a response", json.dumps({"response": json.loads(ASKED)})),
    Form("in a tool's call as text", f'<tool_call>\n{{"name": "grounded_answer", "arguments": {ASKED}}}\n</tool_call>'),
    Form("as the schema's properties", json.dumps({"type": "object", "properties": json.loads(ASKED)})),
    Form("a list of claims", json.dumps(CLAIMS)),
    Form("with its names in another order", written_as(text="text", original="[]", citations="cited")),
    Form("with trailing commas", ASKED.replace("}]", "},]").replace('"}', '",}')),
    Form("with comments", ASKED.replace('"claims":', '// the claims\n "claims": /* two */')),
    Form("in single quotes", repr(json.loads(ASKED))),
    Form("with line breaks in its strings", ASKED.replace("every 90 days with", "every 90 days\nwith")),
    Form("with quotes that are not escaped", ASKED.replace("at ten and closes", '"at ten" and closes')),
    Form("with its reasoning as a field", json.dumps({"reasoning": THOUGHTS} | json.loads(ASKED))),
    Form("cut off in a claim", ASKED[:-30], f"{FIRST} [1]", "length"),
    Form("cut off in a fence", f"```json\n{ASKED[:-30]}", f"{FIRST} [1]", "max_tokens"),
    Form("sources as strings", with_source("1", "2")),
    Form("sources in brackets", with_source("[1]", "[2]")),
    Form("sources with their name", with_source("Source 1", "source 2: Handbook, page 2")),
    Form("sources as lists", with_source([1], ["2"])),
    Form("sources in the plural", written_as(text="text", sources="[n]")),
    Form("a source and a quote beside the text", written_as(claim="text", source="n", quote="quote")),
    Form("citations as numbers", written_as(text="text", citations="[n]")),
    Form("markers in the text too", written_as(citations="cited", text="text [n]")),
    Form("markers instead of citations", written_as(citations="[]", text="text [n]")),
    Form("claims as sentences with markers", objects(f"{FIRST} [1]", f"{SECOND} [2]")),
    Form("one text with markers", json.dumps({"answer": MARKED})),
    Form(
        "two sentences in a claim",
        objects(claim(f"{FIRST} It must be descaled with citric acid.", 1, CLAIMS[0]["citations"][0]["quote"])),
        f"{FIRST} [1] It must be descaled with citric acid. [1]",
    ),
    Form(
        "a short answer with a quote",
        objects(claim("At most 12 months.", 2, "The contract runs for at most 12 months.")),
        "At most 12 months. [1]",
    ),
    Form("claims one below the other", "\n".join(map(json.dumps, CLAIMS))),
    Form("claims by number", json.dumps({"claims": {"1": CLAIMS[0], "2": CLAIMS[1]}})),
    Form("claims as one text", json.dumps({"answered": True, "claims": MARKED})),
    Form("a text under another name", json.dumps({"response": MARKED, "confidence": 0.9})),
    Form("with its quotes escaped", ASKED.replace('"', '\\"')),
    Form("written twice", f"{ASKED}\n{ASKED}"),
    Form("corrected", f"Here is a draft: {DRAFT}\n\nOn reflection, the answer is: {ASKED}"),
    Form("a list of tool calls as text", f'[TOOL_CALLS][{{"name": "grounded_answer", "arguments": {ASKED}}}]'),
    Form("not answered", json.dumps({"answered": False, "claims": []}), NONE),
    Form("not answered, in a word", '{"answered": "no"}', NONE),
]

MARKERS = [
    Form("markers", MARKED),
    Form("markers before the full stops", f"{FIRST[:-1]} [1]. {SECOND[:-1]} [2]."),
    Form("two markers", f"{FIRST} [1][1] {SECOND} [2]"),
    Form("a range", f"{FIRST} [1-1] {SECOND} [2–2]"),
    Form("a list in one marker", f"{FIRST} [1, 1] {SECOND} [2; 2]"),
    Form("markers with a page", f"{FIRST} [1, p. 30] {SECOND} [2, pages 1-2]"),
    Form("markers with a name", f"{FIRST} [Source 1] {SECOND} [source: 2]"),
    Form("citations with a colon", f"{FIRST}[citation:1] {SECOND}[citation:2]"),
    Form("lenticular brackets", f"{FIRST}【1†source】 {SECOND}【2†L3-L5】"),
    Form("footnotes", f"{FIRST}[^1] {SECOND}[^2]\n\n[^1]: Handbook, page 1\n[^2]: Handbook, page 2"),
    Form("footnotes that name their source", f"{FIRST}[^a] {SECOND}[^b]\n\n[^a]: Source 1, page 1\n[^b]: Source 2"),
    Form("parentheses", f"{FIRST[:-1]} (1). {SECOND[:-1]} (2)."),
    Form("named parentheses", f"{FIRST[:-1]} (Source 1). {SECOND[:-1]} (Source 2, p. 2)."),
    Form("raised numbers", f"{FIRST}¹ {SECOND}²"),
    Form("raised markup", f"{FIRST}<sup>1</sup> {SECOND}<sup>[2]</sup>"),
    Form("links", f"{FIRST} [[1]](#source-1) {SECOND} [2](https://evil.example/2)"),
    Form("full-width brackets", f"{FIRST} ［1］ {SECOND} 〔２〕"),
    Form("the source said in words", f"According to source 1, it must be descaled every 90 days. {SECOND} [2]"),
    Form("markers first", f"[1] {FIRST}\n[2] {SECOND}", LINES),
    Form("a list", f"- {FIRST} [1]\n- {SECOND} [2]", f"- {FIRST} [1]\n- {SECOND} [2]"),
    Form("a numbered list", f"1. {FIRST} [1]\n2. {SECOND} [2]", f"1. {FIRST} [1]\n2. {SECOND} [2]"),
    Form("a label", f"**Answer:** {MARKED}"),
    Form("a label behind text", f"The sources say two things about it.\n\n### Final answer:\n{MARKED}"),
    Form("headings", f"## Care\n{FIRST} [1]\n\n## Opening hours\n{SECOND} [2]", f"{FIRST} [1]\n\n{SECOND} [2]"),
    Form("a fence around text", f"```text\n{MARKED}\n```"),
    Form("quotation signs", f"> {FIRST} [1]\n> {SECOND} [2]", LINES),
    Form("a list of sources below", f"{MARKED}\n\nSources:\n[1] Handbook, page 1\n[2] Handbook, page 2"),
    Form("a list of sources in bold", f"{MARKED}\n\n**References**\n\n1. Handbook (page 1)\n2. Handbook (page 2)"),
    Form(
        "a short answer before its sentence",
        "At most 12 months. The contract runs for at most 12 months. [2]",
        "At most 12 months. [1] The contract runs for at most 12 months. [1]",
    ),
    Form("a source below each sentence", f"{FIRST}\nSource: 1\n\n{SECOND}\nSource: 2", f"{FIRST} [1]\n\n{SECOND} [2]"),
    Form("a source behind a dash", f"{FIRST} — Source 1\n{SECOND} — Source 2", LINES),
    Form("Azure's documents", f"{FIRST} [doc1] {SECOND} [doc2]"),
    Form("markers in bold", f"{FIRST} **[1]** {SECOND} **[2]**"),
    Form("a table", f"| Fact | Source |\n|---|---|\n| {FIRST} | [1] |\n| {SECOND} | [2] |", LINES),
    Form("HTML", f"<p>{FIRST} [1]</p><p>{SECOND} [2]</p>", f"{FIRST} [1]\n\n{SECOND} [2]"),
    Form("courtesies", f"Sure! {MARKED}\n\nI hope this helps! Let me know if you need more."),
    Form("the sentence for not knowing", "I don't have that information in the sources.", NONE),
]

THOUGHT_PART = {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHTS}]}
ANALYSIS = f"<|channel|>analysis<|message|>{THOUGHTS}"
THOUGHT = [
    Form("<think>", f"<think>\n{THOUGHTS}\n</think>\n\n{ASKED}"),
    Form("<think> before markers", f"<think>\n{THOUGHTS}\n</think>\n\n{MARKED}"),
    Form("</think> alone", f"{THOUGHTS}\n</think>\n\n{ASKED}"),
    Form("</think> alone before markers", f"{THOUGHTS}\n</think>\n\n{MARKED}"),
    Form("<thinking>", f"<thinking>{THOUGHTS}</thinking>{ASKED}"),
    Form("<reasoning> before markers", f"<reasoning>{THOUGHTS}</reasoning>{MARKED}"),
    Form("<thought> and <answer>", f"<thought>{THOUGHTS}</thought>\n<answer>\n{MARKED}\n</answer>"),
    Form("a tag with a prefix", f"<seed:think>{THOUGHTS}</seed:think>{ASKED}"),
    Form("[THINK]", f"[THINK]{THOUGHTS}[/THINK]{ASKED}"),
    Form("special tokens", f"<|START_THINKING|>{THOUGHTS}<|END_THINKING|><|START_RESPONSE|>{ASKED}<|END_RESPONSE|>"),
    Form("harmony", f"{ANALYSIS}<|end|><|start|>assistant<|channel|>final<|message|>{ASKED}<|return|>"),
    Form(
        "harmony with a constraint",
        f"{ANALYSIS}<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>{ASKED}",
    ),
    Form("harmony before markers", f"{ANALYSIS}<|start|>assistant<|channel|>final<|message|>{MARKED}"),
    Form("harmony without its tokens", f"analysis{THOUGHTS}assistantfinal{MARKED}"),
    Form("labels", f"Thought: {THOUGHTS}\n\nFinal Answer: {MARKED}"),
    Form("thoughts in a claim", objects(CLAIMS[0] | {"text": f"<think>{LEVER}</think>{FIRST}"}, CLAIMS[1])),
    Form("thoughts behind the answer", f"{ASKED}\n<think>{THOUGHTS}</think>"),
    Form("<channel>thought", f"<|channel>thought\n{THOUGHTS}<channel|>{MARKED}"),
    Form("a special token at the end", f"{MARKED}<|im_end|>"),
    Form("parts", [THOUGHT_PART, {"type": "text", "text": ASKED}]),
    Form("parts of text", [{"type": "text", "text": MARKED[:20]}, {"type": "output_text", "text": MARKED[20:]}]),
    Form("a tool's call", None, message={"tool_calls": [CALL]}, finish_reason="tool_calls"),
    Form("a function's call", None, message={"function_call": {"arguments": ASKED}}, finish_reason="function_call"),
]

UNFINISHED = [
    Form("only thoughts in a tag", f"<think>{THOUGHTS}", finish_reason="length"),
    Form("only thoughts without a tag", THOUGHTS.replace(DRAFT, "so"), finish_reason="length"),
    Form("only the analysis of harmony", ANALYSIS, finish_reason="length"),
    Form("only thoughts in their own field", "", finish_reason="length"),
    Form("a refusal", None, message={"refusal": "I can't help with that."}),
]
"""Answers without an answer: what is shown are sentences of the sources, found without the model."""


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_chat_server() as running:
        yield running


@pytest.fixture(scope="module")
def chat(server: RunningServer) -> Iterator[OpenAIChatModel]:
    model = OpenAIChatModel(base_url=server.url, api_key="k", model="m", retry=Retry("chat", attempts=1))
    yield model
    model.close()


class WholeOnly:
    """The adapter without its streams."""

    def __init__(self, chat: OpenAIChatModel) -> None:
        self.model = chat.model
        self.complete = chat.complete


def answered(
    chat: OpenAIChatModel, server: RunningServer, kind: ChatServer, form: Form, *, streamed: bool
) -> tuple[WrittenAnswer, str]:
    """Return the answer, and what was shown while it was written."""
    server.kind = kind
    server.reply = Reply(form.content, THOUGHTS, form.finish_reason, form.message)
    request = WritingRequest(QUESTION, QUESTION, SOURCES)
    model = chat if streamed else WholeOnly(chat)
    *claims, answer = write(request, chat=model, settings=SETTINGS, deadline=Deadline(FakeClock(), 26.0))
    assert isinstance(answer, WrittenAnswer)
    return answer, "".join(each.text for each in claims if isinstance(each, VerifiedClaim))


@pytest.mark.parametrize("form", [*OBJECTS, *MARKERS, *THOUGHT], ids=lambda form: form.name)
def test_every_form_is_understood_from_every_server(chat: OpenAIChatModel, server: RunningServer, form: Form) -> None:
    for kind in SERVERS:
        for streamed in (True, False):
            answer, shown = answered(chat, server, kind, form, streamed=streamed)
            told = f"{kind.name}, {'streamed' if streamed else 'whole'}"
            assert answer.text == form.shown, told
            assert answer.mode == form.mode, told
            assert shown == ("" if form.shown == NONE else form.shown), told
            assert all(each.quote in SOURCES[int(each.document_id[3:]) - 1].text for each in answer.citations)


@pytest.mark.parametrize("form", UNFINISHED, ids=lambda form: form.name)
def test_thoughts_without_an_answer_are_no_answer(chat: OpenAIChatModel, server: RunningServer, form: Form) -> None:
    for kind in SERVERS:
        for streamed in (True, False):
            answer, shown = answered(chat, server, kind, form, streamed=streamed)
            assert (answer.mode, "lever" in answer.text + shown) == ("extractive", False), kind.name
            assert {"answer_not_supported", "model_unavailable"} & set(answer.warnings), kind.name


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "Invalid request.", "type": "invalid_request_error", "param": None, "code": None}},
        {"error": {"message": "Bad Request", "type": "None", "param": "None", "code": str(400)}},
        {"object": "error", "message": "grammar is not supported", "code": 400},
        {"detail": [{"loc": ["body", "response_format"], "msg": "extra fields not permitted"}]},
        {"error": "unsupported"},
    ],
)
def test_a_server_that_refuses_the_schema_without_a_word_of_it_is_asked_in_the_prompt_from_then_on(
    status: int, error: object
) -> None:
    with running_chat_server() as server:
        server.refuses = lambda body: (status, error) if "response_format" in body else None
        chat = OpenAIChatModel(base_url=server.url, api_key="k", model="m", retry=Retry("chat", attempts=1))
        for form in (MARKERS[0], OBJECTS[0]):
            assert answered(chat, server, SERVERS[0], form, streamed=True)[0].text == BOTH
        chat.close()
    assert ["response_format" in body for body in server.bodies] == [True, False, False]


def test_an_error_that_is_not_about_the_schema_leaves_it_on() -> None:
    with running_chat_server() as server:
        server.refuses = lambda _body: (400, {"error": {"message": "No.", "param": None, "code": None}})
        chat = OpenAIChatModel(base_url=server.url, api_key="k", model="m", retry=Retry("chat", attempts=1))
        assert answered(chat, server, SERVERS[0], OBJECTS[0], streamed=True)[0].mode == "extractive"
        server.refuses = lambda _body: None
        assert answered(chat, server, SERVERS[0], OBJECTS[0], streamed=True)[0].text == BOTH
        chat.close()
    assert ["response_format" in body for body in server.bodies] == [True, False, True]


def test_the_table_is_as_long_as_promised() -> None:
    assert len({form.name for form in (*OBJECTS, *MARKERS, *THOUGHT, *UNFINISHED)}) >= 60
