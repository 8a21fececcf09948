// The message list: the part of a channel that this page holds, one element per message, lengthened at either end while
// somebody scrolls, with live messages at its end.

import { $, h, fill, append, toast } from "./dom.js";
import { state, on, emit, user, here, messagesIn, findMessage, addOlder, addNewer, replace, select } from "./store.js";
import { act, look } from "./api.js";
import { plain } from "./markdown.js";
import { build, toolbar, dots, react, isMine, mayDelete, mayThread, openThread, copyText } from "./message.js";
import { toTyped, toWire } from "./names.js";
import { welcome } from "./welcome.js";

const box = $("messages");
const present = $("present");
let drawn = new Map(); // id -> slot
let top = null; // what stands above the oldest message
let editing = ""; // the message being edited
let busy = false; // a part is on its way

const slotOf = (id) => drawn.get(id);
const articleOf = (id) => drawn.get(id)?.lastElementChild;

// --- drawing

function slot(list, i) {
  const m = list[i];
  const s = build(m, list[i - 1] || starter(i), { jump, editor: m.id === editing ? editor(m) : null });
  drawn.set(m.id, s);
  return s;
}

// starter is the message that a thread was opened from, which stands above the thread's first one.
const starter = (i) => (i === 0 && !state.more.get(state.current) ? here()?.starter : undefined);

function head() {
  if (state.more.get(state.current)) return h("div", { class: "older" }, h("button", { type: "button", class: "linklike", onclick: () => lengthen("before") }, "Show older messages"));
  const s = here()?.starter;
  return h("div", { class: "beginning" }, welcome(), s ? build(s, undefined, { jump: () => goto(here().parent, s.id) }) : null);
}

function drawAll() {
  drawn = new Map();
  const list = messagesIn(state.current);
  top = head();
  fill(box, top, list.map((_, i) => slot(list, i)));
  rove(list[list.length - 1]?.id);
  drawPresent();
}

function drawTop() {
  const now = head();
  top?.replaceWith(now);
  top = now;
}

// redraw draws one message again, and puts the focus back where it was in it.
function redraw(id) {
  const list = messagesIn(state.current);
  const i = list.findIndex((m) => m.id === id);
  if (i < 0) return;
  const old = slotOf(id);
  const focused = old?.contains(document.activeElement) ? document.activeElement : null;
  const key = focused?.dataset.key, acting = old?.querySelector(".toolbar"), stop = old?.lastElementChild.tabIndex === 0;
  const s = slot(list, i);
  if (old) old.replaceWith(s);
  else if (i + 1 < list.length && drawn.has(list[i + 1].id)) slotOf(list[i + 1].id).before(s);
  else box.append(s);
  if (acting) showTools(s.lastElementChild);
  if (stop) s.lastElementChild.tabIndex = 0;
  if (focused && document.activeElement !== focused) {
    const again = key ? [...s.querySelectorAll("[data-key]")].find((e) => e.dataset.key === key) : null;
    (again || s.lastElementChild).focus({ preventScroll: true });
  }
}

// still changes the list without moving what is on the screen.
function still(change) {
  const edge = box.getBoundingClientRect().top;
  // By its id: the element itself may be made anew by the change.
  const anchor = messagesIn(state.current).find((m) => articleOf(m.id)?.getBoundingClientRect().bottom > edge)?.id;
  const before = articleOf(anchor)?.getBoundingClientRect().top;
  change();
  if (anchor && drawn.has(anchor)) box.scrollTop += articleOf(anchor).getBoundingClientRect().top - before;
}

// lengthen fetches what comes before or after what is held.
async function lengthen(side) {
  if (busy) return;
  const c = state.current, list = messagesIn(c);
  if (!list.length) return;
  busy = true;
  const a = await look("history", { channel: c, [side]: side === "before" ? list[0].id : list[list.length - 1].id });
  busy = false;
  if (!a || c !== state.current) return;
  still(() => {
    const known = new Set(list.map((m) => m.id));
    const gone = side === "before" ? addOlder(c, a) : addNewer(c, a);
    for (const m of gone) {
      slotOf(m.id)?.remove();
      drawn.delete(m.id);
    }
    const fresh = [];
    list.forEach((m, i) => { if (!known.has(m.id)) fresh.push(slot(list, i)); });
    if (side === "before") {
      const first = list.find((m) => known.has(m.id));
      drawTop();
      top.after(...fresh);
      if (first) redraw(first.id); // Its head depends on the one before.
    } else {
      box.append(...fresh);
      if (gone.length) {
        drawTop();
        redraw(list[0].id);
      }
    }
  });
  drawPresent();
  scrolled();
}

