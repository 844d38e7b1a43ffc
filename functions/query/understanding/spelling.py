"""Near spellings of words."""


def distance(one: str, other: str, *, most: int) -> int:
    """Return how many letters must be inserted, left out, replaced or swapped with the next to turn one into the other.

    The optimal string alignment distance (Damerau 1964); `most` + 1 for anything over `most`.
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        before, former, row = row, before, [at]
        for column, beside in enumerate(other, start=1):
            cost = min(before[column] + 1, row[column - 1] + 1, before[column - 1] + (letter != beside))
            if at > 1 and column > 1 and letter == other[column - 2] and one[at - 2] == beside:
                cost = min(cost, former[column - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


SHORTEST = 5
"""Letters of a word that may be misspelt by one letter; one of twice as many, less two, may be by two."""


def allowed_distance(word: str) -> int:
    """Return by how many letters another spelling of a word may differ."""
    return 0 if len(word) < SHORTEST or not word.isalpha() else 1 if len(word) < 2 * SHORTEST - 2 else 2
