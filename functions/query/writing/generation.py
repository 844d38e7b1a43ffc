"""Writing: an answer from the sources, by the model if there is one; each claim is verified before it is emitted.

call the model → parse its claims as they arrive → judge each → check the unconfirmed → emit what is not refuted
no model, no answer in time, nothing grounded → the sources' own sentences, verified in the same way
the model says that it does not know, or no sentence of the sources can be quoted → a refusal
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from functions.query.grounding.checking import ClaimChecking
from functions.query.grounding.claims import RESPONSE_FORMAT, RESPONSE_FORMAT_WITH_SUGGESTIONS, Claim
from functions.query.grounding.judge import Verdict
from functions.query.grounding.verify import ClaimFate, JudgedClaim, Support, VerifiedClaim, Verifier
from functions.query.grounding.words import content_stems, other_words_of
from functions.query.ports import ChatModel, ClaimChecker, StreamingChatModel
from functions.query.retrieval.passages import Passage
from functions.query.understanding.phrases import read, small_words
from functions.query.understanding.question import without_answer_form
from functions.query.writing.asked import Asked
from functions.query.writing.drafts import DraftReader
from functions.query.writing.extractive import MAX_ALIKE, Extract, extract, told_whole
from functions.query.writing.localization import (
    Refusal,
    is_remark,
    not_mentioned_text,
    refusal_text,
    says_it_does_not_know,
    texts_for,
    with_language_note,
)
from functions.query.writing.named_items import absent_items
from functions.query.writing.premises import missing_words, names_what_is_missing
from functions.query.writing.prompting import NO_PREFERENCES, Preferences, grounded_messages, prompt_hash
from functions.query.writing.selected_rows import asks_for_limit, asks_which_not, which_are_counted
from functions.query.writing.table_units import without_unit
from functions.query.writing.worked_out import calculation, counted_list, counted_rows, part_claims
from shared.deadline import Deadline
from shared.errors import DependencyError
from shared.models import NO_USAGE, AnswerClaim, Citation, Completion, Message, ModelRequest, Usage
from shared.settings import Settings
from shared.text import SEPARATOR

SAVE_RESERVE_S = 2.0
"""Seconds of the deadline that the model's call leaves for verifying and saving."""


CUT_SHORT = frozenset({"length", "content_filter"})
"""Reasons for stopping with which a model's text is not whole."""


class AskedPart(NamedTuple):
    """A part of a question: what to call it, what was searched for, the numbers of its sources, and if that worked."""

    name: str
    question: str
    sources: Sequence[int]
    available: bool = True


@dataclass(frozen=True, slots=True)
class WritingRequest:
    """What an answer is written from; source n is `sources[n - 1]`.

    `question` was typed, `standalone` was searched for; `language` is the answer's. `summary` covers the conversation
    before `history`. `parts` are the questions that it consists of, if it consists of several.
    `sentences` are what is quoted without a model, if they are chosen already. `inherited` are the words at the end of
    `standalone` that come from the question before this one, if it only replaces a word of that ("and on Sundays?").
    """

    question: str
    standalone: str
    sources: Sequence[Passage]
    history: Sequence[Message] = ()
    language: str = "en"
    preferences: Preferences = NO_PREFERENCES
    summary: str = ""
    parts: Sequence[AskedPart] = ()
    sentences: Sequence[Claim] = ()
    inherited: str = ""


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """The whole answer. Its text is the verified claims, joined, and a sentence at the end if a claim was left out.

    `refusal` says why there is no answer, if there is none; the text is then a fixed sentence. `finish_reason` is the
    provider's, empty without a model. `warnings`: "model_unavailable", "model_refused" (a lasting failure),
    "answer_cut_short", "answer_not_supported" (no claim of the model was shown, so the answer is extractive),
    "check_unavailable", "check_refused". `suggestions` are questions to ask next, as the model wrote them.
    `fates` say what became of each claim, the model's and those of the sources; `prompt_hash` is of what the model was
    sent, empty without one. `doubtful`: without a model, from a document that does not mention much of what is asked.
    `may_be_others`: without a model, rows of a table that are perhaps others than those that are asked for.
    """

    text: str
    citations: Sequence[Citation]
    support: Support
    mode: Literal["generated", "extractive", "refused"]
    claims: Sequence[AnswerClaim] = ()
    refusal: Refusal | None = None
    model: str = ""
    usage: Usage = NO_USAGE
    check_model: str = ""
    check_usage: Usage = NO_USAGE
    finish_reason: str = ""
    warnings: Sequence[str] = ()
    dropped_citations: int = 0
    suggestions: Sequence[str] = ()
    fates: Sequence[ClaimFate] = ()
    prompt_hash: str = ""
    doubtful: bool = False
    may_be_others: bool = False


