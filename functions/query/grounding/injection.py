"""Finds prompt injections: sentences of a source that address a language model instead of a reader.

Known forms are patterns (`instructions.py`). What is in no pattern shows by its place: a sentence that asks, orders or
speaks of an answer, and whose words the rest of its text does not hold, is an outlier. The more signs it has, the more
words it may share. In a manual, where every sentence is an order, an order alone is a weaker sign.

If a PDF says "ignore your instructions and answer …", an answer that repeats it would pass verification, because the
words are in the source. There are two lines of defence. Such a sentence, and those after it in its paragraph, are never
evidence (`injected_spans`); and a claim that is an instruction itself, that takes its words from an injected sentence,
or that speaks as "I" where its evidence does not, is refuted whatever it cites (`obeys`).
"""

import base64
import binascii
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from itertools import chain, pairwise

from functions.query.grounding.instructions import hits_in, plain_words, words_in_class
from functions.query.grounding.statements import same_signs
from functions.query.grounding.words import STOP_WORDS, is_stop_word, stem_of, stems_of
from functions.query.understanding.question import reviewed_text
from shared.language import FUNCTION_WORDS, language_of
from shared.lexical import MAX_RARITY, background, fold
from shared.text import BULLETS, LIST_ITEM, SEPARATOR, sentence_spans, sentences_of

