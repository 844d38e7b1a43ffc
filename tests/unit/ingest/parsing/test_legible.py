"""Text of no language: letters of a private alphabet, of another code page, of OCR in the wrong language."""

import base64
import random
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.ingest.parsing.legible import illegible_share, is_illegible_title, may_be_mended, mended
from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from functions.ingest.parsing.report import is_unread, mend, report_of, status_of
from functions.ingest.parsing.text import cleaned
from functions.ingest.parsing.titles import Beginning, title_of
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import OCR_ENGINE, Line, RawPage
from tests.support.made_pages import exchanged
from tests.support.pdfs import document, lines

PROSE = """All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience
and should act towards one another in a spirit of brotherhood. Everyone is entitled to all the rights and freedoms set
forth in this declaration, without distinction of any kind, such as race, colour, sex, language, religion, political or
other opinion, national or social origin, property, birth or other status. Furthermore, no distinction shall be made on
the basis of the political, jurisdictional or international status of the country or territory to which a person
belongs, whether it be independent, trust, not governing itself or under any other limitation of sovereignty."""
RUSSIAN = """Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и
должны поступать в отношении друг друга в духе братства. Каждый человек должен обладать всеми правами и всеми
свободами, провозглашенными настоящей Декларацией, без какого бы то ни было различия, как-то в отношении расы, цвета
кожи, пола, языка, религии, политических или иных убеждений, национального или социального происхождения."""
WRONG_OCR = """HanorosaR AeKnapaUMR no Hanory ynnaYMBaeMoMy cBR3M npMMeHeHMeM ynpolLleHHOM CMCTeMbl HanorooBnOmeHMR
HaCTOAweM DOKYMeHTe yKa3bIBaeTCA cyMMa noaneBallIaA ynnaTe pe3ynbTaTaM HanorOBorO nepMODa HanorOnnaTenbWMK
npeAcTaBMTenb AOCTOBepHOCTb nonHOTy cBeneHMM yKa3aHHbIX HacTOALleM AeKnapauMM noATBepmAaro nOAnMCb paBOTHMK
perMcTpauMM OpraHM3auMM MHAMBMAyanbHbIM npeAnpMHMMaTenb KoppeKTMpoBKM OTpMuaTenbHaA yMeHbLUeHMe HanoroBbIM"""


HONEST = {
    "Estonian": """Kõik inimesed sünnivad vabadena ja võrdsetena oma väärikuselt ja õigustelt. Neile on antud mõistus ja
        südametunnistus ja nende suhtumist üksteisesse peab kandma vendluse vaim. Igal inimesel peavad olema kõik
        käesoleva deklaratsiooniga välja kuulutatud õigused ja vabadused""",
    "Welsh": """Genir pawb yn rhydd ac yn gydradd â'i gilydd mewn urddas a hawliau. Fe'u cynysgaeddir â rheswm a
        chydwybod, a dylai pawb ymddwyn y naill at y llall mewn ysbryd cymodlon. Y mae gan bawb hawl i'r holl hawliau
        a'r rhyddfreiniau a nodir yn y Datganiad hwn, heb unrhyw wahaniaeth""",
    "Vietnamese": """Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều
        được tạo hoá ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình anh em. Mọi người đều được
        hưởng tất cả những quyền và tự do nêu trong bản tuyên ngôn này, không phân biệt chủng tộc, màu da""",
    "Basque": """Gizon-emakume guztiak aske jaiotzen dira, duintasun eta eskubide berberak dituztela; eta ezaguera eta
        kontzientzia dutenez gero, elkarren artean senide legez jokatu beharra dute. Gizaki orok deklarazio honetan
        aldarrikatutako eskubideak eta askatasunak ditu, arraza, larru, sexu, hizkuntza""",
    "species": """Quercus robur, Fagus sylvatica, Ixodes ricinus, Zygaena filipendulae, Archaeopteryx lithographica,
        Pseudotsuga menziesii, Xiphophorus hellerii, Phylloxera vastatrix, Rhynchophorus ferrugineus, Nyctereutes
        procyonoides, Tyrannosaurus rex, Ornithorhynchus anatinus, Ginkgo biloba, Crex crex, Oryctolagus cuniculus,
        Myxomycetes, Chlamydomonas reinhardtii, Saccharomyces cerevisiae, Yersinia pestis, Xylella fastidiosa""",
    "chemistry": """Ethylenediaminetetraacetic acid, methylchloroisothiazolinone, polyvinylpyrrolidone, hydroxyzine,
        phenolphthalein, dichlorodiphenyltrichloroethane, butylated hydroxytoluene, benzyl chloride, tetrahydrofuran,
        azidothymidine, xylazine, cyclohexylamine, phosphatidylcholine, dimethyl sulfoxide, oxaliplatin, zopiclone,
        acetylsalicylic, chlorhexidine, hexamethylenetetramine, trifluoroacetic, naphthyl, pyridoxal, quinoxaline""",
    "transliteration": """Vse liudi rozhdaiutsia svobodnymi i ravnymi v svoem dostoinstve i pravakh. Oni nadeleny
        razumom i sovestiu i dolzhny postupat v otnoshenii drug druga v dukhe bratstva. Kazhdyi chelovek dolzhen
        obladat vsemi pravami i vsemi svobodami, provozglashennymi nastoiashchei Deklaratsiei, bez kakogo by to ni
        bylo razlichiia, kak-to v otnoshenii rasy, tsveta kozhi, pola, iazyka, religii, politicheskikh ubezhdenii""",
    "names": """Krzysztof Szczepański, Nguyen Thi Phuong, Hrvoje Vrdoljak, Zbigniew Brzezinski, Xiaoqing Zhang,
        Qiuyang Huang, Mbappé Ngannou, Þórdís Guðmundsdóttir, Llewelyn Rhys, Tchaikovsky, Rzeszów, Schwarzkopf,
        Knightley, Vykintas Jakštas, Djokovic, Dvořák, Wojciechowski, Oyelaran, Nkrumah, Szentgyörgyi, Bjørnstjerne""",
    "code": """getElementById setTimeout addEventListener innerHTML parseFloat toString XMLHttpRequest querySelectorAll
        createElementNS stopPropagation requestAnimationFrame localStorage hasOwnProperty encodeURIComponent
        numpy ndarray argmax strncpy sizeof printf malloc stdlib cudaMemcpy ioctl mmap kwargs isinstance tqdm argparse
        backgroundColor fontWeight zIndex nextSibling charCodeAt mkdir chmod rwxr grep fprintf vsnprintf""",
    "symbols": "\n".join(f"TIAA-CREF Fund {kind}\nTR{kind[:3].upper()}X" for kind in PROSE.split()),
    "parts": "\n".join(f"BX{n:04d}-KQZ/{n % 7}W  M{n % 9}x{n}  QZ-{n}" for n in range(80)),
    "base64": "\n".join(base64.b64encode(random.Random(n).randbytes(48)).decode() for n in range(60)),
    "figures": "\n".join(f"Net sales | {n * 7919:,} | ({n * 104:,}) | {n / 7:.1f} %" for n in range(60)),
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. " * 5,
    "Japanese": "すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。" * 9,
    "Russian": RUSSIAN,
    "English": PROSE,
}


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_what_people_write_is_legible(text: str) -> None:
    assert illegible_share(text) == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_exchanged_letters_are_not(seed: int) -> None:
    assert illegible_share(exchanged(PROSE, seed)) == 1.0


