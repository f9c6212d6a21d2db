// What a person can do to memories, each through the server's own operation, and each with the way back where there is one.
import { html, useState } from "./base.js";
import { get, patch, post } from "./api.js";
import { complain, overlay, say, useData } from "./state.js";
import { close, confirm, Field, Kind, useLate } from "./ui.js";
import { plural, shorten, titleOf } from "./words.js";
import { Editor } from "./editor.js";

const at = (id) => `/v1/memories/${id}`;
const named = (memories) => (memories.length === 1 ? `"${shorten(titleOf(memories[0]), 50)}"` : plural(memories.length, "memory", "memories"));

export const Preview = ({ memories }) =>
  html`<ul class="preview">${memories.slice(0, 8).map((one) => html`<li><${Kind} kind=${one.kind} /> ${shorten(titleOf(one), 90)}</li>`)}
    ${memories.length > 8 && html`<li class="dim">and ${memories.length - 8} more</li>`}</ul>`;

// The way back: what a write changed is put as it was, links and all.
export const back = (trail) => () => post("/v1/undo", { changes: trail });

export async function forget(memories) {
  const asked = await post("/v1/forget", { id: memories.map((one) => one.id), dry_run: true });
  const said = await confirm(
    `Forget ${named(memories)}?`,
    html`<p>They leave recall, stay in the history, and can be brought back.</p><${Preview} memories=${asked.memories} />`,
    { yes: "Forget" },
  );
  if (!said) return false;
  const trail = [];
  await post("/v1/forget", { id: memories.map((one) => one.id), reason: said.reason }, { trail });
  say(`Forgot ${named(memories)}.`, { undo: back(trail) });
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
  const trail = [];
  await post("/v1/reject", { id: memories.map((one) => one.id), reason }, { trail });
  say(`Rejected ${named(memories)}.`, { undo: back(trail) });
}

export async function purge(memories) {
  const ids = memories.map((one) => one.id);
  let derived = "purge";
  const asked = await post("/v1/forget", { id: ids, purge: true, dry_run: true });
  const said = await confirm(
    `Erase ${named(memories)} for good?`,
    html`<p><strong>This cannot be undone.</strong> Content, quotes, vectors and their history are erased from the files.</p><${Preview} memories=${memories} />
      ${asked.derived.length > 0 && html`<p>Derived from it, with no other evidence, and erased too:</p><${Preview} memories=${asked.derived} />
        <label><input type="checkbox" onChange=${(event) => { derived = event.target.checked ? "keep" : "purge"; }} /> Keep what was derived</label>`}`,
    { yes: "Erase for good", danger: true },
  );
  if (!said) return false;
  await post("/v1/forget", { id: ids, purge: true, derived, reason: said.reason });
  say(`Erased ${plural(memories.length, "memory", "memories")}.`);
  return true;
}

// Several at once are shown before they are changed.
const sure = async (memories, title, words) =>
  memories.length < 2 || Boolean(await confirm(title, html`<p>${words}</p><${Preview} memories=${memories} />`, { yes: "Do it", reason: false }));

export async function pin(memories, on = !memories.every(pinned)) {
  if (!(await sure(memories, `${on ? "Pin" : "Unpin"} ${named(memories)}?`, on ? "What is pinned is neither aged nor tidied away." : "They age again as others do."))) return false;
  const trail = [];
  for (const one of memories) {
    const tags = one.tags.filter((tag) => tag !== "pinned");
    await patch(at(one.id), { tags: on ? [...tags, "pinned"] : tags }, { trail });
  }
  say(`${on ? "Pinned" : "Unpinned"} ${named(memories)}.`, { undo: back(trail) });
  return true;
}

export const pinned = (memory) => memory.tags.includes("pinned");

export async function bringBack(memories) {
  if (!(await sure(memories, `Bring back ${named(memories)}?`, "They stand again and are recalled."))) return false;
  const trail = [];
  for (const one of memories) {
    if (one.state === "rejected") await post("/v1/reject", { id: one.id, undo: true }, { trail });
    else await patch(at(one.id), { state: "active" }, { trail });
  }
  say(`Brought back ${named(memories)}.`, { undo: back(trail) });
  return true;
}

