// Where messages are written: text, mentions, files, replies, and slash commands with their options.

import { $, h, fill, avatar, size, inRoleColor, toast } from "./dom.js";
import { state, on, user, here, messagesIn } from "./store.js";
import { act, look, encodeFile } from "./api.js";
import { pref, keep } from "./prefs.js";
import { edit } from "./messages.js";
import { toWire } from "./names.js";
import { plain } from "./markdown.js";
import { interact } from "./dialogs.js";
import { optionForm } from "./options.js";
import { pickEmoji, matching } from "./emoji.js";
import { icon } from "./icons.js";

const longest = 2000; // what Discord takes
const mostOfOne = 10 << 20; // bytes of one file
const most = 25 << 20; // bytes of files in one request

let commands = [];
let replyTo = null;
let ping = true; // whether a reply calls its author
let files = [];
let chosen = 0; // in the open menu
let menuItems = [];
let form = null; // a command whose options are being filled in
let lastTyping = 0;
let shown = ""; // person and channel whose draft stands here

const field = h("textarea", { id: "text", rows: 1, autocomplete: "off", spellcheck: true, role: "combobox", "aria-label": "Message", "aria-autocomplete": "list", "aria-controls": "menu", "aria-expanded": "false" });
const menu = h("div", { id: "menu", class: "list", role: "listbox", "aria-label": "Suggestions", hidden: true });
const above = h("div", { class: "above" });
const picker = h("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files", onchange: (e) => { addFiles(e.currentTarget.files); e.currentTarget.value = ""; } });
const tool = (name, sign, f) => h("button", { type: "button", class: "tool", title: name, "aria-label": name, onclick: f }, icon(sign));
const count = h("span", { class: "count", hidden: true });
const attach = tool("Attach files", "plus", () => picker.click());
const smile = tool("Insert an emoji", "smile", () => pickEmoji(smile, insert));
const send = tool("Send (Enter)", "send", () => submit());
const shell = h("div", { class: "shell" }, attach, field, count, smile, send);
fill($("composer"), menu, above, shell, picker);

