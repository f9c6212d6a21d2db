"""The page as it is served, without a browser: what is brought along, policy, caching, logging in, operations."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path

import pytest

import recollect
from conftest import Clock
from recollect import Scope
from recollect.graph import Node, Relation
from recollect.serve import page
from recollect.serve.sessions import COOKIE, LASTS, LINK_LASTS, Sessions
from served import ANONYMOUS, Answer, Server, serving

FOLDER = page.FOLDER
OURS = [path for path in FOLDER.rglob("*") if path.suffix in (".js", ".css", ".html") and "vendor" not in path.parts]
PROOF = {"X-Recollect-Page": "1"}


@pytest.fixture
def server(memory: recollect.Engine) -> Iterator[Server]:
    with serving(memory) as running:
        yield running


# -- what is brought along --------------------------------------------------------------------------------------------


def test_what_others_wrote_is_as_it_was_published_and_small() -> None:
    told = dict(re.findall(r"^([0-9a-f]{64})  (\S+)$", (FOLDER / "vendor" / "README").read_text("utf-8"), re.MULTILINE))
    there = {path.name for path in (FOLDER / "vendor").iterdir() if path.suffix in (".js", ".css")}
    assert there == set(told.values())
    for digest, name in told.items():
        assert hashlib.sha256((FOLDER / "vendor" / name).read_bytes()).hexdigest() == digest, name
    assert sum(path.stat().st_size for path in (FOLDER / "vendor").rglob("*") if path.is_file()) <= 400_000


def test_our_own_code_stays_small_and_has_nothing_inline() -> None:
    lines = {path.name: path.read_text("utf-8").count("\n") for path in OURS}
    assert sum(lines.values()) <= 6000
    assert {name: count for name, count in lines.items() if count > 600} == {}
    shell = (FOLDER / "index.html").read_text("utf-8")
    assert re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", shell) is None
    for path in OURS:
        code = path.read_text("utf-8")
        assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|dangerously", code), (
            path
        )
        assert not re.search(r"https?://(?!www\.w3\.org)", code), "nothing is asked of elsewhere"


def test_every_module_is_reached_from_the_first_one() -> None:
    seen: set[Path] = set()
    front = [FOLDER / "main.js"]
    while front:
        path = front.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in re.findall(r'(?:from|import\()\s*"(\.[^"]+)"', path.read_text("utf-8")):
            assert (path.parent / name).is_file(), (path.name, name)
            front.append((path.parent / name).resolve())
    assert {path for path in OURS if path.suffix == ".js"} <= seen


# -- serving ----------------------------------------------------------------------------------------------------------


def test_the_page_has_a_strict_policy_and_its_files_may_be_kept_for_ever(server: Server) -> None:
    shell = server.call("GET", "/")
    assert shell.status == 200
    policy = shell.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert server.call("GET", "/", headers={"If-None-Match": shell.headers["etag"]}).status == 304
    for name in re.findall(rb'(?:src|href)="(/app/[^"]+)"', shell.body):
        file = server.call("GET", name.decode())
        assert (file.status, "immutable" in file.headers["cache-control"]) == (200, True), name
    main = re.findall(rb'src="(/app/[^"]+)main.js"', shell.body)[0].decode()
    for wrong in (
        "/app/0000/main.js", f"{main}nothing.js", f"{main}index.html", f"{main}../page.py", f"{main}%2e%2e/page.py",
        f"{main}vendor/README",
    ):  # fmt: skip
        assert server.call("GET", wrong).status == 404, wrong


# -- logging in -------------------------------------------------------------------------------------------------------


def entered(server: Server, token: str, **headers: str) -> Answer:
    return server.call("POST", "/login", {"token": token}, headers={**PROOF, **headers})


def session(answer: Answer) -> dict[str, str]:
    """What the page sends with each request once somebody has logged in."""
    value = SimpleCookie(answer.headers["set-cookie"])[COOKIE].value
    return {"Cookie": f"{COOKIE}={value}", "X-Recollect-Page": answer.data["proof"]}


def test_a_token_becomes_a_cookie_that_scripts_cannot_read_and_ends(server: Server, clock: Clock) -> None:
    token, secret = server.engine.tokens.create(name="ana", can=["read", "write"], project="web")
    answer = entered(server, secret)
    kept = answer.headers["set-cookie"].lower()
    assert "httponly" in kept
    assert "samesite=strict" in kept
    assert secret not in answer.headers["set-cookie"]
    mine = session(answer)
    who = server.call("GET", "/v1/whoami", headers=mine).data
    assert (who["token"], who["can"], who["wall"]) == (True, ["read", "write"], {"project": "web"})
    assert server.call("GET", "/v1/whoami").data["token"] is False
    assert server.call("POST", "/logout", {}, headers=mine).status == 200
    assert server.call("GET", "/v1/whoami", headers=mine).status == 401, "the cookie stands for nobody now"
    again = session(entered(server, secret))
    server.call("DELETE", f"/v1/tokens/{token.id}")
    clock.forward(seconds=10)  # a revocation counts within seconds
    assert server.call("GET", "/v1/whoami", headers=again).status == 401
    assert entered(server, "rcl_wrong").status == 401


def test_what_comes_with_a_cookie_must_come_from_the_page(server: Server) -> None:
    _, secret = server.engine.tokens.create(name="ana", can=["read", "write"])
    mine = session(entered(server, secret)) | {"Host": f"127.0.0.1:{server.port}"}
    said = {"content": "We deploy on Thursdays."}
    for taken in (mine | PROOF, mine | {"X-Recollect-Page": ""}):  # a browser hands the cookie to other ports as well
        assert server.call("GET", "/v1/export", headers=taken).status == 403
        assert server.call("POST", "/v1/memories", said, headers=taken).status == 403
    other = mine | {"Origin": "http://127.0.0.1:3000"}
    assert server.call("POST", "/v1/memories", said, headers=other).status == 403, "another port is another site"
    assert server.engine.stats()["memories"] == 0
    ours = mine | {"Origin": f"http://127.0.0.1:{server.port}"}
    assert server.call("POST", "/v1/memories", said, headers=ours).status == 201
    assert server.call("POST", "/login", {"token": secret}).status == 403, "nobody is logged in from elsewhere"
    nothing: list[object] = [{}, {"token": ""}, {"token": 5}, []]
    another = {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:3000"}
    assert server.call("POST", "/v1/mend", {}, headers=another).status == 403, "nor from another port without a cookie"
    for wrong in nothing:
        assert server.call("POST", "/login", wrong, headers=PROOF).status == 400


def test_a_session_ends_by_itself_and_old_ones_make_room() -> None:
    now = 0.0
    sessions = Sessions(lambda: now)
    value, proof = sessions.begin("rcl_x")
    found = sessions.find(value)
    assert found
    assert (found.token, found.proves(proof), found.proves(value), found.proves("")) == ("rcl_x", True, False, False)
    assert sessions.find(value[:-1]) is None
    now = LASTS
    assert sessions.find(value) is None
    first, _ = sessions.begin("rcl_y")
    for _ in range(1000):
        sessions.begin("rcl_z")
    assert sessions.find(first) is None


def test_a_login_link_counts_once_for_ten_minutes_and_for_the_owner(server: Server) -> None:
    code = server.call("POST", "/login/code").data["code"]
    _, token = server.engine.tokens.create(can=["read", "write", "admin"])
    assert server.call("POST", "/login/code", token=token).status == 403
    assert server.call("POST", "/login/code", headers=ANONYMOUS).status == 401
    assert server.call("POST", "/login", {"code": code}, headers=ANONYMOUS).status == 403, "only the page redeems it"
    answer = server.call("POST", "/login", {"code": code}, headers=PROOF | ANONYMOUS)
    assert server.call("GET", "/v1/whoami", headers=session(answer)).data["token"] is False
    assert server.secret not in str(answer.headers) + str(answer.data)
    for used in (code, code[:-1], server.secret):
        assert server.call("POST", "/login", {"code": used}, headers=PROOF | ANONYMOUS).status == 401
    now = 0.0
    sessions = Sessions(lambda: now)
    first, second = sessions.make_code(), sessions.make_code()
    now = LINK_LASTS - 1
    assert sessions.redeem(first)
    now = LINK_LASTS
    assert not sessions.redeem(second)


def test_the_cookie_of_the_owner_counts_on_this_machine_alone(server: Server) -> None:
    value, proof = server.cookie()
    mine = {"Cookie": f"{COOKIE}={value}", "X-Recollect-Page": proof}
    assert server.call("GET", "/v1/stats", headers=mine).status == 200
    assert server.call("GET", "/v1/stats", headers=mine | {"Host": "recollect.example"}).status == 403
    assert server.call("GET", "/v1/stats", headers=mine | {"X-Forwarded-For": "203.0.113.9"}).status == 401


# -- operations -------------------------------------------------------------------------------------------------------


@pytest.fixture
def stocked(server: Server) -> Server:
    memory = server.engine
    memory.remember("The gateway times out after 30 seconds.", tags=["gateway"], scope=Scope(project="web"))
    memory.remember("Always squash commits.", kind="rule", importance=8, source="https://example.com/handbook",
                    evidence="Always squash commits.")  # fmt: skip
    gone = memory.remember("The office is in Lisbon.")
    memory.forget(gone.id)
    return server


def test_memories_are_browsed_by_trust_source_and_words(stocked: Server) -> None:
    def found(query: str) -> list[str]:
        answer = stocked.call("GET", f"/v1/browse?{query}")
        assert answer.status == 200, answer.body
        return sorted(one["content"] for one in answer.data["memories"])

    assert found("") == ["Always squash commits.", "The gateway times out after 30 seconds."]
    assert found("text=gateway") == ["The gateway times out after 30 seconds."]
    assert found("text=gateway&trust=unverified") == []
    assert found("source=url") == ["Always squash commits."] == found("source=url&text=squash")
    assert found("states=archived") == ["The office is in Lisbon."]
    first = stocked.call("GET", "/v1/browse?limit=1").data
    assert found(f"limit=1&cursor={first['cursor']}") != [first["memories"][0]["content"]]
    assert stocked.call("GET", "/v1/browse?trust=none").status == 400


def test_facets_count_what_passes_and_every_state(stocked: Server) -> None:
    counts = stocked.call("GET", "/v1/facets").data
    assert counts["total"] == 2
    assert counts["kinds"] == {"fact": 1, "rule": 1}
    assert counts["states"] == {"active": 2, "archived": 1}
    assert counts["tags"] == {"gateway": 1}
    assert counts["projects"] == {"": 1, "web": 1}
    assert counts["sources"] == {"statement": 1, "url": 1}
    assert sum(counts["days"].values()) == 2
    assert stocked.call("GET", "/v1/facets?kinds=rule").data["total"] == 1
    stocked.engine.remember("One more.")
    assert stocked.call("GET", "/v1/facets").data["total"] == 3


def test_behind_a_wall_one_browses_what_is_inside(stocked: Server) -> None:
    _, secret = stocked.engine.tokens.create(name="ana", can=["read", "admin"], project="web")
    assert stocked.call("GET", "/v1/facets", token=secret).data["total"] == 1
    assert len(stocked.call("GET", "/v1/browse", token=secret).data["memories"]) == 1
    for path in ("growth", "checks", "jobs", "settings", "assistants"):
        assert stocked.call("GET", f"/v1/{path}", token=secret).status == 403, path
    assert stocked.call("POST", "/v1/models/try", {}, token=secret).status == 403


def test_the_graph_is_walked_from_a_memory_or_an_entity_and_back_in_time(stocked: Server) -> None:
    memory = stocked.engine
    first, second = (one["id"] for one in stocked.call("GET", "/v1/browse").data["memories"])
    memory.link(first, "contradicts", second, reason="they do")
    for query in ("", f"?focus={first}"):
        found = stocked.call("GET", f"/v1/graph{query}").data
        assert {dot["id"] for dot in found["dots"]} == {first, second}
        assert [link["relation"] for link in found["links"]] == ["contradicts"]
    assert stocked.call("GET", "/v1/graph?as_of=2020-01-01").data["dots"] == []
    assert stocked.call("GET", "/v1/disputes").data[0]["reason"] == "they do"
    _, secret = memory.tokens.create(name="ana", can=["read"], project="web")
    assert stocked.call("GET", "/v1/disputes", token=secret).data != [], "what holds everywhere is seen there too"
    memory.forget(first)
    assert stocked.call("GET", "/v1/disputes").data == []


def test_behind_a_wall_the_graph_has_the_entities_that_are_known_there(stocked: Server) -> None:
    memory = stocked.engine
    for project in ("web", "shop", ""):
        graph = memory.graph(Scope(project=project))
        graph.create([Node(f"{project or 'all'}-service", "service", (f"runs in {project or 'every place'}",))])
        graph.create([Node(f"{project or 'all'}-owner", "person", ())])
        graph.relate([Relation(f"{project or 'all'}-service", "owned_by", f"{project or 'all'}-owner")])
    memory.graph().relate([Relation("shop-service", "depends_on", "all-service")])
    _, secret = memory.tokens.create(name="ana", can=["read"], project="web")

    def labels(query: str = "", token: str = secret) -> set[str]:
        return {one["label"] for one in stocked.call("GET", f"/v1/graph{query}", token=token).data["dots"]}

    own = {"web-service", "web-owner", "all-service", "all-owner"}
    assert {one for one in labels() if "-" in one and ":" not in one} == own
    assert labels("?focus=web-service&depth=2") == {"web-service", "web-owner", "web-service: runs in web"}
    assert labels("?focus=shop-service&depth=3") == set(), "nor what is tied to what one may not know of"
    assert "shop-owner" not in labels("?focus=all-service&depth=4"), "no way leads through it"
    assert {"shop-service", "shop-owner"} <= labels("?focus=all-service&depth=4", token="")


def test_near_duplicates_and_secrets_are_found_and_the_secret_is_not_told(stocked: Server) -> None:
    stocked.engine.remember("The gateway times out after 30 seconds!!", scope=Scope(project="web"), tags=["again"])
    stocked.engine.remember("Gateway: the gateway times out after 30 seconds.", scope=Scope(project="web"))
    pairs = stocked.call("GET", "/v1/twins").data
    assert all(one["first"]["id"] != one["second"]["id"] for one in pairs)
    assert stocked.call("GET", "/v1/secrets").data == {"secrets": []}


def test_a_preview_tells_what_hooks_would_say_and_counts_as_nothing(stocked: Server) -> None:
    memory = stocked.engine
    memory.remember("Never push to main.", kind="rule")
    memory.remember("The gateway retries three times.", importance=9, scope=Scope(project="web"))
    asked = {"prompt": "how often does the gateway retry?", "project": "web"}
    told = stocked.call("POST", "/v1/preview", asked).data
    assert "Never push to main." in told["start"]["text"]
    assert told["start"]["tokens"] <= told["start"]["budget"]
    joined = "".join(block["text"] for block in told["start"]["blocks"])
    assert joined.split() == told["start"]["text"].split()
    assert not (memory.settings.home / "sessions").exists()
    stocked.call("POST", "/v1/recall", {"query": "gateway", "peek": True})
    memory.stats()  # writes the counters
    assert stocked.call("GET", "/v1/recalled").data == []
    assert stocked.call("GET", "/v1/looks").data["looks"] == []
    assert memory._store.sightings("default") == []


def test_what_is_recalled_is_told_with_the_question_and_behind_a_wall_only_its_own(stocked: Server) -> None:
    secret = "sk-ant-api03-" + "a1B2c3D4" * 11
    stocked.call("POST", "/v1/recall", {"query": f"when does the gateway time out? {secret}", "project": "web"})
    stocked.call("POST", "/v1/recall", {"query": "who squashes commits?"})
    first, second = stocked.call("GET", "/v1/looks").data["looks"]
    assert (first["look"]["way"], first["look"]["scope"]) == ("recall", {"project": "web"})
    assert first["look"]["question"].startswith("when does the gateway time out?")
    assert secret not in str(first)
    assert first["given"][0]["label"] == "The gateway times out after 30 seconds."
    after = first["look"]["number"]
    assert stocked.call("GET", f"/v1/looks?after={after}").data["looks"] == [second]
    _, token = stocked.engine.tokens.create(name="ana", can=["read"], project="web")
    assert stocked.call("GET", "/v1/looks", token=token).data["looks"] == [], "what the owner asks is the owner's"
    stocked.call("POST", "/v1/recall", {"query": "when does the gateway time out?"}, token)
    (own,) = stocked.call("GET", "/v1/looks", token=token).data["looks"]
    assert (own["look"]["actor"], own["look"]["scope"]) == ("token ana", {"project": "web"})
    assert stocked.call("GET", "/v1/looks").data["looks"] == [first, second, own]
    envelope = {"host": "claude", "event": "UserPromptSubmit", "cwd": "/nowhere/web", "project": "web",
                "input": {"session_id": "s1", "prompt": "The gateway times out after 30 seconds."}}  # fmt: skip
    assert stocked.call("POST", "/hook", envelope).status == 200
    told = stocked.call("GET", "/v1/looks").data["looks"][-1]["look"]
    assert (told["way"], told["actor"], told["scope"]["session"]) == ("prompt", "claude", "s1")


def test_the_last_questions_are_told_with_what_decided_and_behind_a_wall_only_its_own(stocked: Server) -> None:
    asked = {"question": "When does the gateway time out?", "project": "web"}
    for _ in range(4):  # what was asked three times is kept, and what took long sooner
        stocked.call("POST", "/v1/ask", asked)
    stocked.call("POST", "/v1/ask", {"question": "Who feeds the cat?"})
    *first, cat = stocked.call("GET", "/v1/answers/asks").data
    assert [first[place]["cached"] for place in (0, 1, 3)] == [False, False, True]
    assert (first[-1]["why"], first[-1]["scope"]) == ("the same question", {"project": "web"})
    assert first[-1]["answer"] == stocked.call("GET", "/v1/answers").data[1]["id"]
    assert (cat["cached"], cat["known"]) == (False, False)
    _, secret = stocked.engine.tokens.create(name="ana", can=["read"], project="web")
    assert stocked.call("GET", "/v1/answers/asks", token=secret).data == [], "what the owner asks is the owner's"
    stocked.call("POST", "/v1/ask", {"question": asked["question"]}, secret)
    (own,) = stocked.call("GET", "/v1/answers/asks", token=secret).data
    assert (own["cached"], own["scope"]) == (False, {"project": "web"})
    assert stocked.call("GET", "/v1/answers/asks").data == [*first, cat, own]


def test_settings_are_told_with_their_origin_and_without_passwords(server: Server) -> None:
    told = {one["name"]: one for one in server.call("GET", "/v1/settings").data["settings"]}
    assert told["recall_limit"] == {
        "name": "recall_limit", "value": "10", "default": "10", "origin": "default",
        "variable": "RECOLLECT_RECALL_LIMIT", "meaning": "How many memories recall returns by default",
    }  # fmt: skip
    assert told["store"]["origin"] == "argument"
    assert all(one["status"] in ("ok", "off") for one in server.call("POST", "/v1/models/try", {}).data["models"])


def test_growth_recalled_jobs_and_checks_are_told(stocked: Server) -> None:
    assert sum(count for _, count in stocked.call("GET", "/v1/growth?days=3660").data["made"]) == 3
    stocked.call("POST", "/v1/recall", {"query": "gateway"})
    stocked.engine.stats()
    assert stocked.call("GET", "/v1/recalled").data[0]["recalled"] >= 1
    assert stocked.call("GET", "/v1/jobs").data == {"jobs": []}
    assert {one["name"] for one in stocked.call("GET", "/v1/checks").data["checks"]} >= {"vectors"}
    assert {one["host"] for one in stocked.call("GET", "/v1/assistants").data["assistants"]} >= {"claude", "codex"}


def test_somebody_with_a_token_is_not_told_where_the_files_of_the_server_lie(stocked: Server) -> None:
    _, secret = stocked.engine.tokens.create(can=["read", "write", "admin"])
    stocked.engine.jobs.add("capture", {"file": str(stocked.engine.settings.home / "spool" / "queue.jsonl")})
    place = str(stocked.engine.settings.store_path.parent)
    home = str(stocked.engine.settings.home)
    asked = ("stats", "checks", "settings", "jobs", "assistants")
    for path in asked:
        told = stocked.call("GET", f"/v1/{path}", token=secret)
        assert told.status == 200, path
        assert place not in told.body.decode(), path
        assert home not in told.body.decode(), path
    told = stocked.call("POST", "/v1/models/try", {}, token=secret)
    assert place not in told.body.decode()
    assert home in stocked.call("GET", "/v1/settings").body.decode(), "the owner is told"