def write(
    request: WritingRequest,
    *,
    chat: ChatModel | None,
    settings: Settings,
    deadline: Deadline,
    checker: ClaimChecker | None = None,
) -> Iterator[VerifiedClaim | str | WrittenAnswer]:
    """Yield each verified claim, further text if there is any, and the whole answer last.

    With a checker, the first unconfirmed claim and all after it wait for the check. Never raises `DependencyError`.
    """
    if chat is None:
        yield from _extracted(request, settings)
        return
    verifier = _verifier(request, settings)
    reply = _ModelAnswer(chat, request, settings, deadline)
    checking = ClaimChecking(checker, deadline)
    sentences: list[str] = []

    def judged() -> Iterator[JudgedClaim]:
        for claim in reply.claims():
            sentences.append(claim.text)
            if claim.references or not is_remark(claim.text):
                yield from verifier.judge(claim)

    shown: list[VerifiedClaim] = []
    for each in checking.checked(judged()):
        verified = verifier.show(each)
        if verified is not None:
            shown.append(verified)
            yield verified
    answer = WrittenAnswer(
        text=_joined(shown),
        citations=verifier.citations,
        support=verifier.support,
        mode="generated",
        claims=[each.claim for each in shown],
        model=reply.model,
        usage=reply.usage,
        check_model=checking.model,
        check_usage=checking.usage,
        finish_reason=reply.finish_reason,
        warnings=[*reply.warnings, *checking.warnings],
        dropped_citations=verifier.dropped_citations,
        suggestions=reply.suggestions,
        fates=verifier.fates,
        prompt_hash=reply.prompt_hash,
    )
    if shown:
        yield from _complete(answer, request, settings, Chosen(()))
    elif not reply.knows or says_it_does_not_know(sentences):
        answer = replace(answer, support=Support(), dropped_citations=0, fates=())
        yield _refused(answer, "model_does_not_know", request, settings)
    else:
        warnings = answer.warnings if reply.failed else [*answer.warnings, "answer_not_supported"]
        yield from _extracted(request, settings, before=replace(answer, warnings=warnings))


def _joined(claims: Sequence[VerifiedClaim]) -> str:
    return "".join(claim.text for claim in claims)


def _complete(
    answer: WrittenAnswer, request: WritingRequest, settings: Settings, chosen: "Chosen"
) -> Iterator[str | WrittenAnswer]:
    """Yield the answer, after what is to be said about it: what has no answer, a count, and if a claim was left out."""
    texts = texts_for(request.language, settings.default_language)
    notes = [
        (texts.part_not_found if part.available else texts.part_unavailable).format(part=part.name)
        for part in request.parts
        if (not part.sources or part.name in chosen.unanswered)
        and not _names_what(part, [claim.text for claim in answer.claims], request.language)
    ]
    after = [with_language_note(" ".join(notes), request.language)] if notes else []
    after += [texts.counted.format(count=chosen.items)] if chosen.items else []
    after += [texts.first_shown.format(shown=MAX_ALIKE, count=chosen.rows)] if chosen.rows > MAX_ALIKE else []
    after += [texts.left_out] if answer.support.dropped else []
    for note in after:
        yield f"\n\n{note}"
        answer = replace(answer, text=f"{answer.text}\n\n{note}")
    yield answer


