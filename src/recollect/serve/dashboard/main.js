// The page: who is looking, the frame with its navigation, the screen of the address, and keys that work everywhere.
import { html, render, useEffect, useErrorBoundary, useState } from "./base.js";
import { follow, get, login, onLoginNeeded, post } from "./api.js";
import { can, complain, feedState, go, has, keep, kept, me, onEntry, overlay, route, spread, takeBack, toasts, undoable, unsay, useCell } from "./state.js";
import { close, Dialog, Icon, Key, typing, Wrong } from "./ui.js";
import { remember } from "./actions.js";
import { Login } from "./screens/login.js";
import { Today } from "./screens/today.js";
import { Memories } from "./screens/memories.js";
import { Recall } from "./screens/recall.js";
import { Context } from "./screens/context.js";
import { Review } from "./screens/review.js";
import { Graph } from "./screens/graph.js";
import { Health } from "./screens/health.js";
import { Settings } from "./screens/settings.js";
import { Time } from "./screens/time.js";
import { Answers } from "./screens/answers.js";
import { Agents } from "./screens/agents.js";

// A screen is there when the operation it lives by is.
const SCREENS = [
  { name: "today", title: "Today", needs: "changes", draw: Today },
  { name: "memories", title: "Memories", needs: "browse", draw: Memories },
  { name: "recall", title: "Recall", needs: "recall", draw: Recall },
  { name: "context", title: "Context", needs: "preview", draw: Context },
  { name: "review", title: "Review", needs: "pending", draw: Review },
  { name: "graph", title: "Graph", needs: "graph", draw: Graph },
  { name: "time", title: "Time", needs: "checkpoint_list", draw: Time },
  { name: "answers", title: "Answers", needs: "answers", draw: Answers },
  { name: "agents", title: "Agents", needs: "get_agents_for_user", draw: Agents },
  { name: "health", title: "Health", needs: "stats", draw: Health },
  { name: "settings", title: "Settings", needs: "settings", draw: Settings },
];

