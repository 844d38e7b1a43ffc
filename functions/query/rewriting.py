"""From what was typed to the question that is searched for."""

import re
import unicodedata
from collections.abc import Sequence

from shared.models import Message

_SPACES = re.compile(r"\s+")
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad\x00-\x08\x0b-\x1f\x7f]")
_POINTS_BACK = re.compile(
    r"\b(?:it|its|that|this|they|them|their|these|those|he|him|his|she|her|there|then|one|ones|same|such|former|latter|"
    r"jis|jo|jie|jų|ji|jos|tai|to|tas|ta|toks|tokia|ten|šis|ši|tie)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"^(?:and|but|or|so|what about|how about|why|ir|o|bet|kodėl|o kaip)\b", re.IGNORECASE)
_SHORT_WORDS = 4


def normalized(text: str) -> str:
    """Return the text in NFC, single-spaced, without invisible characters: the form that is embedded and cached."""
    return _SPACES.sub(" ", _INVISIBLE.sub("", unicodedata.normalize("NFC", text))).strip()


def standalone_question(question: str, history: Sequence[Message]) -> str:
    """Return a question that can be searched for on its own, without a model.

    A follow-up that points back ("it", "that"), goes on ("and in 2023?") or is very short is put behind the question
    it follows. Anything else is left as it is, because a changed subject must not drag the old one along.
    """
    asked = [message.content for message in history if message.role == "user"]
    if not asked:
        return question
    follows = (
        _POINTS_BACK.search(question) is not None
        or _GOES_ON.match(question) is not None
        or len(question.split()) < _SHORT_WORDS
    )
    return f"{normalized(asked[-1])} {question}" if follows else question
