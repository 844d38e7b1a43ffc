"""The decision: what is answered, what is refused, and how sure an answer is."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from functions.query.decision import (
    DOUBTFUL_WEIGHT,
    MIN_LEAD,
    NEAR_SHARE,
    NO_OTHER_DOCUMENT,
    NO_RIVAL,
    UNCONFIRMED_WEIGHT,
    Band,
    Decision,
    RareWords,
    answer_band,
    band_of,
    confidence,
    coverage,
    decide,
    features,
    is_across,
    probability,
    relevance,
)
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.ranking import RankedPassage, ScoreParts
from functions.query.retrieval.retrieve import Retrieved
from functions.query.retrieval.search import Search
from shared.errors import ConfigurationError
from shared.models import Citation, EmbeddingSpace, SourceType
from shared.settings import CONFIDENCE, Settings
from tests.support.query import passage

MINILM = EmbeddingSpace("all-MiniLM-L6-v2", 384)
QUESTION = "How often must the Brunata boiler be descaled?"
ABOUT_IT = "The Brunata boiler must be descaled every 90 days."


def settings(**more: object) -> Settings:
    return Settings(**{"embedding_model": MINILM.model, "embedding_dimensions": 384, **more})  # type: ignore[arg-type]


def search(question: str = QUESTION, language: str = "en") -> Search:
    return Search(question, [1.0], 1, "acme", language=language)


def found(*passages: Passage, best: float | None = -1.0) -> Retrieved:
    """Return passages ranked by their similarity."""
    similar = max((each.score for each in passages), default=None) if best == -1.0 else best
    ranked = sorted(passages, key=lambda each: -each.score)
    scored = [RankedPassage(each.score, each, ScoreParts(each.score, 0, 0, 0, 0)) for each in ranked]
    return Retrieved(passages, similar, scored=scored)


def decided(*passages: Passage, question: str = QUESTION, **more: object) -> Decision:
    return decide(search(question), found(*passages), settings(**more))


def citation_of(source: Passage) -> Citation:
    return Citation(
        n=1,
        document_id=source.document_id,
        title=source.title,
        source_type=SourceType.PDF,
        page_start=1,
        page_end=1,
        page_label="",
        section="",
        quote=source.text,
        char_start=source.char_start,
        char_end=source.char_start + len(source.text),
        score=source.score,
    )


def sure(
    sources: Sequence[Passage], *, claims: int = 1, confirmed: int = 1, unconfirmed: int = 0, doubtful: bool = False
) -> float:
    value = confidence(
        decided(*sources),
        [citation_of(sources[0])],
        sources,
        claims=claims,
        confirmed=confirmed,
        unconfirmed=unconfirmed,
        doubtful=doubtful,
        coefficients=CONFIDENCE[MINILM.model],
    )
    assert value is not None
    return value


def test_a_similar_passage_that_holds_the_rare_words_is_relevant() -> None:
    decision = decided(passage(ABOUT_IT, score=0.6))
    assert decision.relevant
    assert decision.band is Band.HIGH
    assert decision.near_misses == ()


def test_without_passages_nothing_is_relevant() -> None:
    decision = decided()
    assert not decision.relevant
    assert decision.band is Band.NONE


def test_a_similar_passage_about_another_thing_is_refused_where_similarity_alone_would_accept_it() -> None:
    question = "What did the Skarvnes station report to the Tromsø museum about reindeer?"
    decision = decided(passage("The annual accounts list income, costs and reserves.", score=0.4), question=question)
    assert decision.score < 0.35 < 0.4
    assert not decision.relevant


def test_a_passage_that_shares_only_a_word_is_not_enough_for_a_long_question() -> None:
    question = "Which Norwegian lighthouse keeper descaled a Brunata kettle during the winter storm of 1956?"
    assert not decided(passage("The storm closed the road.", score=0.05), question=question).relevant


def test_a_question_of_common_words_is_decided_by_similarity() -> None:
    assert not RareWords.of("What is it about?", "en").rarity
    assert decided(passage("Anything at all.", score=0.36), question="What is it about?").relevant
    assert not decided(passage("Anything at all.", score=0.34), question="What is it about?").relevant


def test_words_are_not_compared_across_languages() -> None:
    lithuanian = passage("Katilą reikia nukalkinti kas 90 dienų.", score=0.45, language="lt")
    assert coverage(RareWords.of(QUESTION, "en"), lithuanian) is None
    assert decided(lithuanian).relevant


def test_without_vectors_coverage_decides() -> None:
    asked = search()
    assert decide(asked, found(passage(ABOUT_IT, score=0.0), best=None), settings()).relevant
    assert not decide(asked, found(passage("The road is closed.", score=0.0), best=None), settings()).relevant


@pytest.mark.parametrize(
    "named", [{"title": "Brunata boiler", "section": "Descaling"}, {"table": "Descaling the Brunata boiler\n| Days"}]
)
def test_the_name_the_section_and_the_table_of_a_passage_count_as_held(named: dict[str, str]) -> None:
    rare = RareWords.of(QUESTION, "en")
    assert coverage(rare, passage("Every 90 days.", score=0.3)) == 0.0
    covered = coverage(rare, passage("Every 90 days.", score=0.3, **named))
    assert covered is not None
    assert covered > 0.8


def test_numbers_are_the_same_with_and_without_their_grouping_and_words_in_any_form() -> None:
    rare = RareWords.of("Who descales 12,500 boilers?", "en")
    assert coverage(rare, passage("He descaled 12500 of them, boiler by boiler.")) == pytest.approx(1.0)


def test_a_larger_top_k_does_not_change_the_decision() -> None:
    strangers = [passage("The road is closed.", n=n, score=0.1) for n in range(1, 8)]
    assert not decided(*strangers, passage(ABOUT_IT, n=9, score=0.6)).relevant


def test_a_refusal_names_its_near_misses_by_id_and_score_only() -> None:
    passages = [passage("The road is closed.", n=n, score=n / 100) for n in range(1, 7)]
    decision = decided(*passages)
    assert [miss.chunk_id for miss in decision.near_misses] == ["doc6#g1#0", "doc5#g1#0", "doc4#g1#0"]
    assert not {"text", "title", "quote"} & set(decision.near_misses[0].__dataclass_fields__)


def test_what_comes_near_enough_is_shown_with_a_refusal_the_nearest_first() -> None:
    passages = [passage("The road is closed.", n=n, score=score) for n, score in enumerate((0.5, 0.6, 0.31, 0.1))]
    decision = decided(*passages)
    assert not decision.relevant
    near = [miss.score >= NEAR_SHARE * decision.threshold for miss in decision.near_misses]
    assert near == [True, True, False]
    assert [each.chunk_id for each in decision.nearest(passages)] == ["doc1#g1#0", "doc0#g1#0"]
    assert decision.nearest(passages[:1]) == (passages[0],)
    of_one_page = [each._replace(document_id="one", page_start=1) for each in passages]
    assert [each.chunk_id for each in decision.nearest(of_one_page)] == ["doc1#g1#0"]
    on_two_pages = [each._replace(page_start=n) for n, each in enumerate(of_one_page)]
    assert len(decision.nearest(on_two_pages)) == 2
    assert decided(passage(ABOUT_IT, score=0.9)).nearest(passages) == ()


def test_the_relaxed_threshold_is_off_until_it_is_set_and_marks_what_it_lets_through() -> None:
    weak = passage("The road is closed.", score=0.45)
    assert not decided(weak).relevant
    relaxed = decided(weak, relaxed_threshold=0.15)
    assert relaxed.relevant
    assert relaxed.relaxed
    assert relaxed.band is Band.LOW
    assert not decided(passage(ABOUT_IT, score=0.6), relaxed_threshold=0.15).relaxed


@pytest.mark.parametrize(
    "thresholds",
    [{"relaxed_threshold": 0.35}, {"relaxed_threshold": 0.99}, {"score_threshold": 0.2, "relaxed_threshold": 0.2}],
)
def test_a_relaxed_threshold_that_would_relax_nothing_is_an_error(thresholds: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match="RECTO_RELAXED_THRESHOLD"):
        _ = settings(**thresholds).threshold


def test_bands_follow_the_relevance() -> None:
    assert [band_of(score, settings()) for score in (0.9, 0.55, 0.4, 0.2)] == [
        Band.HIGH,
        Band.MEDIUM,
        Band.LOW,
        Band.NONE,
    ]


def test_relevance_lies_between_similarity_and_coverage_and_more_rare_words_weigh_more() -> None:
    few, many = relevance(0.2, 1.0, 4.0), relevance(0.2, 1.0, 40.0)
    assert 0.2 < few < many < 1.0
    assert relevance(0.5, 0.5, 20.0) == pytest.approx(0.5)
    assert relevance(0.42, None, 0.0) == 0.42


def test_an_uncalibrated_model_is_a_configuration_error() -> None:
    unknown = settings(embedding_model="nobody-knows-it")
    with pytest.raises(ConfigurationError, match="evals calibrate"):
        decide(search(), found(passage(ABOUT_IT)), unknown)
    assert not settings(embedding_model="text-embedding-3-small").is_threshold_measured
    assert settings(embedding_model="nobody-knows-it", score_threshold=0.4).is_threshold_measured


def test_thresholds_that_were_set_are_those_of_their_model_only() -> None:
    mine = settings(score_threshold=0.5, relaxed_threshold=0.4)
    elsewhere = mine.for_space("older", EmbeddingSpace("text-embedding-3-small", 1536))
    assert (elsewhere.threshold, elsewhere.relaxed_threshold) == (0.30, None)
    assert mine.for_space("beside", MINILM).threshold == 0.5


def test_while_an_uncalibrated_models_index_version_is_searched_the_threshold_in_force_is_used() -> None:
    was_custom = settings(embedding_model="text-embedding-3-small")
    assert was_custom.for_space("older", EmbeddingSpace("custom", 384)).threshold == 0.30
    assert settings(score_threshold=0.4).for_space("older", EmbeddingSpace("custom", 384)).threshold == 0.4


def test_confidence_grows_with_the_lead_over_other_passages_and_most_over_other_documents() -> None:
    cited = passage(ABOUT_IT, score=0.9)
    same_document = passage(ABOUT_IT, n=2, score=0.5)._replace(document_id=cited.document_id)
    near, far = passage(ABOUT_IT, n=2, score=0.8), passage(ABOUT_IT, n=2, score=0.1)
    assert 0.0 < sure([cited, near]) < sure([cited, far]) < 1.0
    assert sure([cited, same_document, near]) < sure([cited, same_document, far])
    assert sure([passage(ABOUT_IT, score=0.5), passage(ABOUT_IT, n=2, score=0.9)]) < sure([cited, near])


def test_how_far_a_passage_is_behind_another_of_its_document_says_no_more_below_a_limit() -> None:
    cited, other = passage(ABOUT_IT, score=0.2), passage(ABOUT_IT, n=3, score=0.1)
    first = passage(ABOUT_IT, n=2, score=0.9)._replace(document_id=cited.document_id)
    lead, document_lead = features(decided(first, cited, other), cited.chunk_id) or (0.0, 0.0)
    assert (lead, document_lead) == (MIN_LEAD, pytest.approx(0.1))


def test_confidence_does_not_follow_relevance_where_documents_read_alike() -> None:
    twins = [passage(ABOUT_IT, score=0.6), passage(ABOUT_IT, n=2, score=0.6)]
    assert decided(*twins).score > 0.75
    assert sure(twins) < 0.5


def test_the_lead_of_a_lone_passage_and_of_one_document_is_that_of_a_clear_one() -> None:
    cited = passage(ABOUT_IT, score=0.6)
    assert features(decided(cited), cited.chunk_id) == (NO_RIVAL, NO_OTHER_DOCUMENT)
    other = passage(ABOUT_IT, n=2, score=0.4)._replace(document_id=cited.document_id)
    assert features(decided(cited, other), cited.chunk_id) == (pytest.approx(0.2), NO_OTHER_DOCUMENT)


def test_confidence_is_unknown_of_a_passage_that_was_not_ranked() -> None:
    source = passage(ABOUT_IT, score=0.6)
    decision = decide(search(), Retrieved([source], 0.6), settings())
    assert features(decision, source.chunk_id) is None
    coefficients = CONFIDENCE[MINILM.model]
    assert (
        confidence(decision, [citation_of(source)], [source], claims=1, confirmed=1, coefficients=coefficients) is None
    )


def test_the_band_of_an_answer_is_that_of_its_confidence_if_it_is_known() -> None:
    decision = decided(passage(ABOUT_IT, score=0.6))
    assert [answer_band(decision, sure) for sure in (0.9, 0.6, 0.1)] == [Band.HIGH, Band.MEDIUM, Band.LOW]
    assert answer_band(decision, None) is decision.band is Band.HIGH
    relaxed = decided(passage("The road is closed.", score=0.45), relaxed_threshold=0.15)
    assert answer_band(relaxed, 0.9) is Band.LOW


def test_a_doubtful_answer_is_never_sure() -> None:
    cited = [passage(ABOUT_IT, score=0.9)]
    assert sure(cited, doubtful=True) == pytest.approx(DOUBTFUL_WEIGHT * sure(cited))
    decision = decided(*cited)
    assert answer_band(decision, DOUBTFUL_WEIGHT, doubtful=True) is Band.LOW
    assert answer_band(decision, None, doubtful=True) is Band.LOW
    assert answer_band(decision, None) is Band.HIGH


@pytest.mark.parametrize(("language", "across"), [("en", False), ("", False), ("de", True)])
def test_an_answer_is_across_languages_where_its_first_citation_is_in_another_one(
    language: str, *, across: bool
) -> None:
    source = passage(ABOUT_IT, score=0.9, language="en")
    assert is_across([citation_of(source)], [source], language) is across
    assert not is_across([], [source], language)


def test_across_languages_the_lower_band_counts() -> None:
    decision = decided(passage(ABOUT_IT, score=0.6))
    assert [answer_band(decision, sure, across=True) for sure in (0.9, 0.1, None)] == [Band.HIGH, Band.LOW, Band.HIGH]
    weak = replace(decision, band=Band.LOW)
    assert answer_band(weak, 0.99) is Band.HIGH
    assert answer_band(weak, 0.99, across=True) is Band.LOW


def test_confidence_falls_with_claims_that_are_not_confirmed() -> None:
    cited = [passage(ABOUT_IT, score=0.6)]
    assert sure(cited, claims=4, confirmed=2) == pytest.approx(sure(cited) / 2)
    assert sure(cited, claims=4, confirmed=2, unconfirmed=2) == pytest.approx(
        sure(cited) * (2 + 2 * UNCONFIRMED_WEIGHT) / 4
    )


@pytest.mark.parametrize(
    ("relevant", "claims", "model"),
    [(False, 1, MINILM.model), (True, 0, MINILM.model), (True, 1, "text-embedding-3-small")],
    ids=["refused", "no-claims", "uncalibrated"],
)
def test_confidence_is_unknown_where_nothing_was_measured(relevant: bool, claims: int, model: str) -> None:
    coefficients = CONFIDENCE.get(model)
    source = passage(ABOUT_IT if relevant else "The road is closed.", score=0.6 if relevant else 0.1)
    decision = decided(source)
    assert decision.relevant is relevant
    counts = {"claims": claims, "confirmed": 1, "coefficients": coefficients}
    assert confidence(decision, [citation_of(source)], [source], **counts) is None
    assert confidence(decision, [], [source], **counts) is None


def test_every_shipped_calibration_has_a_weight_for_each_feature() -> None:
    source = passage(ABOUT_IT, score=0.6)
    known = features(decided(source), source.chunk_id)
    assert known is not None
    for coefficients in CONFIDENCE.values():
        assert math.isfinite(probability(coefficients, known))


@pytest.mark.parametrize(
    ("question", "is_held"),
    [
        ("Wie viel zahlen Geschwister?", True),
        ("Wie viel zahlen Neffen?", False),
        ("Was gilt im Bad?", False),  # too short to be told within a word
    ],
)
def test_a_german_word_is_held_as_a_part_of_a_longer_one(question: str, is_held: bool) -> None:
    source = passage("Geschwisterkinder zahlen im Badehaus die Hälfte; der Preis gilt ein Jahr.", language="de")
    assert (coverage(RareWords.of(question, "de"), source) == 1.0) is is_held


SPEECH = "My grandfather drained the marshes, and I will drain them again. I have asked for a levy."


@pytest.mark.parametrize(
    ("question", "text", "covered"),
    [
        ("What did President Halvorsen promise to drain?", SPEECH, True),
        ("What are President Halvorsen's plans for the marshes?", SPEECH, True),
        ("What marshes will be drained, according to Halvorsen?", SPEECH, True),
        ("What did President Halvorsen promise to drain?", "The marshes were drained by others.", False),
        ("What did President Halvorsen promise to drain?", "The board has said: I will drain the marshes.", False),
        ("Who will drain Halvorsen?", SPEECH, False),
    ],
)
def test_who_speaks_need_not_be_named_in_their_own_words(question: str, text: str, covered: bool) -> None:
    named, unnamed = (
        RareWords.of(each, "en") for each in (question, question.replace("President ", "").replace("Halvorsen", "he"))
    )
    held, without_name = (coverage(each, passage(text)) for each in (named, unnamed))
    assert held is not None
    assert without_name is not None
    assert (held == pytest.approx(without_name)) is covered
    assert held <= without_name


def test_rare_words_that_are_left_out_name_nobody() -> None:
    rare = RareWords.of("What did President Halvorsen promise to drain?", "en")
    drained = rare.only(rare.rarity.keys() - rare.speakers)
    assert rare.speakers
    assert not drained.speakers
    assert coverage(drained, passage(SPEECH)) == coverage(rare, passage(SPEECH))
