"""What an extractive answer's scores are, to the number: shares of words, and a factor for what a statement is."""

from math import sqrt

import pytest

from functions.query.retrieval.passages import Passage
from functions.query.writing import row_scores
from functions.query.writing.extractive import extract
from functions.query.writing.statement_scores import asked_of, ranking
from tests.support.query import passage


def source(text: str, **more: object) -> Passage:
    return passage(text, **{"score": 1.0, **more})  # type: ignore[arg-type]


def scores(question: str, *sources: Passage) -> dict[str, float]:
    ranked, _ = ranking(asked_of(question, sources), sources)
    return {each.statement.text: each.score for each in ranked}


def best(question: str, text: str, **more: object) -> float:
    return max(scores(question, source(text, **more)).values())


PLAIN = best("the pump", "The pump is red.")


@pytest.mark.parametrize(
    ("text", "factor"),
    [
        ("The pump is old.", 1.0),
        ("The pump is red", 0.7),  # cut
        ("the pump is red.", 0.7),
        ("The pump is red:", 0.4),  # an introduction
        ("Is the pump red?", 0.2),
        ("The pump is ........ 30", 0.3 * 0.7),  # an entry of a table of contents
        ("Pump\n\nRed\n\nOld", 0.3 * 0.7),  # short lines
        ("The pump ~ ^ ] is.", 0.1),  # garbled
        ("Pump | Red", 1.0),
    ],
)
def test_a_statement_that_tells_less_counts_less(text: str, factor: float) -> None:
    assert best("the pump", text) == pytest.approx(factor * PLAIN)


@pytest.mark.parametrize(
    ("more", "factor"),
    [
        ({"section": "Contents"}, 0.3),
        ({"section": "Manual > Table of contents"}, 0.3),
        ({"section": "Turinys"}, 0.3),
        ({"section": "Contents of the box"}, 1.0),
        ({"score": 0.25}, 0.5),
        ({"score": 0.06}, sqrt(0.06)),
        ({"score": 0.05}, sqrt(0.05)),
        ({"score": 0.0}, sqrt(0.05)),
        ({"score": -0.5}, sqrt(0.05)),
    ],
)
def test_a_statement_counts_as_its_passage_does(more: dict[str, object], factor: float) -> None:
    assert best("the pump", "The pump is red.", **more) == pytest.approx(factor * PLAIN)


@pytest.mark.parametrize(
    ("question", "text", "other", "factor"),
    [
        ("On which page is the pump?", "The pump is red ........ 30", "The pump is red.", 4.0 * 0.7),
        ("How many pumps are red?", "Those pumps are red.", "Twelve pumps are red.", 0.4 / 1.5),
        ("When was the pump red?", "The pump was red.", "The pump was red in May 2001.", 0.4),
        ("How much is the pump?", "The pump weighs 12 tons.", "The pump is €12.", 0.4),
        ("How much is a pump?", "The pump weighs 12 tons.", "The pump is €12.", 0.15),
        ("What does the pump cost?", "The pump is of 2001.", "The pump is 20 dollars.", 0.4),
        ("How close is the pump?", "The pump has 2 lamps.", "The pump is 2 metres away.", 0.15),
        ('Where is "the pump"?', "The pump is red.", "A pump is red.", 1.5),
        ("How do I pump?", "1. The pump is red.", "The pump is red.", 1.4),
        ("How do I pump?", "Pump:\n\n1. It is red.", "Pump is red.", 1.4),
        ("Is the pump red?", "Pump | Yes", "Pump | Old", 1.3),
        ("the red pump", "Red pump", "Red pump.", 0.2 * 0.7),
    ],
)
def test_a_statement_counts_by_what_is_asked(question: str, text: str, other: str, factor: float) -> None:
    assert best(question, text) == pytest.approx(factor * best(question, other), rel=0.02)


def test_a_passage_further_down_counts_less() -> None:
    found = [source(f"The pump is {word}.", n=n) for n, word in enumerate(("red", "old", "low"), 1)]
    first, second, third = scores("the pump", *found).values()
    assert (second, third) == (pytest.approx(first / 1.3), pytest.approx(first / 1.6))


def share(count: float) -> float:
    """The score of one word that counts so often, in a text of mean length: BM25 with k1 0.8, times its root."""
    return count * 1.8 / (count + 0.8) * sqrt(min(1.0, count))


