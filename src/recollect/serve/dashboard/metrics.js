// Prometheus' text format, read: how long operations took, stages of recall, statuses and single numbers. Pure.

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function parse(text) {
  const found = { histograms: {}, stages: {}, statuses: {}, gauges: {} };
  for (const line of text.split("\n")) {
    const match = LINE.exec(line);
    if (!match || line.startsWith("#")) continue;
    const [, name, told = "", number] = match;
    const labels = Object.fromEntries([...told.matchAll(LABEL)].map(([, key, value]) => [key, value]));
    const value = Number(number);
    if (name === "recollect_http_request_seconds_bucket") {
      const one = (found.histograms[labels.operation] ??= { buckets: [], count: 0 });
      one.buckets.push([labels.le === "+Inf" ? Infinity : Number(labels.le), value]);
      one.count = value;
    } else if (name === "recollect_recall_stage_seconds" && labels.quantile) {
      (found.stages[labels.stage] ??= {})[labels.quantile] = value;
    } else if (name === "recollect_http_requests_total") {
      found.statuses[labels.status] = (found.statuses[labels.status] || 0) + value;
    } else if (!told) found.gauges[name] = value;
  }
  return found;
}

// Where a share of the requests ended, straight between the bounds of a bucket.
export function quantile({ buckets, count }, share) {
  const wanted = share * count;
  let below = 0;
  let from = 0;
  for (const [most, sum] of buckets) {
    if (sum >= wanted) return most === Infinity ? from : from + (most - from) * ((wanted - below) / Math.max(1, sum - below));
    below = sum;
    from = most;
  }
  return from;
}
