"""The operator's verbs (sweep, redrive, reindex, checks of files), on the laptop or on AWS with `--stack-name`."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from functions.ingest.changes import unpack
from functions.query.understanding.glossary import GlossaryInvalid, apply_glossary, parse_glossary
from functions.query.understanding.question import normalized
from local.report import Reporter, counted
from local.stack import users
from local.stack.config import ALIAS, LocalStackError
from local.stack.laptop import Laptop
from shared.access import EVERYBODY, AccessRule, AccessRulesInvalid, parse_folder_rules
from shared.language import language_of
from shared.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_cognito_idp import CognitoIdentityProviderClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

INVOKE_TIMEOUT_S = 910
"""A little more than the 15 minutes Lambda lets the maintenance function run."""
HIDDEN_S = 60
"""Seconds a dead letter stays hidden while it is moved or looked at; after an interruption it reappears."""


@dataclass(frozen=True, slots=True)
class Target:
    """A deployed stack: the clients that reach it, and the outputs of its template. `client` makes further clients."""

    lambda_: "LambdaClient"
    sqs: "SQSClient"
    cognito: "CognitoIdentityProviderClient"
    outputs: Mapping[str, str]
    client: Callable[[str], Any]


def laptop_target(laptop: Laptop) -> Target:
    """Return the laptop stack. Raises `LocalStackError` when it does not run."""
    deployed = laptop.deployed()
    outputs = {**deployed.outputs, "ApiUrl": deployed.api_url}  # the template's names a host of AWS
    return Target(laptop.aws.lambda_, laptop.aws.sqs, laptop.aws.cognito, outputs, laptop.aws.client)


def aws_target(stack_name: str) -> Target:
    """Return a stack in the AWS account of the shell's credentials. Raises `LocalStackError`."""
    try:
        session = boto3.Session()
        stack = session.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"][0]
        patient = Config(read_timeout=INVOKE_TIMEOUT_S, retries={"total_max_attempts": 1})
        lambda_: LambdaClient = session.client("lambda", config=patient)
        sqs: SQSClient = session.client("sqs")
        cognito: CognitoIdentityProviderClient = session.client("cognito-idp")
        make: Any = session.client
    except (BotoCoreError, ClientError) as error:
        raise LocalStackError(
            f"The stack {stack_name} cannot be reached: {error}\n"
            "Check the credentials and the region of this shell (`aws sts get-caller-identity`, AWS_DEFAULT_REGION), "
            "and the stack's name (`sam list stack-outputs`)."
        ) from None
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])}
    return Target(lambda_, sqs, cognito, outputs, make)


def maintain(target: Target, request: Mapping[str, str]) -> dict[str, Any]:
    """Call the maintenance function with an event; return its answer. Raises `LocalStackError`."""
    name = target.outputs.get("MaintenanceFunctionName")
    if not name:
        raise LocalStackError("This stack has no maintenance function yet: deploy it again first.")
    answer = target.lambda_.invoke(FunctionName=f"{name}:{ALIAS}", Payload=json.dumps(request).encode())
    payload = json.loads(answer["Payload"].read())
    if answer.get("FunctionError"):
        raise LocalStackError(f"{name} failed: {payload.get('errorMessage', payload)}\nIts log says more.")
    return dict(payload)


def redriven(target: Target) -> Iterator[list[str]]:
    """Move the dead letters back to the queue of change notifications; yield the keys each of them is about.

    Each is sent before it is deleted: if interrupted in between, a change notification comes twice, which does no harm.
    """
    for message in dead_letters(target):
        target.sqs.send_message(QueueUrl=target.outputs["QueueUrl"], MessageBody=message["Body"])
        target.sqs.delete_message(QueueUrl=target.outputs["DlqUrl"], ReceiptHandle=message["ReceiptHandle"])
        yield keys_of(message["Body"])


def dead_letters(target: Target) -> Iterator["MessageTypeDef"]:
    """Receive the dead letters until no more are visible; each is hidden for `HIDDEN_S`."""
    while True:
        answer = target.sqs.receive_message(
            QueueUrl=target.outputs["DlqUrl"], MaxNumberOfMessages=10, VisibilityTimeout=HIDDEN_S, WaitTimeSeconds=1
        )
        if not answer.get("Messages"):
            return
        yield from answer["Messages"]


def keys_of(body: str) -> list[str]:
    """Return the keys of the objects that a message is about, none if it cannot be read."""
    record = {"eventSource": "aws:sqs", "messageId": "", "body": body}
    return [change.key for delivery in unpack({"Records": [record]}, request_id="") for change in delivery.changes]