@pytest.mark.parametrize(
    ("text", "more", "count"),
    [
        ("The lamp is red.", {"section": "Pumps and fuses"}, 0.4),
        ("The pump is a pump.", {}, 2.0),
        ("The pump, pump, pump.", {}, 3.0),
    ],
)
def test_a_word_counts_as_often_as_it_is_there_and_a_little_in_a_section(
    text: str, more: dict[str, object], count: float
) -> None:
    rare = PLAIN / best("the pump", "The pump is red.") * share(count)
    weight = scores("the pump", source("The pump is red."))["The pump is red."]
    found = best("the pump", text, **more)
    if more:
        # No statement holds the word, which makes it rarer: idf(1, 0) for idf(1, 1), ln(4) for ln(4/3).
        assert found == pytest.approx(rare * weight * 4.8188, rel=1e-3)
    else:
        assert found == pytest.approx(rare * weight)


def test_a_synonym_counts_a_little_and_a_word_of_the_title_only_beside_others() -> None:
    question = "Who bought the pump?"
    word, synonym, neither = scores(
        question, source("We bought it in Graz.\n\nWe acquired it in Graz.\n\nWe praised it in Graz.")
    ).values()
    assert (synonym / word, neither) == (pytest.approx(share(0.4) / share(1), rel=0.02), 0.0)
    titled = best(question, "We bought it in Graz.", title="The pump of Graz")
    assert titled > best(question, "We bought it in Graz.")
    assert best(question, "We sold it in Graz.", title="The pump of Graz") == 0.0


def test_a_field_is_no_answer_if_the_question_has_its_value() -> None:
    form = "Flat: Kestrel Street\n\nDeposit | £1,250\n\nTerm | 12 months"
    found = scores("deposit for the Kestrel Street flat?", source(form))
    assert max(found, key=lambda text: found[text]) == "Deposit | £1,250"


def test_a_word_beside_a_statement_counts_a_little_and_more_in_its_heading() -> None:
    own, beside, apart = scores("the pump", source("The pump is red. The lamp is old. The sun is hot.")).values()
    assert (beside / own, apart) == (pytest.approx(share(0.3) / share(1)), 0.0)
    (headed,) = scores("the pump", source("Pumps and fuses\n\nThe lamp is old.")).values()
    (named,) = scores("the pump", source("The lamp is old.", section="Pumps and fuses")).values()
    assert headed == pytest.approx(named)
    elsewhere = scores("the pump", source("The pump is red."), source("The lamp is old.", n=2))
    assert elsewhere["The lamp is old."] == 0.0
    contents = scores("the pump", source("The pump is red ........ 30\n\nThe lamp is old."))
    assert contents["The lamp is old."] == 0.0


@pytest.mark.parametrize(("words", "length"), [(2, 2), (6, 6), (14, 14), (18, 18), (30, 30)])
def test_a_long_statement_counts_less_up_to_twice_the_mean_length(words: int, length: int) -> None:
    long = f"The pump {' '.join(f'zorg{at}' for at in range(words - 1))}."
    texts = [long, *(f"The lamp{at} zorg." for at in range(3))]
    sources = [source(text, n=1, document_id=f"d{at}") for at, text in enumerate(texts)]
    of_mean = [source("The pump zorg.", n=1), *sources[1:]]
    mean = (length + 6) / 4
    expected = 1.8 / (1 + 0.8 * (0.7 + 0.3 * min(2.0, length / mean)))
    assert scores("the pump", *sources)[long] == pytest.approx(
        expected * scores("the pump", *of_mean)["The pump zorg."]
    )


def test_two_words_of_the_question_in_a_row_count_more() -> None:
    (loose,), (close,) = (
        scores("zorgle wumpet", source(text)).values() for text in ("A wumpet, red zorgle.", "A red zorgle wumpet.")
    )
    assert close / loose == pytest.approx(1 + 0.4 / 2)


def test_what_follows_a_question_counts_more_than_half_of_it() -> None:
    found = scores("the pump", source("Is the pump red? It is so."))
    assert found["Is the pump red?"] == pytest.approx(found["It is so."] * 0.2 / 0.6)


