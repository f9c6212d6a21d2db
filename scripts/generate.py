"""What the generated parts of the docs are made of: tables of settings, errors, kinds, and the text of `--help`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from recollect import errors, types
from recollect.cli import cli
from recollect.recall.recipes import RECIPES
from recollect.settings import PREFIX, Settings
from recollect.store import postgres, postgres_server

ROOT = Path(__file__).parents[1]


def settings() -> str:
    rows = ["| setting | default | environment | meaning |", "|---|---|---|---|"]
    for f in fields(Settings):
        default = f"`{f.default}`" if str(f.default) else "empty"
        rows.append(f"| `{f.name}` | {default} | `{PREFIX}{f.name.upper()}` | {f.metadata['sentence']} |")
    return "\n".join(rows)


def error_tree(root: type[errors.RecollectError] = errors.RecollectError) -> Iterator[type[errors.RecollectError]]:
    yield root
    for child in root.__subclasses__():
        yield from error_tree(child)


def error_table() -> str:
    rows = ["| code | class | HTTP | exit | meaning | fix |", "|---|---|---|---|---|---|"]
    for error in error_tree():
        meaning = (error.__doc__ or "").strip().splitlines()[0]
        rows.append(
            f"| `{error.code}` | `{error.__name__}` | {error.status} | {error.exit} | {meaning} | {error.fix} |"
        )
    return "\n".join(rows)


def words(name: str) -> str:
    """One of the lists of words in `types`, such as KINDS."""
    return ", ".join(f"`{word}`" for word in getattr(types, name))


def commands() -> str:
    """The help of every command, as a person sees it."""
    with click.Context(cli, info_name="recollect") as top:
        return "\n\n".join(f"## {name}\n\n{help}" for name, help in _helps(cli, top))


def _helps(group: click.Group, above: click.Context) -> Iterator[tuple[str, str]]:
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        if command is None or command.hidden:
            continue
        with click.Context(command, info_name=name, parent=above, terminal_width=100, max_content_width=100) as context:
            parts = [f"```text\n{command.get_help(context)}\n```"]
            if isinstance(command, click.Group):
                parts += [f"### {name} {inner}\n\n{help}" for inner, help in _helps(command, context)]
        yield name, "\n\n".join(parts)


def results(name: str) -> dict[str, Any]:
    """The figures of a benchmark, as its last run wrote them."""
    found: dict[str, Any] = json.loads((ROOT / "bench" / "results" / f"{name}.json").read_text("utf-8"))
    return found


def operations() -> str:
    """Every operation with its address, its right, and where else it is."""
    from recollect.ops.catalogue import OPERATIONS

    rows = ["| address | right | what it does | command | MCP tool |", "|---|---|---|---|---|"]
    for one in OPERATIONS:
        addresses = "<br>".join(f"`{method} {path}`" for method, path in one.addresses)
        command, tool = (f"`{name}`" if name else "–" for name in (one.command, one.mcp))
        rows.append(f"| {addresses} | {one.right} | {one.summary} | {command} | {tool} |")
    return "\n".join(rows)


def client_verbs() -> str:
    """Every verb of the client, with the arguments that need no name."""
    from recollect.ops.catalogue import OPERATIONS
    from recollect.verbs import name_of, positional

    rows = ["| verb | what it does |", "|---|---|"]
    rows += [f"| `{name_of(one)}({', '.join(positional(one))})` | {one.summary} |" for one in OPERATIONS]
    return "\n".join(rows)


def serving() -> str:
    """The daemon at rest and under load."""
    found = results("serve")
    load, idle = found["load"], found["idle_mb"]
    rows = ["| what | figure |", "|---|---|"]
    rows.append(f"| memory at rest, model loaded, {found['memories']:,} memories | {idle['VmRSS']:,.0f} MB |")
    rows.append(f"| {load['clients']} clients for {load['seconds']:.0f} s | {load['per_s']:,} requests a second |")
    rows.append(f"| processor time of the daemon for each of them | {load['cpu_ms_each']} ms |")
    for name in ("recall", "remember"):
        took = load[name]
        figures = f"{took['p50_ms']:,.0f} / {took['p95_ms']:,.0f} / {took['p99_ms']:,.0f} ms"
        rows.append(f"| {name}, {took['count']:,} requests, p50 / p95 / p99 | {figures} |")
    rows.append(f"| errors, writes lost, memories nobody wrote | {load['error_count']}, {found['kept']['lost']}, "
                f"{found['kept']['unasked']} |")  # fmt: skip
    rows.append(f"| memory while they are at it | {load['rss_mb']['most']:,.0f} MB at most |")
    machine = found["machine"]
    busy = f"load {machine['load'][0]}" if machine["load"][0] > machine["cores"] else "otherwise idle"
    busy += f", at raised priority ({machine['priority']})" if machine["priority"] < 0 else ""
    told = f"Wall time, daemon and clients together on {machine['cpu']}, {machine['cores']} cores, {busy}."
    return "\n".join([*rows, "", f"{told} `python bench/serve.py`, commit `{machine['commit'][:10]}`."])


def answered_week() -> str:
    """A week of questions against the answer cache, with GPTCache beside it."""
    found = results("answers")
    ours, theirs, bars = found["recollect"], found["gptcache"], found["bars"]
    rows = ["| | hit rate | hits | stale | wrong |", "|---|---|---|---|---|"]
    named = {"Recollect": ours}
    for key, one in theirs.items():
        if key != "version":
            named[f"GPTCache {theirs['version']}, threshold {key} (cosine {one['cosine']:g})"] = one
    for name, one in named.items():
        rows.append(f"| {name} | {one['hit_rate']:.1%} | {one['hits']:,} | {one['stale']:,} | {one['wrong']:,} |")
    told = (
        f"{ours['asks']:,} asks, {ours['paraphrased']:,} of them in other words, {ours['changes']} changes. *Stale* is "
        "a value that the fact had before, *wrong* one that it never had; of the answers that were computed, "
        f"{ours['computed'].get('wrong', 0)} of {sum(ours['computed'].values()):,} did not give the fact either. An "
        f"answer of ours is right when the fact stands in it, also beside others that it cites. It takes "
        f"{ours['bytes_per_answer']:,} bytes (bar {bars['bytes_per_answer']:,}). Processor time of "
        f"a look at a hot answer: "
        f"{ours['cpu_ms_same_words']} ms in the same words (bar {bars['cpu_ms_same_words']:g}), "
        f"{ours['cpu_ms_other_words']} ms in other words with the embedding (bar {bars['cpu_ms_other_words']:g}), "
        f"{ours['cpu_ms_after_a_change']} ms after something else changed."
    )
    return "\n".join(
        [
            *rows,
            "",
            told,
            "",
            f"`python bench/answers.py --asks {ours['asks']} --changes {ours['changes']}`, commit "
            f"`{found['machine']['commit'][:10]}`.",
        ]
    )


def served_answers() -> str:
    """How precisely cached answers are served: `relation` beside cosines, on labelled pairs, in a cache, on our own."""
    found = results("answers_eval")
    judged, simulated, own = found["served"], found["simulation"], found["own"]
    rows = ["| way to decide | precision | recall | others served |", "|---|---|---|---|"]
    ways = {f"**reader and vetoes, risk {found['settings']['serve']:.0%}**": judged}
    ways |= {f"cosine {cut} and the vetoes": one for cut, one in found["at cosine, guarded"].items()}
    ways |= {f"cosine {cut}": one for cut, one in found["at cosine"].items()}
    for way, one in ways.items():
        rows.append(f"| {way} | {one['precision']:.1%} | {one['recall']:.1%} | {one['false hits']:.1%} |")
    rows += ["", "| recall where the precision is | 85 % | 90 % | 93 % | 95 % |", "|---|---|---|---|---|"]
    for way, at in found["recall at"].items():
        rows.append(f"| {way} | {' | '.join(f'{share:.1%}' for share in at.values())} |")
    said = " | ".join(f"{said:.2f}" for said, _, _ in found["reliability"])
    true = " | ".join(f"{true:.2f}" for _, true, _ in found["reliability"])
    rows += [
        "",
        f"| said probability | {said} |",
        f"|---|{'---|' * len(found['reliability'])}",
        f"| really the same | {true} |",
    ]
    rows += ["", "| a full cache | hits | right | wrong | not judged |", "|---|---|---|---|---|"]
    for way, one in simulated.items():
        shares = " | ".join(f"{one[name]:.1%}" for name in ("hits", "right", "wrong", "unjudged"))
        rows.append(f"| {way} | {shares} |")
    rows += ["", "| our own pairs | part | pairs | served | offered |", "|---|---|---|---|---|"]
    for name, title in (("refuse", "must be refused"), ("hit", "ask the same")):
        for part in ("dev", "held"):
            one = own[name][part]
            rows.append(f"| {title} | {part} | {one['pairs']} | {one['serve']} | {one['offer']} |")
    commit = found["provenance"]["commit"][:10]
    return "\n".join([*rows, "", f"`recollect eval answers`, commit `{commit}`."])


def speed() -> str:
    """The benchmark's figures, with the bar that each must hold."""
    found = results("speed")
    rows = ["| what | figure | bar | |", "|---|---|---|---|"]
    for row in found["bars"]:
        held = "✓" if row["holds"] else "✗ missed"
        rows.append(f"| {row['what']} | {row['value']:,} | {row['sign']} {row['bar']:,} | {held} |")
    machine = found["machine"]
    told = f"Measured in CPU time on {machine['cpu']}, {machine['cores']} cores, commit `{machine['commit'][:10]}`."
    return "\n".join([*rows, "", told])