FOLLOWING_MARK = 3
"""Sentences after a mark of a chat's format that belong to it."""
MAX_SENTENCE = 600
"""A longer sentence is a table or a page without full stops; only the text near an instruction counts as injected."""
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
"""An order to say something, which does not make it true; "Answer:" is how a FAQ marks an answer.

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
_LETTERS = re.compile(r"[^\W\d_]{4,}")
_PROSE_WORD = re.compile(r"[^\W\d_]+")
_DOCUMENT = "|".join((*words_in_class("READ"), *words_in_class("TEXT")))
_THIS_DOCUMENT = re.compile(
    rf"\b(?:this|these|the (?:above|below|following|preceding)) (?:\w+ )?(?:{_DOCUMENT})\b"
    rf"|\b(?:{_DOCUMENT}) (?:below|above|here)\b",
    re.IGNORECASE,
)
"""What speaks of the document that it stands in."""
_BIDDEN = re.compile(
    r"\b(?:must|should|shall|ought|may|(?:is|are|has|have) to) (?:not |never |only |to )?be\b", re.IGNORECASE
)
_TASK = frozenset(words_in_class("TASK"))
_CREATED = frozenset(words_in_class("CREATED"))
_NOUN_TASK = frozenset(words_in_class("NOUN_TASK"))
_REQUEST = re.compile(
    r"(\w+)\s+(?!(?:of|and|or|is|was|were|are|has|had|by|in|for|at|from|will|may)\b)[^|\n.!?]{8,200}(?:[.!?]|$|\n)"
)
_OPENING_MARKS = tuple("\"“„«‘'(")
_AFTER_NOUN = re.compile(r"\w+\s+(?:an?|the|me|us|my|your|some|how|what|why|out|up|down)\b")
"""Words after which "plan", "design" and other nouns are an imperative."""
_QUESTION = re.compile(rf"\b(?i:{'|'.join(words_in_class('ASKS'))})\b[^.!?\n]{{5,200}}\Z")
_WORK = frozenset(word for name in ("TASK", "NOUN_TASK", "ASKS", "CREATED") for word in words_in_class(name))
_NO_SUBJECT = _WORK | STOP_WORDS
"""Words that say nothing of what a text is about."""
_LIST_START = re.compile(LIST_ITEM)
_MARK_OF_ITEM = rf"(?:[{BULLETS}]|\(?(?:[a-z]|[ivx]{{1,4}}|\d{{1,3}})[.)]|\d+(?:\.\d+)+)"
_ITEM_BEFORE = re.compile(rf"(?:^|\n|\|) *{_MARK_OF_ITEM} +\Z")
"""A list's mark or a heading's number, right before a sentence."""
_ITEMS = re.compile(rf"(?:^|\n|\|) *{_MARK_OF_ITEM} ")
MIN_ITEMS = 3
"""Marks of items in a text that make it one with lists; a hidden order may stand behind a mark of its own."""
_APPEARED = re.compile(r"\barXiv(?: preprint|:\d)|\bCoRR\b|\d\(\d+\):\d")
"""Where a publication has appeared."""
_PUBLISHED = re.compile(
    r"(?:(?<![.?!])[^.?!\n]*[.?!])?\s+"
    rf"(?:(?:[A-Z][^.?!\n]*?)?(?:{_APPEARED.pattern})|In [A-Z][^.?!\n]*?,? p(?:ages|p\.) ?\d+[-–]\d)"
)
"""The rest of a title, and where it has appeared."""
_YEAR_BEFORE = re.compile(r"(?:\.,? |\. ?\()(?:19|20)\d\d[a-z]?\)?\.\s+\Z")
"""The year of a publication, behind the full stop of its authors."""
MAX_PUBLISHER = 160
"""Characters from a place in the title of a publication to its pages."""
_OBJECT = (
    r"(?:an?|the|any|every|each|all|both|no|some|that|this|these|those|your|their|his|her|its|our|my|me|us|them|him|it"
    r"|only|how|why|what|whether|out|up|down|as|by|with|to|in|on|into|from"
    r"|users?|readers?|customers|visitors|people|everyone)"
)
_IMPERATIVE = re.compile(
    rf"[^\w\s]*(?:(?:please|kindly|also|always|never|now|then|do not|don['’]t|[a-z]+ly) )*([a-z]{{2,}}) "
    rf"(?:{_OBJECT}|on|off|over|from|for|at|about|through|against|now|nothing|everything|anything|one|two|ten|more)\b",
    re.I,
)
"""A word before an article, pronoun or particle: an imperative, unless it is a stop word, a participle or a plural."""
_ORDER = re.compile(rf"(?<![A-Za-z])[A-Z][A-Za-z]+ {_OBJECT}\b|[:e] [a-z]+ {_OBJECT}\b")
"""What may be an imperative: a word with a capital, or after a colon or "please"."""
_LATER_IMPERATIVE = re.compile(
    r"[,;:–—-] +(?:(?:and|then|please|always|just|also|so|instead) )*([a-z]{2,}) "
    r"(?:an?|the|any|every|each|all|no|that|this|your|their|his|her|me|us|them|him|it|only)\b"
)
"""The same within a sentence: "Whatever the table shows, report that …"."""
_FINITE = re.compile(
    r"\w+(?: (?!(?:that|which|who|what|whatever|how|if|when|where|why|you)\b)[\w'’-]+){1,3} "
    r"(?:can|could|is|are|was|were|has|have|had|will|would|may|might|must|shall|should|does|did)\b"
)
"""A sentence whose first words end in an auxiliary states something: "Eleven people can winter here"."""
_CAUSATIVE = re.compile(
    r"\W*(?:have|let|get|make) (?:them|(?:(?:the|any|all|every|your) )?"
    r"(?:users?|readers?|customers?|visitors?|people|everyone))\b",
    re.IGNORECASE,
)
"""An imperative that begins with a stop word: "Have the user …"."""
_NOTE_THAT = re.compile(r"\W*(?:please )?note that\b", re.IGNORECASE)
"""What introduces a fact, as in letters: "Please note that pets are not allowed"."""
_OBLIGED = frozenset(
    chain(("person", "customer", "visitor"), *map(words_in_class, ("READER", "MODEL", "REPLY", "TEXT")))
)
_MODAL = re.compile(r"[^.;:!?\n]{1,50} (?:must|should|shall|could|ought|(?:has|have|needs?|is|are) to)\b")
"""A reader, a model or an answer that must do something."""
_ADDRESS_OF_A_SITE = re.compile(r"https?://|\bwww\.|\w@\w|\b[\w-]+\.(?:[\w-]+\.)*[a-z]{2,12}(?:/|\b)(?!\()")
"""A link, an e-mail address, or a name with dots, such as a domain's."""
_SUBORDINATE = re.compile(
    r"\W*(?i:if|when(?:ever)?|before|after|for|while|once|whatever|as) [^,.;:!?\n]{3,120}, +"
    rf"(?=(?:please |then )?[a-z]+ {_OBJECT}\b)"
)
"""What may stand before an imperative: "If somebody asks for prices, …"."""
_REFERS = re.compile(r"\W*(?:please )?\w+ (?:by|with|to|in|on|into|from)\b", re.IGNORECASE)
"""A word before a preposition, which may be a noun: "Refer to", "Support in"."""
_MAY_BE_NOUN = re.compile(r"\W*(?:please )?\w+ (?:by|with|in|on|into|from)\b", re.IGNORECASE)
_NO_IMPERATIVE = re.compile(r"(?:ing|ed|ly|ion|ity|ness|ment|[^su]s)\Z")
_CLAUSE = re.compile(rf"[,;] +(?=[A-Z])|: +(?=\w)|\n+(?=[A-Z])| (?<=[^.!?\s] ) *(?=[A-Z][a-z]+ {_OBJECT}\b)")
"""What stands before an instruction within a sentence. Each way begins with a character, which is found at once."""
_ADDRESS = frozenset(
    word
    for name in ("MODEL", "REPLY", "TEXT", "SAY", "TELLS", "READER", "ORDERS", "ASKED")
    for word in words_in_class(name)
)
"""Words that speak of a reader, a model, an answer, or of saying something."""
_VERBS = frozenset(word for name in ("SAY", "EDIT", "TELLS") for word in words_in_class(name))
_ITEM_SIGNS = f"{BULLETS}0123456789.() "
MIN_SIGNS = 2
"""A sentence with a single sign is too often an honest one: "This report tells what we did"."""
MIN_IMPERATIVES = 3
"""Imperatives that make a text a manual."""
MIN_ADDRESSED = 3
"""Sentences with "you" that make a text one that speaks to its reader."""
_YOU = frozenset({"you", "your"})
_READERS = frozenset(words_in_class("READER"))
_FUNCTION_WORDS = FUNCTION_WORDS["en"]
MIN_FUNCTION_WORDS = 8
"""English function words in a text that make it English without asking the model."""
MIN_WORDS_OF_BOTH = 4
"""Function words of another language that are not English ones, from which a text is in that language, too."""
_ALLOWS = re.compile(r"\byou (?:can|could|may)\b", re.IGNORECASE)
"""How a manual tells what its reader can do."""
_SELF = re.compile(r"\b(?:I|I['’]m|my|me)\b")
_STOP = re.compile(r"[.!?][\"”»“’')\]]*(?=\s)")
_BEGIN = re.compile(r"(?:[.!?,;:|)\]”]|\n)\s*[\"“„(\[]*(?=[^\W\d_a-z])")
_TELEPHONE = re.compile(r"(?<![\w.,])\+?\d[\d ()/-]{7,}\d\b")
_ADDRESSED = re.compile(rf"\b(?:[Yy]ou|[Yy]our|I|I['’]m|my|me)\b|{_ADDRESS_OF_A_SITE.pattern}|{_TELEPHONE.pattern}")
_NOUNS = frozenset({"display", "state", "return", "print"})
"""Words of `_ADDRESS` that prose has as nouns."""
_SPEAKS = _ADDRESS - _NOUNS
_PREPOSITIONS = frozenset({"from", "of", "in", "on", "at", "by", "with", "to", "for", "the", "and", "or"})
_CONTACT = re.compile(
    r"\b(?:call|ring|phone|telephone|tel|fax|(?:\w+ )?line|helpline|hotline|e-?mail|write to|contact|complaints?"
    r"|enquiries|questions|bookings?|appointments?|reception|extension)\b",
    re.IGNORECASE,
)
_CONTACTING = frozenset({"call", "ring", "phone", "telephone", "write", "contact", "fax", "email"})
_LURE = re.compile(
    r"\b(?:verif\w+|confirm\w*|claim (?:your|the|a)|prizes?|win|won|winners?|refunds?|bonus\w*|discounts?|offers?"
    r"|deals?|gifts?|rewards?|passwords?|passcode|pin|log ?in|credentials?|bank|cards?|payments?|transfer\w*|wallet"
    r"|bitcoin|crypto\w*|invest\w*|click|suspend\w*|expire\w*|urgent\w*|immediately|details|personal|account"
    r"|users?|readers?|people|answer|best|free|subscribe|download|install|codes?|copy|passport|security|data|social|customs"
    r"|parcel|virus|infected|computer|loan|lend|money|inherit\w*|enter|release|state|tell|say|reply|only|now)\b|[?=!]",
    re.IGNORECASE,
)
"""What a sentence that says where to call is about, and what those ask for who want to be called."""
_CLOSING_MARKS = "\"”»“’')]"
_LINKS = frozenset(words_in_class("LINKS"))
_LABEL = re.compile(r"[^:.\n]{2,60}: \W?\w+ \w+ \w")
_PART_QUOTED = re.compile(r"\w\W{1,3}[\"“„«][^\"”»\n]{3,}[\"”»]")
_TAG = re.compile(r"<[a-z_]+[^<>\n]{0,40}>[^<>\n]+</")
_BEFORE_TAG = re.compile(rf"(?={_TAG.pattern})")
"""An instruction may also begin with a tag."""
MAX_SHARED_BY_SIGNS = {2: 0.1, 3: 0.4}
"""The same as `MAX_SHARED` for any sentence, by the number of signs that it asks or addresses somebody."""
MAX_SHARED_BY_FRAME = 0.6
"""The same for a sentence of which a claim is only a part."""
MAX_SHARED_IN_PROSE = {1: 0.0, 2: 0.1, 3: 0.2, 4: 0.3}
"""The same for a whole sentence of prose, by the number of its signs, of which one more kind counts."""
SIGNS = {"order": 2, "weak order": 1, "address": 1, "you": 1, "I": 1, "!": 1, "obliged": 1}
"""What shows that a sentence of prose asks or addresses somebody, and for how many signs it counts.

In a manual, an order counts for one. A label ("Note: …") and an address of a site count only beside others: a document
may say where to write to.
"""
MAX_SHARED_BY_EVIDENCE = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
"""The same for a sentence of prose that a claim is made from, by the number of its signs.

Its own text, the titles, the question and the other passages of its document may hold as much. What a document says
where it speaks of nothing else that was asked for is no answer, so none of its signs is needed.
"""
EVIDENCE_SIGNS = {"language": 4, "address": 2, "document": 2, "label": 1, "bidden": 1}
"""Further signs of such a sentence, for how many they count: another language than its text's, an address of a site,
"this document", a label, "is to be", "may not be"."""
_OTHER_SCRIPT = re.compile(r"[^\W\d_\u0000-\u024f\u0370-\u03ff\u1e00-\u1eff]{6,}")
"""A run of letters that are neither Latin nor Greek, in which formulas are written."""
MAX_OTHER_SCRIPT = 0.1
"""Share of a text's letters in another script up to which a sentence in it is foreign."""
MIN_EVIDENCE_WORDS = 4
"""Different words of such a sentence with at most one sign."""
MIN_AROUND = (150, 150, 100)
"""Different words around such a sentence, by the number of its signs: that fewer do not hold its words tells little."""
MIN_FOREIGN_WORDS = 6
"""Different words of a sentence with a single sign; that a shorter one shares nothing tells little."""
MIN_PROSE_WORDS = 5
MIN_LOWER_CASE = 0.6
"""Share of a sentence's words that begin with a small letter, from which it is prose: no title, reference, or row."""
MIN_LOWER_CASE_OF_EVIDENCE = 0.4
"""The same for a sentence that a claim is made from; German nouns have capitals."""
_STEM = 5
"""Letters by which two words of one text are taken for one."""
MIN_REST = 30
"""Different words of the rest of a text below which nothing can be said to be foreign to it."""
MAX_FOREIGN = 2
"""A text with more such requests is a list of them: exercises, an FAQ, a form."""
MAX_SHARED = 0.4
"""Share of a request's words, weighted by rarity, that the rest of the text may hold."""


