"""A conversation as Markdown: whatever its texts hold, a renderer shows them as text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from functions.query.api.schemas import ClaimOut, ConversationOut, FeedbackOut, MessageOut, StoredCitationOut
from functions.query.api.transcript import disposition_of, escaped, markdown_of
from functions.query.grounding.sanitizing import plain

RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HOSTILE = [
    "<script>alert(1)</script>",
    "![x](https://evil.example/?q=secret)",
    "[click](javascript:alert(1))",
    "[1]: https://evil.example",
    "https://evil.example www.evil.example <https://evil.example> a@evil.example",
    "# Heading",
    "Text\n====",
    "> quote",
    "- item\n1. item\n* item\n+ item\n1) item",
    "```\ncode\n```",
    "    indented",
    "| a | b |\n|---|---|\n| c | d |",
    "&lt;b&gt; &#x41;",
    "a  \nb\\\nc",
    "***bold*** __bold__ ~~gone~~ `code` $x$",
    "<!-- hidden",
    "\u202egnp.exe\u200b",
    "-\t- x",
]
SHOWN = {
    "paragraph_open", "paragraph_close", "heading_open", "heading_close", "bullet_list_open", "bullet_list_close",
    "ordered_list_open", "ordered_list_close", "list_item_open", "list_item_close", "blockquote_open",
    "blockquote_close", "inline",
}  # fmt: skip
INSIDE = {"text", "hardbreak", "softbreak", "strong_open", "strong_close"}


def tokens_of(markdown: str) -> tuple[list[Token], list[Token]]:
    blocks = RENDERER.parse(markdown)
    return blocks, [inner for block in blocks for inner in block.children or ()]


@given(st.text() | st.sampled_from(HOSTILE) | st.text(alphabet="[]()<>!#*_`-+=|\\&:/.1 @~\n\taw"))
@example("12.")
@example("1) x")
@example("= ")
def test_an_escaped_text_is_one_line_of_plain_text(text: str) -> None:
    blocks, inside = tokens_of(escaped(text))
    assert [block.type for block in blocks] in ([], ["paragraph_open", "inline", "paragraph_close"])
    assert {inner.type for inner in inside} <= {"text"}
    # The renderer itself replaces what is no character.
    assert "".join(inner.content for inner in inside) == " ".join(plain(text).split()).replace("\0", "\ufffd")


def conversation(text: str) -> ConversationOut:
    citation = StoredCitationOut(
        n=1,
        document_id="d",
        title=text,
        source_type="pdf",
        page_start=3,
        page_end=4,
        page_label=text[:8],
        section=text,
        quote=f"{text}\n{text}",
        char_start=0,
        char_end=9,
        score=0.7,
        key=f"uploads/acme/{text}",
        file_name=text,
        version_id="v",
        rects=[],
        page_sizes=[],
        corrected=False,
        ocr=False,
        described_by="",
        state="changed",
    )
    claim = ClaimOut(text=text, verdict="unconfirmed", citations=[1], derived=text)
    asked = MessageOut(
        message_id="1", role="user", content=text, created_at="2026-11-23T00:00:00Z", citations=[], claims=[]
    )
    answer = MessageOut(
        message_id="2",
        role="assistant",
        content=f"So it is: [1]\n- {text}\n1. {text}\n\n{text}",
        created_at="2026-11-23T00:00:01Z",
        citations=[citation],
        claims=[claim],
        feedback=FeedbackOut(rating="down", reason="wrong", comment=text, updated_at="2026-11-23T00:05:00Z"),
    )
    return ConversationOut(
        conversation_id="C",
        title=text,
        created_at="2026-11-23T00:00:00Z",
        updated_at="2026-11-23T00:00:01Z",
        message_count=2,
        messages=[asked, answer],
        next_cursor="",
    )


@given(st.sampled_from(HOSTILE) | st.text(max_size=60))
def test_a_hostile_pdf_puts_no_markup_into_an_export(text: str) -> None:
    blocks, inside = tokens_of(markdown_of(conversation(text)))
    assert {block.type for block in blocks} <= SHOWN
    assert {inner.type for inner in inside} <= INSIDE
    headings = [block.tag for block in blocks if block.type == "heading_open"]
    assert headings == ["h1", "h2", "h2", "h3", "h3"]


def test_an_export_holds_question_answer_verdicts_pages_and_quotes() -> None:
    text = markdown_of(conversation("The lamp"))
    for line in (
        "# The lamp",
        "## Question, 2026-11-23 00:00 UTC",
        "So it is: \\[1\\]  ",
        "- The lamp  ",
        "- **unconfirmed**: The lamp \\[1\\] (The lamp)",
        "- \\[1\\] The lamp, The lamp, pages 3 to 4 (printed The lamp), The lamp, changed since",
        "  > The lamp  ",
        "Feedback, 2026-11-23 00:05 UTC: down, wrong, The lamp",
    ):
        assert line in text.splitlines()


@pytest.mark.parametrize(
    ("title", "disposition"),
    [
        ("The lamp", "attachment; filename=\"The lamp.md\"; filename*=UTF-8''The%20lamp.md"),
        ('a"; x="b\r\nX: y', "attachment; filename=\"a x b X y.md\"; filename*=UTF-8''a%20x%20b%20X%20y.md"),
        ("../../etc/passwd", "attachment; filename=\"etc passwd.md\"; filename*=UTF-8''etc%20passwd.md"),
        ("Žibintas", "attachment; filename=\"ibintas.md\"; filename*=UTF-8''%C5%BDibintas.md"),
        ("灯台", "attachment; filename=\"conversation.md\"; filename*=UTF-8''%E7%81%AF%E5%8F%B0.md"),
        ("", "attachment; filename=\"conversation.md\"; filename*=UTF-8''conversation.md"),
    ],
)  # fmt: skip
def test_a_file_is_named_after_the_title(title: str, disposition: str) -> None:
    assert disposition_of(title, "md") == disposition
