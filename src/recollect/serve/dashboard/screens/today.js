// Today: the journal as it is written. What comes in appears by itself; the feed can be held still and narrowed.
import { html, useCallback, useEffect, useMemo, useRef, useState } from "../base.js";
import { get } from "../api.js";
import { address, go, has, me, memoryOf, onEntry, useChanges, useData } from "../state.js";
import { Button, Choice, Icon, Kind, Page, Shown, State, Time } from "../ui.js";
import { deed, GROUPS, number, placeOf, plural, shorten, shortId, titleOf } from "../words.js";
import { First } from "./first.js";

const MOST = 400; // entries that are kept in sight
const QUIET = new Set(["source", "evidence", "embedding", "tombstone", "token", "webhook"]); // what stands behind memories
const shownNoun = (entry) => !QUIET.has(entry.noun);

export function Today({ values }) {
  const [entries, setEntries] = useState(null);
  const [paused, setPaused] = useState(false);
  const [held, setHeld] = useState(0);
  const hold = useRef([]);
  const still = useRef(false);
  still.current = paused;
  useEffect(() => {
    const head = me.get().head;
    const early = [];
    let ready = false;
    const add = (some) => setEntries((old) => [...some.filter((one) => !(old || []).some((other) => other.seq === one.seq)), ...(old || [])].slice(0, MOST));
    const end = onEntry((entry) => {
      if (!shownNoun(entry)) return;
      if (!ready) early.push(entry);
      else if (still.current) setHeld(hold.current.unshift(entry));
      else add([entry]);
    });
    recent(head).then((found) => {
      ready = true;
      const known = new Set(found.map((one) => one.seq));
      setEntries([...early.filter((one) => !known.has(one.seq)).reverse(), ...found.reverse()]);
    }, () => setEntries([]));
    return end;
  }, []);
  const goOn = () => {
    setPaused(!paused);
    if (!paused) return;
    setEntries((old) => [...hold.current, ...(old || [])].slice(0, MOST));
    hold.current = [];
    setHeld(0);
  };
  const choose = (name) => (value) => go("today", { ...values, [name]: value || undefined }, { replace: true });
  const chosen = { group: values.group?.[0] || "", project: values.project?.[0] || "", session: values.session?.[0] || "", kind: values.kind?.[0] || "" };
  const stats = useData(() => get("/v1/stats"), []);
  useChanges(useCallback(() => stats.again(), []), 1500);
  const facts = useMemo(() => (entries || []).map((entry) => ({ entry, ...deed(entry), scope: scopeOf(entry), kind: kindOf(entry) })), [entries]);
  const seen = facts.filter((one) =>
    (!chosen.group || one.group === chosen.group) && (!chosen.project || one.scope.project === chosen.project) &&
    (!chosen.session || one.scope.session === chosen.session) && (!chosen.kind || one.kind === chosen.kind));
  const some = (name) => [...new Set(facts.map((one) => (name === "kind" ? one.kind : one.scope[name])).filter(Boolean))].sort();
  if (stats.data && !stats.data.memories && entries?.length === 0) return html`<${Page} title="Today"><${First} done=${stats.again} /><//>`;
  return html`<${Page} title="Today" lead=${stats.data ? `${plural(stats.data.memories, "memory", "memories")} · what happens to them, as it happens` : "What happens to memories, as it happens"}
    actions=${html`<${Button} icon=${paused ? "play" : "pause"} onClick=${goOn} aria-pressed=${paused}>${paused ? `Go on${held ? ` (${held})` : ""}` : "Pause"}<//>`}>
    <div class="filters">
      <div class="chips" role="group" aria-label="What happened">
        <button type="button" class="chip ${chosen.group ? "" : "on"}" aria-pressed=${!chosen.group} onClick=${() => choose("group")("")}>All</button>
        ${GROUPS.filter((group) => group === chosen.group || facts.some((one) => one.group === group)).map((group) => html`
          <button type="button" class="chip ${group === chosen.group ? "on" : ""}" aria-pressed=${group === chosen.group}
            onClick=${() => choose("group")(group === chosen.group ? "" : group)}>${group} <b>${number(facts.filter((one) => one.group === group).length)}</b></button>`)}
      </div>
      <${Choice} label="Project" value=${chosen.project} options=${[["", "every project"], ...some("project")]} onChange=${choose("project")} />
      <${Choice} label="Kind" value=${chosen.kind} options=${[["", "every kind"], ...some("kind")]} onChange=${choose("kind")} />
      <${Choice} label="Session" value=${chosen.session} options=${[["", "every session"], ...some("session").map((one) => [one, shorten(one, 24)])]} onChange=${choose("session")} />
    </div>
    <div class="two">
      <section aria-label="Feed">
        ${entries === null ? html`<p class="waiting" role="status">Loading…</p>`
          : seen.length ? html`<ol class="feed" aria-live=${paused ? "off" : "polite"} aria-relevant="additions">${seen.slice(0, 200).map((one) => html`<${Line} key=${one.entry.seq} ...${one} />`)}</ol>`
          : html`<p class="dim pad">Nothing of that sort lately.</p>`}
      </section>
      ${has("recalled") && html`<${Recalled} project=${chosen.project} />`}
    </div><//>`;
}

