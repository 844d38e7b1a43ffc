"""The second look: statements in other words than the question's are found by meaning, and names are not given up."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from functions.query.answer import Answer, Question
from functions.query.decision import Band
from functions.query.pipeline import answer_question
from functions.query.retrieval.search import Search
from functions.query.second_look import (
    CLOSE,
    FEW_DOCUMENTS,
    MAX_CHOSEN,
    MAX_HEADED_WORDS,
    MAX_STATEMENTS,
    MAX_WITH_WORDS,
    MIN_WORDS,
    RESERVE_S,
    TIMEOUT_S,
    SecondLook,
    look_again,
    statements_in_other_languages,
    statements_with_words,
)
from functions.query.writing.statements import statements_in
from shared.deadline import Deadline
from shared.errors import DependencyRefused, DependencyUnavailable
from shared.models import Embeddings, Filter, Usage
from shared.settings import NEVER, STATEMENT_THRESHOLDS, Settings
from tests.support.clock import FakeClock
from tests.support.query import WHO, FakeChat, FakeEmbedder, FakeSearch, match, passage, query_ports

DOG = "can I bring the dog along?"
ANIMALS = "Animals are welcome in the garden rooms."
BREAKFAST = "Breakfast is served from seven to ten."
SAUNA = "The sauna is heated on request."


class ByMeaning(FakeEmbedder):
    """Embeds questions as one axis, and statements at the angle to it whose cosine is told."""

    def __init__(self, similarities: Mapping[str, float], error: Exception | None = None) -> None:
        super().__init__()
        self.similarities = similarities
        self.statements_error = error
        self.calls: list[Sequence[str]] = []

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:
        self.calls.append(texts)
        self.timeouts.append(timeout_s)
        if self.statements_error and len(self.calls) > 1:
            raise self.statements_error
        vectors = []
        for text in texts:
            cosine = 1.0 if text.endswith("?") else self.similarities.get(text, 0.0)
            vectors.append([cosine, (1 - cosine**2) ** 0.5])
        return Embeddings(vectors, Usage(input_tokens=len(texts)))


def looked(question: str, *texts: str, threshold: float = 0.4, **similarities: float) -> SecondLook:
    named = {"animals": ANIMALS, "breakfast": BREAKFAST, "sauna": SAUNA}
    embedder = ByMeaning({named[name]: value for name, value in similarities.items()})
    passages = [passage(text, n=number) for number, text in enumerate(texts, start=1)]
    search = Search(question, [1.0, 0.0], 2, "acme")
    return look_again(search, passages, threshold=threshold, embedder=embedder, deadline=Deadline(FakeClock(), 30.0))


def answered(
    *texts: str, question: str = DOG, embedder: ByMeaning | None = None, chat: FakeChat | None = None, **more: object
) -> Answer:
    """Ask passages that share no rare word with the question, and are not near it as a whole."""
    settings = Settings(embedding_model="all-MiniLM-L6-v2", embedding_dimensions=2, **more)  # type: ignore[arg-type]
    matches = [match(text, n=number, score=0.1) for number, text in enumerate(texts, start=1)]
    ports = replace(query_ports(settings=settings, chat=chat), search=FakeSearch(matches))
    ports = replace(ports, embedder=embedder or ByMeaning({ANIMALS: 0.6, BREAKFAST: 0.1}))
    return answer_question(Question(question), WHO, ports, Deadline(ports.clock, 30.0))


# --- a question about chosen documents ------------------------------------------------------------------------------

ONE: Filter = {"document_id": {"$in": ["doc1"]}}


def with_words(question: str, *texts: str, chosen: Filter | None = ONE, language: str = "en") -> Sequence[str]:
    """Return the statements of documents, one for each text, that have a question's words."""
    search = Search(question, [1.0, 0.0], 2, "acme", language=language, filter=chosen)
    passages = [passage(text, n=n, document_id=f"doc{n}", language=language) for n, text in enumerate(texts, start=1)]
    found = statements_with_words(search, passages)
    return [list(statements_in(each.passage))[each.number].text for each in found]


