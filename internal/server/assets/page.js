// The status page: requests the next generation of /api/v1/status, renders it, and
// shows a notice if the data is outdated.
import { update } from "./dom.js";
import * as view from "./view.js";
import { answer } from "./why.js";

const byId = (id) => document.getElementById(id);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// The pauses between two requests, in milliseconds: after a change, and without one.
const gapChanged = 250, gapSame = 1000, requestTimeout = 8000;

let status = null; // the last response
let changedAt = 0; // when its generation arrived, by performance.now()
let answeredAt = performance.now(); // when the last response arrived
let failure = ""; // why the last request failed
let faults = [];
const opened = new Map(); // by key: the open rules, with their explanations
let selected = { state: "" }; // the state of #why=STATE, with its explanation

async function poll() {
  const known = status?.generation;
  try {
    const answer = await fetch(known == null ? "api/v1/status" : `api/v1/status?wait=${known}`, { cache: "no-store", signal: AbortSignal.timeout(requestTimeout) });
    if (!answer.ok) throw new Error(`the server returned ${answer.status}`);
    const next = await answer.json();
    answeredAt = performance.now();
    failure = "";
    if (next.generation !== known || next.started !== status.started) {
      // Both by the server's clock; the header has whole seconds.
      const lag = Date.parse(answer.headers.get("Date")) - Date.parse(next.at);
      changedAt = answeredAt - Math.max(0, lag || 0);
    }
    status = next;
    await loadFaults();
  } catch (err) {
    failure = err.name === "TimeoutError" ? "timeout" : err.message;
  }
  show();
  loadOpened();
  return status?.generation !== known;
}

const sameRule = (a) => (b) => ["file", "group", "state", "name"].every((k) => (a[k] ?? "") === (b[k] ?? ""));
/** The position among the rules of the same name. */
const ordinal = (r) => status.rules.filter(sameRule(r)).indexOf(r);
const key = (r) => JSON.stringify([r.file, r.group, r.state, r.name, ordinal(r)]);

const why = {
  key,
  id: (r) => `why-${status.rules.indexOf(r)}`,
  opened: (k) => opened.get(k),
  toggle(k) {
    if (!opened.delete(k)) opened.set(k, {});
    loadOpened();
    show();
  },
};

/** Reads the state to explain from the address. */
function readAddress() {
  const state = new URLSearchParams(location.hash.slice(1)).get("why") ?? "";
  if (state !== selected.state) selected = { state };
}

/** Requests the explanations of the selected state and the open rules that are of another generation. */
function loadOpened() {
  const stale = (known) => !known.loading && (known.generation !== status?.generation || known.failure);
  if (selected.state && stale(selected)) load(selected, encodeURIComponent(selected.state), (explanation) => ({ explanation }));
  const rules = new Map(status?.rules.map((r) => [key(r), r]));
  for (const [k, known] of opened) {
    if (!rules.has(k)) opened.delete(k);
    else if (stale(known)) loadRule(rules.get(k), known);
  }
}

function loadRule(r, known) {
  const at = ordinal(r);
  return load(known, `${encodeURIComponent(r.state || "ready")}?rule=${encodeURIComponent(r.name)}`,
    ({ rules, collectors }) => ({ rule: rules.filter(sameRule(r))[at], collectors }));
}

/** Requests an explanation, and stores the result of take in known. */
async function load(known, path, take) {
  const generation = status?.generation;
  known.loading = true;
  try {
    const answer = await fetch(`api/v1/explain/${path}`, { cache: "no-store", signal: AbortSignal.timeout(requestTimeout) });
    if (!answer.ok) throw new Error(answer.status === 404 ? await answer.text() : `the server returned ${answer.status}`);
    Object.assign(known, take(await answer.json()), { failure: "" });
  } catch (err) {
    known.failure = err.name === "TimeoutError" ? "timeout" : err.message;
  }
  Object.assign(known, { generation, loading: false });
  show();
}

async function loadFaults() {
  if (!status.demo) return;
  const answer = await fetch("demo/faults", { cache: "no-store", signal: AbortSignal.timeout(requestTimeout) });
  if (answer.ok) faults = await answer.json();
}

async function press(dependency, fault) {
  try {
    const answer = await fetch("demo/faults", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ dependency, fault }), signal: AbortSignal.timeout(requestTimeout),
    });
    if (!answer.ok) throw new Error(`the server returned ${answer.status}`);
    await loadFaults();
  } catch (err) {
    failure = err.message;
  }
  show();
}

/** Why the shown data may be outdated, or "". The text stays the same while that lasts. */
function doubt() {
  const clock = (at) => new Date(Date.now() - (performance.now() - at)).toLocaleTimeString();
  if (failure || performance.now() - answeredAt > requestTimeout + gapSame) {
    return `No contact with Vitals${failure ? ` (${failure})` : ""}.${status ? ` The page shows the status of ${clock(answeredAt)}.` : ""}`;
  }
  if (status && (status.stalled || performance.now() - changedAt > status.max_age_seconds * 1000)) {
    return `The evaluator stalled: the last evaluation was at ${clock(changedAt)}. The page may be out of date.`;
  }
  if (status?.shutting_down) return "Vitals is shutting down.";
  return "";
}

function show() {
  const text = doubt();
  const notice = text || (status ? view.reloadProblem(status) : "");
  if (byId("banner").textContent !== notice) byId("banner").textContent = notice;
  document.body.classList.toggle("stale", text !== "" && !status?.shutting_down);
  if (!status) return;
  const old = (performance.now() - changedAt) / 1000;
  const now = Date.parse(status.at) + old * 1000;
  update(byId("pulse"), view.pulse(status, old));
  update(byId("states"), view.states(status, now, selected, document.body.classList.contains("stale")));
  update(byId("why"), answer(selected, now));
  update(byId("demo"), view.faults(faults, press));
  update(byId("rules"), view.rules(status, now, why));
  update(byId("collectors"), view.collectors(status, now));
  update(byId("components"), view.components(status, now));
  update(byId("config"), view.config(status, now));
  const sentence = view.sentence(status);
  if (byId("announce").textContent !== sentence) byId("announce").textContent = sentence;
  const bad = status.states.filter((s) => s.verdict === "fail").map((s) => `not ${s.name}`);
  document.title = `${text ? "? " : bad.length > 0 ? `✕ ${bad.join(", ")} – ` : "✓ "}Vitals`;
}

async function run() {
  readAddress();
  window.addEventListener("hashchange", () => {
    readAddress();
    loadOpened();
    show();
  });
  setInterval(show, 1000);
  for (;;) {
    const changed = await poll();
    await pause(changed && !failure ? gapChanged : gapSame);
    if (document.hidden) await new Promise((shown) => document.addEventListener("visibilitychange", shown, { once: true }));
  }
}

run();
