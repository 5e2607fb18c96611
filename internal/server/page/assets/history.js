// The past: strips of the last hour or day, and the events below them, each with the
// explanation of its moment.
import { chosen, link } from "./address.js";
import { age, draw, el, moment, span, whole } from "./dom.js";
import { request, source } from "./source.js";
import { badge, number, plural, reason, seconds } from "./view.js";

const spans = { "1h": "1 h", "24h": "24 h" };
const maxEvents = 300, fewEvents = 6, maxRows = 30, maxSlots = 240;
const every = { few: 10, many: 60 }; // seconds between two requests, up to 500 rules and beyond

let past = null; // the last response of /api/v1/history
let byName = new Map(); // its strips, by key
let requested = { span: "", at: 0 };
let events = []; // the newest first
let stream = null;
let all = false; // whether all events are shown

const keyOf = (s, n) => JSON.stringify([s.kind, s.name, s.state ?? "", s.group ?? "", n]);

/** Requests the strips that are due, and follows the events while the page is visible. arrived is called after each response. */
export async function load(arrived) {
  follow(arrived);
  const span = chosen().history === "24h" ? "24h" : "1h", now = performance.now();
  const due = source.status?.rules.length > 500 ? every.many : every.few;
  if (source.failure || (requested.span === span && now - requested.at < due * 1000)) return;
  requested = { span, at: now };
  try {
    const next = await (await request(`api/v1/history?span=${span}`)).json(), seen = new Map();
    byName = new Map(next.strips.map((s) => {
      const base = keyOf(s), n = seen.get(base) ?? 0;
      seen.set(base, n + 1);
      return [keyOf(s, n), s];
    }));
    past = { ...next, span };
    arrived();
  } catch {
    requested.span = ""; // the next call requests it again
  }
}

function follow(arrived) {
  if (document.hidden || source.failure) {
    stream?.close();
    stream = null;
  } else if (!stream || stream.readyState === EventSource.CLOSED) { // the browser gives up after an error of the server
    stream = new EventSource(`api/v1/events?limit=${maxEvents}${events.length > 0 ? `&after=${events[0].id}` : ""}`);
    stream.onmessage = ({ data }) => {
      const next = JSON.parse(data);
      if (next.id <= (events[0]?.id ?? 0)) return;
      events = [next, ...events].slice(0, maxEvents);
      arrived();
    };
  }
}

/** The strip of a subject, or nothing: of a rule the n-th of its name. */
export function strip(kind, { name, state, group }, n = 0) {
  return strips(byName.get(keyOf({ kind, name, state, group }, n)));
}

const words = { o: "ok", p: "pending", w: "warning", u: "unknown", f: "failing", ".": "not recorded" };
const order = ".opwuf";

function strips(s) {
  if (!s) return null;
  const letters = reduce(s.slots), runs = letters.match(/(.)\1*/g) ?? [];
  let x = 0;
  const parts = runs.map((run) => {
    x += run.length;
    return draw("rect", { class: words[run[0]].split(" ")[0], x: x - run.length, width: run.length, height: 1 });
  });
  return draw("svg", { class: "strip", viewBox: `0 0 ${letters.length} 1`, preserveAspectRatio: "none", role: "img", "aria-label": `${s.name}, the last ${spans[past.span]}: ${lasted(s.slots)}` }, parts);
}

/** The letters of at most maxSlots slots, each the worst of those that it stands for. */
function reduce(letters) {
  const size = Math.ceil(letters.length / maxSlots);
  if (size <= 1) return letters;
  return letters.match(new RegExp(`.{1,${size}}`, "g")).map((part) => [...part].reduce((a, b) => (order.indexOf(a) > order.indexOf(b) ? a : b))).join("");
}

/** The value of a subject over the same time and its threshold, or nothing. kind: "rule" for what it compares, "collector" for how long collections took. */
export function curve(kind, { name, state, group }, n = 0) {
  const found = byName.get(keyOf({ kind, name, state, group }, n))?.curve;
  if (!found) return null;
  const { values, step_seconds: step } = found, threshold = typeof found.threshold === "number" ? found.threshold : null;
  const slots = Math.round((past.span === "1h" ? 3600 : 86400) / step), first = slots - values.length;
  const known = [...values, threshold].filter((v) => v != null), low = Math.min(...known), high = Math.max(...known);
  const y = (v) => (high > low ? 18 - (16 * (v - low)) / (high - low) : 10).toFixed(1);
  const line = values.map((v, i) => (v == null ? "" : `${i > 0 && values[i - 1] != null ? "L" : "M"}${first + i} ${y(v)}h.5`)).join("");
  return draw("svg", { class: "spark", viewBox: `0 0 ${slots} 20`, preserveAspectRatio: "none", role: "img", "aria-label": `${name}, ${range(kind, found)}` },
    draw("title", null, range(kind, found)),
    threshold != null && draw("line", { class: "limit", x1: 0, x2: slots, y1: y(threshold), y2: y(threshold) }),
    draw("path", { d: line }));
}

/** A curve in words. */
function range(kind, { values, op, threshold }) {
  const text = kind === "collector" ? span : number, known = values.filter((v) => v != null);
  const facts = `min ${text(Math.min(...known))}, max ${text(Math.max(...known))}, last ${text(known.at(-1))}`;
  return `${kind === "collector" ? "took" : "value"} in the last ${spans[past.span]}: ${facts}${op ? `, failing if ${op} ${number(threshold)}` : ""}`;
}

/** How long each status lasted, the worst first. */
function lasted(letters) {
  const total = (letter) => [...letters].filter((l) => l === letter).length * past.step_seconds;
  return [...order].reverse().filter((l) => l !== "." && total(l) > 0).map((l) => `${words[l]} ${whole(total(l))}`).join(", ") || "nothing recorded";
}

