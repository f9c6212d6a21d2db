// Texts for people: times, sizes, numbers, what a change was, and how two texts differ. Pure.

const AGO = [[60, "s", 1], [3600, "min", 60], [86400, "h", 3600], [86400 * 30, "d", 86400], [86400 * 365, "mo", 86400 * 30]];

export function ago(time, now = Date.now()) {
  if (!time) return "";
  const seconds = (now - new Date(time).getTime()) / 1000;
  if (Math.abs(seconds) < 5) return "now";
  const past = Math.abs(seconds);
  const [, unit, size] = AGO.find(([most]) => past < most) || [0, "y", 86400 * 365];
  const count = Math.floor(past / size);
  return seconds < 0 ? `in ${count} ${unit}` : `${count} ${unit} ago`;
}

export const day = (time) => (time ? new Date(time).toISOString().slice(0, 10) : "");
export const moment = (time) => (time ? new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "");
export const number = (value) => Number(value || 0).toLocaleString("en");
export const percent = (share) => `${Math.round(share * 100)} %`;
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

export function bytes(size) {
  for (const unit of ["B", "KB", "MB", "GB"]) {
    if (size < 1000 || unit === "GB") return `${size < 10 && unit !== "B" ? size.toFixed(1) : Math.round(size)} ${unit}`;
    size /= 1000;
  }
  return "";
}

export function seconds(value) {
  if (value === undefined || value === null || Number.isNaN(value)) return "–";
  return value < 1 ? `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms` : `${value.toFixed(1)} s`;
}

export const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text);
export const titleOf = (memory) => memory.title || shorten((memory.content || "").split("\n")[0], 140);
export const shortId = (id) => (id || "").slice(-8);

export function placeOf(scope) {
  const parts = Object.entries(scope || {}).map(([name, value]) => (name === "project" ? value : `${name} ${value}`));
  return parts.join(" · ") || "everywhere";
}

// What a row of the journal was, in a word, and which group of the feed it belongs to.
const DEEDS = {
  create: ["remembered", "captured"], import: ["imported", "captured"], observe: ["seen again", "captured"],
  merge: ["merged", "changed"], edit: ["edited", "changed"], restate: ["redacted", "changed"],
  approve: ["approved", "reviewed"], reject: ["rejected", "reviewed"], unreject: ["let back in", "reviewed"],
  supersede: ["superseded", "superseded"], retract: ["taken back", "superseded"], forget: ["forgotten", "forgotten"],
  purge: ["erased", "forgotten"], expire: ["expired", "forgotten"], rollback: ["rolled back", "changed"],
  promote: ["promoted", "changed"], compact: ["summed up", "changed"], link: ["linked", "linked"],
  undo: ["undone", "changed"], refuse: ["refused", "reviewed"], hold: ["held", "changed"], retain: ["retention set", "changed"],
};
export const GROUPS = ["captured", "recalled", "queued", "superseded", "reviewed", "changed", "forgotten", "linked", "janitor", "other"];

export function deed(entry) {
  const [word, group] = DEEDS[entry.operation] || [entry.operation, "other"];
  if (/janitor/.test(entry.actor)) return { word, group: "janitor" };
  if (entry.noun === "memory" && entry.operation === "create" && entry.after?.state === "pending") {
    return { word: "queued for review", group: "queued" };
  }
  if (entry.noun === "memory" && entry.operation === "edit" && entry.after?.tags) {
    const had = (entry.before?.tags || []).includes("pinned");
    const has = entry.after.tags.includes("pinned");
    if (has !== had) return { word: has ? "pinned" : "unpinned", group };
  }
  if (entry.operation === "edit" && entry.after?.state === "active") return { word: "brought back", group };
  if (entry.noun !== "memory" && entry.noun !== "link") return { word: `${word} ${entry.noun}`, group };
  return { word, group };
}

// Two texts as pieces that both have (0), only the first (-1) and only the second (1), by words.
export function diff(before, after) {
  const a = (before ?? "").split(/(\s+)/);
  const b = (after ?? "").split(/(\s+)/);
  if (a.length * b.length > 400000) return [[-1, before], [1, after]];
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const pieces = [];
  const add = (sign, text) => {
    const last = pieces[pieces.length - 1];
    if (last && last[0] === sign) last[1] += text;
    else if (text) pieces.push([sign, text]);
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) add(0, a[i++]), j++;
    else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) add(-1, a[i++]);
    else add(1, b[j++]);
  }
  return joined(pieces);
}

// Changes with nothing but a space between them are one change: word for word nobody could read it.
function joined(pieces) {
  const found = [];
  let gone = "";
  let come = "";
  const flush = () => {
    if (gone) found.push([-1, gone]);
    if (come) found.push([1, come]);
    gone = come = "";
  };
  pieces.forEach(([sign, text], at) => {
    if (sign < 0) gone += text;
    else if (sign > 0) come += text;
    else if ((gone || come) && !text.trim() && pieces[at + 1]) (gone += text), (come += text);
    else flush(), found.push([0, text]);
  });
  flush();
  return found;
}

export const plain = (value) =>
  value === null || value === undefined ? "" : Array.isArray(value) ? value.join(", ") : typeof value === "object" ? placeOf(value) : String(value);
