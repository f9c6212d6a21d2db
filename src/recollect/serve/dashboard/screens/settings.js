// Settings: what is in force and why, models with a way to try them, who may come in, assistants, and moving memories.
import { html, useState } from "../base.js";
import { get, post, remove, text } from "../api.js";
import { can, complain, has, say, useData } from "../state.js";
import { Button, Copy, Field, Page, Shown, Time, confirm } from "../ui.js";
import { placeOf, plural } from "../words.js";

const TABS = [["all", "Settings"], ["models", "Models"], ["tokens", "Access"], ["assistants", "Assistants"], ["moving", "Import and export"]];

export function Settings({ values }) {
  const tab = values.tab?.[0] || "all";
  return html`<${Page} title="Settings" lead="What is in force here, where it was set, and who may come in.">
    <div class="tabs" role="tablist" aria-label="Settings">${TABS.map(([name, title]) => html`<a role="tab" id=${`tab-${name}`} aria-selected=${name === tab} aria-controls="tab-panel" class=${name === tab ? "here" : ""} href=${`#/settings?tab=${name}`}>${title}</a>`)}</div>
    <div role="tabpanel" id="tab-panel" aria-labelledby=${`tab-${tab}`}>
      ${tab === "all" && html`<${Table} />`}${tab === "models" && html`<${Models} />`}${tab === "tokens" && html`<${Tokens} /><${Webhooks} />`}
      ${tab === "assistants" && html`<${Assistants} />`}${tab === "moving" && html`<${Moving} />`}</div><//>`;
}

function Table() {
  const found = useData((signal) => get("/v1/settings", {}, { signal }), []);
  const [words, set] = useState("");
  return html`<${Shown} of=${found}>${({ settings, file }) => html`<p class="dim">Set them in <code>${file}</code> or in the environment; the daemon reads them when it starts.</p>
    <div class="search"><input data-search type="search" aria-label="Search settings" placeholder="Search settings…" value=${words} onInput=${(event) => set(event.target.value)} /></div>
    <div class="scroll" tabindex="0"><table class="settings"><thead><tr><th scope="col">setting</th><th scope="col">value</th><th scope="col">default</th><th scope="col">set by</th><th scope="col">meaning</th></tr></thead><tbody>
      ${settings.filter((one) => `${one.name} ${one.meaning}`.toLowerCase().includes(words.toLowerCase())).map((one) => html`<tr key=${one.name} class=${one.origin === "default" ? "" : "changed"}>
        <th scope="row"><code>${one.name}</code></th><td><code>${one.value || "–"}</code></td><td class="dim"><code>${one.default || "–"}</code></td><td>${one.origin}</td><td>${one.meaning}</td></tr>`)}</tbody></table></div>`}<//>`;
}

