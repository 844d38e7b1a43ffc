"""What is promised about chunks, whatever the text: nothing lost, nothing too long, every position exact."""

import itertools
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from functions.ingest.chunking import tokens
from functions.ingest.chunking.chunker import ChunkSettings, chunk_pages, join_pages
from shared.models import Block, Chunk, Page, content_hash_of

ENCODING = tokens.encoding()
FAMILY = "\U0001f468‍\U0001f469‍\U0001f467‍\U0001f466"

WORDS = "river stone harbour engine ledger copper orchard signal winter market bridge lantern cargo"
CHARACTERS = "ab.,;!?/([{“”’12éßİ字。」、あ한กعא्\u0301\u200d\u00a0\u3000\u2028\n\t\r`|#-•"
nasty = st.sampled_from(
    [
        *CHARACTERS,
        " ",
        "\n\n",
        "\r\n",
        FAMILY,
        "\U0001f1f1\U0001f1f9",
        "👍🏽",
        "e\u0301\u0302\u0303",
        "\x1c",
        "\x85",
        "word ",
        "Sentence one. ",
        "supercalifragilistic" * 4,
        "吾輩は猫である。名前はまだ無い",
        "don't ",
        "3.14 ",
        "U.S. ",
        "| a | b |\n",
        "```\n",
        "0123456789abcdef" * 8,
    ]
)
texts = st.lists(nasty | st.text(max_size=12, alphabet=st.characters(exclude_categories=("Cs",))), max_size=60).map(
    "".join
)
sizes = st.builds(
    ChunkSettings, size_tokens=st.sampled_from([16, 24, 64, 512]), overlap_tokens=st.sampled_from([0, 8, 50])
)


@st.composite
def pages_of(draw: st.DrawFn) -> list[Page]:
    pages = []
    for number in range(1, draw(st.integers(1, 5)) + 1):
        text = draw(texts)
        cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
        blocks = [
            Block(
                draw(st.sampled_from(["heading", "paragraph", "list_item", "table", "code"])), start, end, "1 A > 1.1 B"
            )
            for start, end in itertools.pairwise(cuts)
        ]
        pages.append(Page(number, text, label=f"p{number}", blocks=blocks, continues=draw(st.booleans())))
    return pages


def chunks_of(pages: list[Page], options: ChunkSettings | None = None, title: str = "A title") -> list[Chunk]:
    return list(chunk_pages(pages, title=title, settings=options or ChunkSettings()))


def prose(paragraphs: int, sentences: int = 5, seed: int = 0) -> list[str]:
    words = WORDS.split()
    made = []
    for p in range(paragraphs):
        lines = []
        for s in range(sentences):
            picks = [words[(seed + p * 7 + s * 3 + w * w) % len(words)] for w in range(9 + (p + s) % 7)]
            lines.append(f"{' '.join(picks).capitalize()} {seed + p * sentences + s}.")
        made.append(" ".join(lines))
    return made


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pages_of(), sizes)
@example([Page(1, "```\n\x1c")], ChunkSettings(16, 0))
@example(  # a newline, then a character that is white space to Python and to the tokenizer, but no line of its own
    [Page(1, ""), Page(4, "\x85\U00014140\U0001614e0÷", blocks=(Block("code", 0, 3),))], ChunkSettings(16, 0)
)
@example([Page(1, "```\n\xa0\r\n\r\n\U00016110\u2028U.S. \u094d[\u7d10")], ChunkSettings(16, 0))  # one token: \r\n\r\n
def test_a_chunk_is_an_exact_span_of_the_cleaned_text_within_the_limit(
    pages: list[Page], options: ChunkSettings
) -> None:
    cleaned = join_pages(pages)
    for index, chunk in enumerate(chunks_of(pages, options)):
        assert chunk.index == index
        assert chunk.text == cleaned[chunk.char_start : chunk.char_end] != ""
        assert chunk.token_count == len(ENCODING.encode_ordinary(chunk.text)) <= options.size_tokens
        assert len(ENCODING.encode_ordinary(chunk.embedded_text)) <= 8191
        assert chunk.embedded_text.endswith(chunk.text)
        assert chunk.content_hash == content_hash_of(chunk.embedded_text)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pages_of(), sizes)
