// Where the dots of a graph lie: springs along links, pushing apart, and a pull to the middle. Pure, and the same each time.

export function layout(dots, links, known = new Map(), rounds = 220) {
  const place = new Map();
  dots.forEach((dot, at) => {
    const angle = at * 2.399963; // the golden angle spreads what is new evenly
    const radius = 12 * Math.sqrt(at + 1);
    const [x, y] = known.get(dot.id) || near(dot, links, known) || [radius * Math.cos(angle), radius * Math.sin(angle)];
    place.set(dot.id, { x: x + Math.cos(angle), y: y + Math.sin(angle), dx: 0, dy: 0 });
  });
  const all = [...place.values()];
  const ties = links.map((link) => [place.get(link.origin), place.get(link.target)]).filter(([a, b]) => a && b && a !== b);
  const turns = all.length > 400 ? 60 : rounds;
  for (let round = 0; round < turns; round++) {
    const heat = 8 * (1 - round / turns) + 0.2;
    for (let i = 0; i < all.length; i++) {
      for (let j = i + 1; j < all.length; j++) {
        const a = all[i];
        const b = all[j];
        const dx = a.x - b.x;
        const dy = a.y - b.y;
        const push = 900 / (dx * dx + dy * dy + 25);
        a.dx += dx * push * 0.05;
        a.dy += dy * push * 0.05;
        b.dx -= dx * push * 0.05;
        b.dy -= dy * push * 0.05;
      }
    }
    for (const [a, b] of ties) {
      const dx = b.x - a.x;
      const dy = b.y - a.y;
      const length = Math.hypot(dx, dy) || 1;
      const pull = ((length - 30) / length) * 0.06;
      a.dx += dx * pull;
      a.dy += dy * pull;
      b.dx -= dx * pull;
      b.dy -= dy * pull;
    }
    for (const one of all) {
      const speed = Math.hypot(one.dx, one.dy) || 1;
      const step = Math.min(speed, heat) / speed;
      one.x += one.dx * step - one.x * 0.004;
      one.y += one.dy * step - one.y * 0.004;
      one.dx = one.dy = 0;
    }
  }
  return new Map([...place].map(([id, { x, y }]) => [id, [x, y]]));
}

// A new dot begins beside one that it is tied to.
function near(dot, links, known) {
  for (const link of links) {
    const other = link.origin === dot.id ? link.target : link.target === dot.id ? link.origin : null;
    if (other && known.has(other)) return known.get(other);
  }
  return null;
}

// The shortest way between two dots, as ids; empty where there is none.
export function path(links, from, to) {
  const ties = new Map();
  for (const { origin, target } of links) {
    if (!ties.has(origin)) ties.set(origin, []);
    if (!ties.has(target)) ties.set(target, []);
    ties.get(origin).push(target);
    ties.get(target).push(origin);
  }
  const came = new Map([[from, null]]);
  const front = [from];
  while (front.length) {
    const one = front.shift();
    if (one === to) {
      const way = [];
      for (let at = to; at; at = came.get(at)) way.unshift(at);
      return way;
    }
    for (const next of ties.get(one) || []) {
      if (!came.has(next)) {
        came.set(next, one);
        front.push(next);
      }
    }
  }
  return [];
}