def settings_of(target: Target) -> Settings:
    """Return the settings that the query function runs with."""
    name = f"{target.outputs['QueryFunctionName']}:{ALIAS}"
    found = target.lambda_.get_function_configuration(FunctionName=name)
    environment = found.get("Environment", {}).get("Variables", {})
    fields = {name.removeprefix("RECTO_").lower(): value for name, value in environment.items()}
    given = {name: value for name, value in fields.items() if name in Settings.model_fields and value != ""}
    return Settings.model_validate(given)


# --- sweep and redrive -----------------------------------------------------------------------------------------------

SHOWN = 20
"""Keys that are named one by one."""
_DIFFERENCES = {
    "new": "objects that were never read",
    "replaced": "objects that were replaced",
    "gone": "documents whose object is gone",
    "failed": "documents that failed",
    "rules": "folder rules that are not in force",
}


def _objects_and_vectors(seen: Mapping[str, int]) -> str:
    return f"{counted(seen['objects'], 'object')}, {counted(seen['vectors'], 'vector')}"


def sweep(target: Target, report: Reporter) -> int:
    """Compare bucket and registry, resume stalled documents, delete orphans; 1 when a tenant ran out of time."""
    tenants = maintain(target, {"recto": "tenants"})["tenants"]
    seen: Counter[str] = Counter()
    unfinished: list[str] = []
    with report.live("Sweeping") as show:
        for number, tenant in enumerate(tenants, start=1):
            for compared in _compared(target, tenant):
                seen.update({name: compared[name] for name in (*_DIFFERENCES, "objects", "young")})
                show(f"tenant {number} of {len(tenants)}, {_objects_and_vectors(seen)}")
            swept = maintain(target, {"recto": "sweep", "tenant": tenant})
            unfinished += {*compared["unfinished"], *swept["unfinished"]}
            seen.update({name: swept[name] for name in ("vectors", "orphans")})
    changes = maintain(target, {"recto": "resume_stalled"})["changes"]
    report.say(
        f"{counted(len(tenants), 'tenant')}, {_objects_and_vectors(seen)}: "
        f"{counted(seen['orphans'], 'orphan')} deleted, {counted(changes, 'stalled document')} resumed."
    )
    differences = ", ".join(f"{seen[name]:,} {words}" for name, words in _DIFFERENCES.items() if seen[name])
    if differences:
        report.say(f"Queued because bucket and registry differ: {differences}.")
    if seen["young"]:
        report.say(f"{seen['young']:,} more changed within the last minutes; their own events will handle them.")
    for tenant in unfinished:
        report.say(f"Out of time for tenant {tenant}: what was found is repaired; run sweep again.")
    return 1 if unfinished else 0


def _compared(target: Target, tenant: str) -> Iterator[dict[str, Any]]:
    """Compare a tenant's objects with the registry, in as many steps as it takes; yield each step's result."""
    after = ""
    while True:
        compared = maintain(target, {"recto": "compare", "tenant": tenant, "after": after})
        yield compared
        if not compared["unfinished"] or compared["after"] == after:
            return
        after = compared["after"]


def redrive(target: Target, report: Reporter) -> int:
    """Retry every dead letter."""
    count = 0
    for count, keys in enumerate(redriven(target), start=1):
        if count <= SHOWN:
            report.say(f"  {', '.join(keys) or 'a message that names no key'}")
        elif count % 100 == 0:
            report.say(f"  … {count:,} so far")
    back = counted(count, "dead letter is", "dead letters are")
    result = f"{back} back in the queue. The status of the documents shows the result."
    report.say(result if count else "There are no dead letters.")
    return 0


# --- reindex ---------------------------------------------------------------------------------------------------------


POLL_S = 2.0


def reindex(
    target: Target, report: Reporter, step: str, tenant: str, *, wait: Callable[[float], None] = time.sleep
) -> int:
    """Take a step, for one tenant or all; 0 when it succeeded for each of them."""
    tenants = maintain(target, {"recto": "tenants"})["tenants"]
    if tenant and tenant not in tenants:
        # Otherwise a mistyped name would create an index version, and keep it.
        raise LocalStackError(f"There is no tenant {tenant} with documents; there are: {', '.join(tenants) or 'none'}.")
    if tenant:
        tenants = [tenant]
    elif not tenants:
        report.say("There are no documents yet, so there is nothing to reindex.")
    failures = 0
    for name in tenants:
        done = _run(target, report, name, wait) if step == "run" else _ask(target, step, name)
        report.say(_summary(done))
        failures += bool(done["conflict"])
    return 1 if failures else 0


def _run(target: Target, report: Reporter, tenant: str, wait: Callable[[float], None]) -> dict[str, Any]:
    """Start or continue, wait until the switch is possible, and switch."""
    with report.live(f"Reindexing {tenant}") as show:
        show("starting")
        state = _ask(target, "start", tenant)
        if state["conflict"]:
            return state
        while True:
            show(f"{state['done']:,} of {counted(state['documents'], 'document')}")
            if not state["waiting"]:
                # A document that cannot be built blocks the switch, and the response names it.
                state = _ask(target, "switch", tenant)
                if state["phase"] == "switched" or state["failed"]:
                    return state
            wait(POLL_S)
            state = _ask(target, "status", tenant)


