"""Talk, and questions about the collection: answered without a search and without a model."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from functions.query.answer import Answer, Delta, Done, Question
from functions.query.pipeline import answer_events, answer_question
from functions.query.ports import QueryPorts
from functions.query.retrieval.passages import Passage
from functions.query.service import MAX_DOCUMENTS, MAX_TOLD, SHOWN, ServiceTexts, service_texts
from functions.query.summarising import MAX_PASSAGES, chosen_passages
from functions.query.understanding.talk import collection_question
from functions.query.writing.localization import languages
from shared.deadline import Deadline
from shared.errors import DependencyUnavailable
from shared.models import Match, Principal, SourceType
from shared.ports import CatalogueEntry
from tests.support.query import (
    WHO,
    FakeChat,
    FakeConversations,
    FakeEmbedder,
    FakeRegistry,
    FakeSearch,
    match,
    query_ports,
)

TEXT = "The boiler holds 1.8 litres of water. It must be descaled every 90 days."


def document(name: str, title: str = "", **more: object) -> CatalogueEntry:
    values = {"document_id": name, "key": f"uploads/acme/{name}", "title": title, "generation": "g1", **more}
    return CatalogueEntry(**values)  # type: ignore[arg-type]


LIBRARY = [
    document("intel/INTEL_2022_10K.pdf", "Annual Report"),
    document("intel/INTEL_2023Q1.pdf", "Quarterly Report"),
    document("AMD_2022_10K.pdf", "Annual Report"),
    document("duo-manual.pdf", "Brunata Duo: Maintenance manual 2023"),
    document("haus.pdf", "Hausordnung", language="de"),
    document("old.pdf", "Boiler", labels={"kind": "manual", "year": "2021"}),
]


def ask(ports: QueryPorts, text: str, who: Principal = WHO, **more: str) -> Answer:
    return answer_question(Question(text, **more), who, ports, Deadline(ports.clock, 26))


def asked(text: str, documents: Sequence[CatalogueEntry] = LIBRARY) -> Answer:
    return ask(query_ports([match(TEXT)], documents=documents), text)


def listed(answer: Answer) -> list[str]:
    return [line.removeprefix("- ") for line in answer.text.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("Hello!", "Hello!"),
        ("Labas", "Sveiki!"),
        ("Wer bist du?", "Ich bin ein Programm"),
        ("¿Qué puedes hacer?", "Respondo preguntas"),
        ("Merci beaucoup !", "Je vous en prie"),
        ("What is it?", "What would you like to know?"),
        ("?", "What would you like to know?"),
    ],
)
def test_talk_is_answered_in_its_language_without_search_or_model(text: str, beginning: str):
    chat = FakeChat("Anything [1].")
    ports = query_ports([match(TEXT)], chat=chat)
    answer = ask(ports, text)
    assert answer.text.startswith(beginning)
    assert answer.mode == "service"
    assert not answer.no_relevant_info
    assert not answer.citations
    assert not chat.prompts
    assert isinstance(ports.search, FakeSearch)
    assert isinstance(ports.embedder, FakeEmbedder)
    assert not ports.search.calls
    assert not ports.embedder.asked
    assert isinstance(ports.conversations, FakeConversations)
    assert [turn.content for turn in ports.conversations.turns[WHO.tenant, WHO.user, answer.conversation_id]] == [
        text,
        answer.text,
    ]


def test_a_language_without_texts_is_answered_in_english_which_is_said():
    answer = asked("Dzień dobry")
    assert answer.text.startswith("Hello!")
    assert answer.text.endswith("I can say this only in English.")


def test_the_requested_language_wins():
    assert ask(query_ports(), "Hello!", language="fr").text.startswith("Bonjour")


def test_a_greeting_in_front_of_a_question_is_not_searched_for():
    ports = query_ports([match(TEXT)])
    answer = ask(ports, "Hello, how often must the boiler be descaled?")
    assert answer.mode == "extractive"
    assert isinstance(ports.embedder, FakeEmbedder)
    assert ports.embedder.asked == ["How often must the boiler be descaled?"]


def test_which_documents_lists_them_all_by_title():
    answer = asked("Which documents do you have?")
    assert answer.text.startswith("Documents I answer from: 6.")
    assert listed(answer)[:2] == ["Annual Report (AMD_2022_10K.pdf)", "Annual Report (INTEL_2022_10K.pdf)"]
    assert len(listed(answer)) == 6
    assert asked("Which documents do you have?", []).text.startswith("There are no documents yet")


@pytest.mark.parametrize(
    ("question", "files"),
    [
        ("How many filings of Intel do we have?", ["INTEL_2022_10K", "INTEL_2023Q1"]),
        ("How many documents of 2022 do you have?", ["AMD_2022_10K", "INTEL_2022_10K"]),
        ("List all manuals of 2023", ["Brunata"]),
        ("List all manuals of 2021", ["Boiler"]),
        ("Which manuals do you have?", ["Brunata", "Boiler"]),
        ("Which Intel reports are there?", ["INTEL_2022_10K", "INTEL_2023Q1"]),
        ("Do you have any manuals of 2023?", ["Brunata"]),
        ("Which documents are in German?", ["Hausordnung"]),
        ("How many reports of Apple do we have?", []),
        ("How many invoices do we have?", []),
        ("How many manuals are in the library?", ["Brunata", "Boiler"]),
        ("List all manuals of 1999", []),
        ("Kiek Intel ataskaitų turime?", ["INTEL_2022_10K", "INTEL_2023Q1"]),
        ("Wie viele Berichte von Intel haben wir?", ["INTEL_2022_10K", "INTEL_2023Q1"]),
        ("¿Cuántos informes de Intel tenemos?", ["INTEL_2022_10K", "INTEL_2023Q1"]),
        ("Combien de rapports d'Intel avons-nous ?", ["INTEL_2022_10K", "INTEL_2023Q1"]),
    ],
)
def test_counts_and_lists_come_from_the_names_of_all_documents(question: str, files: list[str]):
    answer = asked(question)
    assert answer.mode == "service"
    assert f": {len(files)}." in answer.text
    assert len(listed(answer)) == len(files)
    assert all(any(file in line for line in listed(answer)) for file in files)


@pytest.mark.parametrize(
    "question",
    [
        "Which documents mention coffee?",
        "How many reports were filed by Intel?",
        "How many pages does the manual have?",
        "What is the policy on smoking?",
        "What does the manual say about the boiler?",
        "List the error codes in the manual.",
        "How many employees do we have?",
        "Which documents do I need for a permit?",
        "Name the author of the book about boilers.",
        "How many times must the boiler be descaled?",
        "How many articles does the Hausordnung have?",
        "List the articles of the Hausordnung",
        "How many books are in the library?",
    ],
)
def test_questions_about_contents_are_searched_for(question: str):
    assert asked(question).mode != "service"


KEPT = [
    document("lease.pdf", "Lease of the mill", page_count=14, created_at="2027-03-02T09:00:00+00:00"),
    document("duo.pdf", "Brunata Duo: Maintenance manual", page_count=7, created_at="2027-05-20T23:10:00+00:00"),
    document("miete.pdf", "Mietvertrag der Mühle", page_count=9, created_at="2026-01-31T07:00:00+00:00"),
    document("thesis.pdf", "Thesis guidelines", page_count=3, created_at="2027-01-05T07:00:00+00:00"),
]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many pages has the lease?", "Pages of “Lease of the mill”: 14."),
        ("How many pages does “duo.pdf” have?", "Pages of “Brunata Duo: Maintenance manual”: 7."),
        ("Wie viele Seiten hat der Mietvertrag?", "Seiten von „Mietvertrag der Mühle“: 9."),
        ("Combien de pages a le document Brunata ?", "Pages de « Brunata Duo: Maintenance manual » : 7."),
        ("When was the lease uploaded?", "“Lease of the mill” was first uploaded on 2027-03-02."),
        (
            "Which document is the newest?",
            "The document that was uploaded last is “Brunata Duo: Maintenance manual”, on 2027-05-20.",
        ),
        ("What is the oldest file?", "The document that was uploaded first is “Mietvertrag der Mühle”, on 2026-01-31."),
    ],
)
def test_what_the_registry_keeps_of_a_document_is_told_from_it(question: str, text: str):
    answer = asked(question, KEPT)
    assert (answer.mode, answer.text) == ("service", text)


@pytest.mark.parametrize(
    "question",
    [
        "How many pages may the thesis have?",  # a rule
        "How many pages does a thesis have?",  # any
        "How many pages does chapter 3 of the lease have?",  # a part
        "How many pages can the Brunata print?",
        "Wie viele Seiten darf der Mietvertrag haben?",
        "When was clause 4 of the lease uploaded?",
        "What is the latest document on brakes?",
        "How many pages does this document have?",  # none was named
        "How many pages has the deed?",
    ],
)
def test_what_is_not_asked_of_a_whole_document_is_searched_for(question: str):
    assert asked(question, KEPT).mode != "service"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the title of this document?", "The title is “Lease of the mill”, and the file is lease.pdf."),
        ("What is this document called?", "The title is “Lease of the mill”, and the file is lease.pdf."),
        ("Wie heißt das Dokument?", "Der Titel ist „Lease of the mill“, und die Datei heißt lease.pdf."),
    ],
)
def test_a_document_is_told_by_its_title_and_file(question: str, text: str):
    assert asked(question, KEPT[:1]).text == text


@pytest.mark.parametrize(
    "question",
    [
        "Which documents are by Ann Lee?",
        "List the documents written by Ann Lee",
        "How many documents did Ann Lee write?",
        "Welche Dokumente hat Ann Lee geschrieben?",
        "Kokius dokumentus parašė Ann Lee?",
    ],
)
def test_documents_are_listed_by_their_author(question: str):
    documents = [KEPT[0]._replace(card={"author": ["Ann Lee"]}), *KEPT[1:]]
    assert [each for each in asked(question, documents).text.split("\n") if each.startswith("- ")] == [
        "- Lease of the mill (lease.pdf)"
    ]
    assert asked(question, KEPT).mode != "service"


def test_the_title_of_something_in_it_is_searched_for():
    assert asked("What is the title of the book that the document cites?", KEPT[:1]).mode != "service"
    assert asked("What is this document called?", KEPT).mode != "service"


def test_what_the_registry_does_not_keep_of_all_that_are_meant_is_not_told():
    unknown = [*KEPT, document("deed.pdf", "Deed of the mill")]
    for question in ("Which document is the newest?", "How many pages has the deed?", "When was the deed uploaded?"):
        assert asked(question, unknown).mode != "service"
    alike = [KEPT[0]._replace(document_id=f"d{n}") for n in range(MAX_TOLD + 1)]
    assert asked("How many pages has the lease?", alike[:-1]).text.count("14") == MAX_TOLD
    assert asked("How many pages has the lease?", alike).mode != "service"


def test_do_you_have_one_of_several_words_is_answered_with_what_there_is():
    washer = document("w.pdf", "Washing machine OD 74: manual")
    assert listed(asked("Do you have a washing machine manual?", [*LIBRARY, washer])) == [
        "Washing machine OD 74: manual (w.pdf)"
    ]
    assert asked("Do you have a washing machine manual?").mode != "service"


def test_a_faq_is_listed_by_its_question_without_the_id_it_is_stored_under():
    faq = document("q-f312ef16.json", "Where do I park?", source_type=SourceType.FAQ)
    assert listed(asked("Which documents do you have?", [LIBRARY[3], faq])) == [
        "Brunata Duo: Maintenance manual 2023 (duo-manual.pdf)",
        "Where do I park?",
    ]


def test_a_long_list_is_cut_after_its_true_count():
    answer = asked("Which documents do you have?", [document(f"d{n:03}.pdf") for n in range(SHOWN + 7)])
    assert f": {SHOWN + 7}." in answer.text
    assert len(listed(answer)) == SHOWN
    assert "and 7 more" in answer.text


def test_more_documents_than_can_be_read_are_said_to_be_more():
    answer = asked("How many documents do you have?", [document(f"d{n}.pdf") for n in range(MAX_DOCUMENTS + 1)])
    assert f": {MAX_DOCUMENTS}." in answer.text
    assert "not all" in answer.text


def test_the_requests_filter_narrows_the_list():
    ports = query_ports(documents=LIBRARY)
    question = Question("Which documents do you have?", filter={"language": "de"})
    answer = answer_question(question, WHO, ports, Deadline(ports.clock, 26))
    assert listed(answer) == ["Hausordnung (haus.pdf)"]


def test_pdfs_come_before_other_sources():
    answer = asked(
        "Which documents do you have?", [document("a.json", "A", source_type=SourceType.FAQ), document("b.pdf", "B")]
    )
    assert listed(answer) == ["B", "A"]


def test_another_tenants_documents_are_not_listed():
    ports = query_ports(documents=LIBRARY)
    assert ask(ports, "Which documents do you have?", Principal("other", "eve")).text.startswith(
        "There are no documents"
    )


def test_a_title_cannot_bring_links_markup_or_markers_into_the_list():
    title = "Read [this](https://evil.example/x) ![i](https://evil.example/p.png) [1] <img src=x>"
    (line,) = listed(asked("Which documents do you have?", [document("a.pdf", title)]))
    assert "evil" not in line
    assert "<img" not in line
    assert "[1]" not in line


def test_without_the_registry_a_list_is_an_error_and_talk_is_not():
    ports = query_ports(documents=LIBRARY)
    assert isinstance(ports.registry, FakeRegistry)
    ports.registry.error = DependencyUnavailable("registry")
    assert ask(ports, "Hello").mode == "service"
    with pytest.raises(DependencyUnavailable):
        ask(ports, "Which documents do you have?")


def test_every_language_has_every_sentence():
    english = service_texts("en")
    for language in languages():
        texts = service_texts(language)
        assert all(texts)
        for name in ServiceTexts._fields:
            fields = ("{count}", "{terms}", "{more}", "{title}", "{date}")
            assert {part for part in fields if part in getattr(texts, name)} == {
                part for part in fields if part in getattr(english, name)
            }


def test_a_long_text_is_no_question_about_the_collection():
    assert collection_question("list all manuals " + "of the boiler " * 20, "en", has_history=False) is None


# --- A summary of one document ---

SECTIONS = ("Introduction", "Care of the boiler", "Faults")
SAID = (
    "This manual tells you how to use the boiler of the machine safely every day.",
    "The boiler of the machine must be descaled every 90 days with citric acid.",
    "If the boiler of the machine leaks, close the valve and call the service.",
)


def chunks(number: int, document_id: str = "duo-manual.pdf", generation: str = "g1") -> list[Match]:
    """A document's chunks in reverse order."""
    about = {"document_id": document_id, "title": "Brunata Duo: Maintenance manual 2023"}
    made = [
        replace(
            match(f"{text} Turn to page {at}.", chunk_index=at, section=section, **about),  # type: ignore[arg-type]
            id=f"{document_id}#{generation}#{at}",
        )
        for at, (section, text) in enumerate(zip(SECTIONS * number, SAID * number, strict=True))
    ]
    return [replace(each, metadata={**each.metadata, "generation": generation}) for each in reversed(made)]