@pytest.mark.parametrize(
    ("question", "text", "language"),
    [
        ("What is excluded?", "Exclusions: wear of the saddle.", "en"),  # of one family
        ("Who abstained?", "There was one abstention (Ms Brook).", "en"),
        ("How loud is it?", "The noise at one metre is 41 dB.", "en"),  # another word for it
        ("What does it cost?", "The annual fee is £84.", "en"),  # a sum of money
        ("Was kostet es?", "Der Jahresbeitrag beträgt 84 Euro.", "de"),
        ("Und Rauchen?", "Das Rauchverbot gilt im ganzen Haus; Raucher gehen in den Hof.", "de"),
    ],
)
def test_a_short_question_is_answered_by_a_statement_with_its_words(question: str, text: str, language: str):
    assert with_words(question, text, language=language) == [text]
    assert with_words(question, text, "The bridge is red.", language=language, chosen=None) == [text]


@pytest.mark.parametrize(
    ("question", "text", "language"),
    [
        ("phone number?", "Ring us on 01632 960 417 before noon.", "en"),
        ("What is the email address?", "Write to ferry@harbour.example in winter.", "en"),
        ("address?", "The owner lives at 12 Harbour Street in Selby.", "en"),
        ("Telefonnummer?", "Rufen Sie uns an: 0341 555 0190.", "de"),
        ("Adresse?", "Der Verein hat sein Büro in der Ufergasse 4.", "de"),
    ],
)
def test_how_to_reach_somebody_is_told_by_what_reaches_them(question: str, text: str, language: str):
    other = "Das Boot ist rot und schnell." if language == "de" else "The boat is red and fast."
    assert with_words(question, f"{other} {text}", language=language) == [text]


def test_an_address_is_rather_that_of_a_house():
    told = "Write to ferry@harbour.example in winter. We are at 12 Harbour Street in Selby."
    assert with_words("address?", told) == ["We are at 12 Harbour Street in Selby."]


def test_where_no_document_is_chosen_only_one_may_have_such_a_statement():
    told = ["Exclusions: wear of the saddle.", "Exclusions: loss of the key."]
    assert with_words("What is excluded?", *told) == told
    assert with_words("What is excluded?", *told, chosen=None) == []


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the salary?", "We do not pay for scratches."),  # most that is paid is no salary
        ("What is the exchange rate?", "The rate is reviewed every year."),  # each word must be there
        ("What is the fee in clause 12?", "3.1 The fee is £84."),  # so must each number
        ("Who is the contact?", "The box contains two handles."),
        ("What does it cost?", "The handle is made of brass."),
        ("What is it?", "It is a handle."),  # no word of its own
        ("How tall is it?", "The highest probability is 17."),  # all that is counted has a highest
        ("What does § 9 say?", "The shop opens at 9."),  # a number alone
    ],
)
def test_a_statement_without_a_word_of_the_question_does_not_answer_it(question: str, text: str):
    assert with_words(question, text) == []


def test_of_statements_with_the_words_those_come_first_that_can_be_the_answer():
    text = "The payment is made to the office.\n\nThe payment is due on 4 March 2027."
    assert with_words("When is the payment?", text) == ["The payment is due on 4 March 2027."]


def test_what_a_document_says_everywhere_answers_nothing():
    times = [f"The exclusion for saddle {n} is listed here." for n in range(MAX_WITH_WORDS + 1)]
    assert len(with_words("What is excluded?", "\n\n".join(times[:-1]))) == MAX_CHOSEN
    assert with_words("What is excluded?", "\n\n".join(times)) == []


def test_common_words_alone_are_too_little():
    assert with_words("Who wrote it?", "Write to the office.") == []


def test_a_question_about_more_documents_is_judged_like_one_about_all():
    many: Filter = {"document_id": {"$in": [f"doc{n}" for n in range(FEW_DOCUMENTS + 1)]}}
    assert with_words("What is excluded?", "Exclusions: wear of the saddle.", chosen=many) == []


def test_such_an_answer_is_of_the_lowest_band():
    embedder = ByMeaning({})
    settings = Settings(embedding_model="all-MiniLM-L6-v2", embedding_dimensions=2)
    ports = replace(
        query_ports(settings=settings), search=FakeSearch([match("Exclusions: wear of the saddle.", score=0.1)])
    )
    ports = replace(ports, embedder=embedder)
    answer = answer_question(Question("What is excluded?", filter=ONE), WHO, ports, Deadline(ports.clock, 30.0))
    assert (answer.no_relevant_info, answer.band, answer.confidence) == (False, Band.LOW, None)
    assert "second_look" in answer.warnings
    refused = answer_question(Question("Who is the goalkeeper?", filter=ONE), WHO, ports, Deadline(ports.clock, 30.0))
    assert refused.no_relevant_info


