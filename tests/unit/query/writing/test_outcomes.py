"""What came of something is told, or that the documents leave it open."""

import pytest

from functions.query.writing.extractive import extract
from functions.query.writing.outcomes import asks_outcome, is_open
from tests.support.query import passage


@pytest.mark.parametrize(
    "question",
    [
        "Was the sale approved?",
        "Has the boiler been installed?",
        "Wurde die Satzung beschlossen?",
        "Hat der Rat die Satzung beschlossen?",
        "¿Se aprobó la compra?",
        "¿Fue aprobado el alquiler?",
        "La façade a-t-elle été ravalée ?",
        "Ar nutarta asfaltuoti kelią?",
        "Was the barn let?",
        "Has the board sold the barn?",
        "Ist die Mauer erneuert worden?",
        "¿Ha sido reparado el muro?",
        "Le conseil a-t-il vendu la grange ?",
    ],
)
def test_a_question_for_what_came_of_something(question: str):
    assert asks_outcome(question)


@pytest.mark.parametrize(
    "question",
    [
        "Is the lift working?",
        "Can I return it?",
        "Was kostet ein Platz?",
        "What was approved?",
        "¿Hay garaje?",
        "Has the hut a stove?",
        "Have tenants a right to a cellar?",
        "Has each tenant to be of age?",
        "Was heating included?",
        "Ist die Heizung im Preis enthalten?",
        "Ist Geschirr vorhanden?",
        "Haben Mieter das Recht, Katzen zu halten?",
        "¿Está incluida la cena?",
        "Le sauna est-il ouvert ?",
        "La caution est-elle rendue ?",
        "Le gîte a-t-il une terrasse ?",
        "Ar galima vesti šunis?",
    ],
)
def test_other_questions_do_not_ask_for_it(question: str):
    assert not asks_outcome(question)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The station is to be sold by auction.", "en"),
        ("Motion 4. That the shed be sold.", "en"),
        ("She asked whether she may keep two hives.", "en"),
        ("Die Preise sollen erhöht werden.", "de"),
        ("Die Verwaltung schlug vor, das Bad zu sanieren.", "de"),
        ("Se propone comprar un proyector.", "es"),
        ("La façade sera ravalée en 2029.", "fr"),
        ("Siūloma asfaltuoti kelią.", "lt"),
    ],
)
def test_what_is_put_forward_asked_or_planned_is_open(text: str, language: str):
    assert is_open(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The terrace was opened in June.", "en"),
        ("A study has been proposed; it was not approved.", "en"),
        ("Vote: 3 in favour, 6 against. Lost.", "en"),
        ("Abgelehnt.", "de"),
        ("Die Empfehlung wurde vor dem Winter angenommen.", "de"),
        ("La propuesta del propietario fue aceptada.", "es"),
        ("La proposition et la demande ont été rejetées.", "fr"),
        ("Siūlymas atmestas.", "lt"),
        ("Aprobado por unanimidad.", "es"),
        ("Adoptée.", "fr"),
        ("Priimta vienbalsiai.", "lt"),
        ("Something is to be done.", "pl"),  # no words are known for it
    ],
)
def test_what_has_come_about_or_not_is_not_open(text: str, language: str):
    assert not is_open(text, language)


@pytest.mark.parametrize(
    ("text", "language", "question"),
    [
        ("The kiosk, which was to close in May, closed on 2 July.", "en", "Was the kiosk closed?"),
        ("The hut was let, although Mr Ray had suggested that it be sold.", "en", "Was the hut let?"),
        ("Das Tor, das im Mai gestrichen werden sollte, wurde im Juli gestrichen.", "de", "Wurde das Tor gestrichen?"),
        ("El café, que debería haber cerrado en mayo, cerró en julio.", "es", "¿Se cerró el café?"),
        ("Le moulin, dont la vente était envisagée, a été vendu.", "fr", "Le moulin a-t-il été vendu ?"),
        ("Tiltas, kurį planuojama taisyti, sutvarkytas.", "lt", "Ar tiltas sutvarkytas?"),
        ("A motion for a bench was tabled.", "en", "Was a motion for a bench tabled?"),
        ("Die Mühle sollte verkauft werden, wurde aber behalten.", "de", "Wurde die Mühle verkauft?"),
    ],
)
def test_the_deed_that_is_told_beside_a_plan_is_not_open(text: str, language: str, question: str):
    assert not is_open(text, language, question)


@pytest.mark.parametrize(
    ("text", "language", "question"),
    [
        ("The hut was let, although Mr Ray had suggested that it be sold.", "en", "Was the hut sold?"),
        ("The kiosk, which was damaged in May, will be rebuilt.", "en", "Was the kiosk rebuilt?"),
        ("Talks about the sale of the mill are under way.", "en", "Was the mill sold?"),
        ("An application for the repair of the pier has been submitted.", "en", "Was the pier repaired?"),
        ("Ms Hale wanted the elm felled.", "en", "Was the elm felled?"),
        ("Ein Antrag auf einen Stall ist eingereicht.", "de", "Wurde der Stall genehmigt?"),
        ("La vente est envisagée pour 2031.", "fr", "Le moulin a-t-il été vendu ?"),
    ],
)
def test_what_has_only_begun_is_open(text: str, language: str, question: str):
    assert is_open(text, language, question)


