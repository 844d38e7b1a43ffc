"""The referee on folders nobody has seen: odd names, several sets, missing fields, a PDF that cannot be read."""

import copy
import importlib.util
import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from evals.cli import main
from evals.report import failures
from tests.support.sample_pdfs import SampleText, make_pdf

BOILER = "Žąsų katilas (v2.1) #3 – 100 %.PDF"
FERRY = "l'été & la mer.pdf"
BROKEN = "broken.pdf"


def pdf_of(title: str, *lines: str) -> bytes:
    return make_pdf(SampleText({"title": title, "subtitle": "A test", "edition": "First edition"}, list(lines)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data with spaces")
    pdfs = folder / "pdfs"
    pdfs.mkdir()
    (pdfs / BOILER).write_bytes(
        pdf_of(
            "Boiler manual",
            "# Care",
            "The boiler must be descaled every ninety days with citric acid.",
            "# Parts",
            "The pressure valve carries the part number KX-4471 and costs 18 euros.",
        )
    )
    (pdfs / FERRY).write_bytes(
        pdf_of("Ferry timetable", "# Summer", "The ferry to Skarvnes leaves at 6.40 from the eastern pier.")
    )
    (pdfs / BROKEN).write_bytes(b"%PDF-1.7\nthis is not a document")
    (pdfs / "notes.txt").write_text("not a PDF")
    price = "What does the pressure valve cost?"
    apart = unicodedata.normalize("NFD", FERRY)  # the same name as macOS stores it, its accents written apart
    questions: list[dict[str, Any]] = [
        {"id": "a", "set": "manuals/å", "question": "How is the boiler descaled?", "doc": BOILER, "pages": [2]},
        {"set": "manuals/å", "question": price, "doc": BOILER, "answer": 18},
        {"set": "manuals/å", "question": price, "doc": BOILER, "pages": [3]},
        {"set": "ferries", "question": "Which pier does the ferry use?", "doc": apart, "pages": [2]},
        {"set": "ferries", "question": "Who is the captain?", "answerable": False, "pages": None},
        {"question": "What is in the broken file?", "doc": BROKEN, "pages": [1], "answer": None},
    ]
    lines = "\r\n".join(json.dumps(each, ensure_ascii=False) for each in questions)
    (folder / "questions.jsonl").write_text("\ufeff" + lines + "\r\n\r\n", encoding="utf-8")
    return folder


def run(command: str, folder: Path, out: Path, *more: str) -> dict[str, Any]:
    arguments = [command, "--data", str(folder), "--cache", str(folder / "cache"), "--json", str(out), "--quiet"]
    assert main([*arguments, *more]) == 0
    found: dict[str, Any] = json.loads(out.read_text())
    return found


@pytest.fixture(scope="module")
def retrieved(folder: Path) -> dict[str, Any]:
    return run("retrieval", folder, folder / "out.json", "--in-process", "--k", "1,3")


def test_odd_names_and_sets_are_measured_like_any_other(retrieved: dict[str, Any]) -> None:
    assert retrieved["sets"]["manuals/å"]["n"] == 2
    assert retrieved["sets"]["manuals/å"]["hit@3"] == 1.0
    assert retrieved["sets"]["ferries"]["n"] == 1
    assert retrieved["sets"]["ferries"]["hit@3"] == 1.0
    assert {row["doc"] for row in retrieved["questions"]} == {BOILER, FERRY, BROKEN, ""}


def test_a_pdf_that_cannot_be_read_is_named_and_its_question_missed(retrieved: dict[str, Any]) -> None:
    assert list(retrieved["problems"]) == [BROKEN]
    (missed,) = [row for row in retrieved["questions"] if row["doc"] == BROKEN]
    assert missed["why"] == "no text of the expected page is in the index"


def test_a_question_without_pages_is_asked_but_not_ranked(retrieved: dict[str, Any]) -> None:
    assert len(retrieved["questions"]) == 6
    assert sum("gold_rank" in row for row in retrieved["questions"]) == 4
    assert retrieved["refusals"]["unanswerable"]["n"] == 1


def test_questions_asked_twice_have_ids_of_their_own(retrieved: dict[str, Any]) -> None:
    ids = [row["id"] for row in retrieved["questions"]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("command", ["answers", "calibrate"])
def test_the_other_commands_take_the_same_folder_and_can_be_reported_alone(
    command: str, folder: Path, tmp_path: Path
) -> None:
    result = run(command, folder, tmp_path / "out.json")
    assert result["command"] == command
    assert list(result["problems"]) == [BROKEN]
    assert main(["report", str(tmp_path / "out.json"), "--out", str(tmp_path / "page")]) == 0
    for page in ("page.md", "page.html"):
        assert command in (tmp_path / page).read_text(encoding="utf-8")


def test_an_answer_holds_the_words_that_a_question_says(folder: Path, tmp_path: Path) -> None:
    price = {"question": "What does the pressure valve cost?", "doc": BOILER, "pages": [3]}
    rows = [{"id": word, **price, "words": [word]} for word in ("18 EUROS", "KX-4471", "19 euros")]
    for name in ("pdfs", "cache"):
        (tmp_path / name).symlink_to(folder / name)
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    result = run("answers", tmp_path, tmp_path / "out.json")
    assert [row["found"] for row in result["questions"]] == [1.0, 1.0, 0.0]


def test_calibration_leaves_out_what_no_threshold_could_answer(folder: Path, tmp_path: Path) -> None:
    result = run("calibrate", folder, tmp_path / "out.json")
    assert result["left_out"] == 1
    assert BROKEN not in {row["doc"] for row in result["asked"]}


def test_an_answer_nobody_should_have_given_is_among_the_failures(retrieved: dict[str, Any]) -> None:
    answered = copy.deepcopy(retrieved)
    captain = next(row for row in answered["questions"] if not row["answerable"])
    captain["refused"], captain["score"] = False, 0.9
    valve = next(row for row in answered["questions"] if row["doc"] == BOILER)
    valve["refused"] = True
    first, second = failures(answered)[:2]
    assert {first["id"], second["id"]} == {captain["id"], valve["id"]}
    assert {each["why"].partition(" (")[0] for each in (first, second)} == {
        "answered although nothing answers it",
        "refused although it can be answered",
    }


def test_the_report_escapes_what_names_hold(retrieved: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    assert retrieved["sets"]
    assert main(["report", str(folder / "out.json"), "--out", str(tmp_path / "page")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "l&#39;été &amp; la mer.pdf" in page
    assert "& la mer" not in page


@pytest.mark.parametrize(
    ("name", "library"), [("bm25-pages", "bm25s"), ("langchain", "langchain_community"), ("llamaindex", "llama_index")]
)
@pytest.mark.filterwarnings("default")  # what the peers' libraries are told by theirs is no fault of ours
def test_the_peers_take_the_same_folder(name: str, library: str, folder: Path, tmp_path: Path) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip("the peers are in the dependency group `evals`")
    result = run("retrieval", folder, tmp_path / "out.json", "--in-process", "--system", name)
    assert list(result["problems"]) == [BROKEN]
    assert result["sets"]["manuals/å"]["hit@5"] == 1.0


def test_among_documents_that_read_alike_the_one_that_is_named_comes_first(folder: Path, tmp_path: Path) -> None:
    docs = tmp_path / "filings" / "docs"
    docs.mkdir(parents=True)
    for quarter in ("2023 Q1", "2023 Q2", "2023 Q3"):
        text = "The Company reports revenue of 12 million and cautions that demand may fall."
        (docs / f"{quarter} ACME.pdf").write_bytes(pdf_of(f"Acme, quarterly report {quarter}", "# Results", text))
    rows = [
        "Question,Source Docs",
        '"What revenue did Acme report in Q2 2023?",*2023 Q2 ACME*',
        '"How did Acme\'s revenue develop?","*ACME*"',
    ]
    (docs.parent / "qna_data.csv").write_text("\n".join(rows), encoding="utf-8")
    out = tmp_path / "out.json"
    arguments = ["documents", "--data", str(docs.parent), "--cache", str(folder / "cache"), "--json", str(out)]
    assert main([*arguments, "--quiet"]) == 0
    sets = json.loads(out.read_text())["sets"]
    assert sets["one, quarter named"]["doc@1"] == 1.0
    assert sets["several documents"]["n"] == 1