function grow() {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, 260)}px`;
  const left = longest - field.value.length;
  count.hidden = left > 200;
  count.className = "count" + (left < 0 ? " over" : "");
  count.textContent = String(left);
}

function setText(text) {
  field.value = text;
  field.setSelectionRange(text.length, text.length);
  grow();
  keepDraft();
  suggest();
}

function insert(text) {
  field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
  grow();
  keepDraft();
  field.focus();
}

// --- drafts: what was begun stays over a change of channel and a reload

const draftKey = () => `draft.${state.me}.${state.current}`;

function keepDraft() {
  if (shown !== draftKey()) return;
  keep(shown, field.value || replyTo ? { text: field.value, reply: replyTo ? { id: replyTo.id, author: replyTo.author, content: replyTo.content.slice(0, 200) } : undefined } : undefined);
}

// --- what stands above the text: reply, files, a command's options

function drawAbove() {
  fill(above);
  if (form) {
    above.append(form.element);
  } else {
    if (replyTo) above.append(replyBar());
    if (files.length) above.append(h("div", { class: "files", role: "list", "aria-label": "Files to attach" }, files.map(chip)));
  }
  shell.hidden = Boolean(form);
}

function replyBar() {
  const own = replyTo.author === state.me;
  return h("div", { class: "bar" },
    h("span", null, "Replying to ", h("b", null, user(replyTo.author).name), h("span", { class: "excerpt" }, plain(replyTo.content))),
    own ? null : h("button", {
      type: "button", class: "ping", "aria-pressed": String(ping), title: ping ? "The reply will notify them" : "The reply will not notify them",
      onclick: () => { ping = !ping; drawAbove(); above.querySelector(".ping").focus(); },
    }, ping ? "@ ON" : "@ OFF"),
    h("button", { type: "button", title: "Cancel the reply (Escape)", "aria-label": "Cancel the reply", onclick: () => { setReply(null); field.focus(); } }, icon("close", true)));
}

function setReply(m) {
  replyTo = m;
  ping = true;
  drawAbove();
  keepDraft();
}

function chip(f, i) {
  const picture = /^image\/(png|jpeg|gif|webp)$/.test(f.type);
  return h("div", { class: "chip", role: "listitem" },
    h("div", { class: "preview" }, picture ? h("img", { src: preview(f), alt: "" }) : icon("file")),
    h("span", { class: "name", title: f.name }, f.name || "image.png"), h("small", null, size(f.size)),
    h("button", { type: "button", "aria-label": `Remove ${f.name}`, title: "Remove", onclick: () => { files.splice(i, 1); drawAbove(); (above.querySelector(".chip button") || field).focus(); } }, icon("close", true)));
}

const previews = new WeakMap();
function preview(f) {
  if (!previews.has(f)) previews.set(f, URL.createObjectURL(f));
  return previews.get(f);
}

// What is too much is refused by Discord, when it is sent.
function addFiles(list) {
  files = [...files, ...list];
  drawAbove();
  field.focus();
}

// --- suggestions for @, #, : and /

function wordAt() {
  const upTo = field.value.slice(0, field.selectionStart);
  const m = /(^|\s)([@#])([\p{L}\p{N}_-]*)$/u.exec(upTo) || /(^|\s)(:)(\w{2,})$/.exec(upTo);
  return m ? { sign: m[2], from: upTo.length - m[3].length - 1, text: m[3].toLowerCase() } : null;
}

const visible = (id) => id === state.bot || state.people.some((p) => p.id === id);

function mentionable(at) {
  const people = Object.entries(state.users).filter(([id, u]) => visible(id) && u.name.toLowerCase().startsWith(at.text))
    .sort(([, a], [, b]) => Number(Boolean(b.bot)) - Number(Boolean(a.bot)))
    .map(([, u]) => ({ label: u.name, note: u.bot ? "the bot" : "", icon: avatar(u, true), run: () => complete(at, `@${u.name} `) }));
  const roles = Object.entries(state.roles).filter(([id, r]) => id !== state.guildID && r.name.toLowerCase().startsWith(at.text))
    .map(([, r]) => ({ label: "@" + r.name, color: r.color, note: "Everybody with this role", icon: icon("shield", true), run: () => complete(at, `@${r.name} `) }));
  const all = ["everyone", "here"].filter((n) => at.text && n.startsWith(at.text)).map((n) => ({ label: "@" + n, note: "Everybody who may see this channel", icon: icon("people", true), run: () => complete(at, `@${n} `) }));
  return [...people, ...roles, ...all];
}

function suggestions() {
  const slash = /^\/([\w -]*)$/.exec(field.value);
  if (slash) {
    const typed = slash[1].toLowerCase().trimEnd();
    const found = [...commands.filter((c) => c.name.startsWith(typed)), ...commands.filter((c) => !c.name.startsWith(typed) && c.name.includes(typed))];
    return found.map((c) => ({ label: "/" + c.name, note: c.description, options: c.options || [], run: () => begin(c), more: () => begin(c, true) }));
  }
  const at = wordAt();
  switch (at?.sign) {
    case "@": return mentionable(at);
    case "#": return state.channels.filter((c) => c.kind !== "dm" && c.name.toLowerCase().startsWith(at.text))
      .map((c) => ({ label: "#" + c.name, note: c.topic, icon: icon(c.kind === "thread" ? "thread" : "hash", true), run: () => complete(at, `#${c.name} `) }));
    case ":": return matching(at.text, 8).map(([n, c]) => ({ label: `:${n}:`, icon: c, note: "", run: () => complete(at, c + " ") }));
  }
  return [];
}

