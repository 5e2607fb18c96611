// Renders the rules: what is not ok first, consequences under their causes, and what is ok
// folded to one line a group where there are many.
import { link } from "./address.js";
import { el, span, whole } from "./dom.js";
import { explanation } from "./explain.js";
import { lasting } from "./overrides.js";
import { folding, icon, icons, number, reason, runbook, seconds } from "./view.js";

// Up to few rules are all shown; of a list, at most are.
const few = 25, most = 200, maxAlerts = 5;

/** All rules that match, by state. how: matches, query is the filter, folds has the keys of open groups, opened(key) returns the explanation of an open rule, toggle(key) opens or closes it, strip(rule) draws its past, silence(rule) has the controls of its silence. */
export function rules(status, now, how) {
  const shown = index(status, how);
  if (shown.length === 0 && how.query) return [el("h2", null, "Rules"), el("p", { class: "soft" }, "No rule matches the filter.")];
  return shown.map(([state, part]) => [
    el("h2", { key: `head ${state}` }, state ? `Rules of ${state}` : "Alerts without a state", el("span", { class: "soft" }, " · ", counts(part, how.query))),
    el("div", { key: `card ${state}`, class: "card" }, body(state, part, status.rules.length, now, how)),
  ]);
}

let last = {}; // the last index: a status is shown more than once

/** The rules that match, by state: all, those that are not ok, the others by group, and the number of each status. */
function index(status, { matches, query }) {
  if (last.status === status && last.query === query) return last.parts;
  const parts = new Map([...status.states.map((s) => s.name), ""].map((name) => [name, { all: [], restless: [], groups: new Map(), counts: {} }]));
  for (const r of status.rules) {
    const part = parts.get(r.state);
    if (!part || (query && !matches(r))) continue;
    part.all.push(r);
    part.counts[r.status] = (part.counts[r.status] ?? 0) + 1;
    if (r.status !== "ok" || r.decides || r.warns) part.restless.push(r);
    else if (part.groups.has(r.group)) part.groups.get(r.group).push(r);
    else part.groups.set(r.group, [r]);
  }
  last = { status, query, parts: [...parts].filter(([, part]) => part.all.length > 0) };
  return last.parts;
}

/** The rules of a state. */
function body(state, { all, restless, groups }, count, now, how) {
  if (how.query || count <= few) return list(all, now, how);
  return [
    list(restless, now, how),
    [...groups].map(([group, fine]) => {
      const key = `${state}/${group}`;
      return [folding(key, `${group}: ${fine.length} ok`, how.folds), how.folds.has(key) && list(fine, now, how)];
    }),
  ];
}

function counts({ counts: n }, query) {
  const without = query.split(/\s+/).filter((term) => !term.startsWith("status:"));
  return ["failing", "unknown", "pending", "ok"].filter((s) => n[s] > 0).map((s, i) => {
    const on = query.includes(`status:${s}`);
    return [i > 0 && ", ", el("a", { href: link({ q: [...without, !on && `status:${s}`].filter(Boolean).join(" ") }), "aria-current": on && "true" }, `${n[s]} ${s}`)];
  });
}

const rank = (r) => (r.decides ? 0 : r.warns ? 1 : r.status === "failing" ? 2 : r.status === "pending" ? 3 : r.status === "unknown" ? 4 : 5);

/** Rules with their consequences below them, the worst first. */
function list(all, now, how) {
  const named = new Map(), below = new Map();
  for (const r of all) {
    if (!named.has(r.name)) named.set(r.name, r);
    if (r.cause) below.set(r.cause, [...(below.get(r.cause) ?? []), r]);
  }
  let left = most;
  const items = (some, above) => {
    const sorted = [...some].sort((a, b) => rank(a) - rank(b)); // A stable sort: otherwise the files' order.
    if (sorted.length === 0) return null;
    return el("ul", { class: "rules" }, sorted.filter(() => left-- > 0).map((r) => {
      const seen = new Set(above).add(r.name);
      const first = named.get(r.name) === r; // Consequences stand once, under the first of the name.
      const own = first && r.cause !== r.name ? (below.get(r.name) ?? []).filter((c) => !seen.has(c.name)) : [];
      return el("li", { key: r.key }, rule(r, now, how), items(own, seen));
    }));
  };
  const roots = all.filter((r) => !r.cause || !named.has(r.cause));
  return [items(roots, new Set()), left < 0 && el("p", { class: "soft rest" }, `and ${-left} more: use the filter`)];
}

function rule(r, now, how) {
  const open = how.opened(r.key), id = `why-${r.at}`;
  const tone = r.status === "failing" && !r.decides ? "warn" : r.status;
  const tags = [
    r.severity === "warning" && "warning only", r.silence ? "silenced" : r.observe && "observed only",
    r.starting && "not ok since the start",
    r.status === "unknown" && !r.decides && r.no_data && `no data: ${r.no_data}`,
    r.cause && `because of ${r.cause}`,
    ...Object.entries(r.labels ?? {}).map(([name, value]) => `${name}=${value}`),
  ].filter(Boolean);
  return el("div", { class: "rule rule-line" },
    el("span", null, el("span", { class: `badge ${tone}` }, icon(icons[tone]), r.status)),
    el("div", { class: "rule-text" },
      el("h3", null, r.name), tags.map((t) => el("span", { class: "tag" }, t)),
      el("button", { type: "button", class: "link", "data-row": true, "aria-expanded": String(open != null), "aria-controls": id, onclick: () => how.toggle(r.key) }, "why?", el("span", { class: "unseen" }, ` ${r.name}`)),
      runbook(r),
      r.status !== "ok" && reason(r) && el("p", null, reason(r)),
      (open || r.status !== "ok") && r.description && el("p", { class: "soft" }, r.description),
      r.note && el("p", { class: "soft" }, r.note),
      r.silence && el("p", { class: "soft" }, "Silenced ", lasting(r.silence)),
      el("p", null, el("code", null, r.expr), r.observed != null && r.status !== "ok" && el("span", { class: "number" }, ` → ${number(r.observed)}`)),
      alerts(r)),
    el("span", { class: "since" }, r.since && `for ${whole(seconds(now, r.since))}`, r.status === "pending" && ` of ${span(r.for_seconds)}`, how.strip(r)),
    el("div", { class: "explained", id }, open && [explanation(open, now), how.silence(r)]));
}

function alerts(r) {
  const own = ({ labels }) => Object.entries(labels).filter(([k, v]) => !["alertname", "state", "severity"].includes(k) && r.labels?.[k] !== v);
  const shown = r.alerts.slice(0, maxAlerts).map((a) => own(a).map(([k, v]) => `${k}=${v}`).join(" ")).filter(Boolean);
  const more = r.alert_count - Math.min(r.alerts.length, maxAlerts);
  if (shown.length === 0) return null;
  return el("ul", { class: "labels", "aria-label": "Labels" }, shown.map((s) => el("li", null, el("code", null, s))), more > 0 && el("li", null, `and ${more} more`));
}
