// Buttons, menus and embeds of messages. What they hold is untrusted: texts become text nodes, links are checked, and
// pictures are shown only when they are files of the message, since the page loads nothing from elsewhere.

import { h, avatar, inRoleColor } from "./dom.js";
import { state, user } from "./store.js";
import { render, plain } from "./markdown.js";
import { interact } from "./dialogs.js";
import { chooseFrom } from "./listbox.js";
import { icon } from "./icons.js";

const buttonStyles = { 1: "blue", 2: "grey", 3: "green", 4: "red" };
const listed = (x) => (Array.isArray(x) ? x : []);

export function components(m, list) {
  return listed(list).map((c) => component(m, c)).filter(Boolean);
}

function component(m, c) {
  switch (c?.type) {
    case 1: return h("div", { class: "row" }, components(m, c.components));
    case 2: return button(m, c);
    case 3: case 5: case 6: case 7: case 8: return select(m, c);
    case 9: return h("div", { class: "section" }, h("div", null, components(m, c.components)), c.accessory ? component(m, c.accessory) : null);
    case 10: return h("div", { class: "markup" }, render(String(c.content || "")));
    case 11: return picture(m, c.media?.url, c.description, c.spoiler);
    case 12: return h("div", { class: "row" }, listed(c.items).map((i) => picture(m, i?.media?.url, i?.description, i?.spoiler)));
    case 13: return fileOf(m, c.file?.url);
    case 14: return c.divider === false ? h("div", { class: "hint" }) : h("hr", { class: c.spacing === 2 ? "roomy" : "" });
    case 17: {
      const inside = h("div", { class: "box", style: edge(c.accent_color) }, components(m, c.components));
      return c.spoiler ? veiled(inside) : inside;
    }
  }
  return h("div", { class: "unknown" }, `(a component of type ${Number(c?.type)})`);
}

// label is what a button or option says, with its emoji. Custom emojis are pictures from elsewhere, so their name stands.
const sign = (e) => (e?.id ? `:${e.name}: ` : e?.name ? `${e.name} ` : "");

function button(m, c) {
  const label = [sign(c.emoji), c.label || ""];
  if (c.style === 5) {
    return web(c.url) ? h("a", { class: "button grey", href: c.url, title: c.url, target: "_blank", rel: "noopener noreferrer" }, label, icon("out", true)) : null;
  }
  const press = async (e) => {
    const b = e.currentTarget;
    if (b.classList.contains("busy")) return;
    b.classList.add("busy");
    b.setAttribute("aria-busy", "true");
    await interact("click", { message: m.id, custom_id: c.custom_id });
    b.classList.remove("busy");
    b.removeAttribute("aria-busy");
  };
  return h("button", { type: "button", class: "button " + (buttonStyles[c.style] || "grey"), disabled: Boolean(c.disabled), data: { key: c.custom_id || "" }, onclick: press }, label);
}

// offered are the things that can be chosen of a select menu.
function offered(c) {
  const people = () => [...state.people.map((p) => p.id), state.bot].map((id) => ({ value: id, label: user(id).name, note: user(id).bot ? "the bot" : "", icon: avatar(user(id), true) }));
  const roles = () => Object.entries(state.roles).filter(([id]) => id !== state.guildID)
    .map(([id, r]) => ({ value: id, label: "@" + r.name, icon: h("span", { class: r.color ? "role-color" : "", style: inRoleColor(r.color) }, icon("shield", true)) }));
  const kinds = { 0: "text", 11: "thread", 12: "thread" };
  const allowed = listed(c.channel_types).map((t) => kinds[t]);
  switch (c.type) {
    case 5: return people();
    case 6: return roles();
    case 7: return [...people(), ...roles()];
    case 8: return state.channels.filter((x) => x.kind !== "dm" && (!allowed.length || allowed.includes(x.kind))).map((x) => ({ value: x.id, label: "#" + x.name, note: x.topic || "", icon: icon(x.kind === "thread" ? "thread" : "hash", true) }));
  }
  return listed(c.options).map((o) => ({ value: String(o.value), label: sign(o.emoji) + String(o.label || o.value), note: o.description || "" }));
}

const prompts = { 3: "Make a selection", 5: "Select a user", 6: "Select a role", 7: "Select a user or role", 8: "Select a channel" };

