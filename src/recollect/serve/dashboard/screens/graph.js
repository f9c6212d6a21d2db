// Graph: entities and memories with the links between them. A dot is chosen, expanded, or tied to another by a path.
import { html, useEffect, useMemo, useRef, useState } from "../base.js";
import { get } from "../api.js";
import { address, complain, go, say, useData } from "../state.js";
import { Button, Empty, Kind, Page, Shown, State } from "../ui.js";
import { day, plural, shorten } from "../words.js";
import { library } from "../lazy.js";
import { colour } from "../colour.js";
import { layout, path } from "../layout.js";

const MOST = 400;

export function Graph({ values }) {
  const focus = values.focus?.[0] || "";
  const asOf = values.as_of?.[0] || "";
  const [more, setMore] = useState({ dots: [], links: [] });
  const [chosen, setChosen] = useState(focus);
  const [goal, setGoal] = useState("");
  const [typed, setTyped] = useState("");
  const base = useData((signal) => get("/v1/graph", { focus, depth: focus ? 2 : 1, limit: 150, as_of: asOf }, { signal }), [focus, asOf]);
  useEffect(() => (setMore({ dots: [], links: [] }), setChosen(focus), setGoal("")), [focus, asOf]);
  const all = useMemo(() => together(base.data, more), [base.data, more]);
  const dot = all.dots.find((one) => one.id === chosen) || all.dots.find((one) => one.noun === "entity" && one.label === chosen); // an address may name an entity
  const at = dot?.id || "";
  const way = useMemo(() => (goal && at ? path(all.links, at, goal) : []), [all, at, goal]);
  const set = (changes) => go("graph", { ...values, ...changes });
  const grow = async (ids, depth = 1) => {
    const found = await get("/v1/graph", { focus: ids, depth, limit: MOST, as_of: asOf });
    setMore((old) => together(old, found));
    return found;
  };
  const connect = async (to) => {
    if (!path(all.links, at, to).length) {
      const found = await grow([at, to], 3);
      if (!path(together(all, found).links, at, to).length) say("No path of six links or fewer ties them.", { kind: "note" });
    }
    setGoal(to);
  };
  const seek = async (event) => {
    event.preventDefault();
    const words = typed.trim();
    if (!words) return;
    const named = await get("/v1/graph", { focus: words, depth: 1, limit: 5 }).catch(() => ({ dots: [] }));
    if (named.dots.length) return set({ focus: named.dots[0].id });
    const found = await get("/v1/browse", { text: words, limit: 1 });
    if (found.memories.length) set({ focus: found.memories[0].id });
    else say("Nothing is called so.", { kind: "note" });
  };
  return html`<${Page} title="Graph" wide=${true} lead=${base.data ? told(all) + (base.data.more ? " · there are more" : "") : ""}
    actions=${focus && html`<${Button} onClick=${() => set({ focus: undefined })}>Show the newest<//>`}>
    <div class="filters"><form class="search" role="search" onSubmit=${(event) => seek(event).catch(complain)}><input data-search type="search" aria-label="Find in the graph" placeholder="An entity, or words of a memory…" value=${typed} onInput=${(event) => setTyped(event.target.value)} /></form>
      <${When} asOf=${asOf} dots=${base.data?.dots || []} set=${set} /></div>
    <${Shown} of=${base}>${() => all.dots.length ? html`<div class="graph">
      <div class="drawing"><${Canvas} dots=${all.dots} links=${all.links} chosen=${at} way=${way} choose=${setChosen} expand=${(id) => grow([id]).catch(complain)} /><${Legend} /></div>
      <aside class="graph-side" aria-label="Dots">
        ${dot && html`<${About} dot=${dot} all=${all} way=${way} grow=${grow} choose=${setChosen} connect=${connect} focus=${() => set({ focus: dot.id })} />`}
        <h2>All that is shown</h2><ul class="plain dots">${[...all.dots].sort((a, b) => b.ties - a.ties).slice(0, 60).map((one) => html`<li key=${one.id}><button type="button" class="dot-row ${one.id === at ? "here" : ""}" aria-pressed=${one.id === at} onClick=${() => setChosen(one.id)}><span class="swatch n-${one.noun} ${one.state && one.state !== "active" ? "n-over" : ""}"></span><span>${shorten(one.label, 60)}</span><small>${one.ties}</small></button></li>`)}</ul>
      </aside></div>`
    : html`<${Empty} title="Nothing is tied yet"><p>Entities and links appear when memories name each other: through the graph tools of an assistant, when one supersedes or contradicts another, or by hand:</p><pre><code>recollect link NEW supersedes OLD</code></pre><//>`}<//><//>`;
}

