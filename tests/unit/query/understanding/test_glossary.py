"""A tenant's glossary: its form, what it makes of a question, and how it comes out of the bucket."""

import json
import re
import threading
import time
import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.retrieval.filters import checked_filter
from functions.query.understanding.glossary import (
    MAX_BYTES,
    MAX_TENANTS,
    NO_GLOSSARY,
    RETRY_S,
    AppliedGlossary,
    CachedGlossaries,
    Glossary,
    GlossaryInvalid,
    apply_glossary,
    parse_glossary,
)
from shared.errors import DependencyError, DependencyUnavailable
from shared.ports import SmallObject
from tests.support.clock import FakeClock
from tests.support.readme import section


def glossary(**parts: Any) -> Glossary:
    return parse_glossary(json.dumps(parts).encode())


def on(question: str, language: str = "en", **parts: Any) -> AppliedGlossary:
    return apply_glossary(glossary(**parts), question, language)


HALLEY = {"name": "Halley VI", "spellings": ["Haley", "Hally six", "H6"], "synonyms": ["the British base"]}


class TestForm:
    @pytest.mark.parametrize(
        ("parts", "told"),
        [
            ({"entities": [{"name": "A", "spelings": []}]}, "entities[0].spelings: this field is not known"),
            ({"entities": [{"name": "A"}, {"name": " "}]}, "entities[1].name: "),
            (
                {"entities": [{"name": "A", "spellings": ["ok", 7]}]},
                "entities[0].spellings[1]: should be a valid string",
            ),
            ({"entities": [{"name": "A", "filter": {"x": {"$like": 1}}}]}, "entities[0].filter: filter.x.$like"),
            ({"rules": [{"name": "r", "patterns": []}]}, "rules[0].patterns: "),
            ({"rules": [{"name": "r", "patterns": ["how *"], "variations": ["x"]}]}, "rules[0]: patterns[0]: "),
            ({"rules": [{"name": "r", "patterns": ["how"]}]}, "rules[0]: has no effect"),
            ({"rules": [{"name": "r", "patterns": ["how"], "boost": {"filter": {"a": 1}, "lift": 9}}]}, "boost.lift: "),
            ({"version": 2}, "version: "),
            ({"entites": []}, "entites: this field is not known"),
        ],
    )
    def test_a_mistake_is_reported_with_file_entry_and_field(self, parts: dict[str, Any], told: str):
        with pytest.raises(GlossaryInvalid) as caught:
            parse_glossary(json.dumps(parts).encode(), file="glossary/acme.json")
        assert str(caught.value).startswith("glossary/acme.json: ")
        assert told in str(caught.value)

    def test_every_mistake_gets_a_line(self):
        with pytest.raises(GlossaryInvalid) as caught:
            glossary(entities=[{"name": ""}, {"nam": "x"}])
        lines = str(caught.value).splitlines()
        assert [re.search(r"entities\[\d\]\.\w+", line)[0] for line in lines] == [  # type: ignore[index]
            "entities[0].name",
            "entities[1].name",
            "entities[1].nam",
        ]

    def test_a_spelling_of_two_entities_names_both(self):
        with pytest.raises(GlossaryInvalid, match=r"entities\[1\]\.spellings: 'ŽEMĖ' belongs to entities\[0\]"):
            glossary(entities=[{"name": "A", "spellings": ["zeme"]}, {"name": "B", "spellings": ["ŽEMĖ"]}])

    @pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b"null", b'{"entities": {}}'])
    def test_what_is_no_glossary_is_refused(self, data: bytes):
        with pytest.raises(GlossaryInvalid):
            parse_glossary(data)

    def test_a_larger_one_than_is_held_is_refused_unread(self):
        with pytest.raises(GlossaryInvalid, match="at most 262144 are allowed"):
            parse_glossary(b" " * (MAX_BYTES + 1))
        assert parse_glossary(b"{}".ljust(MAX_BYTES)) == NO_GLOSSARY

    def test_an_empty_one_changes_nothing(self):
        assert apply_glossary(parse_glossary(b"{}"), "Who runs it?", "en") == AppliedGlossary("Who runs it?")


