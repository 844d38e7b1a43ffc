"""Checks whether a claim keeps the wording it cites: enough of its words, none replaced or added."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache, partial
from itertools import groupby
from typing import Literal

from functions.query.grounding.polarity import are_opposite, count_negations, has_opposite, is_negation
from functions.query.grounding.quantities import PERIODS, is_number_word, is_unit, unit_name
from functions.query.grounding.quotes import EvidenceSpan, spelled_out_stems
from functions.query.grounding.words import (
    LONGEST_COMPARED_TOKENS,
    are_synonyms,
    has_digit,
    is_degree,
    is_stop_word,
    other_words_of,
    stem_of,
    stems_of,
    tokens_of,
    with_synonyms,
)
from functions.query.understanding.question import lines_of
from shared.dates import ENGLISH_MONTHS, is_month
from shared.lexical import MAX_RARITY, background
from shared.lexical import stem as stem_in_index

# --- coverage: enough words ---

COVERAGE = 0.65
FEW_WORDS_COVERAGE = 0.75
"""Share of a claim's content words that its evidence must contain, and for claims of one or two content words."""
COMMON_RARITY = 3.0
"""Rarity up to which a word is common: it is in every twentieth text of 200 words."""
MIN_WORDS_WITH_COMMON = 5
"""Content words of a claim in which common ones need no evidence."""
MIN_RARE_COVERAGE = 0.4
"""The share that is enough where all others are common: "costs", "the same"."""
MIN_CLAUSE_WORDS = 3
MIN_CLAUSE_COVERAGE = 0.4
"""Share of a clause's content words that the evidence must contain, for clauses of `MIN_CLAUSE_WORDS` or more."""
FOREIGN_COVERAGE = 0.34
"""Share of a statement's content words in the whole source and the question below which nothing is like it."""
MAX_UNKNOWN_INSIDE = 4
MAX_UNKNOWN_AT_END = 3
"""Run of content words outside the evidence from which a claim counts as unsupported. The limit is lower at the start
and end of a claim, where a false addition to a true sentence usually is."""
UNINFORMATIVE_STEMS = stems_of("percent cent proc procentai procentų according document source states says")
"""Words that a claim may add: names of signs ("%", which facts compare), and mentions of the source."""

_FUNCTION_LINES = lines_of("function_words.txt")
FUNCTION_STEMS = UNINFORMATIVE_STEMS | stems_of(" ".join(line for line in _FUNCTION_LINES if ":" not in line))
"""The same and function words, of which a paraphrase has others than its source."""


@cache
def function_stems(language: str) -> frozenset[str]:
    """Return the same with those of a language."""
    start = f"{language.split('-')[0]}:"
    return FUNCTION_STEMS | stems_of(
        " ".join(line.removeprefix(start) for line in _FUNCTION_LINES if line.startswith(start)), language
    )


_ARTICLES = frozenset(("the", "a", "an"))
_MONTHS = stems_of(" ".join(month for month in ENGLISH_MONTHS if month != "may"))
_PUNCTUATED_CLAUSE = re.compile(r"[.!?:;,()—–]\s|\s[-(]")
LONG_WORDS = 18
"""Words of a claim of which some are others than its evidence's by chance: not every one of them is a change."""
MIN_EXCHANGED = 2
"""Words of a sentence in the place of which a long claim has others, at least, for it to be no paraphrase."""
MAX_PREDICATE_WORDS = 8
"""Words of a claim of which the last one, after "is", must be in the evidence."""
_PREDICATE = re.compile(r"\b(?:is|are|was|were)\s+(?:[^\W\d_]+ly\s+)?([^\W\d_]+)\W*\Z", re.IGNORECASE)
"""The last word of "The vote was unanimous", which is all that it says."""
_STATEMENT = re.compile(r"[.!?:;]\s")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
AROUND_WEIGHT = 0.5
"""What a word of a claim counts that stands only beside its evidence."""


