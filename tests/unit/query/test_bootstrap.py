"""Module state: what is made at import survives a snapshot of the container."""

import os
import subprocess
import sys

STATE_AFTER_IMPORT = """
import gc, threading, psutil
from functions.query import app, bootstrap, streaming_app
built = [bootstrap.services.cache_info().currsize, len(bootstrap._building)]
collector = gc.isenabled(), gc.get_freeze_count() > 50_000
print(len(threading.enumerate()), len(psutil.Process().net_connections("inet")), *built, *collector)
"""


def test_importing_the_function_starts_no_thread_opens_no_connection_and_builds_no_client() -> None:
    outside_lambda = {name: value for name, value in os.environ.items() if name != "AWS_LAMBDA_RUNTIME_API"}
    done = subprocess.run(
        [sys.executable, "-c", STATE_AFTER_IMPORT], capture_output=True, text=True, check=True, env=outside_lambda
    )
    assert done.stdout.split() == ["1", "0", "0", "0", "True", "True"]
