"""From what was typed to the question that is searched for.

normalise → make it stand alone (by the model, else by a heuristic) → add the session, in that mode → apply the glossary
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from functions.query.ports import ChatModel, GlossarySource
from functions.query.retrieval.search import QueryVariant
from functions.query.understanding.glossary import NO_GLOSSARY, GlossaryInvalid, apply_glossary
from functions.query.understanding.model_rewriting import rewrite_with_model
from functions.query.understanding.question import QueryMode, Understood, normalized, shortened
from shared import lexical
from shared.deadline import Deadline
from shared.errors import DependencyError
from shared.language import language_of
from shared.models import Message
from shared.settings import Settings
from shared.telemetry import logger

MAX_CHARACTERS = 4_000
"""Characters that are searched for at most: about what the embedding models of the day read (8,191 tokens)."""
MODEL_TYPED_SHARE = 0.2
"""Share of the search that the question as typed keeps beside the model's rewrite, in case that is wrong."""
MODEL_VARIANT_SHARE = 0.1
TYPED_SHARE = 0.4
"""The same beside the heuristic's. 0.3 to 0.5 are equally good on MTRAG, 0 is worse."""
SESSION_SHARE = 0.6
"""Share of the search that the session gets in that mode. As the only query it finds as much on MTRAG, but refuses
11 % of what can be answered instead of 3 %: no passage is about all of the session."""
SESSION_CHARACTERS = 2_000
"""Characters of a whole session that are searched for, the latest ones: about what an embedding model reads well."""
MIN_STANDALONE_SHARE = 0.4


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
    """Return the question, made searchable. Raises no `DependencyError`: `warnings` says what was skipped.

    `history` is the conversation's last messages, oldest first. `language` is the one that the request names, if any;
    it is only used where the question's own is not recognised.
    """
    question = normalized(text)
    understood = Understood(
        question, shortened(question, MAX_CHARACTERS), language=language_of(question) or _language_before(history)
    )
    if mode == "session":
        understood = _with_session(_by_heuristic(understood, history), history)
    elif history:
        understood = _standalone(understood, history, chat, settings, deadline)
    understood = _with_glossary(understood, glossary, tenant, language)
    # The session is not one of the variants that can be turned off.
    return replace(understood, variants=_bounded(understood, max(settings.query_variations, mode == "session")))


def _language_before(history: Sequence[Message]) -> str:
    """Return the language of the person's last question that tells its language: "10-K?" goes on in it."""
    languages = (language_of(message.content) for message in reversed(history) if message.role == "user")
    return next(filter(None, languages), "")


def _standalone(
    understood: Understood, history: Sequence[Message], chat: ChatModel | None, settings: Settings, deadline: Deadline
) -> Understood:
    """Rewrite by the model; by the heuristic where there is none, or where it fails."""
    if chat is None:
        return _by_heuristic(understood, history)
    try:
        rewrite = rewrite_with_model(understood.standalone, history, chat=chat, settings=settings, deadline=deadline)
    except DependencyError:
        return _by_heuristic(replace(understood, warnings=("rewrite_unavailable",)), history)
    understood = replace(understood, model=rewrite.model, usage=rewrite.usage)
    if not rewrite.question:
        return _by_heuristic(replace(understood, warnings=("rewrite_unusable",)), history)
    understood = replace(understood, language=understood.language or rewrite.language)
    variants = [QueryVariant(text, MODEL_VARIANT_SHARE) for text in rewrite.variations]
    return _rewritten(understood, rewrite.question, "model", MODEL_TYPED_SHARE, variants)


def _by_heuristic(understood: Understood, history: Sequence[Message]) -> Understood:
    text = standalone_question(understood.standalone, history, understood.language)
    return _rewritten(understood, text, "heuristic", TYPED_SHARE)


def _rewritten(
    understood: Understood,
    text: str,
    by: Literal["heuristic", "model"],
    typed_share: float,
    variants: Sequence[QueryVariant] = (),
) -> Understood:
    """Search for `text` instead, and for its `variants`; what was typed keeps its share."""
    text = shortened(normalized(text), MAX_CHARACTERS)
    if text == understood.standalone:
        return replace(understood, variants=tuple(variants))
    typed = QueryVariant(understood.standalone, typed_share)
    return replace(understood, standalone=text, variants=(typed, *variants), rewritten_by=by)


def _with_session(understood: Understood, history: Sequence[Message]) -> Understood:
    """Search for the whole session, too; the question stays what is decided and ranked by."""
    session = QueryVariant(whole_session(understood.standalone, history), SESSION_SHARE)
    others = (each._replace(weight=each.weight * (1 - SESSION_SHARE)) for each in understood.variants)
    return replace(understood, variants=(session, *others))


def whole_session(question: str, history: Sequence[Message]) -> str:
    """Return all that the person said, the question last; the oldest is left out where it gets too long."""
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
    """Apply the tenant's glossary; its variants come before those of the model. Skipped with a warning if it fails."""
    if source is None:
        return understood
    try:
        glossary = source.of(tenant)
    except DependencyError as error:
        logger.warning("glossary not read", extra={"code": error.code})
        return replace(understood, warnings=(*understood.warnings, "glossary_unavailable"))
    except GlossaryInvalid as error:
        # Only how many there are, because the log must not repeat what it says: `glossary check` shows them.
        logger.warning("glossary not valid", extra={"mistakes": len(str(error).splitlines())})
        return replace(understood, warnings=(*understood.warnings, "glossary_invalid"))
    if glossary is NO_GLOSSARY:
        return understood
    applied = apply_glossary(glossary, understood.standalone, understood.language or default_language)
    variants = list(applied.variants)
    standalone = shortened(normalized(applied.question), MAX_CHARACTERS)
    if standalone != understood.standalone:
        # The spelling as typed may stand in the documents after all.
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
    """Keep the first variants, each text once, and leave the question itself a fair share."""
    kept = {understood.standalone: 0.0}
    for variant in understood.variants:
        text = shortened(normalized(variant.text), MAX_CHARACTERS)
        if text and len(kept) <= most:
            kept.setdefault(text, variant.weight)
    del kept[understood.standalone]
    total = sum(kept.values())
    scale = min(1.0, (1 - MIN_STANDALONE_SHARE) / total) if total else 1.0
    return tuple(QueryVariant(text, round(weight * scale, 4)) for text, weight in kept.items())


