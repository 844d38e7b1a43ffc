"""The verbs `invoke` and `sam-env`: a function of the built packages on one event, against the running laptop stack.

`invoke` needs no container: the Runtime Interface Emulator of the aws-sam-cli wheel speaks Lambda's runtime API to
`awslambdaric`, as the service does. `sam local invoke` needs a container runtime, and what `sam-env` writes.
"""

import argparse
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from local.stack import sam
from local.stack.components import NO_PROXY, own_account
from local.stack.config import ALIAS, LocalConfig, LocalStackError, read_json
from local.stack.laptop import Laptop
from local.stack.processes import clean_environment, free_port

START_S = 60.0
GLOBAL_VARIABLES = re.compile(r"^Globals:\n(?:[ #].*\n)*?    Environment:\n(?: +#.*\n)*      Variables:\n", re.M)
"""The Globals of a template up to their variables: SAM passes only variables that the template declares."""
KINDS = {
    "triggerSource": "IdentityFunction",
    "methodArn": "AuthorizerFunction",
    "Records": "IngestFunction",
    "requestContext": "QueryFunction",
    "recto": "MaintenanceFunction",
    "detail-type": "MaintenanceFunction",
}
"""The function that takes an event, by a field that only such events have."""
OCR_QUEUE = "-ocr"
"""How the name of the queue ends whose messages are OCR's."""


def function_for(event: Mapping[str, Any]) -> str:
    """Return the logical id of the function that an event is for. Raises `LocalStackError`."""
    match event:
        case {"Records": [{"eventSourceARN": str(queue)}, *_]} if queue.endswith(OCR_QUEUE):
            return "OcrFunction"
    for field, function in KINDS.items():
        if field in event:
            return function
    names = ", ".join(dict.fromkeys(KINDS.values()))
    raise LocalStackError(f"This event has the form of none of the functions: name one with --function ({names}).")


# --- invoke ----------------------------------------------------------------------------------------------------------


def invoke(laptop: Laptop, arguments: argparse.Namespace) -> int:
    """Run a function on an event; print its logs and then its response. Return 1 if it failed."""
    event = _read(arguments.event)
    function = arguments.function or function_for(event)
    configuration = configuration_of(laptop, function)
    package = laptop.config.build / function
    if not package.is_dir():
        raise LocalStackError(f"{function} is not built in {laptop.config.build}: `make up` builds all functions.")
    if not sam.is_built(laptop.config, sam.source_fingerprint(laptop.config.project)):
        print("The sources have changed since the package was built: `make up` builds it again.", file=sys.stderr)
    laptop.report.say(f"{function} ({configuration['Handler']}) on {arguments.event}:")
    with running(configuration, package, laptop.config) as (address, logs):
        try:
            answer = httpx.post(address, json=event, timeout=configuration["Timeout"] + START_S, trust_env=False).json()
        finally:
            print(logs.read_text(errors="replace"), end="", file=sys.stderr, flush=True)
    print(json.dumps(_readable(answer), indent=2, ensure_ascii=False))
    return 1 if isinstance(answer, dict) and "errorType" in answer else 0


def _read(path: Path) -> dict[str, Any]:
    event = read_json(path, "JSON")
    if not isinstance(event, dict):
        raise LocalStackError(f"{path} is not an event: a JSON object is expected.")
    return event


def _readable(answer: Any) -> Any:
    """Return a response with the JSON of its body as an object instead of a string."""
    if isinstance(answer, dict) and isinstance(answer.get("body"), str):
        with suppress(ValueError):
            return answer | {"body": json.loads(answer["body"])}
    return answer


def configuration_of(laptop: Laptop, function: str) -> dict[str, Any]:
    """Return Lambda's configuration of a deployed function. Raises `LocalStackError` for an unknown one."""
    functions = {each.logical_id: each.physical_id for each in laptop.deployed().of_type("AWS::Lambda::Function")}
    if function not in functions:
        there_are = f"There is no function {function}; there are {', '.join(sorted(functions))}."
        if function == KINDS["triggerSource"]:
            there_are += " It is deployed only with a company's sign-in (parameter IdentityProvider)."
        raise LocalStackError(there_are)
    released = [each.physical_id for each in laptop.deployed().of_type("AWS::Lambda::Alias")]
    name = functions[function]
    version = f":{ALIAS}" if any(f":{name}:" in f":{each}:" for each in released) else ""
    return dict(laptop.aws.lambda_.get_function_configuration(FunctionName=f"{name}{version}"))


