"""Items of lists that are asked for by their order: "the third recommendation", "the last step", "what comes after …".

An item is told only if one list alone is meant and it is sure which of its items it is; otherwise nothing is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.sanitizing import without_markers
from functions.query.grounding.words import content_stems
from functions.query.retrieval.passages import Passage, last_title
from functions.query.understanding.structure import LAST, OrderQuestion, order_question
from functions.query.understanding.vocabulary import are_of_family
from functions.query.writing.list_items import follows_in_list, is_item, on_lines, step_number, without_item_sign
from functions.query.writing.statements import Statement, statements_in
from shared.lexical import fold
from shared.text import is_heading

_LINE = re.compile(r"\S.*")
MIN_NAMED = 0.75
"""Share of a question's words that a list's heading, introduction and document must have, or an item that is named."""
MIN_OF_ITEM = 0.6
"""Share of an item's own words that a question must have to mean it by what it says."""
NEIGHBOURS = {"after": 1, "before": -1}
_NEXT_TO = re.compile(
    r"\Awhat (?:happens|comes|follows|is (?:done|the next step)|(?:do|must|should) (?:i|we|you) do|is to be done)\b"
    r"[^?]{0,30}?\b(?P<side>after|before)\b(?P<item>[^?]+)",
    re.IGNORECASE,
)
"""A question for the item next to another one: "What happens right after customs seals the crates?"."""


class _ItemInOrder(NamedTuple):
    """An item of a list: the number of its passage, and from where to where it goes there."""

    passage: int
    start: int
    end: int


_Numbered = list[tuple[int, _ItemInOrder]]
"""Items with their numbers, which count up."""


class _ListInOrder(NamedTuple):
    """The items of one list by their numbers, what its heading and introduction say, and what is around it."""

    items: Mapping[int, _ItemInOrder]
    named: frozenset[str]
    around: frozenset[str]
    is_numbered: bool
    language: str


def item_in_order(question: str, passages: Sequence[Passage]) -> Claim | None:
    """Return the item that a question asks for by its order; None if it asks for none, or not surely for which."""
    item = _item_asked(question, passages)
    if item is None:
        return None
    text = passages[item.passage].text[item.start : item.end]
    return Claim(without_markers(on_lines(text)), (Reference(item.passage + 1, text),))


def _item_asked(question: str, passages: Sequence[Passage]) -> _ItemInOrder | None:
    if next_to := _NEXT_TO.match(question.strip()):
        return _next_to(next_to["item"], NEIGHBOURS[next_to["side"].lower()], passages)
    language = passages[0].language or "en" if passages else "en"
    asked = order_question(question, language)
    if asked is None:
        return None
    name = re.compile(rf"\b{re.escape(asked.phrase)}\b", re.IGNORECASE)
    if not asked.is_any_item and any(name.search(fold(each.whole)) for each in passages):
        return None  # "first aid", "the second party"
    lists = [each for each in _lists_in(passages) if _is_meant(asked, each)]
    if asked.is_any_item and any(each.is_numbered for each in lists):
        lists = [each for each in lists if each.is_numbered]
    shares = [_share(content_stems(asked.about, each.language), each.named, each.language) for each in lists]
    if not shares or shares.count(max(shares)) > 1:
        return None
    meant = lists[shares.index(max(shares))]
    number = _last_of(meant, passages) if asked.number == LAST else int(asked.number)
    return meant.items.get(number) if number else None


def _is_meant(asked: OrderQuestion, each: _ListInOrder) -> bool:
    """Return whether a list is what a question names: the kind of its items, and what it is about."""
    about, item = (content_stems(text, each.language) for text in (asked.about, asked.item))
    if not asked.is_any_item:
        if not item or not _share(item, each.named, each.language):
            return False
        about = (*item, *about)
    held = each.named | each.around
    return _share(about, each.named, each.language) > 0 and _share(about, held, each.language) >= MIN_NAMED


def _share(words: Sequence[str], held: frozenset[str], language: str) -> float:
    """Return the share of words that a text has, or others of their family."""
    known = [word for word in words if any(are_of_family(word, one, language) for one in held)]
    return len(known) / len(words) if words else 0.0


def _next_to(named: str, step: int, passages: Sequence[Passage]) -> _ItemInOrder | None:
    """Return the item behind (1) or before (-1) the one that is named, if no other item has as many of its words."""
    found: list[tuple[float, _ListInOrder, int]] = []
    for each in _lists_in(passages):
        words = content_stems(named, each.language)
        for number, item in each.items.items() if each.is_numbered else ():
            told = content_stems(passages[item.passage].text[item.start : item.end], each.language)
            # Of a longer item the words may be a part that is nothing to come after.
            if _share(told, frozenset(words), each.language) >= MIN_OF_ITEM:
                found.append((_share(words, frozenset(told), each.language), each, number))
    best = max((share for share, _, _ in found), default=0.0)
    meant = [(each, number) for share, each, number in found if share == best]
    if best < MIN_NAMED or len(meant) > 1:
        return None
    return meant[0][0].items.get(meant[0][1] + step)


