// Review: what waits to be believed, with its quote and what it conflicts with; and what stands but should be looked at.
import { html, useCallback, useState } from "../base.js";
import { get, post } from "../api.js";
import { address, can, complain, go, has, say, useChanges, useData } from "../state.js";
import { Button, Empty, Kind, Page, Shown, State, Time, Trust, useKeys } from "../ui.js";
import { percent, placeOf, plural, shorten, titleOf } from "../words.js";
import * as actions from "../actions.js";
import { Difference } from "./detail.js";

const TABS = [
  ["waiting", "Waiting", "pending"], ["disputes", "Contradictions", "disputes"], ["twins", "Duplicates", "twins"],
  ["stale", "Stale citations", "verify"], ["secrets", "Secrets", "secrets"],
];

export function Review({ values }) {
  const tab = values.tab?.[0] || "waiting";
  const shown = TABS.filter(([, , needs]) => has(needs));
  return html`<${Page} title="Review" lead="Nothing that an assistant concluded is believed before you say so.">
    <div class="tabs" role="tablist" aria-label="What to review">${shown.map(([name, title]) => html`<a role="tab" id=${`tab-${name}`} aria-selected=${name === tab} aria-controls="tab-panel" class=${name === tab ? "here" : ""} href=${address("review", { tab: name })}>${title}</a>`)}</div>
    <div role="tabpanel" id="tab-panel" aria-labelledby=${`tab-${tab}`}>
      ${tab === "waiting" && html`<${Waiting} />`}
      ${tab === "disputes" && html`<${Pairs} path="/v1/disputes" key="disputes" kind="disputes" empty="No two memories that stand contradict each other." />`}
      ${tab === "twins" && html`<${Pairs} path="/v1/twins" key="twins" kind="twins" empty="No two memories say nearly the same." />`}
      ${tab === "stale" && html`<${Stale} />`}
      ${tab === "secrets" && html`<${Secrets} />`}</div><//>`;
}

function Waiting() {
  const found = useData((signal) => get("/v1/pending", { limit: 100 }, { signal }), []);
  const [at, setAt] = useState(0);
  useChanges(useCallback(() => found.again(), []), 300);
  const all = found.data?.memories || [];
  const current = all[Math.min(at, all.length - 1)];
  const write = can("write");
  useKeys({
    j: () => setAt((n) => Math.min(all.length - 1, n + 1)), k: () => setAt((n) => Math.max(0, n - 1)),
    Enter: () => current && go("memories", { open: current.id, states: "pending" }),
    ...(write && { a: () => current && approve(current), r: () => current && actions.rejectNow([current]), e: () => current && actions.edit(current),
      m: () => document.querySelector(".claim.here [data-merge]")?.click() }),
  });
  return html`<${Shown} of=${found}>${() => all.length
    ? html`<p class="dim">${plural(all.length, "claim waits", "claims wait")}${found.data.cursor ? " and more" : ""} · <kbd>a</kbd> approve <kbd>e</kbd> edit <kbd>r</kbd> reject <kbd>m</kbd> merge <kbd>j</kbd> <kbd>k</kbd> move</p>
      <ol class="claims">${all.map((memory, index) => html`<${Claim} key=${memory.id} memory=${memory} here=${memory === current} look=${() => setAt(index)} />`)}</ol>`
    : html`<${Empty} title="Nothing waits"><p>What an assistant concludes by itself comes here first. What you state is believed at once.</p><//>`}<//>`;
}

function Claim({ memory, here, look }) {
  const proof = useData((signal) => get(`/v1/memories/${memory.id}/evidence`, {}, { signal }), [memory.id]);
  const against = useData(async (signal) => {
    const links = await get(`/v1/memories/${memory.id}/links`, {}, { signal });
    const ids = links.filter((one) => ["contradicts", "supersedes", "elaborates", "related"].includes(one.relation)).map((one) => [one.relation, one.origin === memory.id ? one.target : one.origin]);
    return Promise.all(ids.slice(0, 3).map(async ([relation, id]) => ({ relation, memory: await get(`/v1/memories/${id}`, { peek: true }, { signal }).catch(() => null) })));
  }, [memory.id]);
  const others = (against.data || []).filter((one) => one.memory);
  const quotes = proof.data?.evidence.filter((one) => one.quote) || [];
  return html`<li class="claim card ${here ? "here" : ""}" aria-current=${here ? "true" : undefined} onClick=${look}>
    <div class="claim-sides ${others.length ? "both" : ""}">
      <div><div class="chips"><${Kind} kind=${memory.kind} /><${Trust} trust=${memory.trust} /><span class="dim">${placeOf(memory.scope)} · confidence ${percent(memory.confidence)} · <${Time} at=${memory.created_at} /></span></div>
        <p class="content">${memory.content}</p>
        ${memory.reasoning && html`<p class="reason">Why: ${memory.reasoning}</p>`}
        ${quotes.slice(0, 2).map((one) => html`<blockquote>${shorten(one.quote, 400)}<small>said by ${proof.data.source?.author || proof.data.source?.kind}</small></blockquote>`)}</div>
      ${others.map(({ relation, memory: other }) => html`<div class="against"><div class="chips"><span class="tag r-${relation}">${relation}</span><${Kind} kind=${other.kind} /><${State} state=${other.state} /><span class="dim"><${Time} at=${other.created_at} /></span></div>
        <${Difference} before=${other.content} after=${memory.content} /></div>`)}
    </div>
    ${can("write") && html`<div class="claim-actions">
      <${Button} small=${true} kind="main" onClick=${() => approve(memory)}>Approve<//>
      <${Button} small=${true} onClick=${() => actions.edit(memory)}>Edit<//>
      <${Button} small=${true} onClick=${() => actions.rejectNow([memory])}>Reject<//>
      ${others.filter((one) => one.memory.state === "active").slice(0, 1).map((one) => html`<${Button} small=${true} data-merge="1" onClick=${() => approve(memory, one.memory.id)}>Merge into the other<//>`)}
      <a class="button quiet small" href=${address("memories", { open: memory.id, states: "pending" })}>Open</a></div>`}</li>`;
}

