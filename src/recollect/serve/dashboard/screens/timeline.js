// Timeline: what happened, a lane for each network; a slider of dates, the state at one, and what differs between two.
import { html, useEffect, useState } from "../base.js";
import { get } from "../api.js";
import { address, go, has, useData } from "../state.js";
import { Button, Choice, Empty, Field, Shown } from "../ui.js";
import { day, shorten } from "../words.js";
import { Changed } from "./changed.js";

const LANES = ["world", "bank", "opinion", "observation"];
const DAY = 86_400_000;
const MOST = 200; // events read at a time
const [LEFT, WIDE, HIGH] = [96, 1000, 34];

const endOf = (date) => `${date}T23:59:59.999Z`; // days are those of UTC, as everywhere on the page

export function Timeline({ values }) {
  const [project, entity, around, at, since] = ["project", "entity", "around", "at", "since"].map((name) => values[name]?.[0] || "");
  const set = (changes) => go("time", { ...values, tab: "timeline", ...changes });
  const facets = useData((signal) => get("/v1/facets", {}, { signal }), []);
  const [older, setOlder] = useState([]);
  const asked = { entity, project, around, limit: MOST };
  const found = useData((signal) => get("/v1/timeline", asked, { signal }), [project, entity, around]);
  useEffect(() => setOlder([]), [project, entity, around]);
  const more = async (cursor) => setOlder([...older, await get("/v1/timeline", { ...asked, cursor })]);
  return html`<div class="filters"><${Choice} label="Project" value=${project} options=${[["", "every project"], ...Object.keys(facets.data?.projects || {}).filter(Boolean)]} onChange=${(value) => set({ project: value })} />
      <${Typed} label="Entity" value=${entity} placeholder="any" onSet=${(value) => set({ entity: value })} />
      <${Typed} label="Around" value=${around} placeholder="a date or an event" onSet=${(value) => set({ around: value })} /></div>
    <${Shown} of=${found}>${(first) => {
      const pages = [first, ...older];
      const events = pages.flatMap((page) => page.events);
      if (!events.length) return html`<${Empty} title="Nothing then"><p>Nothing happened there.</p><//>`;
      return html`<${Days} ...${{ events, entity, project, at, since, set }} />
        ${pages.at(-1).cursor && html`<${Button} onClick=${() => more(pages.at(-1).cursor)}>Older<//>`}`;
    }}<//>`;
}

// A field whose value counts when it is sent off, so that typing asks nothing.
function Typed({ label, value, placeholder, onSet }) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  return html`<form onSubmit=${(event) => (event.preventDefault(), onSet(typed.trim()))}><${Field} label=${label} value=${typed} onInput=${setTyped} placeholder=${placeholder} /></form>`;
}

function Days({ events, entity, project, at, since, set }) {
  const times = events.map((one) => Date.parse(one.at));
  const first = new Date(`${day(new Date(Math.min(...times)).toISOString())}T12:00:00Z`).getTime();
  const many = Math.max(1, Math.round((Math.max(...times, Date.now()) - first) / DAY));
  const dateOf = (number) => day(new Date(first + number * DAY).toISOString());
  const place = at ? Math.max(0, Math.min(many, Math.round((new Date(`${at}T12:00:00Z`).getTime() - first) / DAY))) : many;
  const [slid, setSlid] = useState(place);
  useEffect(() => setSlid(place), [place]);
  const chosen = dateOf(slid);
  const until = Date.parse(endOf(chosen));
  const seen = events.filter((one) => Date.parse(one.at) <= until);
  return html`<${Lanes} events=${events} first=${first - DAY / 2} last=${first + (many + 0.5) * DAY} until=${until} />
    <div class="filters dates"><${Field} label=${`Date: ${chosen}`} type="range" min="0" max=${many} step="1" value=${slid} aria-valuetext=${chosen} onInput=${(value) => setSlid(Number(value))} onChange=${() => set({ at: slid === many ? "" : chosen })} />
      <${Field} label="Compare with" type="date" max=${chosen} value=${since} onInput=${(value) => set({ since: value })} /></div>
    ${entity && has("state") && html`<${Held} ...${{ entity, project, at: dateOf(place), since }} />`}
    ${since && has("checkpoint_diff") && html`<section aria-label="What was learnt between"><h2>Learnt between ${since} and ${dateOf(place)}</h2><${Changed} from=${endOf(since)} to=${place === many ? "now" : endOf(dateOf(place))} project=${project} key=${since + place} /></section>`}
    <h2>Until ${chosen}</h2>
    <ol class="timeline">${seen.map((one) => html`<li key=${one.memory}><time datetime=${one.at}>${day(one.at)}</time><div><span class="network n-${one.network}">${one.network}</span> <a href=${address("memories", { open: one.memory, states: "any" })}>${shorten(one.title, 160)}</a>
      <span class="dim"> ${[one.action, ...one.changes, one.until && `until ${one.until}`, one.distance].filter(Boolean).join(" · ")}</span></div></li>`)}</ol>
    ${!seen.length && html`<p class="dim pad">Nothing had happened by then.</p>`}`;
}

