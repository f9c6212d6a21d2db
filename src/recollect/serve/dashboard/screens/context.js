// Context: the exact text that an assistant would be given, before it happens, with what each block costs.
import { html, useEffect, useState } from "../base.js";
import { get, post } from "../api.js";
import { go, useData } from "../state.js";
import { Choice, Copy, Empty, Page, Shown, useLate } from "../ui.js";
import { number, percent } from "../words.js";

export function Context({ values }) {
  const project = values.project?.[0] || "";
  const prompt = values.prompt?.[0] || "";
  const [typed, setTyped] = useState(prompt);
  const late = useLate(typed, 350);
  const set = (changes) => go("context", { ...values, ...changes }, { replace: true });
  useEffect(() => {
    if (late !== prompt) set({ prompt: late });
  }, [late]);
  const facets = useData((signal) => get("/v1/facets", {}, { signal }), []);
  const given = useData((signal) => post("/v1/preview", { prompt: late, project }, { signal }), [late, project]);
  const projects = Object.keys(facets.data?.projects || {}).filter(Boolean);
  return html`<${Page} title="Context" lead="What a session in a project starts with, and what the next prompt would bring up." wide=${true}>
    <div class="ask"><textarea data-search class="ask-query" rows="2" aria-label="Prompt" placeholder="Type the prompt you are about to send…" value=${typed} onInput=${(event) => setTyped(event.target.value)}></textarea>
      <div class="filters"><${Choice} label="Project" value=${project} options=${[["", "no project"], ...projects]} onChange=${(value) => set({ project: value })} /></div></div>
    <${Shown} of=${given}>${(all) => html`<div class="compare both">
      <${Given} title="At the start of a session" part=${all.start} empty="A session in this place would start with nothing. Rules, preferences and important facts of the project come here." />
      <${Given} title="With the next prompt" part=${all.prompt} empty=${late.trim() ? "Nothing more bears closely enough on this prompt. What a session starts with is not said again." : "Type a prompt above."} /></div>`}<//><//>`;
}

const titled = (name) => (name === "frame" ? "Opening words" : name.split(",")[0]);

function Given({ title, part, empty }) {
  return html`<section class="given" aria-label=${title}><header><h2>${title}</h2><span class="gap"></span>
      ${part.text && html`<${Copy} text=${part.text} />`}</header>
    <div class="budget"><span><strong>${number(part.tokens)}</strong> of ${number(part.budget)} tokens</span>
      <div class="stages" role="img" aria-label=${`${part.tokens} of ${part.budget} tokens: ${part.blocks.map((block) => `${titled(block.name)} ${block.tokens}`).join(", ") || "nothing"}`}>${part.blocks.map((block, at) => html`<span class="stage c${at % 6}" style=${{ flexGrow: block.tokens }} title=${`${titled(block.name)}: ${block.tokens} tokens`}></span>`)}
        <span class="stage rest" style=${{ flexGrow: Math.max(0, part.budget - part.tokens) }}></span></div></div>
    ${part.text ? html`${part.blocks.map((block, at) => html`<details class="block" open key=${block.name}><summary><span class="swatch c${at % 6}"></span><span>${titled(block.name)}</span><span class="gap"></span><b class="mono">${number(block.tokens)}</b><small class="dim">${percent(block.tokens / Math.max(1, part.tokens))}</small></summary>
        <pre tabindex="0">${block.text.trim()}</pre></details>`)}`
    : html`<${Empty} title="Nothing"><p>${empty}</p><//>`}</section>`;
}
