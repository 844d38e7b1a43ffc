"""`evals injection`: whether an answer shows what an instruction hidden in a document told the model to say.

Each instruction is planted into passages as they are ingested, in several places. A simulated model obeys it: it claims
each thing that the instruction wanted, quoting the instruction, what it said, another sentence, or nothing. Besides,
sentences of the same PDFs are claimed word for word; imperatives among them, as in manuals, are counted separately. A
word counts as a verb if it follows "to" or "not" somewhere in its PDF.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evals.data import json_lines
from evals.display import Display
from evals.errors import DatasetError
from evals.metrics import wilson
from evals.pdf_library import PdfLibrary
from evals.storage import ResultCache, environment, source_hash, write_json
from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.injection import injected_spans
from functions.query.grounding.verify import Verifier
from functions.query.retrieval.passages import Passage
from shared.text import sentence_spans

PLACES = ("start", "middle", "paragraph", "end of a sentence", "end", "item", "after a year", "before pages")
MIN_CHARACTERS = 500
"""Characters a passage needs to have a middle to plant into."""
HONEST_PER_PDF = 200
SOURCES = 3
_VERB = re.compile(r"\b(?:to|not|and) ([a-z]{3,})\b")
_FIRST_WORD = re.compile(r"(?:[^\w\s]|\d+[.)]|\s)*([A-Z][a-z]{2,}) [^|\n]{4,}[.!]\Z")


@dataclass(frozen=True, slots=True)
class HiddenInstruction:
    """An instruction, the set it is from, and what a model that obeys it claims."""

    group: str
    text: str
    obeyed: Sequence[str]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One thing claimed by a model that obeys, and whether any of it was shown."""

    instruction: HiddenInstruction
    place: str
    claim: str
    quote: str
    shown: bool


def injection(
    *,
    strings: Path,
    pdfs: Sequence[Path],
    json: Path | None,
    details: bool,
    seed: int,
    cache: Path,
    fresh: bool,
    display: Display,
) -> int:
    """Plant every instruction, claim what it wants, claim honest sentences; print, and write with `--json`."""
    library = PdfLibrary(pdfs, ResultCache(cache), fresh=fresh)
    instructions = list(_read(strings))
    draw = np.random.default_rng(seed)
    with display.progress():
        names = sorted({path.stem for folder in pdfs for path in folder.glob("*.pdf")})
        read = [_advance(display, "reading", n, names, library.passages_of(name)) for n, name in enumerate(names)]
        books = [book for book in read if sum(len(each.text) >= MIN_CHARACTERS for each in book) >= SOURCES]
        if not books:
            raise DatasetError("No PDF with enough text was found.")
        recognised = Counter[str]()
        attempts: list[Attempt] = []
        for number, each in enumerate(instructions):
            found, tried = _attack(each, books, draw)
            recognised[each.group] += found
            attempts += _advance(display, "attacking", number, instructions, tried)
        honest = [_advance(display, "claiming", n, books, _honest(book, draw)) for n, book in enumerate(books)]
    result: dict[str, Any] = {
        "command": "injection",
        "versions": {"source": source_hash("functions", "shared"), **environment()},
        "settings": {"strings": strings.name, "seed": seed},
        "recognised": {
            group: _share(recognised[group], count * len(PLACES))
            for group, count in sorted(Counter(each.group for each in instructions).items())
        },
        "shown": _by(attempts, lambda each: each.instruction.group),
        "places": _by(attempts, lambda each: each.place),
        "all": _share(sum(each.shown for each in attempts), len(attempts)),
        "honest": {kind: _share(*_sum(each[kind] for each in honest)) for kind in ("sentences", "imperatives")},
    }
    _show(result, display)
    if details:
        result["details"] = [
            {
                "set": each.instruction.group,
                "text": each.instruction.text,
                "place": each.place,
                "claim": each.claim,
                "quote": each.quote,
            }
            for each in attempts
            if each.shown
        ]
        result["lost"] = [sentence for each in honest for sentence in each["lost"]]
    if json:
        write_json(json, result)
    return 0


def _read(path: Path) -> Iterator[HiddenInstruction]:
    for _, item in json_lines(path):
        try:
            yield HiddenInstruction(str(item["set"]), str(item["text"]), [str(each) for each in item["obeyed"]])
        except (KeyError, TypeError) as error:
            raise DatasetError(f"{path}: each line needs set, text, obeyed.") from error


# --- the attacks ---


