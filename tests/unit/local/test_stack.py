"""The laptop stack's supervision: ports, processes, what has to be built again, what the demo calls wrong."""

import io
import os
import shlex
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx
import psutil
import pytest
from rich.console import Console

from local import report
from local.cli import main
from local.cli_demo import SampleQuestion, fault_of
from local.cli_stack import how_to_use, what_is_set, who_writes
from local.cli_upload import files_of, left_out_of
from local.report import Reporter
from local.stack import components, sam
from local.stack.aws import Aws, Deployed
from local.stack.config import PROJECT, LocalConfig, LocalStackError
from local.stack.laptop import Laptop
from local.stack.processes import Component, Supervisor, clean_environment, holder_of, is_free
from local.stack.template import parameter_defaults
from tests.support.waiting import until

SERVER = """
    import http.server, signal, sys
    if "stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("listening", flush=True)
    handler = http.server.SimpleHTTPRequestHandler
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), handler).serve_forever()
"""


@pytest.fixture
def taken() -> Iterator[int]:
    """A port this process listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def component(tmp_path: Path, *arguments: str, script: str = SERVER) -> Component:
    program = tmp_path / "server.py"
    program.write_text(textwrap.dedent(script))
    port = free_port()
    return Component(
        name="server",
        title="The server",
        command=[sys.executable, str(program), str(port), *arguments],
        port=port,
        port_setting="--server-port",
        health_url=f"http://127.0.0.1:{port}/",
        environment=dict(os.environ),
    )


# --- ports -----------------------------------------------------------------------------------------------------------


def test_a_taken_port_is_found_and_its_holder_named(taken: int) -> None:
    assert not is_free(taken)
    assert f"(pid {os.getpid()})" in holder_of(taken)
    assert is_free(free_port())


def test_up_names_who_holds_a_port_and_what_changes_it(
    taken: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECTO_MINISTACK", sys.executable)  # there, and never started
    state = tmp_path / "state"
    ports = ["--aws-port", str(taken), "--pinecone-port", str(free_port()), "--openai-port", str(free_port())]
    assert main(["up", "--state", str(state), *ports]) == 1
    told = capsys.readouterr().err
    assert f"Port {taken} for AWS emulator is taken by" in told
    assert f"(pid {os.getpid()})" in told
    assert "--aws-port or RECTO_AWS_PORT" in told
    assert not (state / "pids").exists()


def test_a_missing_emulator_says_which_command_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECTO_MINISTACK", raising=False)
    with pytest.raises(LocalStackError, match="make setup"):
        components.ministack(LocalConfig(project=tmp_path, state=tmp_path / "state"))


# --- settings --------------------------------------------------------------------------------------------------------


def test_a_flag_wins_over_the_environment_and_that_over_what_was_remembered(tmp_path: Path) -> None:
    LocalConfig(state=tmp_path, aws_port=1001, pinecone_port=1002, openai_port=1003).save()
    environment = {"RECTO_PINECONE_PORT": "2002", "RECTO_OPENAI_PORT": "2003"}
    config = LocalConfig.load(tmp_path, environment, openai_port=3003, chat_model=None)
    assert (config.aws_port, config.pinecone_port, config.openai_port) == (1001, 2002, 3003)


def test_what_is_remembered_can_be_read_by_its_owner_only(tmp_path: Path) -> None:
    LocalConfig(state=tmp_path, chat_key="sk-secret").save()
    assert (tmp_path / "config.json").stat().st_mode & 0o077 == 0
    assert "sk-secret" not in repr(LocalConfig(chat_key="sk-secret"))


def test_a_port_must_be_a_number(tmp_path: Path) -> None:
    with pytest.raises(LocalStackError, match="RECTO_\\*_PORT"):
        LocalConfig.load(tmp_path, {"RECTO_AWS_PORT": "fourty"})


@pytest.mark.parametrize(
    ("ports", "said"),
    [
        ({"RECTO_AWS_PORT": "99999"}, "from 1 to 65535.*aws 99999"),
        ({"RECTO_STREAMING_PORT": "-1"}, "from 1 to 65535.*streaming -1"),
        ({"RECTO_AWS_PORT": "5081"}, "port of its own.*aws 5081, pinecone 5081"),
    ],
)
def test_invalid_ports_are_refused_with_a_message(tmp_path: Path, ports: dict[str, str], said: str) -> None:
    with pytest.raises(LocalStackError, match=said):
        LocalConfig.load(tmp_path, ports)


def test_nothing_of_a_real_account_reaches_the_emulators() -> None:
    environ = {"AWS_PROFILE": "work", "AWS_CA_BUNDLE": "x", "OPENAI_API_KEY": "k", "RECTO_TOP_K": "1", "PATH": "/bin"}
    assert clean_environment(environ) == {"PATH": "/bin"}


def test_a_mistyped_parameter_is_refused_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Laptop, "up", lambda _: pytest.fail("It was started all the same."))
    assert main(["up", "--state", str(tmp_path), "--parameter", "TopK=3", "--parameter", "TpoK=4"]) == 1
    assert "no parameter TpoK:" in capsys.readouterr().err
    assert not (tmp_path / "config.json").exists()


def test_parameters_that_failed_are_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECTO_MINISTACK", sys.executable)  # there, and never started
    ports = {f"{name}_port": free_port() for name in ("aws", "pinecone", "openai", "streaming")}
    config = LocalConfig(state=tmp_path, parameters={"TopK": "3"}, **ports)  # type: ignore[arg-type]
    config.save()

    def refuse(*_: object, **__: object) -> None:
        raise LocalStackError("'abc' is not a valid Number")

    monkeypatch.setattr(Laptop, "_bring_up", refuse)
    wrong = replace(config, parameters={"TopK": "abc"})
    with pytest.raises(LocalStackError, match="valid Number"):
        Laptop(wrong, Reporter(Console(quiet=True))).up()
    assert LocalConfig.load(tmp_path, {}) == config


def test_the_lines_to_paste_name_a_folder_with_spaces_as_one_word(tmp_path: Path) -> None:
    config = LocalConfig(state=tmp_path / "my stack")
    told = how_to_use(config, Deployed((), {"BucketName": "recto", "ApiUrl": ""}, config.aws_url), "token")
    line = next(line for line in told.splitlines() if " -m local upload" in line)
    assert shlex.split(line)[4:6] == ["--state", str(config.state)]


def test_who_writes_the_answers_is_said_and_whether_it_can_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = LocalConfig(state=tmp_path, chat_base_url="http://127.0.0.1:1/v1", chat_model="mine")
    told = who_writes(config)
    assert "mine at http://127.0.0.1:1/v1" in told
    assert 'ARGS="--chat-base-url= --chat-model=extractive-minilm"' in told
    assert "cannot be reached" in told
    monkeypatch.setattr("httpx.get", lambda *_, **__: httpx.Response(401))
    assert "cannot be reached" not in who_writes(config)


def test_a_long_step_says_in_a_pipe_that_it_still_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "SILENCE_S", 0.01)
    told = io.StringIO()
    reporter = Reporter(Console(file=told))
    with reporter.step("Build the packages"):
        until(told.getvalue, lambda text: " s so far" in text, every_s=0.01)
    assert "✓ Build the packages" in told.getvalue()


# --- processes -------------------------------------------------------------------------------------------------------


def test_a_component_is_started_watched_and_stopped(tmp_path: Path) -> None:
    server = component(tmp_path)
    supervisor = Supervisor(tmp_path)
    supervisor.start(server)
    supervisor.wait_healthy(server, timeout_s=20)
    running = Supervisor(tmp_path).running("server")  # another process finds it by its pid file
    assert running is not None
    assert running.port == server.port
    assert supervisor.stop("server") == "stopped"
    assert supervisor.running("server") is None
    assert not supervisor.died("server")
    assert is_free(server.port)
    assert "listening" in supervisor.log_of("server").read_text()


def test_a_component_that_ignores_the_signal_is_killed_and_the_message_says_so(tmp_path: Path) -> None:
    server = component(tmp_path, "stubborn")
    supervisor = Supervisor(tmp_path)
    supervisor.start(server)
    supervisor.wait_healthy(server, timeout_s=20)
    assert "was killed" in supervisor.stop("server", timeout_s=0.2)
    assert supervisor.running("server") is None


def test_a_killed_component_is_known_to_have_died(tmp_path: Path) -> None:
    server = component(tmp_path)
    supervisor = Supervisor(tmp_path)
    supervisor.start(server)
    supervisor.wait_healthy(server, timeout_s=20)
    running = supervisor.running("server")
    assert running is not None
    process = psutil.Process(running.pid)
    process.kill()
    process.wait(10)
    assert supervisor.died("server")
    assert supervisor.stop("server") == "was not running"
    assert not supervisor.died("server")


def test_a_component_that_ends_at_once_is_reported_with_the_end_of_its_log(tmp_path: Path) -> None:
    server = component(tmp_path, script="raise SystemExit('no licence for this machine')")
    supervisor = Supervisor(tmp_path)
    supervisor.start(server)
    with pytest.raises(LocalStackError, match="no licence for this machine"):
        supervisor.wait_healthy(server, timeout_s=20)


def test_another_process_with_a_reused_pid_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "pids").mkdir()
    (tmp_path / "pids" / "server.json").write_text(f'{{"pid": {os.getpid()}, "create_time": 1.0, "port": 1}}')
    supervisor = Supervisor(tmp_path)
    assert supervisor.running("server") is None
    assert supervisor.stop("server") == "was not running"


def test_the_clean_up_keeps_no_pipe_of_the_caller_open(tmp_path: Path) -> None:
    release = tmp_path / "release"
    slow = tmp_path / "bin" / "rm"
    slow.parent.mkdir()
    slow.write_text(f'#!/bin/sh\nuntil [ -e "{release}" ]; do sleep 0.1; done\n')
    slow.chmod(0o755)
    (tmp_path / "state" / "ministack" / "tmp" / "package").mkdir(parents=True)
    script = f"""if True:
        from pathlib import Path
        from local.stack import components
        from local.stack.config import LocalConfig
        components.prepare_folders(LocalConfig(state=Path({str(tmp_path / "state")!r})))
        print("is up")
    """
    path = f"{slow.parent}{os.pathsep}{os.environ['PATH']}"
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=PROJECT, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE
    ) as program:
        try:
            # To the end of the pipe, with the clean-up still at work; pytest's own time limit ends a hang.
            assert program.communicate()[0] == b"is up\n"
        finally:
            release.touch()
    assert program.returncode == 0


# --- what has to be done again ---------------------------------------------------------------------------------------


def test_a_build_is_current_until_something_that_goes_into_it_changes(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "models.py").write_text("A = 1\n")
    before = sam.source_fingerprint(tmp_path)
    (tmp_path / "shared" / "__pycache__").mkdir()
    (tmp_path / "shared" / "__pycache__" / "models.pyc").write_bytes(b"bytecode")
    (tmp_path / "README.md").write_text("not in a package")
    assert sam.source_fingerprint(tmp_path) == before
    (tmp_path / "shared" / "models.py").write_text("A = 2\n")
    assert sam.source_fingerprint(tmp_path) != before


def test_the_live_version_and_the_one_before_stay() -> None:
    deleted: list[str] = []
    versions = [{"Version": name} for name in ("$LATEST", "8", "9", "10", "11")]
    lambda_ = SimpleNamespace(
        list_versions_by_function=lambda **_: {"Versions": versions},
        delete_function=lambda **given: deleted.append(given["Qualifier"]),
    )
    sam.delete_old_versions(cast("Aws", SimpleNamespace(lambda_=lambda_)), "query")
    assert deleted == ["8", "9"]


def test_parameters_that_stay_set_are_said_with_the_way_back() -> None:
    assert what_is_set(LocalConfig(parameters={"Ocr": "true"})) == "", "a laptop's own value"
    told = what_is_set(LocalConfig(parameters={"EmbeddingModel": "other", "TopK": "3"}))
    assert "EmbeddingModel=other TopK=3" in told
    assert 'make up ARGS="--parameter EmbeddingModel=all-MiniLM-L6-v2"' in told


def test_an_upload_is_logged_once_and_not_with_each_of_its_states() -> None:
    told = "a\n\tUploading to x  1 / 3\r\tUploading to x  3 / 3\nError: no\r\n"
    assert sam.without_progress(told) == "a\n\tUploading to x  3 / 3\nError: no\r\n"


def test_another_port_means_another_deployment_and_a_key_stays_out_of_sight() -> None:
    config = LocalConfig()
    assert sam.parameters(config).keys() >= parameter_defaults().keys()  # SAM would keep the former template's
    same = sam.deployment_fingerprint("f", config)
    assert sam.deployment_fingerprint("g", config) != same
    assert sam.deployment_fingerprint("f", replace(config, pinecone_port=1)) != same
    assert sam.deployment_fingerprint("f", replace(config, chat_key="sk-1")) != same
    assert sam.deployment_fingerprint("f", replace(config, enforce_roles=True)) != same
    assert sam.deployment_fingerprint("f", LocalConfig()) == same


def test_a_stack_that_enforces_policies_does_not_refuse_its_own_plain_http() -> None:
    refusing = "          Condition:\n            Bool:\n              aws:SecureTransport: 'false'\n"
    open_ = sam.with_plain_http(refusing, refused=False)
    assert open_ == refusing.replace("false", "true")
    assert sam.with_plain_http(open_, refused=True) == refusing


# --- files and verdicts ----------------------------------------------------------------------------------------------


def test_folders_are_searched_for_pdfs_and_keep_their_relative_names(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for name in ("b.PDF", "deep/a.pdf", "notes.txt"):
        (tmp_path / "in" / name).write_bytes(b"x")
    single = tmp_path / "in" / "notes.txt"
    empty = tmp_path / "empty"
    empty.mkdir()
    assert [name for _, name in files_of([tmp_path / "in", single])] == ["b.PDF", "deep/a.pdf", "notes.txt"]
    (tmp_path / "in" / ".cache").mkdir()
    for name in (".DS_Store", ".cache/index", "deep/deck.pptx"):
        (tmp_path / "in" / name).write_bytes(b"x")
    assert left_out_of([tmp_path / "in", single]) == ["deep/deck.pptx", "notes.txt"]
    with pytest.raises(LocalStackError, match="no PDF"):
        list(files_of([empty]))
    with pytest.raises(LocalStackError, match="no file"):
        list(files_of([tmp_path / "missing.pdf"]))


ASKED = SampleQuestion("Why?", "a.pdf", (3,), "because", answerable=True)
UNKNOWABLE = SampleQuestion("Who?", "", (), "", answerable=False)


def _answer(*citations: tuple[str, int, int], refused: bool = False) -> dict[str, object]:
    cited = [{"document_id": d, "title": d, "page_start": first, "page_end": last} for d, first, last in citations]
    return {"no_relevant_info": refused, "citations": cited}


@pytest.mark.parametrize(
    ("asked", "answer", "right"),
    [
        (ASKED, _answer(("id-a", 3, 3)), True),
        (ASKED, _answer(("id-b", 3, 3), ("id-a", 2, 4)), True),
        (ASKED, _answer(("id-a", 4, 5)), False),
        (ASKED, _answer(("id-b", 3, 3)), False),
        (ASKED, _answer(), False),
        (ASKED, _answer(refused=True), False),
        (UNKNOWABLE, _answer(refused=True), True),
        (UNKNOWABLE, _answer(("id-a", 1, 1)), False),
    ],
)
def test_an_answer_is_right_when_it_cites_the_page_or_refuses_what_nobody_can_know(
    asked: SampleQuestion, answer: dict[str, object], right: bool
) -> None:
    assert (fault_of(asked, answer, {"a.pdf": "id-a"}) == "") is right


def test_a_reset_forgets_the_stack_and_spares_what_took_hours_to_compute(tmp_path: Path) -> None:
    config = LocalConfig.load(tmp_path / "state", {})
    config.save()
    for name in ("ministack", "pinecone", "evals-cache", "eval", config.build.name):
        (config.state / name).mkdir(parents=True)
        (config.state / name / "file").write_text("x")
    assert main(["reset", "--state", str(config.state)]) == 1  # no terminal: it cannot ask
    assert (config.state / "ministack" / "file").exists()
    assert main(["reset", "--state", str(config.state), "--yes"]) == 0
    assert {child.name for child in config.state.iterdir()} == {"evals-cache", "eval", config.build.name}
    assert (config.state / "evals-cache" / "file").read_text() == "x"
