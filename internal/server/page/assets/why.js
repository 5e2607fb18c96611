// Renders the explanation of a state, /#why=STATE, from /api/v1/explain/STATE.
import { link } from "./address.js";
import { el, whole } from "./dom.js";
import { origins, tree } from "./explain.js";
import { lasting } from "./overrides.js";
import { badge, runbook } from "./view.js";

const seconds = (now, iso) => (now - Date.parse(iso)) / 1000;
const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

/** Why a state has its verdict; nothing if no state is selected. maintenance has the controls of its maintenance. */
export function answer({ state, failure, explanation: x }, now, maintenance) {
  if (!state) return [];
  const closed = el("a", { class: "link", href: link({ why: "" }), "aria-label": "Close the explanation" }, "close");
  if (failure || !x) {
    return [el("div", { class: "head" }, el("h2", null, `Why ${state}?`), " ", closed), el("p", { class: failure ? "wrong" : "soft" }, failure || "loading…")];
  }
  const named = new Set(), names = new Set(x.rules.map((r) => r.name));
  const rules = x.rules.map((r) => rule(r, names.has(r.cause), { now, named }));
  const waits = x.rules.length === 0;
  return [
    el("div", { class: "head" }, el("h2", null, `Why is ${x.state} ${x.status}?`), el("span", { class: "soft" }, `· ${decided(x)}`), " ", closed),
    el("div", { class: "card because" },
      waits && el("p", null, sentence(x)),
      rules.length > 0 && el("ul", { class: "rules" }, rules),
      x.left_out > 0 && el("p", { class: "soft" }, `and ${plural(x.left_out, "more rule")}`),
      origins(x.collectors.filter((c) => named.has(c.name) || (waits && !c.ran)), now),
      maintenance),
  ];
}

/** How many rules decide. */
function decided(x) {
  if (x.verdict === "pass" && x.rule_count === 0) return "it has no rules";
  if (x.verdict === "pass") return x.rule_count === 1 ? "its only rule does not make it fail" : `none of its ${x.rule_count} rules makes it fail`;
  if (x.deciding === 0) return x.reason ?? "";
  return [x.reason, `decided by ${x.deciding} of ${plural(x.rule_count, "rule")}`].filter(Boolean).join(", ");
}

/** The sentence of a state without a deciding rule. */
function sentence(x) {
  if (x.verdict !== "fail") return x.rule_count > 0 ? "All is ok." : "No rule makes it fail.";
  return x.reason ? `No rule decides: ${x.reason}.` : "No rule decides.";
}

/** A rule; a consequence of another rule has no tree. */
function rule(r, follows, { now, named }) {
  const why = r.status === "unknown" ? r.reason : r.summary;
  const tags = [r.cause && `because of ${r.cause}`, r.severity === "warning" && "warning only", r.silence ? "silenced" : r.observe && "observed only"].filter(Boolean);
  return el("li", { class: "rule" },
    el("div", { class: "rule-head" },
      badge(r.status === "failing" && !r.decides ? "warn" : r.status, r.status),
      el("h3", null, r.name), why && el("span", null, why), tags.map((t) => el("span", { class: "tag" }, t)), runbook(r),
      r.since && el("span", { class: "since" }, `for ${whole(seconds(now, r.since))}`)),
    r.description && r.status !== "ok" && el("p", { class: "soft" }, r.description),
    r.note && el("p", { class: "soft" }, r.note),
    r.silence && el("p", { class: "soft" }, "Silenced ", lasting(r.silence)),
    !follows && el("div", { class: "explained" }, tree(r, { now, named, whole: false })));
}
