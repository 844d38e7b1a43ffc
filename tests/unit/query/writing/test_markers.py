"""Markers of every kind name the same sources, and what only looks like a marker stays in the text."""

import pytest

from functions.query.writing.markers import read_sentences, source_numbers, without_markers_of


def read(text: str, *, cut: bool = False) -> list[tuple[str, list[int]]]:
    return [(claim.text, [each.source for each in claim.references]) for claim in read_sentences(text, cut=cut)]


@pytest.mark.parametrize(
    ("marker", "numbers"),
    [
        ("[1]", [1]), ("[1][2]", [1, 2]), ("[1] [2]", [1, 2]), ("[1, 2]", [1, 2]), ("[1; 2]", [1, 2]),
        ("[1 and 2]", [1, 2]), ("[1-3]", [1, 2, 3]), ("[2–3, 5]", [2, 3, 5]), ("[3-1]", [3, 1]), ("[ 1 ]", [1]),
        ("[Source 1]", [1]), ("[Sources 1, 2]", [1, 2]), ("[Source 1, Source 2]", [1, 2]), ("[source: 1]", [1]),
        ("[doc1]", [1]), ("[source_1]", [1]), ("[citation:1]", [1]), ("[ref. 1]", [1]), ("[#1]", [1]),
        ("[Quelle 1]", [1]), ("[1 šaltinis]", [1]), ("[1, p. 30]", [1]), ("[1, pp. 30–31]", [1]), ("[1 (p. 30)]", [1]),
        ("[1: Handbook]", [1]), ('[1, "word for word"]', [1]), ("[^1]", [1]), ("[^1^]", [1]), ("^[1]", [1]),
        ("[[1]]", [1]), ("[[1]](#1)", [1]), ("[1](https://x.example/a)", [1]), ("[1](Handbook, p. 1)", [1]),
        ("**[1]**", [1]), ("`[1]`", [1]), ("【1】", [1]), ("【1†source】", [1]), ("【1†L3-L5】【2†L1】", [1, 2]),
        ("［１］", [1]), ("<sup>1</sup>", [1]), ("<sup>[1, 2]</sup>", [1, 2]), ('<source n="1"/>', [1]),
        ("(Source 1)", [1]), ("(see source 1, p. 2)", [1]), ("(Source: [1])", [1]), ("Source: [1]", [1]),
        ("Source: 1", [1]), ("— Source 1", [1]), ("(1)", [1]), ("(1)(2)", [1, 2]), ("(1, 2)", [1, 2]),
        ("¹", [1]), ("¹²", [12]), ("¹,²", [1, 2]), ("^1", [1]), ("^1^", [1]),
    ],
)  # fmt: skip
def test_every_marker_names_its_sources(marker: str, numbers: list[int]):
    assert read(f"It opens at ten. {marker}" if marker[0] not in "¹^" else f"It opens at ten.{marker}") == [
        ("It opens at ten.", numbers)
    ]


@pytest.mark.parametrize(
    "said",
    [
        "It covers 30 m² and weighs 10³ kg.", "Article 5(1) applies.", "The sample (n = 30) was small.",
        "It rose (by 3) and fell.", "Use the [power] key.", "It runs at [10:30].", "See table (a).", "2^10 is 1024.",
        "The source is unknown.", "It was filed as Document 12.",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_marker_stays(said: str):
    assert read(f"{said} [1]") == [(said, [1])]


def test_parentheses_are_markers_only_where_nothing_else_is():
    assert read("It opens (1). It closes (2).") == [("It opens.", [1]), ("It closes.", [2])]
    assert read("It opens, see part (2). [1]") == [("It opens, see part (2).", [1])]
    assert read("Fill the tank (1) and wait.") == [("Fill the tank (1) and wait.", [])]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It is so.[^a]\n\n[^a]: Source 2, page 3", [2]),
        ("It is so.[^a]\n\n[^a]: [3] Handbook", [3]),
        ("It is so.[^1]\n\n[^1]: Handbook, page 3\n    second line", [1]),
        ("It is so. [1]\n\n[1]: Handbook, page 3", [1]),
    ],
)
def test_a_footnote_is_what_its_definition_names(text: str, numbers: list[int]):
    assert read(text) == [("It is so.", numbers)]