function Models() {
  const [tried, set] = useState(null);
  const all = useData((signal) => get("/v1/settings", {}, { signal }), []);
  const wanted = ["embedder", "reranker", "llm", "llm_gate", "budget_day", "budget_month"];
  return html`<${Shown} of=${all}>${({ settings }) => html`<dl class="facts wide">${settings.filter((one) => wanted.includes(one.name)).map((one) => html`<dt><code>${one.name}</code></dt><dd><strong>${one.value || "none"}</strong> <span class="dim">${one.meaning}</span></dd>`)}</dl>`}<//>
    ${has("try_models") && html`<${Button} kind="main" onClick=${async () => set((await post("/v1/models/try")).models)}>Try the models<//>`}
    ${tried && html`<ul class="checks">${tried.map((one) => html`<li class="check ${one.status === "broken" ? "broken" : one.status === "off" ? "warning" : "ok"}"><span class="mark" role="img" aria-label=${one.status}></span><div><strong>${one.name}</strong> ${one.model} <span class="dim">${one.status === "ok" ? `answered in ${one.ms} ms` : one.detail}</span></div></li>`)}</ul>`}`;
}

function Tokens() {
  const found = useData((signal) => get("/v1/tokens", {}, { signal }), []);
  const [draft, set] = useState({ name: "", can: { read: true, write: false, admin: false }, project: "", expires: "90d" });
  const [made, setMade] = useState("");
  const make = async () => {
    const answer = await post("/v1/tokens", { name: draft.name, can: Object.keys(draft.can).filter((one) => draft.can[one]), project: draft.project, expires_at: draft.expires || null });
    setMade(answer.secret);
    found.again();
  };
  const revoke = (token) => async () => {
    if (!(await confirm(`End the token ${token.name || token.id.slice(-8)}?`, html`<p>Whoever uses it is locked out within seconds.</p>`, { yes: "End it", danger: true, reason: false }))) return;
    await remove(`/v1/tokens/${token.id}`);
    say("The token has ended.");
    found.again();
  };
  if (!can("admin")) return html`<p class="dim">Your token may not look at tokens.</p>`;
  return html`<h2>Tokens</h2><${Shown} of=${found}>${({ tokens }) => html`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">name</th><th scope="col">may</th><th scope="col">in</th><th scope="col">used</th><th scope="col">ends</th><th scope="col"><span class="hidden">action</span></th></tr></thead>
      <tbody>${tokens.map((one) => html`<tr key=${one.id}><th scope="row">${one.name || one.id.slice(-8)}</th><td>${one.can.join(", ")}</td><td>${placeOf(one.scope)}</td><td>${one.last_used_at ? html`<${Time} at=${one.last_used_at} />` : "never"}</td>
        <td>${one.revoked_at ? "revoked" : one.expires_at ? html`<${Time} at=${one.expires_at} />` : "never"}</td><td>${!one.revoked_at && html`<${Button} small=${true} onClick=${revoke(one)}>End<//>`}</td></tr>`)}
      ${!tokens.length && html`<tr><td colspan="6" class="dim">None: only the owner of this home comes in.</td></tr>`}</tbody></table></div>`}<//>
    <div class="card form"><h3>Make one</h3><div class="grid"><${Field} label="Name" value=${draft.name} onInput=${(name) => set({ ...draft, name })} /><${Field} label="Project (a wall)" value=${draft.project} onInput=${(project) => set({ ...draft, project })} placeholder="every project" /><${Field} label="Ends" value=${draft.expires} onInput=${(expires) => set({ ...draft, expires })} hint="30d, a day, or empty for never" /></div>
      <fieldset class="rights"><legend>May</legend>${["read", "write", "review", "admin"].map((right) => html`<label><input type="checkbox" checked=${draft.can[right]} onChange=${(event) => set({ ...draft, can: { ...draft.can, [right]: event.target.checked } })} /> ${right}</label>`)}</fieldset>
      <${Button} kind="main" onClick=${make} disabled=${!Object.values(draft.can).some(Boolean)}>Make a token<//>
      ${made && html`<div class="command" role="status"><code>${made}</code><${Copy} text=${made} /></div><p class="dim">It is shown this once.</p>`}</div>`;
}

function Webhooks() {
  const found = useData((signal) => (can("admin") ? get("/v1/webhooks", {}, { signal }) : { webhooks: [] }), []);
  const drop = (one) => () => remove(`/v1/webhooks/${one.id}`).then(found.again);
  return html`<h2>Webhooks</h2><${Shown} of=${found}>${({ webhooks }) => webhooks.length ? html`<ul class="plain">${webhooks.map((one) => html`<li key=${one.id}><code>${one.url}</code> <span class="dim">at change ${one.cursor}${one.error && `, failing: ${one.error}`}</span> <${Button} small=${true} onClick=${drop(one)}>Remove<//></li>`)}</ul>` : html`<p class="dim">None. <code>recollect webhook add URL</code> has every change posted there.</p>`}<//>`;
}

function Assistants() {
  const found = useData((signal) => get("/v1/assistants", {}, { signal }), []);
  return html`<${Shown} of=${found}>${({ assistants, problem }) => html`${problem && html`<p class="note">${problem}</p>`}<ul class="hosts">${assistants.map((one) => html`<li class="card" key=${one.host}><div><strong>${one.title}</strong><span class="state ${one.state === "connected" ? "s-done" : ""}">${one.state || "not connected"}</span></div>
    <div class="command"><code>recollect ${one.state === "connected" ? "uninstall" : "install"} ${one.host}</code><${Copy} text=${`recollect ${one.state === "connected" ? "uninstall" : "install"} ${one.host}`} /></div></li>`)}</ul>`}<//>`;
}

// A link of the browser's own would come without the proof that goes with the cookie.
async function download(event) {
  event.preventDefault();
  const { href, download: name } = event.currentTarget;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([await text(href)], { type: "application/x-ndjson" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function Moving() {
  const [told, set] = useState(null);
  const take = async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    const lines = await file.text();
    event.target.value = ""; // so that the same file can be chosen again
    const said = await confirm(`Take in ${file.name}?`, html`<p>${plural(lines.split("\n").filter((line) => line.trim()).length, "line")}. What is known is not doubled, and what was rejected stays out.</p>`, { yes: "Import", reason: false });
    if (said) set(await post("/v1/import", { lines }));
  };
  const save = (event) => download(event).catch(complain);
  if (!can("admin")) return html`<p class="dim">Your token may not move memories.</p>`;
  return html`<div class="ways"><div class="card"><h2>Export</h2><p>Everything as JSON lines: sources, memories, quotes, links and rejected values.</p>
      <div class="fix"><a class="button main" href="/v1/export" download="recollect.jsonl" onClick=${save}>Export</a><a class="button" href="/v1/export?journal=true" download="recollect-with-history.jsonl" onClick=${save}>With the whole history</a></div></div>
    <div class="card"><h2>Import</h2><p>An export, or JSON lines with <code>content</code> each.</p><label class="button file">Choose a file<input type="file" accept=".jsonl,.json,.txt" onChange=${(event) => take(event).catch(complain)} /></label>
      ${told && html`<p role="status">${Object.entries(told).filter(([, count]) => typeof count === "number").map(([name, count]) => `${name} ${count}`).join(" · ")}</p>`}</div>
    <div class="card"><h2>Backup</h2><p>A whole copy of the store, made while the daemon runs; <code>recollect restore</code> takes it back.</p><div class="command"><code>recollect backup recollect.db</code><${Copy} text="recollect backup recollect.db" /></div></div></div>`;
}
