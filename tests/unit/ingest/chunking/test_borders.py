"""Where sentences, items and words end, case by case."""

from itertools import pairwise

import pytest

from functions.ingest.chunking import borders


def sentences(text: str) -> list[str]:
    cuts = [0, *borders.sentence_starts(text, 0, len(text)), len(text)]
    return [text[start:end].strip() for start, end in pairwise(cuts)]


@pytest.mark.parametrize(
    "expected",
    [
        ["It rained.", "We left."],
        ["Did it rain?", "It did!", "So we left."],
        ["He wrote to Dr. Smith of Acme Inc. about it.", "No answer came."],
        ["See e.g. the table, i.e. Fig. 3, or Nos. 4 and 5 on pp. 12 ff.", "Then stop."],
        ["The answer was no.", "They left."],
        ["J. R. R. Tolkien met C. S. Lewis in the U.S. Embassy.", "It was cold."],
        ["Pi is 3.14159 and e is 2.71828.", "Both are irrational."],
        ["Version 3.12.1 is out.", "Upgrade now."],
        ["Visit www.example.org today.", "It is free."],
        ["He paused... and went on.", "Nobody spoke."],
        ["He paused…", "Nobody spoke."],
        ['"It rained."', "We left."],
        ["“Did it rain?” she asked.", "It did."],
        ["(It rained.)", "(We left.)"],
        ["As shown before.[12]", "The next point [3, 4] is new."],
        ["This was shown before.12 The next point is new."],
        ["1. Introduction"],
        ["1. The first point is this.", "It matters."],
        ["Er wohnt z.B. in der Str. 5 bei Fr. Dr. Weiß.", "Er ist nett."],
        ["Am 3. April tagt Fr. Ott im 1. Stock.", "Auf Seite 3.", "Danach nicht."],
        ["It changed in version 4.0.", "The old one is gone."],
        ["Tai pvz. Vilnius ir t.y. sostinė.", "Čia gyvena žmonės."],
        ["Ši sutartis galioja.", "Šalys susitaria."],
        ["吾輩は猫である。", "名前はまだ無い。"],
        ["彼は「行こう。」と言った。", "雨だった。"],
        ["本当？", "はい！", "そうです。"],
        ["هل جاء؟", "نعم جاء."],
        ["यह एक वाक्य है।", "यह दूसरा है।"],
        ["it was all lower case.", "even this one.", "5 of them."],
    ],
)
def test_sentences_are_found(expected: list[str]) -> None:
    joined = "".join(part if part[-1] in "。？！" else part + " " for part in expected).strip()
    if expected == ["This was shown before.12 The next point is new."]:
        expected = ["This was shown before.12", "The next point is new."]
    assert sentences(joined) == expected


def test_small_letters_after_a_stop_go_on_unless_the_text_has_no_others() -> None:
    assert sentences("The price of approx. five euros vs. ten. A lot.") == [
        "The price of approx. five euros vs. ten.",
        "A lot.",
    ]
    assert sentences("first sentence here. second one there.") == ["first sentence here.", "second one there."]


def test_items_begin_at_bullets_numbers_rows_and_after_finished_lines() -> None:
    text = "We need:\n- nails\n- wood\n2) glue\n| a | b |\nTotal 5\nNext line\nand its end\n# Title"
    starts = [text[position:].split("\n")[0] for position in borders.item_starts(text, 0, len(text))]
    assert starts == ["- nails", "- wood", "2) glue", "| a | b |", "Total 5", "Next line", "# Title"]


def test_a_hard_wrapped_line_is_no_border() -> None:
    assert borders.item_starts("The harbour of New\nYork is wide,\nMore than most", 0, 47) == []


def test_clauses_follow_commas_and_dashes() -> None:
    text = "When it rains, it pours; then (as ever) we wait"
    assert [text[p:] for p in borders.clause_starts(text, 0, len(text))] == [
        "it pours; then (as ever) we wait",
        "then (as ever) we wait",
        "(as ever) we wait",
    ]


