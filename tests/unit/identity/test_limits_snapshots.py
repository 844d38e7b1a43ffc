"""The named limits and waits of signing in, with what each is for.

As in `tests/unit/query/test_limits_snapshots.py`: `make snapshots` stores what comes out now.
"""

from pathlib import Path

import functions.identity
import functions.identity.app
from tests.support.limits import named_limits
from tests.support.snapshots import check

HERE = Path(__file__).parent / "snapshots"


def test_the_named_limits_are_as_stored() -> None:
    check(HERE / "limits.txt", named_limits(functions.identity, Path(__file__)))
