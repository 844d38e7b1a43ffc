"""From the typed question to the one that is searched for.

normalise → leave out greetings → rewrite as standalone (by the model, else by a heuristic) → in session mode, add the
session → apply the glossary
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from functions.query.ports import ChatModel, GlossarySource
from functions.query.retrieval.search import QueryVariant
from functions.query.understanding.completing import completed, is_fragment, taken_over
from functions.query.understanding.glossary import NO_GLOSSARY, GlossaryInvalid, apply_glossary
from functions.query.understanding.model_rewriting import Rewrite, rewrite_with_model
from functions.query.understanding.parts import may_have_parts, parts_of
from functions.query.understanding.pointing import points_back, salient_terms, together
from functions.query.understanding.question import (
    QueryMode,
    QuestionPart,
    Understood,
    normalized,
    shortened,
    without_contractions,
)
from functions.query.understanding.spelling import corrected, question_words
from functions.query.understanding.talk import without_courtesies
from functions.query.understanding.vocabulary import field_variants
from shared.deadline import Deadline
from shared.errors import DependencyError
from shared.language import language_of, language_of_question
from shared.models import Message
from shared.settings import Settings
from shared.telemetry import logger

MAX_CHARACTERS = 4_000
"""Characters that are searched for at most: OpenAI's embedding models read 8,191 tokens."""
MODEL_TYPED_SHARE = 0.2
"""Share of the search that the typed question keeps beside the model's rewrite, in case the rewrite is wrong."""
MODEL_VARIANT_SHARE = 0.1
TYPED_SHARE = 0.4
"""The same beside the heuristic's. 0.3 to 0.5 are equally good on MTRAG, 0 is worse."""
SESSION_SHARE = 0.6
"""Share of the session in session mode. As the only query, the session finds as much on MTRAG, but 11 % of the
answerable questions are refused instead of 3 %: no passage is about the whole session."""
SESSION_CHARACTERS = 2_000
"""Latest characters of a session that are searched for: about as many as an embedding model represents well."""
MIN_STANDALONE_SHARE = 0.4
LEAST_TO_SPLIT_S = 15.0
"""Seconds left from which a model is asked for a question's parts; with less, the rule must do."""


def understand(
    text: str,
    history: Sequence[Message],
    *,
    tenant: str,
    chat: ChatModel | None,
    glossary: GlossarySource | None,
    settings: Settings,
    deadline: Deadline,
    mode: QueryMode = "question",
    language: str = "",
) -> Understood:
    """Make a question searchable. Never raises `DependencyError`: `warnings` names what was skipped.

    `history` is the conversation's last messages, oldest first. `language` is the one that the request names, if any;
    it is only used if the question's own is not recognised.
    """
    question = normalized(text)
    spoken = language_of_question(question) or _language_before(history)
    plain, words = _plain(question, spoken)
    understood = Understood(question, shortened(plain, MAX_CHARACTERS), language=spoken, respelt=tuple(words.items()))
    if mode == "session":
        understood = _with_session(_by_heuristic(understood, history), history)
    elif history:
        understood = _standalone(understood, history, chat, settings, deadline)
    elif (
        chat is not None
        and deadline.left() >= LEAST_TO_SPLIT_S
        and may_have_parts(understood.standalone, understood.language)
    ):
        understood = _split_by_model(understood, chat, settings, deadline)
    understood = _with_glossary(understood, glossary, tenant, language)
    terms = field_variants(understood.standalone, understood.language or language)
    understood = replace(understood, variants=(*understood.variants, *terms))
    if mode != "session" and not understood.split_by:
        understood = _with_parts(understood, history)
    # The session is searched for even if variants are turned off.
    return replace(understood, variants=_bounded(understood, max(settings.query_variations, mode == "session")))


def _plain(question: str, language: str) -> tuple[str, Mapping[str, str]]:
    """Return a typed question without greetings and thanks and, in English, without contractions.

    Its misspelt question words are corrected; they are returned, too.
    """
    bare = without_courtesies(question)
    words = question_words(bare) if language == "en" else {}
    bare = corrected(bare, words) if words else bare
    return (without_contractions(bare) if language in {"", "en"} else bare), words


