"""Judges whether a claim is confirmed, unconfirmed or refuted by the evidence it quotes.

`RULES` are asked in order. A finding that refutes wins over all others, then one that doubts, then one that confirms;
without any finding a claim is unconfirmed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import attrgetter

from functions.query.grounding.clauses import LEFT_OUT, PUT_IN, is_denied, states_supposition
from functions.query.grounding.comparison import ClaimComparison, Context, texts_of
from functions.query.grounding.figures import denies_figures
from functions.query.grounding.injection import is_prompt_rule, obeys
from functions.query.grounding.known_facts import (
    has_other_letter,
    is_count,
    is_fraction,
    is_of_another_quarter,
    is_quarter_by_months,
    known_facts,
    missing_facts,
)
from functions.query.grounding.measures import (
    crosses_pairs,
    exchanges_values,
    may_exchange_values,
    repeats_otherwise,
    takes_number_otherwise,
    turns_limit,
    turns_move,
    turns_rate,
)
from functions.query.grounding.merging import has_moved_number, has_number_of_another, has_value_of_another, is_merged
from functions.query.grounding.names import unknown_names
from functions.query.grounding.overstated import (
    affirms_number,
    begins_otherwise,
    drops_condition,
    generalises,
    has_own_superlative,
    is_example,
    leaves_no_exception,
    tells_as_decided,
    tells_as_done,
    tells_of_excepted,
    turns_condition,
)
from functions.query.grounding.parts import tells_of_another, tells_opposite_of_part
from functions.query.grounding.polarity import count_negations, moves_against_its_word, near_copy_conflict, reversal
from functions.query.grounding.quotes import EvidenceSpan
from functions.query.grounding.roles import (
    compares_otherwise,
    invents_cause,
    is_reversed,
    joins_alternatives,
    names_other_agent,
    turns_cause,
    turns_mode,
    turns_span,
    turns_time,
)
from functions.query.grounding.statements import statement_of, yes_or_no
from functions.query.grounding.wording import is_covered, is_foreign, replacement, stands_for_another
from functions.query.grounding.words import has_digit, stems_of, tokens_of

MIN_ASKED_SHARE = 0.75
"""Share of the question's words from which a statement after "Yes," or "No," is about the same."""


class Verdict(StrEnum):
    """What the evidence says about a claim."""

    CONFIRMED = "confirmed"
    UNCONFIRMED = "unconfirmed"
    REFUTED = "refuted"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule found. `verdict`: it confirms, doubts (at most unconfirmed) or refutes.

    `name` is shown to people in `Support.flags`, empty if there is nothing to tell; `derived` is a calculation as text.
    """

    verdict: Verdict
    name: str = ""
    derived: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one claim, the names of the findings, and the calculation that confirmed it, if any."""

    verdict: Verdict
    findings: tuple[str, ...] = ()
    derived: str = ""


@dataclass(frozen=True, slots=True)
class ClaimRule:
    """A named rule; None from `judge` means that it has nothing to say."""

    name: str
    judge: Callable[[ClaimComparison], Finding | None]


def judge(
    claim: str,
    evidence: Sequence[EvidenceSpan],
    context: Context,
    *,
    original: str = "",
    without: frozenset[str] = frozenset(),
) -> Judgement:
    """Judge one claim; without evidence it is refuted. `without` switches rules off by name.

    A translation is confirmed if `original`, the statement in the source's language, is confirmed and has its facts.
    """
    if not evidence:
        return Judgement(Verdict.REFUTED)
    comparison = ClaimComparison(statement_of(claim) or claim, evidence, context, claim)
    if original and comparison.is_translated and _is_translation(comparison, original):
        judged = judge(original, evidence, context, without=without)
        if judged.verdict is Verdict.CONFIRMED:
            return replace(judged, findings=("translated", *judged.findings))
    found: list[Finding] = []
    for rule in RULES:
        finding = None if rule.name in without else rule.judge(comparison)
        if finding is not None:
            found.append(finding)
            if finding.verdict is Verdict.REFUTED:
                break
    verdicts = {finding.verdict for finding in found}
    order = (Verdict.REFUTED, Verdict.UNCONFIRMED, Verdict.CONFIRMED)
    return Judgement(
        next((each for each in order if each in verdicts), Verdict.UNCONFIRMED),
        tuple(dict.fromkeys(finding.name for finding in found if finding.name)),
        next((finding.derived for finding in found if finding.derived), ""),
    )