def is_covered(
    claim: str, said: frozenset[str], spans: Sequence[EvidenceSpan], *, question: str, language: str, of_row: bool
) -> bool:
    """Return whether enough of a claim's stems `said` are in its evidence; titles and the question count half.

    Common words may be others than the evidence's, but not `of_row`: what a row's figures are is told by them alone.
    """
    said -= function_stems(language)
    if not said:
        return True
    own = frozenset().union(*(span.stems for span in spans))
    own |= with_synonyms(said, own, language) | spelled_out_stems(claim, spans, language) | _MONTHS
    around = stems_of(question, language).union(*(span.title_stems for span in spans)) - own
    share = (len(said & own) + AROUND_WEIGHT * len(said & around)) / len(said)
    needed = FEW_WORDS_COVERAGE if len(said) < MIN_CLAUSE_WORDS else COVERAGE
    if has_unknown_part(claim, own | around, language):
        return False
    return share >= needed or (
        not of_row
        and share >= MIN_RARE_COVERAGE
        and said - own - around <= common_stems(claim, language)
        and max(_unknown_runs(claim, own | around, language)) == 1
    )


def is_foreign(claim: str, held: frozenset[str], language: str) -> bool:
    """Return whether nothing like a claim, or a statement in it, is in the stems `held`.

    Its numbers are taken for known: other rules compare them.
    """
    texts = [
        part for part in _STATEMENT.split(claim) if len(_stems_without_degrees(part, language)) >= MIN_CLAUSE_WORDS
    ]
    return any(_lacks_words(text, held, language) for text in texts or [claim])


def _lacks_words(text: str, held: frozenset[str], language: str) -> bool:
    said = _stems_without_degrees(text, language)
    known = (said & held) | with_synonyms(said, held, language)
    known |= {stem for stem in said - known if not held.isdisjoint(other_words_of(stem, language))}
    numbers = sum(has_digit(word) or is_number_word(word) for word in tokens_of(text))
    return len(known) + numbers < FOREIGN_COVERAGE * (len(said) + numbers)


def _stems_without_degrees(text: str, language: str) -> frozenset[str]:
    words = " ".join(word for word in tokens_of(text) if not (is_degree(word) or is_unit(word)))
    return stems_of(words, language) - FUNCTION_STEMS


def has_unknown_part(claim: str, held: frozenset[str], language: str) -> bool:
    """Return whether a clause of a claim, or a run of its words, is missing in the stems `held`."""
    for clause in _PUNCTUATED_CLAUSE.split(claim):
        stems = stems_of(clause, language) - function_stems(language)
        if len(stems) >= MIN_CLAUSE_WORDS and len(stems & held) < MIN_CLAUSE_COVERAGE * len(stems):
            return True
    is_short = len(tokens_of(claim)) <= MAX_PREDICATE_WORDS
    if is_short and (predicate := _PREDICATE.search(claim)) and not stems_of(predicate[1], language) <= held:
        return True
    runs = _unknown_runs(claim, held, language)
    at_end = max(runs[:1] + runs[-1:], default=0)
    return max(runs, default=0) >= MAX_UNKNOWN_INSIDE or at_end >= MAX_UNKNOWN_AT_END


def _unknown_runs(claim: str, held: frozenset[str], language: str) -> list[int]:
    """Return the lengths of the runs of content words that are missing in the stems `held`, 0 for runs that are not."""
    words = (stems_of(word, language) - function_stems(language) for word in _WORD.findall(claim))
    return [len(list(run)) if unknown else 0 for unknown, run in groupby(not stems <= held for stems in words if stems)]


@lru_cache(maxsize=512)
def common_stems(claim: str, language: str) -> frozenset[str]:
    """Return the stems of a claim's common words; none of numbers, units and months, nor of a short claim.

    What a claim says in other words it says with them: "it costs 5 euros" for "the fee is 5 euros".
    """
    if len(stems_of(claim, language) - function_stems(language)) < MIN_WORDS_WITH_COMMON:
        return frozenset()
    rarity = background(language)
    words = (word for word in tokens_of(claim) if not _is_fact(word))
    stems = {stem: word for word in words for stem in stems_of(word, language)}
    common = (
        stem
        for stem, word in stems.items()
        if min(rarity.get(stem, MAX_RARITY), rarity.get(stem_in_index(word, language), MAX_RARITY)) <= COMMON_RARITY
    )
    return frozenset(common) - function_stems(language)


# --- replacements: a word in the place of another ---