def _language_before(history: Sequence[Message]) -> str:
    """Return the language of the user's last question with a recognised language: "10-K?" has none of its own."""
    languages = (language_of(message.content) for message in reversed(history) if message.role == "user")
    return next(filter(None, languages), "")


def _standalone(
    understood: Understood, history: Sequence[Message], chat: ChatModel | None, settings: Settings, deadline: Deadline
) -> Understood:
    """Rewrite by the model, or by the heuristic if there is no model or it fails."""
    if chat is None:
        return _by_heuristic(understood, history)
    try:
        rewrite = rewrite_with_model(understood.standalone, history, chat=chat, settings=settings, deadline=deadline)
    except DependencyError as error:
        warnings = (error.warning_about("rewrite"),)
        return _by_heuristic(replace(understood, usage=error.usage, warnings=warnings), history)
    understood = replace(understood, model=rewrite.model, usage=rewrite.usage)
    if not rewrite.question:
        return _by_heuristic(replace(understood, warnings=("rewrite_unusable",)), history)
    understood = _with_model_parts(replace(understood, language=understood.language or rewrite.language), rewrite)
    variants = [QueryVariant(text, MODEL_VARIANT_SHARE) for text in rewrite.variations]
    return _rewritten(understood, rewrite.question, "model", MODEL_TYPED_SHARE, variants)


def _split_by_model(understood: Understood, chat: ChatModel, settings: Settings, deadline: Deadline) -> Understood:
    """Have the model split a question that stands alone; by rule if it fails."""
    try:
        rewrite = rewrite_with_model(understood.standalone, (), chat=chat, settings=settings, deadline=deadline)
    except DependencyError as error:
        return replace(understood, usage=error.usage, warnings=(error.warning_about("rewrite"),))
    return _with_model_parts(replace(understood, model=rewrite.model, usage=rewrite.usage), rewrite)


def _with_model_parts(understood: Understood, rewrite: Rewrite) -> Understood:
    """Add the parts that the model has given, or its word that there are none."""
    if rewrite.parts is None:
        return understood
    parts = tuple(QuestionPart(part.rstrip(" .!"), part) for part in rewrite.parts)
    return replace(understood, parts=parts, split_by="model")


def _by_heuristic(understood: Understood, history: Sequence[Message]) -> Understood:
    text, inherited = rewritten_by_rule(understood.standalone, history, understood.language)
    return _rewritten(replace(understood, inherited=inherited), text, "heuristic", TYPED_SHARE)


def rewritten_by_rule(question: str, history: Sequence[Message], language: str) -> tuple[str, str]:
    """Return a question that needs no conversation, and the words of it that were taken over from the conversation."""
    spoken = language or "en"
    text = completed(question, _asked_in(history, spoken), spoken, salient_terms(question, history, spoken))
    if text:
        return text, taken_over(question, text, spoken)
    inherited = inherited_words(question, history, language)
    return _with_inherited(question, inherited), inherited


def inherited_words(question: str, history: Sequence[Message], language: str = "") -> str:
    """Return the words that the question needs from the conversation, empty if it needs none."""
    spoken = language or "en"
    if not history or not (points_back(question, language) or is_fragment(question, spoken)):
        return ""
    return together(salient_terms(question, history, language), history, language)


def _with_inherited(question: str, inherited: str) -> str:
    """Return the question with the words that it takes over, if any, in brackets behind it."""
    return f"{question} ({inherited})" if inherited else question


def _asked_in(history: Sequence[Message], language: str) -> Sequence[str]:
    """Return the user's questions in a language, oldest first, as they were completed when they were answered."""
    asked: list[str] = []
    for message in history:
        whole = str(message.details.get("rewritten") or "")
        if message.role == "user":
            asked.append(normalized(message.content))
        elif asked and whole and not whole.endswith(")"):
            asked[-1] = whole
    return [text for text in asked if language_of(text) in {"", language}]