function Frame() {
  const who = useCell(me);
  const here = useCell(route);
  const feed = useCell(feedState);
  const [waiting, setWaiting] = useState(0);
  const shown = SCREENS.filter((one) => has(one.needs));
  const screen = shown.find((one) => one.name === here.screen) || shown[0];
  useEffect(() => {
    document.title = `${screen.title} · Recollect`;
    document.getElementById("main")?.focus({ preventScroll: true });
    document.querySelector(".nav a.here")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [screen.name]);
  useEffect(() => count(setWaiting), []);
  return html`
    <a class="skip" href="#main" onClick=${(event) => (event.preventDefault(), document.getElementById("main").focus())}>Skip to content</a>
    <nav class="nav" aria-label="Screens">
      <a class="brand" href="#/today"><span class="logo"></span><span>Recollect</span></a>
      <ul>${shown.map((one) => html`<li key=${one.name}><a href=${`#/${one.name}`} class=${one === screen ? "here" : ""}
        aria-current=${one === screen ? "page" : undefined}><${Icon} name=${one.name} /><span>${one.title}</span>
        ${one.name === "review" && waiting > 0 && html`<b class="count" aria-label="${waiting} waiting">${waiting}</b>`}</a></li>`)}</ul>
      <div class="nav-foot">
        ${can("write") && html`<button type="button" class="button main" onClick=${() => remember()}>Remember…</button>`}
        <div class="who"><span class="dot ${feed}" title=${feed === "live" ? "Changes come in live" : "Not connected"}></span>
          <span class="actor" title=${`may ${who.can.join(", ")}`}>${who.token ? who.actor : "this machine"}</span>
          <button type="button" class="button quiet small" aria-label="Light or dark" onClick=${turnTheme}><${Icon} name="sun" /></button>
          <button type="button" class="button quiet small" aria-label="Help" onClick=${help}>?</button>
          <button type="button" class="button quiet small" onClick=${leave}>Log out</button></div>
      </div>
    </nav>
    <main id="main" tabindex="-1"><${Guard} key=${screen.name}><${screen.draw} values=${here.values} /><//></main>`;
}

// How many wait for review, now and after each change.
function count(told) {
  const look = () => get("/v1/pending", { limit: 100 }).then((page) => told(page.memories.length), () => told(0));
  let timer = 0;
  look();
  return onEntry(() => {
    clearTimeout(timer);
    timer = setTimeout(look, 500);
  });
}

function Guard({ children }) {
  const [error, reset] = useErrorBoundary((wrong) => console.error(wrong));
  return error ? html`<${Wrong} error=${error} again=${reset} />` : children;
}

function Toasts() {
  const all = useCell(toasts);
  return html`<div class="toasts" role="status" aria-live="polite">${all.map((one) => html`
    <div class="toast ${one.kind}" key=${one.id}><span>${one.words}${one.fix && html`<small>${one.fix}</small>`}</span>
      ${one.undo && html`<button type="button" class="button small" onClick=${() => takeBack(one)}>Undo</button>`}
      <button type="button" class="button quiet small" aria-label="Dismiss" onClick=${() => unsay(one.id)}><${Icon} name="close" /></button>
    </div>`)}</div>`;
}

function Overlay() {
  const open = useCell(overlay);
  return open && html`<${Dialog} key=${open.title} title=${open.title} kind=${open.kind} onClose=${open.onClose}>${open.body()}<//>`;
}

const KEYS = [
  ["/", "search"], ["j  k", "next, previous"], ["Enter", "open"], ["Esc", "close"], ["x", "select"], ["e", "edit"], ["f", "forget"],
  ["p", "pin"], ["a  r  m", "approve, reject, merge (Review)"], ["1  2", "the first, the second holds (Review)"], ["Space", "hold the feed still (Today)"], ["n", "remember something"],
  ["u", "undo"], ["g then a letter", "go to a screen: t today, m memories, r recall, c context, v review, g graph, i time, a answers, e agents, h health, s settings"],
  ["?", "this help"],
];
function help() {
  overlay.set({
    title: "Keys", onClose: close,
    body: () => html`<dl class="keys">${KEYS.map(([key, words]) => html`<dt><${Key}>${key}<//></dt><dd>${words}</dd>`)}</dl>`,
  });
}

const LETTERS = { t: "today", m: "memories", r: "recall", c: "context", v: "review", g: "graph", h: "health", s: "settings", i: "time", a: "answers", e: "agents" };
let going = 0;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || overlay.get() || !me.get()) return;
  if (typing(event.target)) return;
  if (going && Date.now() - going < 1200 && LETTERS[event.key]) {
    event.preventDefault();
    event.stopImmediatePropagation();
    going = 0;
    return go(LETTERS[event.key]);
  }
  going = 0;
  if (event.key === "g") going = Date.now();
  else if (event.key === "?") help();
  else if (event.key === "n" && can("write")) remember();
  else if (event.key === "u" && undoable.get().length) takeBack(undoable.get().at(-1));
  else if (event.key === "/") {
    const search = document.querySelector("[data-search]");
    if (search) search.focus();
    else go("memories");
  } else return;
  event.preventDefault();
});

function turnTheme() {
  const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark") && document.documentElement.dataset.theme !== "light";
  const now = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  setTheme(now === "dark" && dark ? "light" : "dark");
}
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  keep("theme", theme);
  dispatchEvent(new Event("theme"));
}

async function leave() {
  await post("/logout").catch(complain);
  location.reload();
}

// The code of a login link counts once, so it does not stay in the address.
async function redeem() {
  const { screen, values } = route.get();
  if (screen !== "login") return;
  go("today", {}, { replace: true });
  if (values.code) await login({ code: values.code[0] });
}

let stop = null;
async function enter() {
  const who = await get("/v1/whoami", {}, { quiet: true });
  me.set(who);
  stop?.abort();
  stop = new AbortController();
  follow(who.head, spread, (state) => feedState.set(state), stop.signal);
}

function Everything() {
  const who = useCell(me);
  const [state, set] = useState({ asked: false, error: null });
  const come = async () => {
    const trouble = await redeem().catch((error) => error);
    await enter().then(() => set({ asked: true, error: null }), (error) => set({ asked: true, error, trouble }));
  };
  useEffect(() => {
    come();
    addEventListener("hashchange", () => route.get().screen === "login" && come());
    return onLoginNeeded(() => (me.set(null), set({ asked: true, error: { status: 401 } })));
  }, []);
  if (!state.asked) return html`<p class="waiting" role="status">Loading…</p>`;
  if (!who) return state.error?.status === 401 || state.error?.status === 403 ? html`<${Login} entered=${come} trouble=${state.trouble} />` : html`<main><${Wrong} error=${state.error} again=${come} /></main>`;
  return html`<div class="frame"><${Frame} /></div><${Overlay} /><${Toasts} />`;
}

const theme = kept("theme", "");
if (theme) document.documentElement.dataset.theme = theme;
document.getElementById("page").textContent = "";
render(html`<${Everything} />`, document.getElementById("page"));
