"""Who may read a document: its own rule, and the rule of its folder. Both must admit the reader.

Standard library only, as `shared.models`, which imports it.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, unquote

EVERYBODY = "*"
"""Among a rule's groups: all users of the tenant."""
ADMIN = "admin"
"""The role that no rule binds: whoever may write the rules could remove any of them."""
MAX_NAMES = 50
"""Groups, and users, of one rule: with them a document's item stays under DynamoDB's 400 KB."""
MAX_NAME = 128
"""Characters of a group's name (Cognito's limit) or a user's id."""
MAX_FOLDERS = 1_000
MAX_BYTES = 200_000
"""Bytes of a tenant's folder rules: they are kept in one item of DynamoDB, packed."""
RULES_FOLDER = "access/"
"""Where the tenants' folder rules are: one object for each tenant that has any."""
FOLDERS_OF = ("uploads", "faq", "resolved", "knowledge")
"""First parts of the keys that documents have."""
MAX_METADATA_BYTES = 1_900
"""S3 allows 2 KB for names and values of user metadata (docs.aws.amazon.com/AmazonS3, "Working with object metadata",
2026-11-23); this leaves a little of it for other metadata."""
GROUPS_METADATA, USERS_METADATA = "allowed-groups", "allowed-users"
"""User metadata of an object (`x-amz-meta-…`): names separated by commas, percent-encoded where they need it."""

_NAME = re.compile(rf"[^\x00-\x20\x7f](?:[^\x00-\x1f\x7f]{{0,{MAX_NAME - 2}}}[^\x00-\x20\x7f])?")


class AccessReader(Protocol):
    """Who reads: a `Principal`."""

    @property
    def user(self) -> str:
        """The user's id."""

    @property
    def groups(self) -> frozenset[str]:
        """The user's groups, roles among them."""


class AccessRule(NamedTuple):
    """Who may read: members of any of the groups, and the users. With neither, only administrators."""

    groups: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()

    def admits(self, reader: AccessReader) -> bool:
        """Say whether the rule itself names the reader."""
        return EVERYBODY in self.groups or reader.user in self.users or not self.groups.isdisjoint(reader.groups)


Rules = tuple[AccessRule, ...]
"""The rules of one document: its own and its folder's, as far as there are any."""
NOBODY = AccessRule()


def may_read(reader: AccessReader, rules: Sequence[AccessRule]) -> bool:
    """Say whether the reader may read a document with these rules. Without rules everybody of its tenant may."""
    return not rules or ADMIN in reader.groups or all(rule.admits(reader) for rule in rules)


def rule_of_metadata(metadata: Mapping[str, str]) -> AccessRule | None:
    """Return the rule that an object's user metadata state, None if they state none.

    One that cannot be read is `NOBODY`: whoever wrote it wanted to close the document.
    """
    stated = [metadata.get(name) for name in (GROUPS_METADATA, USERS_METADATA)]
    if stated == [None, None]:
        return None
    groups, users = (_names_in(text or "") for text in stated)
    named = [*groups, *users]
    if len(groups) > MAX_NAMES or len(users) > MAX_NAMES or not all(map(is_name, named)):
        return NOBODY
    return AccessRule(frozenset(groups), frozenset(users))


def metadata_of(rule: AccessRule) -> Mapping[str, str]:
    """Return the user metadata that state a rule. For nobody it is a lone comma: an empty header may be lost."""
    stated = ((GROUPS_METADATA, rule.groups), (USERS_METADATA, rule.users))
    told = {name: ",".join(quote(each, safe="*") for each in sorted(names)) for name, names in stated if names}
    return told or {GROUPS_METADATA: ","}


def _names_in(text: str) -> list[str]:
    return [unquote(name).strip() for name in text.split(",") if name.strip()]


def is_name(name: str) -> bool:
    """Say whether this can be the name of a group or the id of a user."""
    return _NAME.fullmatch(name) is not None


# --- folder rules ---


class AccessRulesInvalid(ValueError):
    """The folder rules are not in the expected form; `errors` name each place and what is wrong there."""

    def __init__(self, errors: Sequence[str]) -> None:
        super().__init__("; ".join(errors))
        self.errors = errors


