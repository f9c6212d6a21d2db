// Today: what happens, as it happens: the journal as it is written, and what is recalled. It can be held still and narrowed.
import { html, useCallback, useEffect, useMemo, useRef, useState } from "../base.js";
import { get } from "../api.js";
import { address, go, has, me, memoryOf, onEntry, onLook, useChanges, useData } from "../state.js";
import { Button, Choice, Kind, Page, State, Time, useKeys } from "../ui.js";
import { deed, GROUPS, number, placeOf, plural, shorten, shortId, titleOf } from "../words.js";
import { First } from "./first.js";

const MOST = 400; // happenings that are kept in sight
const DRAWN = 60; // lines at first, and with each wish for more
const QUIET = new Set(["source", "evidence", "embedding", "tombstone", "token", "webhook"]); // what stands behind memories
const isQuiet = (entry) => QUIET.has(entry.noun) || entry.operation === "look up";
const WAYS = { recall: "recalled", start: "told at the start", prompt: "told with a prompt" };

// One thing that happened, of the journal or a look, with what the feed is narrowed by.
function ofEntry(entry) {
  const scope = entry.after?.scope || entry.before?.scope || {};
  const kind = entry.noun === "memory" ? entry.after?.kind || entry.before?.kind || "" : "";
  return { key: `change ${entry.seq}`, at: entry.at, entry, scope, kinds: [kind], ...deed(entry) };
}
function ofLook({ look, given }) {
  return { key: `look ${look.number}`, at: look.at, look, given, scope: look.scope || {}, kinds: given.map((one) => one.kind), word: WAYS[look.way] || look.way, group: "recalled" };
}

// The feed: what happened lately, then what happens; while it is held, what comes waits.
function useFeed(still) {
  const [all, set] = useState(null);
  const [held, setHeld] = useState([]);
  const paused = useRef(still);
  paused.current = still;
  useEffect(() => {
    let early = [];
    const come = (one) => {
      if (early) early.push(one);
      else if (paused.current) setHeld((old) => [one, ...old].slice(0, MOST));
      else set((old) => together([one], old));
    };
    const ends = [onEntry((entry) => isQuiet(entry) || come(ofEntry(entry))), onLook((look) => come(ofLook(look)))];
    Promise.all([recent(me.get().head), has("looks") ? looks() : []]).then(([changes, looked]) => {
      set(together([...early, ...looked], changes.map(ofEntry)));
      early = null;
    }, () => (set(together(early, [])), (early = null)));
    return () => ends.forEach((end) => end());
  }, []);
  useEffect(() => {
    if (still) return;
    set((old) => (held.length ? together(held, old || []) : old));
    setHeld([]);
  }, [still]);
  return { all, held: held.length };
}

function together(some, others) {
  const found = new Map([...some, ...others].map((one) => [one.key, one]));
  return [...found.values()].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : (b.entry?.seq || 0) - (a.entry?.seq || 0))).slice(0, MOST);
}

// The newest changes: backwards through the journal in pages, past long runs of what is not shown.
async function recent(head) {
  let found = [];
  for (let end = head, page = 0; end > 0 && found.length < 150 && page < 8; page++) {
    const begin = Math.max(0, end - 1000);
    const { changes } = await get("/v1/changes", { after: begin, limit: end - begin });
    found = [...changes.filter((entry) => entry.seq <= end && !isQuiet(entry)), ...found];
    end = begin;
  }
  return found.slice(-MOST);
}

// What was recalled since the server started, with its question; of what was recalled before only the memories are known.
async function looks() {
  const [told, before] = await Promise.all([get("/v1/looks", { limit: 200 }), has("recalled") ? get("/v1/recalled", { limit: 50 }) : []]);
  const groups = new Map();
  for (const one of before) if (one.last_recalled_at < told.since) groups.set(one.last_recalled_at, [...(groups.get(one.last_recalled_at) || []), one]);
  const older = [...groups].map(([at, some]) => ({
    look: { number: `before ${at}`, at, actor: "", way: "recall", question: "", scope: some.every((one) => one.scope.project === some[0].scope.project) ? some[0].scope : {} },
    given: some.map((one) => ({ id: one.id, label: titleOf(one), kind: one.kind })),
  }));
  return [...told.looks, ...older].map(ofLook);
}

