// Renders the status. Every function takes a part of /api/v1/status and returns nodes; `now` is the server's time, in milliseconds.
import { age, el, moment, span, whole } from "./dom.js";
import { explanation } from "./explain.js";

const answers = {
  pass: ["✓", "yes", "passes"],
  warn: ["!", "yes", "passes with warnings"],
  fail: ["✕", "no", "fails"],
};
const icons = { ok: "✓", failing: "✕", pending: "…", unknown: "?", warn: "!" };
const icon = (text) => el("span", { class: "icon", "aria-hidden": "true" }, text);
const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const seconds = (now, iso) => (now - Date.parse(iso)) / 1000;

/** One sentence about all states, for the window's title and for screen readers. */
export function sentence(status) {
  return status.states.map((s) => `${s.name} ${answers[s.verdict][2]}${why(status, s) ? `: ${why(status, s)}` : ""}`).join(". ");
}

/** Why a state does not pass, or "". */
function why(status, state) {
  if (state.verdict === "pass") return "";
  const deciding = status.rules.filter((r) => r.state === state.name && state.deciding.includes(r.name));
  const first = deciding.find((r) => !r.cause) ?? deciding[0];
  const rule = first ? `${first.name}${reason(first) ? `: ${reason(first)}` : ""}` : "";
  return [state.reason, rule].filter(Boolean).join(" · ");
}

// JSON has NaN and the infinities as strings.
const number = (v) => (typeof v === "number" ? String(Number(v.toPrecision(6))) : v);

const reason = (rule) => (rule.status === "unknown" ? rule.reason : rule.summary) ?? "";

/** The large cards: selected is the state whose explanation is open, doubtful is set if the data may be outdated. */
export function states(status, now, selected, doubtful) {
  return status.states.map((s) => {
    const [sign, word, meaning] = answers[s.verdict];
    const open = s.name === selected.state, below = open && selected.explanation && !selected.failure;
    const text = below ? "" : why(status, s);
    return el("article", { class: `state ${doubtful ? "unknown" : s.verdict}` },
      el("h2", null, el("a", { href: `${encodeURIComponent(s.name)}?verbose` }, s.name), " ",
        el("a", { class: "link", href: open ? "#" : `#why=${encodeURIComponent(s.name)}`, "aria-current": open && "true" }, "why?", el("span", { class: "unseen" }, ` ${s.name}`))),
      el("p", { class: "answer" }, icon(doubtful ? "?" : sign), doubtful ? `was ${word}` : word, !doubtful && el("span", { class: "unseen" }, ` (${meaning})`)),
      text && el("p", { class: "why" }, text),
      s.since && el("p", { class: "since" }, "since ", moment(s.since), !doubtful && `, for ${whole(seconds(now, s.since))}`));
  });
}

/** All rules by state, failing ones first, consequences under their causes. why: opened(key) returns the explanation of an open rule, toggle(key) opens or closes it. */
export function rules(status, now, why) {
  const groups = status.states.map((s) => [`Rules of ${s.name}`, status.rules.filter((r) => r.state === s.name)]);
  groups.push(["Alerts without a state", status.rules.filter((r) => !r.state)]);
  return groups.filter(([, all]) => all.length > 0).map(([title, all]) => [
    el("h2", null, title, el("span", { class: "soft" }, ` · ${counts(all)}`)),
    el("div", { class: "card" }, list(roots(all), all, now, why, new Set())),
  ]);
}

function counts(all) {
  const n = (status) => all.filter((r) => r.status === status).length;
  return ["failing", "unknown", "pending", "ok"].filter((s) => n(s) > 0).map((s) => `${n(s)} ${s}`).join(", ");
}

const rank = (r) => (r.decides ? 0 : r.warns ? 1 : r.status === "failing" ? 2 : r.status === "pending" ? 3 : r.status === "unknown" ? 4 : 5);
const sorted = (all) => [...all].sort((a, b) => rank(a) - rank(b)); // A stable sort: otherwise the files' order.
const roots = (all) => all.filter((r) => !r.cause || !all.some((c) => c.name === r.cause));

function list(some, all, now, why, above) {
  if (some.length === 0) return null;
  return el("ul", { class: "rules" }, sorted(some).map((r) => {
    const seen = new Set(above).add(r.name);
    const below = r.cause === r.name ? [] : all.filter((c) => c.cause === r.name && !seen.has(c.name));
    const first = all.find((c) => c.name === r.name) === r; // Consequences stand once, under the first of the name.
    return el("li", null, rule(r, now, why), first && list(below, all, now, why, seen));
  }));
}

