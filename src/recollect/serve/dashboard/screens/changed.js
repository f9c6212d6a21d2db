// What was added, changed, superseded and removed between two moments: checkpoints, times, or so many days ago.
import { html, useCallback } from "../base.js";
import { get } from "../api.js";
import { address, useChanges, useData } from "../state.js";
import { Kind, Shown, State } from "../ui.js";
import { number, placeOf, plain, shorten } from "../words.js";
import { Difference } from "./detail.js";

const DAYS = { "1d": 1, "7d": 7, "30d": 30 };

/** A checkpoint by its name; so many days ago as the time that was then. */
function moment(point) {
  return DAYS[point] ? new Date(Date.now() - DAYS[point] * 86_400_000).toISOString() : point;
}

const SORTS = [["added", "New"], ["changed", "Changed"], ["superseded", "Superseded"], ["removed", "Gone"]];

export function Changed({ from, to, project = "" }) {
  const found = useData((signal) => get("/v1/checkpoints/diff", { first: moment(from), last: to, project, limit: 50 }, { signal }), [from, to, project]);
  useChanges(useCallback(() => found.again(), [from, to, project]), 800);
  return html`<${Shown} of=${found}>${(all) => html`<div class="sums">${SORTS.map(([name, title]) => html`<span><strong>${number(all.counts[name] ?? all[name].length)}</strong> ${title.toLowerCase()}</span>`)}</div>
    ${SORTS.filter(([name]) => all[name].length).map(([name, title]) => html`<section aria-label=${title} key=${name}><h2>${title}</h2><ul class="plain">${all[name].map((one) => html`<li class="card" key=${one.id}><div class="chips"><${Kind} kind=${one.kind} /><${State} state=${one.state} /><span class="dim">${placeOf(one.scope)}</span><span class="gap"></span><a class="button quiet small" href=${address("memories", { open: one.id, states: "any" })}>Open</a></div>
      ${name === "changed" && Object.keys(one.fields).length ? Object.entries(one.fields).map(([field, pair]) => html`<div class="changed"><span class="dim">${field}</span><${Difference} before=${plain(pair?.[0] ?? pair?.before)} after=${plain(pair?.[1] ?? pair?.after)} /></div>`) : html`<p class="content">${shorten(one.content, 400)}</p>`}</li>`)}</ul></section>`)}
    ${SORTS.every(([name]) => !all[name].length) && html`<p class="dim pad">Nothing changed.</p>`}`}<//>`;
}
