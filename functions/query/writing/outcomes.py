"""What came of something: whether a sentence tells it, or only what was put forward, asked, planned or left to decide.

"Was the sale approved?" is not settled by "The station is to be sold.", but by the line below that: "Vote: … Lost."
"""

import re
from collections.abc import Mapping, Sequence

from functions.query.grounding.words import content_stems
from functions.query.writing.statements import Statement
from shared.language import FUNCTION_WORDS, language_of
from shared.text import begins_with_title, sentences_of

SETTLED = 1.5
"""Factor for what was put forward where it is asked whether it has come about, and what came of it is told below."""
MAX_AHEAD = 3
"""Statements behind what was put forward that may tell what came of it."""

_PAST_EN = (
    r"\w+(?:ed|tten|[iao]ken|[vs]en|llen)|given|bought|brought|built|chosen|cut|done|drawn|eaten|found|frozen|held|kept"
    r"|laid|left|let|lost|made|met|paid|put|sent|set|shut|sold|won"
)
_STATES_EN = r"includ|locat|situat|allow|permitt|cover|requir|need|entitl|suppos|oblig|furnish|equipp|open\b"
_ASKED: Mapping[str, re.Pattern[str]] = {
    language: re.compile(pattern, re.IGNORECASE)
    for language, pattern in (
        (
            "en",
            rf"^(?:did\b|(?:was|were|has|have|had)\b.*(?<!\ba)(?<!\ban)(?<!\bthe)(?<!\bto)\s(?!{_STATES_EN})"
            rf"(?:{_PAST_EN})\b)",
        ),
        (
            "de",
            r"^(?:wurden?\b|(?:hat|haben|hatten?)\b.*(?<!\bzu)\s(?-i:[a-zäöüß])\w+(?:t|en)\W*$)|\bworden\W*$",
        ),
        (
            "es",
            r"^¿?se \w+(?:ó|aron|ieron)\b|^¿?(?:se )?(?:ha|han) (?!de\b|que\b)\w+(?:[aií]do|to|cho)\b"
            r"|\b(?:fue|fueron|ha sido|han sido)\b.*(?:[aií]d|t|ch)[oa]s?\b",
        ),
        (
            "fr",
            r"\b(?:a|ont)(?:-t)?-(?:ils?|elles?|on) (?:(?:déjà|bien|pas) )?"
            r"(?:(?:été|fait|\w+(?:é|ert|mis|pris|[dnlçr]u|[sc]rit|uit))\b)|\b(?:a|ont) été \w+"
            r"|^est-ce que .*\b(?:a|ont) \w+é\b",
        ),
        (
            "lt",
            r"^ar\b(?!.*\b(?:gal\w+|reik\w*|tur\w+|privalo\w*|yra|įskaičiuot\w+|įtraukt\w+|leidžiam\w+)\b)"
            r".*\w(?:ta|tas|ti|tos|ino|avo|ėjo|ojo|buvo)\b",
        ),
    )
}
"""How a question asks whether something has come about: in the past, for a deed, not for a state or a right."""
_OPEN: Mapping[str, re.Pattern[str]] = {
    language: re.compile(pattern)
    for language, pattern in (
        (
            "en",
            r"\b(?:is|are|was|were) to\b|\b[Tt]hat\b.*\bbe \w+|\b(?:will|shall|should|would|may|might|whether)\b"
            r"|\b(?:is|are|was|were|been|being) (?:propos|recommend|suggest|request|discuss|consider|plann|intend)ed\b"
            r"|\b(?:(?:propos|recommend|suggest|discuss|consider|intend|want|mov)(?:e?s|ed|ing)?|plann(?:ed|ing))"
            r" (?:to|that|an?|the|\w+ing)\b"
            r"|\bask(?:s|ed)\b",
        ),
        (
            "de",
            r"\b(?:soll\w*|ob|geplant|würden?|könnten?)\b|\bvor\s*(?:[,.;]|\Z)"
            r"|\b(?:vorgeschl|schlägt|schlug|beantrag|frag|erwäg|empf[aeio]h?l)\w*|\bwird\b.*(?:t|en)(?: werden)?\W*\Z",
        ),
        (
            "es",
            r"\b(?:[Pp]ropon\w+|[Pp]ropus\w+|solicit(?:a|ó|an|aron)|pregunt(?:a|ó)|pid(?:e|ió)|[Rr]ecomiend\w+|prevé\w*"
            r"|está previst\w+|será|serán|debería|si)\b",
        ),
        (
            "fr",
            r"\b(?:propos(?:e|a|ent|é)|demandé|envisag\w+|recommand(?:e|é|ent)|prévoi\w+|est prévue?|souhait(?:e|ent)"
            r"|sera|seront|serait|devrait|si)\b",
        ),
        (
            "lt",
            r"\b(?:[Ss]iūl(?:o|ė|oma\w*)|[Pp]raš(?:o|ė|oma)|klaus(?:ia|ė)|[Pp]lanuoja\w*|[Nn]umatoma\w*"
            r"|[Ss]varst(?:o|ė|oma\w*)|bus|turėtų)\b",
        ),
    )
}
"""What is put forward, asked, planned, or left to decide."""
_UNDER_WAY = re.compile(
    r"\bunder way\b|\bim Gange?\b|\ben curso\b|\ben cours\b"
    r"|\b(?:application|request|motion)\b.*\b(?:submitted|filed|tabled)\b|\bAntr[aä]ge?\b.*\b(?:eingereicht|gestellt)\b"
    r"|\b(?:solicitud|moción)\b.*\bpresentada\b|\b(?:demande|motion)\b.*\bdéposée\b|\b[Pp]rašymas\b.*\bpateiktas\b"
    r"|\benvisagée?s? pour\b"
)
"""What has begun with a word for that, and nothing more: it leaves open the deed that the question names."""
_LABELLED = re.compile(r"\A[^\W\d_]+\s?:\s")
"""The beginning of a line that adds to what stands above: "Vote: 3 in favour"."""
_REFERS = re.compile(
    r"\A(?:(?:it|this|that|these|they|he|she|jis|ji|tai|es|sie|dies\w*|esto|esta|este|il|elle|cela)"
    r"|(?:the|der|die|la|le) (?:motion|matter|decision|vote|antrag|sache|moción|affaire))\b",
    re.IGNORECASE,
)
"""The beginning of a sentence about what stands before it: "It was lost.", "The motion was carried."."""
_SUBJECT = re.compile(r"\A(?:the|der|die|das|el|la|le) ([^\W\d_]{4})", re.IGNORECASE)
"""The beginning of what a sentence is about: "The proposal" of what was proposed."""
_AUXILIARY = re.compile(r"\b(?:was|were|been|has|have|had|wurden?|worden|fue|fueron|sido|été|buvo)\b", re.IGNORECASE)
_DONE: Mapping[str, re.Pattern[str]] = {
    language: re.compile(pattern, re.IGNORECASE)
    for language, pattern in (
        ("en", rf"\b(?:{_PAST_EN}|\w+en)\b"),
        ("de", r"\b\w+(?:t|en)(?=\W*\Z)"),
        ("es", r"\b\w+(?:[aiu]d[oa]s?|ó|aron|ieron)\b"),
        ("fr", r"\b\w+(?:é|ert|mis|pris|[dnlçr]u|[sc]rit|uit)e?s?\b"),
        ("lt", r"\b\w+t(?:a|as|i|os)\b"),
    )
}
"""The word of a question that says what may have come about: "approved"."""
_INSERTED = re.compile(
    r",\s(?:which|who|whose|that|although|though|der|die|das|den|dem|dessen|deren|obwohl|qu[ei]|cuy[oa]s?|aunque|dont"
    r"|bien que|kur\w+|nors)\b[^,]*,(?=\s)"
)
"""What is said by the way, between commas: ", which was to reopen in May,"."""
_CLAUSE_BORDER = re.compile(r";\s|,\s(?:but|so|aber|so dass|pero|mais|bet)\s|,\s(?=\w+ (?:aber|jedoch)\s)")


