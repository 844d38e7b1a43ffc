"""Make the background tables of `shared/lexical.py`: `python -m evals.research.background` (group `research`).

Word frequencies are Robyn Speer's wordfreq (CC BY-SA 4.0); a term's is the sum over the words that give it. Words rarer
than `MAX_RARITY` are left out, because the lookup gives them that weight anyway.
"""

from collections import defaultdict
from pathlib import Path

from evals.errors import not_installed
from shared.lexical import MAX_RARITY, rarity, terms_of

LANGUAGES = ("de", "en", "es", "fr", "it", "lt", "nl", "pl", "pt")
HEADER = (
    "# Terms and their rarity, from wordfreq (Robyn Speer), CC BY-SA 4.0; made by python -m evals.research.background"
)


def main() -> None:
    """Write one table a language beside shared/lexical.py. Raises `EvalError` without wordfreq."""
    try:
        from wordfreq import get_frequency_dict
    except ModuleNotFoundError as error:
        raise not_installed("The table", error, group="research") from None
    folder = Path(__file__).parents[2] / "shared" / "background"
    folder.mkdir(exist_ok=True)
    for language in LANGUAGES:
        frequencies: defaultdict[str, float] = defaultdict(float)
        for word, frequency in get_frequency_dict(language, "small").items():
            for term in {term for term, _ in terms_of(word, language)}:
                frequencies[term] += frequency
        rows = sorted((rarity(frequency), term) for term, frequency in frequencies.items())
        lines = [f"{term}\t{rare:.2f}" for rare, term in rows if rare < MAX_RARITY and "\t" not in term]
        (folder / f"{language}.tsv").write_text("\n".join([HEADER, *lines]) + "\n", encoding="utf-8")
        print(f"{language}: {len(lines)} terms")


if __name__ == "__main__":
    main()