def runtime_emulator(project: Path) -> Path:
    """Return the Runtime Interface Emulator for this processor. Raises `LocalStackError` where there is none."""
    machine = sam.host_architecture()
    found = sorted((project / ".venvs" / "sam").glob(f"lib/python*/site-packages/samcli/local/rapid/*rie-{machine}"))
    if sys.platform != "linux":
        raise LocalStackError(
            "The Runtime Interface Emulator runs on Linux only. With a container runtime, `make sam-env` prints a "
            "command that works here."
        )
    if not found:
        raise LocalStackError("There is no Runtime Interface Emulator in .venvs/sam: run `make setup`.")
    return found[-1]


@contextmanager
def running(configuration: Mapping[str, Any], package: Path, config: LocalConfig) -> Iterator[tuple[str, Path]]:
    """Run a function under the emulator; yield the address to post events to, and the file of its logs."""
    port, logs = free_port(), config.logs / "invoke.log"
    command = [
        str(runtime_emulator(config.project)),
        f"--runtime-interface-emulator-address=127.0.0.1:{port}",
        f"--runtime-api-address=127.0.0.1:{free_port()}",
        *[sys.executable, "-m", "awslambdaric", configuration["Handler"]],
    ]
    with logs.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=package,
            env=environment_of(configuration, config) | {"PYTHONPATH": str(package)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        _wait_until_it_listens(process, port, logs)
        yield f"http://127.0.0.1:{port}/2015-03-31/functions/function/invocations", logs
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its own group: the emulator, and the runtime it started
        process.wait()


def _wait_until_it_listens(process: "subprocess.Popen[bytes]", port: int, logs: Path) -> None:
    deadline = time.monotonic() + START_S
    while True:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        if process.poll() is not None or time.monotonic() > deadline:
            raise LocalStackError(f"The Runtime Interface Emulator did not start:\n{logs.read_text(errors='replace')}")
        time.sleep(0.02)


def environment_of(configuration: Mapping[str, Any], config: LocalConfig) -> dict[str, str]:
    """Return what Lambda sets for a function, with the laptop's emulators in place of AWS."""
    return (
        clean_environment()
        | _declared(configuration)
        | own_account(config)
        | NO_PROXY
        | {
            "AWS_LAMBDA_FUNCTION_NAME": configuration["FunctionName"],
            "AWS_LAMBDA_FUNCTION_TIMEOUT": str(configuration["Timeout"]),
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(configuration["MemorySize"]),
        }
    )


def _declared(configuration: Mapping[str, Any]) -> dict[str, str]:
    return dict(configuration.get("Environment", {}).get("Variables", {}))


# --- sam local -------------------------------------------------------------------------------------------------------


def sam_env(laptop: Laptop, _arguments: argparse.Namespace) -> int:
    """Write what `sam local invoke` needs to reach the laptop stack, and print the command."""
    config = laptop.config
    endpoint = {"AWS_ENDPOINT_URL": config.aws_url}
    functions = [each.logical_id for each in laptop.deployed().of_type("AWS::Lambda::Function")]
    variables = {name: _declared(configuration_of(laptop, name)) | endpoint for name in functions}
    env_vars = config.state / "sam-env.json"
    env_vars.touch(mode=0o600)
    env_vars.write_text(json.dumps(variables, indent=2) + "\n", encoding="utf-8")
    template = config.build / "sam-local.yaml"
    template.write_text(
        with_endpoint((config.build / "template.yaml").read_text(encoding="utf-8"), config.aws_url), encoding="utf-8"
    )
    command = ["sam", "local", "invoke", "QueryFunction", "--template", str(template), "--env-vars", str(env_vars)]
    command += ["--parameter-overrides", f"Architecture={sam.host_architecture()}"]
    command += ["--docker-network", "host", "--event", "events/api_get_healthz.json"]
    laptop.report.say(f"Written: {env_vars} and {template}. With a container runtime:\n\n{shlex.join(command)}\n")
    laptop.report.say("Without one: make invoke EVENT=events/api_get_healthz.json")
    return 0


def with_endpoint(template: str, url: str) -> str:
    """Return a built template whose functions also declare AWS_ENDPOINT_URL. Raises `LocalStackError`."""
    found = GLOBAL_VARIABLES.search(template)
    if found is None:
        raise LocalStackError("The built template's Globals hold no variables: `make up` builds it again.")
    return f"{template[: found.end()]}        AWS_ENDPOINT_URL: {url}\n{template[found.end() :]}"
