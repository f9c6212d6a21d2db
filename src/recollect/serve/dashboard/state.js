// What the whole page shares: who is looking, the address, the feed, messages, and memories that were read before.
import { useEffect, useState } from "./base.js";
import { get } from "./api.js";

function cell(value) {
  const watching = new Set();
  return {
    get: () => value,
    set(next) {
      value = typeof next === "function" ? next(value) : next;
      for (const told of [...watching]) told(value);
    },
    watch(told) {
      watching.add(told);
      return () => watching.delete(told);
    },
  };
}

export function useCell(one) {
  const [value, set] = useState(one.get());
  useEffect(() => {
    set(one.get());
    return one.watch(set);
  }, [one]);
  return value;
}

export const me = cell(null);
export const toasts = cell([]);
export const feedState = cell("off");
export const overlay = cell(null); // the dialog that is open: { title, body }
export const undoable = cell([]); // what can be taken back, newest last: { words, undo }
const entries = new Set();

export const can = (right) => Boolean(me.get()?.can.includes(right));
export const has = (operation) => Boolean(me.get()?.operations[operation]);

// -- the address: #/screen?name=value ---------------------------------------------------------------------------------

function read() {
  const hash = location.hash.replace(/^#\/?/, "") || "today";
  const at = hash.indexOf("?");
  const [path, search] = at < 0 ? [hash, ""] : [hash.slice(0, at), hash.slice(at + 1)];
  const values = {};
  for (const [name, value] of new URLSearchParams(search)) (values[name] ??= []).push(value);
  return { screen: path, values };
}

export const route = cell(read());
addEventListener("hashchange", () => route.set(read()));

export function address(screen, values = {}) {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined && one !== null && one !== "") pairs.append(name, one);
  }
  const text = pairs.toString();
  return `#/${screen}${text ? `?${text}` : ""}`;
}

export function go(screen, values, { replace = false } = {}) {
  const to = address(screen, values);
  if (to === location.hash) return;
  if (replace) {
    history.replaceState(null, "", to);
    route.set(read());
  } else location.hash = to;
}

// -- messages ---------------------------------------------------------------------------------------------------------

let count = 0;
export function say(words, { kind = "done", undo, fix } = {}) {
  const id = ++count;
  toasts.set((all) => [...all.slice(-3), { id, words, kind, undo, fix }]);
  if (undo) undoable.set((all) => [...all.slice(-19), { id, words, undo }]);
  setTimeout(() => unsay(id), undo || kind === "wrong" ? 12000 : 5000);
}
export const unsay = (id) => toasts.set((all) => all.filter((one) => one.id !== id));
export const complain = (error) => error?.name !== "AbortError" && say(error.message, { kind: "wrong", fix: error.fix });

export async function takeBack(one) {
  undoable.set((all) => all.filter((other) => other.id !== one.id));
  unsay(one.id);
  try {
    await one.undo();
    say(`Taken back: ${one.words}`);
  } catch (error) {
    complain(error);
  }
}

// -- the feed ---------------------------------------------------------------------------------------------------------

export function onEntry(told) {
  entries.add(told);
  return () => entries.delete(told);
}
// What is recalled comes the same way as what changes, but is no change: { look, given }.
const looks = new Set();
export function onLook(told) {
  looks.add(told);
  return () => looks.delete(told);
}
export function spread(entry) {
  if (entry.look) {
    for (const told of [...looks]) told(entry);
    return;
  }
  if (entry.noun === "memory") memories.delete(entry.target);
  for (const told of [...entries]) told(entry);
}

// Tell `told` once after changes have come, and not for each of them.
export function useChanges(told, wait = 400) {
  useEffect(() => {
    let timer = 0;
    const end = onEntry((entry) => {
      if (entry.noun !== "memory" && entry.noun !== "link") return;
      clearTimeout(timer);
      timer = setTimeout(told, wait);
    });
    return () => (clearTimeout(timer), end());
  }, [told, wait]);
}

// -- reading ----------------------------------------------------------------------------------------------------------

// What a promise gives, and what went wrong with it; asked for again when one of `on` changes or `again` is called.
export function useData(ask, on) {
  const [state, set] = useState({ data: null, error: null, busy: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    set((old) => ({ ...old, busy: true }));
    Promise.resolve(ask(stop.signal)).then(
      (data) => stop.signal.aborted || set({ data, error: null, busy: false }),
      (error) => stop.signal.aborted || error.name === "AbortError" || set({ data: null, error, busy: false }),
    );
    return () => stop.abort();
  }, [...on, turn]);
  return { ...state, again: () => setTurn((n) => n + 1) };
}

const memories = new Map();
export function memoryOf(id) {
  if (!memories.has(id)) {
    if (memories.size > 2000) memories.clear();
    memories.set(id, get(`/v1/memories/${id}`, { peek: true }).catch(() => null));
  }
  return memories.get(id);
}

export function kept(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(`recollect.${name}`)) ?? otherwise;
  } catch {
    return otherwise; // somebody else wrote there, or the browser keeps nothing
  }
}
export function keep(name, value) {
  try {
    localStorage.setItem(`recollect.${name}`, JSON.stringify(value));
  } catch {
    say("This browser keeps nothing: the choice holds until you leave.", { kind: "note" });
  }
}
