// Renders the status. Every function takes a part of /api/v1/status and returns nodes; `now` is the server's time, in milliseconds.
import { link } from "./address.js";
import { age, el, moment, span, whole } from "./dom.js";

// By the words of states and rules, and by the classes of the style sheet.
export const icons = { ok: "✓", warning: "!", failing: "✕", unknown: "?", pending: "…", warn: "!" };
export const icon = (text) => el("span", { class: "icon", "aria-hidden": "true" }, text);
export const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
export const seconds = (now, iso) => (now - Date.parse(iso)) / 1000;

/** One sentence about a state, for screen readers. */
export function sentence(status, s, doubtful) {
  if (doubtful) return `${s.name} is unknown: the last answer was ${s.status}`;
  return `${s.name} ${s.status}${why(status, s) ? `: ${why(status, s)}` : ""}`;
}

/** Why a state is not ok, or "". */
export function why(status, state) {
  if (state.verdict === "pass") return "";
  const first = deciding(status, state);
  const rule = first ? `${first.name}${reason(first) ? `: ${reason(first)}` : ""}` : "";
  return [state.reason, rule].filter(Boolean).join(" · ");
}

/** The rule that decides a state, a cause before its consequences. */
function deciding(status, state) {
  const names = new Set(state.deciding);
  const all = names.size > 0 ? status.restless.filter((r) => r.state === state.name && names.has(r.name)) : [];
  return all.find((r) => !r.cause) ?? all[0];
}

// JSON has NaN and the infinities as strings.
export const number = (v) => (typeof v === "number" ? String(Number(v.toPrecision(6))) : v);

export const reason = (rule) => (rule.status === "unknown" ? rule.reason : rule.summary) ?? "";

/** The large cards. how: selected is the state whose explanation is open, doubtful is set if the data may be outdated, strip(state) draws its past. */
export function states(status, now, { selected, doubtful, strip }) {
  return status.states.map((s) => {
    const open = s.name === selected.state, below = open && selected.explanation && !selected.failure;
    const text = below ? "" : why(status, s);
    return el("article", { key: s.name, class: `state ${doubtful ? "unknown" : s.verdict}`, "aria-label": sentence(status, s, doubtful) },
      el("div", { class: "head" }, el("h2", null, el("a", { href: `${encodeURIComponent(s.name)}?verbose` }, s.name)), " ",
        s.maintenance && el("span", { class: "tag" }, "maintenance"),
        el("a", { class: "link", href: link({ why: open ? "" : s.name }), "aria-current": open && "true" }, "why?", el("span", { class: "unseen" }, ` ${s.name}`))),
      el("p", { class: "answer" }, icon(doubtful ? "?" : icons[s.status]), doubtful ? `was ${s.status}` : s.status),
      text && el("p", { class: "why" }, text, " ", !doubtful && runbook(deciding(status, s))),
      !doubtful && soon(status, s, now).map((line) => el("p", { class: "soon" }, icon("…"), line)),
      silenced(status, s),
      since(s) && el("p", { class: "since" }, "since ", moment(since(s)), !doubtful && `, for ${whole(seconds(now, since(s)))}`),
      strip(s));
  });
}

/** The link to the runbook of a rule. */
export const runbook = (r) => r?.runbook_url && /^https?:\/\//i.test(r.runbook_url) && el("a", { class: "link", href: r.runbook_url, rel: "noreferrer" }, "runbook", el("span", { class: "unseen" }, ` of ${r.name}`));

const maxSoon = 2;

/** What is about to make a state failing or warning, the first ones first. */
export function soon(status, s, now) {
  const waiting = [];
  for (const r of status.restless) {
    if (r.state !== s.name || r.decides || r.observe) continue;
    if (r.status === "pending" && r.fires_at) waiting.push([r, -seconds(now, r.fires_at)]);
    else if (r.status === "unknown" && r.held_for_seconds && !r.warns) waiting.push([r, r.held_for_seconds - seconds(now, status.at)]);
  }
  waiting.sort(([, a], [, b]) => a - b);
  const lines = waiting.slice(0, maxSoon).map(([r, left]) => `${r.name} ${r.status}, ${r.severity === "warning" ? "warning" : "failing"} ${left > 0 ? `in ${whole(Math.ceil(left))}` : "now"}`);
  return waiting.length > maxSoon ? [...lines, `and ${waiting.length - maxSoon} more`] : lines;
}