def _is_translation(it: ClaimComparison, original: str) -> bool:
    """Return whether the evidence states the claim's facts and names, and claim and original negate alike."""
    facts, others = (known_facts([text], text) for text in (it.claim, original))
    is_same = not (missing_facts(it.claim, others) or missing_facts(original, facts))
    negations = (count_negations(tokens_of(text)) % 2 for text in (it.claim, original))
    return is_same and len(set(negations)) == 1 and not unknown_names(it.claim, [original], it.language)


# --- the rules ---


def _follows_instruction(it: ClaimComparison) -> Finding | None:
    sources = [passage.text for passage in it.context.sources or [span.passage for span in it.spans]]
    follows = obeys(it.claim, it.sentences, sources, it.language) or (not it.repeats and is_prompt_rule(it.claim))
    return Finding(Verdict.REFUTED, "instruction") if follows else None


def _has_other_facts(it: ClaimComparison) -> Finding | None:
    if is_of_another_quarter(it.claim, it.sentences) or has_other_letter(
        it.claim, [*it.sentences, it.context.question]
    ):
        return Finding(Verdict.REFUTED, "number")
    if not it.figures.missing:
        return None
    counted = all(
        is_count(fact, it.claim, it.sentences)
        or is_fraction(fact, it.claim)
        or is_example(fact, it.claim, it.sentences)
        or is_quarter_by_months(fact, it.sentences)
        for fact in it.figures.missing
    )
    return Finding(Verdict.UNCONFIRMED if counted or it.figures.is_possible else Verdict.REFUTED, "number")


def _is_of_another_cell(it: ClaimComparison) -> Finding | None:
    if it.figures.conflict or moves_against_its_word(it.claim):
        return Finding(Verdict.REFUTED, "number")
    return Finding(Verdict.UNCONFIRMED, "number") if it.figures.is_open else None


def _is_calculated(it: ClaimComparison) -> Finding | None:
    derived = it.figures.derived or it.figures.compared
    return Finding(Verdict.CONFIRMED, derived=derived) if derived else None


def _changes_a_copy(it: ClaimComparison) -> Finding | None:
    conflict = "" if it.is_same else near_copy_conflict(it.wording, it.sentences)
    if conflict == "number" and (it.figures.derived or it.figures.compared or it.figures.is_possible):
        return None  # "half" stands where the evidence has "two of the four"
    return Finding(Verdict.REFUTED, conflict) if conflict else None


def _says_the_opposite(it: ClaimComparison) -> Finding | None:
    found = "" if it.is_alike else reversal(it.wording, it.sentences, it.language)
    if not found or it.figures.is_rest:  # "two of the eight do not" where six do
        return None
    return Finding(Verdict.REFUTED if found == "certain" else Verdict.UNCONFIRMED, "negation")


def _names_others(it: ClaimComparison) -> Finding | None:
    if it.repeats or not unknown_names(it.claim, texts_of([span.passage for span in it.spans]), it.language):
        return None
    anywhere = [it.context.question, *texts_of(it.context.sources)]
    unknown = unknown_names(it.claim, anywhere, it.language)
    return Finding(Verdict.REFUTED if unknown else Verdict.UNCONFIRMED, "name")


def _is_foreign(it: ClaimComparison) -> Finding | None:
    exempt = it.is_alike or it.figures.derived
    foreign = not exempt and is_foreign(it.wording, it.passage_stems, it.language)
    return Finding(Verdict.REFUTED, "words") if foreign else None


def _has_unlike_words(it: ClaimComparison) -> Finding | None:
    covered = it.is_alike or (
        not (it.has_cells and denies_figures(it.claim))
        and is_covered(
            it.wording, it.stems, it.spans, question=it.context.question, language=it.language, of_row=it.has_cells
        )
    )
    return None if covered else Finding(Verdict.UNCONFIRMED, "words")


def _replaces_words(it: ClaimComparison) -> Finding | None:
    if it.is_alike:
        return None
    found = replacement(
        it.wording, it.sentences, it.proper_words.__contains__, it.passage_stems.__contains__, it.language
    )
    if not found:
        return None
    is_certain = found == "opposed" and not it.figures.derived
    return Finding(Verdict.REFUTED if is_certain else Verdict.UNCONFIRMED, "replaced")


def _repeats_otherwise(it: ClaimComparison) -> Finding | None:
    texts = (*it.sentences, *it.figures.texts)
    exempt = it.repeats or it.is_translated or it.figures.derived
    return Finding(Verdict.UNCONFIRMED, "number") if not exempt and repeats_otherwise(it.claim, texts) else None


