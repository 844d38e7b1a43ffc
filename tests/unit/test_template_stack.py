"""What the stack promises: nothing lost, nothing open, no right that is not used."""

import json
import re
import tomllib
from typing import Any

import pytest

from functions.ingest.changes import MAX_WAITS, PREFIXES
from functions.ingest.delivery import LONGEST_BACKOFF_S
from functions.ingest.erasing import HELD_S, WRITERS_S
from functions.ingest.lease import KEEP_BACK_S
from functions.ingest.parsing.process import EARNED_PAGE_CHARACTERS, EARNED_S_PER_CHARACTER
from functions.ingest.reindex import RUN_EVERY_S
from functions.ingest.repair import STALLED_AFTER_S
from functions.query.api.problems import Problem
from functions.query.api.sse import QUIET_S
from functions.query.handoffs import OPENED
from functions.query.streaming_app import SNAPSHOT_HOOKS
from local.packaging import AWS_SERVICES
from local.stack.config import ALIAS
from tests.support.template import ROOT, environment, evaluated, properties, template

RESOURCES: dict[str, dict[str, Any]] = template()["Resources"]
BUCKET_NAME = properties("Uploads")["BucketName"]
LAMBDA_ROUNDS = 16
BUCKET_ARN = "arn:${AWS::Partition}:s3:::" + BUCKET_NAME["Fn::Sub"]


def of_type(kind: str) -> list[str]:
    return [name for name, resource in RESOURCES.items() if resource["Type"] == kind]


def statements(role: str) -> list[dict[str, Any]]:
    """The role's statements, those that a setting adds included."""
    found = [each for policy in properties(role)["Policies"] for each in policy["PolicyDocument"]["Statement"]]
    return [each["Fn::If"][1] if "Fn::If" in each else each for each in found]


def actions_on(role: str, resource: object) -> set[str]:
    found: set[str] = set()
    for each in statements(role):
        if each["Resource"] == resource:
            found |= {each["Action"]} if isinstance(each["Action"], str) else set(each["Action"])
    return found


# --- nothing lost ---------------------------------------------------------------------------------------------------


def test_a_change_is_not_handed_out_again_while_it_is_worked_on() -> None:
    assert properties("ChangeQueue")["VisibilityTimeout"] >= 6 * properties("IngestFunction")["Timeout"]


def test_an_invocation_lasts_long_enough_to_read_the_longest_document() -> None:
    """Else a continuation, which has to read it again from its first page, would never get any further."""
    parameters = template()["Parameters"]
    earned_s = parameters["MaxPages"]["Default"] * EARNED_PAGE_CHARACTERS * EARNED_S_PER_CHARACTER
    reading_s = parameters["ParseTimeoutSeconds"]["MaxValue"] + earned_s
    assert reading_s <= properties("IngestFunction")["Timeout"] - KEEP_BACK_S


def test_no_document_is_taken_to_be_forgotten_while_its_change_is_hidden() -> None:
    assert properties("ChangeQueue")["VisibilityTimeout"] < STALLED_AFTER_S
    assert LONGEST_BACKOFF_S < STALLED_AFTER_S


def test_a_change_is_tried_five_times_and_then_kept_for_two_weeks() -> None:
    redrive = properties("ChangeQueue")["RedrivePolicy"]
    assert redrive == {"deadLetterTargetArn": {"Fn::GetAtt": ["DeadLetterQueue", "Arn"]}, "maxReceiveCount": 5}
    assert properties("DeadLetterQueue")["MessageRetentionPeriod"] == 14 * 86_400


def test_one_bad_change_fails_alone() -> None:
    event = properties("IngestFunction")["Events"]["Changes"]["Properties"]
    assert event["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_a_change_that_goes_around_often_is_not_taken_for_a_runaway() -> None:
    """Lambda ends what one function has sent itself through a queue for the 17th time, unless it is told not to."""
    may_send = actions_on("IngestRole", {"Fn::GetAtt": ["ChangeQueue", "Arn"]})
    assert "sqs:SendMessage" in may_send
    assert MAX_WAITS > LAMBDA_ROUNDS
    assert properties("IngestFunction")["RecursiveLoop"] == "Allow"


@pytest.mark.parametrize("prefix", ["uploads/", "faq/", "resolved/", "knowledge/"])
def test_creation_and_removal_under_every_prefix_reach_the_queue(prefix: str) -> None:
    events = {
        each["Event"]
        for each in properties("Uploads")["NotificationConfiguration"]["QueueConfigurations"]
        if each["Filter"] == {"S3Key": {"Rules": [{"Name": "prefix", "Value": prefix}]}}
        and each["Queue"] == {"Fn::GetAtt": ["ChangeQueue", "Arn"]}
    }
    assert events == {"s3:ObjectCreated:*", "s3:ObjectRemoved:*"}


def test_nothing_else_reaches_the_queue() -> None:
    """A tenant's glossary, for one, lies in the bucket and is no document."""
    configured = properties("Uploads")["NotificationConfiguration"]["QueueConfigurations"]
    prefixes = {rule["Value"] for each in configured for rule in each["Filter"]["S3Key"]["Rules"]}
    assert prefixes == {"uploads/", "faq/", "resolved/", "knowledge/", "access/"}


def test_the_bucket_waits_for_the_policy_that_lets_it_send() -> None:
    assert RESOURCES["Uploads"]["DependsOn"] == "ChangeQueuePolicy"
    statement, _ = properties("ChangeQueuePolicy")["PolicyDocument"]["Statement"]
    assert statement["Condition"]["ArnEquals"] == {"aws:SourceArn": {"Fn::Sub": BUCKET_ARN}}
    assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}


