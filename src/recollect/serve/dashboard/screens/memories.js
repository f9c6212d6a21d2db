// Memories: everything that is remembered, narrowed by facets and words, in a table or as cards; one opens beside it.
import { html, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../base.js";
import { get, post } from "../api.js";
import { can, complain, go, keep, kept, memoryOf, say, useChanges, useData } from "../state.js";
import { Button, Empty, Icon, Kind, Page, State, Tag, Time, Trust, useKeys, useLate, Wrong } from "../ui.js";
import { plural, shorten, titleOf } from "../words.js";
import { Rows } from "../rows.js";
import * as actions from "../actions.js";
import { Facets } from "./facets.js";
import { Detail } from "./detail.js";
import { First } from "./first.js";

const PAGE = 100;
const NAMES = ["kinds", "networks", "states", "trusts", "project", "tags", "sources", "since", "until", "min_importance"];
const ROW = 46;
const CARD = 164;

export function Memories({ values }) {
  const filter = useMemo(() => Object.fromEntries(NAMES.filter((name) => values[name]).map((name) => [name, values[name]])), [JSON.stringify(NAMES.map((name) => values[name]))]);
  const words = values.q?.[0] || "";
  const meaning = values.by?.[0] === "meaning";
  const open = values.open?.[0] || "";
  const [as, setAs] = useState(kept("memories.as", "table"));
  const [chosen, setChosen] = useState(() => new Map());
  const [at, setAt] = useState(-1);
  const list = useList(filter, words, meaning);
  const counts = useData((signal) => get("/v1/facets", filter, { signal }), [filter]);
  const set = useCallback((changes, options) => go("memories", { ...values, ...changes }, options), [values]);
  const again = useCallback(() => (list.refresh(), counts.again()), [list.refresh]);
  useChanges(again, 600);
  useLayoutEffect(() => (setAt(-1), setChosen(new Map())), [filter, words, meaning]);
  const columns = useColumns(as);
  const current = list.items[at];
  const show = (memory) => set({ open: memory.id });
  const shut = () => set({ open: undefined });
  // Keys act on what is selected, else on the row one is at, else on what is open.
  const one = async () => current || (open ? memoryOf(open) : null);
  const targets = async () => (chosen.size ? [...chosen.values()] : [await one()].filter(Boolean));
  const act = (what) => async () => {
    const memories = await targets();
    if (memories.length && (await what(memories))) setChosen(new Map());
  };
  const toggle = (memory) => setChosen((old) => {
    const next = new Map(old);
    if (!next.delete(memory.id)) next.set(memory.id, memory);
    return next;
  });
  const move = (step) => () => setAt((now) => {
    const next = Math.max(0, Math.min(list.items.length - 1, now + step));
    if (open && list.items[next]) show(list.items[next]);
    return next;
  });
  useKeys({
    j: move(1), k: move(-1), ArrowDown: move(columns), ArrowUp: move(-columns), Enter: () => current && show(current),
    x: () => current && toggle(current), Escape: () => (open ? shut() : setChosen(new Map())),
    ...(can("write") && { e: async () => actions.edit((await targets())[0]), f: act(actions.forget), p: act(actions.pin) }),
  });
  const total = words || meaning ? list.items.length : counts.data?.total;
  const nothing = counts.data && !counts.data.total && !Object.keys(filter).length && !words;
  const turn = (next) => (setAs(next), keep("memories.as", next));
  const row = (memory, index) => {
    const given = { memory, here: index === at, chosen: chosen.has(memory.id), opened: memory.id === open, toggle, show: () => (setAt(index), show(memory)) };
    return as === "table" ? html`<${Row} key=${memory.id} ...${given} />` : html`<${Card} key=${memory.id} ...${given} />`;
  };
  return html`<${Page} title="Memories" wide=${true} lead=${total === undefined ? "" : `${plural(total, "memory", "memories")}${words || meaning ? " found" : ""}`}
    actions=${html`<div class="switch" role="group" aria-label="Shown as">
      <button type="button" aria-pressed=${as === "table"} onClick=${() => turn("table")}>Table</button>
      <button type="button" aria-pressed=${as === "cards"} onClick=${() => turn("cards")}>Cards</button></div>`}>
    <${Search} words=${words} meaning=${meaning} set=${set} />
    <${Saved} values=${values} />
    ${nothing ? html`<${First} done=${again} />` : html`<div class="browse ${open ? "with-detail" : ""}">
      <${Facets} counts=${counts} filter=${filter} set=${set} />
      <section class="list" aria-label="Memories" aria-busy=${list.busy ? "true" : "false"}>
        ${chosen.size > 0 && html`<${Bulk} chosen=${[...chosen.values()]} act=${act} clear=${() => setChosen(new Map())} all=${() => setChosen(new Map(list.items.map((one) => [one.id, one])))} />`}
        ${list.error ? html`<${Wrong} error=${list.error} again=${list.refresh} />`
          : !list.busy && !list.items.length ? html`<${Empty} title="Nothing fits"><p>Take a filter off, or search by meaning instead of words.</p>
              <${Button} onClick=${() => go("memories", {})}>Clear everything<//><//>`
          : html`<${Rows} key=${as} items=${list.items} height=${as === "table" ? ROW : CARD} columns=${columns} row=${row} label="Memories" selected=${at} more=${list.more} />`}
      </section>
      ${open && html`<${Detail} id=${open} shut=${shut} key=${open} />`}
    </div>`}<//>`;
}

// Pages of the list as far as somebody has scrolled; a change asks for as much again and keeps the place.
function useList(filter, words, meaning) {
  const [state, set] = useState({ items: [], cursor: null, busy: true, error: null });
  const late = useLate(words);
  const turn = useRef(0);
  const asking = useRef(false);
  const ask = useCallback(async (size, cursor) => {
    if (meaning && late.trim()) {
      const { kinds, networks, tags, states, since, until, min_importance, project } = flat(filter);
      const found = await post("/v1/recall", clean({ peek: true, query: late, limit: 100, kinds, networks, tags, states, since, until, min_importance, project }));
      return { memories: found.hits.map((hit) => ({ ...hit.memory, why: hit.why })), cursor: null };
    }
    return get("/v1/browse", { ...filter, text: late, limit: late.trim() ? 200 : size, cursor });
  }, [filter, late, meaning]);
  const load = useCallback(async (size) => {
    const mine = ++turn.current;
    try {
      const page = await ask(size);
      if (mine === turn.current) set({ items: page.memories, cursor: page.cursor, busy: false, error: null });
    } catch (error) {
      if (mine === turn.current) set({ items: [], cursor: null, busy: false, error });
    }
  }, [ask]);
  useEffect(() => {
    set((old) => ({ ...old, busy: true }));
    load(PAGE);
  }, [load]);
  const more = useCallback(async () => {
    if (asking.current || !state.cursor || late.trim()) return;
    asking.current = true;
    const mine = turn.current;
    try {
      const page = await ask(PAGE, state.cursor);
      if (mine === turn.current) set((old) => ({ ...old, items: [...old.items, ...page.memories], cursor: page.cursor }));
    } catch (error) {
      complain(error);
    }
    asking.current = false;
  }, [state.cursor, ask, late]);
  const refresh = useCallback(() => load(Math.min(1000, Math.max(PAGE, state.items.length))), [load, state.items.length]);
  return { ...state, more, refresh };
}

// Lists as lists and single values as texts, as a body takes them.
const SEVERAL = new Set(["kinds", "networks", "tags", "states", "trusts", "sources"]);
const flat = (filter) => Object.fromEntries(Object.entries(filter).map(([name, value]) =>
  [name, SEVERAL.has(name) ? value : name === "min_importance" ? Number(value[0]) : value[0]]));
const clean = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

function useColumns(as) {
  const [columns, set] = useState(1);
  useEffect(() => {
    const look = () => set(as === "cards" ? Math.max(1, Math.floor(((document.querySelector(".list")?.clientWidth || 900) - 4) / 340)) : 1);
    look();
    addEventListener("resize", look);
    return () => removeEventListener("resize", look);
  }, [as]);
  return columns;
}

function Search({ words, meaning, set }) {
  const [typed, setTyped] = useState(words);
  useEffect(() => setTyped(words), [words]);
  const change = (value) => (setTyped(value), set({ q: value }, { replace: true }));
  return html`<div class="search" role="search"><${Icon} name="recall" />
    <input data-search type="search" aria-label="Search memories" placeholder=${meaning ? "Ask in plain words…" : "Search words…"} value=${typed}
      onInput=${(event) => change(event.target.value)} onKeyDown=${(event) => event.key === "Escape" && event.target.blur()} />
    <div class="switch" role="group" aria-label="Search by">
      <button type="button" aria-pressed=${!meaning} onClick=${() => set({ by: undefined })}>Words</button>
      <button type="button" aria-pressed=${meaning} onClick=${() => set({ by: "meaning" })}>Meaning</button></div></div>`;
}

function Saved({ values }) {
  const [all, setAll] = useState(kept("filters", []));
  const { open, ...filter } = values;
  const same = JSON.stringify(filter);
  const known = all.find((one) => JSON.stringify(one.values) === same);
  const change = (next) => (setAll(next), keep("filters", next));
  const save = () => {
    const name = Object.entries(filter).filter(([key]) => key !== "by").map(([, value]) => value.join(" + ")).join(" · ");
    change([...all.slice(-11), { name: shorten(name, 60), values: filter }]);
    say("Filter saved.");
  };
  if (!all.length && same === "{}") return null;
  return html`<div class="chips saved" role="group" aria-label="Saved filters">
    ${all.map((one) => html`<span class="chip-pair"><button type="button" class="chip ${one === known ? "on" : ""}" aria-pressed=${one === known} onClick=${() => go("memories", one.values)}>${one.name}</button>
      <button type="button" class="chip-off" aria-label="Drop the filter ${one.name}" onClick=${() => change(all.filter((other) => other !== one))}>×</button></span>`)}
    ${same !== "{}" && !known && html`<button type="button" class="chip dashed" onClick=${save}>Save this filter</button>`}
    ${same !== "{}" && html`<button type="button" class="chip plain" onClick=${() => go("memories", {})}>Clear</button>`}</div>`;
}

function Bulk({ chosen, act, clear, all }) {
  const [first] = chosen;
  const over = chosen.every((one) => !["active", "pending"].includes(one.state));
  return html`<div class="bulk" role="toolbar" aria-label="With the selected"><strong>${plural(chosen.length, "selected", "selected")}</strong>
    <${Button} small=${true} kind="quiet" onClick=${all}>All loaded<//><${Button} small=${true} kind="quiet" onClick=${clear}>None<//>
    <span class="gap"></span>
    ${can("write") && html`
      ${over ? html`<${Button} small=${true} onClick=${act(actions.bringBack)}>Bring back<//>` : html`
        <${Button} small=${true} onClick=${act(actions.pin)}>${chosen.every(actions.pinned) ? "Unpin" : "Pin"}<//>
        <${Button} small=${true} onClick=${() => actions.askTag(chosen, clear)}>Tag<//>
        ${chosen.length > 1 && chosen.length <= 10 && html`<${Button} small=${true} onClick=${act(actions.merge)}>Merge<//>`}
        <${Button} small=${true} onClick=${act(actions.forget)}>Forget<//>
        <${Button} small=${true} onClick=${act(actions.reject)}>Reject<//>`}`}
    ${can("admin") && html`<${Button} small=${true} kind="danger" onClick=${act(actions.purge)}>Erase<//>`}</div>`;
}

const Check = ({ memory, chosen, toggle }) =>
  html`<input type="checkbox" aria-label="Select ${shorten(titleOf(memory), 60)}" checked=${chosen} onClick=${(event) => event.stopPropagation()} onChange=${() => toggle(memory)} />`;

function Row({ memory, here, chosen, opened, toggle, show }) {
  return html`<div class="row ${here ? "here" : ""} ${opened ? "opened" : ""} ${chosen ? "chosen" : ""}" role="listitem" onClick=${show}>
    <${Check} ...${{ memory, chosen, toggle }} />
    <${Kind} kind=${memory.kind} />
    <a class="row-title" href=${`#/memories?open=${memory.id}`} onClick=${(event) => (event.preventDefault(), event.stopPropagation(), show())}>
      ${actions.pinned(memory) && html`<${Icon} name="pin" />`}${shorten(titleOf(memory), 200)}</a>
    <span class="row-tags">${memory.tags.filter((one) => one !== "pinned").slice(0, 3).map((one) => html`<${Tag} tag=${one} />`)}<${State} state=${memory.state} /></span>
    <span class="row-place">${memory.scope.project || "everywhere"}</span>
    <${Trust} trust=${memory.trust} />
    <span class="row-weight" title="Importance">${memory.importance}</span>
    <${Time} at=${memory.updated_at} /></div>`;
}

function Card({ memory, here, chosen, opened, toggle, show }) {
  return html`<article class="memory-card ${here ? "here" : ""} ${opened ? "opened" : ""} ${chosen ? "chosen" : ""}" role="listitem" onClick=${show}>
    <header><${Check} ...${{ memory, chosen, toggle }} /><${Kind} kind=${memory.kind} /><${State} state=${memory.state} /><span class="gap"></span><${Time} at=${memory.updated_at} /></header>
    <a class="card-text" href=${`#/memories?open=${memory.id}`} onClick=${(event) => (event.preventDefault(), event.stopPropagation(), show())}>${shorten(memory.content, 220)}</a>
    <footer>${actions.pinned(memory) && html`<${Icon} name="pin" />`}<span>${memory.scope.project || "everywhere"}</span>${memory.tags.filter((one) => one !== "pinned").slice(0, 3).map((one) => html`<${Tag} tag=${one} />`)}
      <span class="gap"></span><${Trust} trust=${memory.trust} /></footer></article>`;
}