function Lanes({ events, first, last, until }) {
  const x = (time) => LEFT + ((time - first) / (last - first)) * (WIDE - LEFT - 12);
  const ticks = [0, 1, 2, 3, 4].map((part) => first + ((last - first) * (part + 0.5)) / 5);
  const high = LANES.length * HIGH;
  return html`<svg class="lanes" viewBox=${`0 0 ${WIDE} ${high + 24}`} role="group" aria-label="Events, a lane for each network">
    ${LANES.map((lane, row) => html`<g key=${lane} class="network n-${lane}" data-lane=${lane}><text x="0" y=${row * HIGH + 22}>${lane}</text><line x1=${LEFT} x2=${WIDE} y1=${row * HIGH + 17} y2=${row * HIGH + 17} />
      ${events.filter((one) => one.network === lane).map((one) => html`<a key=${one.memory} tabindex="-1" aria-label=${`${day(one.at)}: ${one.title}`} href=${address("memories", { open: one.memory, states: "any" })}><circle class=${Date.parse(one.at) > until ? "later" : ""} cx=${x(Date.parse(one.at))} cy=${row * HIGH + 17} r="6"><title>${`${day(one.at)}: ${one.title}`}</title></circle></a>`)}</g>`)}
    <line class="until" x1=${Math.min(WIDE, x(until))} x2=${Math.min(WIDE, x(until))} y1="0" y2=${high} />
    ${ticks.map((time) => html`<text class="tick" x=${x(time)} y=${high + 18} text-anchor="middle">${day(new Date(time).toISOString())}</text>`)}</svg>`;
}

// The attributes of an entity on one date, or beside those on another.
function Held({ entity, project, at, since }) {
  const read = async (date, signal) => (await get("/v1/state", { entity, project, true_at: endOf(date) }, { signal })).attributes;
  const found = useData((signal) => Promise.all([read(at, signal), since ? read(since, signal) : null]), [entity, project, at, since]);
  return html`<${Shown} of=${found}>${([now, before]) => {
    const names = [...new Set([...now, ...(before || [])].map((one) => one.name))].sort();
    const cell = (some, name) => some.filter((one) => one.name === name).map((one) => html`<a href=${address("memories", { open: one.memory, states: "any" })}>${one.value}</a><span class="dim"> since ${day(one.since)}</span>`);
    const differs = (name) => before && now.find((one) => one.name === name)?.value !== before.find((one) => one.name === name)?.value;
    return html`<section aria-label="State"><h2>${entity} on ${at}${since && `, and on ${since}`}</h2>${names.length ? html`<table class="state-table"><thead><tr><th scope="col">Attribute</th>${before && html`<th scope="col">${since}</th>`}<th scope="col">${at}</th></tr></thead>
      <tbody>${names.map((name) => html`<tr key=${name} class=${differs(name) ? "differs" : ""}><th scope="row">${name}</th>${before && html`<td>${cell(before, name)}</td>`}<td>${cell(now, name)}</td></tr>`)}</tbody></table>` : html`<p class="dim">No memory tells of its state by then.</p>`}</section>`;
  }}<//>`;
}
