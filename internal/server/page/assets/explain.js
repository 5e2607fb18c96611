// Renders an explanation: a rule of /api/v1/explain/STATE with the tree of its
// expression. `now` is the server's time, in milliseconds.
import { age, el, moment, span, whole } from "./dom.js";

const seconds = (now, iso) => (now - Date.parse(iso)) / 1000;
const longest = 60; // of a part, in characters, that is shown with its own parts
const maxElements = 5, maxDeciding = 3;

/** The explanation of an open rule, or the failure of its request. */
export function explanation({ failure, rule, collectors }, now) {
  if (failure) return [el("p", { class: "wrong" }, failure)];
  if (!rule) return [el("p", { class: "soft" }, "loading…")];
  const named = new Set();
  return [tree(rule, { now, named, whole: true }), origins(collectors.filter((c) => named.has(c.name)), now)];
}

/** Since when a rule has its status, and its tree. how: now is the server's time, named collects the names of collectors, whole includes parts that decide nothing. */
export function tree(rule, how) {
  const facts = timing(rule, how.now);
  return [
    facts.length > 0 && el("p", null, facts.map((f, i) => [i > 0 && " · ", f])),
    rule.tree ? el("ul", { class: "tree" }, part(rule.tree, how, true)) : el("p", { class: "soft" }, "The expression is too large to explain."),
  ];
}

/** The status of collectors. */
export function origins(collectors, now) {
  return collectors.length > 0 && el("ul", { class: "origins" }, collectors.map((c) => el("li", null, origin(c, now))));
}

/** Since when the expression is true, and when the alert fires. */
function timing(rule, now) {
  const [first] = rule.alerts ?? [];
  const facts = [];
  if (first?.kept_until) facts.push(["no longer true; keep_firing_for keeps it until ", moment(first.kept_until)]);
  else if (first && !(first.firing && rule.for_seconds === 0 && Math.abs(seconds(Date.parse(rule.since), first.active_at)) < 1)) {
    facts.push(["true since ", moment(first.active_at)]); // otherwise it is the rule's own time
  }
  if (first && !first.firing) {
    const left = -seconds(now, first.fires_at);
    facts.push(["fires at ", moment(first.fires_at), left > 0 && ` (in ${span(Math.ceil(left))})`]);
  } else if (first && rule.for_seconds > 0) facts.push([`for ${Number.isInteger(rule.for_seconds) ? whole(rule.for_seconds) : span(rule.for_seconds)}: fires since `, moment(first.fires_at)]);
  if (rule.alert_count > 1) facts.push(`the first of ${rule.alert_count} alerts`);
  if (rule.status === "unknown") facts.push(`no_data: ${rule.no_data}`);
  if (rule.evaluated) facts.push(`evaluated ${age(seconds(now, rule.evaluated))}, by its group's own interval`);
  if (rule.as_of) facts.push(`as of ${age(seconds(now, rule.as_of))}, by its group's query_offset`);
  return facts;
}

/** The status of a collector. */
function origin(c, now) {
  const name = [el("strong", null, c.name), ` (${c.kind}${c.external ? ", external" : ""}) `];
  if (!c.ran) return [name, "no collection has finished yet"];
  if (c.success) return [name, `succeeded ${age(seconds(now, c.last_run))}`];
  return [name, el("span", { class: "wrong" }, `failed ${age(seconds(now, c.last_run))}, ${c.last_success ? `last success ${age(seconds(now, c.last_success))}` : "never succeeded"}: ${c.error ?? ""}`)];
}

/** A part of the expression and its own parts. exists: only the existence of elements matters. */
function part(n, how, exists) {
  const series = compared(n, how), of = series ?? n;
  const line = el("div", { class: "part" }, el("code", null, short(n)),
    el("span", { class: tone(n, exists) }, series ? series.count === 0 ? "false" : truth(n) : outcome(n, how, exists)),
    series && el("span", { class: "outcome" }, value(series, how, true)));
  for (const name of of.collectors ?? []) how.named.add(name);
  const below = (of.children ?? []).filter((c) => c.kind !== "number" && c.kind !== "string");
  const held = of.comparison?.threshold == null; // otherwise the elements are listed below, with true or false
  return el("li", null, line,
    of.count > 1 && held && !single(of, how) && elements(of, how),
    (of.recordings?.length > 0 || below.length > 0 || of.cut) && el("ul", null,
      (of.recordings ?? []).map((r) => recording(r, how)),
      below.map((c) => part(idle(of, c, how) ? { ...c, children: [], recordings: [], cut: false } : c, how, exists && of.kind === "set")),
      of.cut && el("li", { class: "soft" }, "… left out: the expression has too many parts")));
}

/** The selector that a part compares with a number, if both fit on one line. */
function compared(n, { whole }) {
  if (whole || n.comparison?.threshold == null || n.error || n.at || n.expr.length > longest || n.children?.length !== 2) return null;
  return n.children.find((c, i) => c.kind === "selector" && !c.error && n.children[1 - i].kind === "number") ?? null;
}

/** Whether one element decides for the whole part. */
const single = (n, { whole }) => !whole && n.deciding === 1 && !n.comparison;

/** Whether a side of a set operation adds nothing to its result. */
const idle = (n, side, { whole }) => !whole && n.kind === "set" && n.count > 0 && side.count === 0 && side.value == null && !side.error;

