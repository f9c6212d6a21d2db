// Recall, looked into: what each arm found, how scores came about, what was dropped and why, and what it costs.
import { html, useEffect, useState } from "../base.js";
import { post } from "../api.js";
import { address, go, kept, keep, memoryOf, useData } from "../state.js";
import { Bar, Button, Choice, Copy, Empty, Field, Kind, Page, Shown, State, useLate } from "../ui.js";
import { number, plural, shorten, shortId, titleOf } from "../words.js";

const RECIPES = ["default", "conversation", "hybrid", "session_start", "deep"];
const ARMS = ["text", "vector", "links", "time", "prominence"];

export function Recall({ values }) {
  const query = values.q?.[0] || "";
  const [typed, setTyped] = useState(query);
  const late = useLate(typed, 350);
  const recipe = values.recipe?.[0] || "default";
  const other = values.with?.[0] || "";
  const project = values.project?.[0] || "";
  const budget = values.tokens?.[0] || "";
  const set = (changes) => go("recall", { ...values, ...changes }, { replace: true });
  useEffect(() => setTyped(query), [query]);
  useEffect(() => {
    if (late !== query) set({ q: late });
    if (late.trim().length > 3) keep("asked", [late, ...kept("asked", []).filter((one) => !late.startsWith(one) && one !== late)].slice(0, 8));
  }, [late]);
  const body = (name) => clean({ query, recipe: name, project, max_tokens: budget ? Number(budget) : undefined, explain: true });
  return html`<${Page} title="Recall" lead="Ask as an assistant would, and see how the answer comes about." wide=${true}
    actions=${html`<${Copy} text=${() => command(body(recipe))} label="Copy as command" /><${Copy} text=${() => JSON.stringify(body(recipe), null, 2)} label="Copy as JSON" />`}>
    <div class="ask">
      <input data-search class="ask-query" aria-label="Question" placeholder="Ask in plain words: when do we deploy, and why?" value=${typed} onInput=${(event) => setTyped(event.target.value)}
        onKeyDown=${(event) => (event.key === "Enter" ? set({ q: typed }) : event.key === "Escape" && event.target.blur())} />
      <div class="filters">
        <${Choice} label="Recipe" value=${recipe} options=${RECIPES} onChange=${(value) => set({ recipe: value })} />
        <${Choice} label="Beside it" value=${other} options=${[["", "nothing"], ...RECIPES.filter((one) => one !== recipe)]} onChange=${(value) => set({ with: value })} />
        <${Field} label="Project" value=${project} onInput=${(value) => set({ project: value })} placeholder="every project" />
        <${Field} label="Token budget" type="number" min="1" value=${budget} onInput=${(value) => set({ tokens: value })} placeholder="no limit" />
      </div></div>
    ${query.trim() ? html`<div class="compare ${other ? "both" : ""}">
      <${Answer} key=${recipe} body=${body(recipe)} name=${recipe} titled=${Boolean(other)} />
      ${other && html`<${Answer} key=${other} body=${body(other)} name=${other} titled=${true} />`}</div>`
    : html`<${Empty} title="Ask something"><p>Each candidate of each arm is shown with its score, and each that was dropped with the reason. Looking here is not counted as a recall.</p>
        <div class="chips">${kept("asked", []).map((one) => html`<button type="button" class="chip" onClick=${() => set({ q: one })}>${shorten(one, 60)}</button>`)}</div><//>`}<//>`;
}

const clean = (given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ""));
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const command = ({ query, recipe, project, max_tokens }) =>
  ["recollect recall", quoted(query), recipe !== "default" && `--recipe ${recipe}`, project && `--project ${quoted(project)}`, max_tokens && `--max-tokens ${max_tokens}`, "--explain"].filter(Boolean).join(" ");

function Answer({ body, name, titled }) {
  const found = useData((signal) => post("/v1/recall", { ...body, peek: true }, { signal }), [JSON.stringify(body)]);
  return html`<section class="answer" aria-label="Recipe ${name}" aria-busy=${found.busy}>${titled && html`<h2>${name}</h2>`}
    <${Shown} of=${found}>${(recall) => html`
      <${Summary} recall=${recall} budget=${body.max_tokens} />
      ${recall.hits.length ? html`<ol class="hits">${recall.hits.map((hit, at) => html`<${Hit} key=${hit.memory.id} hit=${hit} at=${at} best=${recall.hits[0].score} recall=${recall} />`)}</ol>`
        : html`<p class="dim pad">Nothing fits, so nothing is given. That is better than something that does not.</p>`}
      ${recall.explained && html`<${Explained} recall=${recall} />`}`}<//></section>`;
}