function select(m, c) {
  const items = offered(c);
  const preset = c.type === 3 ? listed(c.options).filter((o) => o.default).map((o) => String(o.value)) : listed(c.default_values).map((d) => String(d.id));
  const label = c.placeholder || prompts[c.type];
  const names = preset.map((v) => items.find((i) => i.value === v)?.label).filter(Boolean).join(", ");
  const text = h("span", { class: names ? "" : "none" }, names || label);
  const open = (e) => chooseFrom(e.currentTarget, {
    label, items, least: c.min_values ?? 1, most: Math.min(c.max_values ?? 1, Math.max(items.length, 1)), chosen: preset,
    done: (chosen) => interact("choose", { message: m.id, custom_id: c.custom_id, chosen }),
  });
  return h("div", { class: "select" }, h("button", {
    type: "button", disabled: Boolean(c.disabled), "aria-haspopup": "listbox", "aria-expanded": "false", "aria-label": names ? `${label}: ${names}` : label, data: { key: c.custom_id || "" }, onclick: open,
  }, text, icon("down", true)));
}

const color = (n) => (Number.isInteger(n) ? "#" + (n & 0xffffff).toString(16).padStart(6, "0") : "");
const edge = (n) => (color(n) ? { borderLeftColor: color(n) } : {});
const web = (url) => /^https?:\/\//.test(url || "");

// ownFile finds the message's file that an address means.
function ownFile(m, url) {
  const name = /^attachment:\/\/(.+)$/.exec(url || "")?.[1];
  return (m.attachments || []).find((a) => a.name === name || (a.url && url && decodeURIComponent(url).endsWith("/" + a.name)));
}

function picture(m, url, text, hidden) {
  const a = ownFile(m, url);
  if (!a) return web(url) ? h("div", { class: "unknown" }, "Picture: ", outbound(url, text || host(url))) : null;
  const shown = image(a, text);
  return hidden ? veiled(shown) : shown;
}

const host = (url) => { try { return new URL(url).host; } catch { return "not shown"; } };

function fileOf(m, url) {
  const a = ownFile(m, url);
  return a ? h("a", { class: "file", href: a.url, download: a.name }, icon("file"), h("span", null, h("span", { class: "file-name" }, a.name))) : null;
}

// image shows a file as a picture. Its size is known beforehand, so that nothing moves when it arrives.
export function image(a, text) {
  const scale = Math.min(1, 400 / (a.width || 400), 300 / (a.height || 300));
  return h("a", { class: "picture", href: a.url, target: "_blank", rel: "noopener" },
    h("img", { src: a.url, alt: text || a.name, width: Math.round((a.width || 400) * scale), height: Math.round((a.height || 300) * scale), decoding: "async" }));
}

// veiled covers something until it is pressed.
export function veiled(node) {
  node.inert = true;
  const box = h("div", { class: "veiled" }, node, h("button", { type: "button", onclick: () => { node.inert = false; box.replaceWith(node); } }, h("span", null, "Spoiler")));
  return box;
}

export function embeds(m) {
  return listed(m.embeds).map((e) => h("div", { class: "embed", style: edge(e.color) }, h("div", { class: "inside" },
    e.author?.name ? h("div", { class: "embed-author" }, outbound(e.author.url, e.author.name)) : null,
    e.title ? h("div", { class: "embed-title" }, outbound(e.url, plain(e.title))) : null,
    e.description ? h("div", { class: "markup" }, render(e.description)) : null,
    e.fields?.length ? h("div", { class: "embed-fields" }, e.fields.map((f) => h("div", { class: "embed-field" + (f.inline ? " inline" : "") },
      h("div", { class: "embed-name" }, plain(f.name || "")), h("div", { class: "markup" }, render(f.value || ""))))) : null,
    [e.image?.url, e.thumbnail?.url].filter(Boolean).map((u) => picture(m, u, "")),
    e.footer?.text || e.timestamp ? h("div", { class: "embed-footer" },
      [e.footer?.text, e.timestamp ? new Date(e.timestamp).toLocaleString() : ""].filter(Boolean).join(" • ")) : null)));
}

// usedInEmbeds tells whether a file is shown by an embed or component already, and so not a second time.
export function usedElsewhere(m, a) {
  const all = JSON.stringify([m.embeds || [], m.components || []]);
  return all.includes(`attachment://${a.name}"`);
}

function outbound(url, text) {
  return web(url) ? h("a", { href: url, target: "_blank", rel: "noopener noreferrer", title: url }, text) : text;
}