def test_what_follows_a_question_in_another_passage_is_no_answer_to_it() -> None:
    found = scores("the pump", source("Is the pump red?"), source("An old lamp of the north\n\nIt is so.", n=2))
    assert found["It is so."] == 0.0


# --- what is told with the best statement ---


def told(question: str, *sources: Passage) -> list[str]:
    return [claim.references[0].quote for claim in extract(question, sources).claims]


@pytest.mark.parametrize(("asks", "expected"), [("What does the zorgle do", 4), ("Compare what the zorgle does", 5)])
def test_so_many_statements_are_told_at_most(asks: str, expected: int) -> None:
    words = ["wumpet", "fnord", "quimby", "blivet", "snark", "gronk", "plugh", "xyzzy"]
    sources = [source(f"The zorgle is {word}.", document_id="doc", n=n) for n, word in enumerate(words, 1)]
    question = f"{asks}: {', '.join(words)}, {', '.join(f'{word}ish' for word in words)}?"
    assert len(extract(question, sources).claims) == expected


@pytest.mark.parametrize(("length", "expected"), [(600, 1), (601, 2)])
def test_a_sentence_and_the_next_have_so_many_characters_at_most(length: int, expected: int) -> None:
    text = f"The zorgle is a {'w' * 280}."
    text += f" It has a blivet of {'q' * (length - len(text) - 21)}."
    assert len(text) == length
    assert len(extract("Does the zorgle have a blivet?", [source(text)]).claims) == expected


@pytest.mark.parametrize(("gap", "expected"), [(4, True), (5, False), (0, True), (-1, False)])
def test_a_list_goes_on_in_the_passage_that_follows_directly(gap: int, expected: bool) -> None:
    first = source("To drain the pump:\n1. Lift the pump.\n2. Pull it.", char_start=100, document_id="doc")
    begin = 100 + len(first.text) + gap
    then = source("3. Push it.\n4. Shut it.\n\nThe sun is hot.", char_start=begin, n=2, document_id="doc")
    found = told("How do I drain the pump?", first, then)
    assert ("3. Push it.\n4. Shut it." in found) is expected
    other = then._replace(document_id="other")
    assert told("How do I drain the pump?", first, other) == [first.text]


@pytest.mark.parametrize(("length", "expected"), [(500, True), (501, False)])
def test_what_stands_around_a_statement_with_little_of_the_question_has_so_many_characters(
    length: int, expected: bool
) -> None:
    text = "Divers rest well."
    text = f"{text} And so {'w' * (length - len(text) - 9)}."
    assert len(text) == length
    question = "How do divers recover before decompression chambers are opened in winter storms?"
    assert (told(question, source(text)) == [text]) is expected


@pytest.mark.parametrize(
    ("question", "factor"),
    [
        ("Where was the pump?", 0.8),
        ("Where did the pump go?", 0.8),
        ("Where will the pump go?", 1.0),
        ("Was ist the pump?", 1.0),
    ],
)
def test_what_will_be_counts_less_where_it_is_asked_what_was(question: str, factor: float) -> None:
    assert best(question, "The pump will rest.") == pytest.approx(factor * best(question, "The pump may rest."))


@pytest.mark.parametrize(
    ("question", "factor"), [("Who built the pump?", 1.5), ("Who has built it?", 1.5), ("Who paid for the pump?", 1.0)]
)
def test_by_whom_it_is_done_counts_more_where_it_is_asked_who_does_it(question: str, factor: float) -> None:
    told = best(question, "The pump was built once by Ada.")
    assert told == pytest.approx(factor * best(question, "The pump was built once for Ada."))


@pytest.mark.parametrize(
    ("question", "factor"),
    [("Does Glass use more water than Eco?", 2.0), ("Which uses the most water?", 2.0), ("How much water?", 1.0)],
)
def test_a_row_counts_double_where_its_cells_are_compared(
    monkeypatch: pytest.MonkeyPatch, question: str, factor: float
) -> None:
    table = "Eco | Auto | Glass\nWater | 9.5 l | 13 l | 12.2 l\nTime | 3 h | 2 h | 1 h"
    compared = best(question, table)
    monkeypatch.setattr(row_scores, "CELLS_COMPARED", 1.0)
    assert compared == pytest.approx(factor * best(question, table))
