"""The daemon: one for each home, found by its clients, gone without a trace; and what its clients import."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.entrypoints import link, secret
from recollect.errors import BadInput, DaemonRunning, PortTaken, StoreReadOnly
from recollect.models import embedder as embedders
from recollect.models.hashing import HashingEmbedder
from recollect.serve import listen, lock, logs

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
THIN = sorted(path.stem for path in Path(link.__file__).parent.glob("*.py"))
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of its own; whatever daemon it has in the end is ended."""
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")
    yield tmp_path / "home"
    for launched in link._launches:
        launched.wait(60)
    link._launches.clear()
    if (told := lock.holder(tmp_path / "home")) and told.get("pid"):
        os.kill(told["pid"], signal.SIGKILL)
        until(lambda: lock.holder(tmp_path / "home") is None)
        listen.clear(tmp_path / "home")


@pytest.fixture
def run(home: Path) -> Run:
    def runner(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "recollect", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **more)

    return runner


def until(true: Callable[[], Any], seconds: float = 30.0) -> None:
    """Wait for something to become true, and fail when it does not; nothing is said about how long it took."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def serve(run: Run, *options: str) -> dict[str, Any]:
    done = run("serve", "--background", "--port", "0", "--json", *options)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


# -- what assistants start ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", THIN)
def test_thin_modules_import_only_the_standard_library(module: str) -> None:
    name = "recollect.entrypoints" + ("" if module == "__init__" else f".{module}")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", f"import {name}"], capture_output=True, text=True, check=True
    )
    loaded = {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    start = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "pass"], capture_output=True, text=True, check=True
    )  # what the interpreter's own site folder brings in is not ours
    loaded -= {line.rsplit("|", 1)[1].strip() for line in start.stderr.splitlines() if line.startswith("import time:")}
    ours = {found for found in loaded if found.split(".")[0] == "recollect"}
    assert name in ours
    assert {found for found in ours if not (found + ".").startswith("recollect.entrypoints.")} <= {"recollect"}
    assert {found.split(".")[0] for found in loaded - ours} <= sys.stdlib_module_names
    slow = {"http.client", "subprocess", "logging", "dataclasses", "asyncio", "argparse", "typing", "pathlib", "ssl"}
    assert not loaded & slow if module in ("link", "hook", "spool") else True, "these cost milliseconds at every prompt"


def test_the_public_names_are_loaded_when_they_are_used() -> None:
    code = (
        "import sys, recollect; assert 'recollect.engine' not in sys.modules; recollect.BadInput; "
        "assert 'recollect.engine' not in sys.modules; recollect.open; assert 'recollect.engine' in sys.modules; "
        "assert set(recollect.__all__) <= set(dir(recollect)); from recollect import *; assert Engine and BadInput"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert all(getattr(recollect, name).__name__ == name for name in recollect.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = recollect.nonsense  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("sent", "wanted"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more", b"hello"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n", b"hello"),
        (b"HTTP/1.1 200 OK\r\n\r\nhello", b"hello"),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", ConnectionError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhel", ConnectionError),
        (b"SSH-2.0-OpenSSH_9.6\r\n", ConnectionError),
        (b"", ConnectionError),
        (None, TimeoutError),
    ],
)
def test_an_answer_is_read_whole_or_not_at_all(tmp_path: Path, sent: bytes | None, wanted: Any) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        asked = threading.Event()

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                with contextlib.suppress(BrokenPipeError):  # who has read enough goes away
                    for n in range(len(sent or b"")):  # in the smallest pieces there are
                        connection.sendall((sent or b"")[n : n + 1])
                asked.wait(0 if sent is not None else 30)

        thread = threading.Thread(target=answer)
        thread.start()
        found = link.Link({"pid": 1, "port": 1, "socket": str(tmp_path / "s")})
        if isinstance(wanted, bytes):
            assert found.request("GET", "/", timeout=30).body == wanted
        else:
            with pytest.raises(wanted):
                found.request("GET", "/", timeout=30 if sent is not None else 0.05)
        asked.set()
        thread.join(30)


def test_a_head_cannot_be_smuggled_in_and_a_stale_note_is_no_daemon(tmp_path: Path) -> None:
    told = {"pid": 1, "port": 1, "socket": str(tmp_path / "gone")}
    with pytest.raises(ValueError, match="line break"):
        link.Link(told).request("GET", "/a\r\nX-Evil: 1")
    for text in (json.dumps(told), "{", "[]", '{"pid": "x"}', ""):
        (tmp_path / link.INFO).write_text(text)
        assert link.daemon(str(tmp_path)) is None


# -- the lock ---------------------------------------------------------------------------------------------------------


def test_a_second_holder_is_told_who_the_first_is(tmp_path: Path) -> None:
    with lock.Lock(tmp_path, NOW):
        told = lock.holder(tmp_path)
        assert told == {"pid": os.getpid(), "host": socket.gethostname(), "since": "2026-03-02T09:00:00Z"}
        with pytest.raises(DaemonRunning, match=f"process {os.getpid()} on "), lock.Lock(tmp_path, NOW):
            pass
    assert lock.holder(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    code = (
        "import os, sys; from datetime import *; from pathlib import Path; from recollect.serve.lock import Lock; "
        "Lock(Path(sys.argv[1]), datetime.now(UTC)).__enter__(); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / lock.NAME).exists()
    assert lock.holder(tmp_path) is None
    with lock.Lock(tmp_path, NOW):
        assert (lock.holder(tmp_path) or {})["pid"] == os.getpid()


def test_only_one_of_many_has_the_lock_at_a_time(tmp_path: Path) -> None:
    inside, most = [], []

    def contend(number: int) -> None:
        with lock.Lock(tmp_path, NOW):
            inside.append(number)
            most.append(len(inside))
            inside.remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(contend, range(200)))
    assert set(most) == {1}
    assert len(most) == 200


def test_a_home_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreReadOnly, match="cannot be written"), lock.Lock(tmp_path / "file", NOW):
        pass


# -- where it listens -------------------------------------------------------------------------------------------------


def test_a_taken_port_is_refused_by_name_and_passed_over_otherwise() -> None:
    with listen.tcp("127.0.0.1", 0, exactly=True) as first:
        port = first.getsockname()[1]
        with pytest.raises(PortTaken, match=f"Port {port} on 127.0.0.1 is taken"):
            listen.tcp("127.0.0.1", port, exactly=True)
        with listen.tcp("127.0.0.1", port, exactly=False) as second:
            assert second.getsockname()[1] != port


@pytest.mark.parametrize(("host", "port"), [("203.0.113.9", 0), ("no.such.host.invalid", 0), ("127.0.0.1", 70000)])
def test_an_address_that_is_none_is_bad_input(host: str, port: int) -> None:
    with pytest.raises(BadInput):
        listen.tcp(host, port, exactly=True)


def test_the_socket_of_a_long_home_lies_elsewhere_and_is_its_owners_alone(tmp_path: Path) -> None:
    for home in (tmp_path / ("deep" * 30), tmp_path / ("also" * 30)):
        home.mkdir()
        made = listen.unix(home)
        assert made is not None
        with made:
            at = Path(made.getsockname())
            assert len(os.fsencode(at)) <= listen.LONGEST
            assert at != home / listen.NAME
            assert at.stat().st_mode & 0o777 == 0o600
            assert at.parent.stat().st_mode & 0o777 == 0o700
        listen.clear(home)
        assert not at.exists()


# -- its life ---------------------------------------------------------------------------------------------------------


def test_it_serves_tells_how_it_is_and_leaves_nothing_behind(run: Run, home: Path) -> None:
    assert run("status").returncode == 3
    assert not home.exists(), "asking made a home"
    told = serve(run)
    assert (home / "daemon.sock").stat().st_mode & 0o777 == 0o600
    assert (home / link.INFO).stat().st_mode & 0o777 == 0o600
    status = run("status", "--json")
    assert status.returncode == 0
    found = json.loads(status.stdout)
    assert (found["running"], found["pid"], found["port"]) == (True, told["pid"], told["port"])
    assert (found["memories"], found["version"]) == (0, recollect.__version__)
    assert f"http://127.0.0.1:{told['port']}" in run("status").stdout
    for words in (("serve",), ("serve", "--background")):
        again = run(*words)
        assert again.returncode == DaemonRunning.exit
        assert f"process {told['pid']}" in again.stderr
    assert run("stop").stdout == f"✓ stopped process {told['pid']}\n"
    assert sorted(path.name for path in home.iterdir()) == ["logs", "recollect.db", "secret"]
    assert run("stop").stdout == "= no daemon is running\n"
    assert run("status").returncode == 3


def test_whoever_starts_it_is_told_where_the_dashboard_is(run: Run, home: Path) -> None:
    said = run("serve", "--background", "--port", "0").stdout
    found = link.daemon(str(home))
    assert found
    address = f"http://127.0.0.1:{found.port}/"
    assert re.search(rf"^ *dashboard +{address}#/login\?code=\S+$", said, re.MULTILINE), said
    again = run("status").stdout + run("dashboard", "--no-open").stdout  # what a second make run prints
    assert re.search(rf"^ *dashboard +{address} .*recollect dashboard", again, re.MULTILINE)
    assert re.search(rf"^{address}#/login\?code=\S+$", again, re.MULTILINE)
    with urllib.request.urlopen(address, timeout=30) as page:
        assert b"<title>Recollect</title>" in page.read()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_well(run: Run, home: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect", "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    until(lambda: link.daemon(str(home)))
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"is listening" in out
    assert err == b""
    assert sorted(path.name for path in home.iterdir()) == ["logs", "recollect.db", "secret"]


def test_a_running_request_is_let_to_its_end(run: Run, home: Path) -> None:
    """The second half of its body comes after the stop."""
    told = serve(run)
    body = json.dumps({"content": "Releases go out on Thursdays."}).encode()
    fields = ("Host: localhost", "Content-Type: application/json", f"Content-Length: {len(body)}", "Connection: close")
    head = "\r\n".join(("POST /v1/memories HTTP/1.1", *fields, "Expect: 100-continue", "", ""))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(told["socket"])
        connection.settimeout(60)
        connection.sendall(head.encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 100")  # now it waits for the body
        os.kill(told["pid"], signal.SIGTERM)
        until(lambda: link.daemon(str(home)) is None)
        connection.sendall(body)
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 20"), answer
    until(lambda: lock.holder(home) is None)
    assert "Thursdays" in run("recall", "releases").stdout


def test_a_killed_daemon_is_replaced(run: Run, home: Path) -> None:
    first = serve(run)
    os.kill(first["pid"], signal.SIGKILL)
    until(lambda: lock.holder(home) is None)
    assert (home / link.INFO).exists()
    assert link.daemon(str(home)) is None
    second = serve(run)
    assert second["pid"] != first["pid"]
    assert run("stop").returncode == 0
    assert sorted(path.name for path in home.iterdir()) == ["logs", "recollect.db", "secret"]


def test_many_clients_that_find_no_daemon_start_one(home: Path) -> None:
    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(lambda _: link.start(str(home), wait=60), range(6)))
    found = link.daemon(str(home))
    assert found
    assert found.pid == (lock.holder(home) or {})["pid"]
    assert [line["message"] for line in logs.tail(home, "info", 100)].count("serving") == 1
    assert not (home / link.TRIED).exists()


def test_a_daemon_that_cannot_start_is_not_waited_for(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("nonsense = 1\n")
    assert not link.start(str(home), wait=600)
    assert link._tried_lately(str(home)), "the next hook would start another interpreter at once"


def test_a_daemon_is_nobodys_child(run: Run, home: Path) -> None:
    told = serve(run)
    assert os.getsid(told["pid"]) != os.getsid(0)
    stat = Path(f"/proc/{told['pid']}/stat")
    if stat.exists():
        parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        assert parent not in (os.getpid(), told["pid"])


def test_beyond_this_machine_a_token_is_needed(run: Run, home: Path) -> None:
    done = run("serve", "--host", "0.0.0.0", "--port", "0")
    assert done.returncode == BadInput.exit
    assert "recollect token create" in done.stderr
    assert lock.holder(home) is None
    assert link.daemon(str(home)) is None
    assert run("token", "create", "--can", "read").returncode == 0
    told = serve(run, "--host", "0.0.0.0")
    assert link.Link({**told, "socket": ""}).request("GET", "/healthz").status == 200


def test_what_assistants_start_is_in_the_list_of_commands_and_works_behind_an_option(run: Run) -> None:
    assert "  mcp " in run("--help").stdout
    assert "--tools" in run("--project", "web", "mcp", "--help").stdout
    assert run("--project", "web", "mcp", input="").returncode == 0
    assert run("--json", "hook", "stop", "--host", "claude", "--no-start", input="{}").returncode == 0


def test_status_is_for_the_socket_alone(run: Run, home: Path) -> None:
    told = serve(run)
    found = link.daemon(str(home))
    assert found
    assert found.request("GET", "/daemon/status").status == 200
    by_port = link.Link({**told, "socket": ""}, secret.read(home))
    assert by_port.request("GET", "/daemon/status").status == 404
    assert by_port.request("GET", "/healthz").status == 200


# -- the model --------------------------------------------------------------------------------------------------------


def test_words_answer_while_the_model_loads_and_meaning_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()

    class Slow(HashingEmbedder):
        def warm(self) -> None:
            go.wait(30)

    monkeypatch.setattr(embedders, "load", lambda name: Slow())
    with recollect.open(tmp_path / "a.db", embedder="off") as before:
        before.remember("Releases go out on Thursdays.")
    with recollect.open(tmp_path / "a.db", embedder="hashing") as memory:
        thread = memory.warm()
        assert memory.model() == ("", "vector: the model is still loading")
        early = memory.recall("releases")
        assert [hit.memory.content for hit in early] == ["Releases go out on Thursdays."]
        assert early.skipped == ("vector: the model is still loading",)
        go.set()
        thread.join()
        assert memory.model() == ("hashing/1", "")
        memory.embed()
        late = memory.recall("releases")
        assert late.skipped == ()
        assert "vector" in late.arms


def test_what_was_written_without_a_model_is_given_its_vectors(run: Run, home: Path) -> None:
    without = {**os.environ, "RECOLLECT_EMBEDDER": "off"}
    assert run("remember", "Releases go out on Thursdays.", env=without).returncode == 0
    serve(run)
    until(lambda: any(line["message"] == "given vectors" for line in logs.tail(home, "info", 50)))
    with recollect.open(embedder="hashing") as memory:
        assert memory.stats()["embedded"] == {"hashing/1": 1}


def test_what_another_tenant_was_told_is_looked_at_too(run: Run) -> None:
    with recollect.open(embedder="hashing", tenant="acme") as memory:
        memory.capture([recollect.Message("user", "We use pnpm because npm is slow.")], session="s1", later=True)
        serve(run)
        until(lambda: memory.list(kinds=("fact",)).memories)


# -- the log ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def log(home: Path) -> Iterator[logging.Logger]:
    began = logs.begin(home, "debug")
    logger = logging.getLogger("recollect.test")
    yield logger
    logs.end(began)
    logging.getLogger("recollect").setLevel(logging.NOTSET)


def test_a_line_is_json_with_its_fields_and_without_secrets(log: logging.Logger, home: Path) -> None:
    log.info("asked", extra={"fields": {"path": "/v1/recall", "ms": 4}})
    log.warning("the key was sk-ant-api03-%s", "a1B2" * 24)
    try:
        int("boom")
    except ValueError:
        log.exception("failed")
    asked, warned, failed = logs.tail(home, "debug", 10)
    assert (asked["level"], asked["part"], asked["message"]) == ("info", "test", "asked")
    assert (asked["path"], asked["ms"]) == ("/v1/recall", 4)
    assert "a1B2" not in json.dumps(warned)
    assert "ValueError: invalid literal" in failed["error"]
    assert [line["level"] for line in logs.tail(home, "warning", 10)] == ["warning", "error"]
    assert logs.path(home).stat().st_mode & 0o777 == 0o600


def test_the_log_is_moved_aside_and_read_across(
    log: logging.Logger, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "STEP", 0.001)
    (handler,) = [one for one in logging.getLogger().handlers if isinstance(one, logs.Log)]
    seen: list[int] = []

    def collect() -> None:
        for line in logs.follow(home, "info"):
            seen.append(line["n"])
            if line["n"] < 0:
                return

    def write(number: int) -> None:
        log.debug("not of the level that is asked for")
        log.info("line", extra={"fields": {"n": number}})

    reading = threading.Thread(target=collect, daemon=True)
    reading.start()
    written = 0
    while not seen:  # until the reader is there
        write(written)
        written += 1
        time.sleep(0.001)
    handler.maxBytes = 1000
    for _ in range(60):
        write(written)
        until(lambda: seen[-1] == written)  # noqa: B023
        written += 1
    write(-1)
    reading.join(60)
    assert seen == [*range(seen[0], written), -1]
    assert [line["n"] for line in logs.tail(home, "info", 12)] == [*range(written - 11, written), -1]
    assert len(list(home.glob("logs/*"))) == logs.KEPT + 1
    assert {path.stat().st_mode & 0o777 for path in home.glob("logs/*")} == {0o600}


def test_the_log_is_followed_while_it_is_moved_aside(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def line(number: int) -> str:
        return json.dumps({"level": "info", "n": number}) + "\n"

    at = logs.path(home)
    at.parent.mkdir(parents=True)
    at.write_text(line(0))
    # One step of the writer at each pause of the reader: written, moved aside, nothing yet in its place, begun anew.
    steps: Iterator[Callable[[], object]] = iter(
        [
            lambda: at.write_text(line(0) + line(1)),
            lambda: at.rename(at.with_name("aside")),
            lambda: None,
            lambda: at.write_text(line(2)),
        ]
    )
    monkeypatch.setattr(time, "sleep", lambda _: next(steps)())
    monkeypatch.setattr(Path, "exists", lambda _: True)  # as it is answered a moment before the move
    following = logs.follow(home, "info")
    assert [next(following)["n"], next(following)["n"]] == [1, 2]
    at.unlink()
    assert logs.tail(home, "info", 5) == []


def test_lines_cut_off_by_a_kill_are_passed_over(log: logging.Logger, home: Path) -> None:
    log.info("whole")
    with logs.path(home).open("a") as file:
        file.write('{"time": "2026-03-02T09:00:00+00:00", "level": "info", "mess')
    log.info("on the same line, and lost with it")
    log.info("whole again")
    assert [line["message"] for line in logs.tail(home, "info", 10)] == ["whole", "whole again"]


def test_the_log_is_shown_by_level_and_as_json(run: Run, home: Path) -> None:
    serve(run)
    run("stop")
    shown = run("logs").stdout.splitlines()
    assert "serving" in shown[0]
    assert shown[-1].endswith("stopped")
    told = json.loads(run("logs", "--json", "-n", "1").stdout)
    assert [line["message"] for line in told["lines"]] == ["stopped"]
    assert run("logs", "--level", "error").stdout == f"= nothing in {logs.path(home)}\n"
    assert run("logs", "--level", "loud").returncode == 2
