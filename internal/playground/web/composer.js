// Where messages are written: text, mentions, files, replies, and slash commands with their options.

import { $, h, fill, avatar, size, toast } from "./dom.js";
import { state, on, user, here, messagesIn } from "./store.js";
import { act, look, encodeFile } from "./api.js";
import { edit, toWire } from "./messages.js";
import { plain } from "./markdown.js";
import { interact } from "./dialogs.js";
import { optionForm } from "./options.js";

const maxBytes = 8 << 20;
const drafts = new Map(); // channel -> text

let commands = [];
let replyTo = null;
let files = [];
let chosen = 0; // in the open menu
let menuItems = [];
let form = null; // a command whose options are being filled in
let lastTyping = 0;

const field = h("textarea", { id: "text", rows: 1, autocomplete: "off", spellcheck: true, "aria-label": "Message", "aria-autocomplete": "list", "aria-controls": "menu", "aria-expanded": "false" });
const menu = h("div", { id: "menu", role: "listbox", hidden: true });
const above = h("div", { class: "above" });
const picker = h("input", { type: "file", multiple: true, hidden: true, onchange: (e) => { addFiles(e.currentTarget.files); e.currentTarget.value = ""; } });
const attach = h("button", { type: "button", class: "attach", title: "Attach files", "aria-label": "Attach files", onclick: () => picker.click() }, "+");
const send = h("button", { type: "button", class: "send", title: "Send (Enter)", "aria-label": "Send", onclick: () => submit() }, "➤");
const shell = h("div", { class: "shell" }, attach, field, send);
fill($("composer"), menu, above, shell, picker);