function suggest() {
  menuItems = document.activeElement === field ? suggestions() : [];
  chosen = Math.min(chosen, Math.max(0, menuItems.length - 1));
  drawMenu();
}

function drawMenu() {
  menu.hidden = menuItems.length === 0;
  field.setAttribute("aria-expanded", String(!menu.hidden));
  if (menu.hidden) field.removeAttribute("aria-activedescendant");
  else field.setAttribute("aria-activedescendant", `menu${chosen}`);
  fill(menu, menuItems.map((item, i) => h("div", {
    id: `menu${i}`, role: "option", class: "choice" + (i === chosen ? " active" : ""), "aria-selected": String(i === chosen),
    onpointerdown: (e) => { e.preventDefault(); item.run(); },
  }, item.icon || null, h("span", { class: "label" }, h("b", { class: item.color ? "role-color" : "", style: inRoleColor(item.color) }, item.label),
    (item.options || []).map((o) => h("span", { class: "opt" + (o.required ? " required" : "") }, o.name)), h("span", { class: "note" }, item.note || "")))),
  menuItems.some((i) => i.options?.length) ? h("div", { class: "hint", "aria-hidden": "true" }, "Enter runs it, Tab asks for its options") : null);
  menu.querySelector(".active")?.scrollIntoView({ block: "nearest" });
}

function complete(at, text) {
  const after = field.value.slice(field.selectionStart);
  const before = field.value.slice(0, at.from) + text;
  field.value = before + after.replace(/^ /, "");
  field.setSelectionRange(before.length, before.length);
  field.focus();
  grow();
  keepDraft();
  suggest();
}

// --- commands

// begin runs a command that needs nothing more, at once: nobody who wants to stop something fills in a form. Options
// that may stay away are asked for with Tab.
function begin(c, all) {
  if (!c.options?.some((o) => all || o.required)) {
    setText("");
    interact("slash", { channel: state.current, name: c.name, options: {} });
    return;
  }
  const at = state.current;
  const close = () => { form = null; drawAbove(); field.focus(); };
  form = optionForm(c, at, {
    run: async (options) => {
      close();
      await interact("slash", { channel: at, name: c.name, options });
    },
    cancel: close,
  });
  setText("");
  drawAbove();
  form.focus();
}

async function loadCommands() {
  const at = state.current;
  const a = at && await look("commands", { channel: at });
  if (!a || at !== state.current) return;
  commands = a.commands;
  suggest();
}

// --- sending

async function submit() {
  if (field.disabled) return;
  const text = toWire(field.value);
  const command = /^\/([\w-]+(?: [\w-]+)*)\s*$/.exec(field.value);
  const exact = command && commands.find((c) => c.name === command[1]);
  if (exact) {
    begin(exact);
    return;
  }
  if (!text.trim() && !files.length) return;
  // What is surely refused is not sent at all, as Discord's own client does it.
  const large = files.filter((f) => f.size > mostOfOne);
  if (large.length || files.reduce((n, f) => n + f.size, 0) > most) {
    toast("Request entity too large (40005)", large.length ? large.map((f) => `${f.name}: ${size(f.size)}, at most 10 MB`) : ["All files together: at most 25 MB"]);
    return;
  }
  const was = { text: field.value, files, replyTo, ping, key: shown };
  const sent = files;
  const body = { channel: state.current, text, reply_to: replyTo?.id || "", silent: Boolean(replyTo) && !ping };
  replyTo = null;
  files = [];
  setText("");
  drawAbove();
  const ok = await act("say", { ...body, files: await Promise.all(sent.map(encodeFile)) });
  if (ok) lastTyping = 0;
  if (ok || shown !== was.key || field.value.trim()) return;
  ({ files, replyTo, ping } = was);
  drawAbove();
  setText(was.text);
}

function tellTyping() {
  if (Date.now() - lastTyping < 8000 || !here()?.can_send || field.value.startsWith("/") || !field.value.trim()) return;
  lastTyping = Date.now();
  act("type", { channel: state.current });
}

