// One memory in full: what it says, why it is believed, what it is tied to, since when it holds, and what became of it.
import { html, useCallback, useState } from "../base.js";
import { get } from "../api.js";
import { address, can, complain, has, useChanges, useData } from "../state.js";
import { Button, Copy, Icon, Kind, Shown, State, Tag, Time, Trust, Wrong } from "../ui.js";
import { day, deed, diff, moment, number, percent, placeOf, plain, shorten, shortId, titleOf } from "../words.js";
import * as actions from "../actions.js";

export function Detail({ id, shut }) {
  const found = useData((signal) => get(`/v1/memories/${id}`, { peek: true }, { signal }), [id]);
  useChanges(useCallback(() => found.again(), [id]), 300);
  return html`<section class="detail" aria-label="Memory"><header class="detail-bar">
    <span class="mono dim">${shortId(id)}</span><span class="gap"></span><${Copy} text=${id} label="Id" />
    <button type="button" class="button quiet small" aria-label="Close" onClick=${shut}><${Icon} name="close" /></button></header>
    ${found.error ? html`<${Wrong} error=${found.error} />` : found.data ? html`<${Whole} memory=${found.data} shut=${shut} />` : html`<p class="waiting" role="status">Loading…</p>`}</section>`;
}

function Whole({ memory, shut }) {
  const over = !["active", "pending"].includes(memory.state);
  const act = (what) => async () => {
    try {
      await what([memory]);
    } catch (error) {
      complain(error);
    }
  };
  return html`<div class="detail-in">
    <div class="chips"><${Kind} kind=${memory.kind} /><${State} state=${memory.state} /><${Trust} trust=${memory.trust} />${actions.pinned(memory) && html`<span class="tag"><${Icon} name="pin" />pinned</span>`}</div>
    <h2 class=${memory.title ? "" : "hidden"}>${memory.title || "What it says"}</h2>
    <p class="content">${memory.content}</p>
    ${memory.reasoning && html`<div class="why"><h3>Why</h3><p>${memory.reasoning}</p></div>`}
    ${can("write") && html`<div class="detail-actions">
      <${Button} small=${true} onClick=${() => actions.edit(memory)}>Edit <kbd>e</kbd><//>
      ${over ? html`<${Button} small=${true} onClick=${act(actions.bringBack)}>Bring back<//>` : html`
        <${Button} small=${true} onClick=${act(actions.pin)}>${actions.pinned(memory) ? "Unpin" : "Pin"} <kbd>p</kbd><//>
        <${Button} small=${true} onClick=${act(actions.forget)}>Forget <kbd>f</kbd><//>
        <${Button} small=${true} onClick=${act(actions.reject)}>Reject<//>
        <${Button} small=${true} onClick=${() => actions.mergeWith(memory)}>Merge…<//>`}
      ${can("admin") && html`<${Button} small=${true} kind="danger" onClick=${act(async (some) => (await actions.purge(some)) && shut())}>Erase<//>`}
      <a class="button small" href=${address("graph", { focus: memory.id })}>In the graph</a></div>`}
    <${Validity} memory=${memory} />
    <dl class="facts">
      <dt>Holds in</dt><dd>${placeOf(memory.scope)}</dd>
      <dt>Importance</dt><dd>${memory.importance} of 10 · confidence ${percent(memory.confidence)}</dd>
      ${memory.tags.length > 0 && html`<dt>Tags</dt><dd class="chips">${memory.tags.map((one) => html`<${Tag} tag=${one} />`)}</dd>`}
      ${memory.refs.length > 0 && html`<dt>Refers to</dt><dd>${memory.refs.map((one) => html`<code>${one}</code> `)}</dd>`}
      ${memory.speaker && html`<dt>Said by</dt><dd>${memory.speaker}</dd>`}
      <dt>Used</dt><dd>recalled ${number(memory.recalled)}×, opened ${number(memory.accessed)}×${memory.last_recalled_at && html`, last <${Time} at=${memory.last_recalled_at} />`}${memory.observed > 1 && `, said ${memory.observed} times`}</dd>
    </dl>
    <${Proof} memory=${memory} /><${Ties} memory=${memory} />
    ${has("why") && html`<${Uses} memory=${memory} />`}
    <${Past} memory=${memory} /></div>`;
}

function Validity({ memory }) {
  const begin = new Date(memory.valid_from || memory.created_at).getTime();
  const end = memory.valid_to || memory.expires_at;
  const now = Date.now();
  const last = Math.max(now, end ? new Date(end).getTime() : now) + 86400000;
  const first = Math.min(begin, new Date(memory.created_at).getTime()) - 86400000;
  const place = (time) => `${((time - first) / (last - first)) * 100}%`;
  const until = end ? new Date(end).getTime() : last;
  return html`<div class="validity" role="img" aria-label="Holds from ${day(begin)} ${end ? `until ${day(end)}` : "on"}">
    <div class="validity-bar"><span class="holds ${end && until < now ? "over" : ""}" style=${{ left: place(begin), width: `calc(${place(until)} - ${place(begin)})` }}></span>
      <span class="now" style=${{ left: place(now) }} title="now"></span></div>
    <div class="ends"><span>${day(begin)}${memory.valid_from ? "" : " (made)"}</span><span>${end ? `${memory.valid_to ? "until" : "expires"} ${day(end)}` : "holds on"}</span></div></div>`;
}

