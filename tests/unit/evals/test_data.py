"""The readers: what is read, and what is said about a folder that is not in the expected form."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.data import PdfQuestion, exchanged, read_pdf_qa, sampled
from evals.errors import DatasetError
from evals.research.chroma import read_chroma
from evals.research.rewrite import read_mtrag

QUESTION: dict[str, Any] = {"id": "q1", "question": "How high?", "doc": "a.pdf", "pages": [2], "answer": "3 m"}


def pdf_qa(folder: Path, *rows: dict[str, Any] | str) -> Path:
    (folder / "pdfs").mkdir()
    (folder / "pdfs" / "a.pdf").write_bytes(b"%PDF-1.7")
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / "questions.jsonl").write_text("\n".join(lines))
    return folder


def write_lines(path: Path, *rows: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row) for row in rows))


class TestPdfQa:
    def test_what_may_be_left_out_has_a_sensible_value(self, tmp_path: Path) -> None:
        data = read_pdf_qa(pdf_qa(tmp_path, QUESTION))
        question = data.questions[0]
        assert (question.set, question.group, question.pages, question.is_ranked) == ("all", "all", (2,), True)

    def test_the_words_of_a_right_answer_are_texts(self, tmp_path: Path) -> None:
        data = read_pdf_qa(pdf_qa(tmp_path, {**QUESTION, "words": ["3 m"]}))
        assert data.questions[0].words == ("3 m",)

    @pytest.mark.parametrize("words", ["3 m", [3], [""]])
    def test_other_words_are_refused(self, words: object, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match="line 1: `words` must be a list of texts"):
            read_pdf_qa(pdf_qa(tmp_path, {**QUESTION, "words": words}))

    def test_questions_that_need_a_picture_are_reported_apart(self, tmp_path: Path) -> None:
        row = {**QUESTION, "set": "manuals", "text_answerable": False}
        assert read_pdf_qa(pdf_qa(tmp_path, row)).questions[0].group == "manuals/visual"

    def test_an_unanswerable_question_has_no_page_to_find(self, tmp_path: Path) -> None:
        row = {**QUESTION, "pages": [], "answerable": False, "text_answerable": False, "answer": None}
        question = read_pdf_qa(pdf_qa(tmp_path, row)).questions[0]
        assert not question.is_ranked
        assert question.group == "all"

    def test_a_missing_folder_is_shown_the_form(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match=r"(?s)is not a folder.*questions\.jsonl"):
            read_pdf_qa(tmp_path / "nowhere")

    def test_missing_parts_are_all_named(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match=r"lacks pdfs and questions\.jsonl"):
            read_pdf_qa(tmp_path)

    def test_files_with_the_same_bytes_are_one(self, tmp_path: Path) -> None:
        folder = pdf_qa(tmp_path, QUESTION, {**QUESTION, "id": "q2", "doc": "b.pdf"})
        (folder / "pdfs" / "b.pdf").write_bytes((folder / "pdfs" / "a.pdf").read_bytes())
        data = read_pdf_qa(folder)
        assert [path.name for path in data.pdfs] == ["a.pdf"]
        assert {question.doc for question in data.questions} == {"a.pdf"}
        assert "the same file as a.pdf" in data.remarks["b.pdf"]

    def test_what_is_no_file_is_passed_over_and_what_cannot_be_read_is_named(self, tmp_path: Path) -> None:
        folder = pdf_qa(tmp_path, QUESTION)
        (folder / "pdfs" / "folder.pdf").mkdir()
        assert [path.name for path in read_pdf_qa(folder).pdfs] == ["a.pdf"]
        (folder / "pdfs" / "gone.pdf").symlink_to(tmp_path / "nowhere")
        with pytest.raises(DatasetError, match=r"gone\.pdf cannot be read"):
            read_pdf_qa(folder)

    def test_a_folder_without_pdfs_is_refused(self, tmp_path: Path) -> None:
        folder = pdf_qa(tmp_path, QUESTION)
        (folder / "pdfs" / "a.pdf").unlink()
        with pytest.raises(DatasetError, match=r"holds no \.pdf"):
            read_pdf_qa(folder)

    @pytest.mark.parametrize(
        ("row", "said"),
        [
            ("{oops", "line 2: not JSON"),
            ("[1]", "line 2: a JSON object is expected, not list"),
            ({**QUESTION, "id": "q2", "doc": "b.pdf"}, "line 2: there is no PDF named 'b.pdf' directly in pdfs/"),
            ({**QUESTION, "id": "q2", "pages": [0]}, "line 2: `pages` must be a list of page numbers from 1"),
            ({**QUESTION, "id": "q2", "pages": "2"}, "line 2: `pages` must be a list"),
            ({**QUESTION, "id": "q2", "question": " "}, "line 2: 'question' must be a text"),
            ({**QUESTION, "id": "q2", "answerable": "yes"}, "line 2: 'answerable' must be true or false"),
            (QUESTION, "the id 'q1' occurs twice"),
        ],
    )
    def test_a_bad_line_is_named_with_what_is_wrong(self, tmp_path: Path, row: dict[str, Any] | str, said: str) -> None:
        with pytest.raises(DatasetError) as error:
            read_pdf_qa(pdf_qa(tmp_path, QUESTION, row))
        assert said in str(error.value)


class TestSample:
    def test_a_sample_is_the_same_every_time_and_keeps_the_order(self) -> None:
        items = [str(number) for number in range(100)]
        drawn = sampled(items, 10, key=str)
        assert drawn == sampled(items, 10, key=str)
        assert len(drawn) == 10
        assert drawn == sorted(drawn, key=int)

    def test_a_larger_sample_holds_the_smaller_one(self) -> None:
        items = [str(number) for number in range(50)]
        assert set(sampled(items, 10, key=str)) < set(sampled(items, 20, key=str))

    def test_no_size_or_a_large_one_takes_everything(self) -> None:
        assert sampled("abc", None, key=str) == sampled("abc", 9, key=str) == ["a", "b", "c"]


class TestChroma:
    def write(self, folder: Path, *, end: int = 9) -> Path:
        (folder / "corpora").mkdir()
        (folder / "corpora" / "talk.md").write_bytes(b"one\r\ntwo three")
        references = json.dumps([{"content": "two ", "start_index": 5, "end_index": end}]).replace('"', '""')
        (folder / "questions_df.csv").write_text(f'question,references,corpus_id\nWhich?,"{references}",talk\n')
        return folder

    def test_offsets_count_in_the_file_as_it_is_with_its_line_ends(self, tmp_path: Path) -> None:
        data = read_chroma(self.write(tmp_path))
        assert data.questions[0].gold == ((5, 9),)

    def test_offsets_that_do_not_hold_the_excerpt_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match="are not the excerpt"):
            read_chroma(self.write(tmp_path, end=8))

    def test_missing_parts_are_named(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match=r"lacks corpora and questions_df\.csv"):
            read_chroma(tmp_path)


class TestMtrag:
    def write(self, folder: Path) -> Path:
        turns = [
            {"speaker": "user", "text": "A?"},
            {"speaker": "agent", "text": "B."},
            {"speaker": "user", "text": "C?"},
        ]
        contexts = [{"document_id": "d", "text": "t"}]
        write_lines(
            folder / "dev.jsonl",
            {"task_id": "1", "input": turns, "contexts": contexts, "answerability": ["ANSWERABLE"], "Collection": "c"},
        )
        write_lines(folder / "rewrites" / "x_lastturn.jsonl", {"_id": "9", "text": "|user|: And it?"})
        write_lines(folder / "rewrites" / "x_questions.jsonl", {"_id": "9", "text": "|user|: What?\n|user|: And it?"})
        write_lines(folder / "rewrites" / "x_rewrite.jsonl", {"_id": "9", "text": "|user|: And what about it?"})
        return folder

    def test_the_last_turn_is_the_question_and_the_ones_before_are_history(self, tmp_path: Path) -> None:
        data = read_mtrag(self.write(tmp_path))
        conversation, rewritten = data.conversations[0], data.rewritten[0]
        assert ([role for role, _ in conversation.turns], conversation.question) == (["user", "assistant"], "C?")
        assert (rewritten.turns, rewritten.question, rewritten.rewrite) == (
            [("user", "What?")],
            "And it?",
            "And what about it?",
        )

    def test_a_missing_partner_file_is_named(self, tmp_path: Path) -> None:
        (self.write(tmp_path) / "rewrites" / "x_lastturn.jsonl").unlink()
        with pytest.raises(DatasetError, match=r"x_lastturn\.jsonl is missing"):
            read_mtrag(tmp_path)

    def test_a_conversation_without_its_fields_is_named_by_line(self, tmp_path: Path) -> None:
        write_lines(self.write(tmp_path) / "dev.jsonl", {"task_id": "1"})
        with pytest.raises(DatasetError, match=r"dev\.jsonl, line 1"):
            read_mtrag(tmp_path)


def test_questions_are_asked_about_another_name_and_other_years() -> None:
    asked = PdfQuestion("q1", "filings", "What was Orbico's revenue in FY22 and 2021?", "ORBICO_2022.pdf", (3,))
    without = PdfQuestion("q2", "filings", "What is the revenue?", "ORBICO_2022.pdf", (3,))
    nowhere = PdfQuestion("q3", "filings", "What is Orbico's motto?", "ORBICO_2022.pdf", (), answerable=False)
    made = exchanged([asked, without, nowhere], [Path("ORBICO_2022.pdf"), Path("tesla.pdf")])
    assert [(each.set, each.text) for each in made] == [
        ("filings/another name", "What was Honeywell's revenue in FY22 and 2021?"),
        ("filings/an earlier year", "What was Orbico's revenue in fiscal 2009 and 2008?"),
        ("filings/a later year", "What was Orbico's revenue in fiscal 2030 and 2029?"),
    ]
    assert not any(each.answerable for each in made)
