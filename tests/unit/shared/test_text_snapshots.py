"""What the shared text functions make of the made wordings: words, stems, sentences, names, periods, languages, masks.

`make snapshots` stores what comes out now.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import identity, lexical
from shared.abbreviations import is_abbreviated
from shared.language import language_of
from shared.lexical import document_vector, fold, idf, query_vector, rarity, stem, term_weights, words_of
from shared.models import Usage
from shared.prices import cost_usd, prices_of_services, total_cost_usd
from shared.reasoning import AnswerStart, answer_start, without_reasoning
from shared.rects import place_of, with_words, without_words, word_count, word_starts
from shared.telemetry import masked
from shared.text import (
    column_names,
    is_field,
    is_header,
    is_heading,
    row_cells,
    sentence_spans,
    table_head,
    without_measure,
)
from tests.support.made_library import drafts, library, questions, told, varied, wordings
from tests.support.snapshots import check, check_names

HERE = Path(__file__).parent / "snapshots"
LANGUAGES = ("en", "de", "fr", "es", "lt")


@pytest.mark.parametrize("heading", wordings())
def test_what_is_read_in_made_wordings_is_as_stored(heading: str) -> None:
    lines = [line for text in wordings()[heading] for line in _of_text(text)]
    check(HERE / "wordings" / f"{heading.replace(' ', '-').replace(',', '')}.txt", "\n".join(lines))


def test_each_stored_text_has_its_wordings() -> None:
    check_names(HERE / "wordings", [each.replace(" ", "-").replace(",", "") for each in wordings()])


def _of_text(text: str) -> Iterator[str]:
    yield f"> {text}".replace("\n", "⏎")
    about = {
        "sentences": " ".join(f"{start}-{end}" for start, end in sentence_spans(text)),
        "headings": " / ".join(line for line in text.split("\n") if is_heading(line)) if "\n" in text else "",
        "abbreviated": " ".join(str(at) for at, sign in enumerate(text) if sign == "." and is_abbreviated(text, at)),
        "terms": " ".join(
            f"{term}{'' if weight == 1 else f'*{weight:g}'}" for each in words_of(text) for term, weight in each
        ),
        "weights": " ".join(f"{weight:.2f}" for weight in term_weights(text).values()),
        "names": ", ".join(identity.names_in(text)),
        "subjects": ", ".join(identity.subjects_in(text)),
        "periods": ", ".join(identity.periods_in(text)),
        "kind": " / ".join(filter(None, (identity.kind_in(text), identity.kind_in(text, anywhere=True)))),
        "kinds asked": ", ".join(sorted(identity.kinds_asked(text))),
        "plain periods": _other(identity.with_plain_periods(text), text),
        "without kind": _other(identity.without_kind(text), text),
        "cover": identity.cover_of(text),
        "folded": _other(fold(text), text),
        "masked": _other(masked(text), text),
        "language": f"{language_of(text)} {language_of(text, within='de')} {language_of(text[:20])}",
    }
    for name, value in about.items():
        if value:
            yield f"  {name}: {value}".replace("\n", "⏎")


def _of_term(term: str, weight: float) -> str:
    return term if weight == 1 else f"{term}*{weight:g}"


def _other(text: str, than: str) -> str:
    return "" if text == than else text


def test_how_made_tables_are_read_line_by_line_is_as_stored() -> None:
    texts = [made.text for made in library().values() if " | " in made.text]
    texts += [text for listed in wordings().values() for text in listed if " | " in text]
    lines = []
    for text in texts:
        for line in re.finditer(r"[^\n]*\|[^\n]*", text):
            cells = row_cells(line[0])
            names = column_names(text, line.start())
            flags = ["header"] * is_header(text, line.start()) + ["field"] * is_field(cells)
            head = table_head(text, line.start())
            lines.append(f"{cells} {' '.join(flags)} {names or ''} {[each[:30] for each in head]}")
            lines += [f"  {cell} > {without_measure(cell)}" for cell in cells if without_measure(cell) != cell]
    check(HERE / "rows.txt", "\n".join(lines))


def test_terms_of_whole_passages_are_as_stored() -> None:
    lines = []
    for name, made in library().items():
        context = [(made.title, 2.0), (made.section, 1.0)]
        vector = document_vector(made.text, language=made.language, context=context)
        heaviest = sorted(vector.values, reverse=True)[:8]
        lines.append(
            f"{name}: {len(vector.values)} {sum(vector.values):.2f} {' '.join(f'{each:.3f}' for each in heaviest)}"
        )
        for asked in [each.text for each in questions()["one fact"]][::9]:
            query = dict(zip(*query_vector(asked, language=made.language), strict=True))
            own = lexical.score(query, made.text, language=made.language, context=context)
            whole = identity.passage_score(
                query, made.text, language=made.language, title=made.title, key=made.key, section=made.section,
                cover="harbour 2023", table="Net sales",
            )  # fmt: skip
            if own:
                lines.append(f"  {asked}: {own:.3f} {whole:.3f}")
        both = identity.chunk_vector(
            made.text,
            language=made.language,
            title=made.title,
            key=made.key,
            section=made.section,
            cover="a b",
            table="c",
        )
        lines.append(f"  {len(both.values)} {sum(both.values):.2f}; {identity.name_of(made.title, made.key)}")
        for organisation in made.organisations:
            named = [identity.organisation_in(text, organisation) for text in (made.text, made.title, "the WHO")]
            lines.append(f"  {organisation}: {named} {identity.initials_of(organisation)}")
    lines += [f"{texts} {holders}: {idf(texts, holders):.3f}" for texts in (1, 10, 500) for holders in (0, 1, 5, 10)]
    lines += [f"{share}: {rarity(share):.3f}" for share in (1e-9, 1e-5, 1e-3, 0.1)]
    check(HERE / "passages.txt", "\n".join(lines))


def test_terms_of_very_long_texts_are_as_stored() -> None:
    """More terms than a stored vector may have, and words too long to be kept."""
    draw = random.Random("long")
    words = ["".join(draw.choice("abcdeilmnorst") for _ in range(draw.randrange(3, 60))) for _ in range(1_400)]
    lines = []
    for count in (200, 900, 1_000, 1_400):
        text = " ".join(words[:count])
        vector = document_vector(text, context=[(words[3], 2.0), (words[-1], 1.0)])
        query = dict(zip(*query_vector(" ".join(words[::100])), strict=True))
        own = lexical.score(query, text, context=[(words[3], 2.0), (words[-1], 1.0)])
        lines.append(f"{count}: {len(vector.values)} {sum(vector.values):.2f} {min(vector.values):.3f} {own:.3f}")
    check(HERE / "long.txt", "\n".join(lines))


def test_stems_are_as_stored() -> None:
    words = sorted({word.lower() for made in library().values() for word in re.findall(r"[^\W\d_]+", made.text)})
    lines = []
    for word in words[::6]:
        stems = [stem(fold(word), language) for language in LANGUAGES]
        if set(stems) != {word}:
            lines.append(f"{word}: {' '.join(stems)}")
    check(HERE / "stems.txt", "\n".join(lines))


def test_how_reasoning_is_taken_from_answers_is_as_stored() -> None:
    draw = random.Random("reasoning")
    lines = []
    for _, text in drafts().values():
        for told_so in (text, varied(text, draw), text[: len(text) // 2], f"\ufeff {text}\n"):
            lines.append(f"> {told_so[:80]}".replace("\n", "⏎"))
            start, said = AnswerStart(), without_reasoning(told_so)
            found = [start.find(told_so[:end]) for end in range(0, len(told_so) + 1, 11)]
            known = [each for each in found if each is not None]
            lines.append(
                f"  {answer_start(told_so)} {known[:1]} {len(known)} {len(said)} {said[:50]} … {said[-20:]}".replace(
                    "\n", "⏎"
                )
            )
    check(HERE / "reasoning.txt", "\n".join(lines))


def test_places_of_words_are_as_stored() -> None:
    draw = random.Random("rects")
    lines = []
    for count in (0, 1, 2, 5, 12):
        for side in (200.0, 842.0, 14_400.0):
            unit = side / 8_000
            left, top = draw.uniform(0, side / 2), draw.uniform(0, side / 2)
            starts = [left + side / 40 * at + draw.uniform(-0.004, 0.004) * side for at in range(count)]
            place = place_of((left, top, left + side / 3, top + 12), starts, unit)
            lines.append(f"{count} {side:.0f}: {place} {word_count(place)} {told(word_starts(place, side))}")
            lines.append(f"  {without_words(place, 1)} {without_words(place, 3)} {without_words(place, 99)}")
            if word_count(place) > 2:
                lines.append(f"  {with_words(place, [0, 2])} {with_words(place, [1, 2])}")
    check(HERE / "places.txt", "\n".join(lines))


def test_prices_are_as_stored() -> None:
    used = Usage(input_tokens=1_000_000, output_tokens=200_000, cached_tokens=400_000, cache_write_tokens=50_000)
    models = (
        "gpt-5-mini",
        "gpt-6-luna",
        "text-embedding-3-small",
        "text-embedding-3-large",
        "gpt-4o-2024-08-06",
        "nothing",
    )
    lines = [
        f"{model}: {told(cost_usd(model, used))} {told(cost_usd(model, Usage(input_tokens=7)))}" for model in models
    ]
    lines.append(told(total_cost_usd({"gpt-5-mini": used, "text-embedding-3-small": used})))
    lines += [f"{name}: {price}" for name, price in sorted(prices_of_services().items())]
    check(HERE / "prices.txt", "\n".join(lines))
