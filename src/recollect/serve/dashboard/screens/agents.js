// Agents: who works on this memory and when they were last there, what they share, and the work they hand over.
import { html, useEffect, useState } from "../base.js";
import { get, post, remove } from "../api.js";
import { can, onEntry, say, useData } from "../state.js";
import { Button, Empty, Page, Shown, Time, confirm } from "../ui.js";
import { plural, shorten } from "../words.js";

const NOUNS = ["agent", "pool", "member", "share", "handoff"];
const COLUMNS = [["pending", "Waiting"], ["accepted", "Taken"], ["completed", "Done"], ["rejected", "Rejected"], ["expired", "Expired"]];

// Asked for again after changes of what this screen shows, and once in a while: that an agent is there is no change.
function useLive(ask) {
  const found = useData(ask, []);
  const [turn, again] = useState(0);
  useEffect(() => {
    let timer = 0;
    const end = onEntry((entry) => {
      if (!NOUNS.includes(entry.noun)) return;
      clearTimeout(timer);
      timer = setTimeout(() => again((n) => n + 1), 200);
    });
    const every = setInterval(() => again((n) => n + 1), 30000);
    return () => (clearTimeout(timer), clearInterval(every), end());
  }, []);
  useEffect(() => void (turn && found.again()), [turn]);
  return found;
}

export function Agents() {
  const agents = useLive((signal) => get("/v1/agents", {}, { signal }));
  const names = Object.fromEntries((agents.data?.agents || []).map((one) => [one.id, one.name]));
  return html`<${Page} title="Agents" wide=${true} lead="Who works on this memory, what they share with each other, and the work they hand over.">
    <${Shown} of=${agents}>${({ agents: all }) => html`<${Registry} all=${all} />`}<//>
    <h2>Handoffs</h2><${Board} names=${names} />
    <h2>Pools</h2><${Pools} /><//>`;
}

function Registry({ all }) {
  const turn = (one) => async () => {
    if (one.retired_at) await post(`/v1/agents/${one.id}/activate`, {});
    else {
      const said = await confirm(`Deactivate ${one.name}?`, html`<p>It can do nothing any more, what it shared is shared no longer, and what it took over goes back.</p>`, { yes: "Deactivate", danger: true });
      if (!said) return;
      await remove(`/v1/agents/${one.id}`, said.reason ? { reason: said.reason } : {});
    }
    say(`${one.name} is ${one.retired_at ? "active" : "deactivated"}.`);
  };
  if (!all.length) return html`<${Empty} title="No agents yet"><p>An assistant that is connected registers itself when it calls for the first time.</p><//>`;
  return html`<div class="scroll" tabindex="0"><table class="agents"><thead><tr><th scope="col">agent</th><th scope="col">type</th><th scope="col">of</th><th scope="col">last there</th><th scope="col">sessions</th><th scope="col">can</th><th scope="col">reads up to</th><th scope="col"><span class="hidden">action</span></th></tr></thead>
    <tbody>${all.map((one) => html`<tr key=${one.id} class=${one.retired_at ? "dim" : ""}><th scope="row">${one.name}</th><td>${one.kind}</td><td>${one.scope.user || "everybody"}</td>
      <td>${one.retired_at ? "deactivated" : one.last_seen ? html`<${Time} at=${one.last_seen} />` : "not yet"}</td><td>${one.sessions}</td><td>${one.can.map((what) => html`<span class="tag">${what.replaceAll("_", " ")}</span> `)}</td><td>${one.reach.replaceAll("_", " ")}</td>
      <td>${can("orchestrate") && html`<${Button} small=${true} onClick=${turn(one)}>${one.retired_at ? "Activate" : "Deactivate"}<//>`}</td></tr>`)}</tbody></table></div>`;
}

function Board({ names }) {
  const found = useLive((signal) => get("/v1/handoffs", { limit: 200 }, { signal }));
  const who = (id) => names[id] || (id ? id.slice(-8) : "");
  return html`<${Shown} of=${found}>${({ handoffs }) => handoffs.length
    ? html`<div class="board">${COLUMNS.map(([state, title]) => {
        const some = handoffs.filter((one) => one.state === state);
        return html`<section key=${state} class="lane" aria-label=${title}><h3>${title} <span class="dim">${some.length}</span></h3>
          ${some.map((one) => html`<article class="card handoff" key=${one.id}><p>${shorten(one.task, 200)}</p>
            <p class="dim">${who(one.source)} → ${who(one.taken_by || one.target) || `whoever has ${one.needs.replaceAll("_", " ")}`}</p>
            ${one.reason && html`<p class="reason">${one.reason}</p>`}
            <p class="dim"><${Time} at=${one.closed_at || one.accepted_at || one.created_at} />${one.attempts > 0 && html` · given back ${plural(one.attempts, "time")}`}${one.memories.length > 0 && html` · ${plural(one.memories.length, "memory", "memories")}`}</p></article>`)}</section>`;
      })}</div>`
    : html`<p class="dim">No work was handed over yet.</p>`}<//>`;
}

function Pools() {
  const found = useLive((signal) => get("/v1/pools", {}, { signal }));
  return html`<${Shown} of=${found}>${({ pools }) => pools.length
    ? html`<div class="ways">${pools.map((one) => html`<div class="card pool" key=${one.id}><h3>${one.name}</h3>${one.purpose && html`<p>${one.purpose}</p>`}
        <p class="dim">${plural(one.memories, "memory", "memories")} · up to ${one.reach.replaceAll("_", " ")} · ${one.joining === "open" ? "open" : "by invitation"}</p>
        <ul class="members">${one.members.map((member) => html`<li key=${member.agent}>${member.name} <span class="tag">${member.state === "invited" ? "invited" : member.permission}</span></li>`)}</ul></div>`)}</div>`
    : html`<p class="dim">Nothing is shared yet. An agent makes a pool with <code>create_pool</code>, or you do: <code>recollect pool create NAME</code></p>`}<//>`;
}
