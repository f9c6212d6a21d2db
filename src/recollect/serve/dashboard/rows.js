// A list of which only what is in sight is drawn, however long it is; more is asked for when its end comes near.
import { html, useEffect, useLayoutEffect, useRef, useState } from "./base.js";

const SPARE = 6; // rows that are drawn beyond what is seen

export function Rows({ items, height, row, label, selected = -1, more, end, columns = 1 }) {
  const box = useRef(null);
  const [view, setView] = useState({ top: 0, size: 800 });
  useLayoutEffect(() => {
    const one = box.current;
    const look = () => setView({ top: one.scrollTop, size: one.clientHeight || 800 });
    look();
    const watch = new ResizeObserver(look);
    watch.observe(one);
    let waiting = 0;
    const scrolled = () => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(look);
    };
    one.addEventListener("scroll", scrolled, { passive: true });
    return () => (watch.disconnect(), cancelAnimationFrame(waiting), one.removeEventListener("scroll", scrolled));
  }, []);
  const lines = Math.ceil(items.length / columns);
  const first = Math.max(0, Math.floor(view.top / height) - SPARE);
  const last = Math.min(lines, Math.ceil((view.top + view.size) / height) + SPARE);
  useEffect(() => {
    if (more && last >= lines - 2 * SPARE) more();
  }, [last, lines, more]);
  useEffect(() => {
    const one = box.current;
    if (selected < 0) return;
    const line = Math.floor(selected / columns);
    if (line * height < one.scrollTop) one.scrollTop = line * height;
    else if ((line + 1) * height > one.scrollTop + one.clientHeight) one.scrollTop = (line + 1) * height - one.clientHeight;
  }, [selected, columns]);
  const drawn = [];
  for (let index = first * columns; index < Math.min(items.length, last * columns); index++) drawn.push(row(items[index], index));
  return html`<div class="rows" ref=${box} role="list" aria-label=${label} tabindex="0">
    <div class="rows-all" style=${{ height: `${lines * height}px` }}>
      <div class="rows-seen ${columns > 1 ? "columns" : ""}" style=${{ transform: `translateY(${first * height}px)`, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>${drawn}</div>
    </div>${end}</div>`;
}
