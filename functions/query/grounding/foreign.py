"""Finds sentences that are foreign to their text: they ask or address somebody, and the rest does not hold their words.

What is in no known pattern shows by its place. The more signs a sentence has, the more words it may share.
`foreign_spans` judges a text by itself; `is_stray` judges a sentence that a claim is made from, when the question, the
titles and other passages of the document are known, too.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from functions.query.grounding.addressing import (
    ADDRESS,
    FUNCTION_WORDS_OF_ENGLISH,
    LABEL,
    OBJECT,
    READERS,
    SUBORDINATE,
    TAG,
    YOU,
    count_signs,
    has_address,
    is_contact,
    is_for_others,
    may_address,
    signs_in_prose,
)
from functions.query.grounding.instructions import hits_in, plain_words, words_in_class
from functions.query.grounding.words import STOP_WORDS, WORD, stem_of
from functions.query.understanding.question import word_lists
from shared import identity
from shared.dates import is_month
from shared.language import FUNCTION_WORDS, language_of
from shared.lexical import MAX_RARITY, background, fold
from shared.text import BULLETS, LIST_ITEM, SEPARATOR, sentences_of

MAX_SENTENCE = 600
"""A longer sentence is a table or a page without full stops; only the text near an instruction counts as injected."""
_LETTERS = re.compile(r"[^\W\d_]{4,}")
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
    r"(\w+)\s+(?!(?:of|and|or|is|was|were|are|has|had|by|in|for|at|from|will|may)\b)"
    r"(?!(?!based)\w+ed (?:by|on|in|at|to|for)\b)[^|\n.!?]{8,200}(?:[.!?]|$|\n)"
)
_OPENING_MARKS = tuple("\"“„«‘'(")
_AFTER_NOUN = re.compile(r"\w+\s+(?:an?|the|me|us|my|your|some|how|what|why|out|up|down)\b")
"""Words after which "plan", "design" and other nouns are an imperative."""
_QUESTION = re.compile(rf"\b(?i:{'|'.join(words_in_class('ASKS'))})\b[^.!?\n]{{5,200}}\Z")
_WORK = frozenset(word for name in ("TASK", "NOUN_TASK", "ASKS", "CREATED") for word in words_in_class(name))
_NO_SUBJECT = _WORK | STOP_WORDS
"""Words that say nothing of what a text is about."""
_REFERS_BACK = re.compile(r"(?:He|She|They|His|Her|Their|(?:After|Before|Until|For) (?:that|this)|Then)\b")
"""What speaks of the sentence before."""
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
_YEAR_BEFORE = re.compile(rf"(?:\.,? |\. ?\(){identity.YEAR}[a-z]?\)?\.\s+\Z")
"""The year of a publication, behind the full stop of its authors."""
MAX_PUBLISHER = 160
"""Characters from a place in the title of a publication to its pages."""
_CLAUSE = re.compile(rf"[,;] +(?=[A-Z])|: +(?=\w)|\n+(?=[A-Z])| (?<=[^.!?\s] ) *(?=[A-Z][a-z]+ {OBJECT}\b)")
"""What stands before an instruction within a sentence. Each way begins with a character, which is found at once."""
_BEFORE_PREPOSITION = re.compile(r"\w+ (?:as|by|with|to|in|on|into|from)\b")
_AFTER_CAPITAL = re.compile(r"(?<![^ (])[A-Z][\w'’-]* \Z")
MIN_SIGNS = 2
"""A sentence with a single sign is too often an honest one: "This report tells what we did"."""
MIN_FUNCTION_WORDS = 8
"""English function words in a text that make it English without asking the model."""
MIN_WORDS_OF_BOTH = 4
"""Function words of another language that are not English ones, from which a text is in that language, too."""
_STOP = re.compile(r"[.!?][\"”»“’')\]]*(?=\s)")
_BEGIN = re.compile(r"(?:[.!?,;:|)\]”]|\n)\s*[\"“„(\[]*(?=[^\W\d_a-z])")
_PREPOSITIONS = word_lists("claim_words.txt")["going_on"]
"""Words behind which no sentence begins, whatever has a capital: prepositions, articles, "and"."""
_CLOSING_MARKS = "\"”»“’')]"
_BEFORE_TAG = re.compile(rf"(?={TAG.pattern})")
"""An instruction may also begin with a tag."""
MAX_SHARED_BY_SIGNS = {2: 0.1, 3: 0.4}
"""The same as `MAX_SHARED` for any sentence, by the number of signs that it asks or addresses somebody."""
MAX_SHARED_IN_PROSE = {1: 0.0, 2: 0.1, 3: 0.2, 4: 0.3}
"""The same for a whole sentence of prose, by the number of its signs, of which one more kind counts."""
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
MIN_ALONE = 4
MIN_ALONE_SHARE = 0.25
"""Sentences of a text, and their share, that share nothing with the rest, from which it is about many things."""
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
BEFORE_ITEM = 10
BEFORE_TITLE = 12
BEFORE_NAME = 40
BEFORE_CLAUSE = 20
BEFORE_QUESTION = 220
"""Characters before a place in which a list's mark, the year of a publication, a name's first word, a preposition, and
the beginning of a question are looked for."""


def foreign_spans(text: str, sentences: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield requests, questions and sentences with weak signs whose subject the rest of the text does not speak of."""
    starts = [start for start, _ in sentences]
    weak = (
        (*sentences[max(0, bisect_right(starts, hit.start) - 1)], hit.pattern.following)
        for hit in hits_in(text)
        if hit.pattern.weak
    )
    requests = ((start, end, 0) for start, end in chain(_requests(text), _questions(text)))
    wanted = list(dict.fromkeys((*requests, *weak)))
    addresses = plain_words(text) & ADDRESS
    suspects = [
        (start, end)
        for start, end in sentences
        if not _LIST_START.match(text, start) and may_address(text, start, end, addresses)
    ]
    if not wanted and not suspects:
        return
    counts = counts_in(text)
    foreign = [each for each in wanted if is_foreign(text[each[0] : each[1]], counts)]
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
    is_marked = _ITEM_BEFORE.search(text, max(0, start - BEFORE_ITEM), start) is not None
    return is_marked and len(_ITEMS.findall(text)) >= MIN_ITEMS


