// The way to the server: one function a verb of HTTP, problems as errors, and the journal as a stream.
import { keep, kept } from "./state.js";

export class Problem extends Error {
  constructor(status, told) {
    super(told.detail || `The server answered ${status}.`);
    this.status = status;
    this.code = told.code || "error";
    this.fix = told.fix || "";
  }
}

const listeners = new Set(); // told when the server asks for a login

export function onLoginNeeded(told) {
  listeners.add(told);
  return () => listeners.delete(told);
}

// `trail` is a list to which the numbers of the changes are added that a write made: undo takes them.
async function send(method, path, body, { signal, headers, quiet, trail } = {}) {
  const options = { method, signal, headers: { "X-Recollect-Page": kept("proof", "none"), ...headers }, credentials: "same-origin" };
  if (body !== undefined) {
    options.headers["Content-Type"] ??= "application/json";
    options.body = typeof body === "string" ? body : JSON.stringify(body);
  }
  const response = await fetch(path, options).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "The server cannot be reached.", fix: "Is it running? recollect status", code: "gone" });
  });
  if (response.ok) {
    const made = response.headers.get("Recollect-Changes");
    if (trail && made) trail.push(...made.split(", "));
    return response;
  }
  const told = await response.json().catch(() => ({}));
  if (response.status === 401 && !quiet) for (const one of listeners) one();
  throw new Problem(response.status, told);
}

const data = async (answer) => (await answer).json();

export function query(values) {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(values || {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") pairs.append(name, one);
    }
  }
  const text = pairs.toString();
  return text ? `?${text}` : "";
}

export const get = (path, values, options) => data(send("GET", path + query(values), undefined, options));
export const post = (path, body = {}, options) => data(send("POST", path, body, options));
export const patch = (path, body, options) => data(send("PATCH", path, body, options));
export const remove = (path, values) => data(send("DELETE", path + query(values)));
// With a token, or with the code of a login link. The proof goes with the cookie; pages of other ports cannot read it.
export const login = async (given) => keep("proof", (await post("/login", given, { quiet: true })).proof);
export const text = async (path, values) => (await send("GET", path + query(values))).text();

// The journal after a number, entry by entry, and what is recalled meanwhile as { look, given }, until `signal` ends it.
// What breaks is taken up again where it ended.
export async function follow(after, told, state, signal) {
  let last = after;
  while (!signal.aborted) {
    try {
      const response = await send("GET", `/v1/events?looks=true&after=${last}`, undefined, { signal });
      state("live");
      for await (const event of events(response.body)) {
        last = Math.max(last, Number(event.id) || last);
        if (event.data) told(JSON.parse(event.data));
      }
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return;
      if (error.status === 401) return;
    }
    state("lost");
    await new Promise((done) => setTimeout(done, 1500));
  }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const parts = rest.split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const event = {};
      for (const line of part.split("\n")) {
        const at = line.indexOf(":");
        if (at > 0) event[line.slice(0, at)] = line.slice(at + 1).trimStart();
      }
      if (event.data) yield event;
    }
  }
}