@pytest.mark.parametrize(
    "below",
    [
        "Sources:\n[1] Handbook, page 3", "**Sources**\n- Handbook, page 3", "## References\n1. Handbook (page 3)",
        "References: [1] Handbook", "Quellen:\n1. Handbuch", "---\nCitations\n[1] Handbook",
    ],
)  # fmt: skip
def test_a_list_of_sources_below_is_no_claim(below: str):
    assert read(f"It is so. [1]\n\n{below}") == [("It is so.", [1])]


def test_a_sentence_about_sources_is_a_claim():
    assert read("It is so. [1]\n\nSources: rivers rise in the hills. [2]")[-1] == (
        "Sources: rivers rise in the hills.", [2]
    )  # fmt: skip


def test_markers_may_come_first():
    assert read("[1] It opens. [2] It closes.") == [("It opens.", [1]), ("It closes.", [2])]
    assert read("- [1] It opens.\n- [2] It closes.") == [("- It opens.", [1]), ("- It closes.", [2])]


def test_layout_is_no_claim():
    text = "# Hours\n\n> It opens at ten. [1]\n\n**Prices**\nIt costs 4 euros. [2]\n```\n"
    assert read(text) == [("It opens at ten.", [1]), ("It costs 4 euros.", [2])]
    table = "| # | Fuel | Unit | Source |\n|:-|---|---|--:|\n| 1 | Diesel | litres | [1] |\n| 2 | Gas | kg | [2] |"
    assert read(table) == [("Diesel | litres", [1]), ("Gas | kg", [2])]
    assert read("<ul><li>It <b>opens</b>. [1]</li><li>It closes. [2]</li></ul>") == [
        ("- It opens.", [1]),
        ("- It closes.", [2]),
    ]


@pytest.mark.parametrize(
    "label",
    ["Sure! ", "Answer: ", "**Final answer:** ", "Assistant: ", "It takes two steps.\n\nAnswer:\n", "### Answer\n"],
)
def test_what_stands_before_an_answer_is_left_out(label: str):
    assert read(f"{label}It is so. [1]") == [("It is so.", [1])]


def test_a_source_that_is_said_in_words_is_a_marker():
    assert read("According to source 2, it opens at ten. As per Sources 1 and 2: it closes.") == [
        ("It opens at ten.", [2]),
        ("It closes.", [1, 2]),
    ]

    assert read("According to [1], it opens. Source 2 states that it closes.") == [
        ("It opens.", [1]),
        ("It closes.", [2]),
    ]
    assert read("Source 1 denies that it closes. [2]") == [("Source 1 denies that it closes.", [2])]


def test_bold_sentences_and_invisible_signs_do_not_hide_markers():
    assert read("**It opens.** [1] **It closes.** \u200b[2]\u200b") == [("It opens.", [1]), ("It closes.", [2])]


def test_of_a_text_that_was_cut_off_whole_sentences_with_sources_are_kept():
    assert read("It opens. [1] It closes. [2] And th", cut=True) == [("It opens.", [1]), ("It closes.", [2])]
    assert read("It opens. [1] It closes. [2]", cut=True) == [("It opens.", [1]), ("It closes.", [2])]
    assert read("So the user asks when. It opens. [1] It", cut=True) == []


@pytest.mark.parametrize(
    ("label", "numbers"),
    [
        ("1", [1]), ("[1]", [1]), ("Source 1", [1]), ("source_2", [2]), ("1, 2", [1, 2]), ("[1][2]", []),
        ("Source 1: Handbook, page 30", [1]), ("【3†source】", [3]), ("Handbook, page 30", []), ("", []), ("one", []),
    ],
)  # fmt: skip
def test_a_label_is_read_as_numbers(label: str, numbers: list[int]):
    assert list(source_numbers(label)) == numbers


def test_a_claims_text_is_freed_of_markers_and_labels():
    text, references = without_markers_of("Answer: It is so [1], says [Source 2].")
    assert (text, [each.source for each in references]) == ("It is so, says.", [1, 2])