def test_articles_of_a_question_do_not_tell_what_came_of_it():
    text = "La pista será ampliada en 2031. La propuesta de un quiosco salió adelante."
    assert extract("¿Fue ampliada la pista?", [passage(text, language="es")]).is_open


def test_what_came_of_something_else_does_not_lift_it():
    other = "Each tenant shall pay a fee of 2 euros. Children pay half."
    told = "The prize of 300 euros came in on 9 March."
    answer = extract("Has the prize been paid?", [passage(other, language="en"), passage(told, n=2, language="en")])
    assert "9 March" in answer.claims[0].text


@pytest.mark.parametrize(
    ("text", "language", "question", "outcome"),
    [
        ("The station is to be sold.\n\nVote: 3 in favour, 6 against. Lost.", "en", "Was the station sold?",
         "Lost"),
        ("Mr Day moved to buy clocks. Mrs Lee thought them dear. The motion was carried.", "en",
         "Was it decided to buy clocks?", "carried"),
        ("Motion 4. That the shed be sold.\n\nResult: 4 to 4. The chair was against, so the motion fell.", "en",
         "Was the shed sold?", "fell"),
        ("Die Preise sollen erhöht werden.\n\nAbstimmung: 4 Ja, 9 Nein. Abgelehnt.", "de",
         "Wurde beschlossen, die Preise zu erhöhen?", "Abgelehnt"),
        ("Se propone alquilar el local.\n\nVotos: 12 a favor. Rechazado.", "es", "¿Se aprobó alquilar el local?",
         "Rechazado"),
    ],
)  # fmt: skip
def test_the_line_that_tells_what_came_of_it_is_told(text: str, language: str, question: str, outcome: str):
    told = extract(question, [passage(text, language=language)])
    assert outcome in told.claims[0].text
    assert not told.is_open


@pytest.mark.parametrize(
    ("text", "language", "question"),
    [
        ("Mr Quill proposed to replace the fence with a hedge.", "en", "Has the fence been replaced with a hedge?"),
        (
            "A new boiler is to be installed. The roof terrace was opened in June.",
            "en",
            "Has the boiler been installed?",
        ),
        (
            "Motion 1. That a tank be bought.\n\nMotion 2. The minutes are approved. Carried.",
            "en",
            "Was a tank bought?",
        ),
        ("Die Verwaltung schlug vor, das Freibad zu sanieren.", "de", "Wurde das Freibad saniert?"),
        ("Ein Nachtbus ist geplant. Die Haltestelle wurde verlegt.", "de", "Wurde ein Nachtbus eingeführt?"),
        ("Mr Osei was elected. He is to present accounts.", "en", "Has Mr Osei presented accounts?"),
        ("A wall is planned. The sauna was closed.", "en", "Was the wall built?"),
        ("Le syndic propose de remplacer la chaudière.", "fr", "La chaudière a-t-elle été remplacée ?"),
    ],
)
def test_an_answer_that_only_tells_what_was_put_forward_is_open(text: str, language: str, question: str):
    assert extract(question, [passage(text, language=language)]).is_open


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The roof terrace was opened in June.", "Was the roof terrace opened?"),
        ("The study was not approved.", "Was the study approved?"),
        ("The boiler was installed in May.", "Was the boiler installed?"),
        ("It was agreed that the fee for dogs shall be £10.", "Was the fee for dogs agreed?"),
        ("The proposal to sell the barn was rejected.", "Was the proposal to sell the barn accepted?"),
        ("The plan for the pond was adopted.", "Was the plan for the pond adopted?"),
        ("The plan to visit Bath was dropped.", "Was the plan to visit Bath dropped?"),
        ("Ms Tarrow proposed the Road. It was chosen by 9 votes.", "Was the Road chosen?"),
        ("A new boiler is to be installed in autumn.", "When will the boiler be installed?"),
        ("Item | Result\nSale of the station | to be decided", "Was the sale of the station approved?"),
    ],
)
def test_what_is_told_or_not_asked_is_not_open(text: str, question: str):
    assert not extract(question, [passage(text, language="en")]).is_open


def test_what_was_done_to_something_else_is_no_outcome():
    text = """31. Minutes

The minutes of 12 May were approved and signed.

32. Sale of the barn

It was proposed that the barn be sold. The item was deferred to June."""
    told = extract("Was the sale approved?", [passage(text, language="en")])
    assert told.claims[0].text.startswith("It was proposed that the barn be sold. The item was deferred to June.")
    assert (
        extract("Were the minutes approved?", [passage(text, language="en")]).claims[0].text.startswith("The minutes")
    )
