"""How made questions, passages and answers of models are read for writing, and what is written from them.

`make snapshots` stores what comes out now.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import pytest

from functions.query.grounding.ranges import is_in_range
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.ranking import words_of_statements
from functions.query.retrieval.rescoring import text_scores
from functions.query.understanding.question import explaining_part, without_scope
from functions.query.writing.asked import Asked
from functions.query.writing.cells import asked_row_text, extreme_rows
from functions.query.writing.drafts import DraftReader, read_draft
from functions.query.writing.extractive import extract
from functions.query.writing.generation import AskedPart, WritingRequest
from functions.query.writing.localization import (
    Refusal,
    is_remark,
    language_code_of,
    language_name,
    languages,
    not_about_text,
    not_mentioned_text,
    refusal_text,
    says_it_does_not_know,
    texts_for,
)
from functions.query.writing.markers import source_numbers
from functions.query.writing.premises import missing_words
from functions.query.writing.prompting import Preferences, grounded_messages, within_budget
from functions.query.writing.statement_scores import asked_of, ranking
from functions.query.writing.statements import Statement, statements_in, statements_of
from functions.query.writing.subjects import absent_subjects
from functions.query.writing.worked_out import calculation, counted_list
from shared.deadline import Deadline
from shared.settings import Settings
from shared.text import sentence_spans
from tests.support.clock import FakeClock
from tests.support.made_library import drafts, library, nearest, questions, told, varied, wordings
from tests.support.query import FakeChat, written
from tests.support.snapshots import check, check_names

HERE = Path(__file__).parent / "snapshots"
FLAGS = (
    "is_question", "is_contents_entry", "is_row", "is_short_lines", "is_title", "has_yes_or_no", "is_introduction",
    "has_items", "is_garbled", "is_cut",
)  # fmt: skip
ASKED = (
    "for_page", "for_figure", "extreme", "extreme_of_row", "for_name", "computes", "compares_years", "gathers",
    "for_way", "abbreviations", "without_years",
)  # fmt: skip
OF_TEXT = ("fits", "gives_reason", "is_done_by", "is_too_late", "defines", "is_met")


@pytest.mark.parametrize("heading", questions())
def test_how_a_made_question_is_answered_from_three_passages_is_as_stored(heading: str) -> None:
    lines = [line for asked in questions()[heading] for line in _of_question(asked.text)]
    check(HERE / "questions" / f"{_name(heading)}.txt", "\n".join(lines))


def test_what_can_be_told_of_each_made_passage_is_as_stored() -> None:
    lines = []
    for name, passage in library().items():
        lines += [f"=== {name}", *map(_of_statement, statements_in(passage))]
    for text in (text for listed in wordings().values() for text in listed if "\n" in text):
        lines += [f"=== {text}".replace("\n", "⏎"), *map(_of_statement, statements_of(text, "en"))]
    check(HERE / "statements.txt", "\n".join(lines))


def test_how_the_answers_of_models_are_read_is_as_stored() -> None:
    lines = []
    for name, (sources, text) in drafts().items():
        lines += [f"=== {name}", *_of_draft(text, sources)]
    check(HERE / "drafts.txt", "\n".join(lines))


def test_how_cut_and_changed_answers_of_models_are_read_is_as_stored() -> None:
    draw = random.Random("drafts")
    lines = []
    for name, (_, text) in drafts().items():
        for _ in range(2):
            other = text[: draw.randrange(len(text) + 1)] if draw.random() < 0.5 else _without_a_sign(text, draw)
            lines.append(f"{name}: {other}".replace("\n", "⏎"))
            lines.append(f"    {told(read_draft(other, cut=draw.random() < 0.5))}".replace("\n", " "))
    check(HERE / "drafts-changed.txt", "\n".join(lines))


def test_the_fixed_sentences_are_as_stored() -> None:
    settings = Settings(embedding_model="all-MiniLM-L6-v2")
    source = library()["contract/1"]
    lines = []
    for language in (*sorted(languages()), "pt", "lt-LT", ""):
        lines += [f"=== {language} {language_name(language)}", told(texts_for(language)).strip()]
        lines += [f"{kind}: {refusal_text(kind, language, settings)}" for kind in get_args(Refusal)]
        lines.append(not_about_text(["Halden", "2031"], source, language, settings))
        words = ["a", "b", "c", "d", "e", "f", "g"]
        lines.append(not_mentioned_text(words, source, source.page_at(0), language, settings))
    wishes = [
        "lt lt-LT Lithuanian lietuvių",
        "in French",
        "auf Deutsch",
        "Klingon",
        "German or French",
        "español, please",
        "EN",
        "中文",
    ]
    lines += [f"{wish}: {language_code_of(wish)}" for wish in wishes]
    for text in (text for _, text in drafts().values() if len(text) < 200):
        sentences = [text[start:end] for start, end in sentence_spans(text)]
        remarks = [each for each in sentences if is_remark(each)]
        lines.append(f"{text}: {says_it_does_not_know(sentences)} {remarks}".replace("\n", "⏎"))
    labels = [
        "1",
        "[1]",
        "Source 1",
        "source 2, p. 3",
        "[1, 2]",
        "1-3",
        "[1–3]",
        "(4)",
        "S5",
        "6.",
        "p. 7",
        "2023",
        "[^8]",
        "【9†x】",
        "1 and 2",
        "Quelle 3",
    ]
    lines += [f"{label}: {list(source_numbers(label))}" for label in labels]
    check(HERE / "sentences.txt", "\n".join(lines))


def test_the_prompts_are_as_stored() -> None:
    sources = [library()["contract/1"], library()["policy/1"]]
    lines = []
    for structured in (False, True):
        messages = grounded_messages(
            "Who holds it & why?",
            within_budget(sources, 10_000),
            language="de",
            default_language="en",
            searched="Who holds the deposit?",
            structured=structured,
            suggesting=structured,
            preferences=Preferences.of({"tone": "dry\u200b ", "style": "x" * 300, "colour": "red"}),
            summary="They asked about the <rent> [1].",
        )
        lines += [f"--- {each.role}\n{each.content}" for each in messages]
    lines.append(str([len(within_budget(sources, budget)) for budget in (1, 400, 2_000)]))
    check(HERE / "prompts.txt", "\n".join(lines))


def test_each_stored_text_has_its_questions() -> None:
    check_names(HERE / "questions", map(_name, questions()))


def _name(heading: str) -> str:
    return heading.replace(" ", "-").replace(",", "")


def _of_question(question: str) -> Iterator[str]:
    sources = nearest(question, 3)
    yield f"? {question}"
    asked = Asked.of(question)
    own = {name: getattr(asked, name) for name in ASKED}
    own |= {"numbers": asked.numbers, "quoted": asked.quoted, "needed": len(asked.needed), "years": asked.years}
    kept = {name: value for name, value in own.items() if value and value != question}
    yield f"  {asked.kind}: " + "; ".join(f"{name} {told(value)}" for name, value in kept.items())
    for name, part in (("scope", without_scope(question)), ("explains", explaining_part(question))):
        if part and part != question:
            yield f"  {name}: {part}"
    best, weights = ranking(asked_of(question, sources), sources)
    yield "  weights: " + ", ".join(f"{stem} {weight:.3f}" for stem, weight in sorted(weights.items()))
    for each in best[:2]:
        is_true = " ".join(name for name in OF_TEXT if getattr(asked, name)(each.statement.text))
        yield f"  {each.passage}@{each.statement.start}-{each.statement.end} {each.score:.3f} {is_true}"
    about = {
        "scores": [
            f"{each.together:.3f} {each.phrases:.3f} {each.beside:.3f}" for each in text_scores(question, "en", sources)
        ],
        "missing": missing_words(question, sources),
        "absent": absent_subjects(question, sources, {"Norvane Industries, Inc."}),
        "statements": sorted(words_of_statements(question, sources)),
        "claims": [f"{each.text[:30]}{'…' if each.further else ''}" for each in extract(question, sources).claims],
        "worked out": calculation(question, sources),
        "counted": counted_list(question, sources),
    }
    for name, value in about.items():
        if value:
            yield f"  {name}: {told(value)}".replace("\n", " ")


def _of_statement(statement: Statement) -> str:
    flags = [name for name in FLAGS if getattr(statement, name)]
    field = " = ".join(filter(None, statement.field))
    spans = f"{statement.list_span or ''}{f' under {statement.heading}' if statement.heading else ''}"
    context = f" < {statement.context[:60]}" if statement.context else ""
    return (
        f"{statement.start}-{statement.end} {statement.text[:20]}{context}; {' '.join(flags)} {field} {spans}"
    ).replace("\n", "⏎")


def _of_draft(text: str, sources: Sequence[Passage]) -> Iterator[str]:
    yield f"draft: {told(read_draft(text))}".replace("\n", " ")
    reader = DraftReader()
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
    yield f"streamed: {[len(reader.more(piece)) for piece in pieces].count(1)} + {len(reader.rest())}"
    for structured, grounding in ((True, "marked"), (False, "strict")):
        settings = Settings(
            embedding_model="all-MiniLM-L6-v2", chat_structured=structured, grounding=grounding, suggestions=2
        )
        request = WritingRequest(
            "What do the documents say?",
            "What do the documents say?",
            sources,
            parts=[AskedPart("the first", "What?", [1]), AskedPart("the second", "Who?", [], structured)],
        )
        chat = FakeChat(text, finish_reason="length" if "cut" in text else "stop")
        answer = written(request, chat=chat, settings=settings, deadline=Deadline(FakeClock(), 20))
        about = {
            "text": answer.text,
            "support": answer.support,
            "warnings": answer.warnings,
            "suggestions": answer.suggestions,
            "fates": [f"{each.verdict} {each.shown:d} {list(each.sources)} {each.text[:30]}" for each in answer.fates],
            "cites": [f"{each.n} {each.char_start}-{each.char_end}" for each in answer.citations],
            "dropped": answer.dropped_citations,
        }
        yield f"{grounding}: {answer.mode} {answer.refusal or ''} {told(about)}".replace("\n", " ")


def _without_a_sign(text: str, draw: random.Random) -> str:
    signs = [at for at, sign in enumerate(text) if sign in "{}[]\",:'.<>"]
    if not signs:
        return varied(text, draw)
    at = draw.choice(signs)
    return text[:at] + draw.choice(("", "'", " ", "}", "]")) + text[at + 1 :]


@pytest.mark.parametrize("name", ["pump/3", "filing/1", "filing/3", "handbook/2", "energy/1", "safety/1", "tariff/1"])
def test_which_cells_of_a_made_table_are_told_is_as_stored(name: str) -> None:
    passage = library()[name]
    rows = [each for each in statements_in(passage) if each.is_row]
    lines = []
    for wanted, years in CELLS:
        lines.append(f"? {' '.join(sorted(wanted))} {' '.join(sorted(years))}")
        for sign in (1, -1):
            places = [(passage.whole, each.start) for each in rows]
            found = extreme_rows(places, sorted(wanted), years, "en", sign)
            lines.append(f"  {sign:+}: {tuple(rows[number].start for number in found)}")
        for row in rows:
            for verdict in (False, True):
                shown = asked_row_text(
                    passage.whole, row.start, row.end, wanted, years, "en", verdict=verdict, extreme=1 if verdict else 0
                )
                if shown:
                    lines.append(f"  {shown}")
    lines += [
        f"{label} {asked}: {is_in_range(label, asked)}" for label in RANGES for asked in ("12 people", "age of 65")
    ]
    check(HERE / "cells" / f"{name.replace('/', '')}.txt", "\n".join(lines))


CELLS: Sequence[tuple[frozenset[str], frozenset[str]]] = (
    (frozenset({"weight", "300", "al"}), frozenset()),
    (frozenset({"hot", "water", "500"}), frozenset()),
    (frozenset({"net", "sale"}), frozenset({"2023"})),
    (frozenset({"profit", "marin"}), frozenset({"2022", "2023"})),
    (frozenset({"hotel", "limit", "franc"}), frozenset()),
    (frozenset({"wind", "solar", "sourc"}), frozenset({"2021"})),
    (frozenset({"boil", "point", "valu"}), frozenset()),
    (frozenset({"adult", "season", "day"}), frozenset()),
)
RANGES = ("10–20", "up to 11", "12 and over", "65+", "under 65", "13", "from 12 to 14", "no number")
