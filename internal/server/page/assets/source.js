// Follows /api/v1/status: requests the next generation, of which the server sends only what
// changed, and keeps when contact was lost.
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// The pauses between two requests, in milliseconds: after a change, and without one.
const gapChanged = 250, gapSame = 1000, requestTimeout = 8000;

export const source = {
  status: null, // the last response, with all rules and collectors
  changedAt: 0, // when its generation arrived, by performance.now()
  answeredAt: performance.now(), // when the last response arrived
  failure: "", // why the last request failed
};

/** Requests a path of the server. */
export async function request(path, options) {
  const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(requestTimeout), ...options });
  const missing = answer.status === 404;
  if (!answer.ok) throw Object.assign(new Error(missing || options?.method ? await answer.text() : `the server returned ${answer.status}`), { missing, status: answer.status });
  return answer;
}

/** The text of an error of request. */
export const reasonOf = (err) => (err.name === "TimeoutError" ? "timeout" : err.message);

/** Puts the changed rules and collectors among those of the status before. */
function merge(old, next) {
  for (const list of ["rules", "collectors"]) {
    const all = next.complete ? [] : old[list].slice();
    next[`${list}_at`].forEach((at, i) => { all[at] = next[list][i]; });
    next[list] = all;
  }
  if (next.complete) number(next);
  else next.rules_at.forEach((at) => Object.assign(next.rules[at], { at, number: old.rules[at].number, key: old.rules[at].key }));
  next.silenced = next.rules.filter((r) => r.silence);
  next.restless = next.rules.filter((r) => r.status !== "ok" || r.decides || r.warns);
  return next;
}

/** Gives each rule its position, its number among those of its name in the history, and a key: rules may share a name. */
function number(status) {
  const seen = new Map();
  const count = (of) => {
    const n = seen.get(of) ?? 0;
    seen.set(of, n + 1);
    return n;
  };
  status.rules.forEach((r, at) => {
    const base = JSON.stringify([r.group, r.state, r.name]), file = `${r.file} ${base}`;
    Object.assign(r, { at, number: count(base), key: `${file} ${count(file)}` });
  });
}

async function poll() {
  const { status } = source, known = status?.generation;
  try {
    const answer = await request(`api/v1/status?changes=${encodeURIComponent(status?.started ?? "")}${status ? `&wait=${known}` : ""}`);
    const next = merge(status, await answer.json());
    source.answeredAt = performance.now();
    source.failure = "";
    if (next.generation !== known || next.started !== status.started) {
      // Both by the server's clock; the header has whole seconds.
      const lag = Date.parse(answer.headers.get("Date")) - Date.parse(next.at);
      source.changedAt = source.answeredAt - Math.max(0, lag || 0);
    }
    source.status = next;
  } catch (err) {
    source.failure = reasonOf(err);
  }
  return source.status?.generation !== known;
}

/** Polls while the page is visible. arrived is called after each response, and show each second as well. */
export async function follow(arrived, show) {
  let shown = 0;
  const draw = () => {
    shown = performance.now();
    show();
  };
  setInterval(() => performance.now() - shown > 900 && draw(), 1000);
  for (;;) {
    const changed = await poll();
    arrived();
    draw();
    await pause(changed && !source.failure ? gapChanged : gapSame);
    if (document.hidden) await new Promise((visible) => document.addEventListener("visibilitychange", visible, { once: true }));
  }
}

const lost = () => source.failure !== "" || performance.now() - source.answeredAt > requestTimeout + gapSame;

/** Why the shown data is outdated, or "". The text stays the same while that lasts. */
export function doubt() {
  const { status, failure, answeredAt, changedAt } = source;
  const clock = (at) => new Date(Date.now() - (performance.now() - at)).toLocaleTimeString();
  if (lost()) {
    return `No contact with Vitals${failure ? ` (${failure})` : ""}.${status ? ` The page shows the status of ${clock(answeredAt)}.` : ""}`;
  }
  if (status && (status.stalled || performance.now() - changedAt > status.max_age_seconds * 1000)) {
    return `The evaluator stalled: the last evaluation was at ${clock(changedAt)}. The page may be out of date.`;
  }
  return "";
}

/** The age of the status in seconds. Without contact it stands still: whether something lasts is not known then. */
export const ageOfStatus = () => ((lost() ? source.answeredAt : performance.now()) - source.changedAt) / 1000;

/** Shows the worst verdict in the window's title and icon. */
export function mark(text, name) {
  const { status } = source;
  const bad = status.states.filter((s) => s.verdict === "fail").map((s) => `${s.name} ${s.status}`);
  document.title = `${text ? "? " : bad.length > 0 ? `✕ ${bad.join(", ")} – ` : "✓ "}${name}`;
  const worst = text ? "unknown" : ["fail", "warn"].find((v) => status.states.some((s) => s.verdict === v)) ?? "pass";
  const icon = document.querySelector("link[rel=icon]"), href = `assets/icon-${worst}.svg`;
  if (icon.getAttribute("href") !== href) icon.setAttribute("href", href);
}
