"""Small files of other memory programs, made by those programs themselves, for tests/foreign/.

    python scripts/foreign_samples.py [NAME ...]

Each program is installed into an environment of its own below bench/.cache/foreign/ (Python 3.12, for some of them) and
then writes its own format. Those that keep notes or lines are stored as they are, databases packed. What cannot be made
offline lies in tests/foreign/ too, written by hand after the published schema; docs/importing.md says which is which.
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CACHE, TARGET = ROOT / "bench" / ".cache" / "foreign", ROOT / "tests" / "foreign"
WANTED = {  # what is installed: from PyPI, or from npm where it begins with "npm:"
    "mem0": ["mem0ai==2.2.1"],
    "mcp-memory-service": ["mcp-memory-service==12.4.0", "pysqlite3-binary"],
    "basic-memory": ["basic-memory==0.24.1"],
    "langgraph": ["langgraph-checkpoint-sqlite==3.1.2"],
    "graphiti": ["graphiti-core==0.31.1", "httpx"],
    "chroma": ["chromadb==1.5.9"],
    "server-memory": ["npm:@modelcontextprotocol/server-memory@2026.8.31"],
    "claude-mem": ["npm:claude-mem@13.25.3", "npm:@oven/bun-linux-x64@1.4.4"],
}
PORT = "38799"
TEXTS, DATABASES = (".json", ".jsonl", ".md"), (".db", ".db-wal", ".sqlite", ".sqlite3")

# -- inside the environment of each program ---------------------------------------------------------------------------


def mem0(out: Path) -> None:
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(out / "home"), "OPENAI_API_KEY": "none"}
    program = importlib.import_module("mem0")

    store = {"path": str(out / "qdrant"), "on_disk": True, "embedding_model_dims": 4, "collection_name": "mem0"}
    memory = program.Memory.from_config({
        "vector_store": {"provider": "qdrant", "config": store}, "history_db_path": str(out / "history.db"),
    })  # fmt: skip
    memory.embedding_model.embed = lambda text, action=None: [float(len(text) % 7), 1.0, 2.0, 3.0]
    memory.embedding_model.embed_batch = lambda texts, action=None: [[float(len(t) % 7), 1.0, 2.0, 3.0] for t in texts]
    ids = [
        memory.add(text, user_id=user, metadata=about, infer=False)["results"][0]["id"]
        for text, user, about in (
            ("Prefers tea over coffee.", "alice", {"category": "taste", "shop": {"city": "Graz"}}),
            ("The staging database is called lakeside.", "alice", {"project": "shop"}),
            ("Releases happen on Tuesdays.", "bob", None),
            ("The moon is made of cheese.", "bob", None),
        )
    ]
    memory.update(ids[2], "Releases happen on Wednesdays.")
    memory.delete(ids[3])
    found = memory.get_all(filters={"user_id": "alice"})
    (out / "export.json").write_text(json.dumps(found, indent=1))
    memory.vector_store.client.close()
    shutil.rmtree(out / "home")


def mcp_memory_service(out: Path) -> None:
    import asyncio

    pysqlite3 = importlib.import_module("pysqlite3")

    sys.modules["sqlite3"] = pysqlite3  # with extensions, which not every Python was built with
    os.environ |= {"MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec", "MCP_MEMORY_BASE_DIR": str(out), "HF_HUB_OFFLINE": "1"}
    models = importlib.import_module("mcp_memory_service.models.memory")
    storages = importlib.import_module("mcp_memory_service.storage.sqlite_vec")
    generate_content_hash = importlib.import_module("mcp_memory_service.utils.hashing").generate_content_hash

    async def fill() -> None:
        storage = storages.SqliteVecMemoryStorage(str(out / "sqlite_vec.db"))
        await storage.initialize()
        for text, tags, kind, about, at in (
            (
                "Invoices are rounded half up.",
                ["billing", "money"],
                "decision",
                {"conversation_id": "c1"},
                1762000000.0,
            ),
            ("Deploys run on Thursdays.", ["ops"], "observation", {}, 1762100000.5),
            ("Deploys run on Fridays.", ["ops"], "observation", {}, 1761000000.5),
        ):
            made = models.Memory(text, generate_content_hash(text), tags, kind, about, created_at=at)
            await storage.store(made)
        await storage.delete(generate_content_hash("Deploys run on Fridays."))
        await storage.close()

    asyncio.run(fill())


def langgraph(out: Path) -> None:
    sqlite = importlib.import_module("langgraph.store.sqlite")

    with sqlite.SqliteStore.from_conn_string(str(out / "store.db")) as store:
        store.setup()
        store.put(("memories", "alice"), "m1", {"text": "Prefers short answers.", "kind": "preference"})
        store.put(("memories", "alice"), "m2", {"data": "The API gateway listens on 8443."})
        store.put(("memories", "bob"), "m3", {"memory": "Uses vim.", "context": "asked about editors"})
        store.put(("settings",), "theme", {"dark": True})


def graphiti(out: Path) -> None:
    from datetime import UTC, datetime

    edges = importlib.import_module("graphiti_core.edges")
    nodes = importlib.import_module("graphiti_core.nodes")

    then = datetime(2025, 3, 1, 9, tzinfo=UTC)
    ana = nodes.EntityNode(name="Ana", group_id="shop", labels=["Entity", "Person"], summary="Ana is an engineer.")
    billing = nodes.EntityNode(
        name="billing-service", group_id="shop", labels=["Entity", "Service"], attributes={"tier": 1}
    )
    owned = edges.EntityEdge(
        group_id="shop", source_node_uuid=ana.uuid, target_node_uuid=billing.uuid, created_at=then, name="OWNS",
        fact="Ana owns the billing service.", valid_at=then, invalid_at=datetime(2025, 9, 1, tzinfo=UTC),
    )  # fmt: skip
    told = nodes.EpisodicNode(
        name="standup", group_id="shop", source=nodes.EpisodeType.message, source_description="chat", valid_at=then,
        content="Ana: I own billing until September.", entity_edges=[owned.uuid],
    )  # fmt: skip
    found = {
        "nodes": [json.loads(one.model_dump_json()) for one in (ana, billing)],
        "edges": [json.loads(owned.model_dump_json())],
        "episodes": [json.loads(told.model_dump_json())],
    }
    (out / "graph.json").write_text(json.dumps(found, indent=1))


def chroma(out: Path) -> None:
    chromadb = importlib.import_module("chromadb")

    client = chromadb.PersistentClient(path=str(out / "chroma"), settings=chromadb.Settings(anonymized_telemetry=False))
    mem0 = client.create_collection("mem0", embedding_function=None)
    mem0.add(
        ids=["a1"], embeddings=[[0.1, 0.2]],
        metadatas=[{"data": "Alice rides to work.", "user_id": "alice", "created_at": "2025-05-01T08:00:00Z"}],
    )  # fmt: skip


def basic_memory(out: Path, program: Path) -> None:
    home = {**os.environ, "HOME": str(out), "BASIC_MEMORY_HOME": str(out / "notes"), "NO_COLOR": "1"}
    for title, folder, tags, body in NOTES:
        command = [str(program.parent / "basic-memory"), "tool", "write-note", "--title", title, "--folder", folder]
        subprocess.run([*command, "--tags", tags], input=body.encode(), env=home, check=True, stdout=subprocess.DEVNULL)


NOTES = (
    ("Billing service", "services", "billing", (
        "# Billing service\n\nThe billing service turns orders into invoices.\n\n## Observations\n"
        "- [decision] Invoices are rounded half up #money (agreed with finance)\n"
        "- [tech] Uses PostgreSQL 16 #database\n"
        "- [ ] not an observation\n\n## Relations\n- depends_on [[Order queue]]\n"
        "- relates_to [[Deploy checklist]] (before each release)\n"
    )),
    ("Order queue", "services", "orders", (
        "# Order queue\n\nOrders wait here until they are paid.\n\n- [limit] At most 10,000 orders wait\n"
    )),
)  # fmt: skip

# -- from outside -----------------------------------------------------------------------------------------------------


def server_memory(out: Path, modules: Path) -> None:
    server = modules / "@modelcontextprotocol/server-memory/dist/index.js"
    asked = [
        ("create_entities", {"entities": [
            {"name": "Ana", "entityType": "person", "observations": ["leads billing", "works from Graz"]},
            {"name": "billing", "entityType": "service", "observations": ["runs on port 8443"]},
        ]}),
        ("create_relations", {"relations": [{"from": "Ana", "to": "billing", "relationType": "owns"}]}),
    ]  # fmt: skip
    said: list[dict[str, Any]] = [{"method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "samples", "version": "1"},
    }}, *({"method": "tools/call", "params": {"name": name, "arguments": told}} for name, told in asked)]  # fmt: skip
    lines = [json.dumps({"jsonrpc": "2.0", "id": number, **one}) for number, one in enumerate(said)]
    place = {**os.environ, "MEMORY_FILE_PATH": str(out / "memory.jsonl")}
    with subprocess.Popen(["node", server], stdin=-1, stdout=-1, stderr=-3, text=True, env=place) as process:
        assert process.stdin
        assert process.stdout
        for line in lines:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            process.stdout.readline()
        process.stdin.close()


def claude_mem(out: Path, modules: Path) -> None:
    bun = modules / "@oven/bun-linux-x64/bin/bun"
    bun.chmod(0o755)
    worker = modules / "claude-mem/plugin/scripts/worker-service.cjs"
    place = {
        **os.environ,
        "HOME": str(out),
        "CLAUDE_MEM_WORKER_PORT": PORT,
        "PATH": f"{bun.parent}:{os.environ['PATH']}",
    }
    with subprocess.Popen([bun, worker], env=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _until_ready()
            _post(
                "memory/save",
                {"text": "Priya owns the billing service.", "title": "Owner of billing", "project": "shop"},
            )
            _post("import", CLAUDE_MEM)
        finally:
            process.kill()  # so that its newest changes are still beside the database, as they are while it runs
    kept = out / ".claude-mem"
    for name in ("claude-mem.db", "claude-mem.db-wal"):
        shutil.move(kept / name, out / name)
    shutil.rmtree(kept)


AT = {"created_at": "2026-02-03T10:00:00.000Z", "created_at_epoch": 1770112800000}
CLAUDE_MEM = {
    "sessions": [{"content_session_id": "c1", "memory_session_id": "m1", "project": "shop", "user_prompt": "fix it",
                  "started_at": AT["created_at"], "started_at_epoch": AT["created_at_epoch"], "status": "completed"}],
    "observations": [{"memory_session_id": "m1", "project": "shop", "text": None, "type": "bugfix", "prompt_number": 1,
                      "title": "Rounding of invoices", "subtitle": "half up", "facts": '["Cents were cut off"]',
                      "narrative": "Invoices were cut off instead of rounded; now they are rounded half up.",
                      "concepts": '["gotcha"]', "files_read": '["billing/tax.py"]',
                      "files_modified": '["billing/round.py"]', **AT}],
    "summaries": [{"memory_session_id": "m1", "project": "shop", "request": "Fix the rounding", "investigated": None,
                   "learned": "Finance wants half up.", "completed": "Rounding fixed.", "next_steps": "Tell finance.",
                   "files_read": None, "files_edited": None, "notes": None, "prompt_number": 1, **AT}],
    "prompts": [{"content_session_id": "c1", "prompt_number": 1, "prompt_text": "fix billing", **AT}],
}  # fmt: skip


def _until_ready() -> None:
    for _ in range(60):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/api/readiness", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            pass
        time.sleep(0.5)
    raise SystemExit("claude-mem did not start.")


def _post(path: str, body: dict[str, Any]) -> None:
    request = urllib.request.Request(
        f"http://127.0.0.1:{PORT}/api/{path}", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        answer.read()


INSIDE: dict[str, Callable[[Path], None]] = {
    "mem0": mem0, "mcp-memory-service": mcp_memory_service, "langgraph": langgraph, "graphiti": graphiti,
    "chroma": chroma,
}  # fmt: skip
OUTSIDE: dict[str, Callable[[Path, Path], None]] = {
    "basic-memory": basic_memory, "server-memory": server_memory, "claude-mem": claude_mem,
}  # fmt: skip


def installed(name: str) -> Path:
    """The interpreter of a program's environment, or where its modules lie; installed where they are not there yet."""
    folder = CACHE / name
    if WANTED[name][0].startswith("npm:"):
        if not folder.exists():
            packages = [one.removeprefix("npm:") for one in WANTED[name]]
            for one in packages:  # unpacked, because some ask for more than a registry may have
                subprocess.run(["npm", "pack", "--silent", one, "--pack-destination", _made(folder)], check=True)
            for archive, package in zip(sorted(folder.glob("*.tgz")), sorted(packages, key=_archive), strict=True):
                _unpacked(archive, folder / package.rpartition("@")[0])
        if name == "server-memory":
            return ROOT / "tests" / "clients" / "node_modules"
        return folder
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(CACHE / "uv")], check=True)
        subprocess.run([str(CACHE / "uv/bin/pip"), "install", "-q", "uv"], check=True)
        uv = str(CACHE / "uv/bin/uv")
        subprocess.run([uv, "venv", "-q", "--python", "3.12", str(folder)], check=True)
        (CACHE / "newer.txt").write_text("certifi>=2024\n")  # some ask for one of tomorrow
        wanted = ["--python", str(python), "--override", str(CACHE / "newer.txt"), *WANTED[name]]
        subprocess.run([uv, "pip", "install", "-q", *wanted], check=True)
    return python


