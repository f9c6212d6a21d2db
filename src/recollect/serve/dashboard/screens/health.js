// Health: how much there is and how it grows, how fast answers come, what waits, what it costs, and what is wrong.
import { html, useEffect, useRef, useState } from "../base.js";
import { get, post, text } from "../api.js";
import { can, complain, has, say, useData } from "../state.js";
import { Bar, Button, Copy, Figure, Page, Shown, Time } from "../ui.js";
import { bytes, number, percent, plural, seconds } from "../words.js";
import { Chart } from "../chart.js";
import { parse, quantile } from "../metrics.js";

export function Health() {
  const stats = useData((signal) => get("/v1/stats", {}, { signal }), []);
  const samples = useSamples();
  useEffect(() => {
    const timer = setInterval(stats.again, 10000);
    return () => clearInterval(timer);
  }, []);
  return html`<${Page} title="Health" lead="How much there is, how fast it answers, and what wants your attention." wide=${true}>
    <${Shown} of=${stats}>${(all) => html`<${Counts} stats=${all} />`}<//>
    <div class="cards">
      ${has("growth") && html`<${Growth} />`}
      <${Latency} samples=${samples} />
      ${can("admin") && has("checks") && html`<${Doctor} />`}
      ${has("jobs") && html`<${Queue} />`}
      ${has("usage") && html`<${Ledger} />`}
      ${has("health") && html`<${Index} />`}
      ${has("janitor_report") && html`<${Janitor} />`}
      <${Errors} samples=${samples} />
    </div><//>`;
}

function Counts({ stats }) {
  const active = stats.by_state?.active || 0;
  const embedded = Object.values(stats.embedded || {});
  const covered = stats.memories ? Math.min(1, Math.max(0, ...embedded, 0) / stats.memories) : 1;
  const cache = stats.recall_cache;
  return html`<div class="figures"><${Figure} label="active memories" value=${active} note=${`${number(stats.memories)} in all`} />
    <${Figure} label="waiting for review" value=${stats.by_state?.pending || 0} />
    ${stats.sources !== undefined && html`<${Figure} label="sources" value=${stats.sources} note=${`${number(stats.evidence)} quotes`} />
      <${Figure} label="links" value=${stats.links} note=${plural(stats.entities, "entity", "entities")} />
      <${Figure} label="have their vector" value=${percent(covered)} note=${Object.keys(stats.embedded).join(", ") || "no model"} kind=${covered < 0.99 ? "warn" : ""} />
      <${Figure} label="on disk" value=${bytes(stats.bytes)} note=${`${number(stats.journal)} changes in the journal`} />`}
    ${cache && html`<${Figure} label="recalls from the cache" value=${percent(cache.hits / Math.max(1, cache.hits + cache.misses))} note=${`${number(cache.hits)} of ${number(cache.hits + cache.misses)}`} />`}</div>`;
}

function Growth() {
  const found = useData((signal) => get("/v1/growth", { days: 90 }, { signal }), []);
  return html`<section class="card tall" aria-label="Growth"><h2>Growth</h2><${Shown} of=${found}>${({ made, before, work }) => {
    const byDay = new Map(made);
    const changes = new Map(work.map(([day, counts]) => [day, Object.values(counts).reduce((sum, one) => sum + one, 0)]));
    const days = spread([...byDay.keys(), ...changes.keys()]);
    let sum = before;
    const total = days.map((day) => (sum += byDay.get(day) || 0));
    const times = days.map((day) => new Date(day).getTime() / 1000);
    return html`<${Chart} label="Memories in all over the last 90 days, ${number(sum)} now" times=${times} lines=${[{ label: "memories", values: total, colour: "--accent" }]} format=${number} />
      <h3>Changes a day</h3><${Chart} label="Changes a day" height=${120} times=${times} lines=${[{ label: "changes", values: days.map((day) => changes.get(day) || 0), colour: "--c1", bars: true }]} format=${number} />`;
  }}<//></section>`;
}

function spread(days) {
  if (!days.length) return [];
  const sorted = days.sort();
  const all = [];
  for (let at = new Date(sorted[0]).getTime(); at <= new Date(sorted.at(-1)).getTime(); at += 86400000) all.push(new Date(at).toISOString().slice(0, 10));
  return all;
}

