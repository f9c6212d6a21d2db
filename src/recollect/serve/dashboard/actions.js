// What a person can do to memories, each through the server's own operation, and each with the way back where there is one.
import { html } from "./base.js";
import { patch, post } from "./api.js";
import { say } from "./state.js";
import { close, confirm, Field, Kind } from "./ui.js";
import { plural, shorten, titleOf } from "./words.js";
import { overlay } from "./state.js";
import { Editor } from "./editor.js";

const at = (id) => `/v1/memories/${id}`;
const named = (memories) => (memories.length === 1 ? `«${shorten(titleOf(memories[0]), 50)}»` : plural(memories.length, "memory", "memories"));

export const Preview = ({ memories }) =>
  html`<ul class="preview">${memories.slice(0, 8).map((one) => html`<li><${Kind} kind=${one.kind} /> ${shorten(titleOf(one), 90)}</li>`)}
    ${memories.length > 8 && html`<li class="dim">and ${memories.length - 8} more</li>`}</ul>`;

// Bring memories back to the state they had.
async function restore(memories) {
  for (const one of memories) await patch(at(one.id), { state: one.state === "archived" ? "archived" : "active" });
}

export async function forget(memories) {
  const asked = await post("/v1/forget", { id: memories.map((one) => one.id), dry_run: true });
  const said = await confirm(
    `Forget ${named(memories)}?`,
    html`<p>They leave recall, stay in the history, and can be brought back.</p><${Preview} memories=${asked.memories} />`,
    { yes: "Forget" },
  );
  if (!said) return false;
  await post("/v1/forget", { id: memories.map((one) => one.id), reason: said.reason });
  say(`Forgot ${named(memories)}.`, { undo: () => restore(memories) });
  return true;
}

export async function reject(memories) {
  const said = await confirm(
    `Reject ${named(memories)}?`,
    html`<p>They are forgotten, and the same statement is refused from then on, whoever says it.</p><${Preview} memories=${memories} />`,
    { yes: "Reject" },
  );
  if (!said) return false;
  await rejectNow(memories, said.reason);
  return true;
}

export async function rejectNow(memories, reason = "") {
  const ids = memories.map((one) => one.id);
  await post("/v1/reject", { id: ids, reason });
  say(`Rejected ${named(memories)}.`, { undo: () => post("/v1/reject", { id: ids, undo: true }) });
}

export async function purge(memories) {
  const said = await confirm(
    `Erase ${named(memories)} for good?`,
    html`<p><strong>This cannot be undone.</strong> Content, quotes, vectors and their history are erased from the files.</p><${Preview} memories=${memories} />`,
    { yes: "Erase for good", danger: true },
  );
  if (!said) return false;
  await post("/v1/forget", { id: memories.map((one) => one.id), purge: true, reason: said.reason });
  say(`Erased ${plural(memories.length, "memory", "memories")}.`);
  return true;
}

export async function pin(memories, on = !memories.every(pinned)) {
  const before = memories.map((one) => [one.id, one.tags]);
  for (const one of memories) {
    const tags = one.tags.filter((tag) => tag !== "pinned");
    await patch(at(one.id), { tags: on ? [...tags, "pinned"] : tags });
  }
  say(`${on ? "Pinned" : "Unpinned"} ${named(memories)}.`, {
    undo: async () => {
      for (const [id, tags] of before) await patch(at(id), { tags });
    },
  });
  return true;
}

export const pinned = (memory) => memory.tags.includes("pinned");

export async function bringBack(memories) {
  for (const one of memories) {
    if (one.state === "rejected") await post("/v1/reject", { id: one.id, undo: true });
    else await patch(at(one.id), { state: "active" });
  }
  say(`Brought back ${named(memories)}.`, { undo: () => post("/v1/forget", { id: memories.map((one) => one.id) }) });
  return true;
}

