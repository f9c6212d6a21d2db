// Colours of the stylesheet as a canvas takes them: it knows neither names nor which theme is on.
let probe = null;

export function colour(name) {
  if (!probe) {
    probe = document.createElement("span");
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

export const faint = (name, share) => colour(name).replace("rgb(", "rgba(").replace(")", `, ${share})`);