def asks_outcome(question: str) -> bool:
    """Return whether a question asks whether something has come about: "Was the sale approved?"."""
    pattern = _ASKED.get(language_of(question))
    return pattern is not None and pattern.search(question.strip()) is not None


def is_settled_below(first: Statement, below: Sequence[Statement], question: str) -> bool:
    """Return whether it is asked what came of what a statement puts forward, and those below it tell that."""
    if first.is_row or not asks_outcome(question) or not is_open(first.text, first.language, question):
        return False
    # "Each guest shall pay a tax" is not what is asked about in "Has the grant been paid?".
    matter = frozenset(content_stems(question, first.language)) - _stems_done(question, first.language)
    matter -= frozenset(FUNCTION_WORDS.get(first.language, ()))
    if matter.isdisjoint((*first.stems, *first.context_stems)):
        return False
    return outcome_after([first.text, *(each.text for each in below)], question, first.language) > 0


def is_open(text: str, language: str, question: str = "") -> bool:
    """Return whether a text only tells what was put forward, asked, planned or left to decide.

    "It was agreed that the fee shall be £10." tells that it was agreed, if that is the question.
    """
    pattern = _OPEN.get(language)
    if pattern is None:
        return False
    asked = _stems_done(question, language)
    sentences = [text[start:end] for start, end in sentences_of(text)][begins_with_title(text) :]
    clauses = [clause for sentence in sentences for clause in _CLAUSE_BORDER.split(sentence)]
    return all(_is_clause_open(clause, pattern, asked, language) for clause in clauses)


