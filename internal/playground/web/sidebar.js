// The left column: channels, threads, the private chat, the members, and who the page acts as.

import { $, h, fill, avatar, inRoleColor } from "./dom.js";
import { state, on, select, user, connect } from "./store.js";
import { icon } from "./icons.js";
import { closeDrawers, showSidebar } from "./panels.js";

const sigils = { thread: "thread", text: "hash" };

function entry(c) {
  const unread = state.unread.get(c.id);
  const current = c.id === state.current;
  return h("button", {
    type: "button", class: `channel ${c.kind}${current ? " current" : ""}${unread ? " unread" : ""}`, title: c.name,
    "aria-current": current ? "page" : undefined, data: { channel: c.id, key: c.id }, onclick: () => { select(c.id); closeDrawers(); },
  },
  c.kind === "dm" ? avatar(user(state.bot), true) : h("span", { class: "sigil" }, icon(sigils[c.kind] || "hash")),
  h("span", { class: "name" }, c.name),
  unread ? h("span", { class: "unseen" }, ", unread") : null,
  unread?.ping ? h("span", { class: "pings", title: `${unread.ping} mentions` }, String(unread.ping)) : null);
}

function channels() {
  const out = [];
  for (const c of state.channels.filter((c) => c.kind === "text")) {
    out.push(entry(c), ...state.channels.filter((t) => t.parent === c.id).map(entry));
  }
  return out;
}

const roleOf = (id) => state.people.find((p) => p.id === id)?.role;

function face(id, up) {
  return h("span", { class: "face" }, avatar(user(id), "middle"), h("span", { class: "dot" + (up ? " up" : "") }));
}

function member(id) {
  const u = user(id);
  const name = h("span", { class: "name" + (u.color ? " role-color" : ""), style: inRoleColor(u.color) }, u.name);
  if (u.bot) {
    const up = state.connected && state.online;
    const dm = state.channels.find((c) => c.kind === "dm");
    return h("button", { type: "button", class: "member", data: { key: `u${id}` }, title: `Write to ${u.name} privately`, onclick: () => { if (dm) select(dm.id); closeDrawers(); } },
      face(id, up), h("span", { class: "who" }, name, h("span", { class: "tag" }, "APP")));
  }
  const current = id === state.me;
  return h("button", {
    type: "button", class: "member" + (current ? " current" : ""), "aria-pressed": String(current), data: { key: `u${id}` },
    title: current ? `You act as ${u.name}` : `Act as ${u.name}`, onclick: () => become(id),
  }, face(id, true), h("span", { class: "who" }, name, current ? h("span", { class: "you" }, "you act as") : null));
}

// members are grouped as Discord does it: by role, then the bot.
function members() {
  const groups = new Map();
  for (const p of state.people) groups.set(p.role, [...(groups.get(p.role) || []), p.id]);
  const order = [...groups].sort(([a], [b]) => Number(b === "Moderator") - Number(a === "Moderator"));
  return [...order.map(([role, ids]) => [role, ids]), ["App", [state.bot]]].map(([role, ids]) =>
    h("section", { role: "group", "aria-label": `${role}, ${ids.length}` }, h("h2", null, `${role} — ${ids.length}`), ids.map(member)));
}

function become(id) {
  if (id === state.me) return;
  // A private chat is nobody else's; the other person starts in their own.
  const dm = state.channels.find((c) => c.id === state.current)?.kind === "dm";
  if (dm) state.current = "";
  state.wantDM = dm;
  connect(id);
}

// next is who one acts as after the current person, for the switch beside one's own name.
function next() {
  const at = state.people.findIndex((p) => p.id === state.me);
  return state.people[(at + 1) % state.people.length];
}

function self() {
  const to = next();
  if (!to) return null;
  return h("div", { class: "self" },
    h("div", { class: "member" }, face(state.me, true), h("span", { class: "who" }, h("span", { class: "name" }, user(state.me).name), h("span", { class: "role" }, roleOf(state.me)))),
    h("button", { type: "button", class: "toggle", data: { key: "next" }, title: `Act as ${user(to.id).name} (${to.role})`, "aria-label": `Act as ${user(to.id).name}, ${to.role}`, onclick: () => become(to.id) }, icon("people")));
}

function draw() {
  const side = $("sidebar");
  const focused = side.contains(document.activeElement) ? document.activeElement.dataset.key : "";
  const scrolled = side.querySelector(".channels")?.scrollTop || 0;
  const list = h("div", { class: "channels" },
    h("section", { role: "group", "aria-label": "Channels" }, h("h2", null, "Channels"), channels()),
    h("section", { role: "group", "aria-label": "Direct messages" }, h("h2", null, "Direct messages"), state.channels.filter((c) => c.kind === "dm").map(entry)),
    members());
  fill(side,
    h("div", { class: "guild" }, h("span", { class: "guild-name" }, state.guild || "Playground"),
      h("span", { class: "sim", title: "A simulated Discord on this machine" }, "simulated"),
      h("button", { type: "button", class: "toggle only-narrow", "aria-label": "Close", data: { key: "close" }, onclick: () => showSidebar(false) }, icon("close"))),
    list, self());
  list.scrollTop = scrolled;
  if (focused) side.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

on("snapshot", () => {
  if (!state.wantDM) return;
  state.wantDM = false;
  select(state.channels.find((c) => c.kind === "dm")?.id);
});
on("channels link", draw);
