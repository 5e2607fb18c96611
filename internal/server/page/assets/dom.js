// Building and updating the page. All text goes through text nodes and attributes
// of a fixed list of names: no text of the server is parsed as HTML.

/** Makes an element. Children are nodes, strings, arrays, or null for nothing. An element with a key stays the same one when its position changes. */
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Makes an element of a drawing. */
export function draw(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value == null) continue;
    if (["onclick", "onsubmit", "key"].includes(name)) node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((c) => c != null && c !== "" && c !== false));
  return node;
}

/** Replaces the children of an element, changing only what differs: focus, selection and scrolling stay. */
export function update(parent, children) {
  const next = children.flat(Infinity).filter((c) => c != null && c !== "" && c !== false).map((c) => (typeof c === "string" ? document.createTextNode(c) : c));
  const keyed = new Map([...parent.childNodes].filter((c) => c.key != null).map((c) => [c.key, c]));
  next.forEach((node, i) => {
    const at = parent.childNodes[i] ?? null;
    const old = node.key == null ? at : keyed.get(node.key);
    if (old?.nodeName === node.nodeName && old.key === node.key) {
      if (old !== at) parent.insertBefore(old, at);
      if (old.nodeType !== Node.TEXT_NODE) morph(old, node);
      else if (old.data !== node.data) old.data = node.data;
    } else if (at && at.key == null && node.key == null) at.replaceWith(node);
    else parent.insertBefore(node, at);
  });
  while (parent.childNodes.length > next.length) parent.lastChild.remove();
}

function morph(old, node) {
  for (const { name } of [...old.attributes]) if (!node.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of node.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  old.onclick = node.onclick;
  old.onsubmit = node.onsubmit;
  update(old, [...node.childNodes]);
}

/** Sets the text of an element if it differs. */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A span of time in seconds, for people: "0.3 s", "90 s", "5 min", "3 h", "2 d". */
export function span(seconds) {
  const s = Math.max(0, seconds);
  if (s < 0.001) return `${Math.round(s * 1e6)}\u00a0µs`;
  if (s < 1) return `${Math.round(s * 1e3)}\u00a0ms`;
  if (s < 10) return `${s.toFixed(1)}\u00a0s`;
  if (s < 120) return `${Math.floor(s)}\u00a0s`;
  if (s < 7200) return `${Math.floor(s / 60)}\u00a0min`;
  if (s < 172800) return `${Math.floor(s / 3600)}\u00a0h`;
  return `${Math.floor(s / 86400)}\u00a0d`;
}

/** How long something lasts by now, in whole seconds at first. */
export function whole(seconds) {
  return seconds < 120 ? `${Math.floor(Math.max(0, seconds))}\u00a0s` : span(seconds);
}

/** An age, in whole seconds at first. */
export function age(seconds) {
  return seconds < 1 ? "just now" : `${whole(seconds)} ago`;
}

/** A time: the time of day, with the date unless it is today. */
export function moment(iso) {
  const at = new Date(iso);
  const today = at.toDateString() === new Date().toDateString();
  const text = today ? at.toLocaleTimeString() : at.toLocaleString();
  return el("time", { datetime: iso, title: iso }, text);
}