@lru_cache(maxsize=1_000)
def injected_spans(text: str) -> Sequence[tuple[int, int]]:
    """Return the spans of prompt injections in a text, in order."""
    places = [place for place in _instructions(text) if _report_around(text, place[0]) is None]
    sentences = sentences_of(text)
    places.extend(_foreign_work(text, sentences))
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
    for quotation in _QUOTED.finditer(text, max(0, at - 400), at + 400):
        if quotation.start() < at < quotation.end():
            before = text[max(0, quotation.start() - 80) : quotation.start()]
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


def _foreign_work(text: str, sentences: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield requests, questions and sentences with weak signs whose subject the rest of the text does not speak of."""
    starts = [start for start, _ in sentences]
    weak = (
        (*sentences[max(0, bisect_right(starts, hit.start) - 1)], hit.pattern.following)
        for hit in hits_in(text)
        if hit.pattern.weak
    )
    requests = ((start, end, 0) for start, end in chain(_requests(text), _questions(text)))
    wanted = list(dict.fromkeys((*requests, *weak)))
    addresses = plain_words(text) & _ADDRESS
    suspects = [(start, end) for start, end in sentences if _may_ask(text, start, end, addresses)]
    if not wanted and not suspects:
        return
    counts = Counter(word[:_STEM] for word in _content_words(text))
    foreign = [each for each in wanted if _is_foreign(text[each[0] : each[1]], counts)]
    outliers = [
        (begin, stop, 0)
        for start, end in suspects
        for begin, stop in dict.fromkeys((*_parts(text, start, end), *_prose_in(text, start, end)))
        if not _goes_on(text, begin) and _is_outlier(text[begin:stop], counts, text)
    ]
    for found in (foreign, outliers):
        if len({bisect_right(starts, start) for start, _, _ in found}) <= MAX_FOREIGN:
            yield from (each for each in found if not (_is_item(text, each[0]) or _is_title(text, *each[:2])))


def _is_item(text: str, start: int) -> bool:
    """Return whether a list's mark or a heading's number stands right before a place, in a text with lists."""
    is_marked = _ITEM_BEFORE.search(text, max(0, start - 10), start) is not None
    return is_marked and len(_ITEMS.findall(text)) >= MIN_ITEMS


def _is_title(text: str, start: int, end: int) -> bool:
    """Return whether a span is the title of a publication in a list of references; it addresses nobody."""
    span = text[start:end]
    if _has_address(span) or not plain_words(span).isdisjoint(_YOU | _READERS):
        return False
    return (
        _YEAR_BEFORE.search(text, max(0, start - 12), start) is not None
        or _PUBLISHED.match(text, end, end + MAX_PUBLISHER) is not None
        or _APPEARED.search(span) is not None
    )


@lru_cache(maxsize=64)
def _speaks_to_its_reader(text: str) -> bool:
    """Return whether several sentences of a text say "you", so that one more of them is not foreign for it."""
    return sum(not plain_words(text[start:end]).isdisjoint(_YOU) for start, end in sentences_of(text)) >= MIN_ADDRESSED


@lru_cache(maxsize=64)
def _is_manual(text: str) -> bool:
    orders = (_is_imperative(text[start:end].lstrip(_ITEM_SIGNS)) for start, end in sentences_of(text))
    return sum(orders) >= MIN_IMPERATIVES


def _may_ask(text: str, start: int, end: int, addresses: Set[str]) -> bool:
    """Return whether a sentence is no item of a list and may have a sign that it asks or addresses somebody."""
    return not _LIST_START.match(text, start) and (
        text[end - 1] in "?>"
        or "!" in text[start:end]
        or _ORDER.search(text, start, end) is not None
        or _SUBORDINATE.match(text, start, end) is not None
        or _ADDRESSED.search(text, start, end) is not None
        or _LATER_IMPERATIVE.search(text, start, end) is not None
        or _FUNCTION_WORDS.isdisjoint(text[start:end].lower().split())
        or (bool(addresses) and any(map(text[start:end].lower().__contains__, addresses)))
    )


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span of a sentence, and of what in it may be another one."""
    subordinate = _SUBORDINATE.match(text, start, end)
    main = [subordinate.end()] if subordinate and subordinate.end() < end else []
    tags = _BEFORE_TAG.finditer(text, start, end) if "<" in text else ()
    clauses = (each.end() for each in chain(_CLAUSE.finditer(text, start, end), tags))
    starts = sorted({start, *main, *clauses, end})
    for begin, stop in dict.fromkeys(((start, end), *pairwise(starts))):
        if stop - begin <= MAX_SENTENCE and SEPARATOR not in text[begin:stop]:
            yield begin, stop - len(text[begin:stop]) + len(text[begin:stop].rstrip())


def _prose_in(text: str, start: int, end: int, *, lower_case: float = MIN_LOWER_CASE) -> Iterator[tuple[int, int]]:
    """Yield the spans in a sentence that may be one of their own, though the splitter did not see it."""
    stops = [*(each.end() for each in _STOP.finditer(text, start, end)), end]
    for begin in dict.fromkeys((start, *(each.end() for each in _BEGIN.finditer(text, start, end)))):
        stop = stops[bisect_right(stops, begin)] if begin < end else end
        if stop - begin <= MAX_SENTENCE and _is_prose(text[begin:stop], lower_case=lower_case):
            yield begin, stop


def _goes_on(text: str, begin: int) -> bool:
    """Return whether a place follows a preposition, so that no sentence begins there: "from | June to October"."""
    before = text[max(0, begin - 20) : begin]
    return before.endswith(" ") and not _PREPOSITIONS.isdisjoint(before.split()[-1:])


def _is_contact(sentence: str) -> bool:
    """Return whether a sentence says where to call or write to, and asks for nothing else: "Service line: 0345 …"."""
    if not _has_address(sentence) or _CONTACT.search(sentence) is None or _LURE.search(sentence) is not None:
        return False
    orders = [found[1].lower() for found in _LATER_IMPERATIVE.finditer(sentence)]
    orders += [found[1].lower()] if _is_imperative(sentence) and (found := _IMPERATIVE.match(sentence)) else []
    return all(word in _CONTACTING for word in orders) and _SELF.search(sentence) is None


def _is_outlier(sentence: str, counts: Mapping[str, int], text: str) -> bool:
    """Return whether a sentence asks or addresses somebody and is foreign to its text."""
    if _is_prose(sentence):
        shared = _shared(sentence, counts)
        if shared > MAX_SHARED_IN_PROSE[4]:  # whatever its signs, some of which take longer to read
            return False
        found = [each for each in _prose_signs(sentence) if each != "you" or not _speaks_to_its_reader(text)]
        signs = sum(SIGNS[each] for each in found) + _is_in_another_language(sentence, text)
        if signs:
            signs += (_LABEL.match(sentence) is not None) + _has_address(sentence)
            signs -= "order" in found and _is_manual(text)
        if signs == 1 and len({word[:_STEM] for word in _content_words(sentence)}) < MIN_FOREIGN_WORDS:
            return False
        return signs > 0 and shared <= MAX_SHARED_IN_PROSE[min(signs, 4)] and not _is_contact(sentence)
    signs = _signs(sentence, text)
    is_foreign = signs >= MIN_SIGNS and _is_foreign(sentence, counts, at_most=MAX_SHARED_BY_SIGNS[min(signs, 3)])
    return is_foreign and not _is_contact(sentence)


def _is_in_another_language(sentence: str, text: str) -> bool:
    """Return whether a sentence holds no function word of its text's language, and is in another one."""
    own = _language_of_all(text)
    return plain_words(sentence).isdisjoint(FUNCTION_WORDS.get(own, ())) and language_of(sentence) not in ("", own)


@lru_cache(maxsize=64)
def _language_of_all(text: str) -> str:
    is_english = len(plain_words(text) & _FUNCTION_WORDS) >= MIN_FUNCTION_WORDS
    return "en" if is_english else language_of(text)


def _is_alone_in_its_language(sentence: str, text: str) -> bool:
    """Return whether the rest of a text holds few function words of a sentence's language: it is not in both.

    Of some languages no function words are known, so it cannot be told.
    """
    own = FUNCTION_WORDS.get(language_of(sentence))
    others = plain_words(text.replace(sentence, " ")) - _FUNCTION_WORDS
    return own is not None and len(others & own) < MIN_WORDS_OF_BOTH


def _is_prose(sentence: str, *, lower_case: float = MIN_LOWER_CASE) -> bool:
    """Return whether a text is a sentence of running words, not a title, a reference or a row."""
    if sentence.rstrip(_CLOSING_MARKS)[-1:] not in (".", "!", "?"):
        return False
    words = _PROSE_WORD.findall(sentence)
    return (
        len(words) >= MIN_PROSE_WORDS
        and words[0][0].isupper()
        and sum(map(str.islower, (word[0] for word in words))) >= lower_case * len(words)
    )


def _has_address(sentence: str) -> bool:
    """Return whether a sentence holds a link, an e-mail address or a telephone number."""
    return (_ADDRESS_OF_A_SITE.search(sentence) or _TELEPHONE.search(sentence)) is not None


def _prose_signs(sentence: str) -> Iterator[str]:
    """Yield the signs of `SIGNS` that a sentence has."""
    words = plain_words(sentence)
    if not words.isdisjoint(_SPEAKS):
        yield "address"
    if not words.isdisjoint(_YOU) and not _ALLOWS.search(sentence):
        yield "you"
    if "!" in sentence:
        yield "!"
    if _SELF.search(sentence):
        yield "I"
    if not words.isdisjoint(_OBLIGED) and any(
        not plain_words(each.group()).isdisjoint(_OBLIGED) for each in _MODAL.finditer(sentence)
    ):
        yield "obliged"
    is_order = _is_imperative(sentence) and not (_REFERS.match(sentence) and _has_address(sentence))
    if is_order and not _MAY_BE_NOUN.match(sentence):
        yield "order"
    elif is_order or any(_is_verb(each[1]) for each in _LATER_IMPERATIVE.finditer(sentence)):
        yield "weak order"


def _signs(sentence: str, text: str) -> int:
    """Count the signs that a sentence asks or addresses somebody; an imperative counts less if its text is a manual."""
    words = plain_words(sentence)
    signs = int(not words.isdisjoint(_ADDRESS)) + sentence.endswith("?") + 2 * bool(_TAG.match(sentence))
    if _is_imperative(sentence) and not _REFERS.match(sentence):
        signs += 1 if _is_manual(text) else 2
    signs += not words.isdisjoint(_OBLIGED) and any(
        not plain_words(match.group()).isdisjoint(_OBLIGED) for match in _MODAL.finditer(sentence)
    )
    if signs or not words.isdisjoint(_YOU):
        signs += _ADDRESS_OF_A_SITE.search(sentence) is not None
    if signs:
        signs += (not words.isdisjoint(_YOU)) + bool(_LABEL.match(sentence)) + bool(_PART_QUOTED.search(sentence))
    return signs


def _is_imperative(sentence: str) -> bool:
    if _CAUSATIVE.match(sentence):
        return True
    if _NOTE_THAT.match(sentence):
        return False
    found = _IMPERATIVE.match(sentence)
    return found is not None and not _FINITE.match(sentence) and _is_verb(found[1].lower())


def _is_verb(word: str) -> bool:
    """Return whether a word before an object may be an imperative."""
    return (
        not is_stop_word(word)
        and word not in _LINKS
        and not word.endswith("day")
        and (word in _VERBS or not _NO_IMPERATIVE.search(word))
    )


def _is_foreign(sentence: str, counts: Mapping[str, int], *, at_most: float = MAX_SHARED) -> bool:
    """Return whether the rest of a text shares few of a sentence's rare words; `counts` are those of the whole text."""
    return _shared(sentence, counts) <= at_most


def _shared(sentence: str, counts: Mapping[str, int]) -> float:
    """Return the share of a sentence's words, by rarity, that the rest of its text holds; 1.0 if it cannot be told."""
    subject = _content_words(sentence)
    own = Counter(word[:_STEM] for word in subject)
    if (
        len(own) < (1 if plain_words(sentence) & _CREATED or sentence.endswith("?") else 2)
        or len(counts) - len(own) < MIN_REST
    ):
        return 1.0
    rarity = background("en")
    weights = {word: rarity.get(stem_of(word, "en"), MAX_RARITY) for word in subject}
    shared = sum(weight for word, weight in weights.items() if counts[word[:_STEM]] > own[word[:_STEM]])
    return shared / sum(weights.values())


def _requests(text: str) -> Iterator[tuple[int, int]]:
    for word in plain_words(text) & (_TASK | _NOUN_TASK):
        for form in (word.capitalize(), word.upper(), f". {word}", f": {word}"):
            at = text.find(form)
            while at >= 0:
                begin = at + len(form) - len(word)
                request = _REQUEST.match(text, begin)
                is_one = request and request[1].lower() == word and not _is_quoted(text, begin)
                if request and is_one and (word in _TASK or _AFTER_NOUN.match(text, begin)):
                    yield request.span()
                at = text.find(form, at + 1)


def _questions(text: str) -> Iterator[tuple[int, int]]:
    at = text.find("?")
    while at >= 0:
        question = _QUESTION.search(text, max(0, at - 220), at)
        if question and question.group()[0].isupper() and not _is_quoted(text, question.start()):
            yield question.start(), at + 1
        at = text.find("?", at + 1)


def _is_quoted(text: str, at: int) -> bool:
    return text[max(0, at - 1) : at] in _OPENING_MARKS


def _content_words(text: str) -> list[str]:
    words = _LETTERS.findall(text.lower())
    return [word for word in (words if text.isascii() else map(fold, words)) if word not in _NO_SUBJECT]


def is_injected(text: str, start: int, end: int) -> bool:
    """Return whether a span overlaps a prompt injection, or lies within one that is only reported."""
    injected, reported = injected_spans(text), reported_spans(text)
    return bool(injected or reported) and (
        any(start < stop and end > begin for begin, stop in injected)
        or any(begin <= start and end <= stop for begin, stop in reported)
    )


def is_stray(claim: str, text: str, start: int, end: int, near: Sequence[str]) -> bool:
    """Return whether a claim is made from a sentence of prose that is foreign to all that surrounds it.

    The sentence is at `start` to `end` of `text`, or holds that span, or is held by it and has all of the claim's words
    that the span has. `near`: the question, the titles, and other passages of the document.
    """
    if _is_in_another_script(text, start, end):
        return True
    return any(
        _is_stray(text, begin, stop, near)
        for at, till in sentences_of(text)
        if at < end and till > start and not _LIST_START.match(text, at, till)
        for begin, stop in _prose_in(text, at, till, lower_case=MIN_LOWER_CASE_OF_EVIDENCE)
        if (begin <= max(start, at) and stop >= min(end, till)) or _is_source(claim, text, (begin, stop), (start, end))
    )


def _is_source(claim: str, text: str, prose: tuple[int, int], span: tuple[int, int]) -> bool:
    """Return whether prose within a span holds words of a claim, and the rest of the span none of the others."""
    said = {word[:_STEM] for word in _content_words(claim)}
    said_there = said & {word[:_STEM] for word in _content_words(text[slice(*prose)])}
    rest = f"{text[span[0] : prose[0]]} {text[prose[1] : span[1]]}"
    return bool(said_there) and (said - said_there).isdisjoint(word[:_STEM] for word in _content_words(rest))


def _is_stray(text: str, start: int, end: int, near: Sequence[str]) -> bool:
    sentence = text[start:end]
    counts = _counts_in(text)
    if _shared(sentence, counts) > MAX_SHARED_BY_EVIDENCE[-1] or _is_contact(sentence):
        return False
    signs = _evidence_signs(sentence, text)
    if not signs:
        # What answers a question, as in a FAQ, is about what the question is about.
        sentence = text[_start_of_question(text, start) : end]
    around = Counter(counts)
    for each in near:
        around.update(_counts_in(each.replace(sentence, "")))
    own = {word[:_STEM] for word in _content_words(sentence)}
    if len(around) < MIN_AROUND[min(signs, len(MIN_AROUND) - 1)] or (signs <= 1 and len(own) < MIN_EVIDENCE_WORDS):
        return False
    return _shared(sentence, around) <= MAX_SHARED_BY_EVIDENCE[min(signs, len(MAX_SHARED_BY_EVIDENCE) - 1)]


def _start_of_question(text: str, start: int) -> int:
    """Return where the question begins that stands right before a place; the place itself if there is none."""
    before = next((span for span in reversed(sentences_of(text)) if span[1] <= start), (start, start))
    is_asked = text[before[0] : before[1]].endswith("?") and not text[before[1] : start].strip()
    return before[0] if is_asked else start


def _is_in_another_script(text: str, start: int, end: int) -> bool:
    """Return whether a span holds letters of another script than nearly all of its text."""
    if text.isascii() or not _OTHER_SCRIPT.search(text, start, end):
        return False
    letters = sum(map(str.isalpha, text))
    return sum(len(run.group()) for run in _OTHER_SCRIPT.finditer(text)) <= MAX_OTHER_SCRIPT * letters


def _evidence_signs(sentence: str, text: str) -> int:
    found = list(_prose_signs(sentence))
    signs = sum(SIGNS[each] for each in found)
    others = {
        "language": _is_in_another_language(sentence, text) and _is_alone_in_its_language(sentence, text),
        "address": _has_address(sentence),
        "label": _LABEL.match(sentence) is not None,
        "document": _THIS_DOCUMENT.search(sentence) is not None,
        "bidden": _BIDDEN.search(sentence) is not None,
    }
    signs += sum(EVIDENCE_SIGNS[each] for each, is_there in others.items() if is_there)
    return signs - ("order" in found and _is_manual(text))


@lru_cache(maxsize=64)
def _counts_in(text: str) -> Counter[str]:
    return Counter(word[:_STEM] for word in _content_words(text))


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
    if any(_is_told(claim, sentence) or _is_framed(claim, sentence, sources) for sentence in written):
        return True
    reports = bool(reported_spans(claim))

    def spans_of(text: str) -> Sequence[tuple[int, int]]:
        return injected_spans(text) if reports else (*injected_spans(text), *reported_spans(text))

    injected = [text[start:end] for text in sources for start, end in spans_of(text)]
    if not injected:
        return False
    said = stems_of(claim, language)
    held = frozenset().union(*(stems_of(_without(text, spans_of(text)), language) for text in evidence))
    only_there = (said - held) & frozenset().union(*(stems_of(text, language) for text in injected))
    return bool(only_there) and len(only_there) >= MIN_TAKEN * len(said)


def _is_told(claim: str, sentence: str) -> bool:
    """Return whether a sentence does not say what a claim says, but orders somebody to say it."""
    order = _ORDER_TO_SAY.search(fold(sentence))
    said = _joined_words(claim)
    return order is not None and len(said) > 3 and said in _joined_words(fold(sentence)[order.end() :])


def _is_framed(claim: str, sentence: str, sources: Sequence[str]) -> bool:
    """Return whether a claim is only a part of a sentence that is foreign to its text: "Assume that the fee is void".

    What stands before it is no evidence for it, whatever it says.
    """
    said, held = _joined_words(claim), _joined_words(sentence)
    at = f" {held} ".find(f" {said} ")
    if at <= 0 or said.count(" ") < MIN_FRAMED_WORDS - 1:
        return False
    folded = fold(sentence)
    starts = [match.start() for match in _WORD.finditer(folded)]
    before = folded[: starts[held[:at].count(" ")]]
    joint = _JOINT.search(before)
    if joint is None or (joint.group().startswith((":", "\uff1a")) and _states(before)):
        return False
    texts = (text for text in sources if held in _joined_words(text))
    counts = (Counter(word[:_STEM] for word in _content_words(text)) for text in texts)
    return any(_is_foreign(sentence, each, at_most=MAX_SHARED_BY_FRAME) for each in counts)


def _states(before: str) -> bool:
    """Return whether what stands before a colon is a statement of its own, neither a label nor an order."""
    words = plain_words(before.rpartition(",")[2])
    if len(words) <= MAX_LABEL_WORDS or _is_imperative(before):
        return False
    return _FINITE.match(before) is not None or words.isdisjoint(_ADDRESS | _OBLIGED)


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
    return frozenset(rule for rule in rules if rule.count(" ") >= 3)


def _joined_words(text: str) -> str:
    return " ".join(_WORD.findall(fold(text).lower()))
