// Discord's Markdown, as nodes. Input is untrusted: nothing here makes HTML, and every scan moves forward only.

import { h, toast } from "./dom.js";
import { state, user, channel, select } from "./store.js";
import { icon } from "./icons.js";
import { highlight } from "./highlight.js";

const maxDepth = 8;

// render gives the nodes of a message's text.
export function render(text) {
  const source = text.replace(/\r\n?/g, "\n");
  if (jumbo.test(source)) return [h("div", { class: "line jumbo" }, source.trim())];
  return blocks(source, { depth: 0, quoted: false });
}

// A message of nothing but a few emojis shows them large.
const jumbo = /^\s*(?:(?:\p{Extended_Pictographic}(?:\uFE0F|[\u{1F3FB}-\u{1F3FF}]|\u200D\p{Extended_Pictographic})*|\p{RI}\p{RI})\s*){1,27}$/u;

const heading = /^(#{1,3}) +(\S.*)$/;
const subtext = /^-# +(\S.*)$/;
const listItem = /^( *)([-*+]|\d{1,9}\.) +(\S.*)$/;
const fenceOpen = /```(?:([\w+\-.#]{1,20})\n)?/y;

// blocks reads a text line by line: headings, quotes, lists, code, and paragraphs of what is left.
function blocks(text, how) {
  const out = [];
  const lines = text.split("\n");
  let plain = []; // lines of the paragraph so far
  const flush = () => {
    if (plain.length) out.push(...paragraph(plain.join("\n"), how));
    plain = [];
  };
  for (let i = 0; i < lines.length;) {
    const line = lines[i];
    const deep = how.depth >= maxDepth;
    let m;
    if (!deep && !how.quoted && /^ *>>> /.test(line)) {
      flush();
      const rest = [line.replace(/^ *>>> /, ""), ...lines.slice(i + 1)].join("\n");
      out.push(h("blockquote", null, blocks(rest, { depth: how.depth + 1, quoted: true })));
      i = lines.length;
    } else if (!deep && !how.quoted && /^ *>( |$)/.test(line) && /^ *> /.test(line + " ")) {
      flush();
      const rest = [];
      for (; i < lines.length && /^ *> /.test(lines[i] + " "); i++) rest.push(lines[i].replace(/^ *> ?/, ""));
      out.push(h("blockquote", null, blocks(rest.join("\n"), { depth: how.depth + 1, quoted: true })));
    } else if ((m = heading.exec(line))) {
      flush();
      const level = m[1].length;
      out.push(h("div", { class: `heading h${level}`, role: "heading", "aria-level": String(level + 2) }, inline(m[2].replace(/ +#+ *$/, ""), 0)));
      i++;
    } else if ((m = subtext.exec(line))) {
      flush();
      out.push(h("div", { class: "subtext" }, inline(m[1], 0)));
      i++;
    } else if (!deep && listItem.test(line)) {
      flush();
      const [node, next] = list(lines, i, how);
      out.push(node);
      i = next;
    } else {
      // A block of code may have lines that look like something else.
      const end = codeEnd(lines, i);
      plain.push(...lines.slice(i, end));
      i = end;
    }
  }
  flush();
  return out;
}

// codeEnd is the index after the line that closes the block of code which a line opens, or after the line itself.
function codeEnd(lines, i) {
  let open = odd(lines[i]);
  if (!open) return i + 1;
  for (let j = i + 1; j < lines.length; j++) {
    if (odd(lines[j])) open = !open;
    if (!open) return j + 1;
  }
  return i + 1; // Never closed: it is no code.
}

const odd = (line) => (line.split("```").length - 1) % 2 === 1;

// list reads items at one indentation, each with the deeper lines that follow it.
function list(lines, i, how) {
  const [, indent, mark] = listItem.exec(lines[i]);
  const ordered = /\d/.test(mark);
  const items = [];
  while (i < lines.length) {
    const m = listItem.exec(lines[i]);
    if (!m || m[1].length > indent.length + 1 || m[1].length < indent.length || /\d/.test(m[2]) !== ordered) break;
    let end = codeEnd(lines, i);
    const inner = [m[3], ...lines.slice(i + 1, end)];
    const deeper = (line) => line.trim() !== "" && /^ */.exec(line)[0].length > m[1].length + 1;
    while (end < lines.length && deeper(lines[end])) {
      const next = codeEnd(lines, end);
      inner.push(...lines.slice(end, next));
      end = next;
    }
    const shift = Math.min(...inner.slice(1).filter((l) => l.trim()).map((l) => /^ */.exec(l)[0].length), Infinity);
    const body = inner.map((l, n) => (n && Number.isFinite(shift) ? l.slice(shift) : l)).join("\n");
    items.push(h("li", null, blocks(body, { depth: how.depth + 1, quoted: how.quoted })));
    i = end;
  }
  return [ordered ? h("ol", { start: Number(mark.slice(0, -1)) }, items) : h("ul", null, items), i];
}

// paragraph is text with blocks of code in it.
function paragraph(text, how) {
  const out = [];
  const say = (part) => { if (part !== "") out.push(h("div", { class: "line" }, inline(part, how.depth))); };
  let from = 0;
  for (let at = text.indexOf("```"); at >= 0; at = text.indexOf("```", at)) {
    fenceOpen.lastIndex = at;
    const open = fenceOpen.exec(text);
    const start = at + open[0].length;
    const end = text.indexOf("```", start);
    if (end < 0) break;
    const body = text.slice(start, end);
    if (!body.trim()) {
      at = end + 3;
      continue;
    }
    say(text.slice(from, at).replace(/\n$/, ""));
    out.push(fence(body, open[1] || ""));
    from = end + 3;
    if (text[from] === "\n") from++;
    at = from;
  }
  say(text.slice(from));
  return out;
}

function fence(body, lang) {
  const text = body.replace(/^\n+|\s+$/g, "");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      toast("The browser did not allow copying.");
    }
  };
  return h("pre", { class: "fence", data: { lang } },
    h("code", null, highlight(text, lang)),
    h("button", { type: "button", class: "copy", title: "Copy the code", "aria-label": "Copy the code", onclick: copy }, icon("copy", true)));
}

