// The left column: channels, the private chat, and who the page acts as.

import { $, h, fill, avatar } from "./dom.js";
import { state, on, select, user, connect } from "./store.js";

function entry(c) {
  const unread = state.unread.get(c.id);
  const current = c.id === state.current;
  return h("button", {
    type: "button", class: `channel ${c.kind}${current ? " current" : ""}${unread ? " unread" : ""}`,
    "aria-current": current ? "page" : undefined, data: { channel: c.id }, onclick: () => select(c.id),
  },
  c.kind === "dm" ? avatar(user(state.bot), true) : h("span", { class: "sigil", "aria-hidden": "true" }, c.kind === "thread" ? "↳" : "#"),
  h("span", { class: "name" }, c.name),
  unread?.ping ? h("span", { class: "pings", "aria-label": `${unread.ping} mentions` }, String(unread.ping)) : null);
}

function channels() {
  const out = [];
  for (const c of state.channels.filter((c) => c.kind === "text")) {
    out.push(entry(c), ...state.channels.filter((t) => t.parent === c.id).map(entry));
  }
  return out;
}

function people() {
  return state.people.map((p) => h("button", {
    type: "button", class: "person" + (p.id === state.me ? " current" : ""), "aria-pressed": p.id === state.me ? "true" : "false",
    title: `Act as ${user(p.id).name}`, onclick: () => become(p.id),
  }, avatar(user(p.id), true), h("span", { class: "who" }, h("span", { class: "name" }, user(p.id).name), h("span", { class: "role" }, p.role))));
}

function become(id) {
  if (id === state.me) return;
  // A private chat is nobody else's; the other person starts in their own.
  const dm = state.channels.find((c) => c.id === state.current)?.kind === "dm";
  if (dm) state.current = "";
  state.wantDM = dm;
  connect(id);
}

function draw() {
  fill($("sidebar"),
    h("div", { class: "guild" }, h("span", { class: "guild-name" }, state.guild || "Playground"),
      h("span", { class: "sim", title: "A simulated Discord on this machine" }, "simulated")),
    h("nav", { class: "channels" },
      h("h2", null, "Channels"), channels(),
      h("h2", null, "Direct messages"), state.channels.filter((c) => c.kind === "dm").map(entry)),
    h("div", { class: "people", role: "group", "aria-label": "Act as" }, h("h2", null, "You act as"), people()));
}

on("snapshot", () => {
  if (!state.wantDM) return;
  state.wantDM = false;
  select(state.channels.find((c) => c.kind === "dm")?.id);
});
on("channels", draw);
