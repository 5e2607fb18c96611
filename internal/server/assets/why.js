// The answer to "why?" about a state: what /#why=STATE shows in one screen, from
// /api/v1/explain/STATE.
import { el, whole } from "./dom.js";
import { origins, tree } from "./explain.js";
import { badge } from "./view.js";

const words = { pass: "", warn: "", fail: "not " };
const seconds = (now, iso) => (now - Date.parse(iso)) / 1000;
const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

/** Why a state has its verdict, of what was asked and came; nothing without a question. */
export function answer({ state, failure, explanation: x }, now) {
  if (!state) return [];
  const closed = el("a", { class: "ask", href: "#", "aria-label": "Close the explanation" }, "close");
  if (failure || !x) {
    return [el("h2", null, `Why ${state}?`, " ", closed), el("p", { class: failure ? "wrong" : "soft" }, failure || "asking…")];
  }
  const named = new Set(), names = new Set(x.rules.map((r) => r.name));
  const rules = x.rules.map((r) => rule(r, names.has(r.cause), { now, named }));
  const waits = x.rules.length === 0;
  return [
    el("h2", null, `Why ${words[x.verdict]}${x.state}?`, el("span", { class: "soft" }, ` · ${decided(x)}`), " ", closed),
    el("div", { class: "card because" },
      waits && el("p", null, sentence(x)),
      rules.length > 0 && el("ul", { class: "rules" }, rules),
      x.left_out > 0 && el("p", { class: "soft" }, `and ${plural(x.left_out, "more rule")}`),
      origins(x.collectors.filter((c) => named.has(c.name) || (waits && !c.ran)), now)),
  ];
}

/** How many rules decide. */
function decided(x) {
  if (x.verdict === "pass" && x.rule_count === 0) return "it has no rules";
  if (x.verdict === "pass") return x.rule_count === 1 ? "its only rule does not fail it" : `none of its ${x.rule_count} rules fails it`;
  if (x.deciding === 0) return x.reason ?? "";
  const of = `${x.deciding} of ${plural(x.rule_count, "rule")}`;
  return [x.reason, x.verdict === "fail" ? `decided by ${of}` : `${of} ${x.deciding === 1 ? "warns" : "warn"}`].filter(Boolean).join(", ");
}

/** What there is to say without a rule. */
function sentence(x) {
  if (x.verdict !== "fail") return x.rule_count > 0 ? "All is ok." : "Nothing fails it.";
  return x.reason ? `No rule decides: ${x.reason}.` : "No rule decides.";
}

/** A rule; what only follows from another one has no tree. */
function rule(r, follows, { now, named }) {
  const why = r.status === "unknown" ? r.reason : r.summary;
  const tags = [r.cause && `because of ${r.cause}`, r.severity === "warning" && "warning only", r.observe && "observed only"].filter(Boolean);
  return el("li", { class: "rule" },
    el("div", { class: "rule-head" },
      badge(r.status === "failing" && !r.decides ? "warn" : r.status, r.status),
      el("h3", null, r.name), why && el("span", null, why), tags.map((t) => el("span", { class: "tag" }, t)),
      r.since && el("span", { class: "since" }, `for ${whole(seconds(now, r.since))}`)),
    r.note && el("p", { class: "soft" }, r.note),
    !follows && el("div", { class: "explained" }, tree(r, { now, named, whole: false })));
}
