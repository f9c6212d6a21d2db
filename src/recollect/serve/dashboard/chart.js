// A chart over time: uPlot with our colours, drawn again when the theme or the width changes.
import { html, useEffect, useRef } from "./base.js";
import { library } from "./lazy.js";
import { complain } from "./state.js";
import { colour, faint } from "./colour.js";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 90 * DAY, 365 * DAY];
const TICKS = [[365 * DAY, "{YYYY}", null, null, null, null, null, null, 1], [30 * DAY, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1], [DAY, "{D} {MMM}", null, null, null, null, null, null, 1], [MINUTE, "{HH}:{mm}", "\n{D} {MMM}", null, null, null, null, null, 1]];

// A chart shows two minutes at least: what came within a second would else be told in thousandths of it.
function wide(_, first, last) {
  const short = 2 * MINUTE - (last - first);
  return short > 0 ? [first - short, last] : [first, last];
}

// `times` in seconds, `lines` as [{ label, values, colour: "--name", bars }]; the numbers are told in words by `label`.
export function Chart({ label, times, lines, height = 180, format = (value) => value, most }) {
  const box = useRef(null);
  useEffect(() => {
    if (!times.length) return undefined;
    let chart = null;
    let gone = false;
    const draw = () => {
      if (gone || !window.uPlot) return;
      chart?.destroy();
      const axis = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
      chart = new window.uPlot({
        width: box.current.clientWidth || 400, height, padding: [10, 14, 0, 0], cursor: { points: { size: 6 } }, legend: { show: lines.length > 1, live: false },
        scales: { x: { time: true, range: wide }, y: { range: (_, low, high) => [Math.min(0, low), most ?? (high > 0 ? high * 1.1 : 1)] } },
        axes: [{ ...axis, grid: { show: false }, space: 70, size: 40, incrs: STEPS, values: TICKS }, { ...axis, size: 56, space: 34, values: (_, ticks) => ticks.map(format) }],
        series: [{}, ...lines.map((line) => ({
          label: line.label, stroke: colour(line.colour), width: line.bars ? 0 : 2, points: { show: times.length < 3 },
          fill: line.bars ? colour(line.colour) : faint(line.colour, 0.14),
          ...(line.bars && { paths: window.uPlot.paths.bars({ size: [0.7, 28] }), points: { show: false } }),
        }))],
      }, [times, ...lines.map((line) => line.values)], box.current);
    };
    library("uplot").then(draw, complain);
    const watch = new ResizeObserver(() => chart && chart.width !== box.current.clientWidth && chart.setSize({ width: box.current.clientWidth, height }));
    watch.observe(box.current);
    addEventListener("theme", draw);
    return () => (gone = true, watch.disconnect(), removeEventListener("theme", draw), chart?.destroy());
  }, [JSON.stringify([times.length, times.at(-1), lines.map((line) => [line.label, line.values.at(-1), line.values.length])])]);
  if (!times.length) return html`<p class="dim pad">Nothing to draw yet.</p>`;
  return html`<div class="chart" role="img" aria-label=${label} ref=${box}></div>`;
}