def _is_title(text: str, start: int, end: int) -> bool:
    """Return whether a span is the title of a publication in a list of references; it addresses nobody."""
    span = text[start:end]
    if has_address(span) or not plain_words(span).isdisjoint(YOU | READERS):
        return False
    return (
        _YEAR_BEFORE.search(text, max(0, start - BEFORE_TITLE), start) is not None
        or _PUBLISHED.match(text, end, end + MAX_PUBLISHER) is not None
        or _APPEARED.search(span) is not None
    )


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span of a sentence, and of what in it may be another one."""
    subordinate = SUBORDINATE.match(text, start, end)
    main = [subordinate.end()] if subordinate and subordinate.end() < end else []
    tags = _BEFORE_TAG.finditer(text, start, end) if "<" in text else ()
    found = (each.end() for each in chain(_CLAUSE.finditer(text, start, end), tags))
    clauses = (at for at in found if not _is_in_name(text, at))
    starts = sorted({start, *main, *clauses, end})
    for begin, stop in dict.fromkeys(((start, end), *pairwise(starts))):
        if stop - begin <= MAX_SENTENCE and SEPARATOR not in text[begin:stop]:
            yield begin, begin + len(text[begin:stop].rstrip())


def _is_in_name(text: str, at: int) -> bool:
    """Return whether a word at a place ends a name, or a date: "Umar | Sheikh as secretary", "31 | March only"."""
    word = WORD.match(text, at)
    if word and text[at - 2 : at - 1].isdigit() and is_month(fold(word.group()).lower()):
        return True
    is_after_word = _AFTER_CAPITAL.search(text, max(0, at - BEFORE_NAME), at) is not None
    return is_after_word and _BEFORE_PREPOSITION.match(text, at) is not None


def _prose_in(text: str, start: int, end: int, *, lower_case: float = MIN_LOWER_CASE) -> Iterator[tuple[int, int]]:
    """Yield the spans in a sentence that may be one of their own, though the splitter did not see it."""
    stops = [*(each.end() for each in _STOP.finditer(text, start, end)), end]
    for begin in dict.fromkeys((start, *(each.end() for each in _BEGIN.finditer(text, start, end)))):
        stop = stops[bisect_right(stops, begin)] if begin < end else end
        if stop - begin <= MAX_SENTENCE and _is_prose(text[begin:stop], lower_case=lower_case):
            yield begin, stop


def _goes_on(text: str, begin: int) -> bool:
    """Return whether a place follows a preposition, so that no sentence begins there: "from | June to October"."""
    before = text[max(0, begin - BEFORE_CLAUSE) : begin]
    return before.endswith(" ") and not _PREPOSITIONS.isdisjoint(before.split()[-1:])


def _is_outlier(sentence: str, counts: Mapping[str, int], text: str) -> bool:
    """Return whether a sentence asks or addresses somebody and is foreign to its text."""
    if _is_prose(sentence):
        shared = _shared(sentence, counts)
        if shared > MAX_SHARED_IN_PROSE[4]:  # whatever its signs, some of which take longer to read
            return False
        signs = len(signs_in_prose(sentence, text)) + _is_in_another_language(sentence, text)
        if signs:
            signs += (LABEL.match(sentence) is not None) + has_address(sentence)
        if signs == 1 and (len(_subject_of(sentence)[0]) < MIN_FOREIGN_WORDS or _is_of_many_things(text)):
            return False
        return signs > 0 and shared <= MAX_SHARED_IN_PROSE[min(signs, 4)] and not is_contact(sentence)
    signs = count_signs(sentence, text)
    return (
        signs >= MIN_SIGNS
        and is_foreign(sentence, counts, at_most=MAX_SHARED_BY_SIGNS[min(signs, 3)])
        and not is_contact(sentence)
    )


@lru_cache(maxsize=64)
def _is_of_many_things(text: str) -> bool:
    """Return whether many of a text's sentences share nothing with the rest, as in a newsletter."""
    sentences = [text[start:end] for start, end in sentences_of(text) if _is_prose(text[start:end])]
    counts = counts_in(text)
    alone = sum(is_foreign(sentence, counts, at_most=0.0) for sentence in sentences)
    return alone >= MIN_ALONE and alone >= MIN_ALONE_SHARE * len(sentences)


