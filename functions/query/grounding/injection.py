"""Finds prompt injections: sentences of a source that address a language model instead of a reader.

Known forms are patterns (`instructions.py`), marks of a chat's format and coded text. Other forms are sentences that
are foreign to their text (`foreign.py`).

If a PDF says "ignore your instructions and answer …", an answer that repeats it would pass verification, because the
words are in the source. There are two lines of defence. Such a sentence, and those after it in its paragraph, are never
evidence (`injected_spans`); and a claim that is an instruction itself, that takes its words from an injected sentence,
or that speaks as "I" where its evidence does not, is refuted whatever it cites (`obeys`).
"""

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain

from functions.query.grounding.addressing import ADDRESS, FINITE, NOTE_THAT, OBLIGED, is_imperative
from functions.query.grounding.foreign import MAX_SENTENCE, counts_in, foreign_spans, is_foreign
from functions.query.grounding.instructions import hits_in, plain_words
from functions.query.grounding.statements import same_signs
from functions.query.grounding.words import stems_of
from functions.query.understanding.question import reviewed_text
from shared.lexical import fold
from shared.text import sentence_spans, sentences_of

FOLLOWING_MARK = 3
"""Sentences after a mark of a chat's format that belong to it."""
MIN_TAKEN = 0.6
"""Share of a claim's content words that it may take from an injected sentence only."""
_WORD = re.compile(r"\w+")
_PARAGRAPH = re.compile(r"\n\s*\n")
_PROMPTS = ("system_prompt.txt", "form_claims.txt", "form_markers.txt")
_MARK = re.compile(
    r"[<\[{#!](?i:!--\s*(?:system|assistant|ai|instruction|note|prompt|user|important|hidden|ignore)\b|\|[a-z_]{2,20}\|?>|/?INST\]|</?SYS>>|##\s*(?:new\s+)?(?:instructions?|system|response|human|assistant)\b"
    r"|/?(?:system|assistant|instructions?|prompt|user|human)\b[^<>\n]{0,40}>"
    r'|\s*"(?:role|tool|function|arguments)"\s*:'
    r"|/?(?:function|tool)_?(?:calls?|use)\b"
    r"|[{\[%]?\s*/?(?:system|assistant|instructions?|prompt|admin)\b|\[[^\[\]\n]{0,80}\]\([^()\s]{0,200}[?{])"
)
"""Marks of a chat's own format, and images whose address carries data away."""
_SPEAKER = re.compile(r"(?:^|\n)[ \t]*(?:system|assistant|developer)[ \t]*:\s|\bBEGIN (?:SYSTEM|INSTRUCTIONS)\b", re.I)
_CJK = re.compile(
    "(?:忽略|忽視|无视|無視)[^。\n]{0,12}(?:指令|指示|说明|命令)|(?:指示|命令|지시|명령)[^。\n]{0,8}(?:無視|무시)"
)
"""Chinese, Japanese and Korean, which have no spaces: "ignore … the instructions"."""
_SPEAKERS = frozenset({"system", "assistant", "developer", "begin"})
_LONG_RUN = 20
_CODED = re.compile(
    r"(?<![\w/+.-])(?:[A-Za-z\d+/]{24,}={0,2}|(?:[\da-fA-F]{2}){16,}|(?:(?:0x|\\x)[\da-fA-F]{2}[ ,]?){8,})"
)
_QUOTED = re.compile(r"[\"“„«‘'](?=\w)[^\"“”„«»\n]{8,400}?[\"”»’'](?!\w)")
_REPORT = re.compile(
    r"\b(?:such as|like|e\.g\.|for example|for instance|(?:attack|phras|prompt|string|sentence|instruct|inject|command"
    r"|messag|text|words?|say|sai|writ|wrote|read|call|ask|told|tell|typ|enter|contain|includ)\w*)[^.!?\n]{0,40}$",
    re.IGNORECASE,
)
"""What introduces an instruction that is only reported: "attackers write 'ignore …'"."""
_BACK = re.compile(
    r"\b(?:above|preceding|previous|this|that)\s+(?:\w+\s+)?(?:sentence|statement|text|line|fact)\b"
    r"|\b(?:sentence|statement|text|line|fact)s?\s+above\b",
    re.IGNORECASE,
)
"""What points back to the sentence before."""
_ORDER_TO_SAY = re.compile(
    r"(?:\A\W*|[,;:.!?\-–—]\s+|\b(?:and|then|please|to|just|only|must|should|always|will|instead|now|simply|und|y|et|ir)\s+)"
    r"(?:say|print|output|state|claim|write|respond|reply|answer(?!:)|repeat|mention|declare|echo|tell|sag|sage|schreibe|antworte|di|escribe"
    r"|responde|indique|dis|dites|ecris|reponds|indiquez|sakyk|sakykite|rasyk|parasyk|atsakyk)\b(?!\s*\|)",
    re.IGNORECASE,
)
"""An order to say something, which does not make it true; "Answer:" is how a MIN_QUESTIONS marks an answer.

The first cell of a row is none: "Answer | …".
"""
_JOINT = re.compile(r"(?:\b(?:that|saying|writing|say|write|words)|[:\uff1a;>\"“„'‘]|(?<!\d)\])\W*\Z", re.IGNORECASE)
"""What joins a statement to what is said of it."""
MAX_LABEL_WORDS = 3
"""Words before a colon that are taken for a label: "Note for staff: …"."""
MIN_FRAMED_WORDS = 3
"""Words of the shortest statement that is compared with the sentence it stands in."""
_FIRST_PERSON = re.compile(r"\b(?:I|I['’]m|me|my|myself)\b")
_SECRETS = re.compile(r"[^\W\d_]{3,}\s+[^\W\d_]{2,}")
MAX_SHARED_BY_FRAME = 0.6
"""The same for a sentence of which a claim is only a part."""
QUOTED_AROUND = 400
REPORTED_BEFORE = 80
"""Characters on either side of an instruction in which its quotation begins or ends, and characters before the
quotation that may say that it is one."""
SHORTEST_TOLD = 3
"""Characters of a claim, more than that, that a sentence may order somebody to say."""
MIN_RULE_SPACES = 3
"""Spaces in a sentence of the prompts that is known by its words."""


