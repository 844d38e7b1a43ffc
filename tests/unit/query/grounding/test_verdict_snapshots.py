"""What the verifier says about hundreds of made claims, true and false, and about seeded changes of each.

The claims are in `tests/unit/query/made/claims.txt`. `make snapshots` stores what comes out now.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.comparison import ClaimComparison, Context
from functions.query.grounding.evidence import find_evidence
from functions.query.grounding.judge import RULES, Verdict
from functions.query.grounding.statements import statement_of
from functions.query.grounding.verify import Verifier
from functions.query.retrieval.passages import Passage
from shared.text import sentence_spans
from tests.support.made_library import Block, blocks, varied
from tests.support.snapshots import check, check_names

HERE = Path(__file__).parent / "snapshots" / "verdicts"
SIGNS = {Verdict.CONFIRMED: "+", Verdict.UNCONFIRMED: "?", Verdict.REFUTED: "-"}


@pytest.mark.parametrize("block", blocks(), ids=lambda each: each.name)
def test_the_verdicts_of_made_claims_are_the_stored_ones(block: Block) -> None:
    draw = random.Random(block.name)
    lines = [f"? {block.question}"]
    for number, (sign, text) in enumerate(block.claims):
        lines += ["", f"{sign} {text}"]
        lines += [f"    {line}" for line in _of_the_claim(Claim(text, _references(block)), block, sign)]
        other = varied(text, draw)
        lines.append(f"~ {other}")
        lines += [f"    {line}" for line in _of_the_claim(Claim(other, _references(block)), block, sign)]
        if number % 4 == 1:
            lines += [f"    {line}" for line in _of_the_draft(_cited_otherwise(text, block, draw), block)]
    check(HERE / f"{block.name}.txt", "\n".join(lines))


def test_each_stored_text_has_its_claims() -> None:
    check_names(HERE, [block.name for block in blocks()])


def _references(block: Block) -> list[Reference]:
    return [Reference(number) for number in range(1, len(block.ids) + 1)]


def _of_the_claim(claim: Claim, block: Block, sign: str) -> Iterator[str]:
    """Yield its verdict with all findings; then what each rule says of it alone; then the calculations and cells."""
    sources = block.sources
    language = "en" if sign == "=" else sources[0].language
    verifier = Verifier(sources, question=block.question, language=language, mark="(?)")
    shown = list(verifier.check(claim))
    fates = " ".join(fate.verdict for fate in verifier.fates)
    yield f"{fates}: {', '.join(verifier.support.flags) or '-'}"
    for each in shown:
        if each.claim.derived:
            yield f"derived: {each.claim.derived}"
    evidence = find_evidence(claim, sources, language, block.question)
    if not evidence.spans:
        return
    yield "from: " + ", ".join(f"{_number(span.passage, sources)}@{span.start}-{span.end}" for span in evidence.spans)
    comparison = ClaimComparison(
        statement_of(claim.text) or claim.text, evidence.spans, Context(block.question, sources, language), claim.text
    )
    findings = [(rule.name, rule.judge(comparison)) for rule in RULES[:-1]]
    said = [f"{SIGNS[each.verdict]} {name}{_named(name, each.name)}" for name, each in findings if each]
    if said:
        yield f"rules: {', '.join(said)}"
    figures = comparison.figures
    about = {
        "missing": ", ".join(figures.missing),
        "conflict": figures.conflict,
        "row": figures.texts[-1].strip() if figures.is_bound and figures.texts else "",
        "restated": figures.restated,
    }
    if told := [f"{name}: {value}" for name, value in about.items() if value]:
        yield "; ".join(told)


def _named(rule: str, finding: str) -> str:
    return "" if not finding or finding in rule else f" ({finding})"


def _number(passage: Passage, sources: Sequence[Passage]) -> int:
    return sources.index(passage) + 1


def _cited_otherwise(text: str, block: Block, draw: random.Random) -> list[Claim]:
    """Return a draft of the claim: with a quote, with a changed one, without a source, or beside other text."""
    source = draw.choice(block.sources)
    number = block.sources.index(source) + 1
    sentences = [source.text[start:end] for start, end in sentence_spans(source.text)]
    quote = draw.choice(sentences)
    way = draw.randrange(8)
    if way == 0:
        return [Claim(text)]
    if way == 1:
        return [Claim(text, [Reference(number + len(block.ids))])]
    if way == 2:
        return [Claim(text, [Reference(number, varied(quote, draw))])]
    if way == 3:
        return [Claim(text, [Reference(number, quote), Reference(number, text)])]
    if way == 4:
        return [Claim("The documents say the following:"), Claim(text, [Reference(number)], "\n", "1. ")]
    if way == 5:
        return [Claim(f"{text} {quote}", [Reference(number)])]
    if way == 6:
        return [Claim(f"Yes, {text[0].lower()}{text[1:]}", [Reference(number, quote[: len(quote) // 2])])]
    return [Claim(f"**{text}** See [here](https://example.org/{number}) <b>now</b>.", [Reference(number)])]


def _of_the_draft(claims: Sequence[Claim], block: Block) -> Iterator[str]:
    verifier = Verifier(block.sources, question=block.question, language="en", mark="(?)")
    text = "".join(shown.text for claim in claims for shown in verifier.check(claim))
    written = " ".join(
        f"{claim.number}{claim.text} {[tuple(_told(each)) for each in claim.references]}" for claim in claims
    )
    yield f"draft: {_shortened(written, 150)}".replace("\n", "⏎")
    fates = " ".join(SIGNS[fate.verdict] for fate in verifier.fates)
    yield f"shown: {_shortened(text)}".replace("\n", "⏎")
    dropped = f"; {verifier.dropped_citations} citations dropped" if verifier.dropped_citations else ""
    yield f"{fates}: {', '.join(verifier.support.flags) or '-'}{dropped}"
    for each in verifier.citations:
        yield f"[{each.n}] {each.document_id} p. {each.page_start} {each.char_start}-{each.char_end}"


def _shortened(text: str, most: int = 90) -> str:
    """Return a text without most of its middle, which is told elsewhere; with its length."""
    return text if len(text) < most else f"{text[:30]} …({len(text)}) {text[30 - most + 10 :]}"


def _told(reference: Reference) -> Iterator[object]:
    yield reference.source
    if reference.quote:
        yield _shortened(reference.quote)
