// The message list: one element per message, redrawn alone when that message changes.

import { $, h, fill, append, avatar, clock, when, size } from "./dom.js";
import { state, on, emit, user, here, messagesIn, findMessage, addOlder } from "./store.js";
import { act, look } from "./api.js";
import { render, plain } from "./markdown.js";
import { components, embeds } from "./components.js";
import { pickReaction } from "./dialogs.js";
import { welcome } from "./welcome.js";
import { icon } from "./icons.js";

const box = $("messages");
let drawn = new Map(); // id -> element
let editing = ""; // the message being edited

const groupGap = 7 * 60 * 1000;

// joined tells whether a message stands under the one before without a head of its own.
function joined(m, before) {
  return before && before.author === m.author && !m.reply_to && !m.command && Boolean(before.ephemeral) === Boolean(m.ephemeral) &&
    new Date(m.created) - new Date(before.created) < groupGap && sameDay(m, before);
}

const sameDay = (a, b) => new Date(a.created).toDateString() === new Date(b.created).toDateString();

function build(m, before) {
  const head = !joined(m, before);
  const author = user(m.author);
  const pinged = (m.pings || []).includes(state.me) && m.author !== state.me;
  return h("article", {
    class: ["message", head ? "head" : "", m.ephemeral ? "ephemeral" : "", pinged ? "pinged" : ""].filter(Boolean).join(" "),
    id: `m${m.id}`, tabIndex: -1, data: { id: m.id }, "aria-label": `${author.name}, ${clock(m.created)}`,
  },
  before && sameDay(m, before) ? null : h("div", { class: "day" }, h("span", null, new Date(m.created).toLocaleDateString([], { dateStyle: "long" }))),
  m.command ? used(m.command) : null,
  m.reply_to ? reference(m.reply_to) : null,
  head ? avatar(author) : h("time", { class: "hover-time" }, clock(m.created)),
  h("div", { class: "body" },
    head ? h("div", { class: "byline" }, h("span", { class: "author", style: author.color ? { color: author.color } : {} }, author.name),
      author.bot ? h("span", { class: "tag" }, "APP") : null,
      h("time", { dateTime: m.created }, when(m.created))) : null,
    m.id === editing ? editor(m) : content(m),
    (m.attachments || []).map(attachment),
    embeds(m.embeds), components(m, m.components), reactions(m),
    m.ephemeral ? h("div", { class: "only-you" }, icon("eye"), "Only you can see this • ",
      h("button", { type: "button", class: "linklike", onclick: () => act("delete", { message: m.id }) }, "Dismiss message")) : null),
  toolbar(m));
}

function content(m) {
  if (m.loading && !m.content) return h("div", { class: "thinking" }, dots(), `${user(m.author).name} is thinking…`);
  const out = h("div", { class: "markup" }, render(m.content));
  const last = out.lastElementChild?.matches(".line, .subtext") ? out.lastElementChild : out;
  if (m.edited && !user(m.author).bot) last.append(h("span", { class: "edited", title: "This message was edited" }, "(edited)"));
  return out;
}

export const dots = () => h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i"));

function used(c) {
  return h("div", { class: "reference" }, avatar(user(c.user), true), h("b", null, user(c.user).name), " used ", h("span", { class: "mention" }, "/" + c.name));
}

function reference(r) {
  if (r.deleted) return h("div", { class: "reference" }, h("em", null, "Original message was deleted"));
  return h("button", { type: "button", class: "reference", title: "Go to that message", onclick: () => jump(r.id) },
    avatar(user(r.author), true), h("b", null, user(r.author).name), h("span", { class: "excerpt" }, plain(r.content) || "Press to see the attachment"));
}

export function jump(id) {
  const e = drawn.get(id);
  if (!e) return;
  e.scrollIntoView({ block: "center" });
  e.focus({ preventScroll: true });
  e.classList.remove("flash");
  void e.offsetWidth; // Starts the animation again.
  e.classList.add("flash");
}

function attachment(a) {
  if (/^image\/(png|jpeg|gif|webp)$/.test(a.type)) {
    // The size is known beforehand, so that nothing moves when the picture arrives.
    const scale = Math.min(1, 400 / (a.width || 400), 300 / (a.height || 300));
    return h("a", { class: "picture", href: a.url, target: "_blank", rel: "noopener" },
      h("img", { src: a.url, alt: a.name, width: Math.round((a.width || 400) * scale), height: Math.round((a.height || 300) * scale) }));
  }
  return h("a", { class: "file", href: a.url, download: a.name }, icon("file"),
    h("span", null, h("span", { class: "file-name" }, a.name), h("span", { class: "file-size" }, size(a.size))));
}