// One of two holds: what waits is approved or rejected by that, of two that stand one is superseded.
function settle(one, other, twins) {
  if (one.state === "pending") return approve(one);
  if (other.state === "pending") return actions.rejectNow([other], "the other one holds");
  return actions.mergeInto(one, [other], twins ? "says the same" : "this one holds");
}

async function approve(memory, into = "") {
  const trail = [];
  await post("/v1/approve", { id: memory.id, ...(into && { into }) }, { trail });
  say(`${into ? "Merged" : "Approved"}: ${shorten(titleOf(memory), 60)}`, { undo: actions.back(trail) });
}

function Pairs({ path, kind, empty }) {
  const found = useData((signal) => get(path, { limit: 50 }, { signal }), [path]);
  const [at, setAt] = useState(0);
  useChanges(useCallback(() => found.again(), []), 500);
  const all = found.data || [];
  const here = Math.min(at, all.length - 1);
  const keep = (first) => () => {
    const pair = all[here];
    return pair && (first ? settle(pair.first, pair.second, kind === "twins") : settle(pair.second, pair.first, kind === "twins"));
  };
  useKeys({ j: () => setAt(Math.min(all.length - 1, here + 1)), k: () => setAt(Math.max(0, here - 1)), ...(can("write") && { 1: keep(true), 2: keep(false) }) });
  return html`<${Shown} of=${found} empty=${html`<${Empty} title="All is well"><p>${empty}</p><//>`}>${(pairs) => html`<p class="dim">${plural(pairs.length, "pair")} · <kbd>1</kbd> the first ${kind === "twins" ? "stays" : "holds"} <kbd>2</kbd> the second <kbd>j</kbd> <kbd>k</kbd> move</p><ol class="claims">${pairs.map((pair, index) => html`<li class="claim card ${index === here ? "here" : ""}" aria-current=${index === here ? "true" : undefined} onClick=${() => setAt(index)} key=${pair.first.id + pair.second.id}>
    <div class="claim-sides both">${[[pair.first, pair.second], [pair.second, pair.first]].map(([one, other]) => html`<div>
      <div class="chips"><${Kind} kind=${one.kind} /><${State} state=${one.state} /><${Trust} trust=${one.trust} /><span class="dim">${placeOf(one.scope)} · <${Time} at=${one.created_at} /></span></div>
      <p class="content">${one.content}</p>
      ${can("write") && html`<div class="claim-actions"><${Button} small=${true} kind="main" onClick=${() => settle(one, other, kind === "twins")}>${kind === "twins" ? "Keep this one" : "This one holds"}<//>
        <${Button} small=${true} onClick=${() => actions.edit(one)}>Edit<//>
        <a class="button quiet small" href=${address("memories", { open: one.id, states: "any" })}>Open</a></div>`}</div>`)}</div>
    ${(pair.reason || pair.likeness > 0) && html`<p class="dim">${pair.reason || `${percent(pair.likeness)} alike`}</p>`}</li>`)}</ol>`}<//>`;
}

function Stale() {
  const found = useData((signal) => get("/v1/browse", { tags: "stale", limit: 100 }, { signal }), []);
  useChanges(useCallback(() => found.again(), []), 500);
  return html`<${Shown} of=${found}>${(page) => page.memories.length ? html`<ol class="claims">${page.memories.map((one) => html`<li class="claim card" key=${one.id}><div class="chips"><${Kind} kind=${one.kind} /><span class="dim">${placeOf(one.scope)}</span>${one.refs.map((ref) => html`<code>${ref}</code>`)}</div>
      <p class="content">${one.content}</p>
      <div class="claim-actions"><${Button} small=${true} kind="main" onClick=${() => post("/v1/project/verify", { accept: [one.id] }).then(() => (say("Still true: it cites the files as they are now."), found.again())).catch(complain)}>Still true<//>
        <${Button} small=${true} onClick=${() => actions.edit(one)}>Edit<//><${Button} small=${true} onClick=${() => actions.forget([one])}>Forget<//></div></li>`)}</ol>`
    : html`<${Empty} title="Every citation stands"><p>When a file, symbol or commit that a memory cites changes, the memory is listed here.</p><//>`}<//>`;
}

function Secrets() {
  const found = useData((signal) => get("/v1/secrets", { limit: 100 }, { signal }), []);
  return html`<${Shown} of=${found}>${({ secrets }) => secrets.length ? html`<p>What looks like a secret was stored before it could be seen as one. <code>recollect scan --fix</code> takes all of them out, also from the history.</p>
      <ol class="claims">${secrets.map((one) => html`<li class="claim card"><div class="chips">${one.kinds.map((kind) => html`<span class="tag">${kind}</span>`)}<span class="dim">in a ${one.in}</span><span class="gap"></span><a class="button small" href=${address("memories", { open: one.memory, states: "any" })}>Open</a></div></li>`)}</ol>`
    : html`<${Empty} title="No secrets found"><p>Keys, passwords and tokens are taken out before anything is stored; this looks whether one got through.</p><//>`}<//>`;
}