def test_every_character_is_in_a_chunk(pages: list[Page], options: ChunkSettings) -> None:
    cleaned = join_pages(pages)
    position = 0
    for chunk in chunks_of(pages, options):
        assert cleaned[position : chunk.char_start].isspace() or chunk.char_start <= position
        assert chunk.char_end > position
        position = chunk.char_end
    assert not cleaned[position:].strip()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pages_of(), sizes)
def test_pages_are_those_of_the_first_and_last_character(pages: list[Page], options: ChunkSettings) -> None:
    where: list[Page] = []
    for page in pages:
        separator = len(join_pages([Page(0, ""), page])) - len(page.text)
        where += [page] * (len(page.text) + (separator if where or page.number > 1 else 0))
    for chunk in chunks_of(pages, options):
        assert chunk.page_start == where[chunk.char_start].number
        assert chunk.page_label == where[chunk.char_start].label
        assert chunk.page_end == where[chunk.char_end - 1].number


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pages_of(), sizes)
def test_the_same_pages_give_the_same_chunks(pages: list[Page], options: ChunkSettings) -> None:
    assert chunks_of(pages, options) == list(chunk_pages(iter(pages), title="A title", settings=options))


@pytest.mark.parametrize("pages", [[], [Page(1, "")], [Page(1, " \n\t"), Page(2, "\n\n"), Page(3, "\u3000")]])
def test_no_text_gives_no_chunk(pages: list[Page]) -> None:
    assert chunks_of(pages) == []


def test_empty_pages_between_others_keep_positions_and_numbers() -> None:
    pages = [Page(1, ""), Page(2, "First."), Page(3, ""), Page(4, "Last.", label="iv")]
    (chunk,) = chunks_of(pages)
    assert chunk.text == "First.\n\n\n\nLast."
    assert (chunk.page_start, chunk.page_end, chunk.char_start) == (2, 4, 2)


def test_chunks_come_while_pages_are_still_read() -> None:
    read = 0

    def reading() -> Iterator[Page]:
        nonlocal read
        for read in range(1, 401):
            yield Page(read, "\n\n".join(prose(6, seed=read)))

    lag = [read - chunk.page_end for chunk in chunk_pages(reading(), title="T")]
    assert max(lag) < 40
    assert len(lag) > 200


def test_one_long_paragraph_over_many_pages_streams_too() -> None:
    read = 0

    def reading() -> Iterator[Page]:
        nonlocal read
        for read in range(1, 301):
            yield Page(read, "no stop ever comes here " * 100, continues=read > 1)

    assert max(read - chunk.page_end for chunk in chunk_pages(reading(), title="T")) < 150


def test_a_sentence_that_runs_over_a_page_stays_whole() -> None:
    pages = [
        Page(1, " ".join(prose(8)) + " This one starts here"),
        Page(2, "and ends overleaf. " + " ".join(prose(8)), continues=True),
    ]
    for chunk in chunks_of(pages, ChunkSettings(128, 0)):
        assert chunk.text.endswith(".")


def test_overlap_is_whole_sentences_of_the_chunk_before() -> None:
    pages = [Page(1, " ".join(prose(30)))]
    cleaned = join_pages(pages)
    chunks = chunks_of(pages, ChunkSettings(128, 40))
    overlaps = 0
    for before, after in itertools.pairwise(chunks):
        repeated = cleaned[after.char_start : before.char_end]
        overlaps += bool(repeated)
        assert len(ENCODING.encode_ordinary(repeated)) <= 40
        assert cleaned[: after.char_start].rstrip().endswith(".")
        assert after.char_start > before.char_start
    assert overlaps > len(chunks) // 2