// What /metrics told, every five seconds while the screen is open.
function useSamples() {
  const [samples, set] = useState([]);
  const last = useRef(null);
  useEffect(() => {
    let here = true;
    const look = async () => {
      try {
        const found = { at: Date.now() / 1000, ...parse(await text("/metrics")) };
        if (here) set((old) => [...old.slice(-119), found]);
      } catch (error) {
        if (!last.current) complain(error);
        last.current = error;
      }
    };
    look();
    const timer = setInterval(look, 5000);
    return () => (here = false, clearInterval(timer));
  }, []);
  return samples;
}

const HIDDEN = new Set(["other", "page", "metrics", "events"]);

function Latency({ samples }) {
  const now = samples.at(-1);
  if (!now) return html`<section class="card" aria-label="Latency"><h2>Latency</h2><p class="waiting">Loading…</p></section>`;
  const rows = Object.entries(now.histograms).filter(([name, one]) => !HIDDEN.has(name) && one.count).sort((a, b) => b[1].count - a[1].count).slice(0, 12);
  const recall = samples.map((one) => one.histograms.recall).map((one) => (one?.count ? quantile(one, 0.95) : null));
  return html`<section class="card tall" aria-label="Latency"><h2>Latency</h2>
    <div class="scroll" tabindex="0"><table><thead><tr><th scope="col">operation</th><th scope="col">times</th><th scope="col">p50</th><th scope="col">p95</th></tr></thead>
      <tbody>${rows.map(([name, one]) => html`<tr><th scope="row">${name}</th><td>${number(one.count)}</td><td>${seconds(quantile(one, 0.5))}</td><td>${seconds(quantile(one, 0.95))}</td></tr>`)}</tbody></table></div>
    ${Object.keys(now.stages).length > 0 && html`<h3>Stages of recall</h3><table><thead><tr><th scope="col">stage</th><th scope="col">p50</th><th scope="col">p95</th></tr></thead>
      <tbody>${Object.entries(now.stages).map(([stage, at]) => html`<tr><th scope="row">${stage}</th><td>${seconds(at["0.5"])}</td><td>${seconds(at["0.95"])}</td></tr>`)}</tbody></table>`}
    ${recall.some((one) => one !== null) && html`<h3>p95 of recall, while this screen is open</h3><${Chart} label="p95 of recall" height=${110} times=${samples.map((one) => one.at)} lines=${[{ label: "p95", values: recall, colour: "--accent" }]} format=${seconds} />`}</section>`;
}

function Errors({ samples }) {
  const now = samples.at(-1);
  const wrong = Object.entries(now?.statuses || {}).filter(([status]) => status >= "400").sort();
  return html`<section class="card" aria-label="Errors"><h2>Errors since it started</h2>
    ${wrong.length ? html`<table><tbody>${wrong.map(([status, count]) => html`<tr><th scope="row">${status}</th><td>${number(count)}</td></tr>`)}</tbody></table><p class="dim">The log tells more: <code>recollect logs</code></p>` : html`<p class="dim">None.</p>`}
    ${now && html`<p class="dim">${plural(now.gauges.recollect_http_streams || 0, "open stream")} · ${bytes(now.gauges.process_resident_memory_bytes || 0)} of memory</p>`}</section>`;
}

function Doctor() {
  const found = useData((signal) => get("/v1/checks", {}, { signal }), []);
  const fix = { vectors: ["Embed now", () => post("/v1/embed").then((done) => say(`Embedded ${plural(done.embedded, "memory", "memories")}.`))], "full text": ["Build it again", () => post("/v1/mend").then(() => say("The full text index is built again."))] };
  return html`<section class="card" aria-label="Doctor"><h2>Doctor</h2><${Shown} of=${found}>${({ checks }) => html`<ul class="checks">${checks.map((one) => html`<li class="check ${one.status}" key=${one.name}>
    <span class="mark" role="img" aria-label=${one.status}></span><div><strong>${one.name}</strong> <span class="dim">${one.detail}</span>
    ${one.status !== "ok" && one.fix && html`<div class="fix"><code>${one.fix}</code>${fix[one.name] && html`<${Button} small=${true} onClick=${() => fix[one.name][1]().then(found.again)}>${fix[one.name][0]}<//>`}</div>`}</div></li>`)}</ul>
    <div class="fix"><${Button} small=${true} onClick=${found.again}>Look again<//><${Copy} text="recollect doctor" label="Copy the whole check" /></div>`}<//></section>`;
}