field.addEventListener("input", () => {
  chosen = 0;
  grow();
  keepDraft();
  suggest();
  tellTyping();
});
field.addEventListener("click", suggest);
field.addEventListener("blur", () => { menuItems = []; drawMenu(); });
field.addEventListener("focus", suggest);

field.addEventListener("keydown", (e) => {
  if (e.isComposing) return;
  const n = menuItems.length;
  if (n && (e.key === "ArrowDown" || e.key === "ArrowUp")) {
    e.preventDefault();
    chosen = (chosen + (e.key === "ArrowDown" ? 1 : n - 1)) % n;
    drawMenu();
  } else if (n && ((e.key === "Tab" && !e.shiftKey) || (e.key === "Enter" && !e.shiftKey))) {
    e.preventDefault();
    const item = menuItems[chosen];
    if (e.key === "Tab" && item.more) item.more();
    else item.run();
  } else if (n && e.key === "Escape") {
    e.stopPropagation();
    menuItems = [];
    drawMenu();
  } else if (e.key === "Enter" && !e.shiftKey) {
    e.preventDefault();
    submit();
  } else if (e.key === "Escape" && replyTo) {
    setReply(null);
  } else if (e.key === "ArrowUp" && field.value === "") {
    const mine = messagesIn(state.current).findLast((m) => m.author === state.me && !m.ephemeral);
    if (mine) {
      e.preventDefault();
      edit(mine.id);
    }
  }
});

field.addEventListener("paste", (e) => {
  const pasted = [...(e.clipboardData?.files || [])];
  if (pasted.length) {
    e.preventDefault();
    addFiles(pasted);
  }
});

const chat = $("chat");
const carriesFiles = (e) => e.dataTransfer?.types.includes("Files");
chat.addEventListener("dragover", (e) => {
  if (!carriesFiles(e) || field.disabled) return;
  e.preventDefault();
  chat.classList.add("dropping");
});
chat.addEventListener("dragleave", (e) => { if (!chat.contains(e.relatedTarget)) chat.classList.remove("dropping"); });
chat.addEventListener("drop", (e) => {
  chat.classList.remove("dropping");
  if (!carriesFiles(e)) return;
  e.preventDefault();
  if (!field.disabled) addFiles(e.dataTransfer.files);
});

// Typing anywhere goes to the message, as in Discord.
document.addEventListener("keydown", (e) => {
  const busy = document.activeElement?.closest?.("textarea, input, select, dialog, .picker, .list, button, a, summary, .message, [role=button]");
  if (e.key.length === 1 && e.key !== " " && !e.ctrlKey && !e.metaKey && !e.altKey && !busy) field.focus();
});

// On a phone the keyboard comes up only when somebody asks for it.
const touch = matchMedia("(pointer: coarse)");

on("select", () => {
  const c = here();
  const key = draftKey();
  if (shown !== key) {
    shown = key;
    const draft = pref(key, {});
    files = [];
    form = null;
    ping = true;
    replyTo = draft.reply || null;
    setText(draft.text || "");
  }
  field.disabled = !c?.can_send;
  for (const b of [attach, smile, send]) b.disabled = !c?.can_send;
  field.placeholder = !c ? "" : !c.can_send ? "You do not have permission to send messages in this channel." : c.kind === "text" ? `Message #${c.name}` : `Message ${c.name}`;
  drawAbove();
  loadCommands();
  if (!touch.matches && !document.querySelector("dialog[open]") && !chat.inert) field.focus();
});
on("here", () => { field.disabled = !here()?.can_send; });
on("commands", loadCommands);
on("reply", (m) => { form = null; setReply(m); field.focus(); });
on("deleted", ({ id }) => { if (replyTo?.id === id) setReply(null); });
on("compose", (text) => {
  if (typeof text === "string") setText(text);
  field.focus();
});

