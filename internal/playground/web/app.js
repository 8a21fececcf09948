// The page: header, banner, and where it was when it was last open.

import { $, h, fill } from "./dom.js";
import { state, on, emit, here, user, connect, select } from "./store.js";
import { mine, keepMine, theme, setTheme } from "./prefs.js";
import { icon } from "./icons.js";
import { inspectorShown, showInspector, sidebarOpen, showSidebar, onPanels } from "./panels.js";
import "./sidebar.js";
import "./messages.js";
import "./composer.js";
import "./inspector.js";
import "./tour.js";

const sigils = { dm: "at", thread: "thread", text: "hash" };

// One element for good: it gets the focus back when the drawer closes.
const channels = h("button", { type: "button", class: "toggle only-narrow", "aria-label": "Channels and people", "aria-controls": "sidebar", onclick: () => showSidebar(!sidebarOpen()) }, icon("menu"));

function header() {
  const c = here();
  channels.setAttribute("aria-expanded", String(sidebarOpen()));
  if (!channels.isConnected) $("here").before(channels);
  fill($("here"),
    h("span", { class: "sigil" }, icon(sigils[c?.kind] || "hash")),
    h("h1", null, c?.name || ""), h("span", { class: "topic", title: c?.topic || "" }, c?.topic || ""));
}

const model = h("span", { class: "model" });
const link = h("span", { class: "link" });
const themes = h("button", { type: "button", class: "toggle", onclick: () => { setTheme(theme() === "dark" ? "light" : "dark"); tools(); } });
const inspector = h("button", {
  type: "button", class: "toggle", "aria-label": "Turn inspector", title: "Show or hide the turn inspector", "aria-controls": "inspector",
  onclick: () => showInspector(!inspectorShown()),
}, icon("panel"));
$("tools").append(model, link, themes, inspector);

function tools() {
  const up = state.connected && state.online;
  model.textContent = state.model ? `${user(state.bot).name} on ${state.model}${state.offline ? " (offline)" : ""}` : "";
  model.title = state.data;
  link.className = "link" + (up ? " up" : "");
  link.title = up ? "The bot is connected" : "The bot is not connected";
  fill(link, h("i", { "aria-hidden": "true" }), h("span", null, up ? "online" : "offline"));
  const other = theme() === "dark" ? "light" : "dark";
  themes.setAttribute("aria-label", `Use ${other} colours`);
  themes.title = `Use ${other} colours`;
  fill(themes, icon(other === "light" ? "sun" : "moon"));
  inspector.setAttribute("aria-expanded", String(inspectorShown()));
}

function banner() {
  const b = $("banner");
  b.hidden = state.online || !state.me;
  b.textContent = "The playground does not answer. Waiting for it to come back…";
}

// The address remembers person and channel, so that a reload or a second tab is somebody somewhere.
function remember() {
  const at = { person: state.me, channel: state.current };
  history.replaceState(null, "", `#${new URLSearchParams(at)}`);
  keepMine("at", at);
}

on("select snapshot here", header);
on("link snapshot", tools);
on("link snapshot", banner);
onPanels(() => { header(); tools(); });
on("select", () => {
  remember();
  const c = here();
  document.title = `${c ? (c.kind === "text" ? "#" : "") + c.name : ""} – Parley playground`;
});
addEventListener("storage", tools);
matchMedia("(prefers-color-scheme: light)").addEventListener("change", tools);

document.addEventListener("visibilitychange", () => { if (!document.hidden) emit("channels"); });
document.addEventListener("keydown", (e) => {
  // Alt and an arrow go through the channels, as in Discord.
  if (!e.altKey || (e.key !== "ArrowUp" && e.key !== "ArrowDown")) return;
  e.preventDefault();
  const order = [...document.querySelectorAll(".channel")].map((x) => x.dataset.channel);
  const at = order.indexOf(state.current);
  select(order[(at + (e.key === "ArrowDown" ? 1 : order.length - 1)) % order.length]);
});

const start = new URLSearchParams(location.hash.slice(1));
const last = mine("at", {});
state.current = start.get("channel") || last.channel || "";
connect(start.get("person") || last.person || "");