NEAR_SHARE = 0.6
"""Share of a claim's words, in order, from which it is compared word by word with a sentence."""
COPIED_SHARE = 0.75
"""Share of a claim's words, in order, from which another word in the place of one is no paraphrase."""
REPEATED_SHARE = 0.9
"""Share of a sentence's words from which a claim counts as repeating it, whatever surrounds it."""
NEAREST_MARGIN = 0.05
"""Sentences that are farther than the nearest one by this share are ignored."""
PUT_IN_SHARE = 0.85
"""Share of a claim's words, in order, from which other words among them were put in."""
MAX_PUT_IN = 3
"""Content words that may be put into a copied sentence to turn it; more are found by `has_unknown_part`."""
MAX_REPLACED_WORDS = 4
"""Content words of a sentence in whose place one word of a claim may stand; more are paraphrased by it."""
MIN_COPIED_WORDS = 10
"""Words from which a claim that differs in one word only is a copy with that word changed, not a paraphrase."""
_VERB_ENDINGS = ("ed", "ing")
"""Endings of words that are often paraphrased by others: "originated" for "descend"."""
MIN_CLAUSE_TOKENS = 6
_JOINED_CLAUSE = re.compile(r"[;:—]\s|,?\s(?:and|while|whereas|but|bei|tačiau)\s")
_CONNECTIVES = frozenset((
    "additionally", "furthermore", "moreover", "however", "therefore", "thus", "hence", "overall",
    "further", "specifically", "namely", "respectively", "instead", "likewise", "accordingly", "finally", "like",
    "according", "document", "documents", "source", "sources", "text", "section", "page", "table", "report", "says",
    "said", "states", "stated", "mentions", "notes", "following", "follows", "based", "example", "instance",
    "called", "notably", "take", "takes", "taken", "st", "nd", "rd", "th", "pagal", "taip", "pat", "todel", "taigi",
))  # fmt: skip
"""Words that only join claims or mention the source."""
_YOU_CAN = ("you", "can")
_ROUGHLY = frozenset(("approximately", "around", "roughly", "nearly", "almost", "between", "circa", "apie"))
"""Words before a number that may be added or dropped; the number itself is compared as a fact."""
_ROMAN = re.compile(r"[ivx]+")
_ORDERS = frozenset(("first", "second", "third", "former", "latter", "other"))
_UNIVERSAL = frozenset(("any", "every", "each"))
NOT_ALWAYS_NUMBERS = frozenset((
    "one", "million", "billion", "thousand", "hundred", "first", "second", "third", "fourth", "fifth",
))  # fmt: skip
"""Number words that are not always facts: alone they are compared as words."""

_REFERRING = frozenset(("i", "we", "us", "our", "he", "she", "his", "her", "it", "its", "they", "their", "them"))
_PERSONS = frozenset(("he", "she", "they"))
_MORE_THAN = {("over",), ("more", "than")}
"""Two ways to say the same of a number."""
_AUTHORS = frozenset(("company", "company's", "group", "firm", "organisation", "organization", "author", "authors"))
"""Words for those who a document calls "we"."""

BESIDE_ANY = _CONNECTIVES | _AUTHORS | _ROUGHLY | _REFERRING
"""Words that may stand beside any others without changing what is told."""

Replacement = Literal["", "other", "opposed"]
"""A word stands in the place of "other" words, or of one that it excludes ("opposed")."""
Step = tuple[str, int, int, int, int]
"""An opcode of difflib that turns the claim into the sentence: kind, span in the claim, span in the sentence."""


def replacement(
    claim: str,
    sentences: Sequence[str],
    is_proper: Callable[[str], bool],
    is_nearby: Callable[[str], bool],
    language: str,
) -> Replacement:
    """Return whether a claim is one of the sentences with a word replaced.

    `is_proper` tells if a word is a name: one name excludes another. `is_nearby` tells if a stem is in the
    passage, its titles or the question: such a word may be added, for example for a pronoun.
    """
    said = tokens_of(claim)
    if not said or len(said) > LONGEST_COMPARED_TOKENS:
        return ""
    compare = partial(_replacement, sentences=sentences, is_proper=is_proper, is_nearby=is_nearby, language=language)
    found = compare(said)
    if found is not None:
        return found
    clauses = [tokens_of(clause) for clause in _JOINED_CLAUSE.split(claim)]
    parts = [compare(clause) or "" for clause in clauses if len(clauses) > 1 and len(clause) >= MIN_CLAUSE_TOKENS]
    return max(parts, key=_SEVERITY.index, default="")


_SEVERITY: Sequence[Replacement] = ("", "other", "opposed")