function grow() {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, 260)}px`;
}

function setText(text) {
  field.value = text;
  field.setSelectionRange(text.length, text.length);
  grow();
  suggest();
}

// --- what stands above the text: reply, files, a command's options

function drawAbove() {
  fill(above);
  if (form) {
    above.append(form.element);
  } else {
    if (replyTo) {
      above.append(h("div", { class: "bar" }, h("span", null, "Replying to ", h("b", null, user(replyTo.author).name), h("span", { class: "excerpt" }, plain(replyTo.content))),
        h("button", { type: "button", title: "Cancel the reply (Escape)", "aria-label": "Cancel the reply", onclick: () => { replyTo = null; drawAbove(); field.focus(); } }, "✕")));
    }
    if (files.length) {
      above.append(h("div", { class: "bar" }, h("span", null, files.map((f, i) => h("span", { class: "chip" }, f.name, " ", size(f.size),
        h("button", { type: "button", "aria-label": `Remove ${f.name}`, onclick: () => { files.splice(i, 1); drawAbove(); } }, "✕"))))));
    }
  }
  shell.hidden = Boolean(form);
}

function addFiles(list) {
  const all = [...files, ...list];
  if (all.length > 10 || all.reduce((n, f) => n + f.size, 0) > maxBytes) {
    toast("That is too much for one message: at most 10 files and 8 MB.");
    return;
  }
  files = all;
  drawAbove();
  field.focus();
}

// --- suggestions for @ and /

function wordAt() {
  const upTo = field.value.slice(0, field.selectionStart);
  const m = /(^|\s)@([\p{L}\p{N}_]*)$/u.exec(upTo);
  return m ? { from: upTo.length - m[2].length - 1, text: m[2].toLowerCase() } : null;
}

function suggest() {
  menuItems = [];
  const slash = /^\/([\w -]*)$/.exec(field.value);
  const at = wordAt();
  if (slash) {
    const typed = slash[1].toLowerCase().trimEnd();
    menuItems = commands.filter((c) => c.name.startsWith(typed)).map((c) => ({
      label: "/" + c.name, note: c.description, options: c.options || [], run: () => begin(c), more: () => begin(c, true),
    }));
  } else if (at) {
    menuItems = Object.entries(state.users).filter(([id, u]) => visible(id) && u.name.toLowerCase().startsWith(at.text))
      .sort(([, a], [, b]) => Number(Boolean(b.bot)) - Number(Boolean(a.bot)))
      .map(([, u]) => ({ label: u.name, note: u.bot ? "the bot" : "", user: u, run: () => complete(at, u.name) }));
  }
  chosen = Math.min(chosen, Math.max(0, menuItems.length - 1));
  drawMenu();
}

const visible = (id) => id === state.bot || state.people.some((p) => p.id === id);

function drawMenu() {
  menu.hidden = menuItems.length === 0;
  field.setAttribute("aria-expanded", String(!menu.hidden));
  if (menu.hidden) field.removeAttribute("aria-activedescendant");
  else field.setAttribute("aria-activedescendant", `menu${chosen}`);
  fill(menu, menuItems.map((item, i) => h("div", {
    id: `menu${i}`, role: "option", class: "menu-item" + (i === chosen ? " chosen" : ""), "aria-selected": String(i === chosen),
    onpointerdown: (e) => { e.preventDefault(); item.run(); },
  }, item.user ? avatar(item.user, true) : null, h("b", null, item.label),
  (item.options || []).map((o) => h("span", { class: "opt" + (o.required ? " required" : "") }, o.name)), h("span", { class: "note" }, item.note))),
  menuItems.some((i) => i.options?.length) ? h("div", { class: "hint", "aria-hidden": "true" }, "Enter runs it, Tab asks for its options") : null);
  menu.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
}

function complete(at, name) {
  const after = field.value.slice(field.selectionStart);
  const before = field.value.slice(0, at.from) + "@" + name + " ";
  field.value = before + after.replace(/^ /, "");
  field.setSelectionRange(before.length, before.length);
  field.focus();
  grow();
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
    cancel: () => { close(); setText(""); },
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
  const text = toWire(field.value);
  const command = /^\/([\w-]+(?: [\w-]+)*)\s*$/.exec(field.value);
  const exact = command && commands.find((c) => c.name === command[1]);
  if (exact) {
    begin(exact);
    return;
  }
  if (!text.trim() && !files.length) return;
  const was = { text: field.value, files, replyTo, channel: state.current };
  const sent = files;
  setText("");
  files = [];
  replyTo = null;
  drawAbove();
  const ok = await act("say", {
    channel: was.channel, text, reply_to: was.replyTo?.id || "", files: await Promise.all(sent.map(encodeFile)),
  });
  if (ok || state.current !== was.channel || field.value) return;
  ({ files, replyTo } = was);
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
  } else if (n && (e.key === "Tab" || (e.key === "Enter" && !e.shiftKey))) {
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
    replyTo = null;
    drawAbove();
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
chat.addEventListener("dragover", (e) => { if (e.dataTransfer?.types.includes("Files")) e.preventDefault(); });
chat.addEventListener("drop", (e) => {
  if (!e.dataTransfer?.files.length) return;
  e.preventDefault();
  addFiles(e.dataTransfer.files);
});

// Typing anywhere goes to the message, as in Discord.
document.addEventListener("keydown", (e) => {
  const busy = document.activeElement?.closest?.("textarea, input, select, dialog, .picker, button, a, summary");
  if (e.key.length === 1 && e.key !== " " && !e.ctrlKey && !e.metaKey && !e.altKey && !busy && !document.activeElement?.closest?.(".message")) field.focus();
});

let shown = "";
on("select", () => {
  if (shown && shown !== state.current) drafts.set(shown, field.value);
  if (shown !== state.current) {
    replyTo = null;
    files = [];
    form = null;
    setText(drafts.get(state.current) || "");
  }
  shown = state.current;
  const c = here();
  field.disabled = !c?.can_send;
  field.placeholder = !c ? "" : !c.can_send ? "You cannot write here" : c.kind === "dm" ? `Message ${c.name}` : c.kind === "thread" ? `Message ${c.name}` : `Message #${c.name}`;
  drawAbove();
  loadCommands();
  field.focus();
});
on("commands", loadCommands);
on("reply", (m) => { replyTo = m; form = null; drawAbove(); field.focus(); });
on("deleted", ({ id }) => { if (replyTo?.id === id) { replyTo = null; drawAbove(); } });
on("compose", (text) => {
  if (typeof text === "string") setText(text);
  field.focus();
});