// What surrounds text, longest first.
const pairs = [["***", "strong em"], ["___", "u em"], ["**", "strong"], ["__", "u"], ["~~", "s"], ["||", "spoiler"], ["*", "em"], ["_", "em"]];
const special = /[\\`*_~|<[@]|https?:\/\//g;
const punctuation = /[!-/:-@[-`{-~]/;

// inline reads one paragraph.
function inline(text, depth) {
  const out = [];
  let from = 0;
  special.lastIndex = 0;
  for (let m; (m = special.exec(text)); ) {
    const at = m.index;
    const found = token(text, at, m[0], depth);
    // The scan of what is inside has moved the shared expression.
    special.lastIndex = found ? found.end : at + m[0].length;
    if (!found) continue;
    if (at > from) out.push(text.slice(from, at));
    out.push(found.node);
    from = found.end;
  }
  if (from < text.length) out.push(text.slice(from));
  return out;
}

// token reads what begins at one special character. Nothing means that it is plain text.
function token(text, at, mark, depth) {
  if (mark === "\\") {
    const next = text[at + 1];
    return next && punctuation.test(next) ? { node: next, end: at + 2 } : undefined;
  }
  if (mark === "`") return code(text, at);
  if (mark === "<") return angle(text, at);
  if (mark === "@") return everyone(text, at);
  if (mark.startsWith("http")) return bare(text, at);
  if (depth >= maxDepth) return undefined;
  if (mark === "[") return link(text, at, depth);
  for (const [sign, tags] of pairs) {
    if (!text.startsWith(sign, at)) continue;
    const found = paired(text, at, sign, tags, depth);
    if (found) return found;
  }
  return undefined;
}

function code(text, at) {
  const ticks = /^`+/.exec(text.slice(at, at + 2000))[0];
  for (let end = text.indexOf(ticks, at + ticks.length); end >= 0; end = text.indexOf(ticks, end + 1)) {
    if (text[end - 1] === "`" || text[end + ticks.length] === "`") continue;
    const inner = text.slice(at + ticks.length, end);
    const shown = /^ .*[^ ].* $/s.test(inner) && /`/.test(inner) ? inner.slice(1, -1) : inner;
    return { node: h("code", null, shown), end: end + ticks.length };
  }
  return undefined;
}