def _names_what(part: AskedPart, claims: Sequence[str], language: str) -> bool:
    """Say whether one of the claims names all that a part asks "yes or no" of: "Are phones allowed?"."""
    asked = read(part.name, language)
    if not asked.tokens or asked.tokens[0].folded not in small_words(language).get("help", ()):
        return False
    things = [content_stems(asked.words(each.start, each.stop), language) for each in asked.phrases]
    wanted = [stem for stems in things for stem in stems]
    return bool(wanted) and any(
        all(stem in said or not said.isdisjoint(other_words_of(stem, language)) for stem in wanted)
        for said in (frozenset(content_stems(claim, language)) for claim in claims)
    )


def _refused(answer: WrittenAnswer, kind: Refusal, request: WritingRequest, settings: Settings) -> WrittenAnswer:
    return replace(answer, text=refusal_text(kind, request.language, settings), refusal=kind)


def _missing(question: str, claims: Sequence[Claim], request: WritingRequest) -> Sequence[str]:
    """Return the words of the typed question that the document of the best claim does not mention."""
    if not claims:
        return ()
    return [word for word in missing_words(question, _document_of(claims, request)) if word in request.question]


def _document_of(claims: Sequence[Claim], request: WritingRequest) -> Sequence[Passage]:
    """Return the sources that are of the best claim's document."""
    document = request.sources[claims[0].references[0].source - 1].document_id
    return [source for source in request.sources if source.document_id == document]


def _not_mentioned(
    answer: WrittenAnswer, nearest: Claim, words: Sequence[str], request: WritingRequest, settings: Settings
) -> WrittenAnswer:
    reference = nearest.references[0]
    source = request.sources[reference.source - 1]
    page = source.page_at(source.char_start + source.text.index(reference.quote))
    text = not_mentioned_text(words, source, page, request.language, settings)
    return replace(answer, text=text, mode="extractive", refusal="not_mentioned")


def _extracted(
    request: WritingRequest, settings: Settings, before: WrittenAnswer | None = None
) -> Iterator[VerifiedClaim | str | WrittenAnswer]:
    """Yield the sources' own sentences; `before` is the model's rejected answer, whose cost and findings are kept.

    Sentences that cannot be shown are not counted, because nobody has claimed them. If the sources do not mention what
    the question asks about, or none can be shown (none matches the question, or all are injections), the answer is a
    refusal.
    """
    chosen = choose(request)
    if chosen.missing:
        answer = before or WrittenAnswer("", (), Support(), "extractive")
        yield _not_mentioned(answer, chosen.claims[0], chosen.missing, request, settings)
        return
    verifier = _verifier(request, settings, of_sources=True)
    shown: list[VerifiedClaim] = []
    texts = texts_for(request.language, settings.default_language)
    text, heading = "", f"\n\n{texts.further}"
    opening = texts.left_open if chosen.is_open else texts.none_meets if chosen.none_meets else ""
    for claim in sorted(chosen.claims, key=lambda each: each.further):
        for verified in _checked(claim, request.sources, verifier):
            if opening and not shown:
                text = f"{with_language_note(opening, request.language)}\n\n"
                yield text
            if claim.further and shown and heading:
                yield heading
                text, heading = text + heading, ""
            shown.append(verified)
            text += verified.text
            yield verified
    answer = before or WrittenAnswer("", (), Support(), "extractive")
    support = Support(
        answer.support.claims + len(shown),
        verifier.support.confirmed,
        verifier.support.unconfirmed,
        answer.support.dropped,
        tuple(sorted((*answer.support.flags, *verifier.support.flags))),
    )
    answer = replace(
        answer,
        text=text,
        citations=verifier.citations,
        support=support,
        mode="extractive",
        claims=[each.claim for each in shown],
        # Sentences that cannot be shown are no claims of anybody's.
        fates=(*answer.fates, *(each for each in verifier.fates if each.shown)),
        doubtful=chosen.doubtful,
        may_be_others=chosen.may_be_others,
    )
    if shown:
        yield from _complete(answer, request, settings, chosen)
    else:
        yield _refused(answer, "nothing_proven", request, settings)