def test_nothing_is_repeated_at_the_start_of_a_section_and_its_path_is_known() -> None:
    pages = []
    for number in range(1, 9):
        body = "\n\n".join(prose(5, seed=number))
        text = f"{number} Chapter\n\n{body}"
        pages.append(Page(number, text, blocks=[Block("heading", 0, 9, f"{number} Chapter")]))
    chunks = chunks_of(pages, ChunkSettings(256, 50))
    starts = [chunk for chunk in chunks if chunk.text.startswith(chunk.section)]
    assert len(starts) == 8
    for before, after in itertools.pairwise(chunks):
        if after in starts:
            assert after.char_start > before.char_end
        assert after.section == f"{after.page_end} Chapter"


def test_a_heading_is_never_left_at_the_end_of_a_chunk() -> None:
    parts, blocks, position = [], [], 0
    for number in range(60):
        heading = f"{number} Heading"
        blocks.append(Block("heading", position, position + len(heading), heading))
        body = "\n\n".join(prose(1 + number % 4, seed=number))
        parts.append(f"{heading}\n\n{body}")
        position += len(parts[-1]) + 2
    for chunk in chunks_of([Page(1, "\n\n".join(parts), blocks=blocks)], ChunkSettings(256, 0)):
        assert not chunk.text.rsplit("\n\n", 1)[-1].endswith("Heading")
        assert chunk.token_count > 50


def test_what_is_embedded_begins_with_title_and_section() -> None:
    page = Page(1, "2 Scope\n\nIt covers pumps.", blocks=[Block("heading", 0, 7, "Manual > 2 Scope")])
    (chunk,) = chunks_of([page], title="Pump  book")
    assert chunk.embedded_text == "Pump book\nManual > 2 Scope\n\n2 Scope\n\nIt covers pumps."
    (chunk,) = chunks_of([page], title="Manual")
    assert chunk.embedded_text == "Manual > 2 Scope\n\n2 Scope\n\nIt covers pumps."
    (chunk,) = chunks_of([Page(1, "Plain.")], title="")
    assert chunk.embedded_text == "Plain."


PROSE = "The pump is checked once a week by a person who has been trained for it. "


def test_headings_in_markup_begin_chunks_and_give_plain_text_its_sections() -> None:
    markdown = f"# Pumps\n\n{PROSE * 20}\n\n## Valves\n\n{PROSE * 20}\n\n# Index\n\n{PROSE * 20}"
    chunks = chunks_of([Page(1, markdown)], ChunkSettings(200, 0), title="")
    assert [chunk.section for chunk in chunks if chunk.text.startswith("#")] == ["Pumps", "Pumps > Valves", "Index"]
    wiki = f"= Pumps =\n{PROSE * 20}\n= = Valves = =\n{PROSE * 20}"
    chunks = chunks_of([Page(1, wiki)], ChunkSettings(200, 0), title="")
    assert [chunk.section for chunk in chunks if chunk.text.startswith("=")] == ["Pumps", "Pumps > Valves"]


def test_each_chunk_names_all_sections_that_its_text_lies_in_with_where_they_begin() -> None:
    markdown = f"# Pumps\n\nA pump lifts.\n\n# Valves\n\nA valve stops.\n\n# Index\n\n{PROSE * 40}"
    begins = {name: markdown.index(f"# {name}") for name in ("Pumps", "Valves", "Index")}
    first, *later = chunks_of([Page(1, markdown)], ChunkSettings(200, 0), title="")
    assert {section.path: section.char_start for section in first.sections} == begins
    assert len(later) > 1
    for chunk in later:
        assert [(section.path, section.char_start) for section in chunk.sections] == [("Index", begins["Index"])]