def test_word_pieces_are_as_long_as_allowed_but_not_longer() -> None:
    text = "four " * 50
    starts = [0, *borders.word_starts(text, 0, len(text), 23), len(text)]
    assert {end - start for start, end in pairwise(starts[:-1])} == {20}


@pytest.mark.parametrize(
    "grapheme",
    [
        "e\u0301",
        "👍🏽",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f1f1\U0001f1f9",
        "\r\n",
        "\u1100\u1161\u11a8",
        "❤\ufe0f",
    ],
)
def test_graphemes_stay_whole(grapheme: str) -> None:
    text = "a" + grapheme * 40
    for every in (8, 9, 10, 11):
        for position in borders.token_starts(text, 0, len(text), every):
            assert (position - 1) % len(grapheme) == 0


def test_a_grapheme_without_end_is_cut_all_the_same() -> None:
    text = "e" + "\u0301" * 100
    cuts = [0, *borders.token_starts(text, 0, len(text), 10), len(text)]
    assert max(end - start for start, end in pairwise(cuts)) <= 10


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize(
    "text",
    [
        "one two",
        "end.\n\nNext",
        "end. Next",
        "end.  Next",
        "a\n   b",
        "a \n \n  b",
        "x\u3000y",
        "字。字",
        "it's 5",
        "a\n\n(b",
        "a\t\tb",
    ],
)
def test_token_counts_add_up_at_a_cut(name: str, text: str) -> None:
    from functions.ingest.chunking import tokens

    encode = tokens.encoding(name).encode_ordinary
    start = next(
        n for n in range(1, len(text)) if (text[n - 1].isspace() or text[n - 1] == "。") and not text[n].isspace()
    )
    cut, exact = borders.count_cut(text, start)
    assert exact
    assert len(encode(text[:cut])) + len(encode(text[cut:])) == len(encode(text))


def test_a_cut_inside_a_word_or_before_a_slash_is_not_exact() -> None:
    assert borders.count_cut("word", 2) == (2, False)
    assert borders.count_cut("see.\n/path", 5) == (5, False)


@pytest.mark.parametrize(
    ("grapheme", "is_one"),
    [
        ("a\u0300", True),  # the first combining mark
        ("a\u036f", True),
        ("a\u02ff", False),  # a sign of its own
        ("\r\n", True),
        ("\n\r", False),
        ("\n\n", False),
        ("\u0915\u093f", True),  # a vowel sign of Devanagari
        ("\u1100\u1160", True),  # Hangul: an initial and its vowel
        ("\u11ff\u11ff", True),
        ("\u10ff\u1160", False),
        ("\u1100\u115f", False),
        ("\u2764\ufe0f", True),  # a heart as a picture
        ("\U0001f468\u200d", True),
        ("\U0001f44d\U0001f3fb", True),  # a thumb of a colour, the first and the last
        ("\U0001f44d\U0001f3ff", True),
        ("\U0001f44d\U0001f3fa", False),
        ("\U0001f44d\U0001f400", False),
        ("\U0001f3f4\U000e0067", True),  # a flag of tags
    ],
)
def test_nothing_is_cut_within_what_is_read_as_one_sign(grapheme: str, is_one: bool) -> None:
    text = f"ab{grapheme}cd"
    every = text.index(grapheme) + 1
    cut = borders.token_starts(text, 0, len(text), every)[0]
    assert cut == (every - 1 if is_one else every)


def test_flags_are_pairs_of_letters_and_cut_between_pairs() -> None:
    flags = "\U0001f1f1\U0001f1f9\U0001f1e6\U0001f1ff\U0001f1e9\U0001f1ea"
    for text in (flags, f"a{flags}"):
        even = len(text) % 2
        for every in range(2, len(text)):
            cut = borders.token_starts(text, 0, len(text), every)[0]
            assert cut == (every if every % 2 == even else every - 1)


def test_a_sign_longer_than_a_piece_is_cut_all_the_same() -> None:
    text = "a" + 7 * "\u0300"
    assert borders.token_starts(text, 0, len(text), 3) == [3, 6]
    assert borders.token_starts("abcdef", 1, 5, 2) == [3]