def _made(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


def _archive(package: str) -> str:
    return package.lstrip("@").replace("/", "-").replace("@", "-")


def _unpacked(archive: Path, target: Path) -> None:
    target.mkdir(parents=True)
    subprocess.run(["tar", "xzf", archive, "--strip-components=1", "-C", target], check=True)


def make(name: str) -> None:
    tool = installed(name)
    out = CACHE / "out" / name
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    if name in OUTSIDE:
        OUTSIDE[name](out, tool)
    else:
        subprocess.run([tool, __file__, "--inside", name, str(out)], check=True)
    target = TARGET / name
    shutil.rmtree(target, ignore_errors=True)
    for file in sorted(path for path in out.rglob("*") if path.is_file()):
        inside = file.relative_to(out)
        if any(part.startswith(".") for part in inside.parts) or file.suffix not in (*TEXTS, *DATABASES):
            continue
        place = target / inside
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix in TEXTS:
            shutil.copyfile(file, place)
        else:
            place.with_name(f"{place.name}.gz").write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))
    print(name, WANTED[name][0], sorted(str(one.relative_to(target)) for one in target.rglob("*") if one.is_file()))


def main() -> None:
    if sys.argv[1:2] == ["--inside"]:
        INSIDE[sys.argv[2]](Path(sys.argv[3]))
        return
    for name in sys.argv[1:] or WANTED:
        make(name)


if __name__ == "__main__":
    main()