def capturing() -> str:
    """What capture takes, from the hook to the answer."""
    found = results("capture")
    rows = ["| what | figure | bar | |", "|---|---|---|---|"]
    for row in found["bars"]:
        sign = "≥" if "a CPU second" in row["what"] else "≤"
        rows.append(
            f"| {row['what']} | {row['value']:,} | {sign} {row['bar']:g} | {'✓' if row['ok'] else '✗ missed'} |"
        )
    embedded = found["throughput"]["default"]["turns_per_cpu_s"]
    machine = found["machine"]
    told = (
        f"With the packaged embedder, which reads every turn, {embedded:,} turns a CPU second. Measured on "
        f"{machine['cpu']}, {machine['cores']} cores, commit `{machine['commit'][:10]}`, by `bench/capture.py`."
    )
    return "\n".join([*rows, "", told])


def captured() -> str:
    """What capture makes of real sessions, on repositories that were kept back."""
    found = results("capture-quality")
    figures, lines = found["figures"]["all"], found["lines"]
    rows = [
        ("lines told as typed or pasted", lines["right"], 0.97),
        ("active memories that are useful", figures["useful"], 0.85),
        ("active memories that are clearly so", figures["useful, sure"], None),
        ("active memories that were pasted", figures["pasted"], 0.03),
        ("found of what both readers would keep", figures["found"], 0.6),
        ("found of what is clearly worth it", figures["found, sure"], None),
    ]
    told = [f"| {name} | {100 * value:.1f} % | {f'{100 * goal:.0f} %' if goal else ''} |" for name, value, goal in rows]
    told.append(f"| CPU ms a turn | {found['ms a turn']} | 15 |")
    if spoken := found.get("languages"):
        worst = max(one["junk"] for name, one in spoken.items() if name != "en")
        told.append(f"| junk kept of ten messages, worst other language | {100 * worst:.0f} % | 5 % |")
        asked = min(one["requests"] for one in spoken.values())
        told.append(f"| explicit requests kept, worst language | {100 * asked:.0f} % | 100 % |")
    if held := found.get("meaning"):
        told.append(f"| meanings inverted in {held['items']:,} wordings | {held['inverted']} | 0 |")
    if (ROOT / "bench" / "results" / "capture-quality-perfect.json").exists():
        perfect = results("capture-quality-perfect")["figures"]["all"]["found"]
        told.append(f"| found where a scripted model extracts what a reader marked | {100 * perfect:.1f} % | 80 % |")
    head = (
        f"On {found['turns']:,} user turns of eight repositories that were not used for fitting: {figures['active']}"
        f" active memories, {figures['pending']} waiting for review. The two readers agreed on"
        f" {100 * lines['readers agree']:.1f} % of the lines"
    )
    if agreed := found.get("agreement"):
        head += f", and whether a turn holds anything worth keeping on {100 * agreed['turns']:.1f} %"
        head += f" of them (kappa {agreed['kappa']:.2f})"
    return "\n".join([f"{head}.", "", "| what | figure | goal |", "|---|---|---|", *told])


