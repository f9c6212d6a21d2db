// Time: what was learnt when, what changed between two moments, and the way back.
import { html, useCallback, useMemo, useState } from "../base.js";
import { get, post, remove } from "../api.js";
import { address, can, complain, go, has, say, useChanges, useData } from "../state.js";
import { Button, Choice, Empty, Field, Kind, Page, Shown, State, Time as When, confirm } from "../ui.js";
import { day, number, placeOf, plain, plural, shorten, titleOf } from "../words.js";
import { Difference } from "./detail.js";

export function Time({ values }) {
  const tab = values.tab?.[0] || "checkpoints";
  return html`<${Page} title="Time" lead="Nothing is lost: name a moment, see what changed since, and go back.">
    <div class="tabs" role="tablist" aria-label="Time">${[["checkpoints", "Checkpoints"], ["timeline", "Timeline"]].map(([name, title]) => html`<a role="tab" id=${`tab-${name}`} aria-selected=${name === tab} aria-controls="tab-panel" class=${name === tab ? "here" : ""} href=${address("time", { tab: name })}>${title}</a>`)}</div>
    <div role="tabpanel" id="tab-panel" aria-labelledby=${`tab-${tab}`}>${tab === "timeline" ? html`<${Timeline} values=${values} />` : html`<${Checkpoints} values=${values} />`}</div><//>`;
}

function Checkpoints({ values }) {
  const found = useData((signal) => get("/v1/checkpoints", {}, { signal }), []);
  const [name, setName] = useState("");
  const from = values.from?.[0] || "";
  const to = values.to?.[0] || "now";
  const set = (changes) => go("time", { ...values, ...changes });
  const make = async () => {
    await post("/v1/checkpoints", { name });
    say(`Named this moment "${name}".`);
    setName("");
    found.again();
  };
  const drop = (one) => async () => {
    if (!(await confirm(`Drop the name "${one.name}"?`, html`<p>What it named stays in the journal.</p>`, { yes: "Drop it", reason: false }))) return;
    await remove(`/v1/checkpoints/${encodeURIComponent(one.name)}`);
    found.again();
  };
  return html`<h2>Checkpoints</h2>${can("write") && html`<form class="filters" onSubmit=${(event) => (event.preventDefault(), make().catch(complain))}><${Field} label="Name this moment" value=${name} onInput=${setName} placeholder="before the clean-up" /><button type="submit" class="button main" disabled=${!name.trim()}>Create a checkpoint</button></form>`}
    <${Shown} of=${found}>${(all) => html`
      ${all.length ? html`<ul class="plain">${all.map((one) => html`<li class="card checkpoint ${one.name === from ? "here" : ""}" key=${one.id}><div class="chips"><strong>${one.name}</strong><span class="dim">${placeOf(one.scope)} · change ${number(one.seq)}</span><${When} at=${one.created_at} /><span class="gap"></span>
          <${Button} small=${true} onClick=${() => set({ from: one.name })}>What changed since<//>
          ${can("admin") && has("rollback") && html`<${Button} small=${true} onClick=${() => back(one.name)}>Go back<//>`}
          ${can("write") && html`<${Button} small=${true} kind="quiet" onClick=${drop(one)}>Drop<//>`}</div>${one.reason && html`<p class="reason">${one.reason}</p>`}</li>`)}</ul>`
        : html`<p class="dim">None yet. Name a moment before a large change: it copies nothing and costs nothing. Before an import, a clean-up or a rollback one is made by itself.</p>`}
      <h2>What changed</h2>
      <div class="filters"><${Choice} label="From" value=${from} options=${[["", "choose a moment"], ["1d", "a day ago"], ["7d", "a week ago"], ["30d", "a month ago"], ...all.map((one) => one.name)]} onChange=${(value) => set({ from: value })} />
        <${Choice} label="To" value=${to} options=${["now", ...all.map((one) => one.name)]} onChange=${(value) => set({ to: value })} /></div>
      ${from && html`<${Changed} from=${from} to=${to} key=${from + to} />`}`}<//>`;
}

const DAYS = { "1d": 1, "7d": 7, "30d": 30 };

/** A checkpoint by its name; so many days ago as the time that was then. */
function moment(point) {
  return DAYS[point] ? new Date(Date.now() - DAYS[point] * 86_400_000).toISOString() : point;
}

