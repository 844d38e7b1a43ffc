"""The prompt: rules, the conversation, numbered and fenced sources, preferences, the question.

The rules are reviewed files: `texts/system_prompt.txt`, then `texts/form_claims.txt` (with suggestions also
`texts/form_suggestions.txt`) or `texts/form_markers.txt`. They are the same for every question, and stand first, so
that a provider's prompt cache keeps them.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache

from functions.query.grounding.sanitizing import INVISIBLE, plain, without_markers
from functions.query.retrieval.passages import Passage
from functions.query.understanding.question import reviewed_text
from functions.query.writing.localization import language_name
from shared.models import ChatMessage, Message

PROMPT_VERSION = "2026-11-26"
"""Raise this when a word of the prompt or of its schema changes: answers are logged, stored and cached with it."""
FENCES = ("source", "summary", "preferences", "question")
_FENCE = re.compile(rf"[<＜‹〈⟨](?=\s*[/／\\]?\s*(?:{'|'.join(FENCES)})\b)", re.IGNORECASE)
_HISTORY_CHARACTERS = 2_000
"""Characters of an earlier message in the prompt: an answer's gist is at its beginning."""
MAX_PREFERENCE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Preferences:
    """How the user wants the answer written: a few words each, 200 characters at most. They never change facts."""

    tone: str = ""
    style: str = ""
    twist: str = ""
    language: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str | None]) -> "Preferences":
        """Read a request's preferences: known names only, one line each, cut to length."""
        known = {field.name for field in fields(cls)}
        return cls(
            **{
                name: " ".join(INVISIBLE.sub(" ", value).split())[:MAX_PREFERENCE_CHARACTERS]
                for name, value in given.items()
                if name in known and value
            }
        )


NO_PREFERENCES = Preferences()


def within_budget(passages: Sequence[Passage], budget_tokens: int) -> Sequence[Passage]:
    """Keep the best passages that fit the budget by their stored token counts; the first is always kept."""
    kept: list[Passage] = []
    used = 0
    for passage in passages:
        if kept and used + passage.token_count > budget_tokens:
            break
        kept.append(passage)
        used += passage.token_count
    return kept


def grounded_messages(
    question: str,
    passages: Sequence[Passage],
    history: Sequence[Message] = (),
    *,
    language: str,
    default_language: str,
    searched: str = "",
    structured: bool = False,
    suggesting: bool = False,
    preferences: Preferences = NO_PREFERENCES,
    summary: str = "",
) -> Sequence[ChatMessage]:
    """Build the whole prompt: passage `i` is source `i + 1`.

    `searched` is the question that was searched for, if it differs: it resolves pronouns. `structured` requests claims
    with quotes as JSON, and with `suggesting` questions to ask next; otherwise sentences with markers. `summary` covers
    the conversation before `history`.
    """
    sources = "\n\n".join(_source(number, passage) for number, passage in enumerate(passages, start=1))
    meant = f"\n(Searched for as: {_escaped(searched)})" if searched and searched != question else ""
    parts = (
        f"<summary>\n{_escaped(without_markers(summary))}\n</summary>" if summary else "",
        sources,
        _preferences(preferences),
        f"Answer in {language_name(language, default_language)}.\nQuestion: {_escaped(question)}{meant}",
    )
    return [
        ChatMessage("system", _rules(structured=structured, suggesting=suggesting)),
        # Source numbers in earlier answers mean other sources.
        *(
            # A person's answer is, to the model, an answer like its own.
            ChatMessage(
                "user" if turn.role == "user" else "assistant", without_markers(turn.content[:_HISTORY_CHARACTERS])
            )
            for turn in history
        ),
        ChatMessage("user", "\n\n".join(filter(None, parts))),
    ]


def prompt_hash(messages: Sequence[ChatMessage], form: Mapping[str, object] | None) -> str:
    """Return 32 hex digits that tell one prompt, with the form that is asked for, from another."""
    digest = hashlib.sha256(json.dumps(form, sort_keys=True).encode())
    for message in messages:
        for text in (message.role, message.content):
            digest.update(len(text).to_bytes(8))
            digest.update(text.encode(errors="surrogatepass"))
    return digest.hexdigest()[:32]


@cache
def _rules(*, structured: bool, suggesting: bool) -> str:
    files = ["system_prompt.txt", "form_claims.txt" if structured else "form_markers.txt"]
    files += ["form_suggestions.txt"] * (structured and suggesting)
    return "\n\n".join(map(reviewed_text, files))


def _source(number: int, passage: Passage) -> str:
    page = f' page="{_attribute(passage.page_label or str(passage.page_start))}"' if passage.page_start else ""
    section = f' section="{_attribute(passage.section)}"' if passage.section else ""
    above = " / ".join(passage.table.split("\n"))
    table = f' table="{_attribute(above)}"' if above else ""
    said = f' described_by="{_attribute(passage.described_by)}"' if passage.described_by else ""
    text = _escaped(without_markers(plain(passage.text)))
    return f'<source n="{number}" title="{_attribute(passage.title)}"{page}{section}{table}{said}>\n{text}\n</source>'


def _preferences(preferences: Preferences) -> str:
    named = {"tone": preferences.tone, "style": preferences.style, "twist": preferences.twist}
    lines = [f"- {name}: {_attribute(text)}" for name, text in named.items() if text]
    if not lines:
        return ""
    return "\n".join(["<preferences>", *lines, "</preferences>"])


def _escaped(text: str) -> str:
    """Keep text from closing its fence or opening another."""
    return _FENCE.sub("&lt;", text)


def _attribute(text: str) -> str:
    return _escaped(without_markers(plain(text))).replace('"', "'").replace("\n", " ").replace(">", "&gt;")