# --- a question in another language ---------------------------------------------------------------------------------


def across(question: str, text: str, *, language: str = "fr") -> Sequence[str]:
    found = statements_in_other_languages(Search(question, [1.0, 0.0], 2, "acme"), [passage(text, language=language)])
    return [list(statements_in(each.passage))[each.number].text for each in found]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who is Odette Marchal?", "La directrice est Odette Marchal."),
        ("The heater shows E12, what should I do?", "E12 : fermez le robinet."),
        ("What does E3 mean?", "E3 : aucun signal."),
        ("What does E-03 mean?", "E3 : aucun signal."),
        ("What does E-17 mean?", "E17 : aucun signal."),
        ("What is the BD-4402 for?", "La sonde BD-4402 mesure la chaleur."),
    ],
)
def test_names_and_codes_answer_in_another_language(question: str, text: str):
    assert across(question, text) == [text]
    assert across(question, text, language="en") == across(question, text, language="") == []


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How old is Odette Marchal?", "La directrice est Odette Marchal."),  # what is asked of her is not there
        ("Who is the director?", "La directrice est Odette Marchal."),  # no name
        ("What was spent in Q3?", "En Q3 le robinet est resté fermé."),  # a period is no code
        ("What does E3 mean?", "E31 : aucun signal."),
        ("What does E1-3 mean?", "E13 : aucun signal."),
        ("What does E1.5 mean?", "E1.7 : aucun signal."),
        ("What is A1-01?", "A11 : la salle."),
        ("Is it open at 8h?", "Le musée ferme à 8h."),
        ("What is the BD-4402 for?", "La sonde BD-4403 mesure 4402 degrés."),
        ("What does paragraph 9 say?", "9 Le robinet est fermé."),  # a number is no code
        (
            "What colour is the GX7?",
            "Le GX7 fuit souvent. Le GX7 chauffe vite. Le GX7 est cher.",
        ),  # it stands in too many places
    ],
)
def test_nothing_else_does(question: str, text: str):
    assert across(question, text) == []


# --- the look -----------------------------------------------------------------------------------------------------


def test_the_nearest_statement_of_all_passages_comes_first():
    look = looked(DOG, f"{BREAKFAST} {SAUNA}", f"{SAUNA} {ANIMALS}", animals=0.6, breakfast=0.1, sauna=0.3)
    (near,) = look.chosen
    assert (near.passage.document_id, near.number, near.similarity) == ("doc2", 1, pytest.approx(0.6))
    assert look.nearest == pytest.approx(0.6)


def test_nothing_is_chosen_below_the_threshold_but_the_nearest_is_told():
    look = looked(DOG, f"{BREAKFAST} {ANIMALS}", animals=0.39, breakfast=0.1)
    assert (look.chosen, look.nearest) == ([], pytest.approx(0.39))
    at_it = looked(DOG, ANIMALS, threshold=0.5, animals=0.5)
    assert len(at_it.chosen) == 1


def test_further_statements_are_chosen_while_they_are_about_as_near():
    close = looked(DOG, f"{BREAKFAST} {ANIMALS} {SAUNA}", animals=0.6, breakfast=0.6 - 0.9 * CLOSE, sauna=0.5)
    assert [each.similarity for each in close.chosen] == pytest.approx([0.6, 0.6 - 0.9 * CLOSE])


def test_at_most_three_are_chosen():
    texts = [f"The {name} room has a terrace." for name in ("red", "blue", "green", "white")]
    search = Search("where can we sit outside?", [1.0, 0.0], 2, "acme")
    embedder = ByMeaning(dict.fromkeys(texts, 0.7))
    deadline = Deadline(FakeClock(), 30.0)
    look = look_again(search, [passage(" ".join(texts))], threshold=0.4, embedder=embedder, deadline=deadline)
    assert len(look.chosen) == MAX_CHOSEN == 3


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("can I bring the dog to Vilkaviškis?", ANIMALS),  # a name
        ("can I bring the dog in room 214?", ANIMALS),  # a number
        ("does the iPhone reach the garden?", ANIMALS),  # a capital within the word
    ],
)
def test_a_passage_without_a_name_or_number_of_the_question_is_not_looked_at(question: str, text: str):
    look = looked(question, text, animals=0.9)
    assert (look.chosen, look.nearest) == ((), None)


