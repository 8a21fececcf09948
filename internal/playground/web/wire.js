// What passed between the bot and Discord: requests with their answers, and the gateway connection.

import { h, fill, append, took } from "./dom.js";
import { state, on } from "./store.js";
import { pretty } from "./json.js";

const kept = 200;

const exact = (t) => new Date(t).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hourCycle: "h23" });

const statusMood = (l) => (l.status >= 200 && l.status < 300 ? "good" : l.status === 429 || l.status === 0 || !l.status ? "mild" : "bad");

// short leaves out of a path what is the same everywhere.
function short(l) {
  return l.path.replace(/\?.*$/, "").replace(/^\/channels\/\d+\//, "").replace(/(interaction-token-)?\d{12,}/g, (id) => "…" + id.slice(-4)) || "/";
}

// bodies are what a line holds inside.
function bodies(l) {
  return [
    h("p", { class: "notice" }, `${l.method} ${l.path}`),
    l.violation ? h("p", { class: "refused" }, l.violation) : null,
    l.files?.length ? h("p", { class: "notice" }, `Files: ${l.files.join(", ")}`) : null,
    l.body ? [h("h5", null, "Sent"), h("pre", null, pretty(l.body))] : null,
    l.response ? [h("h5", null, "Answered"), h("pre", null, pretty(l.response))] : null,
  ];
}

// line shows one entry of the log. What is inside is made when it is opened for the first time: there are many lines.
export function line(l, key) {
  if (l.gateway) return h("div", { class: "wire gateway" }, h("span", { class: "ago" }, exact(l.at)), h("b", null, "gateway"), " ", l.gateway);
  const e = h("details", { class: "wire" },
    h("summary", { data: { focus: `${key}w${l.seq}` }, title: `${l.method} ${l.path}` },
      h("span", { class: "ago" }, exact(l.at)), h("b", null, l.method), h("span", { class: "path" }, short(l)),
      l.fault ? h("span", { class: "badge mild" }, "fault") : null,
      h("span", { class: `badge ${statusMood(l)}` }, l.status ? String(l.status) : "cut"),
      h("span", { class: "ago" }, took(l.took_ms || 0))));
  e.addEventListener("toggle", () => { if (e.open && e.children.length === 1) append(e, bodies(l)); });
  return e;
}

// wireOf are the lines of a turn: what was asked in its channel from its message to its end.
export function wireOf(t) {
  const from = new Date(t.queuedAt).getTime();
  const to = t.endedAt ? new Date(t.endedAt).getTime() : Infinity;
  return state.wire.filter((l) => {
    const at = new Date(l.at).getTime();
    return !l.gateway && at >= from && at <= to && (!l.channel || l.channel === t.channel);
  });
}

const log = h("div", { class: "wire-log", tabIndex: 0, role: "log", "aria-live": "off", "aria-label": "Discord requests" });
const onlyHere = h("input", { type: "checkbox", id: "wire-here", onchange: () => draw() });
export const wirePanel = h("div", { class: "panel" },
  h("div", { class: "strip" }, h("label", null, onlyHere, " this channel only"), h("span", { class: "ago" }, "newest last")), log);

const shown = (l) => !onlyHere.checked || !l.channel || l.channel === state.current;

function draw() {
  const lines = state.wire.filter(shown);
  fill(log, lines.length ? lines.map((l) => line(l, "log")) : h("p", { class: "empty" }, "Nothing has passed yet."));
  log.scrollTop = log.scrollHeight;
}

on("wire", (l) => {
  if (!shown(l)) return;
  const bottom = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  log.querySelector(".empty")?.remove();
  log.append(line(l, "log"));
  while (log.children.length > kept) log.firstChild.remove();
  if (bottom) log.scrollTop = log.scrollHeight;
});
on("snapshot", draw);
on("select", () => { if (onlyHere.checked) draw(); });