@pytest.mark.parametrize("name", ["Uploads", "DocumentsTable", "ConversationsTable", "UserPool"])
def test_what_people_put_in_outlives_the_stack(name: str) -> None:
    assert RESOURCES[name]["DeletionPolicy"] == "RetainExceptOnCreate"
    assert RESOURCES[name]["UpdateReplacePolicy"] == "Retain"


@pytest.mark.parametrize("table", of_type("AWS::DynamoDB::Table"))
def test_tables_expire_items_and_can_be_restored(table: str) -> None:
    declared = properties(table)
    assert declared["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    if table != "CacheTable":  # a cache is not worth restoring
        assert declared["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert declared["SSESpecification"] == {"SSEEnabled": True}
    assert declared["BillingMode"] == "PAY_PER_REQUEST"


# --- nothing open ---------------------------------------------------------------------------------------------------


def test_every_method_is_named_and_needs_a_token_but_a_preflight_and_the_health_check() -> None:
    events = dict(properties("QueryFunction")["Events"])
    for name, path in (("Health", "/healthz"), ("Document", "/openapi.json")):
        for method in ("get", "head", "options"):
            public = events.pop(f"{name}{'' if method == 'get' else method.capitalize()}")["Properties"]
            assert (public["Path"], public["Method"], public["Auth"]) == (path, method, {"Authorizer": "NONE"})
    routes = {each["Properties"]["Method"]: each["Properties"] for each in events.values()}
    assert set(routes) == {"get", "head", "post", "put", "patch", "delete", "options"}
    assert {route["Path"] for route in routes.values()} == {"/{proxy+}"}
    assert routes.pop("options")["Auth"] == {"Authorizer": "NONE"}
    assert all("Auth" not in route for route in routes.values())
    assert properties("Api")["Auth"]["DefaultAuthorizer"] in properties("Api")["Auth"]["Authorizers"]


def test_a_parameter_that_changes_routes_reaches_the_stage() -> None:
    """SAM makes a new deployment when the text of the routes changes, and a condition's text never does."""
    conditional = [name for name in of_type("AWS::Serverless::Function") if "Condition" in RESOURCES[name]]
    assert any(properties(name)["Events"] for name in conditional)
    assert properties("Api")["AlwaysDeploy"] is True


def test_the_api_is_throttled() -> None:
    (settings,) = properties("Api")["MethodSettings"]
    assert (settings["ResourcePath"], settings["HttpMethod"]) == ("/*", "*")
    assert settings["ThrottlingRateLimit"] == {"Ref": "ApiRateLimit"}
    assert settings["ThrottlingBurstLimit"] == {"Ref": "ApiBurstLimit"}


def test_a_browser_may_read_what_the_gateway_says_by_itself() -> None:
    declared = properties("Api")["GatewayResponses"]
    assert {"DEFAULT_4XX", "DEFAULT_5XX"} <= declared.keys(), "every answer of its own has these headers"
    answers = declared.values()
    assert all(
        each["ResponseParameters"]["Headers"]["Content-Type"] == "'application/problem+json'" for each in answers
    )
    headers = [each["ResponseParameters"]["Headers"] for each in answers]
    assert all(each["Access-Control-Allow-Origin"] == "'*'" for each in headers)
    (waiting,) = [each for each in headers if "Retry-After" in each]
    assert waiting["Access-Control-Expose-Headers"] == "'Retry-After'", "without it a script is not shown this one"


def test_the_function_answers_before_the_gateway_gives_up() -> None:
    assert template()["Parameters"]["RequestDeadlineSeconds"]["Default"] < properties("QueryFunction")["Timeout"] < 29


def test_the_bucket_is_private_encrypted_versioned_and_spoken_to_over_tls() -> None:
    bucket = properties("Uploads")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    (statement,) = properties("UploadsPolicy")["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Principal"], statement["Action"]) == ("Deny", "*", "s3:*")
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


@pytest.mark.parametrize(
    ("kind", "policy_kind", "listed", "action"),
    [
        ("AWS::SQS::Queue", "AWS::SQS::QueuePolicy", "Queues", "sqs:*"),
        ("AWS::SNS::Topic", "AWS::SNS::TopicPolicy", "Topics", "sns:Publish"),
    ],
)
def test_every_queue_and_topic_is_spoken_to_over_tls(kind: str, policy_kind: str, listed: str, action: str) -> None:
    policies = {each["Ref"]: name for name in of_type(policy_kind) for each in properties(name)[listed]}
    assert set(policies) == set(of_type(kind))
    for name, policy in policies.items():
        assert RESOURCES[policy].get("Condition") == RESOURCES[name].get("Condition")
        (refusing,) = [each for each in properties(policy)["PolicyDocument"]["Statement"] if each["Effect"] == "Deny"]
        assert (refusing["Principal"], refusing["Action"]) == ("*", action)
        assert refusing["Resource"] in ({"Ref": name}, {"Fn::GetAtt": [name, "Arn"]})
        assert refusing["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_only_this_stacks_alarms_publish_to_its_topic() -> None:
    """A policy of one's own replaces the topic's default one, which lets the account's alarms publish."""
    allowed, _ = properties("AlarmTopicPolicy")["PolicyDocument"]["Statement"]
    assert (allowed["Effect"], allowed["Principal"]) == ("Allow", {"Service": "cloudwatch.amazonaws.com"})
    arn = "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:${AWS::StackName}-*"
    assert allowed["Condition"]["ArnLike"] == {"aws:SourceArn": {"Fn::Sub": arn}}
    assert not any("AlarmName" in properties(name) for name in of_type("AWS::CloudWatch::Alarm")), (
        "CloudFormation's own names begin with the stack's"
    )


def test_only_this_stacks_queues_send_dead_letters() -> None:
    allowed = properties("DeadLetterQueue")["RedriveAllowPolicy"]
    assert allowed["redrivePermission"] == "byQueue"
    sources = {name: properties(name) for name in of_type("AWS::SQS::Queue") if "RedrivePolicy" in properties(name)}
    arns = [
        each["Fn::If"][1]["Fn::Sub"] if "Fn::If" in each else each["Fn::Sub"] for each in allowed["sourceQueueArns"]
    ]
    arn = "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:"
    assert sorted(arns) == sorted(arn + each["QueueName"]["Fn::Sub"] for each in sources.values())


def test_a_message_is_not_handed_out_again_while_its_function_may_still_run() -> None:
    for name in of_type("AWS::Serverless::Function"):
        for event in properties(name).get("Events", {}).values():
            if event["Type"] == "SQS":
                queue = properties(event["Properties"]["Queue"]["Fn::GetAtt"][0])
                assert queue["VisibilityTimeout"] >= 6 * properties(name)["Timeout"]
                assert queue["MessageRetentionPeriod"] < properties("DeadLetterQueue")["MessageRetentionPeriod"]


def test_a_page_of_an_allowed_origin_uploads_and_reads_documents_in_ranges() -> None:
    (rule,) = properties("Uploads")["CorsConfiguration"]["CorsRules"]
    assert set(rule["AllowedMethods"]) == {"GET", "HEAD", "POST"}
    assert {"Accept-Ranges", "Content-Length", "Content-Range", "ETag"} <= set(rule["ExposedHeaders"])
    assert rule["AllowedOrigins"] == {"Fn::Split": [",", {"Ref": "CorsAllowOrigins"}]}


def test_no_user_can_choose_or_change_their_tenant() -> None:
    pool, client = properties("UserPool"), properties("UserPoolClient")
    (tenant,) = [each for each in pool["Schema"] if each["Name"] == "tenant"]
    assert tenant["Mutable"] is False
    assert pool["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}
    assert "custom:tenant" in client["ReadAttributes"]
    assert "custom:tenant" not in client["WriteAttributes"]


def test_passwords_are_long_mixed_and_not_used_again() -> None:
    policy = properties("UserPool")["Policies"]["PasswordPolicy"]
    assert policy["MinimumLength"] >= 12
    assert policy["PasswordHistorySize"] >= 5
    assert properties("UserPool")["UserPoolTier"] == "ESSENTIALS", "the history needs it"
    assert all(policy[f"Require{kind}"] for kind in ("Lowercase", "Uppercase", "Numbers", "Symbols"))
    assert policy["TemporaryPasswordValidityDays"] <= 7


def test_the_pool_cannot_be_deleted_by_accident_and_offers_a_second_factor() -> None:
    pool = properties("UserPool")
    assert pool["DeletionProtection"] == "ACTIVE"
    assert pool["MfaConfiguration"] == {"Ref": "Mfa"}
    assert pool["EnabledMfas"]["Fn::If"][:2] == ["MfaOffered", ["SOFTWARE_TOKEN_MFA"]]
    assert template()["Parameters"]["Mfa"]["AllowedValues"] == ["OFF", "OPTIONAL", "ON"]


def test_keys_are_not_echoed() -> None:
    parameters = template()["Parameters"]
    secret = properties("Keys")["SecretString"]["Fn::Sub"]
    in_secret = set(re.findall(r"\$\{(\w+)\}", secret))
    assert in_secret == {"OpenaiApiKey", "PineconeApiKey"}
    assert all(parameters[name]["NoEcho"] for name in in_secret)
    assert not any(value == {"Ref": name} for value in environment().values() for name in in_secret)


@pytest.mark.parametrize("group", of_type("AWS::Logs::LogGroup"))
def test_logs_are_kept_for_as_long_as_the_operator_says(group: str) -> None:
    assert properties(group)["RetentionInDays"] == {"Ref": "LogRetentionDays"}


# --- starting and releasing -------------------------------------------------------------------------------------------

QUERY_FUNCTIONS = ("QueryFunction", "QueryStreamFunction")


def refused(**given: str) -> set[str]:
    """The rules of the template that refuse these parameters."""
    return {
        name
        for name, rule in template()["Rules"].items()
        if evaluated(rule.get("RuleCondition", True), given)
        and not all(evaluated(each["Assert"], given) for each in rule["Assertions"])
    }


@pytest.mark.parametrize("function", QUERY_FUNCTIONS)
@pytest.mark.parametrize(
    ("given", "apply_on", "provisioned"),
    [
        ({}, "None", None),
        ({"SnapStart": "on"}, "PublishedVersions", None),
        ({"ProvisionedConcurrency": "2"}, "None", {"ProvisionedConcurrentExecutions": "2"}),
    ],
)
def test_the_query_functions_start_as_the_parameters_say(
    function: str, given: dict[str, str], apply_on: str, provisioned: dict[str, str] | None
) -> None:
    assert refused(**given) == set()
    made = evaluated(properties(function), given)
    assert made["SnapStart"] == {"ApplyOn": apply_on}
    assert made["ProvisionedConcurrencyConfig"] == provisioned


def test_a_snapshot_and_provisioned_containers_exclude_each_other() -> None:
    assert refused(SnapStart="on", ProvisionedConcurrency="1") == {"OneKindOfFastStart"}
    assert refused(IngestMaximumConcurrency="1") == {"IngestConcurrency"}


def test_lambda_takes_a_snapshot_of_the_query_functions() -> None:
    """Of managed Pythons from 3.12 on, with 512 MB of /tmp."""
    assert template()["Globals"]["Function"]["Runtime"] == "python3.13"
    for function in QUERY_FUNCTIONS:
        assert properties(function).get("EphemeralStorage", {"Size": 512})["Size"] <= 512
    others = set(of_type("AWS::Serverless::Function")) - set(QUERY_FUNCTIONS)
    assert not any("SnapStart" in properties(name) for name in others), "ingest has more of it, and nobody waits for it"


def test_a_streamed_answer_has_a_deadline_of_its_own_within_the_gateways() -> None:
    function, timeout = properties("QueryStreamFunction"), template()["Parameters"]["StreamTimeoutSeconds"]
    assert function["Timeout"] == environment()["RECTO_STREAM_TIMEOUT_S"] == {"Ref": "StreamTimeoutSeconds"}
    paths = {event["Properties"]["Path"] for event in function["Events"].values()}
    assert paths >= {"/query", "/conversations/{conversation_id}/messages"}
    for event in function["Events"].values():
        route = event["Properties"]
        assert route["ResponseTransferMode"] == "RESPONSE_STREAM"
        if route["Method"] == "post":
            assert timeout["MaxValue"] * 1_000 <= route["TimeoutInMillis"] == 15 * 60 * 1_000
        else:
            assert (route["Method"], route["Auth"]) == ("options", {"Authorizer": "NONE"})
    assert QUIET_S < 5 * 60, "API Gateway ends a stream that is silent for longer"


def test_the_web_adapter_tells_the_application_of_a_snapshot() -> None:
    variables = properties("QueryStreamFunction")["Environment"]["Variables"]
    paths = [variables[name] for name in SNAPSHOT_HOOKS]
    assert len(set(paths)) == 2
    routes = [event["Properties"]["Path"] for event in properties("QueryStreamFunction")["Events"].values()]
    assert not set(paths) & set(routes)
    layer = template()["Parameters"]["WebAdapterLayerVersion"]
    assert layer["MinValue"] >= 30, "older ones do not know SnapStart"


@pytest.mark.parametrize("preference", template()["Parameters"]["DeploymentPreference"]["AllowedValues"])
def test_only_a_gradual_deployment_needs_codedeploy(preference: str) -> None:
    for function in QUERY_FUNCTIONS:
        made = evaluated(properties(function)["DeploymentPreference"], {"DeploymentPreference": preference})
        assert made["Enabled"] is (preference != "AllAtOnce")
        assert made["Type"] == preference


def test_ingest_and_maintenance_change_at_once() -> None:
    """Half old and half new, maintenance would see the settings change back and forth, and rebuild each time."""
    assert "DeploymentPreference" not in template()["Globals"]["Function"]
    for function in ("IngestFunction", "MaintenanceFunction"):
        assert "DeploymentPreference" not in properties(function)


def test_make_deploy_stamps_the_release_that_the_template_has() -> None:
    unstamped = f"RELEASE: {environment()['RELEASE']}"
    assert (ROOT / "template.yaml").read_text().count(unstamped) == 1
    assert f"s/{unstamped}/" in (ROOT / "Makefile").read_text()
    assert template()["Globals"]["Function"]["AutoPublishAlias"] == ALIAS


# --- no right that is not used ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", of_type("AWS::IAM::Role"))
def test_rights_name_actions_and_resources(role: str) -> None:
    assert "ManagedPolicyArns" not in properties(role)
    for each in statements(role):
        actions = [each["Action"]] if isinstance(each["Action"], str) else each["Action"]
        assert not any("*" in action for action in actions)
        if each["Resource"] == "*":
            assert all(action.startswith("xray:") for action in actions)


def test_ingest_reads_objects_and_cannot_change_them() -> None:
    prefixes = [{"Fn::Sub": f"{BUCKET_ARN}/{prefix}*"} for prefix in ("uploads/", "faq/", "resolved/", "knowledge/")]
    assert actions_on("IngestRole", prefixes) == {"s3:GetObject", "s3:GetObjectVersion"}
    others = [each for each in statements("IngestRole") if each["Resource"] != prefixes]
    assert not any(action.startswith("s3:") for each in others for action in each["Action"])


def test_ingest_counts_tokens_beside_the_conversations_and_reaches_none_of_them() -> None:
    assert actions_on("IngestRole", {"Fn::GetAtt": ["ConversationsTable", "Arn"]}) == {"dynamodb:UpdateItem"}
    counting = next(each for each in statements("IngestRole") if each["Sid"] == "CountTokens")
    assert counting["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["USAGE#*"]}}


def test_ingest_and_the_api_change_documents_and_never_replace_them() -> None:
    """Whoever writes one updates it, under a condition."""
    registry = {"Fn::GetAtt": ["DocumentsTable", "Arn"]}
    changing = {"dynamodb:GetItem", "dynamodb:UpdateItem"}
    keeping = next(each for each in statements("IngestRole") if each["Sid"] == "KeepTheRegistry")
    assert (set(keeping["Action"]), keeping["Resource"]) == (changing, registry)
    assert actions_on("QueryRole", registry) == changing | {"dynamodb:BatchGetItem", "dynamodb:Query"}


def test_maintenance_lists_the_bucket_reads_the_registry_switches_index_versions_erases_and_no_more() -> None:
    assert actions_on("MaintenanceRole", {"Fn::GetAtt": ["DocumentsTable", "Arn"]}) == {
        "dynamodb:GetItem",
        "dynamodb:Query",
        "dynamodb:Scan",
        "dynamodb:UpdateItem",
    }
    queue = actions_on("MaintenanceRole", {"Fn::GetAtt": ["ChangeQueue", "Arn"]})
    assert queue == {"sqs:GetQueueAttributes", "sqs:SendMessage"}
    assert actions_on("MaintenanceRole", {"Fn::Sub": BUCKET_ARN}) == {"s3:ListBucket", "s3:ListBucketVersions"}
    prefixes = [{"Fn::Sub": f"{BUCKET_ARN}/{prefix}*"} for prefix in ("uploads/", "faq/", "resolved/", "knowledge/")]
    assert actions_on("MaintenanceRole", prefixes) == {"s3:DeleteObject", "s3:DeleteObjectVersion"}
    assert "s3:GetObject" not in str(statements("MaintenanceRole")), "no object can be read"
    erasing = {f"dynamodb:{each}Item" for each in ("BatchWrite", "Delete", "Get", "Update")}
    conversations = actions_on("MaintenanceRole", {"Fn::GetAtt": ["ConversationsTable", "Arn"]})
    assert conversations == erasing | {"dynamodb:Query", "dynamodb:Scan"}
    cache = actions_on("MaintenanceRole", {"Fn::GetAtt": ["CacheTable", "Arn"]})
    assert cache == {"dynamodb:DeleteItem", "dynamodb:Scan"}


def test_erasures_go_on_by_themselves_and_outwait_every_worker() -> None:
    event = properties("MaintenanceFunction")["Events"]["Erasures"]["Properties"]
    assert (event["Schedule"], json.loads(event["Input"])) == ("rate(5 minutes)", {"recto": "erase"})
    assert properties("IngestFunction")["Timeout"] == WRITERS_S
    assert properties("MaintenanceFunction")["Timeout"] == HELD_S


def test_maintenance_runs_by_itself_unless_it_is_turned_off() -> None:
    event = properties("MaintenanceFunction")["Events"]["Round"]
    assert event["Type"] == "Schedule"
    assert event["Properties"]["Schedule"] == {"Ref": "MaintenanceSchedule"}
    assert event["Properties"]["State"] == {"Fn::If": ["MaintenanceOn", "ENABLED", "DISABLED"]}
    assert template()["Conditions"]["MaintenanceOn"] == {"Fn::Equals": [{"Ref": "MaintenanceEnabled"}, "true"]}
    assert template()["Parameters"]["MaintenanceEnabled"]["Default"] == "true"


def test_folder_rules_whose_event_was_lost_are_noticed_within_minutes() -> None:
    event = properties("MaintenanceFunction")["Events"]["FolderRules"]["Properties"]
    assert (event["Schedule"], json.loads(event["Input"])) == ("rate(5 minutes)", {"recto": "rules"})
    assert event["State"] == {"Fn::If": ["MaintenanceOn", "ENABLED", "DISABLED"]}


def test_changed_settings_are_noticed_within_minutes_unless_that_is_turned_off() -> None:
    event = properties("MaintenanceFunction")["Events"]["AutomaticReindex"]
    assert event["Type"] == "Schedule"
    assert event["Properties"]["Schedule"] == f"rate({RUN_EVERY_S / 60:g} minutes)"
    assert json.loads(event["Properties"]["Input"]) == {"recto": "reindex_automatically"}
    assert event["Properties"]["State"] == {"Fn::If": ["ReindexByItself", "ENABLED", "DISABLED"]}
    assert template()["Conditions"]["ReindexByItself"] == {"Fn::Equals": [{"Ref": "ReindexAutomatically"}, "true"]}


def test_query_reads_documents_and_glossaries_and_writes_uploads_and_faqs() -> None:
    every_action = {
        action
        for each in statements("QueryRole")
        for action in ([each["Action"]] if isinstance(each["Action"], str) else each["Action"])
    }
    readers = {each["Sid"]: each["Resource"] for each in statements("QueryRole") if "s3:Get" in str(each["Action"])}
    assert readers == {
        "ShowDocuments": [{"Fn::Sub": f"{BUCKET_ARN}/{prefix}/*"} for prefix in PREFIXES],
        "WriteFaqs": {"Fn::Sub": BUCKET_ARN + "/faq/*"},
        "ReadGlossaries": {"Fn::Sub": BUCKET_ARN + "/glossary/*"},
        "KeepFolderRules": {"Fn::Sub": BUCKET_ARN + "/access/*"},
    }
    assert {action for action in every_action if action.startswith("sqs:")} == {"sqs:SendMessage"}
    assert actions_on("QueryRole", {"Fn::Sub": BUCKET_ARN + "/uploads/*"}) == {"s3:PutObject"}
    assert actions_on("QueryRole", {"Fn::Sub": BUCKET_ARN + "/faq/*"}) == {"s3:GetObject", "s3:PutObject"}
    assert actions_on("QueryRole", {"Fn::Sub": BUCKET_ARN + "/resolved/*"}) == {"s3:PutObject"}


def test_query_deletes_documents_of_every_kind_and_no_glossary() -> None:
    (deleting,) = [each for each in statements("QueryRole") if "s3:DeleteObject" in str(each["Action"])]
    assert set(deleting["Action"]) == {"s3:DeleteObject", "s3:DeleteObjectVersion"}
    assert [each["Fn::Sub"] for each in deleting["Resource"]] == [f"{BUCKET_ARN}/{prefix}/*" for prefix in PREFIXES]


LISTED = {"StringLike": {"s3:prefix": [f"{prefix}/*" for prefix in PREFIXES]}}


def test_documents_are_listed_and_nothing_else_of_the_bucket() -> None:
    """Only the right that turns 403 into 404 for a missing key cannot name a prefix: a read of an object has none."""
    listing = {
        (role, each["Sid"]): each.get("Condition")
        for role in of_type("AWS::IAM::Role")
        for each in statements(role)
        if {"s3:ListBucket", "s3:ListBucketVersions"} & {each["Action"] if isinstance(each["Action"], str) else ""}
    }
    assert listing == {
        ("IngestRole", "TellGoneFromForbidden"): None,
        ("OcrRole", "TellGoneFromForbidden"): None,
        ("QueryRole", "TellMissingGlossaries"): None,
        ("MaintenanceRole", "CompareTheBucketWithTheRegistry"): {
            "StringLike": {"s3:prefix": [*LISTED["StringLike"]["s3:prefix"], "access/*"]}
        },
        ("MaintenanceRole", "FindVersionsToErase"): LISTED,
        ("QueryRole", "FindVersionsToDelete"): LISTED,
    }


OF_PEOPLE = ["TENANT#*#USER#*", "TENANT#*#FEEDBACK", "TENANT#*#HANDOFF", "TENANT#*#UNANSWERED"]
OF_ERASURES = ["TENANT#*#ERASURES", "ERASURES"]


def test_each_function_reaches_its_own_kinds_of_items_only() -> None:
    found = {
        (role, each["Sid"]): each["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
        for role in of_type("AWS::IAM::Role")
        for each in statements(role)
        if "dynamodb:" in str(each["Action"]) and "Condition" in each
    }
    assert found == {
        ("AuthorizerRole", "ReadAndMarkApiKeys"): ["KEY#*"],
        ("IngestRole", "KeepTheRegistry"): ["TENANT#*"],
        ("IngestRole", "UseReadPages"): ["OCR#*"],
        ("OcrRole", "KeepReadPages"): ["OCR#*"],
        ("IngestRole", "CountTokens"): ["USAGE#*"],
        ("IngestRole", "RememberPassages"): ["CHUNK#*"],
        ("MaintenanceRole", "ReadTheRegistryAndSwitchIndexVersions"): ["TENANT#*", "STACK"],
        ("MaintenanceRole", "RemoveTraces"): [*OF_PEOPLE, *OF_ERASURES, "LIMIT#*", "USAGE#*"],
        ("MaintenanceRole", "RemoveWholeConversations"): OF_PEOPLE,
        ("MaintenanceRole", "TakeNamesOut"): [*OF_PEOPLE, *OF_ERASURES, "USAGE#*", "KEY#*"],
        ("QueryRole", "ReadAndMarkTheRegistry"): ["TENANT#*"],
        ("QueryRole", "ListDocuments"): ["TENANT#*"],
        ("QueryRole", "KeepConversations"): [*OF_PEOPLE, *OF_ERASURES],
        ("QueryRole", "ListConversationsAndFeedback"): ["TENANT#*#USER#*", "TENANT#*#FEEDBACK"],
        ("QueryRole", "CountQuestions"): ["LIMIT#*", "USAGE#*"],
        ("QueryRole", "KeepApiKeys"): ["KEY#*", "TENANT#*#KEYS"],
        ("QueryRole", "RememberEmbeddingsAndAnswers"): ["EMB#*", "ANS#*"],
    }


def test_a_mail_tells_of_a_hand_off_without_its_transcript_and_only_our_rule_may_send_it() -> None:
    rule = properties("HandoffRule")
    source = {"Fn::Sub": "recto.${AWS::StackName}"}
    assert rule["EventPattern"] == {"source": [source], "detail-type": [OPENED]}
    assert environment()["RECTO_EVENT_SOURCE"] == source
    transformed = rule["Targets"][0]["InputTransformer"]
    assert set(re.findall(r"<(\w+)>", transformed["InputTemplate"])) == set(transformed["InputPathsMap"])
    json.loads(re.sub(r"<\w+>", '"value"', transformed["InputTemplate"]))
    assert "transcript" not in str(transformed)
    statement, _ = properties("HandoffTopicPolicy")["PolicyDocument"]["Statement"]
    assert statement["Condition"] == {"ArnEquals": {"aws:SourceArn": {"Fn::GetAtt": ["HandoffRule", "Arn"]}}}
    for name in ("HandoffTopic", "HandoffTopicPolicy", "HandoffRule"):
        assert RESOURCES[name]["Condition"] == "HasHandoffEmail"


def test_a_scan_is_allowed_only_where_no_condition_would_miss_it() -> None:
    """A scan names no keys, and `ForAllValues` is true of none; so what has no condition does little else."""
    for role in of_type("AWS::IAM::Role"):
        for each in statements(role):
            asked = {each["Action"]} if isinstance(each["Action"], str) else set(each["Action"])
            if "Condition" in each:
                assert "dynamodb:Scan" not in asked
            elif "dynamodb:Scan" in asked:
                assert asked <= {"dynamodb:Scan", "dynamodb:DeleteItem"}


def test_the_functions_are_told_the_bucket_the_stack_makes() -> None:
    assert environment()["RECTO_BUCKET"] == BUCKET_NAME


# --- what stands elsewhere and must agree -----------------------------------------------------------------------------


def test_the_package_keeps_the_description_of_every_aws_service_that_is_called() -> None:
    sources = [path for folder in ("functions", "shared") for path in (ROOT / folder).rglob("*.py")]
    pattern = re.compile(r"""\b(?:client|resource)\(\s*["']([a-z0-9-]+)["']""")
    called = {service for path in sources for service in pattern.findall(path.read_text())}
    assert called
    assert called <= AWS_SERVICES


def test_samconfig_overrides_parameters_that_exist() -> None:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text())
    overrides = config["local"]["deploy"]["parameters"]["parameter_overrides"]
    assert {each.partition("=")[0] for each in overrides} <= set(template()["Parameters"])


def test_every_function_is_built_by_a_target_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for function in [*of_type("AWS::Serverless::Function"), *of_type("AWS::Lambda::Function")]:
        assert RESOURCES[function]["Metadata"]["BuildMethod"] == "makefile"
        assert re.search(rf"^[^#\n]*\bbuild-{function}\b.*:", makefile, re.MULTILINE)


@pytest.mark.parametrize("environment", ["default", "dev", "prod"])
def test_each_environment_of_the_deploy_workflow_is_a_stack_with_a_valid_name(environment: str) -> None:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text())
    name = config[environment]["global"]["parameters"]["stack_name"]
    assert re.fullmatch(r"[a-z][a-z0-9-]{0,26}", name)  # the bucket is named after it
    assert config[environment]["deploy"]["parameters"]["capabilities"] == "CAPABILITY_IAM"


# --- sign-in by a company's identity provider -------------------------------------------------------------------------

COMPANY_ATTRIBUTES = {"custom:idp_groups", "custom:idp_tenant"}


@pytest.mark.parametrize("function", ["QueryFunction", "QueryStreamFunction"])
def test_a_gradual_deployment_is_stopped_by_the_errors_of_its_own_function(function: str) -> None:
    watched = [properties(each["Ref"]) for each in properties(function)["DeploymentPreference"]["Alarms"]]
    errors = [each["Dimensions"] for each in watched if each["MetricName"] == "Errors"]
    assert errors == [[{"Name": "FunctionName", "Value": {"Ref": function}}]]


def test_the_errors_of_each_function_raise_an_alarm_where_the_function_is_deployed() -> None:
    functions = {name for name, each in RESOURCES.items() if each["Type"].endswith("::Function")}
    alarms = [each for each in RESOURCES.values() if each["Type"] == "AWS::CloudWatch::Alarm"]
    watched = {
        each["Properties"]["Dimensions"][0]["Value"]["Ref"]: each.get("Condition")
        for each in alarms
        if each["Properties"]["MetricName"] == "Errors"
    }
    assert watched == {name: RESOURCES[name].get("Condition") for name in functions}


def test_functions_that_somebody_or_a_queue_waits_for_raise_an_alarm_when_there_is_no_room_for_them() -> None:
    """Maintenance runs again, OCR is bounded, and sign-in shares the account's room with the authorizer."""
    throttled = {
        each["Properties"]["Dimensions"][0]["Value"]["Ref"]: each.get("Condition")
        for each in RESOURCES.values()
        if each["Type"] == "AWS::CloudWatch::Alarm" and each["Properties"]["MetricName"] == "Throttles"
    }
    watched = ("QueryFunction", "QueryStreamFunction", "AuthorizerFunction", "IngestFunction")
    assert throttled == {name: RESOURCES[name].get("Condition") for name in watched}


def test_each_queue_that_a_function_empties_raises_an_alarm_when_it_is_not_emptied() -> None:
    waiting = {
        each["Properties"]["Dimensions"][0]["Value"]["Fn::GetAtt"][0]: each.get("Condition")
        for each in RESOURCES.values()
        if each["Type"] == "AWS::CloudWatch::Alarm"
        and each["Properties"]["MetricName"] == "ApproximateAgeOfOldestMessage"
    }
    assert waiting == {"ChangeQueue": None, "OcrQueue": "OcrOn"}


def test_without_an_identity_provider_nothing_of_it_is_deployed() -> None:
    names = {name for name, resource in RESOURCES.items() if resource.get("Condition") == "CompanySignsIn"}
    assert names == {
        "CompanyProvider",
        "CompanyClient",
        "IdentityFunction",
        "IdentityRole",
        "IdentityLogGroup",
        "IdentityPermission",
        "IdentityErrorsAlarm",
    }
    assert template()["Conditions"]["CompanySignsIn"] == {
        "Fn::Not": [{"Fn::Equals": [{"Ref": "IdentityProvider"}, "none"]}]
    }
    assert template()["Parameters"]["IdentityProvider"]["Default"] == "none"
    wanted = [{"Condition": "PageServed"}, {"Condition": "CompanySignsIn"}]
    assert template()["Conditions"][RESOURCES["SignInDomain"]["Condition"]] == {"Fn::Or": wanted}


def test_no_user_can_write_what_the_company_says_of_them() -> None:
    """A client that takes a provider's users must be able to write these, so its tokens must not allow users to."""
    company, own = properties("CompanyClient"), properties("UserPoolClient")
    assert set(company["WriteAttributes"]) >= COMPANY_ATTRIBUTES
    assert "aws.cognito.signin.user.admin" not in company["AllowedOAuthScopes"]
    assert company["ExplicitAuthFlows"] == ["ALLOW_REFRESH_TOKEN_AUTH"], "tokens of every other flow have that scope"
    assert company["SupportedIdentityProviders"] == [{"Ref": "IdentityProviderName"}]
    assert not COMPANY_ATTRIBUTES & set(own["WriteAttributes"])
    assert "AllowedOAuthFlows" not in own
    assert "custom:tenant" not in company["WriteAttributes"]


def test_the_page_signs_users_in_with_pkce_only_and_lets_them_change_nothing() -> None:
    page = properties("PageClient")
    assert page["AllowedOAuthFlows"] == ["code"]
    assert page["GenerateSecret"] is False
    assert page["ExplicitAuthFlows"] == ["ALLOW_REFRESH_TOKEN_AUTH"]
    assert "aws.cognito.signin.user.admin" not in page["AllowedOAuthScopes"]
    with_company, without = page["WriteAttributes"]["Fn::If"][1:]
    assert (set(with_company) - {"email"}, without) == (COMPANY_ATTRIBUTES, ["email"])


def test_without_the_page_nothing_of_it_is_deployed() -> None:
    assert template()["Parameters"]["Page"]["Default"] == "false"
    named = {name: each.get("Condition") for name, each in RESOURCES.items() if name.startswith("Page")}
    assert {name for name, condition in named.items() if condition != "PageServed"} == {"PageClient"}
    assert named["PageClient"] == "PageSignsIn"
    assert template()["Parameters"]["PageUrls"]["Default"] == "none"


def test_only_the_pages_distribution_reads_the_pages_bucket() -> None:
    allowed, denied = properties("PageBucketPolicy")["PolicyDocument"]["Statement"]
    assert (allowed["Effect"], allowed["Action"]) == ("Allow", "s3:GetObject")
    assert allowed["Principal"] == {"Service": "cloudfront.amazonaws.com"}
    assert list(allowed["Condition"]["StringEquals"]) == ["AWS:SourceArn"]
    assert "${PageDistribution}" in allowed["Condition"]["StringEquals"]["AWS:SourceArn"]["Fn::Sub"]
    assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert all(properties("PageBucket")["PublicAccessBlockConfiguration"].values())
    (origin,) = properties("PageDistribution")["DistributionConfig"]["Origins"]
    assert origin["OriginAccessControlId"] == {"Fn::GetAtt": ["PageAccess", "Id"]}
    assert properties("PageAccess")["OriginAccessControlConfig"]["SigningBehavior"] == "always"


def test_what_the_provider_sends_is_mapped_to_attributes_that_exist_and_may_change() -> None:
    mapped = properties("CompanyProvider")["AttributeMapping"]
    assert mapped.keys() == {"email", *COMPANY_ATTRIBUTES}
    schema = {f"custom:{each['Name']}": each for each in properties("UserPool")["Schema"]}
    assert all(schema[name]["Mutable"] is True for name in COMPANY_ATTRIBUTES)
    assert mapped["custom:idp_tenant"]["Fn::If"][0] == "TenantHasAttribute"


def test_the_client_secret_of_a_provider_is_never_a_parameter() -> None:
    saml, oidc = properties("CompanyProvider")["ProviderDetails"]["Fn::If"][1:]
    assert saml == {"MetadataURL": {"Ref": "SamlMetadataUrl"}}
    assert oidc["authorize_scopes"] == {"Fn::Join": [" ", {"Fn::Split": [",", {"Ref": "OidcScopes"}]}]}
    assert oidc["client_secret"] == {"Fn::Sub": "{{resolve:secretsmanager:${OidcSecretId}:SecretString}}"}


def test_only_cognito_calls_the_trigger_and_only_for_this_pool() -> None:
    permission = properties("IdentityPermission")
    assert permission["Principal"] == "cognito-idp.amazonaws.com"
    assert permission["SourceArn"] == {"Fn::GetAtt": ["UserPool", "Arn"]}
    trigger = properties("UserPool")["LambdaConfig"]["Fn::If"]
    assert trigger[:2] == ["CompanySignsIn", {"PreTokenGeneration": {"Fn::GetAtt": ["IdentityFunction", "Arn"]}}]
    actions = {action for each in statements("IdentityRole") for action in each["Action"]}
    assert {action.partition(":")[0] for action in actions} == {"logs", "xray"}


@pytest.mark.parametrize(
    ("parameter", "good", "bad"),
    [
        (
            "GroupRoles",
            ["", "Recto-Admins=admin", "*=reader,Domain Users=editor"],
            [
                "Admins",
                "Admins=root",
                "=admin",
                "a=reader,",
                "a=reader, b=admin",
                "a=admin=reader",
                "a=Reader",
                " =admin",
            ],
        ),
        ("GroupTenants", ["", "*=acme", "North=acme,South Wing=b-2_c"], ["acme", "*=-acme", "*=a b", "*=" + "x" * 64]),
        (
            "CallbackUrls",
            ["https://a.example/cb,http://localhost:3000"],
            ["", "http://a.example", "https://a, https://b"],
        ),
        (
            "PageUrls",
            ["https://a.example/", "http://127.0.0.1:8082/,http://localhost:8082/"],
            ["", "https://a.example", "http://a.example/", "http://localhost.evil/", "https://a.example/, https://b/"],
        ),
        ("PageDomain", ["", "ask.example.com"], ["https://ask.example.com", "ask", "ask.example.com/"]),
        ("OidcScopes", ["openid,email,groups"], ["", "openid email"]),
        ("OidcIssuer", ["", "https://login.example.com/7f3c/v2.0"], ["http://a.example", "https://a.example/"]),
        ("IdentityProviderName", ["Company", "Entra-ID"], ["", "ab", "Entra_ID", "1st"]),
    ],
)
def test_a_malformed_sign_in_parameter_is_refused_before_the_deploy(
    parameter: str, good: list[str], bad: list[str]
) -> None:
    declared = template()["Parameters"][parameter]
    assert all(re.fullmatch(declared["AllowedPattern"], text) for text in [declared["Default"], *good])
    assert not [text for text in bad if re.fullmatch(declared["AllowedPattern"], text)]


def test_a_provider_without_what_it_needs_is_refused_before_the_deploy() -> None:
    rules = template()["Rules"]
    needed = {
        assertion["Assert"]["Fn::Not"][0]["Fn::Equals"][0]["Ref"]
        for name in ("SamlProvider", "OidcProvider", "CompanyTables")
        for assertion in rules[name]["Assertions"]
    }
    assert needed == {"SamlMetadataUrl", "OidcIssuer", "OidcClientId", "OidcSecretId", "GroupRoles", "GroupTenants"}


def test_what_the_gateway_says_by_itself_is_also_in_openais_form() -> None:
    for answer in properties("Api")["GatewayResponses"].values():
        said = json.loads(
            answer["ResponseTemplates"]["application/json"].replace("$context.error.messageString", '"x"')
        )
        problem = Problem(
            answer.get("StatusCode", 500 if said["code"] == "gateway_failed" else 400), said["code"], said["detail"]
        )
        assert said["error"] == problem.openai_body()["error"]
