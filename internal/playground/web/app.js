// The page: header, banner, and where it was when it was last open.

import { $, h, fill } from "./dom.js";
import { state, on, emit, here, user, connect, select } from "./store.js";
import { icon } from "./icons.js";
import "./sidebar.js";
import "./messages.js";
import "./composer.js";
import "./inspector.js";

function header() {
  const c = here();
  const bot = user(state.bot).name;
  fill($("chat-header"),
    h("span", { class: "sigil", "aria-hidden": "true" }, c?.kind === "dm" ? "@" : c?.kind === "thread" ? "↳" : "#"),
    h("h1", null, c?.name || ""), h("span", { class: "topic" }, c?.topic || ""),
    h("span", { class: "model", title: state.data }, state.model ? `${bot} on ${state.model}${state.offline ? " (offline)" : ""}` : ""),
    h("span", { class: "link" + (state.connected && state.online ? " up" : "") }, h("i", { "aria-hidden": "true" }), state.connected && state.online ? "online" : "offline"),
    h("button", {
      type: "button", class: "toggle", title: "Show or hide the turn inspector", "aria-label": "Show or hide the turn inspector",
      onclick: () => { document.body.classList.toggle("no-inspector"); },
    }, icon("panel")));
}

function banner() {
  const b = $("banner");
  b.hidden = state.online || !state.me;
  b.textContent = "The playground does not answer. Waiting for it to come back…";
}

// The address remembers person and channel, so that a reload or a second tab is somebody somewhere.
function remember() {
  history.replaceState(null, "", `#${new URLSearchParams({ person: state.me, channel: state.current })}`);
}

on("select link snapshot", header);
on("link snapshot", banner);
on("select", () => {
  remember();
  const c = here();
  document.title = `${c ? (c.kind === "text" ? "#" : "") + c.name : ""} – Parley playground`;
});

document.addEventListener("visibilitychange", () => { if (!document.hidden) emit("channels"); });
document.addEventListener("keydown", (e) => {
  // Alt and an arrow go through the channels, as in Discord.
  if (!e.altKey || (e.key !== "ArrowUp" && e.key !== "ArrowDown")) return;
  e.preventDefault();
  const order = [...document.querySelectorAll(".channel")].map((x) => x.dataset.channel);
  const at = order.indexOf(state.current);
  select(order[(at + (e.key === "ArrowDown" ? 1 : order.length - 1)) % order.length]);
});

// On a narrow window the inspector would lie over the chat.
document.body.classList.toggle("no-inspector", innerWidth <= 960);

const start = new URLSearchParams(location.hash.slice(1));
state.current = start.get("channel") || "";
connect(start.get("person") || "");