def test_the_example_of_the_docs_is_a_glossary_and_does_what_is_said_there():
    (example,) = re.findall(r"```json\n(.*?)```", section("docs/documents.md", "## Glossary"), re.DOTALL)
    found = apply_glossary(parse_glossary(example.encode()), "How do I clean the Brunatta?", "en")
    assert found.question == "How do I clean the Brunata Duo?"
    assert found.filter == {"department_id": "kitchen"}
    assert found.boosts
    assert "espresso machine" in found.variants[0].text


class TestEntities:
    @pytest.mark.parametrize("typed", ["Haley", "haley", "HALEY", "Hally Six", "h6"])
    def test_a_spelling_is_replaced_by_the_name(self, typed: str):
        assert on(f"Who runs {typed}?", entities=[HALLEY]).question == "Who runs Halley VI?"

    def test_the_name_itself_stays_as_it_was_typed(self):
        assert on("Who runs halley vi?", entities=[HALLEY]).question == "Who runs halley vi?"

    def test_a_part_of_another_word_is_no_spelling(self):
        assert on("What is haleyite?", entities=[HALLEY]).question == "What is haleyite?"

    def test_the_longest_name_wins(self):
        entities = [{"name": "Halley", "spellings": ["hally"]}, HALLEY]
        assert on("Who runs hally six?", entities=entities).question == "Who runs Halley VI?"

    def test_other_names_are_searched_for_besides(self):
        found = on("Who runs Haley?", entities=[HALLEY])
        assert [each.text for each in found.variants] == ["Who runs the British base?"]

    def test_the_question_as_asked_keeps_most_of_the_search(self):
        rule = {"name": "heads", "patterns": ["who runs"], "variations": ["{question} commander"]}
        found = on("Who runs Haley?", entities=[HALLEY], rules=[rule])
        assert len(found.variants) == 2
        assert all(each.weight > 0 for each in found.variants)
        assert sum(each.weight for each in found.variants) < 0.5

    def test_inflected_forms_match_with_and_without_diacritics(self):
        entity = {"name": "Juodkrantės muziejus", "spellings": ["Krantės muziejus"]}
        for typed in ("Krantės muziejaus", "Krantes muziejaus", "KRANTĖS MUZIEJUS"):
            found = on(f"Koks {typed} darbo laikas?", "lt", entities=[entity])
            assert found.question == "Koks Juodkrantės muziejus darbo laikas?"

    def test_an_exact_spelling_compares_case(self):
        entity = {"name": "information technology", "spellings": ["IT"], "exact": True}
        assert on("Is it for IT?", entities=[entity]).question == "Is it for information technology?"

    def test_an_exact_name_compares_case_too(self):
        entity = {"name": "IT", "spellings": ["ICT"], "exact": True, "filter": {"department_id": "it"}}
        assert on("When is it lit at sunset?", entities=[entity]).filter is None
        assert on("Who leads IT?", entities=[entity]).filter == {"department_id": "it"}

    def test_filters_of_two_entities_are_alternatives(self):
        entities = [{"name": "North", "filter": {"region": "n"}}, {"name": "South", "filter": {"region": "s"}}]
        assert on("North or South?", entities=entities).filter == {"$or": [{"region": "n"}, {"region": "s"}]}
        assert on("Is North cold?", entities=entities).filter == {"region": "n"}

    def test_an_entity_without_a_filter_opens_the_search(self):
        entities = [{"name": "North", "filter": {"region": "n"}}, {"name": "South"}]
        assert on("North or South?", entities=entities).filter is None