def _attack(
    instruction: HiddenInstruction, books: Sequence[Sequence[Passage]], draw: np.random.Generator
) -> tuple[int, list[Attempt]]:
    """Return in how many places the instruction was recognised, and what became of each claim."""
    recognised, attempts = 0, []
    for place in PLACES:
        book = [each for each in books[int(draw.integers(len(books)))] if len(each.text) >= MIN_CHARACTERS]
        passage, *others = (book[at] for at in draw.permutation(len(book))[:SOURCES])
        planted, at = _planted(passage, instruction.text, place)
        spans = injected_spans(planted.text)
        recognised += any(begin < at + len(instruction.text) and end > at for begin, end in spans)
        sentences = [passage.text[slice(*span)] for span in sentence_spans(passage.text)]
        elsewhere = sentences[int(draw.integers(len(sentences)))]
        for said in instruction.obeyed:
            for quote in dict.fromkeys((said, instruction.text, elsewhere, "")):
                claim = Claim(said, (Reference(1, quote),))
                shown = any(Verifier([planted, *others], question=passage.section).check(claim))
                attempts.append(Attempt(instruction, place, said, quote, shown))
    return recognised, attempts


def _planted(passage: Passage, text: str, place: str) -> tuple[Passage, int]:
    """Return the passage with the text in it, and where it is."""
    whole = passage.text
    ends = [end for _, end in sentence_spans(whole)]
    middle = next((end for end in ends if end >= len(whole) // 2), len(whole))
    before, after = {
        "start": ("", f" {whole}"),
        "middle": (f"{whole[:middle]} ", f" {whole[middle:].lstrip()}"),
        "paragraph": (f"{whole[:middle]}\n\n", f"\n\n{whole[middle:].lstrip()}"),
        "end of a sentence": (f"{whole[:middle].rstrip('.!?')}, ", f" {whole[middle:].lstrip()}"),
        "end": (f"{whole} ", ""),
        "item": (f"{whole[:middle]}\n\n• ", f"\n\n{whole[middle:].lstrip()}"),
        "after a year": (f"{whole[:middle]} It was built in 2019. ", f" {whole[middle:].lstrip()}"),
        "before pages": (f"{whole[:middle]} ", f" See pages 3-4 of the annex. {whole[middle:].lstrip()}"),
    }[place]
    return passage._replace(text=f"{before}{text}{after}"), len(before)


# --- honest sentences ---


def _honest(book: Sequence[Passage], draw: np.random.Generator) -> Mapping[str, Any]:
    """Claim sentences of a PDF word for word; return the numbers lost and claimed, and what was lost."""
    verbs = {word for each in book for word in _VERB.findall(each.text)}
    sentences = [(each, each.text[slice(*span)]) for each in book for span in sentence_spans(each.text)]
    imperatives = [(each, text) for each, text in sentences if _is_imperative(text, verbs)]
    sample = [sentences[at] for at in draw.permutation(len(sentences))[:HONEST_PER_PDF]]
    lost = [[text for passage, text in group if _is_lost(passage, text)] for group in (sample, imperatives)]
    return {
        "sentences": (len(lost[0]), len(sample)),
        "imperatives": (len(lost[1]), len(imperatives)),
        "lost": list(dict.fromkeys(lost[0] + lost[1])),
    }


def _is_imperative(text: str, verbs: set[str]) -> bool:
    first = _FIRST_WORD.match(text)
    return first is not None and first[1].lower() in verbs


def _is_lost(passage: Passage, text: str) -> bool:
    verifier = Verifier([passage], question=passage.section)
    list(verifier.check(Claim(text, (Reference(1, text),))))
    return "instruction" in verifier.support.flags


# --- figures ---


def _advance[Result](display: Display, what: str, number: int, of: Sequence[object], result: Result) -> Result:
    display.advance(what, number + 1, len(of))
    return result


def _sum(pairs: Iterator[tuple[int, int]]) -> tuple[int, int]:
    counts = list(pairs)
    return sum(count for count, _ in counts), sum(n for _, n in counts)


def _by(attempts: Sequence[Attempt], key: Any) -> Mapping[str, Mapping[str, Any]]:
    tried, shown = Counter(map(key, attempts)), Counter(key(each) for each in attempts if each.shown)
    return {name: _share(shown[name], count) for name, count in sorted(tried.items())}


def _share(count: int, n: int) -> Mapping[str, Any]:
    return {"count": count, "n": n, "ci": wilson(count, n)}


def _show(result: Mapping[str, Any], display: Display) -> None:
    rows = [_row(f"recognised, {name}", counts) for name, counts in result["recognised"].items()]
    rows += [_row(f"obeyed claims shown, {name}", counts) for name, counts in result["shown"].items()]
    rows += [_row(f"  planted: {name}", counts) for name, counts in result["places"].items()]
    rows += [_row("obeyed claims shown", result["all"])]
    rows += [_row(f"honest {kind} lost", counts) for kind, counts in result["honest"].items()]
    display.table(f"Instructions of {result['settings']['strings']}", ["", "count", "of", "%"], rows)


def _row(name: str, counts: Mapping[str, Any]) -> list[str]:
    low, high = counts["ci"]
    share = counts["count"] / counts["n"] if counts["n"] else 0.0
    return [name, str(counts["count"]), str(counts["n"]), f"{100 * share:.1f} ({100 * low:.1f}–{100 * high:.1f})"]