function rule(r, now, why) {
  const key = why.key(r), open = why.opened(key);
  const tone = r.status === "failing" && !r.decides ? "warn" : r.status;
  const tags = [
    r.severity === "warning" && "warning only", r.observe && "observed only",
    r.starting && "not ok since the start",
    r.status === "unknown" && !r.decides && r.no_data && `no data: ${r.no_data}`,
    r.cause && `because of ${r.cause}`,
  ].filter(Boolean);
  return el("div", { class: "rule rule-line" },
    el("span", null, el("span", { class: `badge ${tone}` }, icon(icons[tone]), r.status)),
    el("div", { class: "rule-text" },
      el("h3", null, r.name), tags.map((t) => el("span", { class: "tag" }, t)),
      el("button", { type: "button", class: "link", "aria-expanded": String(open != null), "aria-controls": why.id(r), onclick: () => why.toggle(key) }, "why?", el("span", { class: "unseen" }, ` ${r.name}`)),
      r.status !== "ok" && reason(r) && el("p", null, reason(r)),
      r.note && el("p", { class: "soft" }, r.note),
      el("p", null, el("code", null, r.expr), r.observed != null && r.status !== "ok" && el("span", { class: "number" }, ` → ${number(r.observed)}`)),
      alerts(r)),
    el("span", { class: "since" }, r.since && `for ${whole(seconds(now, r.since))}`, r.status === "pending" && ` of ${span(r.for_seconds)}`),
    el("div", { class: "explained", id: why.id(r) }, open && explanation(open, now)));
}

const maxAlerts = 5;

function alerts(r) {
  const own = ({ labels }) => Object.entries(labels).filter(([k]) => !["alertname", "state", "severity"].includes(k));
  const shown = r.alerts.slice(0, maxAlerts).map((a) => own(a).map(([k, v]) => `${k}=${v}`).join(" ")).filter(Boolean);
  const more = r.alert_count - Math.min(r.alerts.length, maxAlerts);
  if (shown.length === 0) return null;
  return el("ul", { class: "labels", "aria-label": "Labels" }, shown.map((s) => el("li", null, el("code", null, s))), more > 0 && el("li", null, `and ${more} more`));
}

function table(title, columns, rows) {
  if (rows.length === 0) return [];
  return [
    el("h2", null, title),
    el("div", { class: "card" }, el("table", null,
      el("thead", null, el("tr", null, columns.map((c) => el("th", { scope: "col" }, c)))),
      el("tbody", null, rows.map(([head, ...cells]) => el("tr", null, el("th", { scope: "row" }, head),
        cells.map((c, i) => el("td", { "data-label": columns[i + 1], class: c?.error ? "error" : null }, c?.error ?? c ?? "")))))))];
}

/** A status. */
export const badge = (tone, word) => el("span", null, el("span", { class: `badge ${tone}` }, icon(icons[tone]), word));

/** The status of the collectors. */
export function collectors(status, now) {
  return table("Collectors", ["name", "kind", "last collection", "took", "last success", "error or note"], status.collectors.map((c) => [
    c.name,
    el("span", null, c.kind, c.external && el("span", { class: "tag" }, "external")),
    !c.ran ? badge("unknown", "none yet") : c.success ? badge("ok", "succeeded") : badge("failing", "failed"),
    c.ran && el("span", { class: "number" }, span(c.duration_seconds)),
    c.last_success ? age(seconds(now, c.last_success)) : c.ran && "never",
    c.error ? { error: [c.error, c.note].filter(Boolean).join(" · ") } : c.note,
  ]));
}

/** What the components reported. */
export function components(status, now) {
  const reported = (yes) => (yes == null ? badge("unknown", "not reported") : yes ? badge("ok", "yes") : badge("failing", "no"));
  return table("Components", ["name", "alive", "ready", "last report", "details"], status.components.map((c) => [
    c.name, reported(c.alive), reported(c.ready), c.last_report ? age(seconds(now, c.last_report)) : "never",
    (c.reason || c.events) && el("div", null, c.reason, c.events && el("ul", null, c.events.map((e) => el("li", null, tally(e))))),
  ]));
}

/** The counts of the events of one name. */
function tally(e) {
  const row = `${plural(e.consecutive_failures, "failure")} in a row${e.limit == null ? "" : ` (limit ${e.limit})`}`;
  return `${e.event}: ${row}, ${e.failure} of ${e.success + e.failure + e.excused} in all${e.excused ? `, ${e.excused} excused` : ""}`;
}

/** What is wrong with the configuration, or "". */
export function reloadProblem({ reload }) {
  return reload.ok ? "" : `The configuration could not be loaded. ${reload.last_success ? "The last good one stays in use." : ""}\n${reload.error ?? "The reason is in the log."}`;
}

/** The ages of the configuration and the process. */
export function config(status, now) {
  const { last_success: loaded } = status.reload;
  return [loaded && ["Configuration of ", moment(loaded), ". "], `Running for ${whole(seconds(now, status.started))}${status.version ? `, version ${status.version}` : ""}.`];
}

/** The demo's buttons; press(dependency, fault) is called for each. */
export function faults(all, press) {
  if (all.length === 0) return [];
  return [
    el("h2", null, "Break it", el("span", { class: "soft" }, " · the faults of the demo's fake services")),
    el("ul", { class: "card faults" }, all.map((d) => el("li", null,
      el("h3", null, d.dependency),
      el("div", { class: "buttons", role: "group", "aria-label": `Faults of ${d.dependency}` },
        ["none", ...d.faults.filter((f) => f !== "none")].map((f) => el("button", {
          type: "button", class: f === "none" ? "ok" : "failing", "aria-pressed": String(d.active === f), onclick: () => press(d.dependency, f),
        }, f === "none" ? "healthy" : f))))))];
}

/** The line at the top right. */
export function pulse(status, ageSeconds) {
  return [`generation ${status.generation} · evaluated ${age(ageSeconds)} · ${plural(status.rules.length, "rule")} in ${span(status.evaluation_seconds)}`];
}