def _is_in_another_language(sentence: str, text: str) -> bool:
    """Return whether a sentence holds no function word of its text's language, and is in another one."""
    own = _language_of_all(text)
    return plain_words(sentence).isdisjoint(FUNCTION_WORDS.get(own, ())) and language_of(sentence) not in ("", own)


@lru_cache(maxsize=64)
def _language_of_all(text: str) -> str:
    is_english = len(plain_words(text) & FUNCTION_WORDS_OF_ENGLISH) >= MIN_FUNCTION_WORDS
    return "en" if is_english else language_of(text)


def _is_alone_in_its_language(sentence: str, text: str) -> bool:
    """Return whether the rest of a text holds few function words of a sentence's language: it is not in both.

    Of some languages no function words are known, so it cannot be told.
    """
    own = FUNCTION_WORDS.get(language_of(sentence))
    others = plain_words(text.replace(sentence, " ")) - FUNCTION_WORDS_OF_ENGLISH
    return own is not None and len(others & own) < MIN_WORDS_OF_BOTH


def _is_prose(sentence: str, *, lower_case: float = MIN_LOWER_CASE) -> bool:
    """Return whether a text is a sentence of running words, not a title, a reference or a row."""
    if sentence.rstrip(_CLOSING_MARKS)[-1:] not in (".", "!", "?"):
        return False
    words = WORD.findall(sentence)
    return (
        len(words) >= MIN_PROSE_WORDS
        and words[0][0].isupper()
        and sum(map(str.islower, (word[0] for word in words))) >= lower_case * len(words)
    )


def is_foreign(sentence: str, counts: Mapping[str, int], *, at_most: float = MAX_SHARED) -> bool:
    """Return whether the rest of a text shares few of a sentence's rare words; `counts` are those of the whole text."""
    return _shared(sentence, counts) <= at_most


def _shared(sentence: str, *counts: Mapping[str, int]) -> float:
    """Return the share of a sentence's words, by rarity, that the rest of the texts holds; 1.0 if it cannot be told.

    `counts` are those of each text, of which one has the sentence.
    """
    own, weights = _subject_of(sentence)
    if len(own) < (1 if plain_words(sentence) & _CREATED else 2) or not _has_words(counts, MIN_REST + len(own)):
        return 1.0
    shared = sum(
        weight
        for word, weight in weights.items()
        if sum(each.get(word[:_STEM], 0) for each in counts) > own[word[:_STEM]]
    )
    return shared / sum(weights.values())


