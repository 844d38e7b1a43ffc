"""What the stored text adds to a passage's score: words that stand together, in the question's order."""

import string
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.retrieval import rescoring
from functions.query.retrieval.rescoring import (
    BESIDE,
    PHRASES,
    TOGETHER,
    Signs,
    is_latin,
    plain_words,
    positions_of,
    signs_of,
    text_scores,
)
from tests.support.query import passage


def scores(question: str, *texts: str, language: str = "en") -> list[float]:
    """Return what the texts of unlike documents add to no score."""
    candidates = [passage(text, n=n, score=0.0) for n, text in enumerate(texts, start=1)]
    return [sum(each) for each in text_scores(question, language, candidates)]


FILLER = " ".join(f"filler{n}" for n in range(40))


def test_words_that_stand_together_score_more_than_the_same_words_far_apart():
    together, apart, none = scores(
        "maximum fall time of the external clock drive",
        f"{FILLER} External clock drive: the maximum fall time is 20 ns. {FILLER}",
        f"The maximum. {FILLER} A fall. {FILLER} In time. {FILLER} External. {FILLER} The clock. {FILLER} A drive.",
        FILLER,
    )
    assert together > 2 * apart > none == 0


def test_the_lines_above_a_table_count_as_the_text_below_them():
    rows = passage("Net income | 24,160", score=0.0, table="STATEMENTS OF OPERATIONS\nSix months ended April")
    whole = passage(f"{rows.table}\n{rows.text}", n=2, score=0.0)
    bare = rows._replace(table="", chunk_index=9)
    with_it, same, without = text_scores("net income six months ended", "en", [rows, whole, bare])
    assert with_it == same
    assert sum(with_it) > 1.5 * sum(without) > 0


def test_the_order_of_the_question_counts():
    right, turned = scores(
        "Table 1 EXPRESS prefix identification", "EXPRESS prefix identification", "identification EXPRESS prefix"
    )
    assert right > turned > 0


def test_small_words_may_stand_between_a_pair():
    with_them, without = scores("the date of the release", "the date of the release", "date release")
    assert with_them == pytest.approx(without)


def test_a_word_that_all_candidates_hold_scores_less_than_one_that_few_hold():
    common, rare = scores("refrigerator descaling", "refrigerator door", "refrigerator descaling")
    assert rare > 2 * common


def test_endings_case_and_diacritics_do_not_matter():
    plain, other = scores("zasis skrenda", "Žąsis skrenda", "žąsis  SKRENDA!", language="lt")
    assert plain > 0
    assert plain == pytest.approx(other)
    assert scores("descaling", "It must be descaled.", "Nothing.")[0] > 0


def test_other_scripts_are_read_too():
    found, other = scores("北京 在哪里", "我住在北京市", "上海很大", language="zh")
    assert found > other
    found, other = scores("внешний тактовый генератор", "Внешний тактовый генератор", "Ничего", language="ru")
    assert found > other


@pytest.mark.parametrize(
    ("question", "latin"),
    [("What’s the “E4” fault – at 40 °C?", True), ("Žąsis skrenda", True), ("Straße", True), ("北京 E4", False)],
)
def test_only_letters_of_another_script_need_the_slow_tokenizer(question: str, latin: bool):
    assert is_latin(question) is latin


def test_a_word_with_a_sharp_s_is_the_one_that_is_written_with_two():
    assert plain_words("Die Schließfächer") == plain_words("Die Schliessfächer") == ["die", "schliessfacher"]
    assert plain_words("Gruß 京", latin=False) == ["gruss", "京"]


@given(st.lists(st.sampled_from(["pump", "pumps", "pumping", "shed", "the", "7"]), max_size=30))
def test_a_stem_is_found_at_each_of_its_words(words: list[str]):
    signs = Signs("en")
    text = signs.of_text(", ".join(words), True)
    assert positions_of(signs.of_stem("pump"), text) == [n for n, word in enumerate(words) if word.startswith("pump")]
    assert positions_of(signs.of_stem("7"), text) == [at for at, word in enumerate(words) if word == "7"]
    assert not positions_of(signs.of_stem("pum"), text)


def test_stems_have_the_same_scores_after_more_than_have_signs_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rescoring, "MAX_SIGNS", 3)
    asked = ("descaling the drive", "Drive the pump.", "Descaled drives.", "A descaling drive.")
    before, first = signs_of("en"), scores(*asked)
    assert scores(*asked) == first
    assert signs_of("en") is not before


def test_threads_that_see_a_stem_first_agree_on_its_sign():
    signs, stems = Signs("en"), [f"stem{n}" for n in range(2_000)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: [signs.of_stem(stem) for stem in stems], range(4)))
    assert found == [found[0]] * 4
    assert len(set(found[0])) == len(stems)


def test_a_good_neighbour_helps_as_far_as_it_is_a_candidate():
    best = passage("alpha", score=0.9, document_id="d", chunk_index=4)
    beside = passage("beta", score=0.2, document_id="d", chunk_index=5)
    apart = passage("gamma", score=0.2, document_id="d", chunk_index=9)
    found = text_scores("nothing of this", "en", [best, beside, apart])
    assert [each.beside for each in found] == pytest.approx([BESIDE * 0.2, BESIDE * 0.9, 0.0])
    assert [(each.together, each.phrases) for each in found] == [(0.0, 0.0)] * 3


def test_a_question_of_common_words_adds_nothing():
    assert scores("what is the", "what is the", "other") == [0.0, 0.0]


WORDS = st.lists(st.sampled_from(["clock", "drive", "äpfel", "the", "R2D2", "1,000", "of", "北京"]), max_size=12)


@given(WORDS, st.lists(WORDS, min_size=1, max_size=6))
def test_scores_are_bounded_and_do_not_depend_on_the_order_of_candidates(asked: list[str], texts: list[list[str]]):
    passages = [passage(" ".join(text), n=n, score=0.0) for n, text in enumerate(texts, start=1)]
    found = [sum(each) for each in text_scores(" ".join(asked), "en", passages)]
    assert all(0 <= each <= TOGETHER + PHRASES + 1e-9 for each in found)
    turned = [sum(each) for each in text_scores(" ".join(asked), "en", passages[::-1])]
    assert turned == pytest.approx(found[::-1])


@given(st.text(alphabet=string.printable + "éžß–“•\u0301", max_size=80))
def test_both_tokenizers_agree_on_latin_text(text: str):
    letters = [word for word in plain_words(text, latin=False) if word.isascii()]
    if all(word.isascii() for word in plain_words(text, latin=False)):
        assert plain_words(text) == letters