// show holds the part of the channel around a message, or its newest part.
async function show(query) {
  const c = state.current;
  const a = await look("history", { channel: c, ...query });
  if (!a || c !== state.current) return false;
  replace(c, a);
  edit("");
  drawAll();
  return true;
}

async function toPresent() {
  if (state.newer.has(state.current) && !await show({})) return;
  toEnd();
  emit("compose");
}

// jump goes to a message of the current channel.
export async function jump(id) {
  if (!drawn.has(id) && (!await show({ around: id }) || !drawn.has(id))) {
    toast("That message is not there any more.");
    return;
  }
  const e = articleOf(id);
  e.scrollIntoView({ block: "center" });
  e.focus({ preventScroll: true });
  const name = matchMedia("(prefers-reduced-motion: reduce)").matches ? "reduced-flash" : "flash";
  e.classList.remove(name);
  void e.offsetWidth; // Starts the animation again.
  e.classList.add(name);
  setTimeout(() => e.classList.remove(name), 2000);
}

function goto(c, id) {
  if (c !== state.current) select(c);
  if (id) jump(id);
}

// --- where the list stands

const near = () => box.scrollHeight - box.scrollTop - box.clientHeight < 90;
const toEnd = () => { box.scrollTop = box.scrollHeight; };

function scrolled() {
  const at = near() && !state.newer.has(state.current);
  if (at !== state.atEnd) {
    state.atEnd = at;
    drawPresent();
  }
  if (box.scrollTop < 600 && state.more.get(state.current)) lengthen("before");
  else if (state.newer.has(state.current) && box.scrollHeight - box.scrollTop - box.clientHeight < 600) lengthen("after");
}

let missed = 0; // live messages that came while older ones were read

function drawPresent() {
  const ahead = state.newer.get(state.current);
  if (state.atEnd) missed = 0;
  const far = ahead !== undefined || box.scrollHeight - box.scrollTop - box.clientHeight > 1200;
  const n = (ahead || 0) + missed;
  present.hidden = state.atEnd || (!far && !n);
  if (present.hidden) return;
  fill(present, h("button", { type: "button", onclick: toPresent }, n ? `${n} new ${n === 1 ? "message" : "messages"}` : "You are reading older messages", h("span", null, "Jump to the present ↓")));
}

box.addEventListener("scroll", scrolled, { passive: true });
// The list stays at its end while it is resized.
new ResizeObserver(() => { if (state.atEnd) toEnd(); }).observe(box);

// --- editing

// edit opens the editor in a message, or closes it for no id.
export function edit(id) {
  const was = editing;
  editing = id;
  if (was) redraw(was);
  if (!id) return;
  redraw(id);
  const field = articleOf(id)?.querySelector("textarea");
  field?.focus();
  field?.setSelectionRange(field.value.length, field.value.length);
}

function editor(m) {
  const field = h("textarea", { class: "edit", "aria-label": "Edit the message", value: toTyped(m.content), rows: Math.min(10, m.content.split("\n").length) });
  const cancel = () => { edit(""); emit("compose"); };
  const save = async () => {
    const text = toWire(field.value);
    if (text === m.content || await act("edit", { message: m.id, text })) cancel();
  };
  field.addEventListener("keydown", (e) => {
    if (e.isComposing) return;
    e.stopPropagation();
    if (e.key === "Escape") cancel();
    if (e.key === "Enter" && !e.shiftKey) {
      e.preventDefault();
      save();
    }
  });
  return h("div", null, field, h("div", { class: "hint" }, "Escape to ", h("button", { type: "button", class: "linklike", onclick: cancel }, "cancel"), " • Enter to ", h("button", { type: "button", class: "linklike", onclick: save }, "save")));
}

