"""Who owns a home: another account of the same machine gets nothing from a real daemon, by port or by socket."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.entrypoints import link, secret

# Becomes another account where it may, and then asks: by the port, and by the socket, with headers that would help.
STRANGER = """
import encodings.idna, http.client, json, os, socket, sys
home, port, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
ASKED = [("GET", "/v1/export", None), ("GET", "/v1/stats", None), ("GET", "/metrics", None),
    ("POST", "/v1/tokens", {"can": ["read", "write", "admin"]}), ("GET", "/daemon/status", None),
    ("POST", "/v1/project/files", {"paths": ["/etc/shadow"]}), ("POST", "/v1/recall", {"query": "cat"}),
    ("POST", "/hook", {}), ("POST", "/login/code", {}), ("POST", "/mcp", {}),
    ("POST", "/daemon/read", {})]
HELPS = [{}, {"X-Forwarded-For": "127.0.0.1"}, {"Host": "localhost"}, {"Authorization": "Bearer rclh_" + "0" * 64},
    {"Forwarded": "for=127.0.0.1"}, {"X-Real-IP": "::1"}, {"Cookie": "recollect_session=x", "X-Recollect-Page": "1"}]
class Unix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(path)
def ask(kind, method, where, body, headers):
    connection = kind("127.0.0.1", port, timeout=30)
    connection.request(method, where, json.dumps(body), {"Content-Type": "application/json", **headers})
    return connection.getresponse().status
told = {"uid": os.getuid(), "port": [ask(http.client.HTTPConnection, *one, more) for one in ASKED for more in HELPS]}
for name in ("secret", "socket"):
    try:
        told[name] = open(home + "/secret").read() if name == "secret" else [ask(Unix, *one, {}) for one in ASKED]
    except PermissionError:
        told[name] = "refused"
print(json.dumps(told))
"""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with a running daemon, in a folder that every account may enter."""
    folder = Path(tempfile.mkdtemp(prefix="owner-"))
    folder.chmod(0o755)
    monkeypatch.setenv("RECOLLECT_HOME", str(folder / "home"))
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")
    try:
        done = serve("serve", "--background", "--port", "0")
        assert done.returncode == 0, done.stderr
        (folder / "home").chmod(0o755)
        yield folder / "home"
    finally:
        serve("stop")
        shutil.rmtree(folder)


def serve(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "recollect", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def stranger(home: Path) -> dict[str, Any]:
    found = link.daemon(str(home))
    assert found
    command = [sys.executable, "-c", STRANGER, str(home), str(found.port), found.socket]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_another_account_gets_nothing_by_port_or_socket_and_cannot_read_the_secret(home: Path) -> None:
    told = stranger(home)
    assert set(told["port"]) <= {401, 403, 404}, told
    assert told["port"][:7] == [401] * 7, "the export, whatever it is asked with"
    assert stat.S_IMODE((home / secret.FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "daemon.sock").stat().st_mode) == 0o600
    if os.getuid() == 0:  # else nobody can become another account: the modes stand for it, and test_http for the gate
        assert (told["uid"], told["secret"], told["socket"]) == (65534, "refused", "refused")
        (home / "daemon.sock").chmod(0o777)
        assert set(stranger(home)["socket"]) == {401}, "a socket that others can open answers its owner alone"
    found = link.daemon(str(home))
    assert found
    assert found.request("GET", "/v1/export").status == 200


def test_the_owner_comes_in_by_socket_by_secret_and_by_client(home: Path) -> None:
    found = link.daemon(str(home))
    assert found
    by_port = {**found.info, "socket": ""}
    assert link.Link(by_port).request("GET", "/v1/stats").status == 401
    assert link.Link(by_port, secret.read(home)).request("GET", "/v1/stats").status == 200
    assert link.Link(by_port, secret.read(home)).request("GET", "/daemon/status").status == 404
    with recollect.Client(f"http://127.0.0.1:{found.port}") as client:
        client.remember("The owner needs no token.")
        assert client.stats()["memories"] == 1
    with pytest.raises(recollect.Unauthorised), recollect.Client(f"http://127.0.0.1:{found.port}", token="") as nobody:
        nobody.stats()


def test_the_secret_is_sent_to_nobody_who_took_the_port(home: Path) -> None:
    """A daemon that was killed leaves its file behind; another account may listen on its port by now."""
    found = link.daemon(str(home))
    assert found
    assert serve("stop").returncode == 0
    (home / link.INFO).write_text(json.dumps(found.info))
    with Port(found.port) as port:
        with (
            recollect.Client(f"http://127.0.0.1:{found.port}", timeout=5) as client,
            pytest.raises(recollect.RecollectError),
        ):
            client.stats()
        assert secret.read(home)
        assert secret.read(home) not in port.heard


class Port:
    """Somebody else on a port, who notes what comes and answers nothing."""

    def __init__(self, number: int) -> None:
        self.heard = ""
        self._socket = socket.create_server(("127.0.0.1", number))
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def _listen(self) -> None:
        try:
            while True:
                connection, _ = self._socket.accept()
                with connection:
                    self.heard += connection.recv(65536).decode("latin-1")
        except OSError:  # closed
            return

    def __enter__(self) -> Port:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(10)


def test_a_secret_that_others_could_read_is_made_anew_and_a_good_one_stays(tmp_path: Path) -> None:
    first, was_open = secret.ensure(tmp_path / "home")
    assert (was_open, len(first)) == (False, len(secret.PREFIX) + 64)
    assert secret.ensure(tmp_path / "home") == (first, False)
    path = tmp_path / "home" / secret.FILE
    path.chmod(0o644)
    second, was_open = secret.ensure(tmp_path / "home")
    assert (was_open, second != first, stat.S_IMODE(path.stat().st_mode)) == (True, True, 0o600)
    for bad in ("", "short", "rclh_" + "ä" * 64, "x" * 5000):
        path.write_text(bad)
        assert secret.read(tmp_path / "home") == ""
        assert secret.ensure(tmp_path / "home")[0] == secret.read(tmp_path / "home") != second
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_text(first)
    assert secret.read(tmp_path / "home") == ""
    assert secret.ensure(tmp_path / "home")[0] != first
    assert not path.is_symlink()


def test_a_dashboard_link_logs_in_and_says_nothing_to_others(home: Path) -> None:
    printed = serve("dashboard", "--no-open").stdout.splitlines()[0]
    assert printed.startswith("http://127.0.0.1:")
    assert "/#/login?code=" in printed, "behind the #, so that it is in no request and no log"
    code = printed.partition("code=")[2]
    found = link.daemon(str(home))
    assert found
    anybody = link.Link({**found.info, "socket": ""})
    page = {"X-Recollect-Page": "none", "Host": f"127.0.0.1:{found.port}"}
    answer = anybody.request("POST", "/login", json.dumps({"code": code}).encode(), page)
    assert answer.status == 200
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert anybody.request("POST", "/login", json.dumps({"code": code}).encode(), page).status == 401
    assert code not in (home / "logs" / "daemon.jsonl").read_text()
    assert anybody.request("GET", "/healthz").json().keys() == {"status", "version"}