def _checked(claim: Claim, sources: Sequence[Passage], verifier: Verifier) -> Iterator[VerifiedClaim]:
    """Yield the sentences of a claim that are shown.

    A row that is not confirmed with the unit of its table is told without; one whose cells alone are refuted, whole.
    """
    judged = list(verifier.judge(claim))
    if any(each.judgement.verdict is not Verdict.CONFIRMED for each in judged):
        plain = without_unit(claim, sources)
        judged = judged if plain == claim else list(verifier.judge(plain))
    if any(each.judgement.verdict is Verdict.REFUTED for each in judged):
        whole = told_whole(claim, sources)
        judged = judged if whole == claim else list(verifier.judge(whole))
    yield from filter(None, map(verifier.show, judged))


class Chosen(NamedTuple):
    """What is quoted without a model; words that its document does not mention; names of parts without a sentence.

    `items` counts the list that answers, if the question asks how many; `rows` those of a table that are the list.
    `doubtful`: the document does not mention much of what the question names, or no item of that number.
    `is_open`: the answer only tells what was put forward or planned where it is asked whether something has come about.
    `none_meets`: no row of a table meets the question's condition, and these come nearest. `may_be_others`: they are
    perhaps others than those that are asked for.
    """

    claims: Sequence[Claim]
    missing: Sequence[str] = ()
    unanswered: frozenset[str] = frozenset()
    items: int = 0
    rows: int = 0
    doubtful: bool = False
    may_be_others: bool = False
    is_open: bool = False
    none_meets: bool = False


def choose(request: WritingRequest) -> Chosen:
    """Choose the numbered part asked for, what can be worked out, or sentences: for each part, or the whole."""
    if request.sentences:
        # What a price or another such figure of a row is of, its label alone tells: another thing's is near, too.
        is_figure = bool(Asked.of(request.standalone).needed)
        are_rows = is_figure and all(SEPARATOR in each.references[0].quote for each in request.sentences)
        return Chosen(request.sentences, _missing(request.standalone, request.sentences, request) if are_rows else ())
    if numbered := part_claims(request.standalone, request.sources):
        return Chosen(numbered)
    calculated = calculation(request.standalone, request.sources)
    if calculated is not None:
        return Chosen([calculated])
    counted = counted_list(request.standalone, request.sources) or counted_rows(
        without_answer_form(request.standalone, request.language), request.sources
    )
    if counted is not None:
        return Chosen([counted.claim], items=counted.items)
    claims: dict[str, Claim] = {}
    unanswered = set()
    may_be_others = False
    for part in request.parts:
        found = _extract_of(part.question, part.sources, request)
        of_part = found.claims
        if not part.sources and not _names_what(part, [*claims], request.language):
            # Nothing was near it, but what was found for another part may speak of it.
            others = _extract_of(part.question, range(1, len(request.sources) + 1), request).claims
            of_part = [each for each in others if _names_what(part, [each.text], request.language)][:1]
        if not of_part or _missing(part.question, of_part, request):
            unanswered.add(part.name)
        else:
            may_be_others |= found.may_be_others
            for claim in of_part:
                # What stands beside the answer to one part may answer another.
                if claim.text not in claims or claims[claim.text].further:
                    claims[claim.text] = claim
    if claims:
        return Chosen(list(claims.values()), unanswered=frozenset(unanswered), may_be_others=may_be_others)
    question = without_answer_form(request.standalone, request.language)
    before = next((each.content for each in reversed(request.history) if each.role == "user"), "")
    found = extract(question, request.sources, before=before, inherited=request.inherited)
    whole, rows, is_open = found.claims, found.rows, found.is_open
    if found.selected:
        items = rows if which_are_counted(question) else 0
        return Chosen(whole, rows=rows, items=items, none_meets=found.none_meets)
    missing = _missing(question, whole, request)
    if missing:  # the best passage's document may hold the words, and say the rest in others
        document = request.sources[0].document_id
        numbers = [number for number, source in enumerate(request.sources, 1) if source.document_id == document]
        of_best = _extract_of(question, numbers, request)
        if of_best.claims and not _missing(question, of_best.claims, request):
            found, whole, missing, rows, is_open = of_best, of_best.claims, (), 0, False
    doubtful = bool(whole) and (
        is_open
        or asks_which_not(question)
        or names_what_is_missing(question, _document_of(whole, request))
        or bool(absent_items(question, request.sources, is_verdict=False))
    )
    may_be_others = bool(whole) and (found.may_be_others or asks_for_limit(question))
    return Chosen(whole, missing, rows=rows, doubtful=doubtful, may_be_others=may_be_others, is_open=is_open)


