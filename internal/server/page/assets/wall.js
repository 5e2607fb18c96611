// The page for a wall: the states as large as the screen, and the time of the last evaluation.
import { el, moment, update, whole, write } from "./dom.js";
import { ageOfStatus, doubt, follow, mark, source } from "./source.js";
import * as view from "./view.js";

const byId = (id) => document.getElementById(id);

function tile(status, s, now, doubtful) {
  const from = view.since(s), reason = view.why(status, s);
  return el("article", { key: s.name, class: `tile ${doubtful ? "unknown" : s.verdict}`, "aria-label": view.sentence(status, s, doubtful) },
    el("h2", null, s.name),
    el("p", { class: "answer" }, view.icon(doubtful ? "?" : view.icons[s.status]), doubtful ? `was ${s.status}` : s.status),
    reason && el("p", { class: "why" }, reason),
    !doubtful && view.soon(status, s, now).map((line) => el("p", { class: "soon" }, line)),
    view.silenced(status, s),
    from && el("p", { class: "since" }, "since ", moment(from), !doubtful && `, for ${whole(view.seconds(now, from))}`));
}

function show() {
  const { status } = source, text = doubt();
  write(byId("banner"), text || (status?.shutting_down ? "Vitals is shutting down." : status ? view.reloadProblem(status) : ""));
  document.body.classList.toggle("stale", text !== "");
  if (!status) return;
  const now = Date.parse(status.at) + ageOfStatus() * 1000;
  write(byId("title"), view.title(status));
  write(byId("where"), view.where(status));
  write(byId("clock"), `last evaluation ${new Date(status.at).toLocaleTimeString()}`);
  update(byId("tiles"), status.states.map((s) => tile(status, s, now, text !== "")));
  mark(text, view.title(status));
}

follow(() => {}, show);
