// The turn inspector: what the bot made of each message, live.

import { $, h, fill, took, clock } from "./dom.js";
import { state, on, user, channel, findMessage, select } from "./store.js";
import { usageOf, isOpen } from "./turns.js";
import { plain } from "./markdown.js";
import { jump } from "./messages.js";

const box = $("inspector");
const list = h("div", { class: "turns", role: "listbox", "aria-label": "Turns", tabindex: "0" });
const detail = h("div", { class: "detail" });
const follow = h("input", { type: "checkbox", id: "follow", checked: true, onchange: () => draw() });
fill(box,
  h("header", null, h("h2", null, "Turn inspector"), h("label", { title: "Always show the newest turn" }, follow, " newest")),
  list, detail);

let pinned = ""; // a turn or decision that was chosen
let opened = new Map(); // which parts were opened or closed by hand
let pending = false;

const keyOf = (x) => x.id || `d${x.message_id}${x.at}`;
const isDecision = (x) => !x.id;

// all are turns and decisions, newest first.
function all() {
  const both = [...state.turns.list, ...state.turns.decisions];
  const at = (x) => new Date(x.queuedAt || x.at).getTime();
  return both.sort((a, b) => at(b) - at(a));
}

function current() {
  const items = all();
  if (follow.checked || !pinned) return items.find((x) => !isDecision(x)) || items[0];
  return items.find((x) => keyOf(x) === pinned) || items[0];
}

function choose(x) {
  follow.checked = false;
  pinned = keyOf(x);
  draw();
}

const statusWords = {
  queued: "waiting", running: "running", completed: "completed", empty_response: "empty answer", error: "error", timeout: "timeout",
  stopped_by_user: "stopped", follow_up_interrupt: "follow-up", denied: "denied", max_iterations: "too many steps",
  interrupted: "interrupted", skipped: "skipped",
};

function mood(status) {
  if (status === "running" || status === "queued") return "open";
  if (status === "completed") return "good";
  if (["error", "timeout", "max_iterations", "interrupted"].includes(status)) return "bad";
  return "mild";
}

const badge = (status) => h("span", { class: `badge ${mood(status)}`, title: status }, statusWords[status] || status);

function prompt(messageID) {
  const m = findMessage(messageID);
  return m ? plain(m.content) || "(no text)" : "(a message not shown here)";
}

function where(c) {
  const found = channel(c);
  if (!found) return "a private chat";
  return found.kind === "dm" ? "private chat" : "#" + found.name;
}

function lasted(t) {
  if (!t.startedAt) return "";
  const end = t.endedAt ? new Date(t.endedAt) : new Date();
  return took(Math.max(0, end - new Date(t.startedAt)));
}

// why is the reason of a decision in words.
const why = (d) => (d.text.split(":")[1] || d.text).replaceAll("_", " ");

function row(x, selected) {
  const d = isDecision(x);
  return h("div", {
    class: `turn${selected ? " current" : ""}${d ? " decision" : ""}`, role: "option", "aria-selected": String(selected), data: { key: keyOf(x) },
    onclick: () => choose(x),
  },
  d ? h("span", { class: "badge none", title: x.text }, why(x)) : badge(x.status),
  h("span", { class: "prompt" }, prompt(d ? x.message_id : x.message)),
  h("span", { class: "ago" }, d ? clock(x.at) : lasted(x)));
}

function drawList(shown) {
  const items = all().slice(0, 40);
  if (!items.length) {
    fill(list, h("p", { class: "empty" }, "Nothing yet. Mention the bot, and its turn appears here."));
    return;
  }
  fill(list, items.map((x) => row(x, x === shown)));
}

// part is a section that remembers whether it is open over redraws.
function part(key, open, title, ...body) {
  const e = h("details", { open: opened.has(key) ? opened.get(key) : open }, h("summary", null, title), body);
  e.firstChild.addEventListener("click", () => opened.set(key, !e.open));
  return e;
}

// pretty shows JSON indented, as the text it is: numbers keep their digits.
function pretty(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let out = "", depth = 0, quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      out += c;
      if (c === "\\") out += text[++i];
      else if (c === "\"") quoted = false;
      continue;
    }
    if (/\s/.test(c)) continue;
    const line = () => "\n" + "  ".repeat(depth);
    if (c === "\"") { quoted = true; out += c; }
    else if (c === "{" || c === "[") {
      const rest = text.slice(i + 1).match(/^\s*([}\]])/);
      if (rest) { out += c + rest[1]; i += rest[0].length; }
      else { depth++; out += c + line(); }
    }
    else if (c === "}" || c === "]") { depth--; out += line() + c; }
    else if (c === ",") out += c + line();
    else if (c === ":") out += ": ";
    else out += c;
  }
  return out;
}

