"""The deployed laptop stack, brought up once for the whole suite on free ports and in a folder of its own.

The AWS emulator enforces the functions' roles, so a right that is missing in the template fails a test.

`RECTO_E2E_STATE=.recto` runs the suite against the stack that is already up there instead (its documents stay).
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local.client import ApiClient
from local.stack import users
from local.stack.laptop import Laptop
from tests.support.local_stack import handle_of, mark_tests_of_stack, running_stack, upload_samples
from tests.support.log_scan import Private, listening
from tests.support.sample_pdfs import SampleText, make_pdf

LAST = ("test_e2e_within_the_roles.py", "test_e2e_logs.py")
"""They judge the calls and the logs of all the others, in this order."""
LIMITED_TENANT, LIMITED_QUESTIONS = "limited", 5
"""A tenant with a limit, so that the others have none."""
COMPANY = {
    "IdentityProvider": "SAML",
    "SamlMetadataUrl": "https://idp.example.com/metadata",
    "GroupRoles": "Recto-Editors=editor,Everyone=reader",
    "GroupTenants": "*=demo,Subsidiary=other",
}
"""What the stack is told of a company that signs its users in: test_e2e_sign_in.py."""


@pytest.hookimpl(trylast=True)  # no other plugin may sort after it
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here is `e2e`; what judges the others comes last."""
    mark_tests_of_stack(items, Path(__file__).parent)
    items.sort(key=lambda item: LAST.index(item.path.name) if item.path.name in LAST else -1)


@pytest.fixture(scope="session", autouse=True)
def private() -> Iterator[Private]:
    """What this process asks the stack, and the tokens it uses."""
    heard = Private()
    with listening(heard):
        yield heard


@pytest.fixture(scope="session")
def state() -> Iterator[Path]:
    """The state folder of a stack that is up."""
    limits = json.dumps({LIMITED_TENANT: {"tenant_questions_per_day": LIMITED_QUESTIONS}})
    told = {"LimitOverrides": limits, "HandoffEmail": "help@example.com", **COMPANY}
    parameters = [f"--parameter={name}={value}" for name, value in told.items()]
    with running_stack("e2e", "--enforce-roles", *parameters) as folder:
        yield folder


@pytest.fixture(scope="session")
def laptop(state: Path) -> Laptop:
    """The stack's handle: tokens, AWS clients."""
    return handle_of(state)


@pytest.fixture
def api(laptop: Laptop) -> Iterator[ApiClient]:
    """A client of the demo tenant's editor."""
    with laptop.client(users.DEMO) as client:
        yield client


@pytest.fixture
def other_api(laptop: Laptop) -> Iterator[ApiClient]:
    """A client of another tenant's editor."""
    with laptop.client(users.OTHER) as client:
        yield client


@pytest.fixture(scope="session")
def samples(laptop: Laptop) -> dict[str, str]:
    """The sample PDFs, uploaded and final: file name to document id."""
    with laptop.client(users.DEMO) as client:
        return upload_samples(client)


@pytest.fixture
def pdf_about() -> Callable[..., bytes]:
    """Make a small PDF: a title and paragraphs, each chapter (`# …`) on a page of its own."""

    def make(title: str, *lines: str) -> bytes:
        return make_pdf(SampleText({"title": title, "subtitle": "A test", "edition": "First edition"}, list(lines)))

    return make