/** The silenced rules of a state. */
export function silenced(status, s) {
  const all = status.silenced.filter((r) => r.state === s.name);
  return [
    all.slice(0, maxSoon).map((r) => el("p", { class: "silenced" }, `${r.name} silenced until `, moment(r.silence.until))),
    all.length > maxSoon && el("p", { class: "silenced" }, `and ${all.length - maxSoon} more silenced`),
  ];
}

/** When the verdict began. That of a warning is apart: since is when it stopped failing. */
export const since = (s) => (s.verdict === "warn" ? s.warns_since : s.since);

function table(title, columns, rows) {
  if (rows.length === 0) return [];
  return [
    el("h2", null, title),
    el("div", { class: "card" }, el("table", null,
      el("thead", null, el("tr", null, columns.map((c) => el("th", { scope: "col" }, c)))),
      el("tbody", null, rows.map(([head, ...cells]) => el("tr", { key: head }, el("th", { scope: "row" }, head),
        cells.map((c, i) => el("td", { "data-label": columns[i + 1], class: c?.error ? "error" : null }, c?.error ?? c ?? "")))))))];
}

/** A status. */
export const badge = (tone, word) => el("span", null, el("span", { class: `badge ${tone}` }, icon(icons[tone]), word));

// Of more collectors than few, those that succeed are folded.
const few = 25, most = 200;

/** The status of the collectors that match. how: matches, filtered is set if there is a filter, folds has the keys of what is unfolded, strip(collector) draws its past. */
export function collectors(status, now, { matches, filtered, folds, strip }) {
  const all = status.collectors.filter((c) => matches({ ...c, status: c.ran ? (c.success ? "ok" : "failing") : "unknown" }));
  const fold = all.length > few && !filtered, fine = all.filter((c) => c.success);
  const shown = (fold && !folds.has("collectors") ? all.filter((c) => !c.success) : all).slice(0, most);
  const columns = ["name", "kind", "last collection", "took", "last success", "error or note", "past"];
  return [
    table("Collectors", columns, shown.map((c) => [
      c.name,
      el("span", null, c.kind, c.external && el("span", { class: "tag" }, "external")),
      !c.ran ? badge("unknown", "none yet") : c.success ? badge("ok", "succeeded") : badge("failing", "failed"),
      c.ran && el("span", { class: "number" }, span(c.duration_seconds)),
      c.last_success ? age(seconds(now, c.last_success)) : c.ran && "never",
      c.error ? { error: [c.error, c.note].filter(Boolean).join(" · ") } : c.note,
      el("div", null, strip(c)),
    ])),
    shown.length === 0 && fine.length > 0 && el("h2", null, "Collectors"),
    fold && folding("collectors", `${plural(fine.length, "collector")} succeeded`, folds),
  ];
}

/** A line that stands for what is ok; folds has its key while it is open. */
export function folding(key, text, folds) {
  const open = folds.has(key);
  return el("button", { key: `fold ${key}`, type: "button", class: "fold", "aria-expanded": String(open), "data-row": true, onclick: () => folds.toggle(key) }, icon(open ? "▾" : "▸"), text);
}

/** What the components reported. */
export function components(status, now) {
  const word = (good) => (good == null ? "unknown" : good ? "ok" : "failing");
  const reported = (good) => badge(word(good), word(good));
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

/** Whose health it is. */
export const title = ({ about }) => about.title || about.host || "Vitals";
export const where = ({ about }) => [about.title && about.host, about.namespace, about.configuration].filter(Boolean).join(" · ");

/** The line at the top right. */
export function pulse(status, ageSeconds, doubtful) {
  const evaluated = doubtful ? ["evaluated at ", moment(status.at)] : `evaluated ${age(ageSeconds)}`;
  return [`generation ${status.generation} · `, evaluated, ` · ${plural(status.rules.length, "rule")} in ${span(status.evaluation_seconds)}`];
}
