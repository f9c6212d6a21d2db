// The facets beside the list: how many there are of each sort, and a click narrows to it.
import { html, useState } from "../base.js";
import { Bar } from "../ui.js";
import { number } from "../words.js";

const GROUPS = [
  ["kinds", "Kind"], ["networks", "Network"], ["states", "State"], ["trusts", "Trust"], ["projects", "Project"], ["tags", "Tag"], ["sources", "Source"],
];
const SPANS = [["", "any time"], ["1d", "today"], ["7d", "7 days"], ["30d", "30 days"], ["365d", "a year"]];
const FEW = 8;

export function Facets({ counts, filter, set }) {
  const data = counts.data;
  return html`<aside class="facets" aria-label="Filters" aria-busy=${counts.busy ? "true" : "false"}><details open=${matchMedia("(min-width: 900px)").matches}><summary>Filters</summary>
    ${GROUPS.map(([name, title]) => html`<${Group} key=${name} name=${name} title=${title} counts=${data?.[name] || {}} filter=${filter} set=${set} />`)}
    <fieldset class="facet"><legend>Time</legend>
      <div class="chips">${SPANS.map(([span, words]) => html`<button type="button" class="chip small ${(filter.since?.[0] || "") === span ? "on" : ""}"
        aria-pressed=${(filter.since?.[0] || "") === span} onClick=${() => set({ since: span || undefined, until: undefined })}>${words}</button>`)}</div>
      ${Object.keys(data?.days || {}).length > 1 && html`<${Days} days=${Object.entries(data.days)} />`}</fieldset>
    <fieldset class="facet"><legend>Importance</legend>
      <label class="slider"><span>at least ${filter.min_importance?.[0] || 1}</span>
        <input type="range" min="1" max="10" aria-label="Least importance" value=${filter.min_importance?.[0] || 1} onChange=${(event) => set({ min_importance: event.target.value === "1" ? undefined : event.target.value })} /></label></fieldset>
  </details></aside>`;
}

function Group({ name, title, counts, filter, set }) {
  const [all, setAll] = useState(false);
  const key = name === "projects" ? "project" : name;
  const chosen = filter[key] || [];
  const names = Object.keys(counts);
  for (const one of chosen) if (one !== "any" && !names.includes(one)) names.unshift(one);
  const shown = names.filter((one) => name !== "projects" || one);
  if (!shown.length) return null;
  const most = Math.max(1, ...Object.values(counts));
  const click = (one) => {
    const on = chosen.includes(one);
    if (key === "project") return set({ project: on ? undefined : one });
    const next = on ? chosen.filter((other) => other !== one) : [...chosen.filter((other) => other !== "any"), one];
    set({ [key]: next.length ? next : undefined });
  };
  return html`<fieldset class="facet"><legend>${title}</legend><ul>${shown.slice(0, all ? 60 : FEW).map((one) => html`<li key=${one}>
    <button type="button" class="facet-one ${chosen.includes(one) ? "on" : ""}" aria-pressed=${chosen.includes(one)} onClick=${() => click(one)}>
      <span class="facet-name">${one}</span>${counts[one] !== undefined && html`<${Bar} share=${counts[one] / most} label=${`${counts[one]}`} /><span class="facet-count">${number(counts[one])}</span>`}</button></li>`)}
    ${name === "states" && html`<li><button type="button" class="facet-one ${chosen.includes("any") ? "on" : ""}" aria-pressed=${chosen.includes("any")} onClick=${() => set({ states: chosen.includes("any") ? undefined : ["any"] })}><span class="facet-name">any state</span></button></li>`}
    </ul>${shown.length > FEW && html`<button type="button" class="link" onClick=${() => setAll(!all)}>${all ? "fewer" : `${Math.min(60, shown.length) - FEW} more`}</button>`}</fieldset>`;
}

function Days({ days }) {
  const count = (date) => new Date(date).getTime() / 86400000;
  const first = count(days[0][0]);
  const last = count(days[days.length - 1][0]);
  const bins = 36;
  const sums = new Array(bins).fill(0);
  for (const [date, number] of days) sums[Math.min(bins - 1, Math.floor(((count(date) - first) / (last - first + 1)) * bins))] += number;
  const most = Math.max(...sums);
  return html`<svg class="days" viewBox="0 0 ${bins * 4} 32" preserveAspectRatio="none" role="img" aria-label="When they were made, from ${days[0][0]} to ${days.at(-1)[0]}">
    ${sums.map((sum, at) => html`<rect x=${at * 4} width="3" y=${32 - (sum / most) * 32} height=${(sum / most) * 32} />`)}</svg>
    <small class="ends"><span>${days[0][0]}</span><span>${days.at(-1)[0]}</span></small>`;
}