def _exchanges_values(it: ClaimComparison) -> Finding | None:
    if not may_exchange_values(it.claim) or _is_repeated(it):
        return None
    is_exchanged = exchanges_values(it.wording, it.written_sentences, it.language)
    return Finding(Verdict.REFUTED, "number") if is_exchanged else None


def _counts_steps_otherwise(it: ClaimComparison) -> Finding | None:
    return Finding(Verdict.REFUTED, "order") if it.step is not None and not it.step[0] else None


def _turns_limit(it: ClaimComparison) -> Finding | None:
    if _is_repeated(it) or not turns_limit(it.wording, it.sentences, it.language, is_bound=it.figures.is_bound):
        return None
    return Finding(Verdict.REFUTED, "number")


def _answers_otherwise(it: ClaimComparison) -> Finding | None:
    """A "Yes," before a statement that denies what was asked, or a "No," before one that affirms it."""
    answer, asked = yes_or_no(it.written), stems_of(it.context.question, it.language)
    if not answer or len(it.stems & asked) < MIN_ASKED_SHARE * len(asked):
        return None
    negations = count_negations(tokens_of(it.claim)) + count_negations(tokens_of(it.context.question))
    affirms = negations % 2 == 0
    return Finding(Verdict.UNCONFIRMED, "negation") if affirms != (answer == "yes") else None


def _is_denied(it: ClaimComparison) -> Finding | None:
    denied = all(is_denied(span.passage.text, span.end) for span in it.spans)
    return Finding(Verdict.UNCONFIRMED, "negation") if denied else None


def _is_translated(it: ClaimComparison) -> Finding | None:
    return Finding(Verdict.UNCONFIRMED, "translated") if it.is_translated and not it.repeats else None


def _is_covered(it: ClaimComparison) -> Finding:
    del it
    return Finding(Verdict.CONFIRMED)


def _turned(kind: str) -> Callable[[ClaimComparison], Finding | None]:
    return lambda it: Finding(Verdict.UNCONFIRMED, kind) if kind in it.turns else None


def _says_the_contrary(it: ClaimComparison) -> Finding | None:
    if it.is_alike:
        return None
    contrary = "contrary" in it.turns or states_supposition(it.wording, it.sentences, it.language)
    return Finding(Verdict.REFUTED, "contrary") if contrary else None


def _is_repeated(it: ClaimComparison) -> bool:
    """Return whether a claim repeats a sentence or translates one, whatever a table tells."""
    return it.repeats or it.is_translated


def _has_its_figures(it: ClaimComparison) -> bool:
    """Return whether words need no comparison, or numbers have the places that a table or a calculation gives them."""
    is_compared = bool(it.figures.compared) and not has_digit(it.claim)
    return it.is_alike or it.has_cells or bool(it.figures.derived) or is_compared


def _is_compared(it: ClaimComparison) -> bool:
    """Return whether words need no comparison, or values of the evidence are as the claim compares them."""
    return it.is_alike or bool(it.figures.compared)


def _tells_most_of_table(it: ClaimComparison) -> bool:
    """Return whether a claim is repeated, or has from a table or a calculation what it calls the most."""
    return _is_repeated(it) or it.figures.is_bound or bool(it.figures.derived)


def _tells_rest(it: ClaimComparison) -> bool:
    """Return whether words need no comparison, or a claim tells what a part leaves over."""
    return it.is_alike or it.figures.is_rest or bool(it.figures.derived)


def _compared(
    verdict: Verdict,
    name: str,
    check: Callable[[str, Sequence[str], str], bool],
    *,
    unless: Callable[[ClaimComparison], bool] = attrgetter("is_alike"),
) -> Callable[[ClaimComparison], Finding | None]:
    """Return a rule that compares a claim's wording with the sentences, unless it need not be compared."""

    def judge_wording(it: ClaimComparison) -> Finding | None:
        if unless(it) or not check(it.wording, it.sentences, it.language):
            return None
        return Finding(verdict, name)

    return judge_wording


def _in_any_language(check: Callable[[str, Sequence[str]], bool]) -> Callable[[str, Sequence[str], str], bool]:
    return lambda claim, sentences, _language: check(claim, sentences)


