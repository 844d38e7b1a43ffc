"""Errors of an evaluation, for the person who started it."""


class EvalError(Exception):
    """The evaluation cannot be done as asked; the message says what to do about it."""


class DatasetError(EvalError):
    """A data folder is not in the expected form."""


def not_installed(what: str, error: ModuleNotFoundError, *, group: str = "evals") -> EvalError:
    """Return the error that says which dependency group `what` needs, and how to install it."""
    return EvalError(
        f"{what} needs {error.name}, which is in the dependency group `{group}`. Install that with "
        f"`UV_PROJECT_ENVIRONMENT=.venvs/evals uv sync --frozen --group {group}` and use .venvs/evals/bin/python."
    )