def test_a_chunk_names_no_section_that_begins_behind_it() -> None:
    text = (PROSE * 20).strip()
    chunks = chunks_of([Page(1, f"= Pumps =\n{text}\n= Valves =\n{text}")], ChunkSettings(200, 0), title="")
    assert {section.path for chunk in chunks for section in chunk.sections} == {"Pumps", "Valves"}
    for chunk in chunks:
        assert all(section.char_start < chunk.char_end for section in chunk.sections)


def test_comments_and_assignments_in_code_are_no_headings() -> None:
    code = "x = 1\n# next\ny = x == 2\n= \n#hashtag\n\nText.\n```\n# install\n\n# run\n```"
    (chunk,) = chunks_of([Page(1, code)], title="")
    assert chunk.section == ""
    assert chunk.sections == ()


def test_a_newline_before_a_line_too_long_to_be_wrapped_begins_a_paragraph() -> None:
    long = "\n".join([PROSE * 3 + f"End of paragraph number {n} of thirty." for n in range(30)])
    chunks = chunks_of([Page(1, long)], ChunkSettings(128, 0), title="")
    assert sum("End of" in chunk.text.rsplit(". ", 1)[-1] for chunk in chunks) > 0.8 * len(chunks)


def test_an_endless_title_or_section_is_cut_short() -> None:
    page = Page(1, "Body.", blocks=[Block("heading", 0, 0), Block("paragraph", 0, 5)])
    (chunk,) = chunks_of([page], title="very long title " * 500)
    assert len(ENCODING.encode_ordinary(chunk.embedded_text)) < 80


def table(rows: int) -> str:
    return "Part | Price | Stock\n" + "\n".join(f"Valve {row} | {row * 3}.50 EUR | {row % 17}" for row in range(rows))


def test_a_long_table_is_cut_between_rows_and_repeats_its_header() -> None:
    text = table(200)
    page = Page(1, text, blocks=[Block("table", 0, len(text), header="Part | Price | Stock")])
    chunks = chunks_of([page], ChunkSettings(128, 50), title="")
    assert len(chunks) > 10
    for number, chunk in enumerate(chunks):
        assert chunk.text.startswith("Valve" if number else "Part | Price")
        assert chunk.text.rsplit("|", 1)[-1].strip().isdigit()
        assert chunk.embedded_text.startswith(
            "Part | Price | Stock\nValve 0" if not number else "Part | Price | Stock\n" + chunk.text[:8]
        )
        assert chunk.embedded_text.count("Part | Price") == 1
        assert chunk.table == ("Part | Price | Stock" if number else "")


def test_a_piece_of_a_table_carries_its_caption_as_far_as_its_own_text_lacks_it() -> None:
    text = "Prices of valves\n\n" + table(60)
    header = "Prices of valves\nin thousands\nPart | Price | Stock"
    blocks = [Block("paragraph", 0, 16), Block("table", 18, len(text), header=header)]
    first, *others = chunks_of([Page(1, text, blocks=blocks)], ChunkSettings(128, 0), title="")
    assert first.table == ""
    assert {chunk.table for chunk in others} == {header}
    assert all(chunk.embedded_text == f"{header}\n{chunk.text}" for chunk in others)


def test_a_table_nobody_marked_is_known_by_its_bars() -> None:
    lines = [f"| v{row} | {row} |" for row in range(150)]
    page = Page(1, "Intro.\n\n" + "\n".join(["| Name | N |", "|---|---|", *lines]) + "\n\nOutro.")
    chunks = chunks_of([page], ChunkSettings(128, 0), title="")
    assert len(chunks) > 5
    for chunk in chunks[1:-1]:
        assert chunk.embedded_text.startswith("| Name | N |\n|---|---|\n| v")
        assert chunk.text.endswith("|")


def test_long_code_is_cut_between_lines_and_keeps_its_indents() -> None:
    lines = [f"    value_{line} = compute({line})  # e.g. this. Not a sentence" for line in range(120)]
    text = "\n".join(["def run():", *lines])
    page = Page(1, text, blocks=[Block("code", 0, len(text))])
    chunks = chunks_of([page], ChunkSettings(128, 50), title="")
    assert "\n".join(chunk.text for chunk in chunks) == text


