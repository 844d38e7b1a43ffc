"""`evals grounding`: its three forms of claims are read, verified and counted; a file in another form is explained."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from evals.cli import main
from functions.query.grounding.judge import RULES
from local.serving import serving
from tests.support.cross_encoder import entailment_model_in

SAMPLES = Path(__file__).parents[3] / "local" / "samples"
CLAIMS = r"""
@ skarvnes-station-handbook
? How many people can winter at the station?
q Eleven people can winter at the station: there are eleven single cabins on the upper floor
q It was founded in 1987 as a summer camp of three tents
+ copy | Eleven people can winter at the station.
+ copy | There are eleven single cabins on the upper floor.
+ copy | It was founded in 1987 as a summer camp of three tents.
+ cell | \| Eleven people can winter at the station \|
- num | Fourteen people can winter at the station.
- copy | It was founded in 1994 as a summer camp of three tents.
"""
SOURCE = "The boiler must be descaled every ninety days. The valve costs 18 euros."
COPIED = "The boiler must be descaled every ninety days."
CHANGED = "The valve costs 36 euros."


def run(path: Path, text: str, *more: str, ablation: bool = False) -> dict[str, Any]:
    (path / "claims.txt").write_text(text)
    out = path / "out.json"
    arguments = ["grounding", "--claims", str(path / "claims.txt"), "--cache", str(path / "cache"), "--quiet"]
    more = more if ablation else (*more, "--no-ablation")  # it verifies every claim once more for each rule
    assert main([*arguments, "--json", str(out), *more]) == 0
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def counts(figures: dict[str, Any]) -> tuple[int, ...]:
    return tuple(figures[name] for name in ("n", "confirmed", "marked", "out"))


def span(text: str, part: str, *labels: str) -> dict[str, Any]:
    start = text.index(part)
    return {"start": start, "end": start + len(part), "label": list(labels), "note": ""}


def faithbench(*parts: tuple[str, tuple[str, ...]]) -> str:
    summary = " ".join(part for part, _ in parts)
    spans = [span(summary, part, *labels) for part, labels in parts if labels]
    return json.dumps({"id": "1", "source": SOURCE, "summary": summary, "spans": spans}) + "\n"


def mtrag(answer: str, *votes: int, asked: str = "How often is the boiler descaled?", source: str = SOURCE) -> str:
    row = {
        "task": "t",
        "model": "m",
        "conversation": [{"speaker": "user", "text": asked}],
        "sources": [source],
        "answer": answer,
        "faithfulness": votes,
    }
    return json.dumps(row) + "\n"


UNSURE = mtrag(
    "The Brunata must be descaled every ninety days.",
    *(4, 4, 4),
    asked="How often is the Brunata descaled?",
    source="It must be descaled every ninety days. The valve costs 18 euros.",
)
"""The source does not name the Brunata: nothing confirms the claim, nothing refutes it."""


def test_claims_about_a_pdf_are_verified_against_its_passages(tmp_path: Path) -> None:
    result = run(tmp_path, CLAIMS, "--pdfs", str(tmp_path), str(SAMPLES))
    assert counts(result["honest"]) == (4, 4, 0, 0)
    assert counts(result["false"]) == (2, 0, 0, 2)
    assert set(result["kinds"]) == {"copy", "cell", "num", "copy (false)"}
    assert counts(result["kinds"]["num"]) == (1, 0, 0, 1)
    assert result["honest"]["ci"]["confirmed"] == pytest.approx([0.510, 1.0], abs=0.001)
    assert result["answers"] == {"3 honest claims": {"n": 1, "whole": 1, "silent_holes": 0}}
    assert "details" not in result


def test_a_question_after_claims_begins_the_next_group_of_the_document(tmp_path: Path) -> None:
    more = "? When was it founded?\nq It was founded in 1987\n+ copy | It was founded in 1987."
    result = run(tmp_path, CLAIMS + more, "--pdfs", str(SAMPLES), "--details")
    assert result["details"][-1]["quotes"] == ["It was founded in 1987"]


def test_the_details_hold_every_claim_with_its_findings(tmp_path: Path) -> None:
    result = run(tmp_path, CLAIMS, "--pdfs", str(SAMPLES), "--details")
    by_claim = {each["claim"]: each for each in result["details"]}
    assert len(by_claim) == 6
    assert by_claim["| Eleven people can winter at the station |"]["outcome"] == "confirmed"
    assert by_claim["Fourteen people can winter at the station."]["flags"] == ["number"]


def test_the_ablation_says_what_each_rule_is_worth(tmp_path: Path) -> None:
    text = "@ skarvnes-station-handbook\nq Each person may use 70 litres a day.\n- num | Each person may use 80 litres."
    result = run(tmp_path, text, "--pdfs", str(SAMPLES), ablation=True)
    assert result["false"]["out"] == 1
    assert set(result["ablation"]) == {rule.name for rule in RULES}
    assert result["ablation"]["instruction"]["false"] == {"confirmed": 0, "marked": 0, "out": 1}
    with_all_others = run(tmp_path, text, "--pdfs", str(SAMPLES))
    assert with_all_others["ablation"] == {}


def test_sentences_of_faithbench_are_honest_where_nobody_found_a_fault(tmp_path: Path) -> None:
    rows = faithbench((COPIED, ()), (CHANGED, ("Questionable", "Unwanted", "Unwanted.Intrinsic")))
    rows += faithbench((COPIED, ("Benign",)), ("The valve costs 18 euros.", ("Unwanted",)))
    result = run(tmp_path, rows)
    assert counts(result["honest"]) == (1, 1, 0, 0)
    assert counts(result["false"]) == (2, 1, 0, 1)
    assert {kind: each["n"] for kind, each in result["kinds"].items()} == {
        "right": 1,
        "wrong intrinsic": 1,
        "wrong other": 1,
        "benign": 1,
    }
    assert result["answers"] == {}


def test_answers_of_mtrag_are_honest_if_all_votes_say_so(tmp_path: Path) -> None:
    result = run(tmp_path, mtrag(f"{COPIED} {CHANGED}", 4, 4, 4) + mtrag(CHANGED, 4, 3, 4))
    assert counts(result["honest"]) == (2, 1, 0, 1)
    assert counts(result["false"]) == (0, 0, 0, 0)
    assert counts(result["kinds"]["doubted m"]) == (1, 0, 0, 1)
    assert result["answers"] == {"faithful m": {"n": 1, "whole": 0, "silent_holes": 0}}


def test_an_answer_that_says_it_does_not_know_is_not_counted(tmp_path: Path) -> None:
    assert run(tmp_path, mtrag("I do not know.", 4, 4, 4))["answers"] == {}


def test_strict_takes_out_what_is_marked_and_the_answer_says_so(tmp_path: Path) -> None:
    row = json.loads(UNSURE)
    row["answer"] += " The valve costs 18 euros."
    unsure = json.dumps(row)
    marked, strict = run(tmp_path, unsure), run(tmp_path, unsure, "--strict")
    assert counts(marked["honest"]) == (2, 1, 1, 0)
    assert counts(strict["honest"]) == (2, 1, 0, 1)
    assert marked["answers"]["faithful m"] == {"n": 1, "whole": 1, "silent_holes": 0}
    assert strict["answers"]["faithful m"] == {"n": 1, "whole": 0, "silent_holes": 0}


@pytest.fixture(params=["supported", "contradicted"])
def check_server(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """A model server whose model has one opinion of everything; its address and the opinion."""

    async def completions(asked: Request) -> JSONResponse:
        body = await asked.json()
        listed = json.loads(body["messages"][-1]["content"].splitlines()[1])
        verdicts = [{"claim": each["claim"], "verdict": request.param} for each in listed]
        message = {"role": "assistant", "content": json.dumps({"verdicts": verdicts})}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return JSONResponse(
            {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}
        )

    app = Starlette(routes=[Route("/v1/chat/completions", completions, methods=["POST"])])
    with serving(app, name="check-model") as address:
        yield f"{address}/v1", request.param


def test_a_check_model_decides_about_unconfirmed_claims(tmp_path: Path, check_server: tuple[str, str]) -> None:
    address, opinion = check_server
    for _ in range(2):
        result = run(tmp_path, UNSURE, "--check-model", "judge-1", "--base-url", address, ablation=True)
        assert counts(result["honest"]) == ((1, 1, 0, 0) if opinion == "supported" else (1, 0, 0, 1))
        assert result["settings"]["check_model"] == "judge-1"
        assert result["ablation"] == {}


def test_a_check_model_that_does_not_answer_ends_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "claims.jsonl").write_text(UNSURE)
    arguments = ["grounding", "--claims", str(tmp_path / "claims.jsonl"), "--cache", str(tmp_path), "--quiet"]
    assert main([*arguments, "--check-model", "x", "--base-url", "http://127.0.0.1:9/v1"]) == 1
    assert "The checker did not answer" in capsys.readouterr().err
    assert main([*arguments, "--base-url", "http://127.0.0.1:9/v1"]) == 1
    assert "--base-url needs --check-model" in capsys.readouterr().err


def test_a_model_of_inference_decides_from_the_threshold_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = f"{UNSURE} the brunata must be descaled every ninety days .".lower().split()
    folder = entailment_model_in(tmp_path / "nli", words, ["contradiction", "neutral", "entailment"])
    # It finds seven of the claim's nine words in the quote, which it is sure of by .89.
    confirmed = run(tmp_path, UNSURE, "--check-path", str(folder), "--check-threshold", "0.8")
    assert counts(confirmed["honest"]) == (1, 1, 0, 0)
    assert (confirmed["settings"]["check_path"], confirmed["settings"]["check_threshold"]) == (str(folder), 0.8)
    monkeypatch.setattr("shared.adapters.cross_encoder.OnnxEntailment.entailment", None)  # it is not asked again
    marked = run(tmp_path, UNSURE, "--check-path", str(folder))
    assert counts(marked["honest"]) == (1, 0, 1, 0)
    arguments = ["grounding", "--claims", str(tmp_path / "claims.txt"), "--cache", str(tmp_path), "--quiet"]
    assert main([*arguments, "--check-path", str(folder), "--check-model", "x"]) == 1
    assert "name a checker each" in capsys.readouterr().err
    assert main([*arguments, "--check-path", str(tmp_path)]) == 1
    assert "holds no model.onnx" in capsys.readouterr().err


def test_the_intervals_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, mtrag(f"{COPIED} {CHANGED}", 4, 4, 4))
    assert "1 = 50 % (9–91)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no claim"),
        ("? Why?", "line 1: a group must begin with"),
        ("@ a\nx y", "line 2: 'x y' is no line of a claims file"),
        ("@ a\n+ no bar", "line 2: '+ no bar' is no line"),
        ("@ a\nq b\n+ copy | c", "There is no a.pdf in"),
        ("@ espresso\nq b\n+ copy | c", "There is no espresso.pdf in"),
        ("@ skarvnes-station-handbook\n+ copy | c", "line 1: the group has no quote"),
        ("@ skarvnes-station-handbook\nq Nobody wrote this\n+ copy | c", "'Nobody wrote this'"),
        ('{"id": "1"}', "line 1: KeyError 'conversation'"),
        ('{"summary": "A b.", "spans": [{}]}', "line 1: KeyError 'start'"),
        ("{", "line 1: not JSON"),
    ],
)
def test_a_file_in_another_form_is_explained(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "claims.txt").write_text(text)
    file = str(tmp_path / "claims.txt")
    assert main(["grounding", "--claims", file, "--pdfs", str(SAMPLES), "--cache", str(tmp_path), "--quiet"]) == 1
    assert said in capsys.readouterr().err


def test_claims_about_pdfs_need_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "claims.txt").write_text(CLAIMS)
    assert main(["grounding", "--claims", str(tmp_path / "claims.txt"), "--cache", str(tmp_path), "--quiet"]) == 1
    assert "say with --pdfs in which folders" in capsys.readouterr().err


def test_a_quote_of_a_header_that_is_read_otherwise_is_the_place_with_its_words(tmp_path: Path) -> None:
    quotes = "q Days open, School classes\nq July 17,618"
    claims = f"@ tides-museum-annual-report\n{quotes}\n+ two words | July had 17,618 visitors."
    detail = run(tmp_path, claims, "--pdfs", str(SAMPLES), "--details")["details"][0]
    assert detail["kind"] == "two words"
    assert detail["quotes"] == ["Month | Visitors | Of these under 18 | School classes | Days open", "July 17,618"]