def _last_of(each: _ListInOrder, passages: Sequence[Passage]) -> int | None:
    """Return the number of a list's last item; None if some are not at hand, or more may follow."""
    last = max(each.items)
    if len(each.items) < last:
        return None
    item = each.items[last]
    passage = passages[item.passage]
    after = passage.text[item.end :].strip()
    if not after:
        following = (
            other.text.strip()
            for other in passages
            if other.document_id == passage.document_id and other.chunk_index == passage.chunk_index + 1
        )
        after = next(following, "")
    text = passage.text[item.start : item.end]
    return last if after and not follows_in_list(text, after) else None


def _lists_in(passages: Sequence[Passage]) -> Iterator[_ListInOrder]:
    """Yield the lists of passages; a numbered one may go on in another passage of its document."""
    numbered: list[_Numbered] = []
    for at, passage in enumerate(passages):
        bullets: dict[int, list[_ItemInOrder]] = {}
        last = 0
        for statement in statements_in(passage):
            first = (statement.list_span or (statement.start, 0))[0]
            for item in _items_of(statement, at):
                text = passage.text[item.start : item.end]
                if text.strip() == last_title(passage.section_at(passage.char_start + item.start)):
                    continue
                number = step_number(text, (0, len(text)))
                if not number:
                    bullets.setdefault(first, []).append(item)
                    continue
                if number != last + 1 or not last:
                    numbered.append([])
                numbered[-1].append((number, item))
                last = number
        for each in bullets.values():
            if _are_flat(each, passage) and (found := _list_of([*enumerate(each, 1)], passages, is_numbered=False)):
                yield found
    for items in _with_rests(numbered, passages):
        if found := _list_of(items, passages, is_numbered=True):
            yield found


def _are_flat(items: Sequence[_ItemInOrder], passage: Passage) -> bool:
    """Return whether bullets are all of one list from its beginning: what begins a passage may be no first one.

    Of bullets that differ, or of which some begin small, some are below others.
    """
    signs = {passage.text[item.start] for item in items}
    begin_small = {without_item_sign(passage.text[item.start : item.end])[:1].islower() for item in items}
    return len(signs) == len(begin_small) == 1 and items[0].start > 0


def _with_rests(lists: Sequence[_Numbered], passages: Sequence[Passage]) -> Sequence[_Numbered]:
    """Return numbered lists with what goes on in another passage of their document, which begins with the next item.

    Or with the last ones again: passages overlap.
    """
    joined = list(lists)
    for rest in sorted((each for each in joined if each[0][0] > 1), key=lambda each: each[0][0]):
        passage = passages[rest[0][1].passage]
        before = [each for each in joined if each is not rest and _goes_on(each, rest, passages)]
        if len(before) == 1 and not passage.text[: rest[0][1].start].strip():
            known = {number for number, _ in before[0]}
            before[0].extend(item for item in rest if item[0] not in known)
            joined.remove(rest)
    return joined


def _goes_on(before: _Numbered, rest: _Numbered, passages: Sequence[Passage]) -> bool:
    """Return whether a list ends with its passage, and a rest of one in the same document is what comes next."""
    number, last = before[-1]
    passage = passages[last.passage]
    is_next = rest[0][0] == number + 1 or _text_of(rest[0][1], passages) in {
        _text_of(each, passages) for _, each in before
    }
    is_of_document = passages[rest[0][1].passage].document_id == passage.document_id
    return is_next and is_of_document and rest[-1][0] > number and not passage.text[last.end :].strip()


def _text_of(item: _ItemInOrder, passages: Sequence[Passage]) -> str:
    return passages[item.passage].text[item.start : item.end]


def _items_of(statement: Statement, at: int) -> Iterator[_ItemInOrder]:
    """Yield the items of a statement, which is one, or a short list with its introduction."""
    if statement.is_row or not statement.has_items:
        return
    starts = [line.start() for line in _LINE.finditer(statement.text) if is_item(line[0])]
    for start, end in pairwise([*starts, len(statement.text)]):
        yield _ItemInOrder(
            at, statement.start + start, statement.start + start + len(statement.text[start:end].rstrip())
        )


def _list_of(
    items: Sequence[tuple[int, _ItemInOrder]], passages: Sequence[Passage], *, is_numbered: bool
) -> _ListInOrder | None:
    """Return items as a list; None for one item, or if two have one number, as those of two lists below one heading."""
    texts: dict[int, str] = {}
    places: dict[int, _ItemInOrder] = {}
    for number, item in items:
        text = passages[item.passage].text[item.start : item.end]
        if texts.setdefault(number, text) != text:
            return None
        places.setdefault(number, item)
    if len(places) == 1:
        return None
    first = places[min(places)]
    passage = passages[first.passage]
    section = passage.section_at(passage.char_start + first.start)
    language = passage.language or "en"
    around = " ".join((section, passage.title, passage.kind, *passage.organisations))
    named = frozenset(content_stems(f"{last_title(section)} {_introduction(passage, first)}", language))
    return _ListInOrder(places, named, frozenset(content_stems(around, language)), is_numbered, language)


def _introduction(passage: Passage, first: _ItemInOrder) -> str:
    """Return the line directly above a list's first item, and the nearest heading above that if it is none."""
    *above, line = passage.text[: first.start].rstrip().split("\n")
    heading = "" if is_heading(line) else next((each for each in reversed(above) if is_heading(each)), "")
    return f"{line} {heading}"