def ranking() -> str:
    """How well each domain is ordered by a ranker that was fitted on the others, beside plain methods."""
    methods = {"words": "BM25", "vectors": "vectors", "sum": "sum", "rrf": "RRF", "read": "Recollect"}
    rows = [f"| domain | questions | {' | '.join(methods.values())} |", f"|---|---|{'---|' * len(methods)}"]
    for name, told in results("ranker")["results"].items():
        rows.append(f"| {name} | {told['questions']} | {' | '.join(f'{told[one]:.1f}' for one in methods)} |")
    return "\n".join(rows)


def golden() -> str:
    """Our own questions: the engine and, in the same run, plain search."""
    found = results("golden")
    metrics = ("precision@5", "hit@1", "recall@10", "nDCG@10", "multi-hop@5", "abstained")
    rows = [f"| | {' | '.join(metrics)} |", f"|---|{'---|' * len(metrics)}"]
    for system, slices in found["figures"].items():
        figures = (f"{100 * slices['all'][metric]['mean']:.1f}" for metric in metrics)
        rows.append(f"| {system} | {' | '.join(figures)} |")
    return "\n".join(rows)


def recipes() -> str:
    rows = ["| recipe | for | arms | effort | cut |", "|---|---|---|---|---|"]
    for recipe in RECIPES.values():
        arms = ", ".join(f"{arm} {weight:g}" for arm, weight in recipe.arms.items())
        cuts = {name: getattr(recipe, name) for name in ("threshold", "relevance", "limit")}
        cuts["tokens"] = recipe.max_tokens
        cut = ", ".join(f"{name} {value:g}" for name, value in cuts.items() if value) or "–"
        rows.append(f"| `{recipe.name}` | {recipe.purpose} | {arms} | {recipe.effort} | {cut} |")
    return "\n".join(rows)