// The words of a source with the quotes in it marked.
function Quoted({ text, quotes }) {
  const found = quotes.map((quote) => [text.indexOf(quote), quote]).filter(([at, quote]) => at >= 0 && quote).sort((a, b) => a[0] - b[0]);
  if (!found.length) return html`<p class="source-text">${shorten(text, 1200)}</p>`;
  const from = Math.max(0, found[0][0] - 240);
  const pieces = [];
  let at = from;
  for (const [start, quote] of found) {
    if (start < at) continue;
    pieces.push(text.slice(at, start), html`<mark>${quote}</mark>`);
    at = start + quote.length;
  }
  return html`<p class="source-text">${from > 0 && "…"}${pieces}${text.slice(at, at + 240)}${at + 240 < text.length && "…"}</p>`;
}

function Proof({ memory }) {
  const found = useData((signal) => get(`/v1/memories/${memory.id}/evidence`, {}, { signal }), [memory.id, memory.updated_at]);
  return html`<h3>Where it comes from</h3><${Shown} of=${found}>${({ source, evidence }) => html`
    ${source ? html`<div class="card source"><div><span class="tag">${source.kind}</span> <strong>${source.title || source.uri || source.author || "said"}</strong>
        ${source.author && html`<span class="dim"> · ${source.author}</span>`}${source.occurred_at && html`<span class="dim"> · ${moment(source.occurred_at)}</span>`}</div>
      ${source.content ? html`<${Quoted} text=${source.content} quotes=${evidence.map((one) => one.quote)} />` : evidence.map((one) => html`<blockquote key=${one.id}>${one.quote}${one.place && html`<small> ${one.place}</small>`}</blockquote>`)}
      ${source.session && html`<small class="dim">session ${shorten(source.session, 40)}</small>`}</div>`
      : html`<p class="dim">Its source is not known.</p>`}`}<//>`;
}

function Ties({ memory }) {
  const found = useData(async (signal) => {
    const links = await get(`/v1/memories/${memory.id}/links`, {}, { signal });
    const map = links.length && has("graph") ? await get("/v1/graph", { focus: memory.id, depth: 1, limit: 60 }, { signal }) : { dots: [] };
    return { links, names: Object.fromEntries(map.dots.map((dot) => [dot.id, dot])) };
  }, [memory.id, memory.updated_at]);
  return html`<${Shown} of=${found}>${({ links, names }) => links.length > 0 && html`<h3>Tied to</h3><ul class="plain ties">${links.slice(0, 30).map((link) => {
    const out = link.origin === memory.id;
    const other = out ? link.target : link.origin;
    const dot = names[other];
    return html`<li key=${link.id}><span class="tag r-${link.relation}">${out ? "" : "← "}${link.relation}${out ? " →" : ""}</span> ${dot?.noun === "entity"
      ? html`<a href=${address("graph", { focus: other })}>${dot.label}</a>`
      : html`<a href=${address("memories", { open: other, states: "any" })}>${dot ? shorten(dot.label, 100) : shortId(other)}</a>`}
      ${link.reason && html`<small class="dim"> ${link.reason}</small>`}</li>`;
  })}</ul>`}<//>`;
}

function Uses({ memory }) {
  const found = useData((signal) => get(`/v1/memories/${memory.id}/why`, { depth: 1, limit: 20 }, { signal }), [memory.id, memory.updated_at]);
  return html`<${Shown} of=${found}>${(why) => html`${why.confidence?.length > 0 && html`<h3>How evidence moved it</h3><ul class="plain">${why.confidence.map((one) => html`<li>${one}</li>`)}</ul>`}${why.shown?.length > 0 && html`<h3>Where it was injected</h3>
    <ul class="plain">${why.shown.slice(0, 12).map((one) => html`<li><span class="tag">${one.way}</span> ${one.session ? shorten(one.session, 40) : one.actor} <${Time} at=${one.at} />${one.helped > 0 ? " · helped" : one.helped < 0 ? " · did not help" : ""}</li>`)}</ul>
    ${(why.helped > 0 || why.did_not_help > 0) && html`<p class="dim">helped ${why.helped}×, did not ${why.did_not_help}×</p>`}`}`}<//>`;
}

const SKIPPED = new Set(["updated_at", "content_hash", "created_at", "id"]);

export function Difference({ before, after }) {
  return html`<p class="diff">${diff(before, after).map(([sign, text]) => (sign < 0 ? html`<del>${text}</del>` : sign > 0 ? html`<ins>${text}</ins>` : text))}</p>`;
}

function Past({ memory }) {
  const found = useData((signal) => get(`/v1/memories/${memory.id}/history`, {}, { signal }), [memory.id, memory.updated_at, memory.state]);
  const [all, set] = useState(false);
  return html`<h3>History</h3><${Shown} of=${found}>${(every) => {
    const entries = every.filter((entry) => entry.noun === "memory");
    return html`<ol class="past">${[...entries].reverse().slice(0, all ? 200 : 8).map((entry) => {
    const names = entry.before && entry.after ? Object.keys(entry.after).filter((name) => !SKIPPED.has(name)) : [];
    return html`<li key=${entry.seq}><div><strong>${deed(entry).word}</strong> <span class="dim">by ${entry.actor} <${Time} at=${entry.at} /></span></div>
      ${entry.reason && html`<p class="reason">${entry.reason}</p>`}
      ${names.map((name) => html`<div class="changed"><span class="dim">${name}</span><${Difference} before=${plain(entry.before[name])} after=${plain(entry.after[name])} /></div>`)}</li>`;
  })}</ol>${entries.length > 8 && html`<button type="button" class="link" onClick=${() => set(!all)}>${all ? "fewer" : `all ${entries.length}`}</button>`}`;
  }}<//>`;
}