# --- The heuristic: which follow-ups need the conversation, and which of its words ---

ADDED_TERMS = 2
MIN_CONTENT = 5.0
"""Rarity, summed over a question's words, under which it says too little to be searched for: about one usual noun."""
ANTECEDENT_CONTENT = 12.0
"""Rarity, summed over the words before a pronoun, from which on it stands for something in the question itself: "How
did the cotton gin change farming when it came?"."""
FEW_WORDS = 3
CONTENT_RARITY = 1.5
"""Rarity from which on a word says anything."""
TELLING_RARITY = 3.0
"""Rarity from which on a word of the conversation tells what it is about."""
ANSWER_SHARE = 0.5
"""A word of an answer counts this much of one of a question."""
DECAY_PER_TURN = 0.7
MESSAGE_CHARACTERS = 600
"""Characters of a message that are read: an answer's subject stands at its beginning."""

_URL = re.compile(r"(?:https?://|www\.)\S+")
_WORD = re.compile(r"[^\W_]+(?:[-'’._/][^\W_]+)*")
_POINTS_BACK = {
    "en": re.compile(
        r"\b(?:its?|itself|they|them|their|theirs|he|him|his|she|her|hers)\b"
        # "this", "that" and the like, but not where they only begin a clause ("that I …", "that is …")
        r"|\b(?:this|that|these|those|such)\b(?!\s+(?:i|you|we|they|he|she|it|is|are|was|can|could|has|have|will|would|may"
        r"|might|must|should|the|a|an|my|your|there)\b)"
        r"|\b(?:is|was|about|of|for|to|with|like|do|does|did|than|by|in|on|from)\s+(?:this|that|these|those)\b",
        re.IGNORECASE,
    ),
    # Without diacritics, because people type without them.
    "lt": re.compile(
        r"\b(?:jis|jo|jam|ji|juo|jame|jos|jai|ja|joje|jie|ju|jiems|juos|jais|juose|joms|jas|jomis|jose"
        r"|tai|to|tam|tuo|tame|tas|ta|tos|toje|tie|tiems|tais|toks|tokia|tokie|tokios|tokio|ten"
        r"|sis|sio|siam|siame|sita|sitas|sito|sioje|sie|sios|pastarasis|pastaroji)\b",
        re.IGNORECASE,
    ),
}


def standalone_question(question: str, history: Sequence[Message], language: str = "") -> str:
    """Return a question that can be searched for on its own; one that needs no help is returned as it is."""
    if not history or not points_back(question, language):
        return question
    return " ".join([question, *salient_terms(question, history, language)])


def points_back(question: str, language: str) -> bool:
    """Say whether the question can hardly be understood without what was said before."""
    pattern = _POINTS_BACK.get(language or "en")
    pronoun = pattern.search(lexical.fold(question)) if pattern else None
    if pronoun and _content(question[: pronoun.start()], language) < ANTECEDENT_CONTENT:
        return True
    if lexical.background(language or "en"):
        return _content(question, language) < MIN_CONTENT
    # Without a table every word looks rare: count them.
    return len(question.split()) < FEW_WORDS


def salient_terms(question: str, history: Sequence[Message], language: str) -> list[str]:
    """Return the words of the conversation that tell best what it is about and that the question does not hold.

    A word weighs its rarity, each time it was said; less in answers, and less the longer ago.
    """
    known = _terms(question, language, 0.0)
    weights: dict[str, float] = {}
    spoken: dict[str, str] = {}
    turn = 0
    for message in reversed(history):
        share = DECAY_PER_TURN**turn * (1.0 if message.role == "user" else ANSWER_SHARE)
        turn += message.role == "user"
        # A refusal says nothing about the subject.
        if message.details.get("no_relevant_info"):
            continue
        for stem, (word, rarity) in _terms(message.content[:MESSAGE_CHARACTERS], language, TELLING_RARITY).items():
            if stem not in known:
                weights[stem] = weights.get(stem, 0.0) + share * rarity
                spoken.setdefault(stem, word)
    return [spoken[stem] for stem in sorted(weights, key=lambda stem: -weights[stem])[:ADDED_TERMS]]


def _content(text: str, language: str) -> float:
    """Return how much a text says: the rarity of its words, summed."""
    return sum(rarity for _, rarity in _terms(text, language, CONTENT_RARITY).values())


def _terms(text: str, language: str, min_rarity: float) -> dict[str, tuple[str, float]]:
    """Map the stems of a text's words that are rare enough, numbers left out, to the word and its rarity."""
    table = lexical.background(language or "en")
    found: dict[str, tuple[str, float]] = {}
    for match in _WORD.finditer(_URL.sub(" ", text)):
        terms = next(lexical.words_of(match.group(), language or "en"), None)
        stem = terms[0][0] if terms else ""
        rarity = table.get(stem, lexical.MAX_RARITY)
        if stem and not stem.isdigit() and rarity >= min_rarity:
            found.setdefault(stem, (match.group(), rarity))
    return found