@lru_cache(maxsize=256)
def _subject_of(sentence: str) -> tuple[Mapping[str, int], Mapping[str, float]]:
    """Return how often a sentence has each content word, by its first letters, and the rarity of each whole word."""
    subject, rarity = _content_words(sentence), background("en")
    weights = {word: rarity.get(stem_of(word, "en"), MAX_RARITY) for word in subject}
    return Counter(word[:_STEM] for word in subject), weights


def _has_words(counts: Sequence[Mapping[str, int]], least: int) -> bool:
    """Return whether texts have so many different words together."""
    return any(len(each) >= least for each in counts) or len(frozenset().union(*counts)) >= least


def _requests(text: str) -> Iterator[tuple[int, int]]:
    for word in plain_words(text) & (_TASK | _NOUN_TASK):
        for form in (word.capitalize(), word.upper(), f". {word}", f": {word}"):
            at = text.find(form)
            while at >= 0:
                begin = at + len(form) - len(word)
                request = _REQUEST.match(text, begin)
                is_one = request and request[1].lower() == word and not _is_quoted(text, begin)
                is_task = word in _TASK or _AFTER_NOUN.match(text, begin)
                if request and is_one and is_task and not is_for_others(request.group()):
                    yield request.span()
                at = text.find(form, at + 1)


def _questions(text: str) -> Iterator[tuple[int, int]]:
    at = text.find("?")
    while at >= 0:
        question = _QUESTION.search(text, max(0, at - BEFORE_QUESTION), at)
        if question and question.group()[0].isupper() and not _is_quoted(text, question.start()):
            yield question.start(), at + 1
        at = text.find("?", at + 1)


def _is_quoted(text: str, at: int) -> bool:
    return text[max(0, at - 1) : at] in _OPENING_MARKS


def _content_words(text: str) -> list[str]:
    words = _LETTERS.findall(text.lower())
    return [word for word in (words if text.isascii() else map(fold, words)) if word not in _NO_SUBJECT]


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
    counts = counts_in(text)
    if _shared(sentence, counts) > MAX_SHARED_BY_EVIDENCE[-1] or is_contact(sentence):
        return False
    signs = _evidence_signs(sentence, text)
    if not signs:
        # What answers a question, as in a FAQ, is about what the question is about; "After that" about what is before.
        sentence = text[_start_of_subject(text, start) : end]
    if signs <= 1 and len(_subject_of(sentence)[0]) < MIN_EVIDENCE_WORDS:
        return False
    around = (counts, *(counts_in(each.replace(sentence, "")) for each in near))
    if not _has_words(around, MIN_AROUND[min(signs, len(MIN_AROUND) - 1)]):
        return False
    return _shared(sentence, *around) <= MAX_SHARED_BY_EVIDENCE[min(signs, len(MAX_SHARED_BY_EVIDENCE) - 1)]


def _start_of_subject(text: str, start: int) -> int:
    """Return where the sentence before a place begins if that is a question or is referred back to; else the place."""
    before = next((span for span in reversed(sentences_of(text)) if span[1] <= start), (start, start))
    leads = text[before[0] : before[1]].endswith("?") or _REFERS_BACK.match(text, start)
    return before[0] if leads and not text[before[1] : start].strip() else start


def _is_in_another_script(text: str, start: int, end: int) -> bool:
    """Return whether a span holds letters of another script than nearly all of its text."""
    if text.isascii() or not _OTHER_SCRIPT.search(text, start, end):
        return False
    letters = sum(map(str.isalpha, text))
    return sum(len(run.group()) for run in _OTHER_SCRIPT.finditer(text)) <= MAX_OTHER_SCRIPT * letters


def _evidence_signs(sentence: str, text: str) -> int:
    others = {
        "language": _is_in_another_language(sentence, text) and _is_alone_in_its_language(sentence, text),
        "address": has_address(sentence),
        "label": LABEL.match(sentence) is not None,
        "document": _THIS_DOCUMENT.search(sentence) is not None,
        "bidden": _BIDDEN.search(sentence) is not None,
    }
    return len(signs_in_prose(sentence, text)) + sum(EVIDENCE_SIGNS[each] for each in others if others[each])


@lru_cache(maxsize=64)
def counts_in(text: str) -> Counter[str]:
    """Return how often a text has each of its content words, by their first letters."""
    return Counter(word[:_STEM] for word in _content_words(text))
