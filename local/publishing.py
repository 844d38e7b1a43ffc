"""`make deploy`, at its end: uploads the page to the stack's bucket, from which CloudFront serves it.

Files with a hash in their name are uploaded first and `index.html` last, so that no visitor gets a page whose files are
not there yet. Files of earlier builds stay for a while, because an open page loads its views when they are opened.
Browsers ask for everything else again at each visit (`no-cache`), so nothing has to be invalidated.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from local.environments import AwsAccount, Environment, find_stack
from local.page import BUILT, CONFIG, HASHED, INDEX, config, how_long_kept, media_type
from local.report import Reporter, counted
from local.stack.config import LocalStackError

KEPT = timedelta(days=7)
"""How long files of earlier builds stay."""


def publish(environment: Environment, account: AwsAccount, report: Reporter, *, built: Path = BUILT) -> int:
    """Upload the page and its `config.json`. Raises `LocalStackError` when there is no stack, or no page to upload."""
    stack = find_stack(account, environment.stack)
    if stack is None:
        raise LocalStackError(f"There is no stack {environment.stack} in {account.region}: make deploy.")
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])}
    if "PageBucketName" not in outputs:
        report.say("The stack serves no page (Page=false).")
        return 0
    if not (built / INDEX).exists():
        raise LocalStackError("The page is not built: run `make web`, then this again.")
    s3, bucket = account.client("s3"), outputs["PageBucketName"]
    uploaded = set()
    for file in _in_order(built):
        name = file.relative_to(built)
        _put(s3, bucket, name.as_posix(), file.read_bytes(), how_long_kept(name), media_type(name))
        uploaded.add(name.as_posix())
    parameters = {each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", [])}
    told = json.dumps(config_on_aws(outputs, parameters)).encode()
    _put(s3, bucket, CONFIG.lstrip("/"), told, how_long_kept(Path(CONFIG)), "application/json")
    _put(s3, bucket, INDEX, (built / INDEX).read_bytes(), how_long_kept(Path(INDEX)), media_type(Path(INDEX)))
    removed = _remove_former(s3, bucket, uploaded)
    old = f"; {removed} of earlier builds removed" if removed else ""
    report.say(f"The page is uploaded ({counted(len(uploaded) + 2, 'file')}{old}): {outputs['PageUrl']}")
    return 0


def config_on_aws(outputs: Mapping[str, str], parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return the `config.json` of a deployed stack, of its outputs and parameters."""
    pages = outputs["PageSignInUrl"]
    addresses = {
        "authorize_url": f"{pages}/oauth2/authorize",
        "token_url": f"{pages}/oauth2/token",
        "logout_url": f"{pages}/logout",
        "revoke_url": f"{pages}/oauth2/revoke",
    }
    told = config(outputs["ApiUrl"], addresses, outputs["PageClientId"], outputs["PageUrl"])
    most = parameters.get("MaxQuestionCharacters")
    return told | ({"max_question_characters": int(most)} if most else {})


def _in_order(built: Path) -> Iterator[Path]:
    """Yield all files except `index.html`, those with a hash in their name first."""
    files = sorted(file for file in built.rglob("*") if file.is_file() and file != built / INDEX)
    yield from sorted(files, key=lambda file: file.parent.name != HASHED)


def _put(s3: Any, bucket: str, key: str, body: bytes, kept: str, kind: str) -> None:
    s3.put_object(Bucket=bucket, Key=key, Body=body, CacheControl=kept, ContentType=kind)


def _remove_former(s3: Any, bucket: str, uploaded: set[str]) -> int:
    """Delete files of earlier builds that are no longer loaded; return how many."""
    before = datetime.now(UTC) - KEPT
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{HASHED}/")
    listed = [each for page in pages for each in page.get("Contents", [])]
    former = [each["Key"] for each in listed if each["Key"] not in uploaded and each["LastModified"] < before]
    for key in former:
        s3.delete_object(Bucket=bucket, Key=key)
    return len(former)
