// What somebody sees who has no memories yet: how to get the first one in under a minute.
import { html, useState } from "../base.js";
import { post } from "../api.js";
import { can, say } from "../state.js";
import { Button, Copy, Field } from "../ui.js";

const ASSISTANTS = [
  ["claude", "Claude Code"], ["codex", "Codex"], ["gemini", "Gemini CLI"], ["cursor", "Cursor"], ["vscode", "VS Code"],
  ["windsurf", "Windsurf"], ["opencode", "OpenCode"],
];

export function First({ done = () => {} }) {
  const [host, set] = useState("claude");
  const [words, setWords] = useState("");
  const command = `recollect install ${host}`;
  const save = async () => {
    await post("/v1/memories", { content: words });
    say("Remembered. Ask for it on the screen Recall.");
    setWords("");
    done();
  };
  return html`<section class="first" aria-label="The first memory">
    <h2>Nothing is remembered yet</h2>
    <p class="lead">Two ways to the first memory, each under a minute.</p>
    <div class="ways">
      <div class="card"><h3>1 · Connect your assistant</h3>
        <div class="chips" role="radiogroup" aria-label="Assistant">${ASSISTANTS.map(([name, title]) => html`
          <button type="button" role="radio" aria-checked=${name === host} class="chip ${name === host ? "on" : ""}" onClick=${() => set(name)}>${title}</button>`)}</div>
        <div class="command"><code>${command}</code><${Copy} text=${command} label="Copy command" /></div>
        <p class="dim">Then talk to it as always. What is worth keeping appears here by itself; try "remember that we deploy on Thursdays".</p></div>
      <div class="card"><h3>2 · Say it here</h3>
        <${Field} label="One thing worth knowing" long=${true} rows="3" value=${words} onInput=${setWords} placeholder="We deploy on Thursdays, because the release train leaves then." />
        <${Button} kind="main" disabled=${!words.trim() || !can("write")} onClick=${save}>Remember<//></div>
    </div></section>`;
}