/** The section of the past. show is called to render it again. */
export function render(now, show) {
  if (!past && events.length === 0) return [];
  const open = chosen().history in spans;
  return [
    el("div", { class: "head" }, el("h2", null, "History"), Object.entries(spans).map(([span, text]) => {
      const on = chosen().history === span;
      return el("a", { class: "link", href: link({ history: on ? "" : span }), "aria-current": on && "true" }, el("span", { class: "unseen" }, "Strips of the last "), text);
    })),
    open && past && rows(),
    list(now, show),
  ];
}

/** The strips of the states, and of the rules and collectors that were not always ok. */
function rows() {
  const shown = past.strips.filter((s) => s.kind === "state" || /[^o.]/.test(s.slots));
  const rest = past.strips.length - shown.length;
  const from = Date.parse(past.end) - past.strips[0]?.slots.length * past.step_seconds * 1000;
  return el("div", { class: "card strips" },
    el("ul", null, shown.slice(0, maxRows).map((s) => el("li", null, el("span", { class: "strip-name" }, s.name, el("span", { class: "tag" }, s.kind)), strips(s)))),
    el("p", { class: "axis soft" }, el("span", null, clock(from)), el("span", null, clock((from + Date.parse(past.end)) / 2)), el("span", null, "now")),
    el("p", { class: "soft rest" }, [shown.length > maxRows && `and ${shown.length - maxRows} more`, rest > 0 && `${rest} ${rest === 1 ? "other was" : "others were"} ok all the time`].filter(Boolean).join("; ")));
}

const clock = (ms) => new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

function list(now, show) {
  const selected = chosen().event, shown = all ? events : events.slice(0, fewEvents);
  const found = events.find((e) => String(e.id) === selected);
  if (selected && found && !shown.includes(found)) shown.push(found);
  const toggle = () => { all = !all; show(); };
  return el("div", { class: "card" },
    selected && !found && el("p", { class: "soft rest" }, "The event of this address is no longer kept."),
    el("ul", { class: "events" }, shown.map((e) => el("li", { key: String(e.id) }, event(e, String(e.id) === selected, now)))),
    events.length > fewEvents && el("button", { type: "button", class: "fold", "data-row": true, "aria-expanded": String(all), onclick: toggle }, all ? "fewer events" : plural(events.length - fewEvents, "earlier event")));
}

const tones = { ok: "ok", pending: "pending", warning: "warn", unknown: "unknown", failing: "failing", removed: "unknown" };

function event(e, open, now) {
  const first = e.rules?.[0], id = `event-${e.id}`;
  const found = first && (reason(first) || first.reason), decided = e.kind === "rule" ? found : first && [first.name, found].filter(Boolean).join(": ");
  const text = [e.action, e.reason].filter(Boolean).join(" ") || decided;
  const flaps = e.changes > 1 && [`flaps: ${e.changes} changes`, e.failing_seconds > 0 && `failing ${whole(e.failing_seconds)}`].filter(Boolean).join(", ");
  return [
    el("div", { class: "event" },
      moment(e.at), badge(tones[e.to], e.to),
      el("a", { class: "event-name", href: link({ event: open ? "" : String(e.id) }), "data-row": true, "aria-expanded": String(open), "aria-controls": id }, e.name),
      e.kind !== "process" && el("span", { class: "tag" }, e.kind),
      flaps && el("span", { class: "tag" }, flaps),
      text && el("span", { class: "event-text" }, text),
      el("span", { class: "since" }, e.from && e.lasted_seconds > 0 && `after ${whole(e.lasted_seconds)} ${e.from} · `, age(seconds(now, e.at)))),
    el("div", { class: "explained", id }, open && thatMoment(e)),
  ];
}

/** The explanation of the moment. */
function thatMoment(e) {
  if (!e.rules?.length) return [el("p", null, e.reason || "No rule decided.")];
  const more = (e.rule_count ?? 0) - e.rules.length;
  return [e.rules.map((r) => ruleThen(r, e)), more > 0 && el("p", { class: "soft" }, `and ${plural(more, "more rule")}`)];
}

function ruleThen(r, e) {
  const labels = Object.entries(r.labels ?? {}).filter(([k]) => !["alertname", "state", "severity"].includes(k)).map(([k, v]) => `${k}=${v}`);
  return el("div", { class: "then" },
    el("p", null, badge(tones[r.status], r.status), " ", el("strong", null, r.name), r.cause && el("span", { class: "tag" }, `because of ${r.cause}`), r.silenced_until && el("span", { class: "tag" }, "silenced until ", moment(r.silenced_until)), " ", reason(r)),
    el("p", null, el("code", null, r.expr), r.value != null && el("span", { class: "number" }, ` → ${number(r.value)}${r.threshold ? ` (${r.threshold})` : ""}`), labels.length > 0 && el("span", { class: "soft" }, ` ${labels.join(" ")}`)),
    r.since && el("p", { class: "soft" }, `${r.status} for ${whole(seconds(Date.parse(e.worst_at ?? e.at), r.since))} at that moment`, r.alert_count > 1 && `, first of ${r.alert_count} alerts`),
    r.note && el("p", { class: "soft" }, r.note),
    r.collectors?.map((c) => el("p", null, el("strong", null, c.name), !c.ran ? " no collection had finished" : c.success ? " succeeded" : el("span", { class: "wrong" }, ` failed: ${c.error ?? ""}`), c.age_seconds != null && `, values ${whole(c.age_seconds)} old`)),
    r.consequences?.length > 0 && el("p", { class: "soft" }, `consequences: ${r.consequences.join(", ")}`));
}