def _replacement(
    said: Sequence[str],
    *,
    sentences: Sequence[str],
    is_proper: Callable[[str], bool],
    is_nearby: Callable[[str], bool],
    language: str,
) -> Replacement | None:
    """Compare words with their nearest sentences; None if no sentence is near."""
    mine = [stem_of(word, language) for word in said]
    found: list[tuple[float, Replacement]] = []
    for theirs in map(tokens_of, sentences):
        if not theirs or len(theirs) > LONGEST_COMPARED_TOKENS:
            continue
        stems = [stem_of(word, language) for word in theirs]
        among = set(stems)
        if sum(stem in among for stem in mine) < min(NEAR_SHARE * len(mine), REPEATED_SHARE * len(stems)):
            continue
        matcher = SequenceMatcher(None, mine, stems, autojunk=False)
        equal = sum(block.size for block in matcher.get_matching_blocks())
        near = max(equal / len(mine), equal / len(stems) if equal >= REPEATED_SHARE * len(stems) else 0.0)
        if near >= NEAR_SHARE:
            comparison = _Comparison(said, theirs, mine, near, is_proper, is_nearby, language)
            found.append((near, comparison.replacement(matcher.get_opcodes())))
    nearest = max((near for near, _ in found), default=0.0)
    return min((each for near, each in found if near > nearest - NEAREST_MARGIN), key=_SEVERITY.index, default=None)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A word-by-word comparison of a claim with a sentence that it nearly repeats."""

    claim: Sequence[str]
    sentence: Sequence[str]
    claim_stems: Sequence[str]
    near: float
    is_proper: Callable[[str], bool]
    is_nearby: Callable[[str], bool]
    language: str

    def replacement(self, steps: Sequence[Step]) -> Replacement:
        """Return the most severe replacement; an added word counts, an omitted one does not.

        A long claim with several changes is a paraphrase, in which only degrees and what is excluded count; not if it
        is a copy but for a word here and there.
        """
        changed = [at for at, step in enumerate(steps) if step[0] in {"replace", "delete"}]
        is_long = len(self.claim) >= LONG_WORDS and len(changed) > 1 and self.near < REPEATED_SHARE
        is_paraphrase = is_long and sum(self._is_exchanged(steps, at) for at in changed) < MIN_EXCHANGED
        found = [(self._of_step(steps, at), self.claim[slice(*steps[at][1:3])]) for at in changed]
        counted = (each for each, said in found if each == "opposed" or not is_paraphrase or any(map(is_degree, said)))
        return max(counted, key=_SEVERITY.index, default="")

    def _is_exchanged(self, steps: Sequence[Step], at: int) -> bool:
        """Return whether as many words of weight stand in the place of others, between words that both texts have."""
        _, start, end, other, other_end = steps[at]
        said = sum(map(_is_compared, self.claim[start:end]))
        held = sum(map(_is_compared, self.sentence[other:other_end]))
        return 0 < said == held and self._is_between_equal_words(steps, at)

    def _of_step(self, steps: Sequence[Step], at: int) -> Replacement:
        _, start, end, other, other_end = steps[at]
        said, held = self.claim[start:end], self.sentence[other:other_end]
        if _is_another_count(said, held):
            return "opposed"
        if {tuple(said), tuple(held)} == _MORE_THAN or self._is_pronoun_for_name(steps[at]):
            return ""
        mine = list(_compared(self.claim, start, end))
        theirs = [word for word in held if (_is_compared(word) or _is_fact(word)) and word not in _CONNECTIVES]
        if start == 0 and tuple(said[:2]) == _YOU_CAN and len(mine) == 1:
            return ""  # "You can save the file", for "Save the file"
        if any(map(has_digit, theirs)) and all(map(_is_fact, mine)):
            return ""  # a number written differently ("3rd", "third")
        if not theirs:
            return "other" if self._is_put_in(mine, steps, at) else ""
        is_copied = self.near >= COPIED_SHARE
        if not (_REFERRING | _AUTHORS).isdisjoint(held) and all(map(self._is_name, mine)):
            # "We", "it" or "the Company" may be replaced by whoever the document or the question names.
            return "other" if is_copied and any(map(self._is_added, mine)) else ""
        if not _PERSONS.isdisjoint(held) and len(mine) == 1 and not is_degree(mine[0]):
            is_known = self.is_nearby(stem_of(mine[0], self.language))  # "the buyer" for "she"
            return "other" if is_copied and not is_known else ""
        if len(mine) > 1:
            return "other" if is_copied and any(is_degree(word) and not self._occurs(word) for word in mine) else ""
        at_end = start == 0 or end == len(self.claim) or (start == 1 and self.claim[0] in _ARTICLES)
        if not mine or (len(theirs) > MAX_REPLACED_WORDS and not at_end):
            return ""
        single = len(theirs) == 1 and self._is_between_equal_words(steps, at)
        if not self._is_new(mine[0], theirs, single):
            return ""
        if self._is_order(mine[0], start):
            return ""  # "The first", for what the sentence names
        is_verb = mine[0].endswith(_VERB_ENDINGS)
        if is_verb and single and theirs[0].endswith(_VERB_ENDINGS) and not self._excludes(mine[0], theirs[0]):
            return ""  # "guided" for "directed": another word for what was done
        if single and (self._excludes(mine[0], theirs[0]) or (self._is_copy(steps) and not is_verb)):
            return "opposed"
        return "other" if is_copied else ""

    def _is_pronoun_for_name(self, step: Step) -> bool:
        """Return whether a claim begins with "he" or "she" where the sentence begins with a name, and no one else's."""
        _, start, end, other, other_end = step
        named = self.sentence[other:other_end]
        if not (start == other == 0 and end == 1 and self.claim[0] in _PERSONS and _REFERRING.isdisjoint(named)):
            return False
        return any(map(self.is_proper, named)) and not any(word.endswith("'s") for word in named)

    def _is_put_in(self, words: Sequence[str], steps: Sequence[Step], at: int) -> bool:
        """Return whether words of which nothing around the sentence tells stand inside of what it says otherwise."""
        inside = 0 < len(words) <= MAX_PUT_IN and self._is_between_equal_words(steps, at)
        if len(words) == 1 and self._is_order(words[0], steps[at][1]):
            return False
        return self.near >= PUT_IN_SHARE and inside and all(map(self._is_added, words))

    def _is_order(self, word: str, start: int) -> bool:
        """Return whether a claim begins with the number of what it tells among several: "The second film is …"."""
        return start <= 1 and "the" in self.claim[:1] and word in _ORDERS

    def _is_copy(self, steps: Sequence[Step]) -> bool:
        """Return whether a claim is a part of the sentence word for word, but for one replacement."""
        inside = steps[1:-1] if steps[0][0] == "insert" else steps[:-1] if steps[-1][0] == "insert" else steps
        changed = [step for step in inside if step[0] != "equal"]
        return len(changed) == 1 and len(self.claim) >= MIN_COPIED_WORDS

    def _is_name(self, word: str) -> bool:
        return word in _AUTHORS or self.is_proper(word.removesuffix("'s")) or self._occurs(word)

    def _is_added(self, word: str) -> bool:
        if word in _CONNECTIVES or word in _AUTHORS or self._occurs(word):
            return False
        return self._turns(word) or not self.is_nearby(stem_of(word, self.language))

    def _turns(self, word: str) -> bool:
        if word in _CONNECTIVES or self._occurs(word):
            return False
        return is_degree(word) or word in NOT_ALWAYS_NUMBERS or has_opposite(word)

    def _excludes(self, word: str, other: str) -> bool:
        if is_degree(word) or is_degree(other):
            return is_degree(word) and is_degree(other)
        are_names = self.is_proper(word) and self.is_proper(other) and word.rstrip("s") != other.rstrip("s")
        return are_names or are_opposite([word], [other])

    def _is_new(self, word: str, theirs: Sequence[str], single: bool) -> bool:
        if word in _CONNECTIVES or any(are_synonyms(word, other, self.language) for other in theirs):
            return False
        negated = count_negations(self.claim) % 2 != count_negations(self.sentence) % 2
        if negated and are_opposite([word], theirs):
            return False
        if _UNIVERSAL.intersection(theirs) and not is_degree(word):
            return False  # "a feature code" for "any code"
        # A word from elsewhere in the sentence was moved, or replaces one that the claim no longer has.
        return not self._occurs(word) or (single and stem_of(theirs[0], self.language) not in self.claim_stems)

    def _occurs(self, word: str) -> bool:
        return any(are_synonyms(word, other, self.language) for other in self.sentence)

    def _is_between_equal_words(self, steps: Sequence[Step], at: int) -> bool:
        """Return whether the words around a step are equal in both texts, or both texts end there."""
        kind, start, end, _, _ = steps[at - 1] if at else ("", 0, 0, 0, 0)
        before = at == 0 or (kind == "equal" and (start == 0 or end - start >= 2))
        return before and (at == len(steps) - 1 or steps[at + 1][0] == "equal")


