// The door for whoever is not at this machine: a token becomes a cookie that scripts cannot read.
import { html, useState } from "../base.js";
import { post } from "../api.js";
import { Field, Wrong } from "../ui.js";

export function Login({ entered }) {
  const [token, set] = useState("");
  const [wrong, setWrong] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setWrong(null);
    try {
      await post("/login", { token }, { quiet: true });
      await entered();
    } catch (error) {
      setWrong(error);
    }
    setBusy(false);
  };
  return html`<main class="login"><form onSubmit=${submit}>
    <div class="brand"><span class="logo"></span><span>Recollect</span></div>
    <h1>Log in</h1>
    <p>From another machine a token is needed. On the machine that runs Recollect, make one:</p>
    <pre><code>recollect token create --can read,write --name me</code></pre>
    <${Field} label="Token" type="password" autocomplete="current-password" placeholder="rcl_…" value=${token} onInput=${set} required autofocus=${true} />
    ${wrong && html`<${Wrong} error=${wrong} />`}
    <button type="submit" class="button main" disabled=${busy || !token.trim()}>Log in</button>
    <p class="dim">The token is exchanged for a cookie that ends after twelve hours, or when you log out.</p>
  </form></main>`;
}