def one_file() -> str:
    """What one SQLite file does at the sizes that were measured."""
    found = results("speed")
    sizes = list(found["sizes"].values())
    rows = [
        f"| one file with | {' | '.join(f'{int(size):,} memories' for size in found['sizes'])} |",
        f"|---|{'---|' * len(sizes)}",
    ]
    for what, path, unit in (
        ("a question, p50 in CPU time", "recall everything total cpu_p50_ms", "ms"),
        ("a question, p95 in CPU time", "recall everything total cpu_p95_ms", "ms"),
        ("the file, beyond the text, a memory", "disk beyond text", "bytes"),
        ("the process, resident", "resident_mb vectors VmRSS", "MB"),
        ("a fresh process until its first answer, CPU time", "cold_start vectors, saved index cpu_p50_ms", "ms"),
    ):
        rows.append(f"| {what} | {' | '.join(f'{_at(size, path):,.0f} {unit}' for size in sizes)} |")
    writing = found["single"]
    told = (
        f"One memory is written in {writing['full, model']['wall_p50_ms']:.1f} ms, of which all but "
        f"{writing['full, off']['wall_p50_ms']:.1f} ms go to its vector. {_machine(found)}"
    )
    return "\n".join([*rows, "", told])


def bulk() -> str:
    """What is written a second in bulk, with the vectors given."""
    found = results("bulk")
    rows = ["| many at once, vectors given | memories | a second of CPU time | a second, on a busy machine |"]
    rows.append("|---|---|---|---|")
    for store, ways in found["stores"].items():
        for what, one in ways.items():
            cells = f"{one['count']:,} | {one['per_cpu_s']:,.0f} | {one['per_wall_s']:,.0f}"
            rows.append(f"| {store}: {what} | {cells} |")
    return "\n".join([*rows, "", _machine({"machine": found})])


def both_stores() -> str:
    """The file and PostgreSQL with the same memories and questions, once `bench/speed.py --store` has measured them."""
    if not (ROOT / "bench" / "results" / "stores.json").exists():
        return "Both on your own machine and server, side by side: `python bench/speed.py --store postgresql://…`"
    found = results("stores")
    rows = ["| memories | what | one file | PostgreSQL |", "|---|---|---|---|"]
    for size, both in found["sizes"].items():
        for what, path, unit in (
            ("a question, p50", "recall wall_p50_ms", "ms"),
            ("a question, p95", "recall wall_p95_ms", "ms"),
            ("one memory written, its vector given, p50", "writing single wall_p50_ms", "ms"),
            ("room on disk for a memory", "bytes_a_memory", "bytes"),
        ):
            cells = " | ".join(f"{_at(both[name], path):,.1f} {unit}" for name in ("sqlite", "postgres"))
            rows.append(f"| {int(size):,} | {what} | {cells} |")
        for what, path in (("copied with `migrate-store`", "copied wall_s"), ("vector index built", "index wall_s")):
            if "index" not in what or int(size) >= postgres.WORTH_AN_INDEX:  # below that there is none
                rows.append(f"| {int(size):,} | {what} | – | {_at(both['postgres'], path):,.0f} s |")
    return "\n".join([*rows, "", f"Wall time, server and caller on one machine. {_machine(found)}"])