function call(t, c) {
  const running = c.status === "running";
  const state = running ? (isOpen(t) ? (c.card ? "waits for approval" : "running") : "never ended") : c.reason || c.status;
  const cls = running ? "open" : c.status === "done" ? "good" : ["denied", "not_run", "stopped"].includes(c.reason) ? "mild" : "bad";
  return h("div", { class: `call ${cls}` },
    h("div", { class: "call-head" }, h("b", null, c.tool), h("span", { class: `badge ${cls}` }, state),
      c.card ? h("span", { class: "badge none", title: "It asked a person first" }, "approval") : null,
      c.took ? h("span", { class: "ago" }, took(c.took)) : null),
    c.arguments ? part(`${t.id}${c.key}a`, c.arguments.length < 600, "Arguments", h("pre", null, pretty(c.arguments))) : null,
    c.result ? part(`${t.id}${c.key}r`, c.result.length < 1200, "Result", h("pre", null, pretty(c.result))) : null);
}

function item(t, i, x, n) {
  switch (x.kind) {
    case "call": return call(t, x);
    case "thinking": return part(`${t.id}${i.n}t${n}`, true, "Thinking", h("p", { class: "thought" }, x.text));
    case "context": return h("p", { class: "notice" }, "Context added: ", x.text);
  }
  return h("div", { class: "said" }, x.text);
}

function iteration(t, i) {
  const u = i.usage;
  return h("section", { class: "iteration" },
    h("h4", null, `Iteration ${i.n}`, u ? h("span", { class: "ago" }, `${u.input_tokens || 0} in, ${u.output_tokens || 0} out`) : null),
    i.items.map((x, n) => item(t, i, x, n)));
}

function fact(name, value) {
  return value ? [h("dt", null, name), h("dd", null, value)] : null;
}

const doneWords = { end_turn: "end of turn", stopped: "stopped", error: "error", max_iterations: "iteration limit" };

function turnDetail(t) {
  const u = usageOf(t);
  const calls = [...t.calls.values()];
  return [
    h("div", { class: "title" }, badge(t.status), h("button", { type: "button", class: "linklike prompt", title: "Go to the message", onclick: () => go(t.channel, t.message) }, prompt(t.message))),
    h("dl", null,
      fact("Admission", reason(t.reason)),
      fact("Who, where", `${user(t.owner).name} in ${where(t.channel)}`),
      fact("Model", [t.model, t.provider && t.provider !== t.model ? `(${t.provider})` : ""].join(" ").trim()),
      fact("Time", lasted(t) || "waiting"),
      fact("Round trips", String(t.iterations.length)),
      fact("Tool calls", calls.length ? `${calls.length} (${calls.filter((c) => c.status === "done").length} done)` : "none"),
      fact("Tokens", u.known ? `${u.input} in, ${u.output} out${u.cached ? `, ${u.cached} from cache` : ""}` : ""),
      fact("Ended", t.done ? doneWords[t.done] || t.done : ""),
      fact("Turn", h("code", null, t.id))),
    t.iterations.map((i) => iteration(t, i)),
    t.notices.length ? part(`${t.id}n`, true, "Hidden notices", t.notices.map((n) => h("p", { class: "notice" }, n))) : null,
    t.cut ? h("p", { class: "notice" }, "This turn had more events than are kept.") : null,
    isOpen(t) && t.status === "running" ? h("p", { class: "live" }, h("i"), "running") : null,
  ];
}

function reason(text) {
  const [what, why] = String(text || "").split(":");
  return why ? `${what}: ${why.replaceAll("_", " ")}` : what;
}

function decisionDetail(d) {
  return [
    h("div", { class: "title" }, h("span", { class: "badge none", title: d.text }, why(d)), h("button", { type: "button", class: "linklike prompt", onclick: () => go(d.channel_id, d.message_id) }, prompt(d.message_id))),
    h("dl", null, fact("Admission", reason(d.text)), fact("Who, where", `${user(d.owner_id).name} in ${where(d.channel_id)}`)),
    h("p", { class: "notice" }, "No turn was started for this message."),
  ];
}

function go(c, id) {
  if (c !== state.current) select(c);
  jump(id);
}

let shownKey = "";

function draw() {
  pending = false;
  const x = current();
  drawList(x);
  const bottom = detail.scrollHeight - detail.scrollTop - detail.clientHeight < 40;
  const top = detail.scrollTop;
  fill(detail, !x ? null : isDecision(x) ? decisionDetail(x) : turnDetail(x));
  const key = x ? keyOf(x) : "";
  if (key !== shownKey) detail.scrollTop = 0;
  else detail.scrollTop = bottom && x && isOpen(x) ? detail.scrollHeight : top;
  shownKey = key;
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
  const at = items.indexOf(current());
  const next = items[Math.max(0, Math.min(items.length - 1, at + (e.key === "ArrowDown" ? 1 : -1)))];
  if (next) choose(next);
  list.querySelector(".current")?.scrollIntoView({ block: "nearest" });
});

on("turn turns message snapshot", soon);
on("inspect", (m) => {
  const x = state.turns.about(m) || state.turns.decisionAbout(m);
  document.body.classList.remove("no-inspector");
  if (x) choose(x);
});
// Times of running turns go on between events.
setInterval(() => { if (state.turns.list.some(isOpen)) soon(); }, 500);
draw();