async function back(name) {
  const would = await post("/v1/rollback", { to: name, dry_run: true });
  const skipped = Object.entries(would.skipped);
  const said = await confirm(`Go back to "${name}"?`, html`<p>${plural(would.restored.length, "memory is", "memories are")} put back as they were, ${plural(would.archived.length, "memory that came", "memories that came")} since ${would.archived.length === 1 ? "is" : "are"} archived. What was rejected or erased stays so.</p>
    ${skipped.length > 0 && html`<ul class="preview">${skipped.slice(0, 6).map(([id, why]) => html`<li>${id.slice(-8)}: ${why}</li>`)}</ul>`}`, { yes: "Go back", danger: true });
  if (!said) return;
  const done = await post("/v1/rollback", { to: name, reason: said.reason });
  say(`Went back to "${name}": ${plural(done.restored.length + done.archived.length, "memory", "memories")} changed.`, done.undo ? { undo: () => post("/v1/rollback", { to: done.undo }) } : {});
}

const SORTS = [["added", "New"], ["changed", "Changed"], ["superseded", "Superseded"], ["removed", "Gone"]];

function Changed({ from, to }) {
  const found = useData((signal) => get("/v1/checkpoints/diff", { first: moment(from), last: to, limit: 50 }, { signal }), [from, to]);
  useChanges(useCallback(() => found.again(), [from, to]), 800);
  return html`<${Shown} of=${found}>${(all) => html`<div class="sums">${SORTS.map(([name, title]) => html`<span><strong>${number(all.counts[name] ?? all[name].length)}</strong> ${title.toLowerCase()}</span>`)}</div>
    ${SORTS.filter(([name]) => all[name].length).map(([name, title]) => html`<section aria-label=${title} key=${name}><h2>${title}</h2><ul class="plain">${all[name].map((one) => html`<li class="card" key=${one.id}><div class="chips"><${Kind} kind=${one.kind} /><${State} state=${one.state} /><span class="dim">${placeOf(one.scope)}</span><span class="gap"></span><a class="button quiet small" href=${address("memories", { open: one.id, states: "any" })}>Open</a></div>
      ${name === "changed" && Object.keys(one.fields).length ? Object.entries(one.fields).map(([field, pair]) => html`<div class="changed"><span class="dim">${field}</span><${Difference} before=${plain(pair?.[0] ?? pair?.before)} after=${plain(pair?.[1] ?? pair?.after)} /></div>`) : html`<p class="content">${shorten(one.content, 400)}</p>`}</li>`)}</ul></section>`)}
    ${SORTS.every(([name]) => !all[name].length) && html`<p class="dim pad">Nothing changed.</p>`}`}<//>`;
}

// What was learnt in a project, or was known of an entity, month by month.
function Timeline({ values }) {
  const project = values.project?.[0] || "";
  const entity = values.entity?.[0] || "";
  const at = values.at?.[0] || "";
  const [typed, setTyped] = useState(entity);
  const set = (changes) => go("time", { ...values, tab: "timeline", ...changes });
  const facets = useData((signal) => get("/v1/facets", {}, { signal }), []);
  const found = useData(async (signal) => (entity ? (await get("/v1/state", { entity, at, project }, { signal })).memories : (await get("/v1/browse", { project, limit: 300, states: ["active", "superseded"] }, { signal })).memories), [project, entity, at]);
  const days = useMemo(() => {
    const groups = new Map();
    for (const one of found.data || []) {
      const key = day(one.valid_from || one.created_at);
      groups.set(key, [...(groups.get(key) || []), one]);
    }
    return [...groups].sort(([a], [b]) => (a < b ? 1 : -1));
  }, [found.data]);
  return html`<div class="filters"><${Choice} label="Project" value=${project} options=${[["", "every project"], ...Object.keys(facets.data?.projects || {}).filter(Boolean)]} onChange=${(value) => set({ project: value })} />
    ${has("state") && html`<form onSubmit=${(event) => (event.preventDefault(), set({ entity: typed.trim() }))}><${Field} label="Entity" value=${typed} onInput=${setTyped} placeholder="any" /></form><${Field} label="As of" type="date" value=${at} onInput=${(value) => set({ at: value })} disabled=${!entity} />`}</div>
    <${Shown} of=${found}>${() => days.length ? html`<ol class="timeline">${days.map(([when, some]) => html`<li key=${when}><time datetime=${when}>${when}</time><ul class="plain">${some.map((one) => html`<li key=${one.id}><${Kind} kind=${one.kind} /> <${State} state=${one.state} /> <a href=${address("memories", { open: one.id, states: "any" })}>${shorten(titleOf(one), 160)}</a></li>`)}</ul></li>`)}</ol>`
      : html`<${Empty} title="Nothing then"><p>Nothing was known there at that time.</p><//>`}<//>`;
}
