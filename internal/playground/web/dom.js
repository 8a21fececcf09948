// Building elements. Text always becomes a text node: nothing here parses HTML.

// h makes an element. Properties starting with "on" are listeners, "data" is a dataset, others are set as properties
// when the element has them, else as attributes. Children may be nodes, texts, lists of them, or nothing.
export function h(tag, props, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key === "class") e.className = value;
    else if (key === "data") Object.assign(e.dataset, value);
    else if (key === "style") Object.assign(e.style, value);
    else if (key in e && !key.startsWith("aria") && key !== "role" && key !== "list" && key !== "for") e[key] = value;
    else e.setAttribute(key === "htmlFor" ? "for" : key, value === true ? "" : value);
  }
  append(e, children);
  return e;
}

export function append(e, children) {
  for (const c of [children].flat(Infinity)) {
    if (c === undefined || c === null || c === false || c === "") continue;
    e.append(c);
  }
  return e;
}

export function fill(e, ...children) {
  e.replaceChildren();
  return append(e, children);
}

export const $ = (id) => document.getElementById(id);

const shades = ["#5865f2", "#3ba55d", "#c27c0e", "#d6336c", "#1f8b9c", "#9b59b6", "#cf5c36"];

// avatar is a disc with somebody's initial, in a colour of their own.
export function avatar(user, small) {
  const name = user?.name || "?";
  let n = 0;
  for (const c of name) n = (n * 31 + c.codePointAt(0)) >>> 0;
  return h("span", {
    class: "avatar" + (small ? " small" : "") + (user?.bot ? " bot" : ""), "aria-hidden": "true",
    style: user?.bot ? {} : { background: shades[n % shades.length] },
  }, user?.bot ? "P" : [...name][0].toUpperCase());
}

export function toast(text) {
  const t = h("div", { class: "toast" }, text);
  $("toasts").append(t);
  setTimeout(() => t.remove(), 6000);
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

// took is a duration in milliseconds as people read it.
export function took(ms) {
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
}

export const clock = (t) => new Date(t).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

export function when(t) {
  const d = new Date(t), today = new Date();
  return d.toDateString() === today.toDateString() ? `Today at ${clock(d)}` : `${d.toLocaleDateString()} ${clock(d)}`;
}