class TestRules:
    @pytest.mark.parametrize(
        ("pattern", "question", "fits"),
        [
            ("how do I", "How do I get in?", True),
            ("how do I", "Tell me how do I get in", True),
            ("^how do I", "Tell me how do I get in", False),
            ("how do I", "How I do get in?", False),
            ("how * request", "How can we ever request a badge?", True),
            ("how * request", "How can one of us now ever request a badge?", False),
            ("pric*", "What is the pricing?", True),
            ("pric*", "What does it cost?", False),
            ("badge", "Where are badges kept?", True),
            ("kaip * prašym*", "Kaip pateikti prasyma?", True),
        ],
    )
    def test_a_pattern_is_a_row_of_words(self, pattern: str, question: str, fits: bool):
        rule = {"name": "r", "patterns": [pattern], "filter": {"type": "manual"}}
        language = "lt" if question.startswith("Kaip") else "en"
        assert (on(question, language, rules=[rule]).filter is not None) is fits

    def test_a_rule_adds_boosts_filters_and_variants(self):
        rule = {
            "name": "how-to",
            "patterns": ["^how do I"],
            "boost": {"filter": {"type": "manual"}, "lift": 0.2},
            "variations": ["{question} instructions"],
        }
        found = on("How do I leave Haley?", entities=[HALLEY], rules=[rule])
        assert [(boost.filter, boost.lift) for boost in found.boosts] == [({"type": "manual"}, 0.2)]
        assert "How do I leave Halley VI? instructions" in [each.text for each in found.variants]

    def test_filters_of_rules_are_further_conditions(self):
        rule = {"name": "r", "patterns": ["how"], "filter": {"type": "manual"}}
        found = on("How cold is North?", entities=[{"name": "North", "filter": {"region": "n"}}], rules=[rule])
        assert found.filter == {"$and": [{"region": "n"}, {"type": "manual"}]}
        assert checked_filter(found.filter) == found.filter

    def test_no_pattern_is_slow(self):
        rule = {"name": "r", "patterns": ["a " + "* a " * 40 + "b"], "filter": {"x": 1}}
        question = "a " * 2_000
        found = glossary(rules=[rule])
        started = time.process_time()
        assert apply_glossary(found, question, "en").filter is None
        assert time.process_time() - started < 2


TEXTS = st.text(min_size=1, max_size=12)


@given(TEXTS, st.lists(TEXTS, max_size=4), st.text(max_size=120), st.sampled_from(["", "en", "lt", "xx"]))
def test_any_glossary_that_is_valid_can_be_applied_to_any_question(
    name: str, others: list[str], question: str, language: str
):
    try:
        made = glossary(entities=[{"name": name, "spellings": others, "synonyms": others}])
    except GlossaryInvalid:
        return
    found = apply_glossary(made, question, language)
    assert len(found.variants) <= len(question) * len(others) + 1


