// The small parts that every screen is made of.
import { html, useEffect, useLayoutEffect, useRef, useState } from "./base.js";
import { ago, moment, number, percent } from "./words.js";
import { complain, overlay, say } from "./state.js";

const PATHS = {
  today: "M3 12h4l3 8 4-16 3 8h4", memories: "M4 5h16M4 12h16M4 19h10", recall: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14Zm5 12 5 5",
  context: "M5 3h10l4 4v14H5ZM9 9h6M9 13h6M9 17h4", review: "M4 12l5 5L20 6", graph: "M6 8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM18 12.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8 20.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8.4 6.8l7.2 2.4M6.3 8.5l1.4 7M10 16.5l6.2-4.8",
  time: "M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18Zm0 4v5l4 2", answers: "M4 4h16v12H9l-5 4Z", agents: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2 20c0-4 2.5-6 6-6s6 2 6 6M16 11a3 3 0 1 0 0-6M17 14c3 .3 5 2.3 5 6", health: "M4 19V9M10 19V4M16 19v-7M22 19H2",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M14 5v4M8 15v4", close: "M5 5l14 14M19 5 5 19", copy: "M9 9h11v11H9ZM5 15H4V4h11v1",
  pin: "M9 3h6l-1 6 4 4H6l4-4ZM12 13v8", undo: "M8 5 4 9l4 4M4 9h10a6 6 0 0 1 0 12h-3", more: "M5 12h.01M12 12h.01M19 12h.01",
  left: "M15 5l-7 7 7 7", down: "M5 9l7 7 7-7", sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8ZM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1 1M18 18l1 1M5 19l1-1M18 6l1-1",
  pause: "M8 5v14M16 5v14", play: "M7 5l12 7-12 7Z", link: "M9 15l6-6M8 11l-3 3a4 4 0 0 0 6 6l3-3M16 13l3-3a4 4 0 0 0-6-6l-3 3",
};

export const Icon = ({ name }) =>
  html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${PATHS[name]} /></svg>`;

export function Button({ onClick, children, kind = "", icon, busy, small, ...rest }) {
  const [working, set] = useState(false);
  const act = async (event) => {
    set(true);
    try {
      await onClick(event);
    } catch (error) {
      complain(error);
    }
    set(false);
  };
  return html`<button type="button" class="button ${kind} ${small ? "small" : ""}" disabled=${working || rest.disabled}
    aria-busy=${working || busy ? "true" : undefined} ...${rest} onClick=${act}>
    ${icon && html`<${Icon} name=${icon} />`}${children}</button>`;
}

export const Kind = ({ kind }) => html`<span class="kind k-${kind}">${kind}</span>`;
export const State = ({ state }) => (state === "active" ? null : html`<span class="state s-${state}">${state}</span>`);
export const Trust = ({ trust }) => html`<span class="trust t-${trust}" title="How it is known">${trust}</span>`;
export const Tag = ({ tag }) => html`<span class="tag">${tag}</span>`;
export const Time = ({ at }) => html`<time datetime=${at} title=${moment(at)}>${ago(at)}</time>`;
export const Key = ({ children }) => html`<kbd>${children}</kbd>`;

export function Copy({ text, label = "Copy", ...rest }) {
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
    say("Copied.");
  };
  return html`<${Button} kind="quiet" icon="copy" small=${true} onClick=${copy} ...${rest}>${label}<//>`;
}

export function Choice({ label, value, options, onChange }) {
  return html`<label class="field"><span>${label}</span>
    <select value=${value} onChange=${(event) => onChange(event.target.value)}>
      ${options.map((one) => {
        const [key, words] = Array.isArray(one) ? one : [one, one];
        return html`<option value=${key} selected=${key === value}>${words}</option>`;
      })}
    </select></label>`;
}

export function Field({ label, value, onInput, long, hint, ...rest }) {
  const input = long
    ? html`<textarea value=${value} onInput=${(event) => onInput(event.target.value)} ...${rest}></textarea>`
    : html`<input value=${value} onInput=${(event) => onInput(event.target.value)} ...${rest} />`;
  return html`<label class="field"><span>${label}</span>${input}${hint && html`<small>${hint}</small>`}</label>`;
}

