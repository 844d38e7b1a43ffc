"""`python -m local glossary check FILE`: is it one, and what does it make of a question?"""

from pathlib import Path

from functions.query.understanding.glossary import GlossaryInvalid, applied, parse_glossary
from functions.query.understanding.language import language_of
from functions.query.understanding.question import normalized


def check(path: Path, question: str = "") -> int:
    """Print every mistake of a glossary, or what it holds; and how it changes `question`. Return the exit code."""
    try:
        glossary = parse_glossary(path.read_bytes(), file=path.name)
    except OSError as error:
        print(f"{path} cannot be read: {error.strerror}.")
        return 1
    except GlossaryInvalid as error:
        print(error)
        return 1
    spellings = sum(len(entity.spellings) + len(entity.synonyms) for entity in glossary.entities)
    print(f"{path.name}: {len(glossary.entities)} entities ({spellings} other names), {len(glossary.rules)} rules.")
    if question:
        asked = normalized(question)
        found = applied(glossary, asked, language_of(asked))
        print(f"searched for: {found.question}")
        for variation in found.variations:
            print(f"        and: {variation.text} (share {variation.weight})")
        if found.filter:
            print(f"filter: {found.filter}")
        for boost in found.boosts:
            print(f"lifted by {boost.lift}: {boost.filter}")
    return 0