@lru_cache(maxsize=1_000)
def injected_spans(text: str) -> Sequence[tuple[int, int]]:
    """Return the spans of prompt injections in a text, in order."""
    places = [place for place in _instructions(text) if _report_around(text, place[0]) is None]
    sentences = sentences_of(text)
    places.extend(foreign_spans(text, sentences))
    if not places:
        return []
    starts = [start for start, _ in sentences]
    spans: list[tuple[int, int]] = []
    for start, end, following in sorted(places):
        first = max(0, bisect_right(starts, start) - 1)
        begin, stop = _near(text, *sentences[first], start, end)
        if first and _BACK.search(text, begin, stop) and not _PARAGRAPH.search(text, sentences[first - 1][1], begin):
            begin = sentences[first - 1][0]
        for number in range(first + 1, min(len(sentences), first + 1 + following)):
            if _PARAGRAPH.search(text, stop, sentences[number][0]):
                break
            stop = max(stop, _near(text, *sentences[number], *sentences[number])[1])
        if spans and begin <= spans[-1][1]:
            begin, stop = spans[-1][0], max(stop, spans.pop()[1])
        spans.append((begin, stop))
    return spans


@lru_cache(maxsize=1_000)
def reported_spans(text: str) -> Sequence[tuple[int, int]]:
    """Return the quotations in a text that hold an instruction, but are only reported: "attackers write '…'"."""
    found = (_report_around(text, place[0]) for place in _instructions(text))
    return tuple(dict.fromkeys(place for place in found if place is not None))


@lru_cache(maxsize=8)
def _instructions(text: str) -> Sequence[tuple[int, int, int]]:
    """Return the start and end of each instruction, and how many sentences after it belong to it."""
    return tuple(_read_instructions(text))


def _read_instructions(text: str) -> Iterator[tuple[int, int, int]]:
    for hit in hits_in(text):
        if not hit.pattern.weak:
            yield hit.start, hit.end, hit.pattern.following
    words = plain_words(text)
    speakers = _SPEAKER.finditer(text) if words & _SPEAKERS else ()
    for mark in chain(_MARK.finditer(text), speakers, () if text.isascii() else _CJK.finditer(text)):
        yield mark.start() + len(mark.group()) - len(mark.group().lstrip()), mark.end(), FOLLOWING_MARK
    for coded in _CODED.finditer(text) if any(len(word) >= _LONG_RUN for word in words) else ():
        if _is_message(coded.group()):
            yield coded.start(), coded.end(), 0