export const Bar = ({ share, kind = "", label }) =>
  html`<span class="bar ${kind}" role="img" aria-label=${label || percent(share)}>
    <span style=${{ width: `${Math.max(0, Math.min(1, share || 0)) * 100}%` }}></span></span>`;

export function Empty({ title, children }) {
  return html`<div class="empty"><h2>${title}</h2>${children}</div>`;
}

export function Wrong({ error, again }) {
  return html`<div class="wrong" role="alert"><strong>${error.message}</strong>
    ${error.fix && html`<p>${error.fix}</p>`}
    ${again && html`<${Button} onClick=${again}>Try again<//>`}</div>`;
}

// What is shown while something is asked for, when it went wrong, and when it is there.
export function Shown({ of, children, empty }) {
  if (of.error) return html`<${Wrong} error=${of.error} again=${of.again} />`;
  if (of.data === null) return html`<p class="waiting" role="status">Loading…</p>`;
  if (empty && (Array.isArray(of.data) ? !of.data.length : false)) return empty;
  return children(of.data);
}

export const Page = ({ title, lead, actions, children, wide }) =>
  html`<div class="screen ${wide ? "wide" : ""}">
    <header class="screen-head"><div><h1>${title}</h1>${lead && html`<p class="lead">${lead}</p>`}</div>
      ${actions && html`<div class="actions">${actions}</div>`}</header>
    ${children}</div>`;

export const Figure = ({ label, value, note, kind = "" }) =>
  html`<div class="figure ${kind}"><span class="figure-value">${typeof value === "number" ? number(value) : value}</span>
    <span class="figure-label">${label}</span>${note && html`<small>${note}</small>`}</div>`;

// -- dialogs ----------------------------------------------------------------------------------------------------------

export function Dialog({ title, onClose, children, kind = "" }) {
  const box = useRef(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    const one = box.current;
    one.showModal();
    (one.querySelector("[autofocus]") || one.querySelector("textarea, input, select, .button"))?.focus();
    return () => before?.focus?.();
  }, []);
  return html`<dialog ref=${box} class="dialog ${kind}" aria-label=${title} onCancel=${(event) => (event.preventDefault(), onClose())}
    onClick=${(event) => event.target === box.current && onClose()}>
    <div class="dialog-in"><header><h2>${title}</h2>
      <button type="button" class="button quiet small" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button></header>
      ${children}</div></dialog>`;
}

export const close = () => overlay.set(null);

// Ask before something happens: what it is, and for what; gives whether it was confirmed, with the reason.
export function confirm(title, body, { yes = "Do it", danger = false, reason = true } = {}) {
  return new Promise((answer) => {
    const done = (value) => (close(), answer(value));
    overlay.set({ title, onClose: () => done(null), body: () => html`<${Confirm} ...${{ body, yes, danger, reason, done }} />` });
  });
}

function Confirm({ body, yes, danger, reason, done }) {
  const [why, set] = useState("");
  return html`<form onSubmit=${(event) => (event.preventDefault(), done({ reason: why }))}>
    ${body}
    ${reason && html`<${Field} label="Why (kept in the history)" value=${why} onInput=${set} />`}
    <footer><button type="button" class="button" onClick=${() => done(null)}>Cancel</button>
      <button type="submit" class="button ${danger ? "danger" : "main"}" autofocus>${yes}</button></footer></form>`;
}

// -- keys -------------------------------------------------------------------------------------------------------------

// Whether somebody types there; a box that is only ticked takes no letters.
export const typing = (target) => target.closest("textarea, select, dialog, input:not([type=checkbox])");

// Keys of a screen: { j: () => …, Enter: () => … }. Not while somebody types, and not under a dialog.
export function useKeys(keys) {
  const now = useRef(keys);
  now.current = keys; // a key may come right after another, before effects have run
  useEffect(() => {
    const pressed = (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || overlay.get()) return;
      const act = now.current[event.key];
      if (!act || (typing(event.target) && event.key !== "Escape")) return;
      if (event.key === "Enter" && event.target.closest("button, a")) return;
      event.preventDefault();
      Promise.resolve(act(event)).catch(complain);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}

// A value that follows another one late, so that typing does not ask at each key.
export function useLate(value, wait = 160) {
  const [late, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(value), wait);
    return () => clearTimeout(timer);
  }, [value, wait]);
  return late;
}
