"""Where a threshold is written down: for the laptop stack, or for the next `make deploy`."""

import os
from dataclasses import replace
from pathlib import Path

from evals.cache import PROJECT
from evals.errors import EvalError
from local.stack.config import LocalConfig

PARAMETER = "ScoreThreshold"
LAPTOP, AWS = "laptop", "aws"
TARGETS = (LAPTOP, AWS)
DEPLOY_PARAMETERS = "deploy.parameters"


def state_folder() -> Path:
    """Return the folder the laptop stack keeps its settings in."""
    return Path(os.environ.get("RECTO_STATE", PROJECT / ".recto"))


def preview(threshold: float) -> str:
    """Say what can be written, where, and how it takes effect."""
    return (
        f"Nothing was written. {PARAMETER}={threshold:.2f} goes\n"
        f"  with --write {LAPTOP}  into {_shown(state_folder() / 'config.json')} (then: python -m local up)\n"
        f"  with --write {AWS}     into {DEPLOY_PARAMETERS} (then: make deploy)"
    )


def write(threshold: float, target: str, *, project: Path = PROJECT) -> str:
    """Write the threshold down and say where. Raises `EvalError` when it cannot be written."""
    try:
        if target == LAPTOP:
            config = LocalConfig.load(state_folder(), {})
            replace(config, parameters={**config.parameters, PARAMETER: f"{threshold:.2f}"}).save()
            return (
                f"{PARAMETER}={threshold:.2f} is in {_shown(state_folder() / 'config.json')}; now: python -m local up"
            )
        path = project / DEPLOY_PARAMETERS
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        kept = [line for line in lines if line.partition("=")[0].strip() != PARAMETER]
        path.write_text("\n".join([*kept, f"{PARAMETER}={threshold:.2f}"]) + "\n", encoding="utf-8")
    except OSError as error:
        raise EvalError(f"The setting cannot be written: {error}") from error
    return f"{PARAMETER}={threshold:.2f} is in {DEPLOY_PARAMETERS}; now: make deploy"


def _shown(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
