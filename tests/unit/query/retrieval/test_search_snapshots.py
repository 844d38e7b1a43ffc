"""How made filters are checked and matched, and how made questions are turned into searches and compared with passages.

`make snapshots` stores what comes out now.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.query.decision import RareWords, band_of, coverage, relevance
from functions.query.retrieval.filters import InvalidFilter, both, checked_filter, matches, own_fields
from functions.query.retrieval.neighbours import filter_for, place_of, places_beside
from functions.query.retrieval.ranking import (
    NamedPlaces,
    diverse,
    document_boosts,
    lists_contents,
    named_documents,
    statement_boosts,
    statements_asked,
)
from functions.query.retrieval.rescoring import is_latin, plain_words, text_scores
from functions.query.retrieval.search import QueryVariant, Search, lexical_weight
from functions.query.understanding.question import normalized
from shared.settings import Settings
from tests.support.made_library import (
    filters,
    library,
    nearest,
    questions,
    told,
    vector_of,
    wordings,
)
from tests.support.made_library import matches as made_matches
from tests.support.snapshots import check, check_names

HERE = Path(__file__).parent / "snapshots"


def test_what_made_filters_match_or_why_they_are_refused_is_as_stored() -> None:
    lines = []
    for text in filters():
        lines.append(f"> {text}")
        try:
            wanted = checked_filter(json.loads(text))
        except InvalidFilter as error:
            lines.append(f"  refused: {error.message}".encode(errors="backslashreplace").decode())
            continue
        found = [each.id for each in made_matches() if matches(wanted or {}, each.metadata)]
        fields = [f"{name} at {place}" for place, name in own_fields(wanted or {})]
        lines.append(f"  {len(found)}: {' '.join(found[:12])} {' '.join(fields)}".rstrip())
        lines.append(f"  {json.dumps(both(wanted, {'language': 'en'}), sort_keys=True)}")
    check(HERE / "filters.txt", "\n".join(lines))


@pytest.mark.parametrize("heading", questions())
def test_how_a_made_question_is_searched_for_is_as_stored(heading: str) -> None:
    lines = [line for asked in questions()[heading] for line in _of_question(asked.text)]
    check(HERE / "searches" / f"{_name(heading)}.txt", "\n".join(lines))


def test_the_passages_beside_and_unlike_the_made_ones_are_as_stored() -> None:
    every = [*library().values()]
    lines = [
        f"{each.chunk_id}: {place_of(each)} {place_of(each, 1)} contents {lists_contents(each.text)}" for each in every
    ]
    for count in (1, 2, 3):
        places = places_beside(every[:6], neighbours=count)
        lines += [f"{count}: {places}", json.dumps(filter_for(places, {"language": "en"}), sort_keys=True)]
    for diversity in (0.0, 0.2, 0.5, 1.0):
        for wanted in (3, 8):
            chosen = diverse(
                nearest("What is the net income of the year 2023?", 15), wanted=wanted, diversity=diversity
            )
            lines.append(f"{diversity} {wanted}: {' '.join(each.chunk_id for each in chosen)}")
    settings = Settings(embedding_model="all-MiniLM-L6-v2")
    lines += [f"band {score / 20:.2f}: {band_of(score / 20, settings)}" for score in range(21)]
    lines += [
        f"relevance {similar:.1f} {covered} {rare}: {told(relevance(similar, covered, rare))}"
        for similar in (0.0, 0.4, 0.9)
        for covered in (None, 0.0, 0.5, 1.0)
        for rare in (0.0, 3.0, 20.0)
    ]
    check(HERE / "beside.txt", "\n".join(lines))


def test_each_stored_text_has_its_questions() -> None:
    check_names(HERE / "searches", map(_name, questions()))


def _name(heading: str) -> str:
    return heading.replace(" ", "-").replace(",", "")


def _of_question(typed: str) -> Iterator[str]:
    question = normalized(typed)
    sources = nearest(question, 4)
    yield f"? {question}"
    variants = [QueryVariant("net sales of the year", 0.3, vector_of("net sales")), QueryVariant("dose", 0.2)]
    for number, search in enumerate(
        (Search(question, vector_of(question), 48, "n", variants=variants, language="en"),)
    ):
        values = sorted(search.sparse.values, reverse=True)
        dense = search.dense or ()
        heaviest = " ".join(f"{value:.3f}" for value in values[:6])
        yield f"  {number}: {len(values)} terms: {heaviest}; {max(dense):.3f} {sum(dense):.3f}"
    rare = RareWords.of(question, "en")
    yield (
        f"  weight {lexical_weight(question):.2f}; latin {is_latin(question)}; "
        f"rare {', '.join(f'{stem} {worth:.2f}' for stem, worth in rare.rarity.items())}"
        f"{' with a long number' if rare.has_long_number else ''}"
    )
    boosts = document_boosts(question, "en", sources)
    places = NamedPlaces.of(question)
    about = {
        "documents": {name: value for name, value in boosts.items() if value},
        "named": named_documents(boosts),
        "places": [each for made in sources if (each := places.boost(made))],
        "statement": [each for each in statement_boosts(question, sources) if each],
        "of statements": sorted(statements_asked(question)),
        "coverage": [coverage(rare, each) for each in sources],
        "scores": [sum(each) for each in text_scores(question, "en", sources)],
    }
    for name, value in about.items():
        if value:
            yield f"  {name}: {told(value)}".replace("\n", " ")


def test_how_made_wordings_are_split_into_words_is_as_stored() -> None:
    texts = [text for listed in wordings().values() for text in listed]
    check(HERE / "words.txt", "\n".join(f"{' '.join(plain_words(each))} {is_latin(each)}" for each in texts))