def _rewritten(
    understood: Understood,
    text: str,
    by: Literal["heuristic", "model"],
    typed_share: float,
    variants: Sequence[QueryVariant] = (),
) -> Understood:
    """Search for `text` and its `variants`; the typed question becomes a variant with `typed_share`."""
    text = shortened(normalized(text), MAX_CHARACTERS)
    if text == understood.standalone:
        return replace(understood, variants=tuple(variants))
    typed = QueryVariant(understood.standalone, typed_share)
    return replace(understood, standalone=text, variants=(typed, *variants), rewritten_by=by)


def _with_parts(understood: Understood, history: Sequence[Message]) -> Understood:
    """Add the parts of the question by rule, each understandable without the others and the conversation."""
    by_heuristic = understood.standalone.endswith(f"({understood.inherited})")
    whole = _plain(understood.question, understood.language)[0] if by_heuristic else understood.standalone
    said = [*history] if by_heuristic else []
    parts: list[QuestionPart] = []
    for part in parts_of(whole, understood.language):
        inherited = inherited_words(part.question, said, understood.language)
        parts.append(QuestionPart(part.name, _with_inherited(part.question, inherited), inherited))
        said.append(Message("", "user", part.question, ""))
    return replace(understood, parts=tuple(parts), split_by="rule")


def _with_session(understood: Understood, history: Sequence[Message]) -> Understood:
    """Add the whole session as a variant; decision and ranking still use the question."""
    session = QueryVariant(whole_session(understood.standalone, history), SESSION_SHARE)
    others = (each._replace(weight=each.weight * (1 - SESSION_SHARE)) for each in understood.variants)
    return replace(understood, variants=(session, *others))


def whole_session(question: str, history: Sequence[Message]) -> str:
    """Return the user's messages, the question last; the oldest are left out beyond `SESSION_CHARACTERS`."""
    text = question
    for message in reversed(history):
        if message.role == "user":
            earlier = normalized(message.content)
            if len(earlier) + 1 + len(text) > SESSION_CHARACTERS:
                break
            text = f"{earlier} {text}"
    return text


def _with_glossary(
    understood: Understood, source: GlossarySource | None, tenant: str, default_language: str
) -> Understood:
    """Apply the tenant's glossary, its variants before the model's. A glossary that fails is skipped with a warning."""
    if source is None:
        return understood
    try:
        glossary = source.of(tenant)
    except DependencyError as error:
        logger.warning("glossary not read", extra={"code": error.code})
        return replace(understood, warnings=(*understood.warnings, "glossary_unavailable"))
    except GlossaryInvalid as error:
        # Only the number, because the log must not hold the tenant's texts: `glossary check` shows the mistakes.
        logger.warning("glossary not valid", extra={"mistakes": len(str(error).splitlines())})
        return replace(understood, warnings=(*understood.warnings, "glossary_invalid"))
    if glossary is NO_GLOSSARY:
        return understood
    applied = apply_glossary(glossary, understood.standalone, understood.language or default_language)
    variants = list(applied.variants)
    standalone = shortened(normalized(applied.question), MAX_CHARACTERS)
    if standalone != understood.standalone:
        # The documents may contain the typed spelling after all.
        variants.insert(0, QueryVariant(understood.standalone, MODEL_TYPED_SHARE))
    typed = [each for each in understood.variants if each.text == understood.question]
    rest = [each for each in understood.variants if each.text != understood.question]
    return replace(
        understood,
        standalone=standalone,
        variants=(*typed, *variants, *rest),
        filter=applied.filter,
        boosts=applied.boosts,
    )


def _bounded(understood: Understood, most: int) -> tuple[QueryVariant, ...]:
    """Keep the first `most` variants, each text once, and at least `MIN_STANDALONE_SHARE` for the question itself."""
    kept = {understood.standalone: 0.0}
    for variant in understood.variants:
        text = shortened(normalized(variant.text), MAX_CHARACTERS)
        if text and len(kept) <= most:
            kept.setdefault(text, variant.weight)
    del kept[understood.standalone]
    total = sum(kept.values())
    scale = min(1.0, (1 - MIN_STANDALONE_SHARE) / total) if total else 1.0
    return tuple(QueryVariant(text, round(weight * scale, 4)) for text, weight in kept.items())
