"""The service: the unit or property list that starts the daemon with the machine."""

from __future__ import annotations

import json
import os
import plistlib
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.serve import service

UNIT = b"""\
[Unit]
Description=Recollect, memory for AI assistants that write code

[Service]
ExecStart="/opt/my python/bin/python3" -P -m recollect serve
Environment="RECOLLECT_HOME=/srv/100%% mine"
Restart=on-failure
RestartSec=5
SuccessExitStatus=9
RestartPreventExitStatus=9
TimeoutStopSec=30

[Install]
WantedBy=default.target
"""
PLIST = b"""\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
\t<key>Label</key>
\t<string>dev.recollect.daemon</string>
\t<key>ProgramArguments</key>
\t<array>
\t\t<string>/opt/my python/bin/python3</string>
\t\t<string>-P</string>
\t\t<string>-m</string>
\t\t<string>recollect</string>
\t\t<string>serve</string>
\t</array>
\t<key>EnvironmentVariables</key>
\t<dict>
\t\t<key>RECOLLECT_HOME</key>
\t\t<string>/srv/a&amp;b</string>
\t</dict>
\t<key>RunAtLoad</key>
\t<true/>
\t<key>KeepAlive</key>
\t<dict>
\t\t<key>SuccessfulExit</key>
\t\t<false/>
\t</dict>
\t<key>ThrottleInterval</key>
\t<integer>60</integer>
\t<key>ProcessType</key>
\t<string>Background</string>
</dict>
</plist>
"""


def test_the_unit_and_the_property_list_are_written_byte_for_byte() -> None:
    assert service.unit("/opt/my python/bin/python3", Path("/srv/100% mine")) == UNIT
    assert service.plist("/opt/my python/bin/python3", Path("/srv/a&b")) == PLIST
    assert b"Environment" not in service.unit("/usr/bin/python3", Path("~/.recollect").expanduser())
    dollars = service.unit('/a$b"c/python', Path("/srv/a$b"))
    assert b'ExecStart="/a$$b\\"c/python" ' in dollars
    assert b'"RECOLLECT_HOME=/srv/a$b"' in dollars


def run(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "recollect", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=env)


@pytest.mark.parametrize("kind", ["systemd", "launchd", "schtasks"])
def test_a_service_is_installed_once_and_removed_without_a_trace(kind: str, tmp_path: Path) -> None:
    """Without systemctl and launchctl, what is to be run is said."""
    user, home = tmp_path / "user", tmp_path / "home"
    user.mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "XDG_CONFIG_HOME"}
    environment |= {"HOME": str(user), "PATH": str(tmp_path), "RECOLLECT_HOME": str(home)}
    words = ("service", "install", "--kind", kind)
    dry = run(*words, "--dry-run", env=environment)
    assert dry.returncode == 0, dry.stderr
    assert list(user.iterdir()) == []
    first = run(*words, "--json", env=environment)
    path = Path(json.loads(first.stdout)["path"])
    assert path.is_relative_to(home if kind == "schtasks" else user)
    assert str(path) in dry.stdout
    assert str(home) in path.read_bytes().decode("utf-16" if kind == "schtasks" else "utf-8")
    if kind == "launchd":
        assert plistlib.loads(path.read_bytes())["ProgramArguments"][0] == sys.executable
    assert "run by hand" in run(*words, env=environment).stdout
    assert json.loads(run(*words, "--json", env=environment).stdout)["written"] is False
    elsewhere = run(*words, "--dry-run", env={**environment, "RECOLLECT_STORE": str(tmp_path / "other.db")})
    assert elsewhere.returncode == 2
    assert "config.toml" in elsewhere.stderr
    gone = run("service", "uninstall", "--kind", kind, env=environment)
    assert gone.returncode == 0
    assert not path.exists()
    assert "was not there" in run("service", "uninstall", "--kind", kind, env=environment).stdout