def _compared(words: Sequence[str], start: int, end: int) -> Iterator[str]:
    """Yield the words of a span that must be compared, and units without a number ("the weakness of the yen")."""
    for at in range(start, end):
        if _is_compared(words[at]) or (is_unit(words[at]) and at and not _is_fact(words[at - 1])):
            yield words[at]


def _is_compared(word: str) -> bool:
    """Return whether a word must be compared here, because neither facts nor negations cover it."""
    if is_degree(word):
        return True
    if is_negation(word) or word in _ROUGHLY or (_is_fact(word) and word not in NOT_ALWAYS_NUMBERS):
        return False
    return not is_stop_word(word)


def _is_fact(word: str) -> bool:
    return has_digit(word) or is_number_word(word) or is_unit(word) or is_month(word)


def _is_another_count(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether a number that is not a fact was replaced: "one", Roman numerals, "per month" for "per year"."""
    if "one" in mine:
        return not {"one", "1"}.intersection(theirs) and any(word.isdigit() or is_number_word(word) for word in theirs)
    if len(mine) == len(theirs) == 1 and _ROMAN.fullmatch(mine[0]) and _ROMAN.fullmatch(theirs[0]):
        return True
    if any(map(has_digit, (*mine, *theirs))) or any(map(is_number_word, (*mine, *theirs))):
        return False  # "24 hours" for "a day": numbers with units are compared as facts
    periods, other_periods = (PERIODS.intersection(map(unit_name, words)) for words in (mine, theirs))
    return bool(periods and other_periods) and not periods & other_periods


# --- a word between the same words as another ---

WORDS_BEHIND_FIRST = 3
"""Words behind the first one of a claim that a sentence has, too, in a row: they have it in the place of another."""


def stands_for_another(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a word of a claim has the place of another in its sentences: behind an article, or as an order.

    "In a damp place" of "store it in a dry place", "Fill the pump" of "drain the pump".
    """
    said = tokens_of(claim)
    stems = [stem_of(word, language) for word in said]
    texts = [(words, [stem_of(word, language) for word in words]) for words in map(tokens_of, sentences)]
    held = frozenset(word for words, _ in texts for word in words)
    known = frozenset(stem for _, theirs in texts for stem in theirs)
    for at, word in enumerate(said):
        if stems[at] in known:
            continue
        replaced = (
            other
            for words, theirs in texts
            for place, other in enumerate(words)
            if theirs[place] not in stems and _is_between(stems, at, theirs, place)
        )
        is_order = at == 1 and said[0] == "the" and word in _ORDERS  # "The first film is …"
        if (
            any(_is_of_another_kind(word, other) and _has_meaning(other, language) for other in replaced)
            and not is_order
            and _has_meaning(word, language)
            and not any(are_synonyms(word, other, language) for other in held)
        ):
            return True
    return False


def _is_of_another_kind(word: str, other: str) -> bool:
    """Return whether two words are not both verbs, which may tell the same in other words."""
    return not (word.endswith(_VERB_ENDINGS) and other.endswith(_VERB_ENDINGS))


def _has_meaning(word: str, language: str) -> bool:
    """Return whether a word says something itself: no function word, no number that facts compare."""
    if not _is_compared(word) or word in _REFERRING or (_is_fact(word) and word not in NOT_ALWAYS_NUMBERS):
        return False
    return is_degree(word) or not stems_of(word, language) <= function_stems(language)


def _is_between(mine: Sequence[str], at: int, theirs: Sequence[str], place: int) -> bool:
    """Return whether the words around two places are the same: an article and what it is of, or all behind an order."""
    if at == 0:
        behind = list(mine[1 : 1 + WORDS_BEHIND_FIRST])
        is_same = len(behind) == WORDS_BEHIND_FIRST and behind == list(theirs[place + 1 : place + 1 + len(behind)])
        return is_same and behind[0] in _ARTICLES and not all(map(is_stop_word, behind))
    if at + 1 == len(mine) or place in {0, len(theirs) - 1}:
        return False
    is_same = (mine[at - 1], mine[at + 1]) == (theirs[place - 1], theirs[place + 1])
    return is_same and mine[at - 1] in _ARTICLES and not is_stop_word(mine[at + 1])
