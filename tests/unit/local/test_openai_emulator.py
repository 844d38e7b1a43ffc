"""The emulator's parts without the model: sentences, prompts, the queue, the cache, token counts."""

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import tiktoken

from local.openai import tokens
from local.openai.engine import EmbeddingEngine, VectorCache, Vectors, Window, pool, resize
from local.openai.extractive import PromptSource, pick, read_prompt


class WordModel:
    """Replaces MiniLM: a text's windows are its words, and a vector says how long each word is."""

    def __init__(self) -> None:
        self.runs: list[int] = []
        self.lengths: list[int] = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()

    def windows(self, texts: Sequence[str]) -> list[list[Window]]:
        return [[[1] * len(word) for word in text.split()] for text in texts]

    def means(self, windows: Sequence[Window]) -> Vectors:
        self.entered.set()
        self.gate.wait(60)
        self.runs.append(len(windows))
        self.lengths.append(len(windows[0]))
        vectors = np.zeros((len(windows), 384), np.float32)
        for row, window in enumerate(windows):
            vectors[row, len(window) % 384] = 1
        return vectors


def test_a_prompt_is_read_as_sources_and_a_question() -> None:
    user = (
        '<source n="2" title="a > b">\nText of two.\n</source>\n<source page="1" n="7">\nSeven.\n</source>\n'
        "Question: Why?\nAnd how?"
    )
    assert read_prompt(["Be brief.", user]) == (
        [PromptSource(2, "Text of two.", title="a > b"), PromptSource(7, "Seven.")],
        "Why?\nAnd how?",
        "Why?\nAnd how?",
    )
    below = '<source n="3" table="Fuel (in litres) / | 2024 | 2025">\nDiesel | 2 | 5\n</source>'
    assert read_prompt([below])[0] == [PromptSource(3, "Diesel | 2 | 5", "Fuel (in litres)\n| 2024 | 2025")]
    assert read_prompt(["Just this?"]) == ([], "Just this?", "Just this?")
    assert read_prompt([]) == ([], "", "")
    nested = '<source n="4" section="Care &gt; Cleaning">\nWipe it.\n</source>\n'
    nested += "Question: Why it?\n(Searched for as: Why clean?)"
    assert read_prompt([nested]) == ([PromptSource(4, "Wipe it.", section="Care > Cleaning")], "Why it?", "Why clean?")


def test_words_of_the_conversation_behind_a_question_do_not_choose_its_answer() -> None:
    lamp = "The lamp is lit at sunset. The lens of the lamp must be cleaned every Thursday."
    sources = [PromptSource(1, lamp, title="Lighthouse")]

    def told(question: str, searched: str) -> list[str]:
        return [chosen.told for chosen in pick(sources, question, searched)]

    assert told("When is it lit?", "When is it lit? lens lamp cleaned")[0].startswith("The lamp is lit at sunset.")
    assert told("How often?", "How often must the lens be cleaned?")[0].endswith("every Thursday.")
    assert told("And that?", "And that? lens cleaned")[0].endswith("every Thursday.")


def test_a_sentence_that_two_sources_share_is_cited_once() -> None:
    same = "aaa bbb ccc ddd"
    picks = pick([PromptSource(1, same), PromptSource(2, same)], "eee")
    assert [(chosen.quote, chosen.source) for chosen in picks] == [(same, 1)]


def test_the_relevant_rows_of_a_table_are_picked_with_the_names_of_their_columns() -> None:
    table = "Fuel | Unit | Least\nDiesel | litres | 48\nPetrol | litres | 19"
    picks = pick([PromptSource(1, table)], "How much diesel is there at least?")
    assert [(chosen.quote, chosen.told) for chosen in picks] == [
        ("Diesel | litres | 48", "Fuel: Diesel; Least: 48 litres")
    ]


