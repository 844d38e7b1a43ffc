"""Which of the words that Tesseract finds are kept."""

from functions.ingest.parsing.engine_tesseract import kept
from functions.ingest.parsing.words import Style, Word


def line(*found: tuple[str, float]) -> list[tuple[Word, float]]:
    words = [(Word(text, 0.0, 0.0, 1.0, 1.0, Style()), sure) for text, sure in found]
    words[-1][0].ends = "\n"
    return words


def texts(words: list[Word]) -> str:
    return "".join(f"{word.text}{word.ends or ' '}" for word in words)


def test_specks_and_strokes_are_left_out() -> None:
    assert texts(kept(line(("—", 12), ("il", 8), ("Chart", 45)))) == "Chart\n"


def test_an_unsure_word_of_a_sure_line_is_kept() -> None:
    assert texts(kept(line(("management", 93), ("of", 21), ("software", 91)))) == "management of software\n"


def test_a_line_is_as_sure_as_its_letters() -> None:
    assert texts(kept(line(("a", 95), ("scratches", 20)))) == "a\n"
    assert texts(kept(line(("legible", 60), ("i", 20)))) == "legible\n"


def test_the_last_word_that_is_kept_ends_its_line() -> None:
    found = [*line(("Total", 58), ("~", 3)), *line(("~", 3), ("'", 9)), *line(("Sum", 50))]
    assert texts(kept(found)) == "Total\nSum\n"


def test_words_after_the_last_end_of_a_line_are_a_line() -> None:
    found = [*line(("Total", 90)), (Word("rest", 0.0, 0.0, 1.0, 1.0, Style()), 40.0)]
    assert texts(kept(found)) == "Total\nrest "
