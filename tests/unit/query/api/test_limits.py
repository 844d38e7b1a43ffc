"""The limits and defaults of what the API takes, as its description tells clients: each of them is a promise."""

from collections.abc import Iterator
from typing import Any

from functions.query.app import create_app
from shared.settings import Settings

TOLD = (
    *("minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "maxProperties"),
    "default",
)
LIMITS = """
GET /conversations limit: minimum 1, maximum 200, default 50
GET /conversations cursor: maxLength 1024, default ''
GET /conversations q: maxLength 200, default ''
GET /conversations/{conversation_id} limit: minimum 1, maximum 200, default 50
GET /conversations/{conversation_id} cursor: maxLength 1024, default ''
GET /conversations/{conversation_id}/export format: default 'markdown'
GET /conversations/{conversation_id}/export cursor: maxLength 1024, default ''
GET /feedback limit: minimum 1, maximum 50, default 20
GET /feedback cursor: maxLength 1024, default ''
GET /documents limit: minimum 1, maximum 200, default 50
GET /documents author: maxLength 200, default ''
GET /documents cursor: maxLength 1024, default ''
GET /documents q: maxLength 200, default ''
GET /documents organisation: maxLength 200, default ''
GET /documents kind: maxLength 200, default ''
GET /documents period: maxLength 200, default ''
GET /documents product: maxLength 200, default ''
GET /documents language: maxLength 20, default ''
DELETE /documents/{document_id} verify: default False
GET /documents/{document_id}/content version_id: default ''
GET /documents/{document_id}/pages/{number} number: minimum 1, maximum 1000000
GET /faqs limit: minimum 1, maximum 100, default 50
GET /faqs cursor: default ''
GET /faqs/export cursor: default ''
PUT /faqs/{faq_id} If-Match: default ''
DELETE /faqs/{faq_id} If-Match: default ''
GET /handoffs limit: minimum 1, maximum 200, default 50
GET /handoffs cursor: default ''
GET /insights/unanswered limit: minimum 1, maximum 100, default 20
GET /keys limit: minimum 1, maximum 100, default 50
GET /keys cursor: maxLength 1024, default ''
PUT /access If-Match: default ''
GET /admin/usage by: default 'day'
GET /admin/usage format: default 'json'
AccessIn.allowed_groups: maxItems 50
AccessIn.allowed_groups[]: minLength 1, maxLength 128
AccessIn.allowed_users: maxItems 50
AccessIn.allowed_users[]: minLength 1, maxLength 128
BulkUploadBody.filenames: minItems 1, maxItems 100
BulkUploadBody.filenames[]: maxLength 512
ChatCompletionBody.messages: minItems 1
FaqBody.question: minLength 1, maxLength 1000
FaqBody.answer: minLength 1, maxLength 8000
FaqBody.language: maxLength 35
FaqBody.department_id: maxLength 200
FaqBody.tags: maxProperties 20
FaqBody.tags[]: maxLength 200
FaqBody.tags[][]: maxLength 200
FeedbackBody.comment: maxLength 2000
FilterConditionIn.$in: minLength 1, maxLength 10000
FilterConditionIn.$nin: minLength 1, maxLength 10000
FilterIn.$and: minItems 1
FilterIn.$or: minItems 1
FolderRuleIn.allowed_groups: maxItems 50
FolderRuleIn.allowed_groups[]: minLength 1, maxLength 128
FolderRuleIn.allowed_users: maxItems 50
FolderRuleIn.allowed_users[]: minLength 1, maxLength 128
FolderRuleIn.prefix: minLength 5, maxLength 1024
FolderRulesBody.folders: maxItems 1000
HandoffBody.reason: maxLength 1000
HandoffBody.contact: maxLength 200
KeyBody.name: minLength 1, maxLength 100
KeyBody.groups: maxItems 50
KeyBody.groups[]: minLength 1, maxLength 128
LabelsIn.author: maxItems 10
LabelsIn.author[]: minLength 1, maxLength 200
LabelsIn.chapter: maxLength 200
LabelsIn.phase: maxLength 200
LabelsIn.goal: maxLength 200
LabelsIn.type: maxLength 200
LabelsIn.department_id: maxLength 200
LabelsIn.tags: maxItems 20
LabelsIn.tags[]: minLength 1, maxLength 200
LabelsIn.organisation: maxItems 10
LabelsIn.organisation[]: minLength 1, maxLength 200
LabelsIn.kind: maxLength 200
LabelsIn.period: maxItems 10
LabelsIn.period[]: minLength 1, maxLength 200
LabelsIn.date: maxLength 200
LabelsIn.version: maxLength 200
LabelsIn.product: maxLength 200
MessageBody.question: minLength 1
MessageBody.top_k: minimum 1.0, maximum 50.0
MessageBody.language: maxLength 35
NewFaqBody.question: minLength 1, maxLength 1000
NewFaqBody.answer: minLength 1, maxLength 8000
NewFaqBody.language: maxLength 35
NewFaqBody.department_id: maxLength 200
NewFaqBody.tags: maxProperties 20
NewFaqBody.tags[]: maxLength 200
NewFaqBody.tags[][]: maxLength 200
NewFaqBody.answers: maxItems 500
PassageBody.text: minLength 1, maxLength 4000
PassageBody.note: maxLength 1000
PreferencesIn.tone: maxLength 200
PreferencesIn.style: maxLength 200
PreferencesIn.twist: maxLength 200
PreferencesIn.language: maxLength 200
PublishBody.question: minLength 1, maxLength 1000
PublishBody.answer: minLength 1, maxLength 8000
PublishBody.language: maxLength 35
QueryBody.question: minLength 1
QueryBody.top_k: minimum 1.0, maximum 50.0
QueryBody.language: maxLength 35
RectoIn.top_k: minimum 1.0, maximum 50.0
RectoIn.language: maxLength 35
RenameBody.title: minLength 1, maxLength 200
ResolveBody.answer: minLength 1, maxLength 8000
ResponseBody.input: minLength 1
ResponseBody.input: minItems 1
SearchBody.question: minLength 1
SearchBody.top_k: minimum 1.0, maximum 50.0
SearchBody.limit: minimum 1.0, maximum 100.0
SearchBody.language: maxLength 35
UploadBody.filename: minLength 5, maxLength 512
"""


def limits(name: str, schema: dict[str, Any]) -> Iterator[str]:
    """Yield the limits of a value, and of what it holds, a line each."""
    if told := [f"{each} {schema[each]!r}" for each in TOLD if each in schema]:
        yield f"{name}: {', '.join(told)}"
    for field, inner in schema.get("properties", {}).items():
        yield from limits(f"{name}.{field}", inner)
    for inner in (schema.get("items"), schema.get("additionalProperties")):
        yield from limits(f"{name}[]", inner) if isinstance(inner, dict) else ()
    for inner in schema.get("anyOf", []):
        yield from limits(name, inner)


def test_the_limits_that_clients_are_told_stay() -> None:
    document = create_app(Settings()).openapi()
    told = [
        line
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        for given in operation.get("parameters", ())
        for line in limits(f"{method.upper()} {path} {given['name']}", given["schema"])
    ]
    told += [line for name, schema in document["components"]["schemas"].items() for line in limits(name, schema)]
    assert sorted(told) == sorted(LIMITS.strip().splitlines())
