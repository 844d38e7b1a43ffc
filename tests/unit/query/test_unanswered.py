"""Groups of questions: the same for the same questions, and unchanged by later ones."""

import math
from random import Random

import pytest

from functions.query.unanswered import SIMILARITY, grouped
from shared.models import UnansweredQuestion


def question(number: int, *vector: float, space: str = "m@2") -> UnansweredQuestion:
    length = math.hypot(*vector)
    return UnansweredQuestion(
        f"{number:026d}", f"Question {number}?", "", "en", space, [value / length for value in vector]
    )


def ids(questions: list[UnansweredQuestion]) -> list[list[int]]:
    return [[int(each.question_id) for each in group.questions] for group in grouped(questions)]


def test_what_is_near_is_one_group_and_the_largest_comes_first() -> None:
    asked = [question(1, 1, 0), question(2, 0, 1), question(3, 1, 0.1), question(4, 0.1, 1), question(5, 1, -0.1)]
    assert ids(asked) == [[1, 3, 5], [2, 4]]


def test_of_groups_of_one_size_the_one_asked_last_comes_first() -> None:
    assert ids([question(1, 1, 0), question(2, 0, 1), question(3, -1, 0)]) == [[3], [2], [1]]


def test_another_embedding_space_is_another_group() -> None:
    assert ids([question(1, 1, 0), question(2, 1, 0, space="other@2"), question(3, 1, 0, 0)]) == [[3], [2], [1]]


def test_the_order_of_the_list_does_not_matter_and_later_questions_change_nothing() -> None:
    random = Random(11)
    asked = [question(number, *(random.gauss() for _ in range(6))) for number in range(60)]
    whole = ids(asked)
    for _ in range(5):
        shuffled = random.sample(asked, len(asked))
        assert ids(shuffled) == whole
    group_of = {number: group for group in whole for number in group}
    for number, group in enumerate(ids(asked[:40])):
        del number
        assert group == [each for each in group_of[group[0]] if each < 40]
    assert 0 < SIMILARITY < 1


def test_nothing_asked_is_no_group() -> None:
    assert ids([]) == []


def test_the_nearest_passages_are_the_best_of_all_questions() -> None:
    asked = [
        UnansweredQuestion("1", "a?", "", "en", "m@2", [1.0, 0.0], nearest=[("x", 0.2), ("y", 0.3)]),
        UnansweredQuestion("2", "b?", "", "en", "m@2", [1.0, 0.0], nearest=[("x", 0.4)]),
    ]
    (group,) = grouped(asked)
    assert group.nearest == [("x", 0.4), ("y", 0.3)]


@pytest.mark.parametrize(("similarity", "expected"), [(SIMILARITY + 0.001, [[1, 2]]), (SIMILARITY - 0.001, [[2], [1]])])
@pytest.mark.parametrize("side", [1, -1])
def test_a_question_is_of_a_group_from_a_similarity_on(similarity: float, side: int, expected: list[list[int]]) -> None:
    assert ids([question(1, 1, 0), question(2, similarity, side * math.sqrt(1 - similarity**2))]) == expected