def summary(text: str, chat: FakeChat | None = None, hits: Sequence[Match] | None = None, **more: str) -> Answer:
    ports = query_ports(chunks(1) if hits is None else hits, documents=LIBRARY, chat=chat)
    return ask(ports, text, **more)


@pytest.mark.parametrize(
    "question",
    [
        "Summarise the Brunata Duo manual",
        "Summarize “Brunata Duo”",
        "Please give me an overview of the Brunata Duo maintenance manual.",
        "Summarise duo-manual.pdf",
        "Summarise the Brunatta Duo maintenence manual",
        "What is the Brunata Duo manual about?",
        "Fasse Brunata Duo zusammen",
    ],
)
def test_a_document_is_summarised_by_its_outline_and_its_own_sentences(question: str):
    answer = summary(question)
    assert answer.mode == "extractive"
    assert "Brunata Duo: Maintenance manual 2023" in answer.text
    assert listed(answer)[:3] == list(SECTIONS)
    assert [citation.quote for citation in answer.citations] == list(SAID)
    assert not answer.no_relevant_info
    assert answer.confidence is None


def test_only_the_documents_published_chunks_are_searched_for():
    ports = query_ports([*chunks(1), *chunks(1, generation="g0")], documents=LIBRARY)
    answer = ask(ports, "Summarise the Brunata Duo manual")
    assert {source.generation for source in answer.sources} == {"g1"}
    assert isinstance(ports.search, FakeSearch)
    assert ports.search.calls[0]["filter"] == {"document_id": {"$eq": "duo-manual.pdf"}}


