// What the reader chose, in the part of the address behind "#", so that it can be sent to
// others: why=STATE, q=FILTER, history=24h, event=ID.
const names = ["why", "q", "history", "event"];

/** What the address chooses; absent parts are "". */
export function chosen() {
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(names.map((name) => [name, given.get(name) ?? ""]));
}

/** The address of the current choice with changes. */
export function link(changes) {
  const all = Object.entries({ ...chosen(), ...changes }).filter(([, value]) => value !== "");
  return `#${new URLSearchParams(all).toString().replaceAll("%3A", ":")}`;
}

/** Changes the choice without an entry in the browser's history. */
export function choose(changes) {
  history.replaceState(null, "", link(changes));
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Parses a filter: words, and NAME:VALUE. Returns a function that reports whether a rule or collector matches. */
export function filter(text) {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean).map((term) => {
    const [, name, value] = term.match(/^([a-z_][a-z0-9_]*):(.*)$/) ?? [];
    if (name == null) return (x) => words(x).includes(term);
    if (["state", "status", "group", "kind", "severity"].includes(name)) return (x) => (x[name] ?? "").toLowerCase().startsWith(value);
    return (x) => [x.labels, ...(x.alerts ?? []).map((a) => a.labels)].some((labels) => (labels?.[name] ?? "").toLowerCase().includes(value));
  });
  return (x) => terms.every((matches) => matches(x));
}

const words = (x) => `${x.name} ${x.group ?? ""} ${x.kind ?? ""} ${x.expr ?? ""} ${x.summary ?? ""} ${x.description ?? ""} ${x.reason ?? ""} ${x.error ?? ""} ${x.silence ? "silenced" : ""}`.toLowerCase();