export function Today({ values }) {
  const [paused, setPaused] = useState(false);
  const [at, setAt] = useState(-1);
  const [drawn, setDrawn] = useState(DRAWN);
  const feed = useFeed(paused);
  const choose = (name) => (value) => go("today", { ...values, [name]: value || undefined }, { replace: true });
  const chosen = { group: values.group?.[0] || "", project: values.project?.[0] || "", session: values.session?.[0] || "", kind: values.kind?.[0] || "" };
  const stats = useData(() => get("/v1/stats"), []);
  useChanges(useCallback(() => stats.again(), []), 1500);
  const all = feed.all || [];
  const placed = all.filter((one) =>
    (!chosen.project || one.scope.project === chosen.project) && (!chosen.session || one.scope.session === chosen.session) && (!chosen.kind || one.kinds.includes(chosen.kind)));
  const fitting = placed.filter((one) => !chosen.group || one.group === chosen.group);
  const seen = fitting.slice(0, drawn);
  const counts = useMemo(() => placed.reduce((sums, one) => ({ ...sums, [one.group]: (sums[one.group] || 0) + 1 }), {}), [feed.all, chosen.project, chosen.session, chosen.kind]);
  const some = (values) => [...new Set(values.filter(Boolean))].sort();
  const move = (step) => () => {
    const next = Math.max(0, Math.min(seen.length - 1, at + step));
    setAt(next);
    document.querySelectorAll(".feed > .line")[next]?.scrollIntoView({ block: "nearest" });
  };
  useKeys({ j: move(1), k: move(-1), " ": () => setPaused(!paused), Enter: () => document.querySelector(".feed > .line.here a")?.click() });
  if (stats.data && !stats.data.memories && feed.all?.length === 0) return html`<${Page} title="Today"><${First} done=${stats.again} /><//>`;
  return html`<${Page} title="Today" lead=${`${stats.data ? `${plural(stats.data.memories, "memory", "memories")} · ` : ""}what happens to them and who is told of them, as it happens`}
    actions=${html`<${Button} icon=${paused ? "play" : "pause"} onClick=${() => setPaused(!paused)} aria-pressed=${paused}>${paused ? `Go on${feed.held ? ` (${feed.held})` : ""}` : "Pause"}<//>`}>
    <div class="filters">
      <div class="chips" role="group" aria-label="What happened">
        <button type="button" class="chip ${chosen.group ? "" : "on"}" aria-pressed=${!chosen.group} onClick=${() => choose("group")("")}>All</button>
        ${GROUPS.filter((group) => group === chosen.group || all.some((one) => one.group === group)).map((group) => html`
          <button type="button" class="chip ${group === chosen.group ? "on" : ""}" aria-pressed=${group === chosen.group}
            onClick=${() => choose("group")(group === chosen.group ? "" : group)}>${group} <b>${number(counts[group] || 0)}</b></button>`)}
      </div>
      <${Choice} label="Project" value=${chosen.project} options=${[["", "every project"], ...some([chosen.project, ...all.map((one) => one.scope.project)])]} onChange=${choose("project")} />
      <${Choice} label="Kind" value=${chosen.kind} options=${[["", "every kind"], ...some([chosen.kind, ...all.flatMap((one) => one.kinds)])]} onChange=${choose("kind")} />
      <${Choice} label="Session" value=${chosen.session} options=${[["", "every session"], ...some([chosen.session, ...all.map((one) => one.scope.session)]).map((one) => [one, shorten(one, 24)])]} onChange=${choose("session")} />
    </div>
    <section aria-label="Feed">
      ${feed.all === null ? html`<p class="waiting" role="status">Loading…</p>`
        : seen.length ? html`<ol class="feed" aria-live=${paused ? "off" : "polite"} aria-relevant="additions">${seen.map((one, index) => html`<${one.look ? Looked : Changed} key=${one.key} here=${index === at} ...${one} />`)}</ol>
          ${fitting.length > drawn && html`<p class="pad"><${Button} onClick=${() => setDrawn(drawn + DRAWN)}>${number(fitting.length - drawn)} more<//></p>`}`
        : html`<p class="dim pad">Nothing of that sort lately.</p>`}
    </section><//>`;
}

function Changed({ entry, word, group, scope, here }) {
  const [memory, set] = useState(null);
  const id = entry.noun === "link" ? entry.after?.origin || entry.target : entry.target;
  const own = entry.noun === "memory" && entry.after?.content ? { id, ...entry.after } : null;
  useEffect(() => {
    let here = true;
    if (!own && !entry.purged && (entry.noun === "memory" || (entry.noun === "link" && entry.after?.origin_kind === "memory"))) memoryOf(id).then((found) => here && set(found));
    return () => (here = false);
  }, [id]);
  const about = own || memory;
  return html`<li class="line g-${group} ${here ? "here" : ""}"><span class="line-deed">${word}</span>
    <span class="line-what">${about
      ? html`<a href=${address("memories", { open: id, states: "any" })}>${shorten(titleOf(about), 160)}</a>`
      : html`<span class="dim">${entry.purged ? "erased" : entry.after?.name || (entry.noun === "link" ? "two entities" : shortId(entry.target))}</span>`}
      ${entry.reason && html`<small class="reason">${shorten(entry.reason, 160)}</small>`}</span>
    <${Time} at=${entry.at} />
    <span class="line-side">${about?.kind && html`<${Kind} kind=${about.kind} />`}${about?.state && html`<${State} state=${about.state} />`}
      ${entry.noun === "link" && html`<span class="tag r-${entry.after?.relation}">${entry.after?.relation || "link"}</span>`}
      <span>${placeOf(about?.scope || scope)}</span><span>by ${entry.actor}</span></span></li>`;
}

const FIRST = 3;

function Looked({ look, given, word, here }) {
  const asked = look.question && address("recall", { q: look.question, project: look.scope?.project });
  return html`<li class="line g-recalled ${here ? "here" : ""}"><span class="line-deed">${word}</span>
    <span class="line-what">${asked ? html`<a href=${asked}>"${look.question}"</a>` : look.way === "start" ? "A session began" : "A question that was not kept"}
      ${given.length ? html`<ul class="told-of">${given.slice(0, FIRST).map((one) => html`<li key=${one.id}><a href=${address("memories", { open: one.id, states: "any" })}>${shorten(one.label, 110)}</a></li>`)}
        ${given.length > FIRST && html`<li class="dim">and ${plural(given.length - FIRST, "more", "more")}</li>`}</ul>` : html`<small class="reason">nothing was found that fits</small>`}</span>
    <${Time} at=${look.at} />
    <span class="line-side"><span>${plural(given.length, "memory", "memories")}</span><span>${placeOf(look.scope)}</span>${look.actor && html`<span>by ${look.actor}</span>`}</span></li>`;
}
