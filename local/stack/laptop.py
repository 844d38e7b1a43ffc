"""The laptop stack as a whole: up, status, down, reset."""

import json
import shutil
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

from botocore.exceptions import BotoCoreError

from local.client import ApiClient
from local.report import Reporter, counted
from local.stack import asserts, components, pinecone_index, recover, sam, users
from local.stack.aws import Aws, Deployed, find_stack
from local.stack.config import ALIAS, LocalConfig, LocalStackError
from local.stack.processes import Component, Supervisor, holder_of, is_free

KEPT_OF_EVALS = ("evals-cache", "eval")
"""The evaluations' cache (hours of embedding) and reports: no document of the laptop stack is in them."""


@dataclass(frozen=True, slots=True)
class Status:
    """One component as `status` shows it."""

    name: str
    pid: int | None
    port: int
    died: bool


class Laptop:
    """One laptop stack, as its configuration names it."""

    def __init__(self, config: LocalConfig, reporter: Reporter) -> None:
        self.config = config
        self.report = reporter
        self.supervisor = Supervisor(config.state)

    @cached_property
    def aws(self) -> Aws:
        """Clients of the AWS emulator."""
        return Aws(self.config.aws_url)

    def _components(self) -> list[Component]:
        return [make(self.config) for make in (components.ministack, components.pinecone, components.openai)]

    # --- up ------------------------------------------------------------------------------------------------------

    def up(self) -> Deployed:
        """Start what is not running, build and deploy what has changed, check it, and create the users.

        If it is interrupted or fails, it stops what it has started itself, and forgets the parameters it was given.
        """
        to_start = [c for c in self._components() if not self._already_running(c)]
        streamed = self.supervisor.running(components.STREAMING) is not None
        ports = [(c.port, c.title.removeprefix("The "), c.port_setting) for c in to_start]
        if not streamed:
            ports.append((self.config.streaming_port, "streaming", components.STREAMING_PORT_SETTING))
        taken = [
            f"Port {port} for {title} is taken by {holder_of(port)}: stop that, or choose another port with {setting}."
            for port, title, setting in ports
            if not is_free(port)
        ]
        if taken:
            raise LocalStackError("\n".join(taken))
        crashed = any(self.supervisor.died(c.name) for c in to_start if c.name == components.AWS)
        remembered = LocalConfig.remembered_parameters(self.config.state)
        self.config.save()
        try:
            return self._bring_up(to_start, crashed=crashed)
        except BaseException:
            # Otherwise a parameter that the template refuses would fail every later `up`, too.
            replace(self.config, parameters=remembered).save()
            for component in to_start:
                if self.supervisor.running(component.name):
                    self.supervisor.stop(component.name, components.stop_timeout_s(component.name))
                    self.report.say(f"  stopped {component.title.removeprefix('The ')} again")
            if not streamed and self.supervisor.running(components.STREAMING):
                self.supervisor.stop(components.STREAMING)
            raise

    def _already_running(self, component: Component) -> bool:
        running = self.supervisor.running(component.name)
        if running and running.port != component.port:
            message = f"{component.title} already runs on port {running.port}"
            raise LocalStackError(f"{message}: `python -m local down` first, then start it on the other port.")
        return running is not None

    def _start(self, component: Component) -> None:
        with self.report.step(f"Start {component.title.replace('The', 'the', 1)} on port {component.port}"):
            self.supervisor.start(component)
            self.supervisor.wait_healthy(component)

    def _build(self, wanted: str) -> None:
        with self.report.step("Build the Lambda packages") as note:
            if sam.is_built(self.config, wanted):
                note("unchanged")
            else:
                sam.build(self.config, wanted)

    def _bring_up(self, to_start: list[Component], *, crashed: bool) -> Deployed:
        if any(c.name == components.AWS for c in to_start):
            components.prepare_folders(self.config)
        if crashed:
            self.report.say(
                "The AWS emulator was killed last time, and it saves its state only when it is stopped: users and "
                "conversations are those of its last clean stop; documents are read again from the bucket."
            )
        source = sam.source_fingerprint(self.config.project)
        with ThreadPoolExecutor(max_workers=len(to_start) + 1) as pool:
            jobs: list[Future[None]] = [pool.submit(self._start, c) for c in to_start]
            jobs.append(pool.submit(self._build, source))
            for job in jobs:
                job.result()
        with self.report.step("Pinecone index") as note:
            note("created" if pinecone_index.ensure(self.config.pinecone_url) else "already there")
        deployed = self._deploy(source)
        with self.report.step("A user for each role, and one of another tenant"):
            users.ensure(self.aws, self.config, deployed)
        self._start_streaming(deployed)
        if crashed:
            with self.report.step("Read the bucket again") as note:
                note(f"{counted(recover.notify_every_object(self.aws, deployed), 'document')}, in the background")
        return deployed

    def _start_streaming(self, deployed: Deployed) -> None:
        """Start the API server; start it again when the function was deployed again."""
        environment: dict[str, str] = {}
        for output in ("AuthorizerFunctionName", "QueryFunctionName"):
            name = f"{deployed.outputs[output]}:{ALIAS}"
            found = self.aws.lambda_.get_function_configuration(FunctionName=name)
            environment |= found.get("Environment", {}).get("Variables", {})
        component = components.streaming(self.config, environment, deployed.outputs.get("PageClientId", ""))
        record = self.config.state / "streaming.json"
        serves = {"deployed": environment, "command": list(component.command)}
        running = self.supervisor.running(components.STREAMING)
        if running and record.exists() and json.loads(record.read_text()) == serves:
            return
        if running:
            self.supervisor.stop(components.STREAMING)
        record.write_text(json.dumps(serves))
        self._start(component)

    def _deploy(self, source: str) -> Deployed:
        wanted = sam.deployment_fingerprint(source, self.config)
        present = find_stack(self.aws, self.config)
        recorded = sam.deployed_fingerprint(self.config)
        with self.report.step("Deploy template.yaml with SAM") as note:
            if present and recorded == wanted and not asserts.missing_parts(self.aws, present):
                note("unchanged")
                return present
            if recorded == wanted:
                note("deployed again: the emulator had lost the deployment")
            recover.clear_the_way(self.aws, self.config)
            deployed = sam.deploy(self.aws, self.config, sam.parameters(self.config), wanted)
            if rescued := recover.bring_back(self.aws, deployed):
                note(f"{counted(rescued, 'object was rescued and is', 'objects were rescued and are')} read again")
        with self.report.step("Check routes, authorizer, triggers, tables, secret"):
            asserts.assert_complete(self.aws, deployed)
        return deployed

    # --- running, down, reset --------------------------------------------------------------------------------------

    def deployed(self) -> Deployed:
        """Return the running stack. Raises `LocalStackError` when there is none."""
        if self.supervisor.running(components.AWS) is None:
            raise LocalStackError("The laptop stack is not running: `python -m local up` (or `make up`) starts it.")
        try:
            found = find_stack(self.aws, self.config)
        except BotoCoreError as error:
            raise LocalStackError(f"The AWS emulator does not answer ({error}): see `python -m local logs`.") from error
        if found is None:
            raise LocalStackError("The emulators run, but nothing is deployed: `python -m local up` does that.")
        return found

    def token(self, user: users.User = users.DEMO) -> str:
        """Return a fresh ID token."""
        return users.id_token(self.aws, self.config, self.deployed(), user)

    def client(self, user: users.User = users.DEMO, timeout_s: float = 30.0, *, streaming: bool = False) -> ApiClient:
        """Return an API client signed in as `user`: of the emulated API Gateway, or of the server that streams."""
        url = self.config.streaming_url if streaming else self.deployed().api_url
        return ApiClient(url, self.token(user), timeout_s, renew=lambda: self.token(user))

    def log_lines(self) -> dict[str, list[str]]:
        """Return every line that the functions and the stack's programs have logged, by log group or program."""
        groups = [group["logGroupName"] for group in self.aws.client("logs").describe_log_groups()["logGroups"]]
        found = {
            group: [line for _, _, message in self.aws.log_events(group, 0) for line in message.splitlines()]
            for group in groups
        }
        for name in components.NAMES:
            log = self.supervisor.log_of(name)
            found[name] = log.read_text(errors="replace").splitlines() if log.exists() else []
        return found

    def down(self) -> bool:
        """Stop everything, the AWS emulator first; return whether everything stopped cleanly."""
        clean = True
        for name in components.NAMES:
            if self.supervisor.running(name) is None and not self.supervisor.died(name):
                continue
            with self.report.step(f"Stop {name}") as note:
                # The mark of a crash stays: the next `up` has to know that the state is old.
                if self.supervisor.died(name):
                    note("had already died")
                    continue
                outcome = self.supervisor.stop(name, components.stop_timeout_s(name))
                if outcome != "stopped":
                    note(outcome)
                    clean = False
        return clean

    def status(self) -> list[Status]:
        """Return what runs, by component."""
        config = self.config
        ports = (config.aws_port, config.streaming_port, config.pinecone_port, config.openai_port)
        found = []
        for name, port in zip(components.NAMES, ports, strict=True):
            running = self.supervisor.running(name)
            pid, port = (running.pid, running.port) if running else (None, port)
            found.append(Status(name, pid, port, self.supervisor.died(name)))
        return found

    def reset(self) -> None:
        """Stop everything and delete data, deployment, users and logs. Packages and the evaluations' files stay."""
        self.down()
        kept = {self.config.build.name, sam.BUILD_RECORD, *KEPT_OF_EVALS}
        for child in self.config.state.iterdir() if self.config.state.exists() else ():
            if child.name not in kept:
                shutil.rmtree(child) if child.is_dir() else child.unlink()