def _ask(target: Target, action: str, tenant: str) -> dict[str, Any]:
    return maintain(target, {"recto": "reindex", "action": action, "tenant": tenant})


def _summary(state: dict[str, Any]) -> str:
    other = state["other"]
    lines = [f"{state['tenant']}: queries search {_name(state['current'])}."]
    if state["phase"] == "building":
        done = f"{state['done']:,} of {counted(state['documents'], 'document')}"
        if state["declined"]:
            lines.append(f"  {_name(other)} is not searched ({done}): `reindex confirm` deletes it.")
        else:
            lines.append(f"  {_name(other)} is being built: {done}.")
    elif state["phase"] == "switched":
        lines.append(f"  {_name(other)} is kept: `reindex rollback` goes back to it, `reindex confirm` deletes it.")
    if state["declined"]:
        lines.append("  It was rolled back: no automatic reindexing until the settings change again.")
    for each in state["failed"]:
        failed = {"key": each} if isinstance(each, str) else each  # an older function tells the key alone
        reason = f": {failed['message']} ({failed['code']})" if "code" in failed else "; see its status."
        lines.append(f"  {failed['key']} could not be built{reason}")
    if state["conflict"]:
        lines.append(f"  {state['conflict']}")
    return "\n".join(lines)


def _name(index_version: dict[str, Any]) -> str:
    named = f"{index_version['namespace']} in {index_version['index']}, {index_version['space']}"
    return f"index version {index_version['number']} ({named})"


# --- access ----------------------------------------------------------------------------------------------------------


def check_access(path: Path, tenant: str = "", key: str = "") -> int:
    """Print every error of a file of folder rules, or its contents; and what holds for `key`. Return the exit code."""
    try:
        rules = parse_folder_rules(path.read_bytes(), tenant or path.stem)
    except OSError as error:
        print(f"{path} cannot be read: {error.strerror}.")
        return 1
    except AccessRulesInvalid as error:
        print("\n".join(f"{path.name}: {each}" for each in error.errors))
        return 1
    print(f"{path.name}: {counted(len(rules.folders), 'folder')} with a rule.")
    for prefix, rule in sorted(rules.folders.items()):
        print(f"{prefix}: {_readers(rule)}")
    if key:
        folder = rules.folder_of(key)
        print(f"{key}: {_readers(rules.folders[folder])} ({folder})" if folder else f"{key}: everybody in the tenant")
    return 0


def _readers(rule: AccessRule) -> str:
    if EVERYBODY in rule.groups:
        return "everybody in the tenant"
    named = [*(f"group {name}" for name in sorted(rule.groups)), *(f"user {name}" for name in sorted(rule.users))]
    return ", ".join(named) or "administrators only"


# --- glossary --------------------------------------------------------------------------------------------------------


def check_glossary(path: Path, question: str = "") -> int:
    """Print every error of a glossary, or its contents; and how it changes `question`. Return the exit code."""
    try:
        glossary = parse_glossary(path.read_bytes(), file=path.name)
    except OSError as error:
        print(f"{path} cannot be read: {error.strerror}.")
        return 1
    except GlossaryInvalid as error:
        print(error)
        return 1
    spellings = sum(len(entity.spellings) + len(entity.synonyms) for entity in glossary.entities)
    entities = counted(len(glossary.entities), "entity", "entities")
    other_names, rules = counted(spellings, "other name"), counted(len(glossary.rules), "rule")
    print(f"{path.name}: {entities} ({other_names}), {rules}.")
    if question:
        text = normalized(question)
        found = apply_glossary(glossary, text, language_of(text))
        print(f"searched for: {found.question}")
        for variant in found.variants:
            print(f"        and: {variant.text} (share {variant.weight})")
        if found.filter:
            print(f"filter: {found.filter}")
        for boost in found.boosts:
            print(f"lifted by {boost.lift}: {boost.filter}")
    return 0


def user(target: Target, report: Reporter, created: users.User, *, invite: bool) -> int:
    """Create a user with tenant and role, ready to sign in; print the password, which is stored nowhere else."""
    pool = target.outputs["UserPoolId"]
    password = "" if invite else users.new_password()
    is_new = users.create(target.cognito, pool, created, password=password, invite=invite)
    what = "is created" if is_new else f"existed already; {'the role is' if invite else 'role and password are'} set"
    report.say(f"{created.name} {what}: tenant {created.tenant}, role {created.group}.")
    report.say("Cognito has mailed a temporary password." if invite else f"Password: {password}")
    if not is_new:
        report.say("A token from before keeps its role until it expires, within an hour.")
    return 0