// The newest entries: backwards through the journal in pages, past long runs of what is not shown.
async function recent(head) {
  let found = [];
  for (let end = head, page = 0; end > 0 && found.length < 150 && page < 8; page++) {
    const begin = Math.max(0, end - 1000);
    const { changes } = await get("/v1/changes", { after: begin, limit: end - begin });
    found = [...changes.filter((entry) => entry.seq <= end && shownNoun(entry)), ...found];
    end = begin;
  }
  return found.slice(-MOST);
}

const scopeOf = (entry) => entry.after?.scope || entry.before?.scope || {};
const kindOf = (entry) => (entry.noun === "memory" ? entry.after?.kind || entry.before?.kind || "" : "");

function Line({ entry, word, group, scope }) {
  const [memory, set] = useState(null);
  const id = entry.noun === "link" ? entry.after?.origin || entry.target : entry.target;
  const own = entry.noun === "memory" && entry.after?.content ? { id, ...entry.after } : null;
  useEffect(() => {
    let here = true;
    if (!own && !entry.purged && (entry.noun === "memory" || (entry.noun === "link" && entry.after?.origin_kind === "memory"))) memoryOf(id).then((found) => here && set(found));
    return () => (here = false);
  }, [id]);
  const about = own || memory;
  const words = entry.noun === "link" ? `${word} · ${entry.after?.relation || ""}` : word;
  return html`<li class="line g-${group}"><span class="line-deed">${words}</span>
    <span class="line-what">${about
      ? html`<a href=${address("memories", { open: id, states: "any" })}>${shorten(titleOf(about), 160)}</a>`
      : html`<span class="dim">${entry.purged ? "erased" : entry.after?.name || (entry.noun === "link" ? "two entities" : shortId(entry.target))}</span>`}
      ${entry.reason && html`<small class="reason">${shorten(entry.reason, 160)}</small>`}</span>
    <${Time} at=${entry.at} />
    <span class="line-side">${about?.kind && html`<${Kind} kind=${about.kind} />`}${about?.state && html`<${State} state=${about.state} />`}
      <span>${placeOf(about?.scope || scope)}</span><span>by ${entry.actor}</span></span></li>`;
}

// Recalls are not in the journal, because looking changes nothing; which memories were recalled last is counted.
function Recalled({ project }) {
  const found = useData((signal) => get("/v1/recalled", { limit: 12, project }, { signal }), [project]);
  useEffect(() => {
    const timer = setInterval(found.again, 5000);
    return () => clearInterval(timer);
  }, []);
  return html`<aside class="card side" aria-label="Recalled lately"><h2><${Icon} name="recall" />Recalled lately</h2>
    <${Shown} of=${found}>${(all) => all.length
      ? html`<ul class="plain">${all.map((one) => html`<li key=${one.id}><a href=${address("memories", { open: one.id })}>${shorten(titleOf(one), 90)}</a>
          <small class="dim"><${Time} at=${one.last_recalled_at} /> · ${plural(one.recalled, "time")}</small></li>`)}</ul>`
      : html`<p class="dim">No assistant has asked yet. Try a question on the screen <a href="#/recall">Recall</a>.</p>`}<//></aside>`;
}
