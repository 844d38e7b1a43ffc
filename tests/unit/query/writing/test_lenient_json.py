"""Nearly JSON is read, what is cut off in its whole parts."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.writing.lenient_json import MAX_DEPTH, read_json

SIMPLE = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    SIMPLE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)


@given(VALUES)
def test_json_is_read_as_it_is(value: Any) -> None:
    text = json.dumps(value)
    assert read_json(text + " and more") == (value, len(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1,}', {"a": 1}),
        ('[{"a": 1}, {"a": 2},]', [{"a": 1}, {"a": 2}]),
        ('[{"a": 1} {"a": 2}]', [{"a": 1}, {"a": 2}]),
        ("{'a': 'it\\'s so', 'b': True, 'c': None}", {"a": "it's so", "b": True, "c": None}),
        ("{'a': 'it's so'}", {"a": "it's so"}),
        ('{a: "x", "b": 1.5} // so', {"a": "x", "b": 1.5}),
        ('{"a": 1, // one\n /* two */ "b": 2 # three\n}', {"a": 1, "b": 2}),
        ("{“a”: “x”}", {"a": "x"}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"a": "the "best" pump", "b": 1}', {"a": 'the "best" pump', "b": 1}),
        ('{"a": "\\u010d\\ud83d\\ude00\\n",}', {"a": "č😀\n"}),
    ],
)
def test_what_models_write_for_json_is_read(text: str, value: object) -> None:
    assert read_json(text)[0] == value


CLAIMS = [{"text": f"Claim {n}.", "citations": [{"source": n, "quote": "q"}]} for n in range(3)]


@pytest.mark.parametrize("text", [json.dumps({"answered": True, "claims": CLAIMS}), repr({"claims": CLAIMS})])
def test_of_what_is_cut_off_the_whole_items_are_kept(text: str) -> None:
    for end in range(text.index("[") + 1, len(text)):
        claims = read_json(text[:end])[0]["claims"]
        assert claims == CLAIMS[: text[:end].count("}]}")]


@pytest.mark.parametrize("text", ["", "{", '{"a', "[" * (MAX_DEPTH + 2) + "1", "{]", '{"a" 1}'])
def test_what_is_nothing_like_json_is_refused_or_empty(text: str) -> None:
    try:
        value = read_json(text)[0]
    except ValueError:
        return
    assert value in ({}, []) or str(value).strip("[]") == ""


@given(st.text(alphabet="{}[]'\"\\:,ab1 \n/*#“”", max_size=60))
def test_any_text_ends_in_a_value_or_an_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert read_json(text)[1] <= len(text)