function reactions(m) {
  if (!m.reactions?.length) return null;
  return h("div", { class: "reactions" }, m.reactions.map((r) => {
    const mine = r.users.includes(state.me);
    return h("button", {
      type: "button", class: mine ? "mine" : "", "aria-pressed": String(mine), title: r.users.map((u) => user(u).name).join(", "),
      onclick: () => act(mine ? "unreact" : "react", { message: m.id, emoji: r.emoji }),
    }, r.emoji.replace(/:\d+$/, ""), " ", String(r.users.length));
  }));
}

function toolbar(m) {
  const tool = (label, sign, f) => h("button", { type: "button", title: label, "aria-label": label, onclick: f }, icon(sign));
  const mine = m.author === state.me;
  return h("div", { class: "toolbar", role: "toolbar", "aria-label": "Message actions" },
    state.turns.about(m) || shownDecision(m) ? tool("Inspect the turn (I)", "inspect", () => emit("inspect", m)) : null,
    m.ephemeral ? null : tool("Add a reaction (+)", "smile", (e) => react(m, e.currentTarget)),
    m.ephemeral ? null : tool("Reply (R)", "reply", () => emit("reply", m)),
    mine ? tool("Edit (E)", "edit", () => edit(m.id)) : null,
    mine || here()?.can_manage || m.ephemeral ? tool("Delete (Del)", "trash", () => act("delete", { message: m.id })) : null);
}

const shownDecision = (m) => m.author !== state.bot && state.turns.decisionAbout(m);

const react = (m, at) => pickReaction(at, (emoji) => act("react", { message: m.id, emoji }));

// edit opens the editor in a message, or closes it for no id.
export function edit(id) {
  const was = editing;
  editing = id;
  if (was) redraw(was);
  if (!id) return;
  redraw(id);
  const field = drawn.get(id)?.querySelector("textarea");
  field?.focus();
  field?.setSelectionRange(field.value.length, field.value.length);
}

function editor(m) {
  const field = h("textarea", { class: "edit", "aria-label": "Edit the message", value: toTyped(m.content), rows: Math.min(10, m.content.split("\n").length) });
  field.addEventListener("keydown", async (e) => {
    if (e.isComposing) return;
    e.stopPropagation();
    if (e.key === "Escape") {
      edit("");
      emit("compose");
    }
    if (e.key === "Enter" && !e.shiftKey) {
      e.preventDefault();
      const text = toWire(field.value);
      if (text.trim() === "" || await act("edit", { message: m.id, text })) {
        edit("");
        emit("compose");
      }
    }
  });
  return h("div", null, field, h("div", { class: "hint" }, "Escape to cancel • Enter to save"));
}

// People type names; messages carry ids.
export function toTyped(text) {
  return text.replace(/<@!?(\d{1,20})>/g, (whole, id) => (state.users[id] ? "@" + state.users[id].name : whole));
}

export function toWire(text) {
  const named = Object.entries(state.users).sort(([, a], [, b]) => b.name.length - a.name.length);
  let out = "";
  for (let i = 0; i < text.length;) {
    const found = text[i] === "@" && !/\w/.test(text[i - 1] || "") ? named.find(([, u]) => follows(text, i + 1, u.name)) : undefined;
    out += found ? `<@${found[0]}>` : text[i];
    i += found ? found[1].name.length + 1 : 1;
  }
  return out;
}

function follows(text, at, name) {
  return text.slice(at, at + name.length).toLowerCase() === name.toLowerCase() && !/\w/.test(text[at + name.length] || "");
}

const near = () => box.scrollHeight - box.scrollTop - box.clientHeight < 90;
const toEnd = () => { box.scrollTop = box.scrollHeight; };

function drawAll() {
  drawn = new Map();
  editing = "";
  const list = messagesIn(state.current);
  const more = state.more.get(state.current);
  const top = more ? h("div", { class: "older" }, h("button", { type: "button", class: "linklike", onclick: older }, "Show older messages")) : welcome();
  fill(box, top);
  list.forEach((m, i) => {
    const e = build(m, list[i - 1]);
    drawn.set(m.id, e);
    box.append(e);
  });
  toEnd();
}

