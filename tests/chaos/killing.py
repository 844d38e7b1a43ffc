"""A hundred documents are uploaded, replaced and deleted while the ingest Lambda's process is killed fifty times."""

import threading
import time
from dataclasses import dataclass, field

import psutil

from local.operate import redrive, sweep
from local.report import Reporter
from local.stack import components
from tests.chaos.world import ChaosWorld

FUNCTION = "recto-ingest"
CONVERGE_S = 900.0
BACKLOG = 12
"""Messages that may wait: enough that there is work at every kill, and no long backlog afterwards."""
PACE_S = 0.6
"""Seconds between two changes of the bucket, so that the fifty kills happen among them."""


@dataclass
class Killer:
    """Kills one worker of the ingest function after the other, at random moments."""

    world: ChaosWorld
    kills: int
    killed: int = 0
    busy: int = 0

    def run(self) -> None:
        pick = self.world.dice
        while self.killed < self.kills:
            time.sleep(pick.uniform(0.1, 1.5))
            workers = self._workers()
            if not workers:
                continue
            at_work = [worker for worker in workers if self._is_at_work(worker)]
            if not at_work and pick.random() < 0.9:
                continue  # one in ten may die before it is up
            victim = pick.choice(at_work or workers)
            time.sleep(pick.uniform(0, 0.3))
            try:
                victim.kill()
            except psutil.NoSuchProcess:
                continue
            self.killed += 1
            self.busy += bool(at_work)

    def _workers(self) -> list[psutil.Process]:
        """Return the processes the AWS emulator runs the function in; their own children parse PDFs."""
        running = self.world.laptop.supervisor.running(components.AWS)
        assert running is not None, "the AWS emulator is gone"
        found = []
        for process in psutil.Process(running.pid).children():
            try:
                if process.environ().get("AWS_LAMBDA_FUNCTION_NAME") == FUNCTION:
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def _is_at_work(self, worker: psutil.Process) -> bool:
        """Whether it has started (it is connected to the index) and has used the CPU just now."""
        port = self.world.laptop.config.pinecone_port
        try:
            if not any(each.raddr and each.raddr.port == port for each in worker.net_connections("tcp")):
                return False
            before = worker.cpu_times()
            time.sleep(0.05)
            after = worker.cpu_times()
        except psutil.Error:
            return False
        return bool(after.user + after.system > before.user + before.system)


@dataclass
class Watcher:
    """Reads one document after the other all the time; each must be one whole version."""

    world: ChaosWorld
    done: threading.Event = field(default_factory=threading.Event)
    looks: int = 0
    faults: list[str] = field(default_factory=list)

    def run(self) -> None:
        while not self.done.wait(0.1):
            for key in list(self.world.bucket):
                if fault := self.world.fault_at_this_moment(key):
                    self.faults.append(fault)
                self.looks += 1
                if self.done.wait(0.1):
                    return


def run_killing(world: ChaosWorld, report: Reporter, *, documents: int, kills: int) -> bool:
    """Run the kills and print the result; return whether every invariant held."""
    killer, watcher = Killer(world, kills), Watcher(world)
    threads = [threading.Thread(target=run, daemon=True) for run in (killer.run, watcher.run)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    counts = {"uploaded": 0, "replaced": 0, "deleted": 0}
    with report.live("Changing and killing") as show:
        while counts["uploaded"] < documents or killer.killed < kills:
            if world.waiting("QueueUrl") < BACKLOG:
                _change_something(world, documents, counts)
            show(f"{counts}, {killer.killed} killed")
            time.sleep(PACE_S)
            assert threads[0].is_alive() or killer.killed >= kills, "the killer died"
    threads[0].join()
    changed_s = time.monotonic() - begun
    settled = _wait_until_settled(world, report)
    dead = world.waiting("DlqUrl")
    explained = [fault for fault in world.differences() if "FAILED" in fault] if dead else []
    if dead:
        report.say(f"  {dead} dead letters (killed, or never begun, at each of five attempts); FAILED: {explained}")
        redrive(world.target, report)
        settled = _wait_until_settled(world, report) and settled
    watcher.done.set()
    threads[1].join()
    crash_left = len(world.orphans())
    sweep(world.target, report)
    orphans, differences = world.orphans(), world.differences()
    for fault in [*watcher.faults[:10], *differences[:10], *orphans[:10]]:
        report.say(f"  ✗ {fault}")
    present = sum(1 for version in world.bucket.values() if version)
    report.say(
        f"chaos: {counts['uploaded']} uploaded, {counts['replaced']} replaced, {counts['deleted']} deleted in "
        f"{changed_s:.0f} s, {killer.killed} kills ({killer.busy} of them at work); settled after "
        f"{time.monotonic() - begun:.0f} s; {present} documents in the bucket, {len(differences)} differences; "
        f"{watcher.looks:,} reads meanwhile, {len(watcher.faults)} gaps or mixtures; {dead} dead letters; "
        f"{crash_left} orphans before the sweep, {len(orphans)} after"
    )
    return settled and not differences and not orphans and not watcher.faults and killer.killed >= kills


def _change_something(world: ChaosWorld, documents: int, counts: dict[str, int]) -> None:
    """Upload the next document, or replace or delete one there is."""
    pick, uploaded = world.dice, counts["uploaded"]
    choice = pick.random()
    if uploaded < documents and (choice < 0.5 or uploaded < 5):
        world.put(uploaded)
        counts["uploaded"] += 1
    elif choice < 0.85:
        world.put(pick.randrange(uploaded))
        counts["replaced"] += 1
    else:
        world.delete(pick.randrange(uploaded))
        counts["deleted"] += 1


def _wait_until_settled(world: ChaosWorld, report: Reporter) -> bool:
    """Wait until the queue is empty and nothing differs.

    Documents that failed for good, or are in the dead-letter queue, are not waited for: nothing processes them.
    """
    deadline = time.monotonic() + CONVERGE_S
    with report.live("Settling") as show:
        while time.monotonic() < deadline:
            waiting = world.waiting("QueueUrl")
            if not waiting:
                differing = [fault for fault in world.differences() if "FAILED" not in fault]
                if not differing or len(differing) <= world.waiting("DlqUrl"):
                    return True
            show(f"{waiting} messages")
            time.sleep(2.0)
    for fault in world.differences()[:10]:
        report.say(f"  ✗ {fault}")
    return False
