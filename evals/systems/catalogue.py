"""The systems by name. A peer's library is imported only when it is asked for."""

from collections.abc import Callable, Sequence
from importlib import import_module

from evals.errors import EvalError
from evals.systems.base import System, SystemContext

SYSTEMS = {
    "recto": "evals.systems.recto:RectoInProcess",
    "langchain": "evals.systems.langchain:LangChain",
    "llamaindex": "evals.systems.llamaindex:LlamaIndex",
    "bm25-pages": "evals.systems.bm25_pages:Bm25Pages",
}
"""Recto is the one of this process; `evals.systems.stack` has the deployed one."""


def chosen_systems(named: Sequence[Sequence[str]] | None) -> list[str]:
    """Return the names, each once, in their order; `all` means all, none means Recto. Raises `EvalError`."""
    names = [name for group in named or [["recto"]] for name in group]
    chosen = list(dict.fromkeys([*SYSTEMS] if "all" in names else names))
    for name in chosen:
        if name not in SYSTEMS:
            raise EvalError(f"There is no system {name!r}: choose from {', '.join(SYSTEMS)}, all.")
    return chosen


def open_system(name: str, context: SystemContext) -> System:
    """Build a system. Raises `EvalError` for an unknown name, and when a peer's library is not installed."""
    if name not in SYSTEMS:
        raise EvalError(f"There is no system {name!r}: choose from {', '.join(SYSTEMS)}.")
    module, _, attribute = SYSTEMS[name].partition(":")
    try:
        build: Callable[[SystemContext], System] = getattr(import_module(module), attribute)
        return build(context)
    except ModuleNotFoundError as error:
        raise EvalError(
            f"{name} needs {error.name}, which is in the dependency group `evals`. Install that with "
            "`UV_PROJECT_ENVIRONMENT=.venvs/evals uv sync --frozen --group evals` and use .venvs/evals/bin/python."
        ) from error