// closing finds where a sign ends what it began. Escapes and code are no signs, and a single sign is not half of a double.
function closing(text, sign, from) {
  const c = sign[0];
  for (let i = from; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "`") {
      const skip = code(text, i);
      if (skip) i = skip.end - 1;
    } else if (text[i] === c) {
      let run = 1;
      while (text[i + run] === c) run++;
      if (run === sign.length || (run > sign.length && (sign.length > 1 || run === 3))) return i + run - sign.length;
      i += run - 1;
    }
  }
  return -1;
}

function paired(text, at, sign, tags, depth) {
  const start = at + sign.length;
  const end = closing(text, sign, start);
  if (end <= start) return undefined;
  const inner = text.slice(start, end);
  if (sign === "*" && /^\s|\s$/.test(inner)) return undefined;
  if (sign[0] === "_" && sign.length === 1 && (/\w/.test(text[at - 1] || "") || /\w/.test(text[end + 1] || ""))) return undefined;
  let nodes = inline(inner, depth + 1);
  if (tags === "spoiler") return { node: spoiler(nodes), end: end + sign.length };
  for (const tag of tags.split(" ")) nodes = h(tag, null, nodes);
  return { node: nodes, end: end + sign.length };
}

// spoiler covers its text, and what can be pressed in it, until it is pressed itself.
function spoiler(nodes) {
  const inner = h("span", { inert: true }, nodes);
  const show = (e) => {
    if (e.type === "keydown" && e.key !== "Enter" && e.key !== " ") return;
    if (box.classList.contains("shown")) return;
    e.preventDefault();
    box.classList.add("shown");
    inner.inert = false;
    for (const name of ["role", "tabindex", "aria-label", "title"]) box.removeAttribute(name);
  };
  const box = h("span", { class: "spoiler", role: "button", tabIndex: 0, title: "Spoiler: press to show", "aria-label": "Spoiler, press to show", onclick: show, onkeydown: show }, inner);
  return box;
}

function anchor(href, children) {
  let url;
  try { url = new URL(href); } catch { return undefined; }
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  return h("a", { href: url.href, target: "_blank", rel: "noopener noreferrer", title: url.href }, children);
}