def test_a_model_writes_the_summary_and_its_claims_are_verified():
    chat = FakeChat(f"{SAID[1]} [2] The boiler costs 900 euros. [1]")
    answer = summary("Summarise the Brunata Duo manual", chat)
    assert answer.mode == "generated"
    assert "900" not in answer.text
    assert [citation.quote for citation in answer.citations] == [SAID[1]]
    assert listed(answer)[:3] == list(SECTIONS)


def test_several_documents_of_that_name_ask_back():
    answer = summary("Summarise the annual report")
    assert answer.mode == "service"
    assert answer.text.startswith("Which document do you mean?")
    assert len(listed(answer)) == 2


def test_a_document_that_is_not_there_is_said_to_be_missing():
    assert summary("Summarise the document Zeppelin").text.startswith("There is no document called “zeppelin”")


def test_what_names_no_document_is_an_ordinary_question():
    assert summary("Summarise the warranty terms of the service").mode != "service"


def test_this_document_is_the_one_that_was_cited_last():
    ports = query_ports(chunks(1), documents=LIBRARY)
    first = ask(ports, "How often must the boiler of the machine be descaled?")
    assert first.citations
    answer = ask(ports, "Summarise this document", conversation_id=first.conversation_id)
    assert "Brunata Duo: Maintenance manual 2023" in answer.text


