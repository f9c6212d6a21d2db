// Answers: questions that were asked, with the answers that are kept: how often they are served, why, and on what they rest.
import { html, useEffect, useState } from "../base.js";
import { get, post } from "../api.js";
import { can, go, has, say, useData } from "../state.js";
import { Bar, Button, Empty, Figure, Page, Shown, Time } from "../ui.js";
import { bytes, day, number, percent, plural, seconds, shorten } from "../words.js";
import { Chart } from "../chart.js";
import { Named } from "./recall.js";

const TIERS = [["", "every tier"], ["cold", "cold"], ["warm", "warm"], ["hot", "hot"], ["core", "core"]];
const WINDOW = 20; // questions over which the hit rate is told

export function Answers({ values }) {
  const tier = values.tier?.[0] || "";
  const open = values.open?.[0] || "";
  const question = values.q?.[0] || "";
  const [typed, setTyped] = useState(question);
  const set = (changes) => go("answers", { ...values, ...changes }, { replace: true });
  const stats = useData((signal) => get("/v1/answers/stats", {}, { signal }), []);
  const list = useData((signal) => get("/v1/answers", { tier, limit: 200 }, { signal }), [tier]);
  const asks = useData((signal) => (has("answer_asks") ? get("/v1/answers/asks", { limit: 300 }, { signal }) : []), []);
  // A question is asked when somebody says so, and not at each letter: what is asked is counted and may be kept.
  const asked = useData((signal) => (question.trim() ? post("/v1/ask", { question }, { signal }) : null), [question]);
  const again = () => (stats.again(), list.again(), asks.again());
  useEffect(() => setTyped(question), [question]);
  useEffect(() => {
    if (asked.data) again();
  }, [asked.data]);
  useEffect(() => {
    const timer = setInterval(() => (stats.again(), asks.again()), 5000);
    return () => clearInterval(timer);
  }, []);
  const submit = (event) => {
    event.preventDefault();
    if (typed.trim() === question) asked.again();
    else set({ q: typed.trim() });
  };
  return html`<${Page} title="Answers" lead="What was asked before is answered at once, as long as what it rests on stands." wide=${true}>
    <form class="search big" role="search" onSubmit=${submit}><input data-search type="search" aria-label="Question" placeholder="Ask the librarian: when do we deploy?" value=${typed} onInput=${(event) => setTyped(event.target.value)} />
      <button type="submit" class="button main" disabled=${!typed.trim()}>Ask</button></form>
    ${question.trim() && html`<${Shown} of=${asked}>${(answer) => answer && html`<${Told} answer=${answer} />`}<//>`}
    <${Shown} of=${stats}>${(all) => html`<div class="figures"><${Figure} label="served from the cache" value=${all.asked ? percent(all.hit_rate) : "–"} note=${`${number(all.hits)} of ${plural(all.asked, "question")}`} /><${Figure} label="answers kept" value=${all.answers} note=${`of at most ${number(all.most)}`} /><${Figure} label="no longer hold" value=${all.stale} note="computed anew when asked" /><${Figure} label="in the cache" value=${bytes(all.bytes)} note=${all.answers ? `${number(all.bytes_per_answer)} bytes each` : ""} /><${Figure} label="of computing saved" value=${all.saved_ms ? seconds(all.saved_ms / 1000) : "–"} /></div>`}<//>
    <${Shown} of=${asks}>${(all) => all.length > 0 && html`<${Lately} asks=${all} show=${(id) => set({ open: id, tier: undefined })} />`}<//>
    <div class="filters"><h2>Questions</h2><div class="chips" role="group" aria-label="Tier">${TIERS.map(([name, words]) => html`<button type="button" class="chip ${name === tier ? "on" : ""}" aria-pressed=${name === tier} onClick=${() => set({ tier: name || undefined })}>${words}${name && stats.data && html` <b>${number(stats.data.by_tier?.[name]?.questions || 0)}</b>`}</button>`)}</div></div>
    <${Shown} of=${list} empty=${html`<${Empty} title="No question yet"><p>Ask one above, or let an assistant use the tool <code>ask_librarian</code>.</p><//>`}>${(all) => html`<ul class="plain answers">${all.map((one) => html`<${Line} key=${one.id} answer=${one} open=${one.id === open} turn=${() => set({ open: one.id === open ? undefined : one.id })} again=${again} />`)}</ul>`}<//><//>`;
}

function Told({ answer }) {
  return html`<section class="card told" aria-label="Answer"><div class="chips"><span class="tag ${answer.cached ? "s-done" : ""}">${answer.cached ? `from the cache, ${answer.cache_tier}` : "computed now"}</span><span class="dim">${answer.answer ? `sure to ${percent(answer.confidence)} · ` : ""}${answer.why}</span></div>
    <p class="content">${answer.answer || "Not known."}</p>
    ${answer.sources.length > 0 && html`<ol class="plain sources">${answer.sources.map((one) => html`<li><${Named} id=${one.memory} /> <span class="dim">${one.date}</span></li>`)}</ol>`}
    ${answer.related.map((one) => html`<p class="note">Related, not the same question: ${one.question}</p>`)}</section>`;
}

