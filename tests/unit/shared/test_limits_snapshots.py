"""The named limits, waits and weights of what all functions share, with what each is for; the settings.

As in `tests/unit/query/test_limits_snapshots.py`: `make snapshots` stores what comes out now.
"""

from pathlib import Path

import shared
import shared.abbreviations
import shared.access
import shared.adapters.aws
import shared.adapters.cache
import shared.adapters.conversations
import shared.adapters.cross_encoder
import shared.adapters.document_fence
import shared.adapters.document_registry
import shared.adapters.erasures
import shared.adapters.feedback
import shared.adapters.folder_rules
import shared.adapters.handoffs
import shared.adapters.index_versions
import shared.adapters.openai
import shared.adapters.openai_figures
import shared.adapters.openai_server
import shared.adapters.pinecone
import shared.adapters.provider_health
import shared.adapters.read_pages
import shared.adapters.retry
import shared.adapters.s3
import shared.adapters.secrets
import shared.adapters.sqs
import shared.adapters.traces
import shared.adapters.unanswered
import shared.adapters.usage
import shared.dates
import shared.deadline
import shared.erasures
import shared.errors
import shared.identity
import shared.language
import shared.lexical
import shared.models
import shared.ports
import shared.prices
import shared.reasoning
import shared.receipts
import shared.rects
import shared.settings
import shared.text
from shared.settings import Settings
from tests.support.limits import named_defaults, named_limits, schema_told
from tests.support.snapshots import check

HERE = Path(__file__).parent / "snapshots"


def test_the_named_limits_are_as_stored() -> None:
    check(HERE / "limits.txt", named_limits(shared, Path(__file__)))


def test_the_defaults_of_parameters_and_fields_are_as_stored() -> None:
    check(HERE / "defaults.txt", named_defaults(shared, Path(__file__)))


def test_the_settings_are_as_stored() -> None:
    """Names, types, defaults and bounds; the template and its page say the same of those that are parameters."""
    fields = Settings.model_json_schema()["properties"]
    check(HERE / "settings.txt", "\n".join(f"{name}: {schema_told(field)}" for name, field in fields.items()))