async function older() {
  const c = state.current;
  const a = await look("history", { channel: c, before: messagesIn(c)[0]?.id || "" });
  if (!a || c !== state.current) return;
  const height = box.scrollHeight;
  addOlder(c, a.messages, a.more);
  drawAll();
  box.scrollTop = box.scrollHeight - height;
}

// redraw draws one message again, and the next one, whose head may depend on it.
function redraw(id) {
  const list = messagesIn(state.current);
  const i = list.findIndex((m) => m.id === id);
  if (i < 0) return;
  const old = drawn.get(id);
  const focused = old?.contains(document.activeElement);
  const e = build(list[i], list[i - 1]);
  drawn.set(id, e);
  if (old) old.replaceWith(e);
  else if (i + 1 < list.length && drawn.has(list[i + 1].id)) drawn.get(list[i + 1].id).before(e);
  else box.append(e);
  if (focused && document.activeElement === document.body) e.focus({ preventScroll: true });
}

on("message", ({ message: m, isNew }) => {
  if (m.channel !== state.current) return;
  // Somebody else's change must not take the text that is being edited.
  if (m.id === editing && !isNew) return;
  const stick = near() || (isNew && m.author === state.me);
  redraw(m.id);
  // A reply shows what it replies to.
  if (!isNew) {
    for (const other of messagesIn(m.channel)) {
      if (other.reply_to?.id === m.id && other.id !== editing) {
        other.reply_to.content = m.content.slice(0, 200);
        redraw(other.id);
      }
    }
  }
  if (stick) toEnd();
});

on("deleted", ({ id, channel }) => {
  if (channel !== state.current) return;
  const e = drawn.get(id);
  const next = e?.nextElementSibling?.dataset.id;
  if (e?.contains(document.activeElement)) emit("compose");
  e?.remove();
  drawn.delete(id);
  if (editing === id) editing = "";
  if (next) redraw(next);
  for (const other of messagesIn(channel)) {
    if (other.reply_to?.id === id) {
      other.reply_to = { id, deleted: true };
      redraw(other.id);
    }
  }
});

// A turn that begins makes its messages ones to be inspected.
on("turn", (t) => {
  if (!t || t.channel !== state.current || !t.message || t.marked) return;
  t.marked = true;
  if (drawn.has(t.message) && t.message !== editing) redraw(t.message);
});

on("select", drawAll);

box.addEventListener("keydown", (e) => {
  if (e.target.matches("textarea, input, select")) return;
  const focused = document.activeElement.closest?.(".message");
  const all = [...box.querySelectorAll(".message")];
  const at = all.indexOf(focused);
  const m = focused && findMessage(focused.dataset.id);
  const go = (e, to) => { e.preventDefault(); all[Math.max(0, Math.min(all.length - 1, to))]?.focus(); };
  if (e.key === "ArrowUp") go(e, at < 0 ? all.length - 1 : at - 1);
  else if (e.key === "ArrowDown") at === all.length - 1 ? emit("compose") : go(e, at + 1);
  else if (e.key === "Escape") emit("compose");
  else if (!m || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("button, a")) return;
  else if (e.key === "r" && !m.ephemeral) { e.preventDefault(); emit("reply", m); }
  else if (e.key === "e" && m.author === state.me) { e.preventDefault(); edit(m.id); }
  else if (e.key === "+" && !m.ephemeral) { e.preventDefault(); react(m, focused); }
  else if (e.key === "i") { e.preventDefault(); emit("inspect", m); }
  else if (e.key === "Delete" && (m.author === state.me || here()?.can_manage || m.ephemeral)) act("delete", { message: m.id });
});

// The list stays at its end while it is resized.
let atEnd = true;
box.addEventListener("scroll", () => { atEnd = near(); }, { passive: true });
new ResizeObserver(() => { if (atEnd) toEnd(); }).observe(box);

// typing line
const line = $("typing");
function drawTyping() {
  const now = Date.now();
  const names = [];
  for (const [u, until] of state.typing.get(state.current) || []) {
    if (until > now && u !== state.me) names.push(user(u).name);
  }
  const text = names.length === 1 ? " is typing…" : " are typing…";
  fill(line);
  if (names.length) append(line, [dots(), h("b", null, names.join(", ")), text]);
}
on("typing select", drawTyping);
setInterval(drawTyping, 1000);
