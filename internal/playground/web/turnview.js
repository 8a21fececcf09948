// One turn as the inspector shows it: what it might use, then its round trips in order, then what Discord was asked.

import { h, took, clock } from "./dom.js";
import { state, user, channel, findMessage, select } from "./store.js";
import { usageOf, price, isOpen } from "./turns.js";
import { plain } from "./markdown.js";
import { pretty } from "./json.js";
import { jump } from "./messages.js";
import { line, wireOf } from "./wire.js";

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

export const badge = (status) => h("span", { class: `badge ${mood(status)}`, title: status }, statusWords[status] || status);

export function prompt(messageID) {
  const m = findMessage(messageID);
  return m ? plain(m.content) || "(no text)" : "(a message not shown here)";
}

export function where(c) {
  const found = channel(c);
  if (!found) return "a private chat";
  return found.kind === "dm" ? "private chat" : "#" + found.name;
}

export function lasted(t) {
  if (!t.startedAt) return "";
  const end = t.endedAt ? new Date(t.endedAt) : new Date();
  return took(Math.max(0, end - new Date(t.startedAt)));
}

// why is the reason of a decision in words.
export const why = (d) => (d.text.split(":")[1] || d.text).replaceAll("_", " ");

function reason(text) {
  const [what, because] = String(text || "").split(":");
  return because ? `${what}: ${because.replaceAll("_", " ")}` : what;
}

// opened remembers over redraws which parts were opened or closed by hand.
const opened = new Map();

export function part(key, open, title, ...body) {
  const e = h("details", { open: opened.has(key) ? opened.get(key) : open }, h("summary", { data: { focus: key } }, title), body);
  e.firstChild.addEventListener("click", () => opened.set(key, !e.open));
  return e;
}

const passedWord = "passed: ";

// gates are the checks that a call met, in order; the last may be the one that refused it.
function gates(c) {
  if (!c.gates.length) return null;
  return h("ol", { class: "gates", "aria-label": "Checks of this call" }, c.gates.map((g) => h("li", { class: g.passed ? "passed" : "refused" },
    h("span", { class: "mark", "aria-hidden": "true" }, g.passed ? "✓" : "✕"), h("span", { class: "unseen" }, g.passed ? passedWord : "refused: "),
    g.gate, g.note ? h("span", { class: "note" }, g.passed ? ` (${g.note})` : `: ${g.note}`) : null)));
}

const approverWords = { owner: "the owner or a moderator", moderator: "a moderator" };

function approval(c) {
  const a = c.approval;
  if (!a) return c.card && c.status === "running" ? h("p", { class: "asked" }, "A card is open: somebody has to decide.") : null;
  const waited = took(Math.max(0, new Date(a.decided) - new Date(a.asked)));
  const by = a.by ? [" by ", h("b", null, user(a.by).name)] : "";
  return h("p", { class: "asked" }, h("span", { class: `badge ${a.state === "approved" ? "good" : "mild"}` }, a.state), by,
    ` at ${clock(a.decided)}, after ${waited}. It asked ${approverWords[a.approver] || a.approver}.`,
    a.reason ? ["  Reason: ", h("q", null, a.reason)] : null);
}

function call(t, c) {
  const running = c.status === "running";
  const word = running ? (isOpen(t) ? (c.card ? "waits for approval" : "running") : "never ended") : (c.reason || c.status).replaceAll("_", " ");
  const cls = running ? "open" : c.status === "done" ? "good" : ["denied", "not_run", "stopped", "blocked"].includes(c.reason) ? "mild" : "bad";
  return h("div", { class: `call ${cls}` },
    h("div", { class: "call-head" }, h("b", null, c.tool), h("span", { class: `badge ${cls}` }, word),
      c.took ? h("span", { class: "ago" }, took(c.took)) : null),
    gates(c),
    approval(c),
    c.arguments ? part(`${t.id}${c.key}a`, c.arguments.length < 600, "Arguments", h("pre", null, pretty(c.arguments))) : null,
    c.result ? part(`${t.id}${c.key}r`, c.result.length < 600, "Result", h("pre", null, pretty(c.result))) : null,
    c.window ? h("p", { class: "notice" }, `It stays offered here for ${c.window} more ${c.window === 1 ? "turn" : "turns"}.`) : null);
}

function item(t, i, x, n) {
  switch (x.kind) {
    case "call": return call(t, x);
    case "thinking": return part(`${t.id}${i.n}t${n}`, true, "Thinking", h("p", { class: "thought" }, x.text));
    case "context": return h("p", { class: "notice" }, "Context added: ", x.text);
  }
  return h("div", { class: "said" }, x.text);
}

const oddEnds = { length: "cut at the output limit", filtered: "stopped by the provider's filter", missing: "ended without a reason", error: "ended with an error" };

