"""`python -m local glossary check`, and what the emulated model makes of a conversation."""

import json
from pathlib import Path

import pytest

from functions.query.understanding.model_rewriting import fenced, rewrite_messages
from local.cli import main
from local.openai.extractive import conversation_reply
from shared.models import Message


def test_a_good_glossary_is_counted_and_shown_at_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "acme.json"
    path.write_text(
        json.dumps({"entities": [{"name": "Halley VI", "spellings": ["Haley"], "filter": {"region": "s"}}]})
    )
    assert main(["glossary", "check", str(path), "--question", "Who runs Haley?"]) == 0
    shown = capsys.readouterr().out
    assert "acme.json: 1 entity (1 other name), 0 rules." in shown
    assert "searched for: Who runs Halley VI?" in shown
    assert "filter: {'region': 's'}" in shown


def test_a_wrong_one_names_entry_and_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "acme.json"
    path.write_text(json.dumps({"entities": [{"name": "A"}, {"name": "B", "spelings": []}]}))
    assert main(["glossary", "check", str(path)]) == 1
    assert "acme.json: entities[1].spelings: this field is not known" in capsys.readouterr().out


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["glossary", "check", str(tmp_path / "none.json")]) == 1
    assert "cannot be read" in capsys.readouterr().out


def test_the_emulated_model_rewrites_a_follow_up_in_the_requested_form():
    history = [Message("1", "user", "Who runs Halley station?", "")]
    prompt = rewrite_messages("Since when does she?", history, variations=3)
    answer = json.loads(conversation_reply([message.content for message in prompt]) or "")
    assert answer["question"].startswith("Since when does she? ")
    assert "Halley" in answer["question"]
    assert (answer["language"], answer["variations"]) == ("en", [])


def test_the_emulated_model_keeps_notes():
    said = {
        "notes": "Before.",
        "said": [{"role": "user", "text": "Who runs Halley?"}, {"role": "assistant", "text": "x"}],
    }
    assert conversation_reply(["rules", fenced("conversation", said)]) == "Before. Who runs Halley?"


@pytest.mark.parametrize(
    "text", ["", "Question: x", "<conversation>\n{\n</conversation>", "<conversation>\n[]\n</conversation>"]
)
def test_any_other_prompt_is_none_of_its_business(text: str):
    assert conversation_reply([text]) is None