const told = ({ dots, links }) => {
  const entities = dots.filter((one) => one.noun === "entity").length;
  return `${plural(entities, "entity", "entities")}, ${plural(dots.length - entities, "memory", "memories")}, ${plural(links.length, "link")}`;
};

const Legend = () => html`<ul class="legend" aria-label="What the colours mean"><li><span class="swatch n-entity"></span>entity</li><li><span class="swatch n-memory"></span>memory</li><li><span class="swatch n-over"></span>memory that does not stand</li>
  <li><span class="edge e-contradicts"></span>contradicts</li><li><span class="edge e-supersedes"></span>supersedes</li><li><span class="edge"></span>other links</li><li class="dim">click chooses, double click expands</li></ul>`;

function together(first, second) {
  const dots = new Map([...(first?.dots || []), ...(second?.dots || [])].map((one) => [one.id, one]));
  const links = new Map([...(first?.links || []), ...(second?.links || [])].map((one) => [one.id, one]));
  return { dots: [...dots.values()].slice(0, MOST), links: [...links.values()] };
}

function When({ asOf, dots, set }) {
  const first = useMemo(() => Math.min(...dots.map((one) => new Date(one.at).getTime()), Date.now() - 86400000), [dots.length > 0]);
  const last = Date.now();
  const days = Math.max(1, Math.ceil((last - first) / 86400000));
  const now = asOf ? Math.round((new Date(asOf).getTime() - first) / 86400000) : days;
  const change = (value) => set({ as_of: Number(value) >= days ? undefined : day(first + Number(value) * 86400000) });
  return html`<label class="slider when"><span>As of ${asOf || "now"}</span><input type="range" min="0" max=${days} value=${now} onChange=${(event) => change(event.target.value)} /></label>`;
}

function About({ dot, all, way, grow, choose, connect, focus }) {
  const ties = all.links.filter((link) => link.origin === dot.id || link.target === dot.id);
  const label = (id) => shorten(all.dots.find((one) => one.id === id)?.label || id.slice(-8), 50);
  const [to, setTo] = useState("");
  return html`<div class="card"><div class="chips"><${Kind} kind=${dot.kind} />${dot.state && html`<${State} state=${dot.state} />`}<span class="dim">${dot.noun}${dot.project && ` · ${dot.project}`}</span></div>
    <p class="content">${shorten(dot.label, 200)}</p>
    <div class="fix"><${Button} small=${true} onClick=${() => grow([dot.id])}>Expand<//><${Button} small=${true} onClick=${focus}>Focus<//>${dot.noun === "memory" && html`<a class="button small" href=${address("memories", { open: dot.id, states: "any" })}>Open</a>`}</div>
    <label class="field"><span>Path to</span><select value=${to} onChange=${(event) => (setTo(event.target.value), event.target.value && connect(event.target.value).catch(complain))}><option value="">…</option>${all.dots.filter((one) => one.id !== dot.id).slice(0, 100).map((one) => html`<option value=${one.id}>${shorten(one.label, 50)}</option>`)}</select></label>
    ${way.length > 1 && html`<ol class="way">${way.map((id) => html`<li><button type="button" class="link" onClick=${() => choose(id)}>${label(id)}</button></li>`)}</ol>`}
    <ul class="plain ties">${ties.slice(0, 12).map((link) => html`<li key=${link.id}><span class="tag r-${link.relation}">${link.origin === dot.id ? `${link.relation} →` : `← ${link.relation}`}</span> <button type="button" class="link" onClick=${() => choose(link.origin === dot.id ? link.target : link.origin)}>${label(link.origin === dot.id ? link.target : link.origin)}</button></li>`)}</ul></div>`;
}