function Queue() {
  const found = useData((signal) => get("/v1/jobs", { limit: 200 }, { signal }), []);
  useEffect(() => {
    const timer = setInterval(found.again, 5000);
    return () => clearInterval(timer);
  }, []);
  return html`<section class="card" aria-label="Queue"><h2>Queue</h2><${Shown} of=${found}>${({ jobs }) => {
    const open = jobs.filter((job) => ["queued", "running"].includes(job.state));
    const due = open.filter((job) => job.state === "queued").map((job) => (Date.now() - new Date(job.run_at)) / 1000);
    return html`<p>${plural(open.length, "job")} open · ${plural(jobs.filter((job) => job.state === "failed").length, "failed", "failed")}${due.some((one) => one > 0) ? ` · the oldest waits ${seconds(Math.max(...due))}` : ""}</p>
      <ul class="plain">${jobs.slice(0, 6).map((job) => html`<li key=${job.id}><span class="state s-${job.state}">${job.state}</span> ${job.kind} <span class="dim"><${Time} at=${job.finished_at || job.created_at} /></span>
        ${job.progress?.total > 0 && job.state === "running" && html`<${Bar} kind="wide" share=${job.progress.done / job.progress.total} />`}${job.error && html`<small class="reason">${job.error}</small>`}</li>`)}</ul>${!jobs.length && html`<p class="dim">Nothing was ever put off.</p>`}`;
  }}<//></section>`;
}

function Ledger() {
  const found = useData((signal) => get("/v1/usage", {}, { signal }), []);
  return html`<section class="card" aria-label="Costs"><h2>Tokens and money</h2><${Shown} of=${found}>${(usage) => {
    const budgets = Object.entries(usage.budgets || {}).filter(([, one]) => one && typeof one === "object");
    return html`${budgets.map(([name, one]) => html`<div class="budget"><span>${SPANS[name] || name}: <strong>${plainly(name, one.spent)}</strong> ${one.limit ? `of ${plainly(name, one.limit)}` : "and no limit"}</span>${one.limit > 0 && html`<${Bar} kind="wide" share=${one.spent / one.limit} />`}</div>`)}
      ${(usage.rows || []).length ? html`<table><tbody>${usage.rows.slice(0, 8).map((row) => html`<tr>${[row.day, row.operation, row.model].map((one) => html`<td>${one}</td>`)}<td>${number((row.tokens_in || 0) + (row.tokens_out || 0))}</td></tr>`)}</tbody></table>` : html`<p class="dim">No model on a server was asked this month.</p>`}`;
  }}<//></section>`;
}
const SPANS = { day: "Money today", month: "Money this month", tokens: "Tokens today" };
const plainly = (name, value) => (name === "tokens" ? number(value) : Number(value || 0).toLocaleString("en", { style: "currency", currency: "USD" }));

function Index() {
  const [state, set] = useState(null);
  const measure = async () => set(await post("/v1/health", { rebuild: false }));
  return html`<section class="card" aria-label="Index recall"><h2>Recall of the index</h2>
    ${state ? html`<p class="state s-${state.status}">${state.status}</p><table><tbody>${Object.entries(state.recall).map(([kind, share]) => html`<tr><th scope="row">${kind}</th><td>${percent(share)}</td><td><${Bar} share=${share} /></td></tr>`)}</tbody></table>${state.advice && html`<p class="dim">${state.advice}</p>`}`
      : html`<p class="dim">Fifty questions are asked of the index and of an exact search.</p>`}
    <${Button} small=${true} onClick=${measure}>Measure now<//></section>`;
}

function Janitor() {
  const found = useData((signal) => get("/v1/janitor", {}, { signal }), []);
  const [would, set] = useState(null);
  const run = (dry) => async () => {
    const told = await post("/v1/janitor", { dry_run: dry });
    if (dry) return set(told.report);
    say("The janitor is asked to run.");
    return found.again();
  };
  return html`<section class="card" aria-label="Janitor"><h2>Janitor</h2><${Shown} of=${found}>${({ report }) => html`
      ${report ? html`<${Steps} report=${report} />` : html`<p class="dim">It has not run yet.</p>`}${would && html`<h3>It would now make ${plural(would.changed, "change")}</h3><${Steps} report=${would} />`}`}<//>
    ${can("admin") && html`<div class="fix"><${Button} small=${true} onClick=${run(true)}>What would it do?<//><${Button} small=${true} onClick=${run(false)}>Run now<//></div>`}</section>`;
}

const Steps = ({ report }) => html`<table><thead><tr><th scope="col">step</th><th scope="col">looked at</th><th scope="col">changed</th></tr></thead>
  <tbody>${report.steps.map((one) => html`<tr><th scope="row">${one.step}</th><td>${number(one.looked)}</td><td>${number(one.changed)}</td></tr>`)}</tbody></table>`;