export async function tag(memories, words) {
  const added = words.split(",").map((one) => one.trim()).filter(Boolean);
  const before = memories.map((one) => [one.id, one.tags]);
  for (const one of memories) await patch(at(one.id), { tags: [...new Set([...one.tags, ...added])] });
  say(`Tagged ${named(memories)}.`, {
    undo: async () => {
      for (const [id, tags] of before) await patch(at(id), { tags });
    },
  });
}

// Fields that an edit may change, as they were before it.
const FIELDS = ["content", "title", "reasoning", "kind", "tags", "importance", "confidence", "refs", "valid_from", "valid_to"];

export function edit(memory, done = () => {}) {
  const save = async (fields, reason) => {
    const changed = {};
    const before = {};
    for (const name of FIELDS) {
      if (name in fields && JSON.stringify(fields[name]) !== JSON.stringify(memory[name])) {
        changed[name] = fields[name];
        before[name] = memory[name];
      }
    }
    if (fields.project !== undefined && fields.project !== (memory.scope.project || "")) {
      changed.project = fields.project;
      before.project = memory.scope.project || "";
    }
    if (!Object.keys(changed).length) return close();
    const after = await patch(at(memory.id), { ...changed, reason });
    close();
    say(`Edited ${named([after])}.`, { undo: () => patch(at(memory.id), { ...before, reason: "taken back" }) });
    done(after);
  };
  overlay.set({ title: "Edit memory", kind: "wide", onClose: close, body: () => html`<${Editor} memory=${memory} save=${save} />` });
}

// One memory takes the place of others: they are superseded by it.
export async function merge(memories) {
  const [first] = [...memories].sort((a, b) => b.importance - a.importance || (a.id < b.id ? 1 : -1));
  let chosen = first.id;
  const body = html`<p>Which one stays? The others are superseded by it and stay in the history.</p>
    <fieldset class="pick"><legend class="hidden">The memory that stays</legend>
    ${memories.map((one) => html`<label><input type="radio" name="stays" value=${one.id} checked=${one.id === first.id}
      onChange=${() => (chosen = one.id)} /><span><${Kind} kind=${one.kind} /> ${shorten(one.content, 220)}</span></label>`)}</fieldset>`;
  const said = await confirm(`Merge ${plural(memories.length, "memory", "memories")}?`, body, { yes: "Merge" });
  if (!said) return false;
  return mergeInto(memories.find((one) => one.id === chosen), memories.filter((one) => one.id !== chosen), said.reason);
}

export async function mergeInto(stays, others, reason = "") {
  for (const one of others) await post("/v1/links", { origin: stays.id, relation: "supersedes", target: one.id, reason: reason || "merged" });
  say(`Merged into ${named([stays])}.`, { undo: () => restore(others) });
  return true;
}

export function remember(done = () => {}, place = {}) {
  const blank = { content: "", title: "", reasoning: "", kind: "fact", tags: [], importance: 5, confidence: 1, refs: [], valid_from: null, valid_to: null, scope: place };
  const save = async (fields) => {
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== "" && !(Array.isArray(value) && !value.length)));
    const result = await post("/v1/memories", given);
    close();
    if (result.action === "refused") return say(`Refused: ${result.reason}`, { kind: "wrong" });
    const words = { created: "Remembered", duplicate: "Known already", merged: "Merged into what was known" }[result.action];
    say(`${words}: ${named([result.memory])}`, result.action === "created" ? { undo: () => post("/v1/forget", { id: result.memory.id }) } : {});
    done(result.memory);
  };
  overlay.set({ title: "Remember something", kind: "wide", onClose: close, body: () => html`<${Editor} memory=${blank} save=${save} fresh=${true} />` });
}

export function askTag(memories, done) {
  let words = "";
  const body = html`<${Field} label="Tags, with commas between" value="" onInput=${(value) => (words = value)} autofocus=${true} />`;
  confirm(`Tag ${named(memories)}`, body, { yes: "Tag", reason: false }).then(async (said) => {
    if (said && words.trim()) await tag(memories, words).then(done);
  });
}
