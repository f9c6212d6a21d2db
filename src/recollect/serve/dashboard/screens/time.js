// Time: what was learnt when, what changed between two moments, and the way back.
import { html, useState } from "../base.js";
import { get, post, remove } from "../api.js";
import { address, can, complain, go, has, say, useData } from "../state.js";
import { Button, Choice, Field, Page, Shown, Time as When, confirm } from "../ui.js";
import { number, placeOf, plural } from "../words.js";
import { Changed } from "./changed.js";
import { Timeline } from "./timeline.js";

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

async function back(name) {
  const would = await post("/v1/rollback", { to: name, dry_run: true });
  const skipped = Object.entries(would.skipped);
  const said = await confirm(`Go back to "${name}"?`, html`<p>${plural(would.restored.length, "memory is", "memories are")} put back as they were, ${plural(would.archived.length, "memory that came", "memories that came")} since ${would.archived.length === 1 ? "is" : "are"} archived. What was rejected or erased stays so.</p>
    ${skipped.length > 0 && html`<ul class="preview">${skipped.slice(0, 6).map(([id, why]) => html`<li>${id.slice(-8)}: ${why}</li>`)}</ul>`}`, { yes: "Go back", danger: true });
  if (!said) return;
  const done = await post("/v1/rollback", { to: name, reason: said.reason });
  say(`Went back to "${name}": ${plural(done.restored.length + done.archived.length, "memory", "memories")} changed.`, done.undo ? { undo: () => post("/v1/rollback", { to: done.undo }) } : {});
}
