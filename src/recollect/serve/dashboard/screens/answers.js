// Answers: questions that were asked, with the answers that are kept: how often they are served, why, and on what they rest.
import { html, useEffect, useState } from "../base.js";
import { get, post } from "../api.js";
import { can, go, say, useData } from "../state.js";
import { Bar, Button, Choice, Empty, Figure, Page, Shown, Time, useLate } from "../ui.js";
import { bytes, number, percent, plural, shorten } from "../words.js";
import { Chart } from "../chart.js";
import { Named } from "./recall.js";

const TIERS = [["", "every tier"], "cold", "warm", "hot", "core"];

export function Answers({ values }) {
  const tier = values.tier?.[0] || "";
  const open = values.open?.[0] || "";
  const [typed, setTyped] = useState(values.q?.[0] || "");
  const late = useLate(typed, 500);
  const set = (changes) => go("answers", { ...values, ...changes }, { replace: true });
  const stats = useData((signal) => get("/v1/answers/stats", {}, { signal }), []);
  const list = useData((signal) => get("/v1/answers", { tier, limit: 200 }, { signal }), [tier]);
  const asked = useData((signal) => (late.trim() ? post("/v1/ask", { question: late }, { signal }) : null), [late]);
  const rate = useRate(stats);
  useEffect(() => {
    if (asked.data) stats.again(), list.again();
  }, [asked.data]);
  const again = () => (stats.again(), list.again());
  return html`<${Page} title="Answers" lead="What was asked before is answered at once, as long as what it rests on stands." wide=${true}>
    <${Shown} of=${stats}>${(all) => html`<div class="figures"><${Figure} label="served from the cache" value=${percent(all.hit_rate)} note=${`${number(all.hits)} of ${plural(all.asked, "question")}`} /><${Figure} label="answers kept" value=${all.answers} note=${`of at most ${number(all.most)}`} /><${Figure} label="no longer hold" value=${all.stale} /><${Figure} label="in the cache" value=${bytes(all.bytes)} note=${`${number(all.bytes_per_answer)} bytes each`} />
      ${Object.entries(all.tiers || {}).map(([name, count]) => html`<${Figure} label=${name} value=${count} />`)}</div>`}<//>
    ${rate.length > 1 && html`<section class="card" aria-label="Hit rate"><h2>Hit rate, while this screen is open</h2><${Chart} label="Hit rate over time" height=${110} times=${rate.map((one) => one.at)} lines=${[{ label: "hit rate", values: rate.map((one) => one.rate), colour: "--accent" }]} format=${percent} /></section>`}
    <div class="ask"><input data-search class="ask-query" aria-label="Question" placeholder="Ask the librarian…" value=${typed} onInput=${(event) => setTyped(event.target.value)} /></div>
    ${late.trim() && html`<${Shown} of=${asked}>${(answer) => answer && html`<${Told} answer=${answer} />`}<//>`}
    <div class="filters"><${Choice} label="Tier" value=${tier} options=${TIERS} onChange=${(value) => set({ tier: value })} /></div>
    <${Shown} of=${list} empty=${html`<${Empty} title="No question yet"><p>Ask one above, or let an assistant use the tool <code>ask_librarian</code>.</p><//>`}>${(all) => html`<ul class="plain answers">${all.map((one) => html`<${Line} key=${one.id} answer=${one} open=${one.id === open} turn=${() => set({ open: one.id === open ? undefined : one.id })} again=${again} />`)}</ul>`}<//><//>`;
}

function Told({ answer }) {
  return html`<section class="card told" aria-label="Answer"><div class="chips"><span class="tag">${answer.cached ? `from the cache, ${answer.cache_tier}` : "computed now"}</span><span class="dim">sure to ${percent(answer.confidence)} · ${answer.why}</span></div>
    <p class="content">${answer.answer || "Not known."}</p>
    ${answer.sources.length > 0 && html`<ol class="plain">${answer.sources.map((one) => html`<li><${Named} id=${one.memory} /> <span class="dim">${one.date}</span></li>`)}</ol>`}
    ${answer.related.map((one) => html`<p class="note">Related, not the same question: ${one.question}</p>`)}</section>`;
}

function Line({ answer, open, turn, again }) {
  const whole = useData((signal) => (open ? get(`/v1/answers/${answer.id}`, {}, { signal }) : null), [open, answer.id]);
  const id = { question: answer.question, ...(answer.project && { project: answer.project }) };
  const act = (path, body, words, undo) => async () => {
    await post(path, { ...id, ...body });
    say(words, undo ? { undo: () => post(path, { ...id, ...undo }).then(again) } : {});
    again();
  };
  const full = whole.data || answer;
  const rests = full.depends || [];
  return html`<li class="card"><div class="chips"><button type="button" class="link" aria-expanded=${open} onClick=${turn}>${shorten(answer.question, 160)}</button><span class="gap"></span>
      ${answer.pinned && html`<span class="tag">pinned</span>`}<span class="tag">${answer.tier}</span><span class="dim">asked ${number(answer.asked)}×, served ${number(answer.hits)}×</span><${Time} at=${answer.last_asked_at} /></div>
    ${open && html`<p class="content">${full.answer ?? "No answer is kept: it is computed when it is asked again."}</p>
      ${full.stale && html`<p class="note">It is not served any more: ${full.stale}</p>`}
      ${full.confidence !== null && html`<div class="arm"><span class="dim">sure</span><${Bar} share=${full.confidence} /></div>`}
      ${rests.length > 0 && html`<h3>It rests on</h3><ul class="plain">${rests.slice(0, 20).map((one) => html`<li>${one.kind === "memory" ? html`<${Named} id=${one.target} />` : `${one.kind} ${one.target}`}</li>`)}</ul>`}
      ${can("write") && html`<div class="fix"><${Button} small=${true} onClick=${act("/v1/answers/pin", { undo: Boolean(answer.pinned) }, answer.pinned ? "Unpinned." : "Pinned.", { undo: !answer.pinned })}>${answer.pinned ? "Unpin" : "Pin"}<//>
        <${Button} small=${true} onClick=${act("/v1/answers/feedback", { helpful: true }, "Noted: it helped.")}>It helped<//><${Button} small=${true} onClick=${act("/v1/answers/feedback", { helpful: false }, "Noted: it did not help.")}>It did not<//>
        <${Button} small=${true} onClick=${act("/v1/answers/forget", {}, "Forgotten: it is computed anew when it is asked.")}>Forget<//></div>`}`}</li>`;
}

function useRate(stats) {
  const [samples, set] = useState([]);
  useEffect(() => {
    const timer = setInterval(stats.again, 5000);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    if (stats.data) set((old) => [...old.slice(-239), { at: Date.now() / 1000, rate: stats.data.hit_rate }]);
  }, [stats.data]);
  return samples;
}
