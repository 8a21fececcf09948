// One message as an element, made anew when the message changes.

import { h, avatar, clock, when, size, inRoleColor } from "./dom.js";
import { state, emit, user, here, pinged, threadOf, select } from "./store.js";
import { act } from "./api.js";
import { render, plain } from "./markdown.js";
import { components, embeds, image, veiled, usedElsewhere } from "./components.js";
import { pickEmoji, nameOf } from "./emoji.js";
import { askThread } from "./dialogs.js";
import { icon } from "./icons.js";

const groupGap = 7 * 60 * 1000;

// joined tells whether a message stands under the one before without a head of its own.
function joined(m, before) {
  return before && before.author === m.author && !m.reply_to && !m.command && Boolean(before.ephemeral) === Boolean(m.ephemeral) &&
    new Date(m.created) - new Date(before.created) < groupGap && sameDay(m, before) && m.id !== state.newFrom;
}

const sameDay = (a, b) => new Date(a.created).toDateString() === new Date(b.created).toDateString();

// build makes a message with what stands above it: the day, and where the new ones begin. editor is the field in which
// it is being edited, if it is.
export function build(m, before, { jump, editor }) {
  const head = !joined(m, before);
  const author = user(m.author);
  const names = ["message", head ? "head" : "", m.ephemeral ? "ephemeral" : "", pinged(m) ? "pinged" : ""];
  const article = h("article", {
    class: names.filter(Boolean).join(" "), id: `m${m.id}`, tabIndex: -1, data: { id: m.id },
    "aria-label": `${author.name}, ${clock(m.created)}${m.ephemeral ? ", only you can see this" : ""}${pinged(m) ? ", mentions you" : ""}`,
  },
  m.command ? used(m.command) : null,
  m.reply_to ? reference(m.reply_to, jump) : null,
  head ? avatar(author) : h("time", { class: "hover-time", dateTime: m.created }, clock(m.created)),
  h("div", { class: "body" },
    head ? h("div", { class: "byline" }, h("span", { class: "author" + (author.color ? " role-color" : ""), style: inRoleColor(author.color) }, author.name),
      author.bot ? h("span", { class: "tag" }, "APP") : null,
      h("time", { dateTime: m.created, title: new Date(m.created).toLocaleString() }, when(m.created))) : null,
    editor || content(m),
    (m.attachments || []).filter((a) => !usedElsewhere(m, a)).map(attachment),
    (m.stickers || []).map((s) => h("div", { class: "sticker" }, icon("sticker"), s)),
    embeds(m), components(m, m.components), thread(m), reactions(m),
    m.ephemeral ? h("div", { class: "only-you" }, icon("eye", true), "Only you can see this • ",
      h("button", { type: "button", class: "linklike", data: { key: "dismiss" }, onclick: () => act("delete", { message: m.id }) }, "Dismiss message")) : null));
  return h("div", { class: "slot", data: { slot: m.id } },
    before && sameDay(m, before) ? null : h("div", { class: "day", role: "separator" }, h("span", null, new Date(m.created).toLocaleDateString([], { dateStyle: "long" }))),
    m.id === state.newFrom ? h("div", { class: "new-line", role: "separator" }, h("span", null, "New")) : null,
    article);
}

function content(m) {
  if (m.loading && !m.content) return h("div", { class: "thinking" }, dots(), `${user(m.author).name} is thinking…`);
  const out = h("div", { class: "markup" }, m.content ? render(m.content) : null);
  if (m.edited) {
    const last = out.lastElementChild?.matches(".line, .subtext, .heading") ? out.lastElementChild : out;
    last.append(h("span", { class: "edited", title: "This message was edited" }, "(edited)"));
  }
  return out;
}

export const dots = () => h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i"));

function used(c) {
  return h("div", { class: "reference" }, avatar(user(c.user), true), h("b", null, user(c.user).name), " used ", h("span", { class: "mention" }, "/" + c.name));
}

