"""From what was typed to the question that is searched for.

normalise → stand alone (by the model, else by the heuristic) → the whole session, if asked for → the tenant's glossary
"""

from collections.abc import Sequence
from dataclasses import replace

from functions.query.deadline import Deadline
from functions.query.understanding.asked_language import language_of
from functions.query.understanding.followups import TYPED_SHARE, standalone_question, whole_session
from functions.query.understanding.glossary import NO_GLOSSARY, Glossary, GlossaryInvalid, GlossarySource
from functions.query.understanding.glossary_matching import Applied, applied
from functions.query.understanding.model_rewriting import Rewrite, rewritten
from functions.query.understanding.normalization import normalized, shortened
from functions.query.understanding.understood import Boost, QueryMode, Understood, Variation
from shared.errors import DependencyError
from shared.models import Message
from shared.ports import ChatModel
from shared.settings import Settings
from shared.telemetry import logger

__all__ = ["Boost", "QueryMode", "Understood", "Variation", "normalized", "standalone_question", "understand"]

MOST_CHARACTERS = 4_000
"""Characters that are searched for at most: about what the embedding models of the day read (8,191 tokens)."""
MODEL_TYPED_SHARE = 0.2
"""Share of the search that the question as typed keeps beside the model's rewrite, in case that is wrong."""
MODEL_VARIATION_SHARE = 0.1
SESSION_SHARE = 0.6
"""Share of the search that the whole session gets where that is asked for. As the only query it finds as much on MTRAG,
but refuses 11 % of what can be answered instead of 3 %: no passage says all that was asked."""
LEAST_STANDALONE_SHARE = 0.4


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
    """Return what is asked, made searchable. Raises no `DependencyError`: `warnings` says what was done without.

    `history` is the conversation's last messages, oldest first. `language` is the one that was asked for, if any; it is
    only used where the question's own cannot be told.
    """
    question = normalized(text)
    spoken = language_of(question) or _spoken_before(history)
    understood = Understood(question, shortened(question, MOST_CHARACTERS), language=spoken)
    if mode == "session":
        understood = _with_session(_standing_alone(understood, history, None, settings, deadline), history)
    elif history:
        understood = _standing_alone(understood, history, chat, settings, deadline)
    known, warnings = _glossary(glossary, tenant)
    if known is not NO_GLOSSARY:
        understood = _named(understood, applied(known, understood.standalone, understood.language or language))
    return replace(
        understood,
        # The session is what was asked for, not one of the wordings that can be turned off.
        variations=_bounded(understood, max(settings.query_variations, mode == "session")),
        warnings=(*understood.warnings, *warnings),
    )


def _standing_alone(
    understood: Understood, history: Sequence[Message], chat: ChatModel | None, settings: Settings, deadline: Deadline
) -> Understood:
    given = None
    if chat is not None:
        try:
            given = rewritten(understood.standalone, history, chat=chat, settings=settings, deadline=deadline)
        except DependencyError:
            understood = replace(understood, warnings=("rewrite_unavailable",))
        else:
            understood = replace(understood, model=given.model, usage=given.usage)
            if not given.question:
                understood = replace(understood, warnings=("rewrite_unusable",))
    if given is None or not given.question:
        text = standalone_question(understood.standalone, history, understood.language)
        return _weighed(understood, text, [], TYPED_SHARE)
    return _by_model(understood, given)


def _with_session(understood: Understood, history: Sequence[Message]) -> Understood:
    """Search for all that was asked, too; the question stays what is decided and ranked by."""
    session = Variation(whole_session(understood.standalone, history), SESSION_SHARE)
    others = (each._replace(weight=each.weight * (1 - SESSION_SHARE)) for each in understood.variations)
    return replace(understood, variations=(session, *others))


def _by_model(understood: Understood, given: Rewrite) -> Understood:
    others = [Variation(text, MODEL_VARIATION_SHARE) for text in given.variations]
    understood = replace(understood, language=understood.language or given.language)
    return _weighed(understood, given.question, others, MODEL_TYPED_SHARE, "model")


def _weighed(
    understood: Understood, text: str, others: Sequence[Variation], typed_share: float, by: str = "heuristic"
) -> Understood:
    """Search for `text` instead; what was typed keeps its share."""
    text = shortened(normalized(text), MOST_CHARACTERS)
    if text == understood.standalone:
        return replace(understood, variations=tuple(others))
    return replace(
        understood,
        standalone=text,
        variations=(Variation(understood.standalone, typed_share), *others),
        rewritten_by="model" if by == "model" else "heuristic",
    )


def _named(understood: Understood, glossary: Applied) -> Understood:
    """Take over what the glossary makes of the question; its variations come before those of the model."""
    variations = list(glossary.variations)
    standalone = shortened(normalized(glossary.question), MOST_CHARACTERS)
    if standalone != understood.standalone:
        # The spelling as typed may stand in the documents after all.
        variations.insert(0, Variation(understood.standalone, MODEL_TYPED_SHARE))
    typed = [each for each in understood.variations if each.text == understood.question]
    rest = [each for each in understood.variations if each.text != understood.question]
    return replace(
        understood,
        standalone=standalone,
        variations=(*typed, *variations, *rest),
        filter=glossary.filter,
        boosts=glossary.boosts,
    )


def _bounded(understood: Understood, most: int) -> tuple[Variation, ...]:
    """Keep the first variations, each text once, and leave the question itself a fair share."""
    kept = {understood.standalone: 0.0}
    for text, weight in understood.variations:
        text = shortened(normalized(text), MOST_CHARACTERS)
        if text and len(kept) <= most:
            kept.setdefault(text, weight)
    del kept[understood.standalone]
    total = sum(kept.values())
    scale = min(1.0, (1 - LEAST_STANDALONE_SHARE) / total) if total else 1.0
    return tuple(Variation(text, round(weight * scale, 4)) for text, weight in kept.items())


def _glossary(source: GlossarySource | None, tenant: str) -> tuple[Glossary, tuple[str, ...]]:
    if source is None:
        return NO_GLOSSARY, ()
    try:
        return source.of(tenant), ()
    except DependencyError as error:
        logger.warning("glossary not read", extra={"code": error.code})
        return NO_GLOSSARY, ("glossary_unavailable",)
    except GlossaryInvalid as error:
        # The first mistake only, and without what was written there: `glossary check` shows all of it.
        logger.warning("glossary not valid", extra={"mistakes": len(str(error).splitlines())})
        return NO_GLOSSARY, ("glossary_invalid",)


def _spoken_before(history: Sequence[Message]) -> str:
    """Return the language of the person's last question that tells its language: "10-K?" goes on in it."""
    told = (language_of(message.content) for message in reversed(history) if message.role == "user")
    return next((language for language in told if language), "")