def test_a_passage_with_the_name_is_looked_at():
    text = f"The hotel is in Vilkaviškis. {ANIMALS}"
    assert looked("can I bring the dog to Vilkaviškis?", text, animals=0.9).chosen


@pytest.mark.parametrize(("asked", "written"), [("de", "de"), ("en", "de"), ("de", "en"), ("de", "")])
def test_in_other_languages_than_english_nothing_is_compared(asked: str, written: str):
    embedder = ByMeaning({ANIMALS: 0.9})
    search = Search(DOG, [1.0, 0.0], 2, "acme", language=asked)
    deadline = Deadline(FakeClock(), 30.0)
    sources = [passage(ANIMALS, language=written)]
    look = look_again(search, sources, threshold=0.4, embedder=embedder, deadline=deadline)
    assert (look, embedder.calls) == (SecondLook(()), [])


def test_the_capital_of_the_first_word_is_no_name():
    assert looked("Pets allowed here?", ANIMALS, animals=0.9).chosen


def test_questions_contents_and_short_statements_are_not_compared():
    embedder = ByMeaning({})
    texts = ["October.", "Is the dog welcome?", "Rooms and prices .......... 12", BREAKFAST]
    deadline = Deadline(FakeClock(), 30.0)
    search = Search(DOG, [1.0, 0.0], 2, "acme")
    passages = [passage(text, n=number) for number, text in enumerate(texts, start=1)]
    look_again(search, passages, threshold=0.4, embedder=embedder, deadline=deadline)
    assert embedder.calls == [[BREAKFAST]]
    assert MIN_WORDS == 3


OPENING = "Opening hours"
HOURS = "From nine to seven, on Saturdays from ten to two."


@pytest.mark.parametrize("hours", [HOURS, "From nine."], ids=["short", "too short by itself"])
def test_a_short_statement_is_also_compared_under_its_heading(hours: str):
    embedder = ByMeaning({f"{OPENING}: {hours}": 0.6, hours: 0.3})
    answer = answered(f"{OPENING}\n\n{hours}", question="when may I come by?", embedder=embedder)
    assert hours in answer.text
    assert [hours in call for call in embedder.calls[1:]] == [hours == HOURS]


def test_a_long_statement_is_compared_by_itself():
    long = " ".join(["The", *["very"] * MAX_HEADED_WORDS, "old sauna is heated on request."])
    embedder = ByMeaning({f"{OPENING}: {long}": 0.6, long: 0.3})
    assert answered(f"{OPENING}\n\n{long}", question="when may I come by?", embedder=embedder).no_relevant_info


def test_statements_are_compared_once_each_and_no_more_than_the_limit():
    embedder = ByMeaning({})
    many = " ".join(f"Room number {number} has a balcony." for number in range(MAX_STATEMENTS + 50))
    deadline = Deadline(FakeClock(), 30.0)
    search = Search(DOG, [1.0, 0.0], 2, "acme")
    look_again(
        search, [passage(BREAKFAST), passage(BREAKFAST, n=2)], threshold=0.4, embedder=embedder, deadline=deadline
    )
    look_again(search, [passage(many)], threshold=0.4, embedder=embedder, deadline=deadline)
    assert embedder.calls[0] == [BREAKFAST]
    assert len(embedder.calls[1]) == MAX_STATEMENTS


def test_it_has_its_own_time_and_leaves_some():
    embedder = ByMeaning({})
    search = Search(DOG, [1.0, 0.0], 2, "acme")
    for left in (30.0, 3.0):
        look_again(search, [passage(BREAKFAST)], threshold=0.4, embedder=embedder, deadline=Deadline(FakeClock(), left))
    assert embedder.timeouts == [TIMEOUT_S, 3.0 - RESERVE_S]


def test_without_a_vector_of_the_question_nothing_is_compared():
    embedder = ByMeaning({})
    search = Search(DOG, None, 2, "acme")
    deadline = Deadline(FakeClock(), 30.0)
    look = look_again(search, [passage(ANIMALS)], threshold=0.4, embedder=embedder, deadline=deadline)
    assert (look, embedder.calls) == (SecondLook(()), [])


