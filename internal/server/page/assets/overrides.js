// Silences and maintenance: what lasts, and the controls to begin and to end it. The server
// has in `overrides` whether this client may use them: "allowed", "token" or "denied".
import { el, moment } from "./dom.js";
import { reasonOf, request } from "./source.js";

const times = { "30m": "30 min", "1h": "1 h", "2h": "2 h", "8h": "8 h", "1d": "1 d", "7d": "7 d" };
const maxReason = 200; // that of the server, in bytes
const shownFor = 10_000; // an outcome, in milliseconds

let token = ""; // the one that was accepted last; it is kept for this visit only
const outcomes = new Map(); // by path: what became of the last request

/** Until when an override lasts, who began it and why. */
export const lasting = (o) => [o.until ? ["until ", moment(o.until)] : "until it is switched off", o.by && ` by ${o.by}`, o.reason && `: ${o.reason}`];

/** The controls of a rule that a state obeys. */
export function ofRule(status, r, show) {
  if (!r.state || (r.observe && !r.silence)) return null;
  return controls(status, r.silence, {
    path: `api/v1/silences/${encodeURIComponent(r.name)}`, state: r.state, ends: r.silence?.state,
    begin: "Silence", end: "End the silence", of: r.name, chosen: "2h",
  }, show);
}

/** The controls of a state. Of alive and started there is no maintenance: their probes restart the container. */
export function ofState(status, name, show) {
  const s = status.states.find((one) => one.name === name);
  if (!s || s.name === "alive" || s.name === "started") return null;
  return controls(status, s.maintenance, {
    path: `api/v1/maintenance/${encodeURIComponent(name)}`,
    begin: "Begin maintenance", end: "End the maintenance", of: name, chosen: "", open: true,
  }, show);
}

const field = (text, kind, input) => el("label", { key: text, class: kind }, text, input);

function controls(status, begun, what, show) {
  if (status.overrides === "denied") return null;
  const { text, wrong, at } = outcomes.get(what.path) ?? {};
  const choices = Object.entries(what.open ? { "": "until it is switched off", ...times } : times);
  return el("form", { key: what.path, class: "operate", "aria-label": `${begun ? what.end : what.begin}: ${what.of}`, onsubmit: (event) => { event.preventDefault(); send(event.target, begun, what, show); } },
    el("span", { class: "fields" },
      !begun && field("for", null, el("select", { name: "for" }, choices.map(([value, words]) => el("option", { value, selected: value === what.chosen }, words)))),
      !begun && field("reason", "wide", el("input", { name: "reason", autocomplete: "off", maxlength: maxReason })),
      status.overrides === "token" && !token && field("operator token", null, el("input", { name: "token", type: "password", autocomplete: "off", required: true }))),
    el("button", { type: "submit" }, begun ? what.end : what.begin, el("span", { class: "unseen" }, ` ${what.of}`)),
    el("p", { role: "status", class: wrong ? "wrong" : "soft" }, (wrong || performance.now() - at < shownFor) && text));
}

/** Begins or ends what the form is about. The status that follows shows it. */
async function send(form, begun, what, show) {
  const given = Object.fromEntries(new FormData(form)), used = token || (given.token ?? "");
  const headers = { "Content-Type": "application/json", ...(used && { Authorization: `Bearer ${used}` }) };
  const path = begun && what.ends ? `${what.path}?state=${encodeURIComponent(what.ends)}` : what.path;
  const body = begun ? undefined : JSON.stringify({ for: given.for || undefined, state: what.state, reason: given.reason });
  try {
    const answer = await request(path, { method: begun ? "DELETE" : "PUT", headers, body });
    token = used;
    const { warning } = answer.status === 204 ? {} : await answer.json();
    outcomes.set(what.path, { text: `${begun ? "It has ended." : "It has begun."}${warning ? ` Warning: ${warning}.` : ""}`, at: performance.now() });
  } catch (err) {
    if (err.status === 401) token = "";
    outcomes.set(what.path, { text: err.status === 401 ? "The server does not accept this token." : reasonOf(err), wrong: true });
  }
  show();
}
