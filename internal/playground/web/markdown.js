// Discord's Markdown, as nodes. Input is untrusted: nothing here makes HTML, and every scan moves forward only.

import { h } from "./dom.js";
import { state, user, channel, select } from "./store.js";

const maxDepth = 8;

// render gives the nodes of a message's text.
export function render(text) {
  const out = [];
  let rest = text;
  for (;;) {
    const open = rest.indexOf("```");
    const close = open < 0 ? -1 : rest.indexOf("```", open + 3);
    if (close < 0) break;
    out.push(...blocks(rest.slice(0, open).replace(/\n$/, "")), fence(rest.slice(open + 3, close)));
    rest = rest.slice(close + 3).replace(/^\n/, "");
  }
  out.push(...blocks(rest));
  return out;
}

function fence(body) {
  const m = /^([a-zA-Z0-9+#.-]*)\n/.exec(body);
  const code = (m ? body.slice(m[0].length) : body).replace(/\n$/, "");
  return h("pre", { class: "fence", data: { lang: m?.[1] || "" } }, h("code", null, code));
}

const listItem = /^(\s*)([-*]|\d{1,9}\.) (.*)$/;

// blocks reads text without fences, line by line.
function blocks(text) {
  if (text === "") return [];
  const out = [];
  const lines = text.split("\n");
  let plain = [];
  const flush = () => {
    if (plain.length) out.push(h("div", { class: "line" }, inline(plain.join("\n"), 0)));
    plain = [];
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i];
    const heading = /^(#{1,3}) (.+)$/.exec(line);
    if (heading) {
      flush();
      out.push(h("div", { class: `heading h${heading[1].length}`, role: "heading", "aria-level": String(heading[1].length + 2) }, inline(heading[2], 0)));
    } else if (line.startsWith("-# ")) {
      flush();
      out.push(h("div", { class: "subtext" }, inline(line.slice(3), 0)));
    } else if (line.startsWith("> ") || line.startsWith(">>> ") || line === ">") {
      flush();
      const quoted = [];
      if (line.startsWith(">>> ")) {
        quoted.push(line.slice(4), ...lines.slice(i + 1));
        i = lines.length;
      } else {
        for (; i < lines.length && (lines[i].startsWith("> ") || lines[i] === ">"); i++) quoted.push(lines[i].slice(2));
        i--;
      }
      out.push(h("blockquote", null, quoted.map((q) => h("div", { class: "line" }, inline(q, 0)))));
    } else if (listItem.test(line)) {
      flush();
      for (; i < lines.length && listItem.test(lines[i]); i++) {
        const [, indent, mark, body] = listItem.exec(lines[i]);
        const bullet = mark === "-" || mark === "*" ? "•" : mark;
        out.push(h("div", { class: "item", style: { marginLeft: `${Math.min(Math.floor(indent.length / 2), 6) * 1.2}em` } },
          h("span", { class: "mark" }, bullet), h("span", null, inline(body, 0))));
      }
      i--;
    } else {
      plain.push(line);
    }
  }
  flush();
  return out;
}

const pairs = [
  ["**", "strong"], ["__", "u"], ["~~", "s"], ["||", "spoiler"], ["*", "em"], ["_", "em"],
];
const special = /[\\`*_~|<[]|https?:\/\//g;
const punctuation = /[!-/:-@[-`{-~]/;

// inline reads one paragraph.
function inline(text, depth) {
  const out = [];
  let from = 0;
  const put = (to, node, next) => {
    if (to > from) out.push(text.slice(from, to));
    if (node !== undefined) out.push(node);
    from = next;
    special.lastIndex = next;
  };
  special.lastIndex = 0;
  for (let m; (m = special.exec(text)); ) {
    const at = m.index;
    const found = token(text, at, m[0], depth);
    // The scan of what is inside has moved the shared expression.
    special.lastIndex = at + m[0].length;
    if (found) put(at, found.node, found.end);
  }
  put(text.length, undefined, text.length);
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
  if (mark.startsWith("http")) return bare(text, at);
  if (depth >= maxDepth) return undefined;
  if (mark === "[") return link(text, at, depth);
  for (const [sign, tag] of pairs) {
    if (!text.startsWith(sign, at)) continue;
    const found = paired(text, at, sign, tag, depth);
    if (found) return found;
  }
  return undefined;
}

function code(text, at) {
  const ticks = text[at + 1] === "`" ? "``" : "`";
  const end = text.indexOf(ticks, at + ticks.length);
  if (end <= at + ticks.length - 1 || end === at + ticks.length) return undefined;
  return { node: h("code", null, text.slice(at + ticks.length, end)), end: end + ticks.length };
}

function paired(text, at, sign, tag, depth) {
  const start = at + sign.length;
  let end = text.indexOf(sign, start);
  // A single sign does not end at a double one.
  while (sign.length === 1 && end >= 0 && text[end + 1] === sign) end = text.indexOf(sign, end + 2);
  if (end < 0 || end === start) return undefined;
  const inner = text.slice(start, end);
  if (sign === "*" && /^\s|\s$/.test(inner)) return undefined;
  if (sign === "_" && (/\w/.test(text[at - 1] || "") || /\w/.test(text[end + 1] || ""))) return undefined;
  const nodes = inline(inner, depth + 1);
  if (tag !== "spoiler") return { node: h(tag, null, nodes), end: end + sign.length };
  const show = (e) => e.currentTarget.classList.add("shown");
  return { node: h("button", { class: "spoiler", type: "button", title: "Spoiler: press to show", onclick: show }, nodes), end: end + sign.length };
}

function anchor(href, children) {
  let url;
  try { url = new URL(href); } catch { return undefined; }
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  return h("a", { href: url.href, target: "_blank", rel: "noopener noreferrer", title: url.href }, children);
}

function link(text, at, depth) {
  const middle = text.indexOf("](", at);
  const end = middle < 0 ? -1 : text.indexOf(")", middle);
  if (end < 0) return undefined;
  const label = text.slice(at + 1, middle);
  const href = text.slice(middle + 2, end).replace(/^<|>$/g, "");
  if (!label || /[\n[]/.test(label) || /\s/.test(href)) return undefined;
  const node = anchor(href, inline(label, depth + 1));
  return node && { node, end: end + 1 };
}

function bare(text, at) {
  let href = /^[^\s<>"`]+/.exec(text.slice(at, at + 2000))[0].replace(/[.,:;!?'*_~|]+$/, "");
  if (href.endsWith(")") && !href.includes("(")) href = href.slice(0, -1);
  const node = anchor(href, href);
  return node && { node, end: at + href.length };
}

// angle reads mentions, timestamps, custom emojis and quiet links.
function angle(text, at) {
  const end = text.indexOf(">", at);
  if (end < 0 || end - at > 2000) return undefined;
  const inner = text.slice(at + 1, end);
  const done = (node) => (node ? { node, end: end + 1 } : undefined);
  let m;
  if ((m = /^@!?(\d{1,20})$/.exec(inner))) {
    return done(h("span", { class: "mention" + (m[1] === state.me ? " me" : "") }, "@" + user(m[1]).name));
  }
  if ((m = /^@&(\d{1,20})$/.exec(inner))) return done(h("span", { class: "mention" }, "@role"));
  if ((m = /^#(\d{1,20})$/.exec(inner))) {
    const id = m[1];
    return done(h("button", { class: "mention", type: "button", onclick: () => select(id) }, "#" + (channel(id)?.name || "unknown")));
  }
  if ((m = /^t:(-?\d{1,12})(?::([tTdDfFR]))?$/.exec(inner))) return done(stamp(Number(m[1]) * 1000, m[2] || "f"));
  if ((m = /^a?:(\w{2,32}):\d{1,20}$/.exec(inner))) return done(h("span", { class: "emoji" }, `:${m[1]}:`));
  if ((m = /^(\/[\w -]{1,100}):\d{1,20}$/.exec(inner))) return done(h("span", { class: "mention" }, m[1]));
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
  return h("time", { class: "stamp", dateTime: date.toISOString(), title: full }, text);
}

function relative(ms) {
  const s = (ms - Date.now()) / 1000;
  const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [unit, n] = units.find(([, n]) => Math.abs(s) >= n) || units[3];
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(Math.round(s / n), unit);
}

// plain is a text in one line without marks, for excerpts.
export function plain(text) {
  return text.replace(/\\([!-/:-@[-`{-~])/g, "$1").replace(/<@!?(\d{1,20})>/g, (_, id) => "@" + user(id).name).replace(/<#(\d{1,20})>/g, (_, id) => "#" + (channel(id)?.name || "unknown"))
    .replace(/\*\*|~~|\|\||`+/g, "").replace(/\s+/g, " ").trim();
}