function reference(r, jump) {
  if (r.deleted) return h("div", { class: "reference" }, icon("reply", true), h("em", null, "Original message was deleted"));
  return h("button", { type: "button", class: "reference", title: "Go to that message", data: { key: "reply" }, onclick: () => jump(r.id) },
    avatar(user(r.author), true), h("b", null, user(r.author).name), h("span", { class: "excerpt" }, plain(r.content) || "Press to see the attachment"));
}

function attachment(a) {
  const hidden = a.name.startsWith("SPOILER_");
  const shown = /^image\/(png|jpeg|gif|webp)$/.test(a.type) ? image(a) :
    h("a", { class: "file", href: a.url, download: a.name, title: `Download ${a.name}` }, icon("file"),
      h("span", null, h("span", { class: "file-name" }, a.name), h("span", { class: "file-size" }, size(a.size))));
  return hidden ? veiled(shown) : shown;
}

function thread(m) {
  const t = threadOf(m);
  if (!t || here()?.id === t.id) return null;
  return h("button", { type: "button", class: "thread-card", data: { key: "thread" }, onclick: () => select(t.id) }, icon("thread"), h("b", null, t.name), h("span", { class: "more" }, "See thread ›"));
}

function reactions(m) {
  if (!m.reactions?.length) return null;
  return h("div", { class: "reactions" }, m.reactions.map((r) => {
    const mine = r.users.includes(state.me);
    const shown = r.emoji.includes(":") ? `:${r.emoji.split(":")[0]}:` : r.emoji;
    const names = r.users.map((u) => user(u).name).join(", ");
    return h("button", {
      type: "button", class: mine ? "mine" : "", "aria-pressed": String(mine), title: names, "aria-label": `${nameOf(r.emoji) || shown}, ${r.users.length}: ${names}`, data: { key: `r${r.emoji}` },
      onclick: () => act(mine ? "unreact" : "react", { message: m.id, emoji: r.emoji }),
    }, shown, " ", String(r.users.length));
  }), h("button", { type: "button", title: "Add a reaction", "aria-label": "Add a reaction", data: { key: "add" }, onclick: (e) => react(m, e.currentTarget) }, icon("smile", true)));
}

export const react = (m, at) => pickEmoji(at, (emoji) => act("react", { message: m.id, emoji }));

export const isMine = (m) => m.author === state.me;
export const mayDelete = (m) => isMine(m) || Boolean(m.ephemeral) || Boolean(here()?.can_manage);
export const mayThread = (m) => !m.ephemeral && here()?.can_thread && !threadOf(m);
const inspectable = (m) => state.turns.about(m) || (m.author !== state.bot && state.turns.decisionAbout(m));

export const openThread = (m) => askThread(m.channel, m.id, plain(m.content).slice(0, 60) || "Thread", (id) => emit("goto", id));

// copyText puts a message's text where it can be pasted from.
export const copyText = (m) => navigator.clipboard?.writeText(m.content).catch(() => {});

// toolbar is what can be done with a message. It is made for the one message that is pointed at or has the focus.
export function toolbar(m, edit) {
  const tool = (label, sign, f) => h("button", { type: "button", title: label, "aria-label": label, data: { key: `t${sign}` }, onclick: f }, icon(sign));
  return h("div", { class: "toolbar", role: "toolbar", "aria-label": "Message actions" },
    inspectable(m) ? tool("Inspect the turn (I)", "inspect", () => emit("inspect", m)) : null,
    m.ephemeral ? null : tool("Add a reaction (+)", "smile", (e) => react(m, e.currentTarget)),
    m.ephemeral || !here()?.can_send ? null : tool("Reply (R)", "reply", () => emit("reply", m)),
    isMine(m) ? tool("Edit (E)", "edit", () => edit(m.id)) : null,
    mayThread(m) ? tool("Create a thread (T)", "thread", () => openThread(m)) : null,
    m.content ? tool("Copy the text (C)", "copy", () => copyText(m)) : null,
    mayDelete(m) ? tool(m.ephemeral ? "Dismiss (Del)" : "Delete (Del)", "trash", () => act("delete", { message: m.id })) : null);
}
