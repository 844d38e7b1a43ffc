"""`evals make-questions`: drafts a question set from your own PDFs, for a person to review.

With a model it asks the model (evals/drafting_model.py); without one it makes questions from headings, tables,
definitions and FAQs (evals/drafting.py). It chooses evenly from all kinds and documents, by a hash, so that the same
PDFs give the same questions. A fifth cannot be answered from any document. The results of each PDF and each reply are
cached at once; lines that are in the file already, reviewed or not, are never changed.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from functools import partial
from itertools import chain, islice, zip_longest
from math import ceil
from pathlib import Path
from typing import Any

from evals.data import DROP, json_lines, pdfs_in
from evals.display import Display
from evals.drafting import KINDS, Collection, Kind, QuestionDraft, SourceDocument, drafts_of, read_document
from evals.drafting_model import ModelDrafter, pages_to_read
from evals.errors import DatasetError, EvalError
from evals.storage import ResultCache, file_hash, source_hash, write_text
from shared.adapters.openai import OpenAIChatModel
from shared.errors import DocumentRejected
from shared.models import Page

SOURCES = (
    "evals/drafting.py",
    "evals/templates/questions.json",
    "functions/ingest/parsing",
    "functions/query/grounding/tables.py",
)
UNANSWERABLE_SHARE = 0.2
CALIBRATE_NEEDS = 40
"""The fewest answerable questions with which `evals calibrate` can choose a threshold that refuses 2.5 % of them."""
UNANSWERABLE: Kind = "unanswerable"


def make_questions(
    display: Display, *, pdfs: Path, out: Path, count: int, model: str, base_url: str, cache: Path, fresh: bool
) -> int:
    """Draft questions until the file has `count` of them; print what it holds. Raises `EvalError`."""
    if base_url and not model:
        raise EvalError("--base-url needs --model: say which model of that server to ask.")
    if not pdfs.is_dir():
        raise DatasetError(f"{pdfs} is not a folder. --pdfs takes the folder of the PDFs.")
    files, _ = pdfs_in(pdfs)
    there = [row for _, row in json_lines(out)] if out.exists() else []
    with ExitStack() as stack, display.progress():
        kept = ResultCache(cache)
        documents, drafts, problems = _read(files, kept, display, fresh=fresh)
        collection = Collection(documents)
        if model:
            drafter = stack.enter_context(_drafter(model, base_url, kept, fresh=fresh))
            candidates = _asked(drafter, documents, count, display)
        else:
            candidates = [*drafts, *collection.unanswerable(drafts)]
    chosen = _chosen(candidates, collection, there, count)
    write_text(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in (*there, *map(_row, chosen))))
    _show([*there, *map(_row, chosen)], len(chosen), _linked(pdfs, out), out, problems, display)
    return 0


def _read(
    files: Sequence[Path], cache: ResultCache, display: Display, *, fresh: bool
) -> tuple[list[SourceDocument], list[QuestionDraft], dict[str, str]]:
    """Read the PDFs and the questions that they give; say what went wrong, by file."""
    documents, drafts, problems = [], [], {}
    for number, path in enumerate(files):
        display.advance(f"reading {path.name}", number, len(files))
        depends_on = {"pdf": [path.name, file_hash(path)], "source": source_hash(*SOURCES)}
        kept = cache.get("drafts", depends_on, partial(_read_one, path), fresh=fresh)
        if "problem" in kept:
            problems[path.name] = kept["problem"]
            continue
        pages = tuple(Page(number, text) for number, text in enumerate(kept["pages"], start=1))
        documents.append(SourceDocument(path.name, kept["title"], kept["language"], pages))
        drafts += [QuestionDraft(**{**each, "pages": tuple(each["pages"])}) for each in kept["drafts"]]
    return documents, drafts, problems


def _read_one(path: Path) -> dict[str, Any]:
    try:
        document = read_document(path)
    except DocumentRejected as rejected:
        return {"problem": rejected.message}
    if not any(page.text.strip() for page in document.pages):
        return {"problem": "no page has text"}
    return {
        "title": document.title,
        "language": document.language,
        "pages": [page.text for page in document.pages],
        "drafts": [asdict(draft) for draft in drafts_of(document)],
    }


@contextmanager
def _drafter(model: str, base_url: str, cache: ResultCache, *, fresh: bool) -> Iterator[ModelDrafter]:
    url = base_url or os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
    key = os.environ.get("OPENAI_API_KEY", "none")
    made_with = {"model": [model, url], "source": source_hash("evals/drafting_model.py", "evals/templates")}
    with closing(OpenAIChatModel(base_url=url, api_key=key, model=model)) as chat:
        yield ModelDrafter(chat, made_with, cache, fresh)


def _asked(
    drafter: ModelDrafter, documents: Sequence[SourceDocument], count: int, display: Display
) -> list[QuestionDraft]:
    """Have the model read a page of each document after the other, until there are enough questions of both kinds."""
    unanswerable = ceil(count * UNANSWERABLE_SHARE)
    wanted = {True: count - unanswerable, False: unanswerable}
    found: dict[bool, list[QuestionDraft]] = {True: [], False: []}
    rounds = zip_longest(*([(document, page) for page in pages_to_read(document)] for document in documents))
    for document, page in filter(None, chain.from_iterable(rounds)):
        if all(len(found[kind]) >= wanted[kind] for kind in wanted):
            break
        display.advance(f"{drafter.chat.model}: {document.name}", len(found[True]) + len(found[False]), count)
        drafts, question = drafter.drafts_of(document, page)
        found[True] += drafts
        if question and len(found[False]) < wanted[False] and not drafter.is_answered(question, documents):
            found[False].append(QuestionDraft(UNANSWERABLE, question, document.name))
    return [*found[True], *found[False]]


# --- choosing ---------------------------------------------------------------------------------------------------------


def _chosen(
    candidates: Sequence[QuestionDraft], collection: Collection, there: Sequence[Mapping[str, Any]], count: int
) -> list[QuestionDraft]:
    """Return the questions to add, so that `count` are kept; kinds and documents take turns."""
    # A question that a reviewer corrected keeps its id, and is not drafted again.
    taken = {str(row.get(key, "")).casefold() for row in there for key in ("id", "question")}
    kept = Counter(bool(row.get("answerable", True)) for row in there if row.get("review") != DROP)
    unanswerable = ceil(count * UNANSWERABLE_SHARE)
    chosen: list[QuestionDraft] = []
    for kinds, wanted in ((KINDS, count - unanswerable - kept[True]), ((UNANSWERABLE,), unanswerable - kept[False])):
        named = (collection.unambiguous(draft) for draft in _in_turn(candidates, kinds))
        fresh = (draft for draft in named if draft and taken.isdisjoint({draft.id, draft.question.casefold()}))
        for draft in islice(fresh, max(0, wanted)):
            taken.add(draft.question.casefold())
            chosen.append(draft)
    return chosen


def _in_turn(drafts: Sequence[QuestionDraft], kinds: Sequence[str]) -> Iterator[QuestionDraft]:
    """Yield one question of each kind in turn, each from the document that has had the fewest so far."""
    queues: dict[str, list[QuestionDraft]] = {kind: [] for kind in KINDS}
    for draft in sorted((each for each in drafts if each.kind in kinds), key=lambda each: each.id):
        queues.setdefault(draft.like or draft.kind, []).append(draft)
    used: Counter[str] = Counter()
    while any(queues.values()):
        for queue in filter(None, queues.values()):
            draft = queue.pop(min(range(len(queue)), key=lambda at: used[queue[at].doc]))
            used[draft.doc] += 1
            yield draft


def _row(draft: QuestionDraft) -> dict[str, Any]:
    answerable = draft.kind != UNANSWERABLE
    return {
        "id": draft.id,
        "set": draft.kind,
        "question": draft.question,
        "doc": draft.doc,
        "pages": list(draft.pages),
        "answer": draft.answer or None,
        "quote": draft.quote or None,
        "answerable": answerable,
        "review": "keep",
    }


# --- for people -------------------------------------------------------------------------------------------------------


def _linked(pdfs: Path, out: Path) -> str:
    """Bring the folder into the form that the other commands read, and say how to call them."""
    folder = out.parent / "pdfs"
    if not folder.exists():
        try:
            folder.symlink_to(pdfs.resolve(), target_is_directory=True)
        except OSError as error:
            return f"Put the PDFs into {folder} ({error.strerror})."
    if out.name != "questions.jsonl":
        return f"To use it, name it {out.parent / 'questions.jsonl'}."
    return f"Then: python -m evals calibrate --data {out.parent}"


def _show(
    rows: Sequence[Mapping[str, Any]], added: int, then: str, out: Path, problems: Mapping[str, str], display: Display
) -> None:
    kept = [row for row in rows if row.get("review") != DROP]
    kinds = Counter(str(row.get("set", "all")) for row in kept)
    display.table("Questions", ["kind", "kept"], [[kind, str(number)] for kind, number in kinds.most_common()])
    for name, problem in problems.items():
        display.say(f"{name}: {problem}")
    display.say(f"{added} questions added, {len(kept)} kept of {len(rows)} in {out}.")
    answerable = sum(bool(row.get("answerable", True)) for row in kept)
    if answerable < CALIBRATE_NEEDS:
        display.say(
            f"{answerable} answerable questions are too few for `evals calibrate`, which needs {CALIBRATE_NEEDS}: "
            "more PDFs, a larger --count, a --model, or questions of your own (a line each)."
        )
    display.say(
        f'Read them: set "review" to "{DROP}" where a question is bad, or correct it. Run this again to fill up.'
    )
    display.say(then)
