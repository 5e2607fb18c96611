// The status page: renders the status, and what the address chooses, when either changes
// and each second.
import { choose, chosen, filter } from "./address.js";
import { update, write } from "./dom.js";
import * as past from "./history.js";
import * as overrides from "./overrides.js";
import { rules } from "./rules.js";
import { ageOfStatus, doubt, follow, mark, reasonOf, request, source } from "./source.js";
import * as view from "./view.js";
import { answer } from "./why.js";

const byId = (id) => document.getElementById(id);

let faults = [], refused = "";
let selected = { state: "" }; // the state of #why=STATE, with its explanation
const opened = new Map(); // by key: the open rules, with their explanations
const folds = Object.assign(new Set(), { toggle(key) { if (!this.delete(key)) this.add(key); show(); } });

function toggle(key) {
  if (!opened.delete(key)) opened.set(key, {});
  loadOpened();
  show();
}

/** Reads what the address chooses. */
function readAddress() {
  const { why: state, q } = chosen();
  if (state !== selected.state) selected = { state };
  if (byId("filter").value.trim() !== q) byId("filter").value = q;
}

const configuration = () => `${source.status?.started} ${source.status?.reload.at}`;

/** Requests the explanations of the selected state and the open rules that are of another generation. */
function loadOpened() {
  const { status } = source;
  if (!status) return;
  // What does not exist in this configuration is not requested again.
  const stale = (known) => !known.loading && known.missing !== configuration() && (known.generation !== status.generation || known.failure);
  if (selected.state && stale(selected)) load(selected, encodeURIComponent(selected.state), (explanation) => ({ explanation }));
  for (const [key, known] of opened) {
    const r = status.rules.find((one) => one.key === key);
    if (!r) opened.delete(key);
    else if (stale(known)) loadRule(r, known);
  }
}

const sameRule = (a) => (b) => ["file", "group", "state", "name"].every((k) => (a[k] ?? "") === (b[k] ?? ""));

/** The position among the rules of the same name. */
const ordinal = (r) => source.status.rules.filter(sameRule(r)).indexOf(r);

function loadRule(r, known) {
  const at = ordinal(r);
  return load(known, `${encodeURIComponent(r.state || "ready")}?rule=${encodeURIComponent(r.name)}`,
    ({ rules: all, collectors }) => ({ rule: all.filter(sameRule(r))[at], collectors }));
}

/** Requests an explanation, and stores the result of take in known. */
async function load(known, path, take) {
  const { generation } = source.status, from = configuration();
  Object.assign(known, { loading: true, missing: null });
  try {
    Object.assign(known, take(await (await request(`api/v1/explain/${path}`)).json()), { failure: "" });
  } catch (err) {
    Object.assign(known, { failure: reasonOf(err), missing: err.missing ? from : null });
  }
  Object.assign(known, { generation, loading: false });
  show();
}

async function loadFaults() {
  if (!source.status?.demo || source.failure) return;
  try {
    faults = await (await request("demo/faults")).json();
    refused = "";
  } catch (err) {
    refused = reasonOf(err);
  }
  show();
}

async function press(dependency, fault) {
  try {
    await request("demo/faults", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ dependency, fault }) });
    await loadFaults();
  } catch (err) {
    refused = reasonOf(err);
  }
  show();
}

function show() {
  const { status } = source, text = doubt();
  const stopping = status?.shutting_down && "Vitals is shutting down.";
  write(byId("banner"), text || stopping || (status && view.reloadProblem(status)) || refused || "");
  document.body.classList.toggle("stale", text !== "");
  if (!status) return;
  const old = ageOfStatus(), now = Date.parse(status.at) + old * 1000;
  const query = chosen().q, how = { matches: filter(query), query, filtered: query !== "", folds };
  write(byId("title"), view.title(status));
  write(byId("where"), view.where(status));
  update(byId("pulse"), view.pulse(status, old, text !== ""));
  update(byId("states"), view.states(status, now, { selected, doubtful: text !== "", strip: (s) => past.strip("state", s) }));
  update(byId("why"), answer(selected, now, overrides.ofState(status, selected.state, show)));
  update(byId("demo"), view.faults(faults, press));
  update(byId("history"), past.render(now, show));
  update(byId("rules"), rules(status, now, { ...how, opened: (key) => opened.get(key), toggle, silence: (r) => overrides.ofRule(status, r, show), strip: (r) => [past.strip("rule", r, r.number), past.curve("rule", r, r.number)] }));
  update(byId("collectors"), view.collectors(status, now, { ...how, strip: (c) => [past.strip("collector", c), past.curve("collector", c)] }));
  update(byId("components"), view.components(status, now));
  update(byId("config"), view.config(status, now));
  announce(status, text !== "");
  mark(text, view.title(status));
}

const announced = new Map(); // by state: the last verdict, or "" while it is in doubt

/** Announces to screen readers the states whose verdict changed. Doubt is announced by the banner. */
function announce(status, doubtful) {
  const changed = status.states.filter((s) => {
    const verdict = doubtful ? "" : s.verdict, before = announced.get(s.name) ?? verdict;
    announced.set(s.name, verdict);
    return verdict !== before;
  });
  if (doubtful) write(byId("announce"), "");
  else if (changed.length > 0) write(byId("announce"), changed.map((s) => `${view.sentence(status, s).replace(/\.$/, "")}.`).join(" "));
}

/** Moves the focus by rows: step is 1 or -1. */
function move(step) {
  const rows = [...document.querySelectorAll("[data-row]")], at = rows.indexOf(document.activeElement);
  const first = rows.findIndex((row) => byId("filter").compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING);
  rows[at < 0 ? first : at + step]?.focus();
}

/** Closes what is open. */
function closeAll() {
  opened.clear();
  choose({ why: "", event: "" });
}

function key(event) {
  const inFilter = event.target === byId("filter");
  if (event.ctrlKey || event.altKey || event.metaKey || (!inFilter && event.target.matches("input, select"))) return;
  if (event.key === "/" && !inFilter) byId("filter").focus();
  else if (event.key === "Escape" && inFilter) choose({ q: "" });
  else if (event.key === "Escape") closeAll();
  else if (event.key === "ArrowDown" && (inFilter || document.activeElement.hasAttribute("data-row"))) move(1);
  else if (event.key === "ArrowUp" && document.activeElement.hasAttribute("data-row")) move(-1);
  else return;
  event.preventDefault();
}

function arrived() {
  loadOpened();
  loadFaults();
  past.load(show);
}

readAddress();
window.addEventListener("hashchange", () => {
  readAddress();
  arrived();
  show();
});
document.addEventListener("keydown", key);
document.addEventListener("visibilitychange", () => past.load(show));
byId("filter").addEventListener("input", () => choose({ q: byId("filter").value.trim() }));
follow(arrived, show);