function iteration(t, i) {
  const u = i.usage;
  const tokens = u ? [`${u.input_tokens || 0} in, ${u.output_tokens || 0} out`, price(u.cost_nanos, u.unpriced)].filter(Boolean).join(" · ") : "";
  const began = t.startedAt && i.at ? `+${took(Math.max(0, new Date(i.at) - new Date(t.startedAt)))}` : "";
  const next = t.attempts.find((a) => a.iteration === i.n && a.after);
  return [
    next ? h("p", { class: "notice" }, `The model before failed (${next.after.replaceAll("_", " ")}); ${next.model} is asked instead.`) : null,
    h("section", { class: "iteration" },
      h("h4", null, `Round trip ${i.n + 1}`, h("span", { class: "ago" }, [began, tokens].filter(Boolean).join(" · "))),
      i.items.map((x, n) => item(t, i, x, n)),
      oddEnds[i.finish] ? h("p", { class: "notice" }, `The answer was ${oddEnds[i.finish]}.`) : null),
  ];
}

function fact(name, value) {
  return value ? [h("dt", null, name), h("dd", null, value)] : null;
}

const doneWords = { end_turn: "end of turn", stopped: "stopped", error: "error", max_iterations: "iteration limit" };

function plan(t) {
  const p = t.plan;
  if (!p) return null;
  const windows = state.turns.windows(t);
  if (!p.deliberate && !windows.length && !p.off?.length) return null;
  const left = (n) => (n === 0 ? "closed" : n === "?" ? "open" : `${n} left`);
  return part(`${t.id}plan`, true, "What it might use",
    p.deliberate ? h("p", { class: "notice" }, p.allowed?.length ? "Deliberate mode offers:" : "Deliberate mode offers nothing: no word of the message asks for a tool.") : null,
    p.allowed?.length ? h("ul", { class: "allowed" }, p.allowed.map((a) => h("li", null, h("code", null, a.tool),
      ` by ${a.source}${a.trigger ? ` trigger “${a.trigger}”` : ""}`))) : null,
    p.off?.length ? h("p", { class: "notice" }, `Switched off here: ${p.off.join(", ")}`) : null,
    windows.length ? h("table", { class: "windows" }, h("caption", null, "Affordance windows, in turns"),
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "tool"), h("th", { scope: "col" }, "before"), h("th", { scope: "col" }, "after"))),
      h("tbody", null, windows.map((w) => h("tr", null, h("th", { scope: "row" }, w.tool), h("td", null, left(w.before)), h("td", null, left(w.after)))))) : null);
}

function requests(t) {
  const lines = wireOf(t);
  if (!lines.length) return null;
  return part(`${t.id}w`, false, `Discord requests meanwhile (${lines.length})`, lines.map((l) => line(l, t.id)));
}

// turnDetail shows a turn. copy copies it as a scene.
export function turnDetail(t, copy) {
  const u = usageOf(t);
  const calls = [...t.calls.values()];
  const cost = u.known ? price(u.nanos, u.unpriced) : "";
  return [
    h("div", { class: "title" }, badge(t.status), h("button", { type: "button", class: "linklike prompt", title: "Go to the message", data: { focus: "go" }, onclick: () => go(t.channel, t.message) }, prompt(t.message))),
    isOpen(t) ? null : h("div", null, h("button", { type: "button", class: "button grey", data: { focus: "copy" }, title: "A scene file that reproduces this turn", onclick: () => copy(t) }, "Copy as a scene")),
    h("dl", null,
      fact("Admission", reason(t.reason)),
      fact("Who, where", `${user(t.owner).name} in ${where(t.channel)}`),
      fact("Model", [t.model, t.provider && t.provider !== t.model ? `(${t.provider})` : ""].join(" ").trim()),
      fact("Time", lasted(t) || "waiting"),
      fact("Round trips", String(t.iterations.length)),
      fact("Tool calls", calls.length ? `${calls.length} (${calls.filter((c) => c.status === "done").length} done)` : "none"),
      fact("Tokens", u.known ? `${u.input} in, ${u.output} out${u.cached ? `, ${u.cached} from cache` : ""}` : ""),
      fact("Cost", cost || (!u.known ? "" : t.provider === "rehearsal" ? "none: it runs here" : "not known")),
      fact("Ended", t.done ? doneWords[t.done] || t.done : ""),
      fact("Error", t.error.replaceAll("_", " ")),
      fact("Turn", h("code", null, t.id))),
    plan(t),
    t.iterations.map((i) => iteration(t, i)),
    t.notices.length ? part(`${t.id}n`, true, "Hidden notices", t.notices.map((n) => h("p", { class: "notice" }, n))) : null,
    t.cut ? h("p", { class: "notice" }, "This turn had more events than are kept.") : null,
    requests(t),
    isOpen(t) && t.status === "running" ? h("p", { class: "live" }, h("i"), "running") : null,
  ];
}

export function decisionDetail(d) {
  return [
    h("div", { class: "title" }, h("span", { class: "badge none", title: d.text }, why(d)), h("button", { type: "button", class: "linklike prompt", data: { focus: "go" }, onclick: () => go(d.channel_id, d.message_id) }, prompt(d.message_id))),
    h("dl", null, fact("Admission", reason(d.text)), fact("Who, where", `${user(d.owner_id).name} in ${where(d.channel_id)}`)),
    h("p", { class: "notice" }, "No turn was started for this message."),
  ];
}

function go(c, id) {
  if (c !== state.current) select(c);
  jump(id);
}
