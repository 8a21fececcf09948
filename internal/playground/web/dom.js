// Building elements. Text always becomes a text node: nothing here parses HTML.

import { icon } from "./icons.js";

// h makes an element. Properties starting with "on" are listeners, "data" is a dataset, others are set as properties
// when the element has them, else as attributes. Children may be nodes, texts, lists of them, or nothing.
export function h(tag, props, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key === "class") e.className = value;
    else if (key === "data") Object.assign(e.dataset, value);
    else if (key === "style") styled(e, value);
    else if (key in e && !key.startsWith("aria") && key !== "role" && key !== "list" && key !== "for") e[key] = value;
    else e.setAttribute(key === "htmlFor" ? "for" : key, value === true ? "" : value);
  }
  append(e, children);
  return e;
}

// styled sets styles one by one, which a page's policy against inline styles allows.
function styled(e, style) {
  for (const [name, value] of Object.entries(style)) {
    if (name.startsWith("--")) e.style.setProperty(name, value);
    else e.style[name] = value;
  }
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

// White stands on each of these with 4.5:1 at least.
const shades = ["#5560e6", "#23773f", "#9a5d00", "#c2255c", "#15707e", "#8a4bb0", "#b3451f"];

// avatar is a disc with somebody's initial, in a colour of their own.
export function avatar(user, size) {
  const name = user?.name || "?";
  let n = 0;
  for (const c of name) n = (n * 31 + c.codePointAt(0)) >>> 0;
  return h("span", {
    class: "avatar" + (size === true ? " small" : size ? ` ${size}` : "") + (user?.bot ? " bot" : ""), "aria-hidden": "true",
    style: user?.bot ? {} : { background: shades[n % shades.length] },
  }, [...name][0].toUpperCase());
}

// inRoleColor gives a name its role's colour, moved so far towards black or white that it can be read in both themes.
export function inRoleColor(color) {
  if (!/^#[0-9a-f]{6}$/i.test(color || "")) return {};
  return { "--role-dark": toward(color, 255, 0.4), "--role-light": toward(color, 0, 0.17) };
}

// toward mixes a colour with black or white until its luminance is at least (or at most) a limit.
function toward(color, end, limit) {
  const rgb = [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
  for (let part = 0; part <= 1; part += 0.05) {
    const mixed = rgb.map((c) => Math.round(c + (end - c) * part));
    const y = luminance(mixed);
    if (end ? y >= limit : y <= limit) return `rgb(${mixed.join(" ")})`;
  }
  return end ? "#fff" : "#000";
}

function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// toast tells of a refusal: the text, and under it what exactly was wrong. It stays long enough to be read.
export function toast(text, more = []) {
  const close = () => t.remove();
  const t = h("div", { class: "toast" },
    h("p", null, text, more.map((line) => h("span", { class: "more" }, line))),
    h("button", { type: "button", class: "close", "aria-label": "Close this notice", onclick: close }, icon("close", true)));
  const box = $("toasts");
  // Above an open dialog, which is otherwise on top of everything.
  const dialog = [...document.querySelectorAll("dialog[open]")].pop();
  (dialog || document.body).append(box);
  box.append(t);
  while (box.children.length > 4) box.firstChild.remove();
  setTimeout(close, 8000 + 40 * text.length);
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