export async function tag(memories, words) {
  const added = words.split(",").map((one) => one.trim()).filter(Boolean);
  const trail = [];
  for (const one of memories) await patch(at(one.id), { tags: [...new Set([...one.tags, ...added])] }, { trail });
  say(`Tagged ${named(memories)}.`, { undo: back(trail) });
}

// Fields that an edit may change.
const FIELDS = ["content", "title", "reasoning", "kind", "tags", "importance", "confidence", "refs", "valid_from", "valid_to"];

export function edit(memory, done = () => {}) {
  const save = async (fields, reason) => {
    const changed = {};
    const trail = [];
    for (const name of FIELDS) {
      if (name in fields && JSON.stringify(fields[name]) !== JSON.stringify(memory[name])) {
        changed[name] = fields[name];
      }
    }
    if (fields.project !== undefined && fields.project !== (memory.scope.project || "")) {
      changed.project = fields.project;
    }
    if (!Object.keys(changed).length) return close();
    const after = await patch(at(memory.id), { ...changed, reason }, { trail });
    close();
    say(`Edited ${named([after])}.`, { undo: back(trail) });
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

// Merge one memory with another that is looked for by its words.
export function mergeWith(memory) {
  const chosen = (other) => merge([memory, other]).catch(complain);
  overlay.set({ title: `Merge ${named([memory])} with…`, kind: "wide", onClose: close, body: () => html`<${Finder} but=${memory.id} words=${shorten(memory.content, 80)} chosen=${chosen} />` });
}

function Finder({ but, words, chosen }) {
  const [typed, set] = useState(words);
  const late = useLate(typed, 200);
  const found = useData((signal) => get("/v1/browse", { text: late, limit: 8 }, { signal }), [late]);
  const others = (found.data?.memories || []).filter((one) => one.id !== but);
  return html`<${Field} label="Words of the other memory" value=${typed} onInput=${set} autofocus=${true} />
    <ul class="plain found" aria-label="Found">${others.map((one) => html`<li key=${one.id}><button type="button" class="button" onClick=${() => chosen(one)}><${Kind} kind=${one.kind} /><span>${shorten(titleOf(one), 140)}</span></button></li>`)}</ul>
    ${found.data && !others.length && html`<p class="dim">Nothing else has these words.</p>`}`;
}

export async function mergeInto(stays, others, reason = "") {
  const trail = [];
  for (const one of others) await post("/v1/links", { origin: stays.id, relation: "supersedes", target: one.id, reason: reason || "merged" }, { trail });
  say(`Merged into ${named([stays])}.`, { undo: back(trail) });
  return true;
}

export function remember(done = () => {}, place = {}) {
  const blank = { content: "", title: "", reasoning: "", kind: "fact", tags: [], importance: 5, confidence: 1, refs: [], valid_from: null, valid_to: null, scope: place };
  const save = async (fields) => {
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== "" && !(Array.isArray(value) && !value.length)));
    const trail = [];
    const result = await post("/v1/memories", given, { trail });
    close();
    if (result.action === "refused") return say(`Refused: ${result.reason}`, { kind: "wrong" });
    const words = { created: "Remembered", duplicate: "Known already", merged: "Merged into what was known" }[result.action];
    say(`${words}: ${named([result.memory])}`, trail.length ? { undo: back(trail) } : {});
    done(result.memory);
  };
  overlay.set({ title: "Remember something", kind: "wide", onClose: close, body: () => html`<${Editor} memory=${blank} save=${save} fresh=${true} />` });
}

export function askTag(memories, done) {
  let words = "";
  const body = html`<${Field} label="Tags, with commas between" value="" onInput=${(value) => (words = value)} autofocus=${true} /><${Preview} memories=${memories} />`;
  confirm(`Tag ${named(memories)}`, body, { yes: "Tag", reason: false }).then(async (said) => {
    if (said && words.trim()) await tag(memories, words).then(done);
  }).catch(complain);
}