# --- the answer ---------------------------------------------------------------------------------------------------


def test_a_question_in_other_words_is_answered_by_the_statement_alone():
    answer = answered(f"{BREAKFAST} {SAUNA}", f"{SAUNA} {ANIMALS} {BREAKFAST}")
    assert answer.text == f"{ANIMALS} [1]"
    assert [each.quote for each in answer.citations] == [ANIMALS]
    assert answer.sources[0].document_id == "doc2"
    assert (answer.no_relevant_info, answer.warnings) == (False, ("second_look",))


def test_such_an_answer_is_low_without_a_confidence_and_tells_the_similarity():
    answer = answered(BREAKFAST, ANIMALS)
    assert (answer.band, answer.confidence) == (Band.LOW, None)
    assert answer.bands == (Band.LOW, Band.NONE)
    assert answer.relevance < answer.threshold
    assert answer.provenance is not None
    assert answer.provenance["decision"]["statement_similarity"] == pytest.approx(0.6)


def test_what_it_spent_is_counted():
    refused, found = answered(BREAKFAST), answered(BREAKFAST, ANIMALS)
    assert refused.no_relevant_info
    assert refused.usage.input_tokens == 2  # the question and one statement
    assert found.usage.input_tokens == 3


def test_a_model_reads_the_passage_of_the_statement_first():
    chat = FakeChat(f"{ANIMALS} [1]")
    answer = answered(BREAKFAST, ANIMALS, chat=chat)
    assert answer.mode == "generated"
    assert answer.sources[0].text == ANIMALS
    assert answer.band is Band.LOW


@pytest.mark.parametrize(
    ("error", "warning"),
    [
        (DependencyUnavailable("embeddings"), "second_look_unavailable"),
        (DependencyRefused("embeddings"), "second_look_refused"),
    ],
)
def test_if_statements_cannot_be_embedded_the_refusal_stands_with_a_warning(error: Exception, warning: str):
    answer = answered(ANIMALS, embedder=ByMeaning({ANIMALS: 0.9}, error))
    assert (answer.no_relevant_info, answer.warnings) == (True, (warning,))
    assert answer.text != answered(BREAKFAST).text  # it says that the search was incomplete
    assert answer.near_misses


def test_an_answered_question_is_not_looked_at_again():
    embedder = ByMeaning({ANIMALS: 0.9})
    answer = answered(f"Dogs: {ANIMALS}", question="Which animals are welcome in the garden rooms?", embedder=embedder)
    assert not answer.warnings
    assert len(embedder.calls) == 1


@pytest.mark.parametrize(("setting", "is_refused"), [(0.61, True), (0.6, False), (NEVER, True), (None, False)])
def test_the_setting_says_from_where_on_a_statement_answers(setting: float | None, is_refused: bool):
    embedder = ByMeaning({ANIMALS: 0.6})
    answer = answered(ANIMALS, embedder=embedder, statement_threshold=setting)
    assert answer.no_relevant_info is is_refused
    assert len(embedder.calls) == (1 if setting == NEVER else 2)


def test_a_question_in_parts_is_refused_because_a_statement_answers_one_of_them():
    embedder = ByMeaning({ANIMALS: 0.9})
    answer = answered(ANIMALS, question="How often is the boiler descaled? Who oils the mill?", embedder=embedder)
    assert answer.no_relevant_info
    assert ANIMALS not in {text for texts in embedder.calls for text in texts}


def test_a_model_without_a_default_has_no_second_look():
    assert Settings(embedding_model="other", embedding_dimensions=2, score_threshold=0.3).second_look_threshold == NEVER
    for model, threshold in STATEMENT_THRESHOLDS.items():
        assert Settings(embedding_model=model, embedding_dimensions=2).second_look_threshold == threshold


def test_what_lacks_the_telephone_number_that_is_asked_for_is_not_compared():
    bare, number = "Support has been added to the Stylo 7600/9600.", "Ring us for support on 01632 960 123."
    search = Search("What is the phone number of support?", [1.0, 0.0], 2, "acme")
    embedder = ByMeaning({bare: 0.9, number: 0.8})
    passages = [passage(bare, n=1), passage(number, n=2)]
    look = look_again(search, passages, threshold=0.4, embedder=embedder, deadline=Deadline(FakeClock(), 30.0))
    assert [each.passage.text for each in look.chosen] == [number]
