"""A pytest plugin: collects the tests once, then runs those it is asked for in a fork of itself, with a change put in.

Starting Python, importing and collecting take longer than most tests. Requests and answers (`asking`) are lines of JSON
through two pipes; the first answer lists the tests. As a program it has imported only what is installed, and the fork
imports the product (`main`).
"""

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from hypothesis import Phase, settings

from tests.mutants import reach, reach_child
from tests.mutants.asking import NAME, OPTIONS, Answer, Request

settings.register_profile("mutants", settings(), phases=[Phase.explicit, Phase.generate])
settings.load_profile("mutants")  # An example that fails is enough, and searching a smaller one takes minutes.

type Key = tuple[str, int]
"""A function's qualified name and first line: properties and overloads share the name."""


class Server:
    """Answers requests, each in a fork of this process, until there are no more."""

    def __init__(self, run: Callable[[Request], Answer]) -> None:
        self._run = run
        self._child = 0
        signal.signal(signal.SIGTERM, self._end)
        reads, writes = map(int, os.environ[NAME].split(","))
        self.requests, self._answers = os.fdopen(reads), os.fdopen(writes, "w")

    def say(self, what: object) -> None:
        print(json.dumps(what), file=self._answers, flush=True)

    def serve(self) -> None:
        gc.collect()
        gc.freeze()  # A fork's collector then leaves these pages shared.
        for line in self.requests:
            self.say(asdict(self._forked(Request(**json.loads(line)))))

    def _forked(self, request: Request) -> Answer:
        reads, writes = os.pipe()
        child = self._child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.setsid()
            try:
                os.environ.update(request.environment)
                os.write(writes, json.dumps(asdict(self._run(request))).encode())
            finally:
                os._exit(0)
        os.close(writes)
        answered, _, _ = select.select([reads], [], [], request.limit_s)
        told = os.read(reads, 65536) if answered else b""
        os.close(reads)
        self._end_child()
        os.waitpid(child, 0)
        self._child = 0
        if told:
            return Answer(**json.loads(told))
        return Answer(70 if answered else None)

    def _end_child(self) -> None:
        if self._child and os.getpgid(self._child) == self._child:
            os.killpg(self._child, signal.SIGKILL)  # Whatever the tests started goes too.

    def _end(self, *_signal: object) -> None:
        self._end_child()
        os._exit(0)


class Heard:
    """Notes which test failed last."""

    failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid


class Waiting(Heard):
    """Runs what it is asked for in place of pytest's own loop over the tests."""

    def __init__(self) -> None:
        self.items: dict[str, pytest.Item] = {}
        self.functions: defaultdict[str, defaultdict[Key, list[FunctionType]]] = defaultdict(lambda: defaultdict(list))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        for function in gc.get_objects():
            if isinstance(function, FunctionType):
                self.functions[function.__code__.co_filename][_key(function.__code__)].append(function)
        server = Server(self._run)
        server.say([list(self.items), _installed_modules()])
        server.serve()
        return True

    def _run(self, request: Request) -> Answer:
        whole = not request.path or self._put_in(Path(request.path), request.original, request.changed)
        noting = reach.Reach() if reach_child.LINES not in os.environ else None
        if noting:
            self.items[request.names[0]].config.pluginmanager.register(noting)
        else:
            reach_child.watch_lines(os.environ[reach_child.LINES])
        for item, following in pairwise([*(self.items[name] for name in request.names), None]):
            assert item is not None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed and not noting:
                break
        if noting:
            noting.pytest_sessionfinish()
        return Answer(int(bool(self.failed)), self.failed, whole)

    def _put_in(self, path: Path, original: str, changed_text: str) -> bool:
        """Give the functions of a file the code that they have in the changed text; return `Answer.whole`."""
        file = path.resolve()
        now, then = _codes(original, file), _codes(changed_text, file)
        changed = {key for key in now.keys() | then.keys() if _own(now.get(key, [])) != _own(then.get(key, []))}
        put_in = set()
        for key, functions in self.functions[str(file)].items():
            if len(codes := then.get(key, [])) == 1:  # Two lambdas of a line cannot be told apart.
                put_in.add(key)
                for function in functions:
                    function.__code__ = codes[0]
        outermost = {(name.split(".<locals>")[0]) for name, _line in changed}
        return outermost <= {name for name, _line in put_in}


def _installed_modules() -> list[str]:
    """Return what was imported that is neither the product nor its tests, nor a plugin that pytest loads by itself."""
    modules = {name: str(getattr(module, "__file__", "")) for name, module in sys.modules.items()}
    return [name for name, file in modules.items() if "site-packages" in file and "pytest" not in name]


def _afresh(request: Request) -> Answer:
    """Run the tests from the start: the product is imported here."""
    heard = Heard()
    options = ["-W", "ignore::pytest.PytestAssertRewriteWarning", "-p", "tests.mutants.reach", "-x"]
    code = pytest.main([*OPTIONS, *options, *request.names], plugins=[heard])
    return Answer(int(code), heard.failed)


def main() -> None:
    """Import the installed packages that the first line names, then run each request's tests afresh."""
    server = Server(_afresh)
    for name in json.loads(server.requests.readline()):
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    server.serve()


def _key(code: CodeType) -> Key:
    return code.co_qualname, code.co_firstlineno


def _codes(text: str, file: Path) -> dict[Key, list[CodeType]]:
    found: defaultdict[Key, list[CodeType]] = defaultdict(list)

    def enter(code: CodeType) -> None:
        found[_key(code)].append(code)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                enter(constant)

    enter(compile(text, str(file), "exec"))
    return dict(found)


def _own(codes: list[CodeType]) -> list[Any]:
    """Return what a code object does by itself, without the functions that it holds."""
    return [
        (code.co_code, code.co_names, [repr(each) for each in code.co_consts if not isinstance(each, CodeType)])
        for code in codes
    ]


def pytest_configure(config: pytest.Config) -> None:
    subprocess.Popen = reach.SeenProcess  # type: ignore[misc]
    config.pluginmanager.register(Waiting())


if __name__ == "__main__":
    main()