def test_this_document_is_the_one_that_was_told_of_last_though_nothing_of_it_was_cited():
    documents = [each._replace(page_count=9 * (each.title == "Hausordnung")) for each in LIBRARY]
    ports = query_ports(chunks(1), documents=documents)
    first = ask(ports, "How often must the boiler of the machine be descaled?")
    assert first.citations
    told = ask(ports, "How many pages does the Hausordnung have?", conversation_id=first.conversation_id)
    assert told.text == "Pages of “Hausordnung”: 9."
    answer = ask(ports, "Summarise this document", conversation_id=first.conversation_id)
    assert "Hausordnung" in answer.text


def test_the_events_of_a_summary_add_up_to_its_text():
    ports = query_ports(chunks(1), documents=LIBRARY)
    events = list(answer_events(Question("Summarise the Brunata Duo manual"), WHO, ports, Deadline(ports.clock, 26)))
    done = events[-1]
    assert isinstance(done, Done)
    assert "".join(event.text for event in events if isinstance(event, Delta)) == done.answer.text


def test_a_document_without_a_quotable_sentence_shows_its_outline():
    hits = [replace(each, metadata={**each.metadata, "text": "Boiler"}) for each in chunks(1)]
    answer = summary("Summarise the Brunata Duo manual", hits=hits)
    assert not answer.citations
    assert "Care of the boiler" in answer.text


