// The form in which a memory is written or changed.
import { html, useState } from "./base.js";
import { complain } from "./state.js";
import { close, Choice, Field, Wrong } from "./ui.js";
import { day } from "./words.js";

export const KINDS = [
  "fact", "preference", "rule", "decision", "insight", "lesson", "procedure", "pattern", "anti-pattern", "heuristic",
  "incident", "summary", "doc", "code", "commit", "turn", "task",
];

const listed = (text) => text.split(",").map((one) => one.trim()).filter(Boolean);

export function Editor({ memory, save, fresh }) {
  const [draft, set] = useState(() => ({
    content: memory.content, title: memory.title, reasoning: memory.reasoning, kind: memory.kind,
    tags: memory.tags.join(", "), refs: memory.refs.join(", "), importance: String(memory.importance),
    confidence: String(memory.confidence), valid_from: day(memory.valid_from), valid_to: day(memory.valid_to),
    project: memory.scope.project || "", reason: "",
  }));
  const [wrong, setWrong] = useState(null);
  const [busy, setBusy] = useState(false);
  const change = (name) => (value) => set((old) => ({ ...old, [name]: value }));
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setWrong(null);
    try {
      // A day stands for its first moment; one that was not touched keeps the moment it had.
      const time = (name) => (draft[name] === day(memory[name]) ? memory[name] : draft[name] || null);
      await save({
        content: draft.content, title: draft.title, reasoning: draft.reasoning, kind: draft.kind,
        tags: listed(draft.tags), refs: listed(draft.refs), importance: Number(draft.importance),
        confidence: Number(draft.confidence), valid_from: time("valid_from"), valid_to: time("valid_to"), project: draft.project,
      }, draft.reason);
    } catch (error) {
      if (error.status) setWrong(error);
      else complain(error);
    }
    setBusy(false);
  };
  const keys = (event) => (event.ctrlKey || event.metaKey) && event.key === "Enter" && submit(event);
  return html`<form class="editor" onSubmit=${submit} onKeyDown=${keys}>
    <${Field} label="What is known" long=${true} rows="5" value=${draft.content} onInput=${change("content")} required autofocus=${true} />
    <${Field} label="Why it is so" long=${true} rows="2" value=${draft.reasoning} onInput=${change("reasoning")} />
    <div class="grid">
      <${Field} label="Title" value=${draft.title} onInput=${change("title")} />
      <${Choice} label="Kind" value=${draft.kind} options=${KINDS} onChange=${change("kind")} />
      <${Field} label="Project" value=${draft.project} onInput=${change("project")} placeholder="every project" />
      <${Field} label="Tags" value=${draft.tags} onInput=${change("tags")} placeholder="with commas between" />
      <${Field} label="Refers to" value=${draft.refs} onInput=${change("refs")} placeholder="files, commits, URLs" />
      <${Field} label="Importance, 1 to 10" type="number" min="1" max="10" value=${draft.importance} onInput=${change("importance")} />
      <${Field} label="Confidence, 0 to 1" type="number" min="0" max="1" step="0.05" value=${draft.confidence} onInput=${change("confidence")} />
      <${Field} label="Holds from" type="date" value=${draft.valid_from} onInput=${change("valid_from")} />
      <${Field} label="Holds until" type="date" value=${draft.valid_to} onInput=${change("valid_to")} />
    </div>
    ${!fresh && html`<${Field} label="Why it is changed (kept in the history)" value=${draft.reason} onInput=${change("reason")} />`}
    ${wrong && html`<${Wrong} error=${wrong} />`}
    <footer><button type="button" class="button" onClick=${close}>Cancel</button>
      <button type="submit" class="button main" disabled=${busy || !draft.content.trim()}>${fresh ? "Remember" : "Save"}</button></footer>
  </form>`;
}