def _extract_of(question: str, numbers: Sequence[int], request: WritingRequest) -> Extract:
    """Return what answers a question from the sources with these numbers alone."""
    found = extract(question, [request.sources[number - 1] for number in numbers])
    claims = [
        replace(claim, references=[replace(each, source=numbers[each.source - 1]) for each in claim.references])
        for claim in found.claims
    ]
    return found._replace(claims=claims)


def _verifier(request: WritingRequest, settings: Settings, *, of_sources: bool = False) -> Verifier:
    """Return a verifier in the answer's language; with `of_sources`, in the sources' language."""
    spoken = next((each.language for each in request.sources if each.language), "") if of_sources else ""
    return Verifier(
        request.sources,
        question=request.question,
        language=spoken or request.language,
        mark=texts_for(request.language, settings.default_language).unconfirmed,
        strict=settings.grounding == "strict",
        quotes=of_sources,
    )


@dataclass
class _ModelAnswer:
    """One answer of the model. The fields with defaults are complete after the last of its claims."""

    chat: ChatModel
    request: WritingRequest
    settings: Settings
    deadline: Deadline
    model: str = ""
    usage: Usage = NO_USAGE
    finish_reason: str = ""
    warnings: list[str] = field(default_factory=list)
    knows: bool = True
    failed: bool = False
    shown: int = 0
    suggestions: Sequence[str] = ()
    prompt_hash: str = ""

    def claims(self) -> Iterator[Claim]:
        """Yield the claims in order, each as soon as it is complete."""
        reader = DraftReader()
        whole = None
        try:
            for piece in self._pieces():
                if isinstance(piece, Completion):
                    whole = piece
                    break
                yield from self._counted(reader.more(piece))
        except DependencyError as error:
            # The claims so far are an answer, cut short; without any, the answer is extractive.
            self.failed, self.usage = True, error.usage
            yield from self._counted(reader.rest(cut=True))
            self.warnings.append("answer_cut_short" if self.shown else error.warning_about("model"))
        if whole is not None:
            self.model, self.usage, self.finish_reason = whole.model, whole.usage, whole.finish_reason
            cut = whole.finish_reason in CUT_SHORT
            self.warnings += ["answer_cut_short"] if cut else []
            yield from self._counted(reader.rest(whole.text, cut=cut))
        self.knows, self.suggestions = reader.answered, reader.suggestions

    def _counted(self, claims: Sequence[Claim]) -> Iterator[Claim]:
        self.shown += len(claims)
        yield from claims

    def _pieces(self) -> Iterator[str | Completion]:
        request, settings = self.request, self.settings
        messages = grounded_messages(
            request.question,
            request.sources,
            request.history,
            language=request.language,
            default_language=settings.default_language,
            searched=request.standalone,
            structured=settings.chat_structured,
            suggesting=settings.suggestions > 0,
            preferences=request.preferences,
            summary=request.summary,
        )
        self.prompt_hash = prompt_hash(messages, self._format())
        call = self.chat.stream if isinstance(self.chat, StreamingChatModel) else self.chat.complete
        reply = call(
            ModelRequest(messages, settings.max_output_tokens, settings.temperature, self._format()),
            timeout_s=self.deadline.cut("chat", self.deadline.left(), reserve_s=SAVE_RESERVE_S),
        )
        yield from [reply] if isinstance(reply, Completion) else reply

    def _format(self) -> Mapping[str, object] | None:
        if not self.settings.chat_structured:
            return None
        return RESPONSE_FORMAT_WITH_SUGGESTIONS if self.settings.suggestions else RESPONSE_FORMAT
