"""How many false claims of a model are shown, and how many true ones are not, on the text of real PDFs.

    python -m tests.benchmarks.bench_grounding [FOLDER ...] [--attacks N] [--seed N] [--show]

Each PDF (default: those under $RECTO_DATASETS; without that, the three samples) is parsed and cut as it is ingested;
five of its passages are the sources of each answer. Printed per kind of attack: how many were made, how many got
anything false or foreign shown. Below: the share of true claims that were not shown, said word for word and said in
another way of writing; and what an answer costs. Exits with 1 where a promise does not hold: no leak; changed numbers,
reversed statements and wrong sources caught ≥ 98 %; false alarms ≤ 2 %; every shown citation is in its source.
"""

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from functions.ingest.chunking.chunker import ChunkSettings, chunk_pages
from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from functions.query.retrieval.passages import Passage
from shared.errors import DocumentRejected
from shared.models import SourceType
from tests.support import false_claims, hostile_output
from tests.support.attacks import AttackOutcome, attack_makers, plain, poisoned, run_attack
from tests.support.false_claims import Attack, sentences_of

SAMPLES = Path(__file__).parents[2] / "local" / "samples"
MIN_CAUGHT = 0.98
MAX_FALSE_ALARMS = 0.02
MEASURED = {"mutated number", "negation", "wrong source", "exchanged word", "put in", "other measure", "other digits"}
"""Kinds that cannot be caught every time: two passages may say the same, a raised digit may be a footnote's mark. The
others must be."""
SOURCES = 5
TRIES = 12


def main(arguments: Sequence[str]) -> int:
    """Print the figures; 1 if a promise does not hold."""
    options = _options(arguments)
    draw = random.Random(options.seed)
    books = [passages for path in _pdfs(options.folders) if len(passages := list(_passages(path))) >= SOURCES]
    if not books:
        _say("No PDF with enough text was found.")
        return 2
    outcomes: list[AttackOutcome] = []
    started = time.process_time()
    while len(outcomes) < options.attacks:
        sources = draw.sample(draw.choice(books), SOURCES)
        outcomes += [run_attack(attack, sources) for attack in _attacks(sources, draw)]
        at, injection = draw.randrange(SOURCES), draw.choice(hostile_output.INJECTIONS)
        spoilt = poisoned(sources, at, injection[0])
        outcomes.append(run_attack(hostile_output.obeyed(injection, at + 1, draw), spoilt))
    each_ms = 1_000 * (time.process_time() - started) / len(outcomes)
    kept = _report(outcomes, show=options.show)
    held_back = [
        _truth(name, books, options.attacks // 10, draw, show=options.show) for name in ("honest", "rewritten")
    ]
    citations = sum(len(outcome.written.citations) for outcome in outcomes)
    broken = sum("is not in its source" in leak or "markers" in leak for outcome in outcomes for leak in outcome.leaks)
    _say(f"{citations} citations shown, {broken} of them not grounded; {each_ms:.1f} ms CPU an answer")
    return int(not kept or broken > 0 or max(held_back) > MAX_FALSE_ALARMS)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _report(outcomes: Sequence[AttackOutcome], *, show: bool) -> bool:
    made = Counter(outcome.attack.kind for outcome in outcomes)
    through = Counter(outcome.attack.kind for outcome in outcomes if outcome.leaks)
    kept = True
    _say(f"{'attack':18} {'made':>6} {'through':>8} {'caught':>8}")
    for kind, count in sorted(made.items()):
        caught = 1 - through[kind] / count
        kept &= caught >= MIN_CAUGHT if kind in MEASURED else through[kind] == 0
        _say(f"{kind:18} {count:6} {through[kind]:8} {caught:8.3%}")
    _say(f"{'all':18} {made.total():6} {through.total():8}")
    for outcome in outcomes if show else ():
        if outcome.leaks:
            _say(f"- {outcome.attack.kind}: {outcome.leaks}")
            _say(f"  {outcome.attack.text[:500]}\n  {outcome.written.text[:300]}")
    return kept


def _truth(name: str, books: Sequence[Sequence[Passage]], count: int, draw: random.Random, *, show: bool) -> float:
    """Return the share of true claims that were not shown as they were said."""
    asked = alarms = 0
    for _ in range(TRIES * count):
        if asked == count:
            break
        sources = draw.sample(draw.choice(books), SOURCES)
        sentences = sentences_of(sources)
        attack = getattr(false_claims, name)(draw.choice(sentences), draw) if sentences else None
        if attack is None:
            continue
        asked += 1
        answer = run_attack(attack, sources).written
        if answer.mode != "generated" or plain(attack.claim) not in plain(answer.text):
            alarms += 1
            if show:
                _say(f"- {name}: {answer.support.flags}\n  {attack.claim[:300]}\n  {answer.text[:300]}")
    _say(f"truth, {name}: {asked} claims, {alarms} held back ({alarms / max(1, asked):.2%})")
    return alarms / max(1, asked)


def _attacks(sources: Sequence[Passage], draw: random.Random) -> Iterator[Attack]:
    sentences = sentences_of(sources)
    for make in attack_makers(sources).values():
        for _ in range(TRIES if sentences else 0):
            attack = make(draw.choice(sentences), draw)
            if attack is not None:
                yield attack
                break


def _passages(path: Path) -> Iterator[Passage]:
    try:
        with open_pdf(path, file_name=path.name, limits=Limits()) as parsed:
            title = parsed.title
            chunks = list(chunk_pages(parsed.pages(), title=title, settings=ChunkSettings(512, 50)))
    except DocumentRejected:
        return
    for chunk in chunks:
        yield Passage(
            chunk_id=f"{path.stem}#1#{chunk.index}",
            document_id=path.stem,
            generation="1",
            source_type=SourceType.PDF,
            title=title,
            section=chunk.section,
            text=chunk.text,
            score=0.8,
            chunk_index=chunk.index,
            token_count=chunk.token_count,
            page_start=chunk.page_start,
            page_end=chunk.page_end,
            page_label=chunk.page_label,
            char_start=chunk.char_start,
            content_hash=chunk.content_hash,
            language=chunk.language,
        )


def _pdfs(folders: Iterable[Path]) -> Iterator[Path]:
    given = list(folders) or [Path(os.environ.get("RECTO_DATASETS", SAMPLES))]
    for folder in given:
        yield from sorted(folder.rglob("*.pdf")) if folder.is_dir() else [folder]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.bench_grounding")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="PDFs, or folders of them")
    parser.add_argument("--attacks", type=int, default=2_000, help="attacks at least (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print what came through, and what was held back")
    return parser.parse_args(arguments)


def test_promises_hold_on_pdfs() -> None:
    """Run by `make bench`."""
    assert main([]) in {0, 2}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