/** A part without its own parts, if it is long. */
function short(n) {
  if (n.expr.length <= longest || !n.short) return n.expr;
  const side = (c) => (!n.cut && c?.kind === "number" ? c.expr : "…");
  if (n.kind === "subquery") return `…${n.short}`;
  if (n.kind === "function" || n.kind === "aggregation") return `${n.short}${n.short.includes(" ") ? " " : ""}(…)`;
  if (n.children?.length === 1 && !n.cut) return `${n.short}…`;
  return `${side(n.children?.[0])} ${n.short} ${side(n.children?.[1])}`;
}

/** The CSS class of a part: bad if it makes the rule true. */
function tone(n, exists) {
  if (n.error) return "outcome wrong";
  const decides = exists || n.comparison || n.short?.startsWith("absent");
  const holds = n.comparison ? n.comparison.true > 0 : n.count > 0;
  return decides && holds ? "outcome holds" : "outcome";
}

// JSON has NaN and the infinities as strings.
const figure = (v) => (typeof v === "number" ? String(Number(v.toFixed(Math.abs(v) < 1 ? 10 : 6))) : v);

function outcome(n, how, exists) {
  const { now } = how;
  if (n.error) return `error: ${n.error}`;
  const asOf = n.at ? `, as of ${age(seconds(now, n.at))}` : "";
  if (n.comparison) return truth(n) + asOf;
  if ((exists && n.kind === "set") || (n.kind === "function" && n.short?.startsWith("absent"))) {
    return `${n.count > 0}${n.count > 1 ? ` for ${n.count} series` : ""}${asOf}`;
  }
  const text = value(n, how);
  return (exists && n.value == null ? `${n.count > 0}: ${text}` : text) + asOf;
}

function truth(n) {
  const { threshold, true: holds, of } = n.comparison;
  const what = threshold == null && n.value == null ? " pairs" : "";
  const limit = threshold != null && !n.children?.some((c) => c.kind === "number") ? `: the limit is ${figure(threshold)}` : "";
  if (of === 0) return "false: nothing to compare";
  if (of === 1) return `${holds === 1}${limit}`;
  if (holds === 0 || holds === of) return `${holds > 0} for all ${of}${what}${limit}`;
  return `true for ${holds} of ${of}${what}${limit}`;
}

/** The value of a part and its source; counted: the number of elements is already shown. */
function value(n, how, counted) {
  const { now } = how;
  if (n.value != null) return figure(n.value);
  const leaf = n.kind === "selector" || n.kind === "range";
  const of = n.own ? "Vitals itself" : n.collectors?.length > 0 ? `${n.collectors.length > 1 ? "collectors" : "collector"} ${n.collectors.join(", ")}` : n.recordings?.length > 0 ? "recorded" : "";
  if (n.count === 0) return leaf ? `no series${of ? ` of ${of}` : ": no collector is known to export it"}` : "no series";
  const [first] = n.series;
  if (single(n, how)) return [`${apart(n, first)} ${measured(first, now)}`, first.collector && n.collectors.length > 1 ? `collector ${first.collector}` : of].filter(Boolean).join(", ");
  const text = n.count === 1 ? `${labels(first.labels, n.expr)} ${measured(first, now)}` : `${counted ? "" : `${n.count} series `}${labels(shared(n), n.expr)}`;
  return [text.trim(), of].filter(Boolean).join(", ");
}

/** The labels that all elements have, if all elements are listed. */
function shared(n) {
  if (n.count > n.series.length) return {};
  const [first, ...others] = n.series;
  return Object.fromEntries(Object.entries(first.labels).filter(([k, v]) => others.every((s) => s.labels[k] === v)));
}

/** The labels that distinguish an element from the others. */
function apart(n, s) {
  const all = shared(n);
  return labels(Object.fromEntries(Object.entries(s.labels).filter(([k]) => !(k in all))), n.expr) || "{}";
}

function elements(n, { now, whole }) {
  const shown = n.series.slice(0, whole ? maxElements : Math.min(maxDeciding, n.deciding || n.count));
  return el("ul", { class: "elements" }, shown.map((s) => element(n, s, now)), n.count > shown.length && el("li", { class: "soft" }, `and ${n.count - shown.length} more`));
}

function element(n, s, now) {
  return el("li", null, el("code", null, apart(n, s)),
    el("span", { class: s.holds ? "outcome holds" : "outcome" }, measured(s, now), n.collectors?.length > 1 && `, collector ${s.collector}`, s.holds != null && `: ${s.holds}`));
}

function measured(s, now) {
  if (s.first) return `${s.samples} samples from ${figure(s.first.value)} (${age(seconds(now, s.first.at))}) to ${figure(s.last.value)} (${age(seconds(now, s.last.at))})`;
  return s.sample_at ? `${figure(s.value)}, ${age(seconds(now, s.sample_at))}` : figure(s.value);
}

/** The labels that are not in the expression. */
function labels(all, expr) {
  const { __name__: name = "", ...rest } = all;
  const pairs = Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => `${k}=${JSON.stringify(v)}`).filter((p) => !expr.includes(p));
  return (expr.includes(name) ? "" : name) + (pairs.length > 0 ? `{${pairs.join(",")}}` : "");
}

function recording(r, how) {
  const { now } = how;
  const facts = [r.evaluated && `, evaluated ${age(seconds(now, r.evaluated))}`, r.as_of && `, as of ${age(seconds(now, r.as_of))}`, r.error && `, error: ${r.error}`];
  return el("li", null, el("div", { class: "soft" }, `recording rule ${r.name}${labels(r.labels ?? {}, "")} of the group ${r.group}`, facts, !r.tree && [": ", el("code", null, r.expr)]),
    r.tree && el("ul", null, part(r.tree, how, false)));
}