def _is_clause_open(clause: str, pattern: re.Pattern[str], asked: frozenset[str], language: str) -> bool:
    if asked and _UNDER_WAY.search(clause) and asked.isdisjoint(_stems_done(clause, language)):
        return True
    opens = pattern.search(clause)
    if opens is None:
        return False
    rest = _INSERTED.sub("", clause)
    if rest != clause and not asked.isdisjoint(content_stems(rest, language)):
        return _is_clause_open(rest, pattern, asked, language)
    told = [clause[: opens.start()]]
    for auxiliary in _AUXILIARY.finditer(clause):
        again = pattern.search(clause, auxiliary.start())
        told.append(clause[auxiliary.end() : again.start() if again else len(clause)])
    return all(asked.isdisjoint(content_stems(each, language)) for each in told)


def _stems_done(question: str, language: str) -> frozenset[str]:
    pattern = _DONE.get(language)
    words = pattern.findall(question) if pattern else ()
    return frozenset(stem for word in words for stem in content_stems(word, language))


def leaves_open(told: Sequence[tuple[str, str]], question: str) -> bool:
    """Return whether an answer's texts, with their languages, do not tell what came of what is asked about.

    The one with most of the question's words is open, and none behind it tells what came of that.
    """

    def share(at: int) -> int:
        text, language = told[at]
        stems = frozenset(content_stems(text, language))
        is_done = not stems.isdisjoint(_stems_done(question, language))
        return len(stems.intersection(content_stems(question, language))) + is_done

    best = max(range(len(told)), key=share)
    text, language = told[best]
    return is_open(text, language, question) and not outcome_after(
        [text for text, _ in told[best:]], question, language
    )


def outcome_after(texts: Sequence[str], question: str, language: str) -> int:
    """Return how many of the texts behind what is open must be told for what came of it; 0 if they do not tell it.

    It stands below a label, refers to what stands before, or has a word of the question or of the title above it.
    """
    first, *after = texts
    title = first[slice(*sentences_of(first)[0])] if begins_with_title(first) else ""
    asked = question.split(maxsplit=1)[-1]  # without "was", "wurde", "fue", "ar"
    small = FUNCTION_WORDS.get(language, ())  # "la" is none of the matter's words
    stems = content_stems(f"{asked} {title}", language)
    known = frozenset(stem for stem in stems if not stem.isdigit() and stem not in small)
    told = 0
    for number, text in enumerate(after[:MAX_AHEAD], start=1):
        subject = _SUBJECT.match(text)
        is_about = (
            bool(_REFERS.match(text))
            or (subject is not None and re.search(rf"\b{subject[1]}", first, re.IGNORECASE) is not None)
            or not known.isdisjoint(content_stems(text, language))
        )
        if begins_with_title(text) or (told and not is_about):
            break
        if (is_about or _LABELLED.match(text)) and not is_open(text, language, question):
            told = number
    return told
