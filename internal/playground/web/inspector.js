// The inspector: what the bot made of each message, what passed between it and Discord, and what can go wrong.

import { $, h, fill, clock } from "./dom.js";
import { state, on } from "./store.js";
import { isOpen } from "./turns.js";
import { badge, prompt, lasted, why, turnDetail, decisionDetail } from "./turnview.js";
import { wirePanel } from "./wire.js";
import { faultPanel } from "./faults.js";
import { modelBar } from "./model.js";
import { copyScene } from "./scene.js";
import { mine, keepMine } from "./prefs.js";
import { showInspector } from "./panels.js";
import { icon } from "./icons.js";

const list = h("div", { class: "turns", role: "listbox", "aria-label": "Turns", tabIndex: 0 });
const detail = h("div", { class: "detail", tabIndex: 0, role: "region", "aria-label": "The chosen turn" });
const follow = h("input", { type: "checkbox", checked: true, onchange: () => draw() });
const everywhere = h("input", { type: "checkbox", onchange: () => draw() });
const turnPanel = h("div", { class: "panel" },
  h("div", { class: "strip" },
    h("label", { title: "Always show the newest turn" }, follow, " follow the newest"),
    h("label", { title: "Also turns of other channels" }, everywhere, " all channels")),
  list, detail);

const tabs = [["turns", "Turns", turnPanel], ["wire", "Requests", wirePanel], ["faults", "Faults", faultPanel]];

const tabButtons = tabs.map(([id, name, panel]) => {
  panel.id = `panel-${id}`;
  panel.setAttribute("role", "tabpanel");
  panel.setAttribute("aria-labelledby", `tab-${id}`);
  return h("button", { type: "button", role: "tab", class: "tab", id: `tab-${id}`, "aria-controls": panel.id, onclick: () => show(id) }, name);
});

function show(id) {
  keepMine("tab", id);
  tabs.forEach(([key, , panel], n) => {
    panel.hidden = key !== id;
    tabButtons[n].setAttribute("aria-selected", String(key === id));
  });
}

const tablist = h("div", { role: "tablist", class: "tabs", "aria-label": "Inspector" }, tabButtons);
tablist.addEventListener("keydown", (e) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (!step) return;
  e.preventDefault();
  const at = tabButtons.indexOf(document.activeElement);
  const next = (at + step + tabs.length) % tabs.length;
  show(tabs[next][0]);
  tabButtons[next].focus();
});

fill($("inspector"),
  h("header", null, h("h2", { class: "unseen" }, "Turn inspector"), tablist,
    h("button", { type: "button", class: "toggle", "aria-label": "Close the inspector", onclick: () => showInspector(false) }, icon("close"))),
  modelBar, turnPanel, wirePanel, faultPanel);
show(mine("tab", "turns"));

let pinned = ""; // a turn or decision that was chosen
let pending = false;

const keyOf = (x) => x.id || `d${x.message_id}${x.at}`;
const isDecision = (x) => !x.id;
const channelOf = (x) => x.channel || x.channel_id;

// all are turns and decisions, newest first.
function all() {
  // That the bot does not answer itself goes without saying.
  const decisions = state.turns.decisions.filter((d) => d.owner_id !== state.bot);
  const both = [...state.turns.list, ...decisions].filter((x) => everywhere.checked || channelOf(x) === state.current || keyOf(x) === pinned);
  const at = (x) => new Date(x.queuedAt || x.at).getTime();
  return both.sort((a, b) => at(b) - at(a));
}

function current(items) {
  if (follow.checked || !pinned) return items.find((x) => !isDecision(x)) || items[0];
  return items.find((x) => keyOf(x) === pinned) || items[0];
}

function choose(x) {
  follow.checked = false;
  pinned = keyOf(x);
  draw();
}

function row(x, selected) {
  const d = isDecision(x);
  return h("div", {
    class: `turn${selected ? " current" : ""}${d ? " decision" : ""}`, role: "option", id: `turn-${keyOf(x)}`, "aria-selected": String(selected), data: { key: keyOf(x) },
    onclick: () => choose(x),
  },
  d ? h("span", { class: "badge none", title: x.text }, why(x)) : badge(x.status),
  h("span", { class: "prompt" }, prompt(d ? x.message_id : x.message)),
  h("span", { class: "ago" }, d ? clock(x.at) : lasted(x)));
}

function drawList(items, shown) {
  list.removeAttribute("aria-activedescendant");
  if (!items.length) {
    fill(list, h("p", { class: "empty" }, "Nothing yet in this channel. Mention the bot, and its turn appears here."));
    return;
  }
  fill(list, items.map((x) => row(x, x === shown)));
  if (shown) list.setAttribute("aria-activedescendant", `turn-${keyOf(shown)}`);
}

let shownKey = "";

// drawDetail keeps the place and the focus of whoever reads while the turn goes on.
function drawDetail(x) {
  const key = x ? keyOf(x) : "";
  const bottom = detail.scrollHeight - detail.scrollTop - detail.clientHeight < 40;
  const top = detail.scrollTop;
  const focus = detail.contains(document.activeElement) ? document.activeElement.dataset.focus : "";
  const open = new Set([...detail.querySelectorAll("details.wire[open] > summary")].map((s) => s.dataset.focus));
  fill(detail, !x ? null : isDecision(x) ? decisionDetail(x) : turnDetail(x, copyScene));
  for (const s of detail.querySelectorAll("details.wire > summary")) if (open.has(s.dataset.focus)) s.parentElement.open = true;
  if (key !== shownKey) detail.scrollTop = 0;
  else detail.scrollTop = bottom && x && isOpen(x) ? detail.scrollHeight : top;
  shownKey = key;
  if (focus) [...detail.querySelectorAll("[data-focus]")].find((e) => e.dataset.focus === focus)?.focus({ preventScroll: true });
}

function draw() {
  pending = false;
  const items = all().slice(0, 40);
  const x = current(items);
  drawList(items, x);
  drawDetail(x);
}

// soon draws at most once a frame, however fast the pieces come.
function soon() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(draw);
}

list.addEventListener("keydown", (e) => {
  if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
  e.preventDefault();
  const items = all();
  const at = items.indexOf(current(items));
  const next = items[Math.max(0, Math.min(items.length - 1, at + (e.key === "ArrowDown" ? 1 : -1)))];
  if (next) choose(next);
  list.querySelector(".current")?.scrollIntoView({ block: "nearest" });
});

on("turn turns snapshot wire", soon);
on("select", () => { pinned = follow.checked ? "" : pinned; soon(); });
on("message", ({ isNew }) => { if (isNew) soon(); });
on("inspect", (m) => {
  const x = state.turns.about(m) || state.turns.decisionAbout(m);
  show("turns");
  showInspector(true);
  if (x) choose(x);
});
// Times of running turns go on between events.
setInterval(() => { if (state.turns.list.some(isOpen)) soon(); }, 500);
draw();
