"""What each verb of `python -m local` runs; `local.cli` loads this, which takes seconds, once a verb was given."""

import argparse
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
from botocore.exceptions import BotoCoreError, ClientError

from local import (
    cli_ask,
    cli_demo,
    cli_documents,
    cli_replay,
    cli_stack,
    cli_upload,
    deploying,
    destroying,
    erasure,
    invoking,
    keys,
    operate,
    publishing,
    releases,
    smoke,
)
from local.client import ApiError, NotInTime
from local.environments import account_of, read_environment
from local.report import Reporter
from local.stack.config import PORTS, PROJECT, LocalConfig, LocalStackError
from local.stack.laptop import Laptop
from local.stack.template import check_parameters
from local.stack.users import User
from shared.models import TENANT

type Verb = Callable[[argparse.Namespace, Reporter], int]


def run(arguments: argparse.Namespace) -> int:
    """Run the verb that was given and return the exit code: 0 success, 1 failure, 130 interrupted, 141 closed pipe."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a supervisor's stop is as clean as Ctrl-C
    reporter = Reporter()
    try:
        return _flushed(VERBS[arguments.verb](arguments, reporter))
    except BrokenPipeError:  # `… | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left would fail once more at the exit
        return 141
    except KeyboardInterrupt:
        reporter.say("Interrupted.")
        return 130
    except (LocalStackError, ApiError, NotInTime) as error:
        print(error, file=sys.stderr)
        return 1
    except httpx.ConnectError as error:
        print(_unreachable(error), file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError, httpx.HTTPError) as error:
        print(f"{type(error).__name__}: {error}\n`python -m local logs` may show more.", file=sys.stderr)
        return 1


def _flushed(code: int) -> int:
    """Return the exit code once all that was printed is written. Raises `BrokenPipeError`."""
    sys.stdout.flush()
    return code


def _unreachable(error: httpx.ConnectError) -> str:
    """Say that nothing answers at an address, and what to do if it is the laptop's."""
    url = error.request.url
    told = f"Nothing answers at {url.scheme}://{url.netloc.decode()} ({error})."
    if url.host not in ("127.0.0.1", "localhost"):
        return told
    return f"{told}\n`python -m local status` shows what runs; `python -m local up` starts what has ended."


def _config(arguments: argparse.Namespace) -> LocalConfig:
    environ = os.environ
    state = arguments.state or Path(environ.get("RECTO_STATE") or PROJECT / ".recto")
    flags = {
        name: getattr(arguments, name, None)
        for name in (*PORTS, "chat_base_url", "chat_model", "chat_key", "enforce_roles")
    }
    if given := getattr(arguments, "parameter", None):
        if not all("=" in each for each in given):
            raise LocalStackError("A parameter is given as NAME=VALUE, for example --parameter LeaseSeconds=20.")
        parameters = dict(each.split("=", 1) for each in given)
        check_parameters(parameters)
        flags["parameters"] = parameters
    if arguments.verb in {"up", "demo"} and flags["chat_key"] is None:
        flags["chat_key"] = environ.get("RECTO_CHAT_KEY")
    return LocalConfig.load(state.resolve(), environ, **flags)


def _user(given: argparse.Namespace) -> User:
    if not re.fullmatch(TENANT, given.tenant):
        raise LocalStackError(
            f"{given.tenant!r} is not a tenant's name: at most 63 letters, digits, - and _, a letter or digit first."
        )
    return User(given.email, given.tenant, given.role)


def _on_laptop(run: Callable[[Laptop, argparse.Namespace], int]) -> Verb:
    return lambda arguments, reporter: run(Laptop(_config(arguments), reporter), arguments)


def _on_any_stack(run: Callable[[operate.Target, Reporter, argparse.Namespace], int]) -> Verb:
    def operated(arguments: argparse.Namespace, reporter: Reporter) -> int:
        if arguments.stack_name:
            return run(operate.aws_target(arguments.stack_name), reporter, arguments)
        return run(operate.laptop_target(Laptop(_config(arguments), reporter)), reporter, arguments)

    return operated


def _replay(given: argparse.Namespace, reporter: Reporter) -> int:
    if not given.stack_name:
        return cli_replay.on_laptop(Laptop(_config(given), reporter), given)
    return cli_replay.on_aws(operate.aws_target(given.stack_name), os.environ.get("RECTO_TOKEN", ""), reporter, given)


def _deploy_check(given: argparse.Namespace, reporter: Reporter) -> int:
    environment = read_environment(given.config_env)
    return deploying.check(environment, account_of(environment), given.parameters, reporter)


def _publish_page(given: argparse.Namespace, reporter: Reporter) -> int:
    environment = read_environment(given.config_env)
    return publishing.publish(environment, account_of(environment), reporter)


def _destroy(given: argparse.Namespace, reporter: Reporter) -> int:
    environment = read_environment(given.config_env)
    return destroying.destroy(environment, account_of(environment), reporter, yes=given.yes)


VERBS: dict[str, Verb] = {
    "up": _on_laptop(lambda laptop, _: cli_stack.up(laptop)),
    "demo": _on_laptop(lambda laptop, given: cli_demo.demo(laptop, stop=given.stop)),
    "upload": _on_laptop(cli_upload.upload),
    "documents": _on_laptop(cli_documents.documents),
    "delete": _on_laptop(cli_documents.delete),
    "ask": _on_laptop(cli_ask.ask),
    "replay": _replay,
    "token": _on_laptop(cli_ask.token),
    "status": _on_laptop(lambda laptop, _: cli_stack.status(laptop)),
    "logs": _on_laptop(cli_stack.logs),
    "metrics": _on_laptop(lambda laptop, given: cli_stack.show_metrics(laptop, given.picture)),
    "invoke": _on_laptop(invoking.invoke),
    "sam-env": _on_laptop(invoking.sam_env),
    "down": _on_laptop(lambda laptop, _: cli_stack.down(laptop)),
    "reset": _on_laptop(lambda laptop, given: cli_stack.reset(laptop, yes=given.yes)),
    "sweep": _on_any_stack(lambda target, report, _: operate.sweep(target, report)),
    "redrive": _on_any_stack(lambda target, report, _: operate.redrive(target, report)),
    "reindex": _on_any_stack(lambda target, report, given: operate.reindex(target, report, given.step, given.tenant)),
    "releases": _on_any_stack(lambda target, report, given: releases.run(target, report, given.step, given.release)),
    "smoke": _on_any_stack(lambda target, report, _: smoke.smoke(target, report)),
    "user": _on_any_stack(
        lambda target, report, given: operate.user(target, report, _user(given), invite=given.invite)
    ),
    "erasure": _on_any_stack(erasure.run),
    "keys": _on_any_stack(keys.run),
    "costs": lambda given, report: cli_stack.show_costs(report, given),
    "deploy-check": _deploy_check,
    "publish-page": _publish_page,
    "destroy": _destroy,
    "index": cli_stack.index,
    "glossary": lambda given, _: operate.check_glossary(given.file, given.question),
    "access": lambda given, _: operate.check_access(given.file, given.tenant, given.key),
}
"""What each verb of the parser runs."""