def test_rows_of_a_table_that_a_source_goes_on_with_are_told_with_the_columns_above_it() -> None:
    source = PromptSource(1, "Diesel fuel | litres | 48\nPetrol fuel | litres | 19", "Fuel | Unit | Least")
    (chosen,) = pick([source], "How much diesel is there at least?")
    assert (chosen.quote, chosen.told) == ("Diesel fuel | litres | 48", "Fuel: Diesel fuel; Least: 48 litres")


def test_a_row_below_a_header_of_two_rows_is_told_in_words() -> None:
    table = "Quarter ended |\nPer share | March 31, 2025 | March 31, 2024\nBasic earnings | $ 0.23 | $ 0.19"
    (chosen,) = pick([PromptSource(1, table)], "What were the basic earnings?")
    assert chosen.quote == "Basic earnings | $ 0.23 | $ 0.19"
    assert "|" not in chosen.told
    assert "March 31, 2025: $ 0.23" in chosen.told


def test_how_many_is_answered_by_the_number_alone() -> None:
    told = "Many guests were received: 86 guests."
    sources = [PromptSource(1, "How kind guests were received."), PromptSource(2, told)]
    picks = pick(sources, "How many guests were received?")
    assert [chosen.quote for chosen in picks] == [told]


def test_a_numbered_part_that_the_question_names_is_told_alone() -> None:
    rules = "4.1 Dogs stay outside. 4.2 A lost key costs £12. Tell the desk.\n\n4.3 Doors close at ten."
    sources = [PromptSource(1, "What does the clause say about keys and dogs?"), PromptSource(2, rules)]
    picks = pick(sources, "What does clause 4.2 say?")
    assert [(chosen.told, chosen.source) for chosen in picks] == [("4.2 A lost key costs £12. Tell the desk.", 2)]


def test_each_part_of_a_question_is_answered_from_its_source() -> None:
    sources = [PromptSource(1, "The trip costs ninety pounds."), PromptSource(2, "Phones stay at home.", title="Rules")]
    picks = pick(sources, "What does the trip cost? Are phones allowed?")
    assert [(chosen.told, chosen.source) for chosen in picks] == [
        ("The trip costs ninety pounds.", 1),
        ("Phones stay at home.", 2),
    ]


def test_what_no_source_mentions_is_not_answered() -> None:
    assert pick([PromptSource(1, "The trip costs ninety pounds.")], "What is the capital of Mongolia?") == []
    assert pick([], "What does the trip cost?") == []


LONG = [" ".join(["y" * 300] * 21)]
"""More than a small request holds: 21 batches of one window."""


class HeldModel(WordModel):
    """Holds the windows of long texts, or those of short ones, until its gate opens."""

    def __init__(self, *, holds_long: bool) -> None:
        super().__init__()
        self.gate.clear()
        self._holds_long = holds_long

    def means(self, windows: Sequence[Window]) -> Vectors:
        if (len(windows[0]) == 300) == self._holds_long:
            return super().means(windows)
        self.runs.append(len(windows))
        return np.ones((len(windows), 384), np.float32)


@pytest.mark.parametrize("holds_long", [True, False], ids=["a question beside ingest", "ingest beside questions"])
def test_neither_a_long_nor_a_short_request_waits_for_the_other(holds_long: bool) -> None:
    model = HeldModel(holds_long=holds_long)
    engine = EmbeddingEngine(model, threads=1)  # type: ignore[arg-type]
    held, free = (LONG, ["why"]) if holds_long else (["why"], LONG)
    other = threading.Thread(target=engine.embed, args=(held,))
    other.start()
    assert model.entered.wait(60)  # its thread is busy now
    assert engine.embed(free).shape == (1, 384)
    assert other.is_alive()
    model.gate.set()
    other.join(60)
    engine.close()


def test_an_answer_is_as_urgent_as_a_short_request() -> None:
    model = HeldModel(holds_long=True)
    engine = EmbeddingEngine(model, threads=1)  # type: ignore[arg-type]
    other = threading.Thread(target=engine.embed, args=(LONG,))
    other.start()
    assert model.entered.wait(60)
    assert engine.embed([" ".join(["z" * 200] * 21)], urgent=True).shape == (1, 384)
    model.gate.set()
    other.join(60)
    engine.close()