def limits() -> str:
    """The numbers by which the PostgreSQL store decides, as the program has them."""
    rows = ["| | |", "|---|---|"]
    for what, number in (
        ("connections of one process at most, besides one that listens", postgres_server.CONNECTIONS),
        ("memories a filter lets through up to which every vector is scored", postgres.NARROW),
        ("vectors of a model from which an index is worth building", postgres.WORTH_AN_INDEX),
    ):
        rows.append(f"| {what} | {number:,} |")
    return "\n".join(rows)


def tenant_tables() -> list[str]:
    """The tables of the PostgreSQL store that have a tenant, each after those it refers to."""
    schema = (ROOT / "src" / "recollect" / "store" / "sql" / "postgres" / "schema.sql").read_text("utf-8")
    tables = dict(re.findall(r"^create table (\w+) \((.*?)^\);", schema, re.MULTILINE | re.DOTALL))
    waiting = {
        name: set(re.findall(r" references (\w+)", body)) - {name}
        for name, body in tables.items()
        if re.search(r"^ +tenant ", body, re.MULTILINE)
    }
    ordered: list[str] = []
    while waiting:
        ready = [name for name, needs in waiting.items() if needs <= set(ordered)]
        ordered += ready
        waiting = {name: needs for name, needs in waiting.items() if name not in ready}
    return ordered


def distribution() -> str:
    """The commands that spread the tables over a Citus cluster."""
    first, *others = tenant_tables()
    together = [f"select create_distributed_table('{name}', 'tenant', colocate_with => '{first}');" for name in others]
    return "\n".join(["```sql", f"select create_distributed_table('{first}', 'tenant');", *together, "```"])


def _at(found: Any, path: str) -> float:
    """The figure at a path of words, some of which may be names of several words.

    >>> _at({"disk": {"beyond text": 2}}, "disk beyond text")
    2.0
    """
    if not path:
        return float(found)
    name = next(name for name in found if path == name or path.startswith(f"{name} "))
    return _at(found[name], path[len(name) + 1 :])