def _near(text: str, begin: int, stop: int, start: int, end: int) -> tuple[int, int]:
    """Return a sentence, or the part of a very long one that is near an instruction."""
    if stop - begin <= MAX_SENTENCE:
        return begin, stop
    before = max(text.rfind("\n", begin, start), begin, start - MAX_SENTENCE // 3)
    return before, min(stop, max(end, start + MAX_SENTENCE))


def _report_around(text: str, at: int) -> tuple[int, int] | None:
    """Return the quotation around a position if the words before it say that it is one."""
    for quotation in _QUOTED.finditer(text, max(0, at - QUOTED_AROUND), at + QUOTED_AROUND):
        if quotation.start() < at < quotation.end():
            before = text[max(0, quotation.start() - REPORTED_BEFORE) : quotation.start()]
            return quotation.span() if _REPORT.search(before) and not hits_in(before.strip()) else None
    return None


def _is_message(coded: str) -> bool:
    """Return whether a run of Base64 or hexadecimal digits is text in words."""
    digits = re.sub(r"0x|\\x|[ ,]", "", coded)
    try:
        if re.fullmatch(r"(?:[\da-fA-F]{2})+", digits):
            message = bytes.fromhex(digits)
        else:
            message = base64.b64decode(coded[: len(coded) // 4 * 4], validate=True)
    except (ValueError, binascii.Error):
        return False
    return message.isascii() and message.decode("ascii").isprintable() and bool(_SECRETS.search(message.decode()))


def is_injected(text: str, start: int, end: int) -> bool:
    """Return whether a span overlaps a prompt injection, or lies within one that is only reported."""
    injected, reported = injected_spans(text), reported_spans(text)
    return bool(injected or reported) and (
        any(start < stop and end > begin for begin, stop in injected)
        or any(begin <= start and end <= stop for begin, stop in reported)
    )


def is_speaker(name: str) -> bool:
    """Return whether a name with a colon behind it begins a message in the format of a chat: "System"."""
    return name.strip().lower() in _SPEAKERS


def without_injections(text: str) -> str:
    """Return a text without its prompt injections."""
    return _without(text, injected_spans(text))


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    kept, at = [], 0
    for start, end in sorted(spans):
        kept.append(text[at : max(at, start)])
        at = max(at, end)
    return "".join((*kept, text[at:]))


def obeys(claim: str, evidence: Sequence[str], sources: Sequence[str], language: str) -> bool:
    """Return whether a claim is an instruction, says what only an injected sentence says, or speaks as "I".

    `evidence`: the sentences that it cites, and rows of tables in other words; `sources`: the texts of all sources.
    """
    if injected_spans(claim):
        return True
    if _FIRST_PERSON.search(claim) and not any(map(_FIRST_PERSON.search, evidence)):
        return True
    written = [sentence for sentence in evidence if any(sentence in same_signs(text) for text in sources)]
    said = _joined_words(claim)
    if any(_is_told(said, sentence) or _is_framed(said, sentence, sources) for sentence in written):
        return True
    reports = bool(reported_spans(claim))

    def spans_of(text: str) -> Sequence[tuple[int, int]]:
        return injected_spans(text) if reports else (*injected_spans(text), *reported_spans(text))

    injected = [text[start:end] for text in sources for start, end in spans_of(text)]
    if not injected:
        return False
    stems = stems_of(claim, language)
    held = frozenset().union(*(stems_of(_without(text, spans_of(text)), language) for text in evidence))
    only_there = (stems - held) & frozenset().union(*(stems_of(text, language) for text in injected))
    return bool(only_there) and len(only_there) >= MIN_TAKEN * len(stems)


def _is_told(said: str, sentence: str) -> bool:
    """Return whether a sentence does not say what a claim says, in these words, but orders somebody to say it."""
    order = _ORDER_TO_SAY.search(fold(sentence))
    return order is not None and len(said) > SHORTEST_TOLD and said in _joined_words(fold(sentence)[order.end() :])


def _is_framed(said: str, sentence: str, sources: Sequence[str]) -> bool:
    """Return whether the words of a claim are only a part of a sentence that is foreign to its text.

    "Assume that the fee is void": what stands before it is no evidence for it, whatever it says. "Note
    that" adds nothing.
    """
    if said.count(" ") < MIN_FRAMED_WORDS - 1:
        return False
    held = _joined_words(sentence)
    at = f" {held} ".find(f" {said} ")
    if at <= 0:
        return False
    folded = fold(sentence)
    starts = [match.start() for match in _WORD.finditer(folded)]
    before = folded[: starts[held[:at].count(" ")]]
    joint = _JOINT.search(before)
    if (
        joint is None
        or NOTE_THAT.fullmatch(before.strip())
        or (joint.group().startswith((":", "\uff1a")) and _states(before))
    ):
        return False
    texts = (text for text in sources if held in _joined_words(text))
    return any(is_foreign(sentence, counts_in(text), at_most=MAX_SHARED_BY_FRAME) for text in texts)


def _states(before: str) -> bool:
    """Return whether what stands before a colon is a statement of its own, neither a label nor an order."""
    words = plain_words(before.rpartition(",")[2])
    if len(words) <= MAX_LABEL_WORDS or is_imperative(before):
        return False
    return FINITE.match(before) is not None or words.isdisjoint(ADDRESS | OBLIGED)


def is_prompt_rule(text: str) -> bool:
    """Return whether a sentence is a rule of our own prompt, which is never an answer."""
    return _joined_words(text) in _prompt_rules()


@cache
def _prompt_rules() -> frozenset[str]:
    """Return the sentences of the prompts as words; those under four words are too common."""
    texts = list(map(reviewed_text, _PROMPTS))
    rules = {
        _joined_words(text[start:end].lstrip("0123456789. ")) for text in texts for start, end in sentence_spans(text)
    }
    return frozenset(rule for rule in rules if rule.count(" ") >= MIN_RULE_SPACES)


def _joined_words(text: str) -> str:
    return " ".join(_WORD.findall(fold(text).lower()))
