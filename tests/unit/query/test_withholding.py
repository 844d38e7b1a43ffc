"""What stands in place of an answer that is not shown: why, in the answer's own language."""

from unittest.mock import Mock

import pytest

from functions.query.withholding import readable_messages
from functions.query.writing.localization import languages, texts_for
from shared.erasures import ERASED_ANSWER
from shared.models import Citation, Message, SourceType

CITED = Citation(1, "d" * 32, "Wages", SourceType.PDF, 1, 1, "1", "", "7,310 euros", 0, 11, 0.9)
AT = "2026-11-23T00:00:00+00:00"


def shown(message: Message, hidden: set[str]) -> Message:
    registry = Mock()
    registry.unreadable.return_value = hidden
    (one,) = readable_messages("acme", [message], registry)
    return one


@pytest.mark.parametrize("language", sorted(languages()))
def test_a_withheld_answer_says_so_in_its_language(language: str) -> None:
    details = {"mode": "generated", "language": language, "rewritten": "7,310?"}
    one = shown(Message("m", "assistant", "7,310 euros.", AT, (CITED,), details), {"d" * 32})
    assert (one.content, one.citations) == (texts_for(language).withheld, ())
    assert one.details == {"mode": "generated", "withheld": True}


def test_an_answer_of_an_earlier_release_tells_its_language_by_its_text() -> None:
    text = "Uosto locmano mėnesinis atlyginimas yra 7 310 eurų, jis mokamas paskutinę darbo dieną."
    one = shown(Message("m", "assistant", text, AT, (CITED,), {"mode": "generated"}), {"d" * 32})
    assert one.content == texts_for("lt").withheld


@pytest.mark.parametrize("language", sorted(languages()))
def test_an_erased_answer_says_so_in_its_language(language: str) -> None:
    gone = {"mode": "generated", "language": language, "erased": "document"}
    assert (
        shown(Message("m", "assistant", ERASED_ANSWER, AT, details=gone), set()).content == texts_for(language).erased
    )


def test_each_language_says_it_in_its_own_words() -> None:
    assert len({texts_for(each).withheld for each in languages()}) == len(languages())
    assert len({texts_for(each).erased for each in languages()}) == len(languages())
    assert texts_for("en").erased == ERASED_ANSWER, "what is stored"
