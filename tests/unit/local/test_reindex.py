"""The verb `reindex`: waits for what is still to come, stops at what cannot be built, and says how things stand."""

import io
import json
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from rich.console import Console

from local.cli import REINDEX_STEPS
from local.operate import POLL_S, Target, reindex
from local.report import Reporter
from local.stack.config import LocalStackError

FIRST = {"number": 1, "namespace": "acme", "index": "recto", "space": "small@384"}
SECOND = {"number": 2, "namespace": "acme~2", "index": "recto", "space": "large@1024"}


@dataclass
class Maintenance:
    """The maintenance function behind Lambda's `Invoke`: one document is built each time somebody looks."""

    documents: int = 3
    tenants: list[str] = field(default_factory=lambda: ["acme"])
    failing: list[dict[str, str]] = field(default_factory=list)
    refuses: dict[str, str] = field(default_factory=dict)
    breaks: bool = False
    phase: str = "idle"
    done: int = 0
    asked: list[dict[str, str]] = field(default_factory=list)

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - as boto3 has it
        assert FunctionName == "recto-maintenance:live"
        if self.breaks:
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(b'{"errorMessage": "no index"}')}
        event = json.loads(Payload)
        self.asked.append(event)
        answer = {"tenants": self.tenants} if event["recto"] == "tenants" else self._step(**event)
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}

    def _step(self, recto: str, action: str, tenant: str) -> dict[str, Any]:
        conflict = self.refuses.get(action, "")
        if action == "start" and not conflict:
            self.phase = "building"
        elif action == "status" and self.done < self.documents - len(self.failing):
            self.done += 1
        elif action == "switch" and not conflict:
            if self.done < self.documents:
                conflict = (
                    f"{self.documents - self.done} documents of tenant {tenant} are not in the other index version yet."
                )
            else:
                self.phase = "switched"
        elif action == "rollback":
            self.phase = "building"
        elif action == "confirm":
            self.phase = "idle"
        current, other = {"idle": (SECOND, None), "building": (FIRST, SECOND), "switched": (SECOND, FIRST)}[self.phase]
        return {
            "tenant": tenant,
            "phase": self.phase,
            "current": current,
            "other": other,
            "documents": self.documents,
            "done": self.done,
            "waiting": self.documents - self.done - len(self.failing),
            "failed": self.failing,
            "declined": action == "rollback",
            "conflict": conflict,
        }

    def actions(self) -> list[str]:
        return [event["action"] for event in self.asked if event["recto"] == "reindex"]


def run(maintenance: Maintenance, step: str = "run", tenant: str = "") -> tuple[int, str, list[float]]:
    """Return the exit code, what was said, and the waits in seconds."""
    console = Console(file=io.StringIO(), record=True, width=200)
    waits: list[float] = []
    target = Target(
        cast("Any", maintenance),
        cast("Any", None),
        cast("Any", None),
        {"MaintenanceFunctionName": "recto-maintenance"},
        cast("Any", None),
    )
    code = reindex(target, Reporter(console), step, tenant, wait=waits.append)
    return code, console.export_text(), waits


def test_a_run_starts_waits_until_all_is_built_and_switches() -> None:
    maintenance = Maintenance(documents=3)
    code, told, waits = run(maintenance)
    assert code == 0
    assert maintenance.actions() == ["start", "status", "status", "status", "switch"]
    assert waits == [POLL_S] * 3
    assert "acme: queries search index version 2 (acme~2 in recto, large@1024)." in told
    assert "index version 1 (acme in recto, small@384) is kept: `reindex rollback` goes back to it" in told


def test_an_interrupted_run_goes_on_where_it_was() -> None:
    maintenance = Maintenance(documents=3, phase="building", done=2)
    assert run(maintenance)[0] == 0
    assert maintenance.actions() == ["start", "status", "switch"]


