// The status page: asks for the next generation of /api/v1/status, shows it, and
// says so when what it shows is no longer the truth.
import { update } from "./dom.js";
import * as view from "./view.js";
import { answer } from "./why.js";

const byId = (id) => document.getElementById(id);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Between two requests: a long poll may follow at once, a server without it is asked every second.
const gapChanged = 250, gapSame = 1000, requestTimeout = 8000;

let status = null; // the last one that came
let changedAt = 0; // when its generation came, by performance.now()
let answeredAt = performance.now(); // when the server last answered
let failure = ""; // why the last request failed
let faults = [];
const opened = new Map(); // by key: the rules that were opened, and what is known of each
let asked = { state: "" }; // the state of #why=STATE, and what is known of it

async function poll() {
  const known = status?.generation;
  try {
    const answer = await fetch(known == null ? "api/v1/status" : `api/v1/status?wait=${known}`, { cache: "no-store", signal: AbortSignal.timeout(requestTimeout) });
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const next = await answer.json();
    answeredAt = performance.now();
    failure = "";
    if (next.generation !== known || next.started !== status.started) {
      // Both by the server's clock; the header has whole seconds.
      const lag = Date.parse(answer.headers.get("Date")) - Date.parse(next.at);
      changedAt = answeredAt - Math.max(0, lag || 0);
    }
    status = next;
    await askFaults();
  } catch (err) {
    failure = err.name === "TimeoutError" ? "it does not answer" : err.message;
  }
  show();
  askOpened();
  return status?.generation !== known;
}

const sameRule = (a) => (b) => ["file", "group", "state", "name"].every((k) => (a[k] ?? "") === (b[k] ?? ""));
/** Which one it is of those that are called the same. */
const ordinal = (r) => status.rules.filter(sameRule(r)).indexOf(r);
const key = (r) => JSON.stringify([r.file, r.group, r.state, r.name, ordinal(r)]);

const why = {
  key,
  id: (r) => `why-${status.rules.indexOf(r)}`,
  opened: (k) => opened.get(k),
  toggle(k) {
    if (!opened.delete(k)) opened.set(k, {});
    askOpened();
    show();
  },
};

/** Takes the state to explain from the address, which people may send each other. */
function readAddress() {
  const state = new URLSearchParams(location.hash.slice(1)).get("why") ?? "";
  if (state !== asked.state) asked = { state };
}

/** Asks why for the state and every rule that is open and of which another generation is known. */
function askOpened() {
  const stale = (known) => !known.asking && (known.generation !== status?.generation || known.failure);
  if (asked.state && stale(asked)) ask(asked, encodeURIComponent(asked.state), (explanation) => ({ explanation }));
  const rules = new Map(status?.rules.map((r) => [key(r), r]));
  for (const [k, known] of opened) {
    if (!rules.has(k)) opened.delete(k);
    else if (stale(known)) askWhy(rules.get(k), known);
  }
}

function askWhy(r, known) {
  const at = ordinal(r);
  return ask(known, `${encodeURIComponent(r.state || "ready")}?rule=${encodeURIComponent(r.name)}`,
    ({ rules, collectors }) => ({ rule: rules.filter(sameRule(r))[at], collectors }));
}

/** Asks for an explanation, and lets known have what take makes of it. */
async function ask(known, path, take) {
  const generation = status?.generation;
  known.asking = true;
  try {
    const answer = await fetch(`api/v1/explain/${path}`, { cache: "no-store", signal: AbortSignal.timeout(requestTimeout) });
    if (!answer.ok) throw new Error(answer.status === 404 ? await answer.text() : `the server answered ${answer.status}`);
    Object.assign(known, take(await answer.json()), { failure: "" });
  } catch (err) {
    known.failure = err.name === "TimeoutError" ? "no answer" : err.message;
  }
  Object.assign(known, { generation, asking: false });
  show();
}

async function askFaults() {
  if (!status.demo) return;
  const answer = await fetch("demo/faults", { cache: "no-store", signal: AbortSignal.timeout(requestTimeout) });
  if (answer.ok) faults = await answer.json();
}

async function press(dependency, fault) {
  try {
    const answer = await fetch("demo/faults", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ dependency, fault }), signal: AbortSignal.timeout(requestTimeout),
    });
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    await askFaults();
  } catch (err) {
    failure = err.message;
  }
  show();
}

/** Why what is shown may not be the truth, or "". The text stays the same while that lasts. */
function doubt() {
  const clock = (at) => new Date(Date.now() - (performance.now() - at)).toLocaleTimeString();
  if (failure || performance.now() - answeredAt > requestTimeout + gapSame) {
    return `No contact with Vitals${failure ? ` (${failure})` : ""}.${status ? ` What you see is from ${clock(answeredAt)}.` : ""}`;
  }
  if (status && (status.stalled || performance.now() - changedAt > status.max_age_seconds * 1000)) {
    return `The evaluator stalled: nothing was evaluated since ${clock(changedAt)}. What you see may be out of date.`;
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
  update(byId("states"), view.states(status, now, asked, document.body.classList.contains("stale")));
  update(byId("why"), answer(asked, now));
  update(byId("demo"), view.faults(faults, press));
  update(byId("rules"), view.rules(status, now, why));
  update(byId("collectors"), view.collectors(status, now));
  update(byId("components"), view.components(status, now));
  update(byId("config"), view.config(status, now));
  const said = view.sentence(status);
  if (byId("announce").textContent !== said) byId("announce").textContent = said;
  const bad = status.states.filter((s) => s.verdict === "fail").map((s) => `not ${s.name}`);
  document.title = `${text ? "? " : bad.length > 0 ? `✕ ${bad.join(", ")} – ` : "✓ "}Vitals`;
}

async function run() {
  readAddress();
  window.addEventListener("hashchange", () => {
    readAddress();
    askOpened();
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