// --- one message at a time has tools and is a stop of the Tab key; arrows go to the others

let acting = null;

function showTools(article) {
  if (acting && acting !== article) acting.querySelector(":scope > .toolbar")?.remove();
  acting?.classList.remove("acting");
  acting = article;
  if (!article || article.querySelector(":scope > .toolbar") || article.closest(".beginning")) return;
  const m = messagesIn(state.current).find((x) => x.id === article.dataset.id);
  if (!m || m.id === editing) return;
  article.classList.add("acting");
  article.append(toolbar(m, edit));
}

function rove(id) {
  for (const e of box.querySelectorAll(".message[tabindex='0']")) e.tabIndex = -1;
  const e = articleOf(id);
  if (e) e.tabIndex = 0;
}

box.addEventListener("pointerover", (e) => {
  const article = e.target.closest?.(".message");
  if (article && !(acting?.contains(document.activeElement) && acting.matches(":focus-within .toolbar *"))) showTools(article);
});
box.addEventListener("focusin", (e) => {
  const article = e.target.closest?.(".message");
  if (!article) return;
  showTools(article);
  rove(article.dataset.id);
});
box.addEventListener("pointerleave", () => { if (!acting?.contains(document.activeElement)) showTools(null); });

box.addEventListener("keydown", (e) => {
  if (e.target.matches("textarea, input, select")) return;
  const focused = document.activeElement.closest?.(".message");
  const all = [...box.querySelectorAll(".message")];
  const at = all.indexOf(focused);
  const m = focused && findMessage(focused.dataset.id);
  const go = (to) => { e.preventDefault(); all[Math.max(0, Math.min(all.length - 1, to))]?.focus(); };
  if (e.key === "ArrowUp") go(at < 0 ? all.length - 1 : at - 1);
  else if (e.key === "ArrowDown" && at === all.length - 1 && !state.newer.has(state.current)) { e.preventDefault(); emit("compose"); }
  else if (e.key === "ArrowDown") go(at + 1);
  else if (e.key === "Escape") emit("compose");
  else if (e.key === "End" && !e.ctrlKey) { e.preventDefault(); toPresent(); }
  else if (e.key === "Home" && !e.ctrlKey) { e.preventDefault(); box.scrollTop = 0; }
  else if (!m || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("button, a, [role=button]")) return;
  else if (e.key === "r" && !m.ephemeral && here()?.can_send) { e.preventDefault(); emit("reply", m); }
  else if (e.key === "e" && isMine(m)) { e.preventDefault(); edit(m.id); }
  else if (e.key === "t" && mayThread(m)) { e.preventDefault(); openThread(m); }
  else if (e.key === "c" && m.content) { e.preventDefault(); copyText(m); }
  else if (e.key === "+" && !m.ephemeral) { e.preventDefault(); react(m, focused); }
  else if (e.key === "i") { e.preventDefault(); emit("inspect", m); }
  else if (e.key === "Delete" && mayDelete(m)) act("delete", { message: m.id });
});

// --- what happens

on("message", ({ message: m, isNew }) => {
  tell(m);
  if (m.channel !== state.current) return;
  // Somebody else's change must not take the text that is being edited.
  if (m.id === editing && !isNew) return;
  const stick = state.atEnd || (isNew && isMine(m));
  const list = messagesIn(m.channel);
  if (isNew && list[list.length - 1].id === m.id) rove(m.id);
  if (isNew && !stick) missed++;
  const change = () => {
    redraw(m.id);
    const next = list[list.findIndex((x) => x.id === m.id) + 1];
    if (isNew && next) redraw(next.id);
    // A reply shows what it replies to.
    if (!isNew) {
      for (const other of list) {
        if (other.reply_to?.id === m.id && other.id !== editing) {
          other.reply_to.content = m.content.slice(0, 200);
          redraw(other.id);
        }
      }
    }
  };
  if (stick) {
    change();
    toEnd();
  } else {
    still(change);
    drawPresent();
  }
});

