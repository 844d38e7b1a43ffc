"""Make the letter pairs of `parsing/legible.py`: `python -m evals.research.letter_pairs` (group `research`).

Words are the commonest of Robyn Speer's wordfreq (CC BY-SA 4.0), each counted once.
"""

from collections import Counter
from itertools import pairwise, product
from math import log10

from evals.errors import not_installed
from functions.ingest.parsing.legible import ALPHABET, ALWAYS, NEVER, PAIRS, STEPS, plain

LANGUAGES = "cs da de en es fi fr hu id is it lt lv nl pl pt ro sh sv tr vi".split()  # noqa: SIM905
WORDS = 30_000
SELDOM = 1_000
"""Letters that a language has less often (only in foreign words) count as so many."""
HEADER = (
    "# How seldom a letter follows another, from wordfreq (Robyn Speer), CC BY-SA 4.0; "
    "made by python -m evals.research.letter_pairs"
)


def main() -> None:
    """Write the table beside the module that reads it. Raises `EvalError` without wordfreq."""
    try:
        from wordfreq import top_n_list
    except ModuleNotFoundError as error:
        raise not_installed("The table", error, group="research") from None
    rows: list[str] = []
    for language in LANGUAGES:
        words = {plain(word) for word in top_n_list(language, WORDS)}
        chosen = [word for word in words if word.isalpha() and word.isascii() and len(word) > 2]
        pairs = Counter(pair for word in chosen for pair in pairwise(f" {word} "))
        firsts: Counter[str] = Counter()
        for (first, _), count in pairs.items():
            firsts[first] += count
        shares = (pairs[pair] / max(SELDOM, firsts[pair[0]]) for pair in product(ALPHABET, ALPHABET))
        digits = "".join(chr(ALWAYS + min(NEVER, round(-STEPS * log10(share or 1e-9)))) for share in shares)
        rows.append(f"{language} {digits}")
        print(f"{language}: {len(chosen)} words")
    PAIRS.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
