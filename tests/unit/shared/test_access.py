"""Rules of access: whom they admit, which folder's holds, what files and metadata may say."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.access import (
    MAX_FOLDERS,
    MAX_NAME,
    MAX_NAMES,
    NOBODY,
    AccessRule,
    AccessRulesInvalid,
    FolderRules,
    folder_rules_json,
    kinds_of,
    may_read,
    metadata_of,
    parse_folder_rules,
    rule_of_metadata,
    rules_key,
    tenant_of_rules_key,
)
from shared.models import Principal

HR = AccessRule(frozenset({"hr"}))
EVERYBODY = AccessRule(frozenset({"*"}))
ANN = AccessRule(frozenset(), frozenset({"ann"}))


def who(*groups: str, user: str = "bob") -> Principal:
    return Principal("acme", user, frozenset(groups))


@pytest.mark.parametrize(
    ("reader", "rules", "may"),
    [
        (who(), (), True),
        (who("hr"), (HR,), True),
        (who("sales"), (HR,), False),
        (who("editor"), (HR,), False),
        (who("agent"), (NOBODY,), False),
        (who("admin"), (NOBODY, HR), True),
        (who(), (EVERYBODY,), True),
        (who(user="ann"), (ANN,), True),
        (who("ann"), (ANN,), False),
        (who("hr"), (HR, ANN), False),
        (who("hr", user="ann"), (HR, ANN), True),
        (who("hr"), (HR, EVERYBODY), True),
    ],
)
def test_every_rule_must_admit_the_reader_and_none_binds_an_administrator(
    reader: Principal, rules: tuple[AccessRule, ...], may: bool
) -> None:
    assert may_read(reader, rules) is may


def test_the_longest_folder_decides_and_a_document_can_only_narrow_it() -> None:
    rules = FolderRules({"uploads/acme/hr/": HR, "uploads/acme/hr/handbook/": EVERYBODY})
    assert rules.rules_for("uploads/acme/hr/pay.pdf") == (HR,)
    assert rules.rules_for("uploads/acme/hr/old/pay.pdf") == (HR,)
    assert rules.rules_for("uploads/acme/hr/handbook/leave.pdf") == (EVERYBODY,)
    assert rules.rules_for("uploads/acme/hr.pdf") == rules.rules_for("uploads/acme/hrx/a.pdf") == ()
    assert rules.rules_for("uploads/acme/hr/pay.pdf", EVERYBODY) == (EVERYBODY, HR)


keys = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=6).map("/".join)
prefixes = keys.map(lambda key: f"{key}/")


@given(st.dictionaries(prefixes, st.just(HR), max_size=6), keys)
def test_the_folder_of_a_key_is_its_longest_prefix_with_a_rule(folders: dict[str, AccessRule], key: str) -> None:
    expected = max((prefix for prefix in folders if key.startswith(prefix)), key=len, default="")
    assert FolderRules(folders).folder_of(key) == expected


names = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20).filter(
    lambda name: name == name.strip()
)
rules = st.builds(AccessRule, st.frozensets(names, max_size=5), st.frozensets(names, max_size=5))


@given(rules)
def test_metadata_state_any_rule_in_plain_ascii(rule: AccessRule) -> None:
    stated = metadata_of(rule)
    assert all(value.isascii() and value.isprintable() and value for value in stated.values())
    assert rule_of_metadata(stated) == rule


@pytest.mark.parametrize(
    ("metadata", "rule"),
    [
        ({}, None),
        ({"title": "x"}, None),
        ({"allowed-groups": "hr, sales"}, AccessRule(frozenset({"hr", "sales"}))),
        ({"allowed-users": "k%C3%BCche"}, AccessRule(frozenset(), frozenset({"küche"}))),
        ({"allowed-groups": ""}, NOBODY),
        ({"allowed-groups": "x" * 200}, NOBODY),
        ({"allowed-groups": ",".join(map(str, range(MAX_NAMES + 1)))}, NOBODY),
        ({"allowed-groups": "hr", "allowed-users": "a%00b"}, NOBODY),
    ],
)
def test_metadata_that_cannot_be_read_close_the_document(metadata: dict[str, str], rule: AccessRule | None) -> None:
    assert rule_of_metadata(metadata) == rule


def folder(prefix: object = "uploads/acme/hr/", **more: Any) -> dict[str, Any]:
    return {"prefix": prefix, "allowed_groups": ["hr"], **more}


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ([], ['an object with a list "folders" is expected']),
        ({"folders": {}}, ['an object with a list "folders" is expected']),
        ({"folders": [], "x": 1}, ["x: this field is not known"]),
        ({"folders": [3]}, ["folders[0]: an object is expected"]),
        ({"folders": [folder("hr/")]}, ["folders[0].prefix: a folder of"]),
        ({"folders": [folder("uploads/other/hr/")]}, ["folders[0].prefix: a folder of"]),
        ({"folders": [folder("uploads/acme/hr")]}, ["folders[0].prefix: a folder ends with one slash"]),
        ({"folders": [folder("uploads/acme//hr/")]}, ["folders[0].prefix: a folder ends with one slash"]),
        ({"folders": [{"prefix": "uploads/acme/hr/"}]}, ["folders[0]: who may read it?"]),
        ({"folders": [folder(allowed_groups="hr")]}, ["folders[0].allowed_groups: a list of names"]),
        ({"folders": [folder(allowed_users=[" a"])]}, ["folders[0].allowed_users: a list of names"]),
        ({"folders": [folder(allowed_users=["a"] * 51)]}, ["folders[0].allowed_users: 51 names"]),
        ({"folders": [folder(), folder()]}, ["folders[1].prefix: an earlier entry has it already"]),
        (
            {"folders": [folder("x"), folder(users=[])]},
            ["folders[0].prefix: a folder of", "folders[1].users: this field is not known"],
        ),
    ],
)
def test_wrong_folder_rules_are_told_place_by_place(value: object, places: list[str]) -> None:
    with pytest.raises(AccessRulesInvalid) as wrong:
        parse_folder_rules(json.dumps(value).encode(), "acme")
    assert len(wrong.value.errors) == len(places)
    assert all(error.startswith(place) for error, place in zip(wrong.value.errors, places, strict=True))


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b"[1]", b'{"folders": []}' + b" " * 300_000])
def test_a_body_that_is_no_rules_is_refused(body: bytes) -> None:
    with pytest.raises(AccessRulesInvalid):
        parse_folder_rules(body)


def test_too_many_folders_are_refused() -> None:
    folders = [folder(f"faq/acme/{number}/") for number in range(MAX_FOLDERS + 1)]
    with pytest.raises(AccessRulesInvalid, match="at most 1,000"):
        parse_folder_rules(json.dumps({"folders": folders}).encode(), "acme")


def test_folder_rules_are_read_as_they_were_written() -> None:
    rules = FolderRules({"uploads/acme/hr/": HR, "faq/acme/": AccessRule(frozenset(), frozenset({"ann"}))})
    assert parse_folder_rules(folder_rules_json(rules), "acme") == rules


@pytest.mark.parametrize(
    ("key", "tenant"),
    [("access/acme.json", "acme"), ("access/a/b.json", ""), ("access/a~2.json", ""), ("uploads/acme/a.json", "")],
)
def test_only_a_tenants_own_object_holds_its_rules(key: str, tenant: str) -> None:
    assert tenant_of_rules_key(key) == tenant


@pytest.mark.parametrize(
    ("metadata", "rule"),
    [
        ({"allowed-groups": ",".join(f"g{n}" for n in range(MAX_NAMES))}, None),
        ({"allowed-groups": ",".join(f"g{n}" for n in range(MAX_NAMES + 1))}, NOBODY),
        ({"allowed-users": ",".join(f"u{n}" for n in range(MAX_NAMES))}, None),
        ({"allowed-users": ",".join(f"u{n}" for n in range(MAX_NAMES + 1))}, NOBODY),
    ],
)
def test_a_rule_in_metadata_names_so_many_at_most(metadata: dict[str, str], rule: AccessRule | None) -> None:
    read = rule_of_metadata(metadata)
    assert read is not None
    assert read == rule if rule else len(read.groups | read.users) == MAX_NAMES


def test_a_rule_in_a_folder_names_so_many_at_most_each_of_some_length() -> None:
    def errors(names: list[object]) -> Sequence[str]:
        body = json.dumps({"folders": [{"prefix": "uploads/acme/", "allowed_users": names}]}).encode()
        try:
            parse_folder_rules(body, "acme")
        except AccessRulesInvalid as invalid:
            return invalid.errors
        return []

    assert errors(["x" * MAX_NAME, *map(str, range(MAX_NAMES - 1))]) == []
    assert errors([*map(str, range(MAX_NAMES + 1))]) == [
        f"folders[0].allowed_users: {MAX_NAMES + 1} names; at most {MAX_NAMES} are accepted"
    ]
    for name in ("x" * (MAX_NAME + 1), "", 7):
        assert errors([name])[0].startswith("folders[0].allowed_users: a list of names of 1 to")


@pytest.mark.parametrize(
    ("prefix", "tenant", "is_right"),
    [
        ("uploads/acme/", "acme", True),
        ("faq/acme/deep/er/", "acme", True),
        ("uploads/acme/", "", True),
        ("uploads/other/", "acme", False),
        ("other/acme/", "acme", False),
        ("uploads/", "acme", False),
        ("uploads/acme", "acme", False),
        ("uploads/acme//", "acme", False),
        ("uploads/acme/hr", "acme", False),
        (7, "acme", False),
    ],
)
def test_a_folders_prefix_is_one_of_the_tenants_and_ends_with_a_slash(
    prefix: object, tenant: str, is_right: bool
) -> None:
    body = json.dumps({"folders": [{"prefix": prefix, "allowed_groups": []}]}).encode()
    if is_right:
        assert list(parse_folder_rules(body, tenant).folders) == [prefix]
    else:
        with pytest.raises(AccessRulesInvalid, match=r"folders\[0\]\.prefix"):
            parse_folder_rules(body, tenant)


def test_what_rules_depend_on_in_a_reader() -> None:
    hr, ann = AccessRule(frozenset({"hr"})), AccessRule(frozenset(), frozenset({"ann"}))
    assert [kinds_of(rules) for rules in ((), (hr,), (hr, ann), (ann,))] == [
        set(),
        {"groups"},
        {"groups", "users"},
        {"groups", "users"},
    ]
    assert rules_key("acme") == "access/acme.json"
    assert tenant_of_rules_key(rules_key("acme")) == "acme"
