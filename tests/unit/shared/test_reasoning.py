"""What a model thinks is told apart from what it answers, in whole texts and in texts that still grow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.reasoning import AnswerStart, answer_start, without_reasoning

THOUGHT = "So [1] says it.\nI could answer.\n"
OBJECT = '{"answered": true, "claims": []}'


@pytest.mark.parametrize("answer", ["It is so. [1]", OBJECT])
@pytest.mark.parametrize(
    "form",
    [
        "<think>{t}</think>{a}",
        "<think>\n</think>\n\n{a}",
        "{t}</think>{a}",
        "<Thinking>{t}</Thinking>\n{a}",
        "< reasoning effort='low' >{t}</ reasoning >{a}",
        "<seed:think>{t}</seed:think>{a}",
        "<inner_monologue>{t}</inner_monologue>{a}",
        "&lt;think&gt;{t}&lt;/think&gt;{a}",
        "<think>{t}<think>{t}</think>{t}</think>{a}",
        "<think>{t}</think><think>{t}</think>{a}",
        "[THINK]{t}[/THINK]{a}",
        "◁think▷{t}◁/think▷{a}",
        "<|begin_of_thought|>{t}<|end_of_thought|><|begin_of_solution|>{a}<|end_of_solution|>",
        "<|START_THINKING|>{t}<|END_THINKING|><|START_RESPONSE|>{a}<|END_RESPONSE|>",
        "<|channel>thought\n{t}<channel|>{a}",
        "<|channel|>analysis<|message|>{t}<|end|><|start|>assistant<|channel|>final<|message|>{a}<|return|>",
        "<|channel|>analysis<|message|>{t}<|start|>assistant<|channel|>final <|constrain|>json<|message|>{a}",
        "<|channel|>commentary to=x<|message|>{t}<|call|><|start|>assistant<|channel|>final<|message|>{a}",
        "analysis{t}assistantfinal{a}",
        "<thought>{t}</thought><answer>{a}</answer>",
        "Thought: {t}\nFinal Answer: {a}",
        "**Thinking**\n{t}\n**Answer:** {a}",
        "{a}<|im_end|>",
        "{a}<｜end▁of▁sentence｜>",
    ],
)
def test_only_the_answer_is_left(form: str, answer: str) -> None:
    read = without_reasoning(form.format(t=THOUGHT, a=answer))
    assert read.partition("}<" if answer == OBJECT else "\0")[0].removesuffix("}") == answer.removesuffix("}")
    assert "So [1]" not in read


@pytest.mark.parametrize(
    "text",
    ["<think>" + THOUGHT, "<|channel|>analysis<|message|>" + THOUGHT, "analysisSo it says.", "[THINK]" + OBJECT, ""],
)
def test_thoughts_that_do_not_end_are_no_answer(text: str) -> None:
    assert without_reasoning(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "It is so. [1]",
        "Analysis of the water is due every year. [1]",
        "The final answer of the court is no. [1]",
        '{"claims": [{"text": "Models close <think> with </think>."}]}',
        "Use <b>bold</b> and 3 < 4. [1]",
        "- one [1]\n- two [2]",
    ],
)
def test_an_answer_without_thoughts_stays_as_it_is(text: str) -> None:
    assert without_reasoning(text) == text


@pytest.mark.parametrize(
    "before", ["", "```json\n", f"<think>{THOUGHT}</think>\n", f"{THOUGHT}{OBJECT}</think>\n```\n"]
)
@given(cuts=st.lists(st.integers(0, 200), max_size=6))
def test_an_object_is_found_at_the_same_place_however_it_comes(before: str, cuts: list[int]) -> None:
    text = before + OBJECT
    start = AnswerStart()
    for cut in sorted(cuts):
        assert start.find(text[:cut]) in (None, len(before))
    assert start.find(text) == answer_start(text) == len(before)


def test_sentences_have_no_certain_start() -> None:
    assert answer_start("It is so. [1]") is None
    assert answer_start(f"Here it is: {OBJECT}") is None


@given(st.text(alphabet='<>/|think analysis{}[]":\n&;', max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(without_reasoning(text), str)