const EDGE = { contradicts: "--bad", supersedes: "--warn", mentions: "--line-strong" };

function Canvas({ dots, links, chosen, way, choose, expand }) {
  const box = useRef(null);
  const drawn = useRef({ places: new Map(), sigma: null });
  const [wrong, setWrong] = useState("");
  const look = useRef({});
  look.current = { chosen, way: new Set(way), choose, expand };
  useEffect(() => {
    let gone = false;
    const draw = () => {
      if (gone || !window.Sigma || !window.graphology) return;
      const { places } = drawn.current;
      drawn.current.places = layout(dots, links, places);
      const graph = new window.graphology.MultiDirectedGraph();
      for (const dot of dots) {
        const [x, y] = drawn.current.places.get(dot.id);
        graph.addNode(dot.id, { x, y, label: shorten(dot.label, 42), size: Math.min(16, (dot.noun === "entity" ? 7 : 4) + Math.sqrt(dot.ties)), color: colour(dot.noun === "entity" ? "--accent" : dot.state && dot.state !== "active" ? "--line-strong" : "--c1") });
      }
      for (const link of links) {
        if (graph.hasNode(link.origin) && graph.hasNode(link.target)) graph.addEdgeWithKey(link.id, link.origin, link.target, { label: link.relation, size: 1.4, type: "arrow", color: colour(EDGE[link.relation] || "--dim") });
      }
      drawn.current.sigma?.kill();
      drawn.current.sigma = null;
      try {
        drawn.current.sigma = new window.Sigma(graph, box.current, {
          renderEdgeLabels: true, labelColor: { color: colour("--ink") }, edgeLabelColor: { color: colour("--dim") }, labelFont: "system-ui, sans-serif", labelSize: 12, edgeLabelSize: 10, labelRenderedSizeThreshold: 7, stagePadding: 70, allowInvalidContainer: true,
          defaultDrawNodeHover: () => {}, // the panel beside it tells more
          nodeReducer: (id, data) => (id === look.current.chosen ? { ...data, highlighted: true, size: data.size + 4, color: colour("--warn") } : look.current.way.size > 1 && !look.current.way.has(id) ? { ...data, color: colour("--line"), label: "" } : data),
          edgeReducer: (id, data) => {
            const ends = graph.extremities(id);
            if (look.current.way.size > 1) return ends.every((end) => look.current.way.has(end)) ? { ...data, size: 3 } : { ...data, color: colour("--line"), label: "" };
            return ends.includes(look.current.chosen) ? { ...data, size: 2.4 } : { ...data, label: "" }; // every label at once could not be read
          },
        });
      } catch (error) {
        setWrong(`The graph cannot be drawn here (${error.message}); the list beside it holds the same.`);
        return;
      }
      drawn.current.sigma.on("clickNode", ({ node }) => look.current.choose(node));
      drawn.current.sigma.on("doubleClickNode", ({ node, preventSigmaDefault }) => (preventSigmaDefault(), look.current.expand(node)));
    };
    Promise.all([library("graphology"), library("sigma")]).then(draw, complain);
    addEventListener("theme", draw);
    return () => (gone = true, removeEventListener("theme", draw));
  }, [dots, links]);
  useEffect(() => drawn.current.sigma?.refresh({ skipIndexation: true }), [chosen, way]);
  useEffect(() => () => drawn.current.sigma?.kill(), []);
  if (wrong) return html`<p class="note">${wrong}</p>`;
  return html`<div class="canvas" ref=${box} role="img" aria-label="The graph: ${told({ dots, links })}; the list beside it holds the same"></div>`;
}