// How the last questions went: the share of the cache, and what decided each.
function Lately({ asks, show }) {
  const rates = asks.map((_, at) => {
    const some = asks.slice(Math.max(0, at - WINDOW + 1), at + 1);
    return some.filter((one) => one.cached).length / some.length;
  });
  return html`<div class="pair"><section class="card" aria-label="Hit rate"><h2>Hit rate</h2>
      <${Chart} label=${`Share of the last ${WINDOW} questions that the cache answered: ${percent(rates.at(-1))} now`} height=${210} most=${1} times=${asks.map((one) => new Date(one.at).getTime() / 1000)} lines=${[{ label: "hit rate", values: rates, colour: "--accent" }]} format=${percent} />
      <small class="dim">Over the last ${WINDOW} questions each, since the server started.</small></section>
    <section class="card" aria-label="Asked lately"><h2>Asked lately, and what decided</h2>
      <ul class="plain asks">${asks.slice(-6).reverse().map((one) => html`<li key=${one.at}><div class="chips"><span class="tag ${one.cached ? "s-done" : ""}">${one.cached ? `served, ${one.tier}` : one.known ? "computed" : "not known"}</span>
        ${one.answer ? html`<button type="button" class="link" onClick=${() => show(one.answer)}>${shorten(one.question, 90)}</button>` : html`<span class="asked">${shorten(one.question, 90)}</span>`}<span class="gap"></span><${Time} at=${one.at} /></div>
        <small class="reason">${one.why}</small></li>`)}</ul></section></div>`;
}

function Line({ answer, open, turn, again }) {
  const whole = useData((signal) => (open ? get(`/v1/answers/${answer.id}`, {}, { signal }) : null), [open, answer.id, answer.hits, answer.pinned]);
  const id = { question: answer.question, ...(answer.project && { project: answer.project }) };
  const act = (path, body, words, undo) => async () => {
    await post(path, { ...id, ...body });
    say(words, undo ? { undo: () => post(path, { ...id, ...undo }).then(again) } : {});
    again();
  };
  return html`<li class="card"><div class="chips"><button type="button" class="link" aria-expanded=${open} onClick=${turn}>${shorten(answer.question, 160)}</button><span class="gap"></span>
      ${answer.stale && html`<span class="state">no longer holds</span>`}${answer.pinned && html`<span class="tag">pinned</span>`}<span class="tag">${answer.tier}</span><span class="dim">asked ${number(answer.asked)}×, served ${number(answer.hits)}×</span><${Time} at=${answer.last_asked_at} /></div>
    ${open && html`<${Opened} answer=${whole.data || answer} act=${act} />`}</li>`;
}

const KINDS = { memory: "", file: "file", commit: "commit of", setting: "setting", model: "model" };

function Opened({ answer, act }) {
  const rests = answer.depends || [];
  return html`<p class="content">${answer.answer ?? "No answer is kept: it is computed when it is asked again."}</p>
    ${answer.stale && html`<p class="note">It is not served any more: ${answer.stale}</p>`}
    ${answer.answer && html`<dl class="facts"><dt>Served because</dt><dd>${why(answer)}</dd>
      <dt>Sure to</dt><dd>${percent(answer.confidence || 0)} <${Bar} share=${answer.confidence} />${answer.liked + answer.disliked > 0 && ` · helped ${answer.liked}×, did not ${answer.disliked}×`}</dd>
      ${answer.compute_ms !== null && html`<dt>Computing took</dt><dd>${seconds(answer.compute_ms / 1000)}</dd>`}
      <dt>Ends</dt><dd>${ends(answer)}</dd></dl>`}
    ${rests.length > 0 && html`<h3>It rests on ${plural(rests.length, "thing")}, and ends when one changes</h3><ul class="plain">${rests.slice(0, 20).map((one) => html`<li key=${one.kind + one.target}>${one.kind === "memory" ? html`<${Named} id=${one.target} />` : html`<span class="tag">${KINDS[one.kind] ?? one.kind}</span> <code>${one.target}</code>`}</li>`)}</ul>`}
    ${can("write") && html`<div class="fix"><${Button} small=${true} onClick=${act("/v1/answers/pin", { undo: Boolean(answer.pinned) }, answer.pinned ? "Unpinned." : "Pinned.", { undo: !answer.pinned })}>${answer.pinned ? "Unpin" : "Pin"}<//>
      <${Button} small=${true} onClick=${act("/v1/answers/feedback", { helpful: true }, "Noted: it helped.")}>It helped<//><${Button} small=${true} onClick=${act("/v1/answers/feedback", { helpful: false }, "Noted: it did not help.")}>It did not<//>
      <${Button} small=${true} onClick=${act("/v1/answers/forget", {}, "Forgotten: it is computed anew when it is asked.")}>Forget<//></div>`}`;
}

const why = (answer) => (answer.kind === "given" ? "somebody gave it" : answer.stale ? "it was, until what it rests on changed" : `the question is the same and nothing it rests on has changed${answer.seq ? `, looked at up to change ${number(answer.seq)}` : ""}`);
const ends = (answer) => [answer.expires_at && `on ${day(answer.expires_at)}`, answer.watched ? "when something new is learnt about it" : "when one of what it rests on changes"].filter(Boolean).join(", or ");
