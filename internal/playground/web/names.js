// People type names; messages carry ids.

import { state } from "./store.js";
import { withEmojis } from "./emoji.js";

// toTyped is a message's text as somebody edits it.
export function toTyped(text) {
  return text.replace(/<@!?(\d{1,20})>/g, (whole, id) => (state.users[id] ? "@" + state.users[id].name : whole))
    .replace(/<@&(\d{1,20})>/g, (whole, id) => (state.roles[id] ? "@" + state.roles[id].name : whole))
    .replace(/<#(\d{1,20})>/g, (whole, id) => {
      const c = state.channels.find((x) => x.id === id);
      return c && c.kind !== "dm" && !/\s/.test(c.name) ? "#" + c.name : whole;
    });
}

// called are the names that become mentions, the longest first.
function called() {
  return [
    ...Object.entries(state.users).map(([id, u]) => ["@" + u.name, `<@${id}>`]),
    ...Object.entries(state.roles).filter(([id]) => id !== state.guildID).map(([id, r]) => ["@" + r.name, `<@&${id}>`]),
    ...state.channels.filter((c) => c.kind !== "dm").map((c) => ["#" + c.name, `<#${c.id}>`]),
  ].sort(([a], [b]) => b.length - a.length);
}

// toWire is what somebody typed as a message carries it. Code stays as it is.
export function toWire(text) {
  const names = called();
  let out = "";
  for (const part of text.split(/(```[^]*?```|`[^`\n]*`)/)) {
    if (part.startsWith("`")) {
      out += part;
      continue;
    }
    for (let i = 0; i < part.length;) {
      const found = (part[i] === "@" || part[i] === "#") && !/[\w<]/.test(part[i - 1] || "") ? names.find(([n]) => follows(part, i, n)) : undefined;
      out += found ? found[1] : part[i];
      i += found ? found[0].length : 1;
    }
  }
  return withEmojis(out);
}

function follows(text, at, name) {
  return text.slice(at, at + name.length).toLowerCase() === name.toLowerCase() && !/\w/.test(text[at + name.length] || "");
}
