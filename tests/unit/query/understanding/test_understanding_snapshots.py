"""How made questions and conversations are understood, with and without a glossary and a model.

`make snapshots` stores what comes out now.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from functions.query.understanding.glossary import Glossary, GlossaryInvalid, apply_glossary, parse_glossary
from functions.query.understanding.model_rewriting import translate_with_model
from functions.query.understanding.parts import may_have_parts, parts_of
from functions.query.understanding.pointing import points_back, salient_terms
from functions.query.understanding.question import (
    Understood,
    normalized,
    shortened,
    without_answer_form,
    without_contractions,
)
from functions.query.understanding.rewriting import understand, whole_session
from functions.query.understanding.spelling import allowed_distance, corrected, corrections, distance
from functions.query.understanding.summary import next_summary, summary_due
from functions.query.understanding.talk import collection_question, talk_of, without_courtesies
from functions.query.understanding.vocabulary import document_words, field_variants
from shared.deadline import Deadline
from shared.errors import DependencyUnavailable, RateLimited
from shared.language import language_of
from shared.models import Conversation, Message
from shared.settings import Settings
from tests.support.clock import FakeClock
from tests.support.made_library import MADE, conversations, library, questions, told
from tests.support.query import FakeChat
from tests.support.snapshots import check, check_names

HERE = Path(__file__).parent / "snapshots"
SETTINGS = Settings(embedding_model="all-MiniLM-L6-v2")


class OneGlossary:
    """The made glossary, for every tenant."""

    def of(self, tenant: str) -> Glossary:
        return parse_glossary((MADE / "glossary.json").read_bytes())


@pytest.mark.parametrize("heading", questions())
def test_how_a_made_question_is_understood_is_as_stored(heading: str) -> None:
    lines = [line for asked in questions()[heading] for line in _of_question(asked.text, asked.language)]
    check(HERE / "questions" / f"{_name(heading)}.txt", "\n".join(lines))


def test_each_stored_text_has_its_questions() -> None:
    check_names(HERE / "questions", map(_name, questions()))


def test_how_follow_ups_are_understood_is_as_stored() -> None:
    lines = []
    for history, question in conversations():
        spoken = language_of(question)
        lines.append(f"? {' / '.join(each.content for each in history)} / {question}")
        lines.append(
            f"  points back {points_back(question, spoken)}; {' '.join(salient_terms(question, history, 'en'))}"
        )
        lines.append(f"  session: {whole_session(question, [*history] * 12)}".replace("\n", "⏎"))
        for mode in ("question", "session"):
            understood = understand(
                question,
                history,
                tenant="acme",
                chat=None,
                glossary=None,
                settings=SETTINGS,
                deadline=_deadline(),
                mode=mode,
            )
            lines.append(f"  {mode}: {told(understood)}".replace("\n", " "))
        talk = talk_of(question, spoken, has_history=True)
        lines.append(
            f"  talk {talk}; {told(collection_question(question, spoken, has_history=True))}".replace("\n", " ")
        )
    check(HERE / "follow-ups.txt", "\n".join(lines))


REPLIES = (
    '{"question": "What is the maximum flow of the AL-900?", "language": "en", "variations": ["AL-900 flow", "x"]}',
    '{"question": "What is the maximum flow of the AL-900 of Halden in 2031?", "language": "en", "variations": []}',
    '{"question": "", "language": "English", "variations": "none"}',
    '```json\n{"question": "Who holds the deposit?", "language": "de", "variations": ["Who holds the deposit?"]}\n```',
    '{"question": "Who built the lighthouse?", "parts": ["Who built the lighthouse?", "When was it built?"]}',
    '{"question": "Who built the lighthouse?", "parts": ["Who built the lighthouse?"]}',
    '{"question": "Who built it?", "parts": ["a", "b", "c", "d", "e"]}',
    "no json at all",
)


def test_how_a_models_rewriting_is_taken_is_as_stored() -> None:
    lines = []
    for number, reply in enumerate(REPLIES):
        history, question = conversations()[number % 6]
        for chat in (FakeChat(reply), FakeChat(error=DependencyUnavailable("chat"))):
            for said in (history, ()):
                text = question if said else "Who built the lighthouse and when was it built?"
                understood = _understood(text, said, chat=chat, glossary=OneGlossary())
                lines.append(f"{reply} {bool(said)}: {told(understood)}; {chat.asked}".replace("\n", " "))
            chat.asked.clear()
        translated = translate_with_model(
            "Wer hält die Kaution?", "en", chat=FakeChat(reply), settings=SETTINGS, deadline=_deadline()
        )
        lines.append(f"  {told(translated)}".replace("\n", " "))
    check(HERE / "rewriting.txt", "\n".join(lines))


TYPED = (
    "maximm sutiable watter filtre temprature Aqualift Norvain Halden Brigthwater warfarine lighthose inhabitents"
    " depost playgroud rplicas thermodinamics Clarosl SPHAGNUM spagnum chairpersn handovr libary recieved the of teh"
)


def test_how_misspelt_words_are_corrected_is_as_stored() -> None:
    passages = [*library().values()]
    lines = []
    for near in (None, 3, 12):
        found = corrections(TYPED, "en", passages, near=near)
        lines += [f"{near}: {word} > {other}" for word, other in found.items()]
        lines.append(corrected(TYPED, found))
    words = ("deposit", "depost", "depsoit", "Deposits", "deport", "depot", "posit", "", "d")
    lines += [
        f"{one} {other}: {distance(one, other, most=most)}" for one in words for other in words for most in (1, 3)
    ]
    lines += [f"{'x' * length}: {allowed_distance('x' * length)}" for length in range(1, 16)]
    check(HERE / "spelling.txt", "\n".join(lines))


BROKEN = (
    "[]", "{", '{"entities": [{"name": ""}]}',
    '{"entities": [{"name": "a", "boost": {"filter": {"a": 1}, "lift": 0.31}}]}',
    '{"rules": [{"name": "a", "patterns": ["*"]}]}', '{"rules": [{"name": "a", "patterns": ["a"]}]}',
    '{"rules": [{"name": "a", "patterns": ["a b! c"], "variations": ["x"]}]}',
    '{"entities": [{"name": "a", "filter": {"$x": 1}}], "colour": 1}',
    '{"entities": [{"name": "a", "spellings": ["b"]}, {"name": "c", "spellings": ["b"]}]}',
    '{"rules": [{"name": "a", "patterns": ["^ a"], "variations": ["{x}"]}]}',
)  # fmt: skip


def test_what_is_wrong_with_a_glossary_is_as_stored() -> None:
    lines = []
    for text in BROKEN:
        try:
            lines.append(f"{text}: {told(parse_glossary(text.encode()).model_dump())}".replace("\n", " "))
        except GlossaryInvalid as error:
            lines.append(f"{text}: {error}".replace("\n", "⏎"))
    check(HERE / "glossaries.txt", "\n".join(lines))


def test_how_conversations_are_summarised_is_as_stored() -> None:
    history = [each for said, _ in conversations() for each in said]
    lines = []
    for text in (
        "They asked about the AL-500.",
        "It has 65 l/min, see https://x.example/a.",
        "It has 77 l/min.",
        "",
        "x" * 3_000,
    ):
        chat = FakeChat(text)
        made = next_summary("Notes on 16.", history, chat=chat, settings=SETTINGS, deadline=_deadline())
        lines.append(f"{text[:50]}: {told(made)}; {chat.asked}".replace("\n", " "))
        lines += [f"  {each.role} {len(each.content)}" for each in chat.prompts[0]]
    failing = next_summary(
        "", history, chat=FakeChat(error=RateLimited("chat")), settings=SETTINGS, deadline=_deadline()
    )
    lines.append(told(failing).replace("\n", " "))
    for count in (1, 9, 10, 11, 19, 20, 40):
        for summarized in (0, 1, 10, 30):
            made_of = Conversation("c", "", "", "", message_count=count, summarized=summarized)
            lines.append(f"{count} {summarized}: {summary_due(made_of, SETTINGS)}")
    check(HERE / "summaries.txt", "\n".join(lines))


def _deadline() -> Deadline:
    return Deadline(FakeClock(), 26)


def _understood(text: str, history: Sequence[Message], *, chat: FakeChat | None = None, **more: Any) -> Understood:
    given = {"glossary": None, "settings": SETTINGS, "deadline": _deadline(), **more}
    return understand(text, history, tenant="acme", chat=chat, **given)


def _name(heading: str) -> str:
    return heading.replace(" ", "-").replace(",", "")


def _of_question(text: str, language: str) -> Iterator[str]:
    yield f"? {text}"
    plain, with_glossary = (_understood(text, (), glossary=each, language=language) for each in (None, OneGlossary()))
    for each in (plain, with_glossary) if with_glossary != plain else (plain,):
        yield f"  {' '.join(told(each).split())}".replace(f" question: {text}", "").replace(f" standalone: {text}", "")
    question = normalized(text)
    spoken = language_of(question)
    about = {
        "shortened": shortened(question, 40),
        "without courtesies": _other(without_courtesies(question), question),
        "without contractions": _other(without_contractions(question), question),
        "without form": _other(without_answer_form(question, spoken or "en"), question),
        "talk": talk_of(question, spoken, has_history=False),
        "collection": collection_question(question, spoken, has_history=False),
        "parts": parts_of(question, spoken),
        "may have parts": may_have_parts(question, spoken),
        "terms": field_variants(question, spoken),
        "documents' words": document_words(question),
        "glossary": _of_glossary(question, spoken),
    }
    for name, value in about.items():
        if value:
            yield f"  {name}: {told(value)}".replace("\n", " ")


def _other(text: str, than: str) -> str:
    return "" if text == than else text


def _of_glossary(question: str, language: str) -> Sequence[str]:
    applied = apply_glossary(OneGlossary().of("acme"), question, language)
    told_each = [applied.question] if applied.question != question else []
    told_each += [f"{each.text} {each.weight}" for each in applied.variants]
    told_each += [json.dumps(applied.filter)] if applied.filter else []
    return [*told_each, *(f"{json.dumps(each.filter)} {each.lift}" for each in applied.boosts)]


def test_terms_of_the_field_are_as_stored() -> None:
    asked = (
        "What was the capex?", "EBITDA margin and top line of FY23", "Days sales outstanding", "bottom-line growth",
        "What is the D&A?", "free cash flow and working capital", "R&D and SG&A in 2022", "EPS", "opex vs COGS",
    )  # fmt: skip
    lines = [
        f"{each}: {[one.text for one in field_variants(each, 'en')]} {dict(document_words(each))}" for each in asked
    ]
    check(HERE / "terms.txt", "\n".join(lines))


def test_a_history_is_taken_as_it_is_stored() -> None:
    history = [
        Message(f"m{at}", "user", f"What about the {word}?", "") for at, word in enumerate(["lamp", "lens", "log"])
    ]
    lines = [whole_session("And the tower?", history * count) for count in (1, 8, 40)]
    check(HERE / "sessions.txt", "\n".join(f"{len(each)}: {each[:300]}".replace("\n", "⏎") for each in lines))