@pytest.mark.parametrize("shift", [1, 3, 13, 25])
def test_nor_are_shifted_ones(shift: int) -> None:
    alphabet = string.ascii_lowercase
    shifted = str.maketrans(alphabet, alphabet[shift:] + alphabet[:shift])
    assert illegible_share(PROSE.lower().translate(shifted)) == 1.0


def test_nor_what_ocr_makes_of_another_alphabet() -> None:
    assert illegible_share(WRONG_OCR) == 1.0


@pytest.mark.parametrize(("seed", "kept"), [(1, 1), (2, 1), (1, 3)])
def test_a_page_of_two_fonts_is_doubted_in_part(seed: int, kept: int) -> None:
    text = "\n".join([PROSE] * kept + [exchanged(PROSE, seed)])
    assert illegible_share(text) == pytest.approx(1 / (1 + kept), abs=0.15)


@given(st.lists(st.text(st.characters(categories=["L", "Mn", "Nd"]), min_size=4), min_size=20).map(" ".join))
def test_any_letters_are_judged(text: str) -> None:
    assert 0.0 <= illegible_share(text) <= 1.0
    assert all(len(letter) == 1 for letter in mended(text).values())
    is_illegible_title(text)  # raises nothing


def test_a_few_words_say_nothing() -> None:
    assert illegible_share(exchanged("A short line of no more than a dozen words says nothing", 1)) == 0.0


@pytest.mark.parametrize("code_page", ["cp1251", "koi8_r", "iso8859_5"])
def test_bytes_of_a_russian_code_page_are_turned_into_its_letters(code_page: str) -> None:
    shown = RUSSIAN.encode(code_page).decode("latin-1")
    page = RawPage(1, lines=[Line(line) for line in shown.split("\n")])
    assert is_unread(page)
    mend(page)
    assert not is_unread(page)
    report = report_of(page, [])
    assert (report.state, report.doubtful) == ("text", 0.0)
    assert "put right" in report.detail
    assert "\n".join(line.text for line in page.lines) == RUSSIAN


def test_ten_words_of_a_russian_code_page_are_enough() -> None:
    slide = "Сообщения об ошибках\n► Найденные ошибки по всем пакетам\n► Оглавление и указатель к этому руководству"
    shown = slide.replace("►", "-").encode("cp1251").decode("latin-1")
    assert shown.translate(mended(shown)) == slide.replace("►", "-")