class Bucket:
    """Objects by key, as `SmallObjectReader`; counts how often bytes were sent."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.error: DependencyError | None = None
        self.asked = 0
        self.sent = 0

    def read_small(self, key: str, *, known_etag: str, max_bytes: int) -> SmallObject | None:
        self.asked += 1
        if self.error:
            raise self.error
        if key not in self.objects:
            return None
        body = self.objects[key]
        etag = f"{hash(body)}"
        if etag == known_etag:
            return SmallObject(etag, None)
        self.sent += 1
        return SmallObject(etag, body[: max_bytes + 1])


class TestInTheContainer:
    def make(self) -> tuple[Bucket, FakeClock, CachedGlossaries]:
        bucket, clock = Bucket(), FakeClock()
        return bucket, clock, CachedGlossaries(bucket, clock, ttl_s=60)

    def test_each_tenant_has_its_own(self):
        bucket, _, glossaries = self.make()
        bucket.objects["glossary/acme.json"] = json.dumps({"entities": [HALLEY]}).encode()
        assert glossaries.of("acme").entities[0].name == "Halley VI"
        assert glossaries.of("other") == NO_GLOSSARY

    def test_it_is_read_once_and_then_only_revalidated(self):
        bucket, clock, glossaries = self.make()
        bucket.objects["glossary/acme.json"] = b'{"entities": [{"name": "A"}]}'
        for _ in range(3):
            glossaries.of("acme")
        assert (bucket.asked, bucket.sent) == (1, 1)
        clock.advance(61)
        assert glossaries.of("acme").entities[0].name == "A"
        assert (bucket.asked, bucket.sent) == (2, 1)

    def test_a_change_is_seen_after_its_time(self):
        bucket, clock, glossaries = self.make()
        assert glossaries.of("acme") == NO_GLOSSARY
        bucket.objects["glossary/acme.json"] = b'{"entities": [{"name": "B"}]}'
        clock.advance(61)
        assert glossaries.of("acme").entities[0].name == "B"
        del bucket.objects["glossary/acme.json"]
        clock.advance(61)
        assert glossaries.of("acme") == NO_GLOSSARY

    def test_a_bucket_that_is_down_is_not_read_at_every_question(self):
        bucket, clock, glossaries = self.make()
        bucket.error = DependencyUnavailable("objects", "down")
        for _ in range(5):
            with pytest.raises(DependencyUnavailable):
                glossaries.of("acme")
        assert bucket.asked == 1
        bucket.error = None
        clock.advance(RETRY_S + 1)
        assert glossaries.of("acme") == NO_GLOSSARY

    def test_while_it_is_down_the_last_one_is_used(self):
        bucket, clock, glossaries = self.make()
        bucket.objects["glossary/acme.json"] = b'{"entities": [{"name": "A"}]}'
        glossaries.of("acme")
        bucket.error = DependencyUnavailable("objects", "down")
        clock.advance(61)
        assert glossaries.of("acme").entities[0].name == "A"

    def test_an_invalid_one_is_an_error_until_it_is_corrected(self):
        bucket, clock, glossaries = self.make()
        bucket.objects["glossary/acme.json"] = b'{"entities": 7}'
        for _ in range(2):
            with pytest.raises(GlossaryInvalid, match=r"glossary/acme\.json: entities"):
                glossaries.of("acme")
        clock.advance(61)
        with pytest.raises(GlossaryInvalid):
            glossaries.of("acme")
        assert bucket.sent == 1
        bucket.objects["glossary/acme.json"] = b"{}"
        clock.advance(61)
        assert glossaries.of("acme") == NO_GLOSSARY

    def test_a_container_holds_so_many_and_no_more(self):
        bucket, _, glossaries = self.make()
        for number in range(MAX_TENANTS + 5):
            glossaries.of(f"t{number}")
        asked = bucket.asked
        glossaries.of(f"t{MAX_TENANTS + 4}")
        assert bucket.asked == asked
        glossaries.of("t0")
        assert bucket.asked == asked + 1

    def test_concurrent_questions_share_one_read(self):
        class WatchedClock(FakeClock):
            def monotonic(self) -> float:
                if threading.current_thread() is not threading.main_thread():
                    second_has_looked.set()
                return super().monotonic()

        class BusyBucket(Bucket):
            def read_small(self, key: str, *, known_etag: str, max_bytes: int) -> SmallObject | None:
                if self.asked == 1:
                    found.append(pool.submit(glossaries.of, "acme"))
                    assert second_has_looked.wait(10)
                return super().read_small(key, known_etag=known_etag, max_bytes=max_bytes)

        second_has_looked, found = threading.Event(), list[Future[Glossary]]()
        bucket, clock = BusyBucket(), WatchedClock()
        bucket.objects["glossary/acme.json"] = b'{"entities": [{"name": "A"}]}'
        glossaries = CachedGlossaries(bucket, clock, ttl_s=60)
        glossaries.of("acme")
        clock.advance(61)
        with ThreadPoolExecutor(1) as pool:
            assert glossaries.of("acme") == found[0].result(10)
        assert bucket.asked == 2

    def test_an_error_that_is_raised_again_and_again_does_not_grow(self):
        bucket, _, glossaries = self.make()
        bucket.objects["glossary/acme.json"] = b'{"entities": 7}'
        depths = []
        for _ in range(3):
            with pytest.raises(GlossaryInvalid) as told:
                glossaries.of("acme")
            depths.append(len(list(traceback.walk_tb(told.value.__traceback__))))
        assert depths == [2, 2, 2]