def changing_model() -> str:
    """What questions had of a change of model, as `bench/switch.py` measured it."""
    places = {"sqlite": "one file", "postgres": "PostgreSQL", "remote": "one file, a busy server"}
    found = results("switch")["cases"]
    rows = [
        "| store | questions | failed | before | lowest meanwhile | after | words alone | vectors at the end |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case, one in found.items():
        phases = one["phases"]
        asked = one["recalls"] + one["recalls_of_the_daemon"]
        quality = (
            phases["before"]["recall@10"],
            min(phase["lowest"] for name, phase in phases.items() if name.startswith("life")),
            phases["after"]["recall@10"],
            phases["after"]["words alone"],
        )
        vectors = f"{one['embedded'][one['model']]:,} of {one['memories']:,}"
        failed = str(len(one["failed"]))
        cells = (places[case], f"{asked:,}", failed, *(f"{each:.3f}" for each in quality), vectors)
        rows.append(f"| {' | '.join(cells)} |")
    told = (
        "10,000 memories from the packaged model to MiniLM, with questions and writes by other processes, and "
        "the daemon killed after a third and after two thirds; recall@10 of the evidence of 120 questions of LoCoMo. "
    )
    return "\n".join([*rows, "", told + _machine(found["sqlite"])])


def going_back() -> str:
    """What a rollback costs, as `bench/rollback.py` measured it."""
    found = results("rollback")
    rows = ["| 10,000 changes | CPU | CPU of the server | wall |", "|---|---|---|---|"]
    for backend, name in (("sqlite", "one file"), ("postgres", "PostgreSQL")):
        one = found["backends"][backend]["rollback"]
        rows.append(f"| {name} | {one['cpu_s']:.1f} s | {one['server_cpu_s']:.1f} s | {one['wall_s']:.1f} s |")
    load = found["machine"]["load"][0]
    return "\n".join([*rows, "", f"{_machine(found)} It was busy with other work (load {load:.0f})."])


def cleaned() -> str:
    """How much of what was planted the janitor finds, as `bench/janitor.py` measured it."""
    rows = [
        "| memories | store | duplicates: precision, recall | contradictions: precision, recall | CPU |",
        "|---|---|---|---|---|",
    ]
    found = results("janitor")["results"]
    for one in found:
        both = (f"{one['precision'][name]:.3f}, {one['recall'][name]:.3f}" for name in ("duplicates", "contradictions"))
        name = {"team": "a team's notes", "life": "people, clients and decisions, among real texts"}[one["store"]]
        if one["embedder"] != "default":
            name += f"; vectors of `{one['embedder']}`, which know no meaning"
        rows.append(f"| {one['memories']:,} | {name} | {' | '.join(both)} | {one['cpu_seconds']:.0f} s |")
    dirty = " It held changes that were not committed yet." if any(one["machine"]["dirty"] for one in found) else ""
    return "\n".join([*rows, "", _machine(found[0]) + dirty])


def _machine(found: dict[str, Any]) -> str:
    machine = found["machine"]
    return f"Measured on {machine['cpu']}, {machine['cores']} cores, commit `{machine['commit'][:10]}`."


def assistants() -> str:
    """What held in real sessions of real assistants, and what their hook costs."""
    found = results("assistants")
    sessions = found["sessions"]
    checks = dict.fromkeys(check for session in sessions.values() for check in session["checks"])
    rows = [f"| | {' | '.join(sessions)} |", f"|---|{'---|' * len(sessions)}"]
    rows.append(f"| version | {' | '.join(session['version'] for session in sessions.values())} |")
    marks = {True: "yes", False: "**no**", None: "–"}
    for check in checks:
        rows.append(f"| {check} | {' | '.join(marks[one['checks'].get(check)] for one in sessions.values())} |")
    costs = ", ".join(f"`{command}` {cost} ms" for command, cost in found["hook_cpu_ms"].items())
    return "\n".join([*rows, "", f"Processor time in the same run, at the median: {costs}."])


def two_sessions() -> str:
    """How often what one session stated was in front of the next one's model, without a daemon on a busy machine."""
    found = results("two_sessions")
    rows = [
        "| | version | what session one stated reached session two | tools in the first turn of both |",
        "|---|---|---|---|",
    ]
    for host, one in found["assistants"].items():
        reached, tools = (f"{one[name]} of {one['of']}" for name in ("reached", "with_tools"))
        rows.append(f"| {host} | {one['version']} | {reached} | {tools} |")
    busy = f"A load of {found['load'][1]:g} (average of five minutes) on {found['cores']} cores"
    return "\n".join([*rows, "", f"{busy}, commit `{found['commit']}`."])


def tools() -> str:
    """Every tool profile with its tools."""
    from recollect.serve.tools import PROFILES

    parts = []
    for name, listed in PROFILES.items():
        also = ["Everything of `core`, and:", ""] if name == "full" else []
        rows = [*also, "| tool | what it does | hints |", "|---|---|---|"]
        for tool in listed if name != "full" else [one for one in listed if one not in PROFILES["core"]]:
            hints = [word for word, true in (("reads only", tool.read_only), ("destroys", tool.destructive)) if true]
            first = tool.description.split(". ")[0].rstrip(".")
            rows.append(f"| `{tool.signature()}` | {first}. | {', '.join(hints)} |")
        parts.append("\n".join([f"### {name}", "", *rows]))
    return "\n\n".join(parts)


def resources() -> str:
    from recollect.serve.resources import ITEM, RESOURCES

    rows = [f"- `{one.uri}`: {one.description}" for one in RESOURCES]
    return "\n".join([*rows, f"- `{ITEM}{{id}}`: one memory, as JSON."])


def prompts() -> str:
    from recollect.serve.prompts import PROMPTS

    return "\n".join(f"- `{one.name}` ({', '.join(one.arguments)}): {one.description}" for one in PROMPTS.values())