// link reads a masked link. As Discord does, it refuses those that could fool somebody: a text that looks like an
// address itself, a text that shows nothing, an address with a name and password in it, and any other scheme.
function link(text, at, depth) {
  const middle = text.indexOf("](", at);
  if (middle < 0) return undefined;
  const label = text.slice(at + 1, middle);
  const m = /^\s*(?:<([^>\s]+)>|([^\s()]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+(["'])(.*?)\3)?\s*\)/.exec(text.slice(middle + 2, middle + 2100));
  if (!m || label.includes("\n\n") || label.includes("[")) return undefined;
  const href = m[1] || m[2];
  if (!/[^\s\p{Cf}\p{Cc}]/u.test(label) || /[a-z][a-z0-9+.-]*:\/\/|\bwww\.|\b[\w-]+\.(?:com|net|org|io|gg|dev|app|co|me|xyz|info|ru|de|uk)\b/i.test(label)) return undefined;
  if (/^https?:\/\/[^/]*@/i.test(href)) return undefined;
  const node = anchor(href, inline(label, depth + 1));
  if (!node) return undefined;
  if (m[4]) node.title = `${m[4]}\n${href}`;
  return { node, end: middle + 2 + m[0].length };
}

function bare(text, at) {
  let href = /^[^\s<>"`]+/.exec(text.slice(at, at + 2000))[0].split("](")[0].replace(/[.,:;!?'*_~|\]]+$/, "");
  while (href.endsWith(")") && href.split(")").length > href.split("(").length) href = href.slice(0, -1);
  const node = anchor(href, href);
  return node && { node, end: at + href.length };
}

function everyone(text, at) {
  const m = /^@(everyone|here)\b/.exec(text.slice(at, at + 12));
  return m && { node: h("span", { class: "mention me" }, m[0]), end: at + m[0].length };
}

// angle reads mentions, timestamps, custom emojis and quiet links.
function angle(text, at) {
  const end = text.indexOf(">", at);
  if (end < 0 || end - at > 2000) return undefined;
  const inner = text.slice(at + 1, end);
  const done = (node) => (node ? { node, end: end + 1 } : undefined);
  let m;
  if ((m = /^@!?(\d{1,20})$/.exec(inner))) {
    return done(h("span", { class: "mention" + (m[1] === state.me ? " me" : "") }, "@" + (state.users[m[1]]?.name || "unknown-user")));
  }
  if ((m = /^@&(\d{1,20})$/.exec(inner))) {
    return done(h("span", { class: "mention" + ((user(state.me).roles || []).includes(m[1]) ? " me" : "") }, "@" + (state.roles[m[1]]?.name || "unknown-role").replace(/^@/, "")));
  }
  if ((m = /^#(\d{1,20})$/.exec(inner))) {
    const id = m[1];
    return done(channel(id) ? h("button", { class: "mention", type: "button", onclick: () => select(id) }, "#" + channel(id).name) : h("span", { class: "mention" }, "#unknown"));
  }
  if ((m = /^t:(-?\d{1,12})(?::([tTdDfFR]))?$/.exec(inner))) return done(stamp(Number(m[1]) * 1000, m[2] || "f"));
  if ((m = /^a?:(\w{2,32}):\d{1,20}$/.exec(inner))) return done(h("span", { class: "emoji", title: "A custom emoji" }, `:${m[1]}:`));
  if ((m = /^(\/[\p{L}\p{N}_ '-]{1,100}):\d{1,20}$/u.exec(inner))) return done(h("span", { class: "mention" }, m[1]));
  if ((m = /^id:(customize|browse|guide|linked-roles)$/.exec(inner))) return done(h("span", { class: "mention" }, "#" + m[1]));
  if (/^https?:\/\/\S+$/.test(inner)) return done(anchor(inner, inner));
  return undefined;
}

const styles = {
  t: { timeStyle: "short" }, T: { timeStyle: "medium" }, d: { dateStyle: "short" }, D: { dateStyle: "long" },
  f: { dateStyle: "long", timeStyle: "short" }, F: { dateStyle: "full", timeStyle: "short" },
};

function stamp(ms, style) {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return undefined;
  const full = date.toLocaleString([], styles.F);
  const text = style === "R" ? relative(ms) : date.toLocaleString([], styles[style]);
  return h("time", { class: "stamp", dateTime: date.toISOString(), title: full, data: style === "R" ? { since: String(ms) } : {} }, text);
}

function relative(ms) {
  const s = (ms - Date.now()) / 1000;
  const units = [["year", 31557600], ["month", 2629800], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [unit, n] = units.find(([, n]) => Math.abs(s) >= n) || units[5];
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(Math.round(s / n), unit);
}

// "two minutes ago" does not stay true.
setInterval(() => {
  for (const e of document.querySelectorAll("time[data-since]")) {
    const text = relative(Number(e.dataset.since));
    if (e.textContent !== text) e.textContent = text;
  }
}, 5000);

// plain is a text in one line without marks, for excerpts and for what is read aloud.
export function plain(text) {
  return text.replace(/\|\|.+?\|\|/gs, "[spoiler]").replace(/\\([!-/:-@[-`{-~])/g, "$1")
    .replace(/<@!?(\d{1,20})>/g, (_, id) => "@" + (state.users[id]?.name || "unknown-user")).replace(/<@&(\d{1,20})>/g, (_, id) => "@" + (state.roles[id]?.name || "unknown-role"))
    .replace(/<#(\d{1,20})>/g, (_, id) => "#" + (channel(id)?.name || "unknown")).replace(/<a?:(\w+):\d+>/g, ":$1:")
    .replace(/^(?:#{1,3}|-#|>{1,3}) /gm, "").replace(/\*\*|__|~~|`+/g, "").replace(/\*(\S(?:[^*\n]*\S)?)\*/g, "$1").replace(/\s+/g, " ").trim();
}
