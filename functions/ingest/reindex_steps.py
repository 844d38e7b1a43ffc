"""A re-index from outside: one step in, its outcome out, as JSON."""

from collections.abc import Callable
from typing import Any

from functions.ingest.reindex import Progress, Reindexer
from shared.errors import Conflict, InvalidRequest
from shared.models import View


def take_step(reindexer: Reindexer, action: str, tenant: str) -> dict[str, Any]:
    """Take one step for one tenant. A step that cannot be taken now says why in `conflict`.

    Raises `InvalidRequest` for an unknown step or no tenant, `DependencyError`.
    """
    steps: dict[str, Callable[[str], Progress]] = {
        "start": reindexer.start,
        "progress": reindexer.progress,
        "switch": reindexer.switch,
        "rollback": reindexer.rollback,
        "confirm": reindexer.confirm,
    }
    if action not in steps or not tenant:
        raise InvalidRequest(f"A re-index takes a tenant and one of these actions: {', '.join(steps)}.")
    conflict = ""
    try:
        progress = steps[action](tenant)
    except Conflict as error:
        conflict, progress = error.message, reindexer.progress(tenant)
    return {
        "tenant": tenant,
        "phase": progress.phase,
        "current": _shown(progress.current),
        "other": _shown(progress.other),
        "documents": progress.documents,
        "done": progress.done,
        "waiting": progress.waiting,
        "failed": list(progress.failed),
        "declined": progress.declined,
        "conflict": conflict,
    }


def _shown(view: View | None) -> dict[str, Any] | None:
    if view is None:
        return None
    return {"number": view.number, "namespace": view.namespace, "index": view.index, "space": str(view.space)}