def test_emoji_and_accents_are_not_torn_apart() -> None:
    for grapheme in (FAMILY, "\U0001f1f1\U0001f1f9", "👍🏽", "e\u0301", "각"):
        for chunk in chunks_of([Page(1, grapheme * 300)], ChunkSettings(64, 10)):
            assert chunk.text == grapheme * (len(chunk.text) // len(grapheme))


def test_text_without_spaces_is_cut_at_its_full_stops() -> None:
    chunks = chunks_of(
        [Page(1, "吾輩は猫である。名前はまだ無い。どこで生れたか見当がつかぬ。" * 60)], ChunkSettings(128, 20)
    )
    assert len(chunks) > 10
    assert all(chunk.text.endswith("。") for chunk in chunks)


def test_a_word_longer_than_a_chunk_is_cut_and_the_rest_is_not_harmed() -> None:
    chunks = chunks_of([Page(1, "Before it. " + "x9" * 20_000 + " After it.")], ChunkSettings(64, 10))
    assert chunks[0].text.startswith("Before it.")
    assert chunks[-1].text.endswith("After it.")


def test_both_encodings_count_exactly() -> None:
    other = tokens.encoding("o200k_base")
    text = "\n\n".join(prose(20)) + "\n/path/to 吾輩は猫である。名前は。"
    for chunk in chunks_of([Page(1, text)], ChunkSettings(64, 10, "o200k_base")):
        assert chunk.token_count == len(other.encode_ordinary(chunk.text)) <= 64


def test_the_language_given_is_the_language_of_the_chunks() -> None:
    (chunk,) = chunk_pages([Page(1, "Labas.")], title="", language="lt")
    assert chunk.language == "lt"


def test_settings_no_chunk_could_satisfy_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 16"):
        ChunkSettings(8, 0)


@pytest.mark.parametrize(
    "text", [" x" + " " * 300_000 + "y", "." * 200_000, "." + ")" * 100_000 + "x", "e" + "\u0301" * 50_000]
)
def test_endless_runs_of_one_character_cost_no_more_than_other_text(text: str) -> None:
    start = time.process_time()
    chunks = chunks_of([Page(1, text)])
    assert time.process_time() - start < 3  # 0.1 s; what is quadratic takes minutes
    assert sum(len(chunk.text) for chunk in chunks) >= len("".join(text.split()))
    assert all(chunk.token_count <= 512 for chunk in chunks)


def test_a_page_that_holds_enough_is_cut_from_the_next() -> None:
    text = " ".join(f"Sentence number {n} of this page says a little." for n in range(12))
    pages = [Page(number, text) for number in (1, 2, 3)]
    chunks = list(chunk_pages(pages, title="", settings=ChunkSettings(512, 50)))
    assert [(chunk.page_start, chunk.page_end) for chunk in chunks] == [(1, 1), (2, 2), (3, 3)]


def test_pages_of_a_few_words_share_a_chunk() -> None:
    chunks = list(chunk_pages([Page(number, "Only a few words.") for number in range(1, 6)], title=""))
    assert [(chunk.page_start, chunk.page_end) for chunk in chunks] == [(1, 5)]


def test_a_sentence_that_runs_over_the_page_stays_whole() -> None:
    first = " ".join(f"Sentence number {n} of this page says a little." for n in range(12)) + " The last one goes"
    pages = [Page(1, first), Page(2, "on here. " + "Then the second page has its own say. " * 12, continues=True)]
    chunks = list(chunk_pages(pages, title=""))
    assert chunks[0].text.endswith("The last one goes\non here.")
    assert (chunks[0].page_start, chunks[0].page_end, chunks[1].page_start) == (1, 2, 2)
