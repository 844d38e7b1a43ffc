"""Separates a chat model's answer from its reasoning, where a server leaves both in one text.

Servers with a parser for a model's template send the reasoning in a field of its own, which is not read. Without one
it comes in tags (`<think>`, `<reasoning>`), of which the opening one may be missing because the template wrote it; in
special tokens (`[THINK]`, `<|START_THINKING|>`); or in the channels of OpenAI's harmony format, at times with their
tokens already removed ("analysis…assistantfinal…").
"""

import re

_THOUGHT = r"[\w:.-]*(?:think|thought|reason|reflect|scratchpad|monologue|analysis)\w*"
_OPENING = (
    rf"(?:<|&lt;)\s*{_THOUGHT}(?:\s[^<>]*)?(?:>|&gt;)|\[THINK\]|◁\s*think\s*▷"
    r"|<\|(?:begin_of_thought|START_THINKING)\|>|<\|channel>thought"
)
_CLOSING = (
    rf"(?:<|&lt;)\s*/\s*{_THOUGHT}\s*(?:>|&gt;)|\[/THINK\]|◁\s*/\s*think\s*▷"
    r"|<\|(?:end_of_thought|END_THINKING)\|>|<channel\|>"
)
_TAG = re.compile(rf"(?P<opening>{_OPENING})|(?P<closing>{_CLOSING})", re.IGNORECASE)

_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_END_OF_MESSAGE = re.compile(r"<\|(?:end|return|call|start)\|>")
_BARE_CHANNEL = re.compile(r"\s*analysis(?=[A-Z0-9\"'“])")
_BARE_FINAL = "assistantfinal"
_BEHIND_THOUGHTS = re.compile(
    rf"{_CLOSING}|<\|channel\|>\s*final[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>|{_BARE_FINAL}", re.IGNORECASE
)

_LONGEST_MARK = 80
_LABELLED = re.compile(
    r"\W{0,20}(?:here is my )?(?:thoughts?(?: process)?|thinking(?: process)?|reasoning|analysis|scratchpad)"
    r"\W{0,9}?[:\n].*^\W{0,20}(?:here is my )?(?:final )?(?:answer|response)[*_]{0,3}(?::[*_]{0,3}|[^\S\n]{0,9}\n)",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
"""Thoughts and answer under labels ("Thought: … Final answer: …")."""

_OBJECT = re.compile(r"[\s\ufeff]*(?:[`~]{3,}\w*\s*)?(?=\{\s*[\"'“}\w/\\]|\[\s*[{\"'“]|\"\s*[\[{])")
"""Before a JSON object, list, or string that holds one; also in a code fence."""
_ANSWER = re.compile(r"<(answer|final_answer|final|response|solution)>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_TOKEN = re.compile(
    r"<[|｜][^<>|｜\n]{1,40}[|｜]>|</?s>|<(?:start|end)_of_turn>|\[/?INST\]|</?(?:answer|final_answer)>", re.IGNORECASE
)
"""Special tokens of chat templates that a server did not remove."""


def without_reasoning(text: str) -> str:
    """Return the answer in a model's whole text; empty if it is all reasoning, or the reasoning never ends."""
    start = answer_start(text)
    if start is not None:
        return text[start:]
    if _CHANNEL.search(text):
        return _final_channel(text).strip()
    if _BARE_CHANNEL.match(text):
        return text.rpartition(_BARE_FINAL)[2].strip() if _BARE_FINAL in text else ""
    answer = _outside_tags(text)
    if not _OBJECT.match(answer):
        blocks = _ANSWER.findall(answer)
        answer = _TOKEN.sub("", blocks[-1][1] if blocks else answer)
        labelled = _LABELLED.match(answer)
        answer = answer[labelled.end() :] if labelled else answer
    return answer.strip()


def answer_start(text: str) -> int | None:
    """Return where a JSON answer begins in a whole text: at its start, or behind thoughts; None if there is none."""
    return AnswerStart().find(text)


class AnswerStart:
    """Finds where a JSON answer begins in a text that grows: at its start, or behind thoughts that have ended.

    Sentences have no certain start: before the end of its thoughts no one can tell that a model is thinking.
    """

    def __init__(self) -> None:
        self._behind = 0
        self._searched = 0

    def find(self, text: str) -> int | None:
        """Return where the answer begins in the text so far, which only grows from call to call; None if unknown."""
        found = _OBJECT.match(text)
        if found is None:
            for mark in _BEHIND_THOUGHTS.finditer(text, max(0, self._searched - _LONGEST_MARK)):
                self._behind = mark.end()
            self._searched = len(text)
            found = _OBJECT.match(text, self._behind) if self._behind else None
        return found.end() if found else None


def _final_channel(text: str) -> str:
    bodies = [
        _END_OF_MESSAGE.split(text[header.end() :], maxsplit=1)[0]
        for header in _CHANNEL.finditer(text)
        if header[1].lower() == "final"
    ]
    return "".join(bodies)


def _outside_tags(text: str) -> str:
    """Return what is outside thoughts' tags; a closing tag without an opening one ends thoughts that began before."""
    outside: list[str] = []
    begin, thinking = 0, False
    for tag in _TAG.finditer(text):
        if tag["closing"]:
            outside = outside if thinking else []
            begin, thinking = tag.end(), False
            if _OBJECT.match(text, begin):
                break
        elif not thinking:
            outside.append(text[begin : tag.start()])
            thinking = True
    return "".join([*outside, "" if thinking else text[begin:]])