on("ahead", (c) => { if (c === state.current) drawPresent(); });

on("dropped", ({ channel, gone }) => {
  if (channel !== state.current) return;
  for (const m of gone) {
    slotOf(m.id)?.remove();
    drawn.delete(m.id);
  }
  drawTop();
  const first = messagesIn(channel)[0];
  if (first) redraw(first.id);
});

on("deleted", ({ id, channel }) => {
  if (channel !== state.current) return;
  const s = slotOf(id);
  const next = s?.nextElementSibling?.dataset.slot, before = s?.previousElementSibling?.dataset?.slot;
  if (editing === id) editing = "";
  if (s?.contains(document.activeElement)) (articleOf(next) || articleOf(before))?.focus({ preventScroll: true });
  s?.remove();
  drawn.delete(id);
  if (next) redraw(next);
  for (const other of messagesIn(channel)) {
    if (other.reply_to?.id === id) {
      other.reply_to = { id, deleted: true };
      redraw(other.id);
    }
  }
  if (state.atEnd) toEnd();
  if (!box.querySelector(".message[tabindex='0']")) rove(messagesIn(channel).at(-1)?.id);
});

// A turn that begins makes its messages ones to be inspected.
on("turn", (t) => {
  if (!t || !acting || acting.dataset.id !== t.message || t.marked) return;
  t.marked = true;
  redraw(t.message);
});

// A thread that was opened, renamed or closed shows under its message.
on("here", () => {
  for (const id of [...drawn.keys()]) {
    const open = state.channels.find((c) => c.id === id);
    const card = slotOf(id).querySelector(".thread-card b");
    if ((open?.name || "") !== (card?.textContent || "") && id !== editing) redraw(id);
  }
  if (state.atEnd) toEnd();
});
on("goto", (id) => goto(id));

let shown = "";
on("select", (again) => {
  const c = state.current;
  // After a lost connection the reader stays where they were.
  if (again === true && shown === c && !state.atEnd) {
    const edge = box.getBoundingClientRect().top;
    const reading = [...drawn.keys()].find((id) => articleOf(id).getBoundingClientRect().bottom > edge);
    if (reading) {
      const before = articleOf(reading).getBoundingClientRect().top;
      show({ around: reading }).then((ok) => {
        if (ok && drawn.has(reading)) box.scrollTop += articleOf(reading).getBoundingClientRect().top - before;
      });
      return;
    }
  }
  if (shown !== c || again !== true) editing = "";
  shown = c;
  missed = 0;
  if (!state.messages.has(c) && here()) {
    fill(box, h("div", { class: "older" }, "Loading…"));
    show({}).then(toEnd);
    return;
  }
  drawAll();
  toEnd();
  state.atEnd = true;
  drawPresent();
});

// --- what is read aloud: a message once it is complete, not each step of its way

const telling = new Map(); // id -> timer
function tell(m) {
  const old = telling.get(m.id);
  clearTimeout(old);
  const recent = Date.now() - new Date(m.created) < 15 * 60 * 1000;
  if (m.author === state.me || m.channel !== state.current || m.loading || (!old && m.edited && !recent)) return;
  telling.set(m.id, setTimeout(() => {
    telling.delete(m.id);
    const now = findMessage(m.id);
    if (now && now.channel === state.current) $("announce").textContent = `${user(now.author).name}: ${plain(now.content) || "an attachment"}`;
  }, 1500));
}

// --- typing line

const line = $("typing");
let typingNames = "";
function drawTyping() {
  const now = Date.now();
  const names = [];
  for (const [u, until] of state.typing.get(state.current) || []) {
    if (until > now && u !== state.me) names.push(user(u).name);
  }
  if (names.join() === typingNames) return;
  typingNames = names.join();
  fill(line);
  const text = names.length === 1 ? " is typing…" : " are typing…";
  if (names.length > 3) append(line, [dots(), "Several people are typing…"]);
  else if (names.length) append(line, [dots(), names.flatMap((n, i) => [i ? (i === names.length - 1 ? " and " : ", ") : "", h("b", null, n)]), text]);
}
on("typing select", drawTyping);
setInterval(drawTyping, 1000);