def test_names_of_glyphs_in_bitmap_fonts_are_turned_into_letters() -> None:
    dingbats = dict(zip("acdefhilmnopRAT.,", "❛❝❞❡❢❤✐❧♠♥♦♣❘❆❚✳✱", strict=True))
    shown = PROSE.replace("fi", "✜").translate(str.maketrans(dingbats))
    assert shown.startswith("❆❧❧ ❤✉♠❛♥".replace("✉", "u"))
    page = RawPage(1, lines=[Line(line) for line in shown.split("\n")])
    mend(page)
    assert report_of(page, []).state == "text"
    assert "\n".join(cleaned(line.text) for line in page.lines) == PROSE


@pytest.mark.parametrize("text", ["● Room ■ ■ ★★★★★ " * 40, "▲❖▲ ●●●●●● ◆◆◆◆◆\n" * 40])
def test_dingbats_that_are_none_stay(text: str) -> None:
    assert not mended(text)


@pytest.mark.parametrize("code_page", ["cp1253", "cp1255", "cp1256"])
def test_bytes_of_other_code_pages_are_left_to_ocr(code_page: str) -> None:
    letters = [bytes([code]).decode(code_page, "ignore") for code in range(0xC0, 0xFB)]
    made = random.Random(1)
    words = " ".join("".join(made.choices([c for c in letters if c.isalpha()], k=7)) for _ in range(90))
    shown = words.encode(code_page).decode("latin-1")
    page = RawPage(1, lines=[Line(shown)])
    assert not mended(shown)
    assert is_unread(page)
    assert report_of(page, []).state == "garbled"
    assert page.lines == []


@pytest.mark.parametrize(
    "title",
    [
        "Fact-Checking Complex Claims with Program-Guided Reasoning",
        "LaTeX and Xfig",
        "PepsiCo Reports First-Quarter 2023 Results",
        "GnuCash Kurs und Konzepte",
        "Szczegółowe warunki zamówienia",
        "Schweizerische Rechtsschutzversicherungsgesellschaft",
        "XXVIII Zjazd Fizyków Polskich",
        "phpMyAdmin",
        "XMLHttpRequest",
        "XeLaTeX LuaLaTeX",
        "MySQL Workbench",
        "pdfTeX manual",
        "QuickBooks TurboTax",
    ],
)
def test_titles_are_legible(title: str) -> None:
    assert not is_illegible_title(title)
    assert not is_illegible_title(title, f"{title}\n{title.upper()}, continued")


@pytest.mark.parametrize("title", ["Íàëîãîâàÿ äåêëàðàöèÿ", "Qzbkwjx Vfgqhz Xqjwkpv"])
def test_a_title_of_no_language_is_none(title: str) -> None:
    lines = [Line(title, size=20.0), *(Line(line, size=10.0) for line in PROSE.split("\n"))]
    beginning = Beginning("rights.pdf", title, [lines], [], 10.0, Vocabulary())
    assert title_of(beginning, None) == "rights"


def test_a_title_that_may_be_of_no_language_is_one_if_the_text_has_its_words() -> None:
    title = "Jda Yvnqe Xymaw Cjenaf"
    assert is_illegible_title(title, f"{title}\n{PROSE}")
    assert not is_illegible_title(title, f"{title}\n{PROSE}\nCjenaf is made by hand.")


@pytest.fixture
def of_no_language(tmp_path: Path) -> Path:
    path = tmp_path / "rights.pdf"
    body = lines(*exchanged(PROSE, 3).split("\n"))
    path.write_bytes(document([lines("Vdkw Ycuqmf", size=30), body, body]))
    return path


def test_a_document_of_no_language_needs_ocr_and_is_named_after_its_file(of_no_language: Path) -> None:
    with open_pdf(of_no_language, file_name="rights.pdf", limits=Limits()) as pdf:
        texts = [page.text for page in pdf.pages()]
    _, error = status_of(pdf.reports, pdf.page_count, pdf.problems)
    assert [report.state for report in pdf.reports] == ["text", "garbled", "garbled"]
    assert texts[1:] == ["", ""]
    assert (pdf.title, pdf.card) == ("rights", {})
    assert error is not None
    assert error.code == "PAGES_NEED_OCR"
    assert "2 with text that cannot be decoded" in error.message


def test_what_ocr_makes_of_such_a_page_is_judged_in_the_same_way(of_no_language: Path) -> None:
    def by_ocr(number: int, text: str) -> RawPage:
        return RawPage(number, lines=[Line(line) for line in text.split("\n")], engine=OCR_ENGINE, confidence=0.9)

    read = {2: by_ocr(2, PROSE), 3: by_ocr(3, WRONG_OCR)}
    with open_pdf(of_no_language, file_name="rights.pdf", limits=Limits(), read_pages=read) as pdf:
        texts = [page.text for page in pdf.pages()]
    assert (pdf.read_by_ocr, pdf.ocr_failed) == ({2}, {3})
    assert texts[1].startswith("All human beings")
    assert texts[2] == ""


@pytest.mark.parametrize(("text", "is_worth_it"), [("fueltank¡", True), ("fuel tank¡", False), ("fuel tanks", False)])
def test_a_closer_look_is_worth_it_from_a_tenth_of_doubtful_letters_on(text: str, *, is_worth_it: bool) -> None:
    assert may_be_mended(text) is is_worth_it
