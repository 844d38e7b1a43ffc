"""Characters: what is cleaned, what is kept, what is doubtful; hyphens at line ends."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.ingest.parsing.text import cleaned, doubtful_share
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.words import CUT, SOFT_HYPHEN


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ("e\ufb03cient \ufb02ow", "efficient flow"),
        ("a\u00a0b\u2009c\u3000d", "a b c d"),
        ("zero\u200bwidth\ufeff and\u00ad soft", "zerowidth and soft"),
        ("e\u0301te\u0301", "été"),
        ("x² + ½ ™", "x² + ½ ™"),
        ("\uf0b7 first", "• first"),
        ("Agreed: Yes \uf052 No \uf0a3", "Agreed: Yes ☑ No ☐"),
        ("\uf0a8 Yes \uf0fd No", "☐ Yes ☒ No"),
        ("Agreed: Yes \uf078 No", "Agreed: Yes ☒ No"),
        ("Small ☑ Large \xa8", "Small ☑ Large ☐"),
        ("\uf0a3 INTERIM REPORT", "☐ INTERIM REPORT"),
        # The same codes are Greek letters and signs of mathematics, or bullets.
        ("p \uf0a3 0.05", "p 0.05"),
        ("\uf0a8 First", "▪ First"),
        ("a \xa8 b", "a ¨ b"),
        ("evil\u202etxt\u202c\u2066", "eviltxt"),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("non\u2011breaking", "non-breaking"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("目 录 与 前 言", "目录与前言"),
        ("bell\x07 and\x00 null", "bell and null"),
    ],
)
def test_a_line_is_cleaned(found: str, wanted: str) -> None:
    assert cleaned(found) == wanted


@given(st.text(), st.booleans())
def test_making_plain_twice_changes_nothing(text: str, keep_spaces: bool) -> None:
    once = cleaned(text, keep_spaces=keep_spaces)
    assert cleaned(once, keep_spaces=keep_spaces) == once
    assert unicodedata.is_normalized("NFC", once)
    assert not any(unicodedata.category(c) == "Cc" for c in once if c != "\n")


@given(st.text(alphabet="abc äöü,.-", max_size=60))
def test_ordinary_letters_survive(text: str) -> None:
    assert cleaned(text).split() == text.split()


GOOD = (
    "The Committee shall, within thirty days, inform the Parties of what was decided, and why.",
    "Die Rechtsschutzversicherungsgesellschaften haben der Änderung zugestimmt; sie gilt ab 1. Mai.",
    "Προϊόντα και υπηρεσίες για όλους τους πολίτες της χώρας, ανεξαρτήτως εισοδήματος.",
    "関于红军作战的原则，一九三七年八月一日。日本語のテキストもあります。",
    "GnuCashチュートリアル、PDFビューアー、時々OCRサーバーで読みます。",
    "𠮷野家POSのレジで払い、𠮷田がPDFを見ます。",
    "PDF파일을 업로드하면 OCR로 읽고 API키로 질문합니다.",
    "ไฟล์PDFของระบบOCRและเครื่องมือAPIของเรา",
    "Net sales 63,355 63,948 245,241 232,309 Cost of sales 41,485 40,899 155,084 149,476",
)


@pytest.mark.parametrize("text", GOOD)
def test_good_text_is_not_doubted(text: str) -> None:
    assert doubtful_share(text * 5) < 0.02


@pytest.mark.parametrize(
    "text",
    [
        "7KH FRPPLWWHH PHW LQ WKH VSULQJ RI WKDW VDPH ZKLOH",
        "ϳĄƏɴt ηϦԠ ƌߊϣÄ çΦԱΣңߎޅ ξءķΨ ܀øߗܾϚɰ ΣŷϦϋʑ",
        '! - | "- | # $%& \' | ! - | "- | ( % \' | "- | ) - | * % * + [ ] ^',
        "\ue001\ue002\ue003 \ue004\ue005 \ufffd\ufffd\ufffd",
        "thewholesentencewithoutasinglespaceanywhereinsideofitatall " * 2,
    ],
    ids=["shifted", "mixed scripts", "signs", "no meaning", "glued"],
)
def test_what_a_broken_font_gives_is_doubted(text: str) -> None:
    assert doubtful_share(text * 6) > 0.3


@given(st.text())
def test_doubt_is_a_share(text: str) -> None:
    assert 0 <= doubtful_share(text) <= 1


def mended(before: str, after: str, *known: str) -> str:
    words = Vocabulary()
    for line in known:
        words.add(line)
    return words.join_hyphenated(before, after)


@pytest.mark.parametrize("hyphen", ["-", SOFT_HYPHEN])
def test_a_hyphen_at_a_lines_end_goes(hyphen: str) -> None:
    assert mended(f"the infor{hyphen}", "mation is") == "the information is"


def test_a_hyphenated_word_of_the_document_keeps_its_hyphen() -> None:
    assert mended("a well-", "known fact", "it is well-known") == "a well-known fact"


def test_two_words_of_the_document_that_make_no_third_keep_it_too() -> None:
    assert mended("question-", "answering", "the question and answering it") == "question-answering"
    assert mended("inform-", "ation", "please inform us") == "information"
    assert mended("inter-", "face", "the face of inter alia") == "interface"


def test_a_word_of_three_keeps_both_hyphens_where_its_parts_are_words() -> None:
    assert mended("back-", "to-school sales", "sent back to them") == "back-to-school sales"
    assert mended("Uni-", "code-Zeichen", "a code") == "Unicode-Zeichen"
    assert mended("in ap-", "southeast-1.example", "as in ap-southeast") == "in ap-southeast-1.example"


LONG_LINE = "a line of quite ordinary words that fills the page from edge to edge"
COMPOUND = ("the well-known agency", "it is well-", "known")


def learnt(*lines: str, long_lines: int = 100, long_line: str = LONG_LINE) -> Vocabulary:
    words = Vocabulary()
    words.add_all([*lines, *[long_line] * long_lines])
    return words


def test_an_english_document_that_cuts_no_words_keeps_a_hyphen_between_words() -> None:
    so_called = ("so it is called", *COMPOUND)
    assert learnt(*so_called).join_hyphenated("a so-", "called one") == "a so-called one"
    assert learnt(*so_called, long_lines=98).join_hyphenated("so-", "called") == "socalled"  # too little to say
    assert learnt(so_called[0]).join_hyphenated("so-", "called") == "socalled"  # no hyphen of a known word
    assert learnt(*so_called).join_hyphenated("the infor-", "mation") == "the information"
    assert learnt(*so_called).join_hyphenated("our non-", "called") == "our noncalled"  # only one half is a word
    assert learnt(*so_called, "a non-word").join_hyphenated("our non-", "called") == "our non-called"


@pytest.mark.parametrize("hyphen", ["-", "\u2010", "\u2011"])
def test_the_halves_of_a_word_are_no_words_whatever_hyphen_cuts_it(hyphen: str) -> None:
    words = Vocabulary()
    words.add_all([f"The new Treas{hyphen}", "urer is Ann."])
    assert words.join_hyphenated("The new Treas-", "urer is Ann.") == "The new Treasurer is Ann."


def test_a_document_of_another_language_or_with_few_cut_words_makes_them_whole() -> None:
    line = "eine Zeile mit recht gewöhnlichen Wörtern, die Seite für Seite füllt"
    german = learnt("der Tag und das Land", *COMPOUND, long_line=line)
    assert german.join_hyphenated("im Tag-", "land") == "im Tagland"
    few = learnt(*COMPOUND, "the land", long_lines=150)
    assert few.join_hyphenated("the Nether-", "land") == "the Netherland"
    assert few.join_hyphenated("ne-", "daro") == "nedaro"


def test_whether_a_document_cuts_words_is_told_by_those_it_has_whole_and_by_how_many_lines_end_so() -> None:
    cut = ("so the information is called", "this is infor-", "mation")
    assert learnt(*cut).join_hyphenated("so-", "called") == "socalled"
    assert learnt(*cut, *COMPOUND).join_hyphenated("so-", "called") == "so-called"
    assert learnt(*cut, *cut, *COMPOUND).join_hyphenated("so-", "called") == "socalled"
    ends = [line for _ in range(3) for line in (f"{LONG_LINE} of the other-", "wise so it is called")]
    assert learnt(*ends, *COMPOUND).join_hyphenated("so-", "called") == "socalled"
    assert learnt(*ends[:4], *COMPOUND).join_hyphenated("so-", "called") == "so-called"


def test_a_hyphen_stays_between_a_single_letter_and_a_word() -> None:
    assert mended("any n-", "digit number", "each digit, each ndigit") == "any n-digit number"
    assert mended("any n-", "ative number") == "any native number"
    assert mended("cher l'a-", "mi", "un mi") == "cher l'ami"


def test_a_hyphen_that_stands_for_the_rest_of_a_word_has_a_space_behind_it() -> None:
    assert mended("three-", "and six-month periods", "for three and") == "three- and six-month periods"
    assert mended("Kinder-", "und Jugendbuch", "viele Kinder") == "Kinder- und Jugendbuch"
    assert mended("Haupt-", "sowie Nebenfach", "im Haupt") == "Haupt- sowie Nebenfach"
    assert mended("a thous-", "and", "a thousand") == "a thousand"
    assert mended("black-", "and-white", "black and") == "black-and-white"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a pho-", "to of it", "a photo of it"),
        ("a thous-", "and of it", "a thousand of it"),
        ("the auth-", "or of it", "the author of it"),
        ("a tick-", "et for it", "a ticket for it"),
    ],
)
def test_a_word_that_ends_like_and_is_whole_if_its_first_half_is_none(before: str, after: str, expected: str) -> None:
    assert mended(before, after, "and to or et of it") == expected


def test_the_last_part_of_a_compound_may_be_cut() -> None:
    assert mended("high-perfor-", "mance", "the performance") == "high-performance"
    assert mended("high-perfor-", "mance") == "high-perfor-mance"
    assert mended("step-by-", "step", "one step, bystep, by step") == "step-by-step"


def test_a_capital_or_digit_behind_the_hyphen_keeps_it() -> None:
    assert mended("the Anglo-", "American") == "the Anglo-American"
    assert mended("the Fine-", "Tuning", "by finetuning") == "the Fine-Tuning"
    assert mended("in 2010-", "2011") == "in 2010-2011"


def test_a_name_with_a_capital_inside_is_made_whole() -> None:
    assert learnt("by InstructGPT").join_hyphenated("such as Instruct-", "GPT") == "such as InstructGPT"
    assert learnt("by Chat-GPT, Chat-GPT, ChatGPT").join_hyphenated("as Chat-", "GPT") == "as Chat-GPT"
    assert learnt("by the St of it").join_hyphenated("Regulation S-", "T") == "Regulation S-T"


def test_a_word_in_capitals_is_made_whole_too() -> None:
    assert mended("reasoning via AB-", "STRACTION") == "reasoning via ABSTRACTION"


def test_a_word_cut_by_a_line_is_not_learnt() -> None:
    assert mended("cut-", "ting", "he was cut-") == "cutting"


def test_letters_set_apart_are_joined_where_the_document_knows_the_word() -> None:
    words = Vocabulary()
    for line in ("the balance sheet of the effects", "an overview of estimates", "as sets and assets of each member"):
        for _ in range(10):
            words.add(line)
    for number in range(250):
        words.add(f"{chr(97 + number % 26) * 3}{chr(97 + number // 26) * 4}")
    for found, joined in [
        ("Balance Shee t (unaudited)", "Balance Sheet (unaudited)"),
        ("OVERVI EW", "OVERVIEW"),
        ("the ef ects of it", "the effects of it"),
        ("ESTIMA TES", "ESTIMATES"),
        ("as sets of members", "as sets of members"),
        ("the Member’s heet", "the Member’s heet"),
        ("Est I mates", "Est I mates"),
    ]:
        assert words.rejoin_apart(found) == joined
        assert found == joined or words.may_rejoin(["Among other lines:", found, "of a page"])
    assert not words.may_rejoin(["the balance", "sheet"])  # never across lines


def test_a_lost_f_is_put_back_though_the_halves_are_as_common_as_the_whole() -> None:
    words = Vocabulary()
    for number in range(250):
        words.add(f"{chr(97 + number % 26) * 3}{chr(97 + number // 26) * 4}")
    for line in ("they af ected it", "those af ected by it", "who was affected", "an affected office", "the office"):
        words.add(line)
    assert words.rejoin_apart("all af ected persons") == "all affected persons"
    assert words.rejoin_apart("a block of ice") == "a block of ice"


def test_a_document_of_few_words_joins_none() -> None:
    words = Vocabulary()
    for _ in range(10):
        words.add("the balance sheet")
    assert words.rejoin_apart("Balance Shee t") == "Balance Shee t"


@pytest.mark.parametrize(
    ("cut", "whole"),
    [
        (f"work{CUT}shop", "workshop"),  # more common than its halves
        (f"in{CUT}to", "in to"),  # rarer than both
        (f"data{CUT}set", "data set"),  # no word of the document
        (f"flow{CUT}er", "flower"),  # neither is the second half
        (f"rumpelstil{CUT}t", "rumpelstilt"),  # nor any of them
        (f"goblin{CUT}market", "goblin market"),  # but what is as long is a word
        (f"/fair/gobl{CUT}insmarket", "/fair/goblinsmarket"),  # or the end of a path
        (f"catalogue{CUT}d'shop", "catalogue d'shop"),  # the second is one, behind an article
        (f"rumpelst{CUT}ilt-shop", "rumpelstilt-shop"),  # but not behind a hyphen
        (
            f"(rein{SOFT_HYPHEN}{CUT}force{SOFT_HYPHEN}{CUT}ments)",
            "(reinforcements)",
        ),  # hyphenated, like in a paragraph
        (f"work-{CUT}flow", "work- flow"),  # a hyphen that is no end of a line
    ],
)
def test_a_word_that_a_narrow_cell_cut_is_joined_if_the_document_knows_it_or_no_half(cut: str, whole: str) -> None:
    words = Vocabulary()
    for line in ("the workshop, a workshop, our workshop", "work in a shop", "in to in to in to into", "data set flow"):
        words.add(line)
    assert words.rejoin_cut(cut) == whole


@given(st.lists(st.text("ab- é1\x1f" + CUT + SOFT_HYPHEN)))
def test_the_words_of_many_lines_are_those_of_each(rows: list[str]) -> None:
    one_by_one, at_once = Vocabulary(), Vocabulary()
    for row in rows:
        one_by_one.add(row)
    at_once.add_all(rows)
    assert at_once._count == one_by_one._count


@pytest.mark.parametrize("leader", [" . " * 30, "." * 60, "…" * 60, "_" * 60, " | " * 20])
def test_a_page_of_leaders_or_borders_is_not_doubted(leader: str) -> None:
    assert doubtful_share("".join(f"Chapter {n} {leader} {n}\n" for n in range(20))) == 0.0


@pytest.mark.parametrize("sign", ["+", "#", "§", "¬"])
def test_a_page_that_is_mostly_signs_is_doubted(sign: str) -> None:
    assert doubtful_share(f"a {sign * 9}\n" * 40) == 1.0
    assert doubtful_share(f"a {sign * 9}\n" * 3) == 0.0  # too little to say
    assert doubtful_share(f"some plain words {sign}\n" * 40) == 0.0