KINDS = ("negation", "all", *dict.fromkeys((*LEFT_OUT, *PUT_IN)))
RULES: tuple[ClaimRule, ...] = (
    ClaimRule("instruction", _follows_instruction),
    ClaimRule("number", _has_other_facts),
    ClaimRule("table", _is_of_another_cell),
    ClaimRule("calculation", _is_calculated),
    ClaimRule("copy", _changes_a_copy),
    ClaimRule("negation", _says_the_opposite),
    ClaimRule("name", _names_others),
    ClaimRule("translated", _is_translated),
    ClaimRule("foreign", _is_foreign),
    ClaimRule("words", _has_unlike_words),
    ClaimRule("order", _compared(Verdict.UNCONFIRMED, "order", is_reversed)),
    ClaimRule("span", _compared(Verdict.UNCONFIRMED, "order", _in_any_language(turns_span))),
    ClaimRule("invented cause", _compared(Verdict.UNCONFIRMED, "order", _in_any_language(invents_cause))),
    ClaimRule("cause", _compared(Verdict.REFUTED, "order", turns_cause)),
    ClaimRule("time", _compared(Verdict.REFUTED, "order", turns_time)),
    ClaimRule("mode", _compared(Verdict.REFUTED, "mode", turns_mode)),
    ClaimRule("pairs", _compared(Verdict.UNCONFIRMED, "number", _in_any_language(crosses_pairs))),
    ClaimRule("exchanged values", _exchanges_values),
    ClaimRule("step", _counts_steps_otherwise),
    ClaimRule("alternatives", _compared(Verdict.REFUTED, "order", _in_any_language(joins_alternatives))),
    ClaimRule("limit", _turns_limit),
    ClaimRule("rate", _compared(Verdict.REFUTED, "number", _in_any_language(turns_rate), unless=_is_repeated)),
    ClaimRule("repeated", _repeats_otherwise),
    ClaimRule("role of number", _compared(Verdict.REFUTED, "number", _in_any_language(takes_number_otherwise))),
    ClaimRule("turned condition word", _compared(Verdict.REFUTED, "condition", turns_condition)),
    ClaimRule("excepted", _compared(Verdict.REFUTED, "condition", tells_of_excepted)),
    ClaimRule("agent", _compared(Verdict.UNCONFIRMED, "order", names_other_agent)),
    ClaimRule("move", _compared(Verdict.REFUTED, "number", _in_any_language(turns_move))),
    ClaimRule("comparison", _compared(Verdict.UNCONFIRMED, "order", compares_otherwise, unless=_is_compared)),
    ClaimRule("replaced", _replaces_words),
    ClaimRule("merged", _compared(Verdict.UNCONFIRMED, "apart", is_merged, unless=_has_its_figures)),
    ClaimRule("moved number", _compared(Verdict.UNCONFIRMED, "apart", has_moved_number, unless=_has_its_figures)),
    ClaimRule(
        "number of another", _compared(Verdict.UNCONFIRMED, "apart", has_number_of_another, unless=_has_its_figures)
    ),
    ClaimRule(
        "value of another", _compared(Verdict.UNCONFIRMED, "apart", has_value_of_another, unless=_has_its_figures)
    ),
    ClaimRule("between", _compared(Verdict.UNCONFIRMED, "replaced", stands_for_another)),
    ClaimRule(
        "opposite of part",
        _compared(Verdict.REFUTED, "negation", tells_opposite_of_part, unless=_has_its_figures),
    ),
    ClaimRule("another", _compared(Verdict.UNCONFIRMED, "apart", tells_of_another, unless=_has_its_figures)),
    ClaimRule("yes or no", _answers_otherwise),
    ClaimRule("denied", _is_denied),
    ClaimRule("general", _compared(Verdict.UNCONFIRMED, "all", _in_any_language(generalises))),
    ClaimRule("absolute", _compared(Verdict.UNCONFIRMED, "all", _in_any_language(leaves_no_exception))),
    ClaimRule(
        "superlative",
        _compared(Verdict.UNCONFIRMED, "order", _in_any_language(has_own_superlative), unless=_tells_most_of_table),
    ),
    ClaimRule("done", _compared(Verdict.UNCONFIRMED, "plan", tells_as_done)),
    ClaimRule("decided", _compared(Verdict.UNCONFIRMED, "plan", tells_as_decided)),
    ClaimRule("half condition", _compared(Verdict.UNCONFIRMED, "condition", drops_condition)),
    ClaimRule("opening", _compared(Verdict.UNCONFIRMED, "order", begins_otherwise)),
    ClaimRule("affirmed", _compared(Verdict.UNCONFIRMED, "negation", affirms_number, unless=_tells_rest)),
    ClaimRule("contrary", _says_the_contrary),
    *(ClaimRule(f"turned {kind}", _turned(kind)) for kind in KINDS),
    ClaimRule("covered", _is_covered),
)