def test_a_long_documents_passages_come_from_all_its_sections():
    passages = [Passage.of(each) for each in chunks(1)]
    many = [
        passages[0]._replace(chunk_id=f"d#g#{at}", chunk_index=at, section=f"Part {at // 5}", score=0.1)
        for at in range(200)
    ]
    chosen = chosen_passages(many)
    assert len(chosen) == MAX_PASSAGES
    assert len({each.section for each in chosen}) >= MAX_PASSAGES // 2
    assert [each.chunk_index for each in chosen] == sorted(each.chunk_index for each in chosen)


def test_of_several_documents_with_the_name_one_must_be_chosen():
    both = [document(f"{year}.pdf", f"Lease of the mill, {year}") for year in (1997, 1998)]
    answer = asked("What does Table 1 of the mill lease show?", both)
    assert answer.text == (
        "Which document do you mean?\n- Lease of the mill, 1997 (1997.pdf)\n- Lease of the mill, 1998 (1998.pdf)"
    )


def test_the_one_with_the_whole_title_is_meant():
    both = [KEPT[0], document("old-lease.pdf", "Lease of the mill, 1998")]
    for name in ("the lease of the mill", "“Lease of the mill”"):
        assert "Which document" not in asked(f"What does Table 1 of {name} show?", both).text


@pytest.mark.parametrize(
    "question",
    [
        "Which documents are not by Ann Lee?",
        "Welche Dokumente hat Ann Lee nicht geschrieben?",
        "Which documents does Ann Lee need to write?",
        "Which files does the lease write?",
        "Who wrote to Ann Lee?",
        "What are the figures from 2027?",
        "What is the contract called?",
        "Wie heißt das Buch?",
        "Who wrote the letter?",
    ],
)
def test_what_only_looks_like_a_question_about_a_document_is_searched_for(question: str):
    written = KEPT[0]._replace(card={"author": ["Ann Lee"], "date": "2027-03-02"})
    assert asked(question, [written, *KEPT[1:]]).mode != "service"


def test_documents_of_a_kind_that_are_not_there_are_none():
    dated = KEPT[0]._replace(card={"date": "2016-03-02"})
    assert ": 0." in asked("How many invoices are from 2016?", [dated]).text
    assert ": 1." in asked("Which documents are from 2016?", [dated]).text