def test_a_long_request_is_cut_into_batches_so_that_others_get_turns() -> None:
    model = WordModel()
    engine = EmbeddingEngine(model, threads=1)  # type: ignore[arg-type]
    engine.embed(LONG)
    engine.close()
    assert model.runs == 21 * [1]


def test_equal_texts_are_computed_once() -> None:
    model = WordModel()
    engine = EmbeddingEngine(model, threads=2)  # type: ignore[arg-type]
    vectors = engine.embed(["ab", "abc", "ab"])
    engine.close()
    assert sum(model.runs) == 2
    assert (vectors[0] == vectors[2]).all()
    assert vectors[0] @ vectors[1] == 0


def test_an_error_of_the_model_reaches_the_request() -> None:
    class Broken(WordModel):
        def means(self, windows: Sequence[Window]) -> Vectors:
            raise RuntimeError("out of memory")

    engine = EmbeddingEngine(Broken(), threads=1)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="out of memory"):
        engine.embed(["a"])
    engine.close()


def test_a_closed_engine_refuses_at_once() -> None:
    engine = EmbeddingEngine(WordModel(), threads=1)  # type: ignore[arg-type]
    engine.close()
    with pytest.raises(RuntimeError, match="closed"):
        engine.embed(["a"])


def test_pooling_weighs_windows_by_their_tokens() -> None:
    means = np.array([[1, 0], [0, 1]], np.float32)
    assert pool(means, [3, 1]) == pytest.approx(np.array([3, 1]) / np.sqrt(10))


def test_padding_keeps_cosines_and_cutting_keeps_length() -> None:
    vectors = np.random.default_rng(0).normal(size=(5, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.allclose(resize(vectors, 1536) @ resize(vectors, 1536).T, vectors @ vectors.T)
    assert np.allclose(np.linalg.norm(resize(vectors, 100), axis=1), 1)


def test_the_cache_is_bounded_and_forgets_the_oldest(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.sqlite", space="a", max_rows=3)
    for number in range(5):
        cache.put_many({str(number): np.full(384, number, np.float32)})
    known = cache.get_many([str(number) for number in range(5)])
    assert sorted(known) == ["2", "3", "4"]
    assert (known["3"] == 3).all()
    cache.close()


def test_the_cache_keeps_graphs_apart_and_outlives_the_process(tmp_path: Path) -> None:
    first = VectorCache(tmp_path / "v.sqlite", space="fp32")
    first.put_many({"text": np.ones(384, np.float32)})
    first.close()
    other = VectorCache(tmp_path / "v.sqlite", space="int8")
    again = VectorCache(tmp_path / "v.sqlite", space="fp32")
    assert other.get_many(["text"]) == {}
    assert "text" in again.get_many(["text"])
    other.close()
    again.close()


def test_token_ids_are_tiktoken_s() -> None:
    import quicktok

    vocabulary = quicktok.get_encoding("cl100k_base")
    # The pattern is OpenAI's published one for cl100k_base; only its vocabulary comes from the wheel.
    pattern = (
        r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|"""
        r"""\s*[\r\n]|\s+(?!\S)|\s"""
    )
    reference = tiktoken.Encoding(
        "cl100k_base",
        pat_str=pattern,
        mergeable_ranks={vocabulary.decode_bytes([token]): token for token in range(100_256)},
        special_tokens={},
    )
    texts = [
        "Hello, world!  \n\n  It's 12345.67 €",
        "ąčęėįšųūž naïve 日本語 😀👍🏽",
        "def f(x):\n\treturn x**2",
        "  ",
        "<|endoftext|>",
    ]
    for text in texts:
        assert tokens.encode(text) == reference.encode_ordinary(text)
        assert tokens.count(text) == len(reference.encode_ordinary(text))
        assert tokens.decode(tokens.encode(text)) == text


def test_an_unknown_token_id_is_an_error() -> None:
    for ids in ([100_300], [-1]):
        with pytest.raises(ValueError, match="unknown token id"):
            tokens.decode(ids)
