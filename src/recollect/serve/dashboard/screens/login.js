// The door: a login link or a token becomes a cookie that scripts cannot read.
import { html, useState } from "../base.js";
import { login } from "../api.js";
import { Field, Wrong } from "../ui.js";

export function Login({ entered, trouble }) {
  const [token, set] = useState("");
  const [wrong, setWrong] = useState(trouble);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setWrong(null);
    try {
      await login({ token });
      await entered();
    } catch (error) {
      setWrong(error);
    }
    setBusy(false);
  };
  return html`<main class="login"><form onSubmit=${submit}>
    <div class="brand"><span class="logo"></span><span>Recollect</span></div>
    <h1>Log in</h1>
    <p>If Recollect runs on this machine and is yours, this opens the page, logged in:</p>
    <pre><code>recollect dashboard</code></pre>
    <p>Else you need a token. Whoever runs Recollect makes one:</p>
    <pre><code>recollect token create --can read,write --name me</code></pre>
    <${Field} label="Token" type="password" autocomplete="current-password" placeholder="rcl_…" value=${token} onInput=${set} required autofocus=${true} />
    ${wrong && html`<${Wrong} error=${wrong} />`}
    <button type="submit" class="button main" disabled=${busy || !token.trim()}>Log in</button>
    <p class="dim">The token is exchanged for a cookie that ends after twelve hours, or when you log out.</p>
  </form></main>`;
}