def test_what_cannot_be_built_is_named_and_the_old_index_version_stays() -> None:
    bad = {"key": "uploads/acme/bad.pdf"}
    maintenance = Maintenance(documents=2, failing=[bad | {"code": "DAMAGED", "message": "Upload it again."}])
    code, told, _ = run(maintenance)
    assert code == 1
    assert maintenance.phase == "building"
    assert "uploads/acme/bad.pdf could not be built: Upload it again. (DAMAGED)" in told
    assert "1 documents of tenant acme are not in the other index version yet" in told
    assert "queries search index version 1" in told


def test_what_cannot_be_built_for_a_reason_that_nobody_stored_is_named_alone() -> None:
    _, told, _ = run(Maintenance(documents=2, failing=[{"key": "uploads/acme/bad.pdf"}]), "status")
    assert "uploads/acme/bad.pdf could not be built; see its status." in told


def test_what_an_older_function_tells_of_failed_documents_is_understood() -> None:
    failing: Any = ["uploads/acme/bad.pdf"]
    _, told, _ = run(Maintenance(documents=2, failing=failing), "status")
    assert "uploads/acme/bad.pdf could not be built; see its status." in told


def test_a_refused_start_waits_for_nothing() -> None:
    maintenance = Maintenance(
        phase="switched", refuses={"start": "Tenant acme still keeps the index version before: confirm it."}
    )
    code, told, waits = run(maintenance)
    assert (code, waits, maintenance.actions()) == (1, [], ["start"])
    assert "confirm it" in told


def test_all_tenants_take_the_step_unless_one_is_named() -> None:
    maintenance = Maintenance(tenants=["acme", "beta"])
    assert run(maintenance, "status")[0] == 0
    assert [(event["action"], event["tenant"]) for event in maintenance.asked[1:]] == [
        ("status", "acme"),
        ("status", "beta"),
    ]
    maintenance.asked.clear()
    run(maintenance, "status", "beta")
    assert [event["tenant"] for event in maintenance.asked if event["recto"] == "reindex"] == ["beta"]


@pytest.mark.parametrize("step", REINDEX_STEPS)
def test_a_mistyped_tenant_is_refused_and_gets_no_index_version(step: str) -> None:
    maintenance = Maintenance(tenants=["acme", "beta"])
    with pytest.raises(LocalStackError, match="no tenant betta with documents; there are: acme, beta"):
        run(maintenance, step, "betta")
    assert maintenance.actions() == []


def test_one_tenant_that_cannot_take_the_step_does_not_keep_the_others_from_it() -> None:
    maintenance = Maintenance(tenants=["acme", "beta"], refuses={"start": "Look, and try again."})
    code, told, _ = run(maintenance, "start")
    assert code == 1
    assert len(maintenance.actions()) == 2
    assert told.count("Look, and try again.") == 2


def test_while_it_is_built_the_status_says_how_far_it_is() -> None:
    _, told, _ = run(Maintenance(documents=1_200, phase="building", done=1_033), "status")
    assert "index version 2 (acme~2 in recto, large@1024) is being built: 1,034 of 1,200 documents." in told


def test_a_rollback_says_that_nothing_happens_by_itself_any_more() -> None:
    code, told, _ = run(Maintenance(phase="switched", done=3), "rollback")
    assert code == 0
    assert "queries search index version 1" in told
    assert "until the settings change again" in told
    assert "is not searched (3 of 3 documents): `reindex confirm` deletes it." in told
    assert "is being built" not in told


@pytest.mark.parametrize("step", REINDEX_STEPS)
def test_a_stack_without_documents_has_nothing_to_do(step: str) -> None:
    code, told, _ = run(Maintenance(tenants=[]), step)
    assert code == 0
    assert "no documents yet" in told


def test_a_failed_maintenance_function_is_reported_with_its_message() -> None:
    with pytest.raises(LocalStackError, match="recto-maintenance failed: no index"):
        run(Maintenance(breaks=True))


def test_a_stack_deployed_before_there_was_maintenance_says_so() -> None:
    with pytest.raises(LocalStackError, match="deploy it again"):
        reindex(
            Target(cast("Any", None), cast("Any", None), cast("Any", None), {}, cast("Any", None)),
            Reporter(Console(file=io.StringIO())),
            "run",
            "acme",
        )