@dataclass(frozen=True, slots=True)
class FolderRules:
    """A tenant's folders with a rule: prefix of keys (ends with `/`) → rule. Of several the longest prefix decides."""

    folders: Mapping[str, AccessRule] = field(default_factory=dict)

    def folder_of(self, key: str) -> str:
        """Return the longest prefix of a key that has a rule; empty if none has."""
        end = key.rfind("/") if self.folders else -1
        while end >= 0:
            if key[: end + 1] in self.folders:
                return key[: end + 1]
            end = key.rfind("/", 0, end)
        return ""

    def rules_for(self, key: str, own: AccessRule | None = None) -> Rules:
        """Return the rules of the document with this key and this rule of its own."""
        folder = self.folder_of(key)
        return tuple(rule for rule in (own, self.folders[folder] if folder else None) if rule is not None)


NO_FOLDERS = FolderRules()


def rules_key(tenant: str) -> str:
    """Return the key of the object that holds a tenant's folder rules."""
    return f"{RULES_FOLDER}{tenant}.json"


def tenant_of_rules_key(key: str) -> str:
    """Return the tenant whose folder rules have this key; empty for any other key."""
    found = re.fullmatch(r"access/([^/~]+)\.json", key)
    return found[1] if found else ""


def parse_folder_rules(body: bytes, tenant: str = "") -> FolderRules:
    """Read `{"folders": [{"prefix": "uploads/acme/hr/", "allowed_groups": ["hr"], "allowed_users": []}]}`.

    With a tenant, prefixes must be of its documents. Raises `AccessRulesInvalid` with every error.
    """
    if len(body) > MAX_BYTES:
        raise AccessRulesInvalid([f"the file has {len(body):,} bytes; at most {MAX_BYTES:,} are accepted"])
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise AccessRulesInvalid([f"this is not JSON: {error}"]) from error
    if not isinstance(value, dict) or not isinstance(value.get("folders"), list):
        raise AccessRulesInvalid(['an object with a list "folders" is expected'])
    errors = [f"{name}: this field is not known" for name in value if name != "folders"]
    folders: dict[str, AccessRule] = {}
    for at, entry in enumerate(value["folders"]):
        where = f"folders[{at}]"
        wrong = list(_errors_of(entry, where, tenant))
        if not wrong and entry["prefix"] in folders:
            wrong = [f"{where}.prefix: an earlier entry has it already"]
        errors += wrong
        if not wrong:
            folders[entry["prefix"]] = AccessRule(*(frozenset(entry.get(name, ())) for name in _LISTS))
    if len(folders) > MAX_FOLDERS:
        errors.append(f"folders: {len(folders):,} entries; at most {MAX_FOLDERS:,} are accepted")
    if errors:
        raise AccessRulesInvalid(errors)
    return FolderRules(folders)


_LISTS = ("allowed_groups", "allowed_users")


def _errors_of(entry: Any, where: str, tenant: str) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield f"{where}: an object is expected"
        return
    yield from (f"{where}.{name}: this field is not known" for name in entry if name not in ("prefix", *_LISTS))
    prefix = entry.get("prefix")
    parts = prefix.split("/") if isinstance(prefix, str) else []
    if len(parts) < 3 or parts[0] not in FOLDERS_OF or (tenant and parts[1] != tenant):
        of = tenant or "TENANT"
        yield f"{where}.prefix: a folder of {of}'s documents is expected, such as uploads/{of}/hr/"
    elif parts[-1] or "" in parts[:-1]:
        yield f"{where}.prefix: a folder ends with one slash: {'/'.join(filter(None, parts))}/"
    if not entry.keys() & set(_LISTS):
        yield f'{where}: who may read it? Name allowed_groups or allowed_users; ["*"] is everybody, [] only admins'
    for name in _LISTS:
        names = entry.get(name, [])
        if not isinstance(names, list) or not all(isinstance(each, str) and is_name(each) for each in names):
            yield f"{where}.{name}: a list of names of 1 to {MAX_NAME} characters is expected"
        elif len(names) > MAX_NAMES:
            yield f"{where}.{name}: {len(names)} names; at most {MAX_NAMES} are accepted"


def folder_rules_json(rules: FolderRules) -> bytes:
    """Return folder rules as they are stored."""
    folders = [
        {"prefix": prefix, "allowed_groups": sorted(rule.groups), "allowed_users": sorted(rule.users)}
        for prefix, rule in sorted(rules.folders.items())
    ]
    return json.dumps({"folders": folders}, ensure_ascii=False, indent=1).encode()


def kinds_of(rules: Sequence[AccessRule]) -> Set[str]:
    """Return on what these rules depend in a reader: "groups" and, if they name users, "users"."""
    return {"groups", *(["users"] if any(rule.users for rule in rules) else [])} if rules else set()