function Summary({ recall, budget }) {
  const stages = Object.entries(recall.timings);
  const whole = stages.reduce((sum, [, ms]) => sum + ms, 0) || 1;
  const size = budget || 2000;
  return html`<div class="summary">
    <div class="budget"><span>${plural(recall.hits.length, "hit")} · <strong>${number(recall.tokens)} tokens</strong>${budget ? ` of ${number(budget)}` : html`<span class="dim"> (a session starts with at most ${number(size)})</span>`}${recall.weak ? " · probably none answers it" : ""}${recall.time ? ` · answered ${recall.time}` : ""}</span>
      <${Bar} kind="wide" share=${recall.tokens / size} label=${`${recall.tokens} of ${size} tokens`} /></div>
    <div class="stages" role="img" aria-label=${`Stages: ${stages.map(([name, ms]) => `${name} ${ms} ms`).join(", ")}`}>${stages.filter(([, ms]) => ms / whole > 0.004).map(([stage, ms], at) => html`<span class="stage c${at % 6}" style=${{ flexGrow: ms / whole }} title=${`${stage} ${ms} ms`}>${ms / whole > 0.09 ? stage : ""}</span>`)}</div>
    <small class="dim">${whole.toFixed(1)} ms: ${stages.map(([stage, ms]) => `${stage} ${ms.toFixed(1)}`).join(" · ")}</small>
    ${recall.skipped.map((one) => html`<p class="note">Skipped ${one}</p>`)}</div>`;
}

function Hit({ hit, at, best, recall }) {
  const { memory } = hit;
  return html`<li class="hit"><span class="rank" aria-hidden="true">${at + 1}</span><div class="hit-in">
    <div class="hit-head"><${Kind} kind=${memory.kind} /><${State} state=${memory.state} /><span class="dim">${memory.scope.project || "everywhere"}</span><span class="gap"></span><strong class="mono">${hit.score.toFixed(3)}</strong></div>
    <a class="hit-text" href=${address("memories", { open: memory.id, states: "any" })}>${shorten(memory.content, 320)}</a>
    <${Bar} share=${hit.score / (best || 1)} kind="score" label=${`score ${hit.score.toFixed(3)}`} />
    <div class="arms">${ARMS.filter((arm) => arm in hit.arms).map((arm) => html`<span class="arm"><span>${arm}</span><${Bar} share=${part(recall, arm, hit.arms[arm])} kind="a-${arm}" label=${`${arm} ${hit.arms[arm]}`} /><b class="mono">${hit.arms[arm].toFixed(2)}</b></span>`)}
      ${stagesOf(recall, memory.id).map(([stage, score, share]) => html`<span class="arm stage-score"><span>${stage}</span><${Bar} share=${share} kind="a-stage" label=${`${stage} ${score}`} /><b class="mono">${score.toFixed(2)}</b></span>`)}</div>
    <small class="dim">${hit.why}</small></div></li>`;
}

// The score of a memory after each stage, with its part of the best.
function stagesOf(recall, id) {
  return Object.entries(recall.explained?.stages || {}).flatMap(([stage, scores]) => {
    const own = scores.find(([other]) => other === id);
    return own ? [[stage, own[1], own[1] / Math.max(scores[0][1], 1e-9)]] : [];
  });
}

// How much of the best score of its arm one has.
function part(recall, arm, score) {
  const all = recall.explained?.candidates[arm]?.map(([, value]) => value) || [];
  const most = Math.max(...all, score, 1e-9);
  return score / most;
}

function Explained({ recall }) {
  const { candidates, dropped, when, hints, variants } = recall.explained;
  const given = new Set(recall.hits.map((hit) => hit.memory.id));
  return html`<div class="explained">
    <h3>Understood</h3><dl class="facts"><dt>Time</dt><dd>${when || "none was named"}</dd>
      ${Object.entries(hints).map(([name, some]) => html`<dt>${name}</dt><dd>${some.join(", ")}</dd>`)}
      <dt>Also asked</dt><dd>${variants.length ? variants.join(" · ") : "nothing else"}</dd></dl>
    <h3>Candidates by arm</h3><div class="arm-lists">${Object.entries(candidates).map(([arm, some]) => html`<details class="card" open><summary>${arm} <b>${number(some.length)}</b></summary>
      <ol>${some.slice(0, 20).map(([id, score]) => html`<li key=${id} class=${given.has(id) ? "given" : ""}><${Named} id=${id} /><${Bar} share=${score / Math.max(some[0][1], 1e-9)} kind="a-${arm}" label=${String(score)} /><b class="mono">${score.toFixed(2)}</b></li>`)}</ol>
      ${some.length > 20 && html`<small class="dim">and ${some.length - 20} more</small>`}</details>`)}</div>
    <h3>Dropped</h3>${dropped.length ? html`<ul class="plain">${dropped.slice(0, 40).map(([id, why]) => html`<li><${Named} id=${id} /> <span class="dim">${why}</span></li>`)}</ul>` : html`<p class="dim">Nothing was dropped.</p>`}</div>`;
}

export function Named({ id }) {
  const [memory, set] = useState(null);
  useEffect(() => {
    let here = true;
    memoryOf(id).then((found) => here && set(found));
    return () => (here = false);
  }, [id]);
  return html`<a href=${address("memories", { open: id, states: "any" })}>${memory ? shorten(titleOf(memory), 90) : shortId(id)}</a>`;
}
