// Buttons, menus and embeds of messages. What they hold is untrusted: texts become text nodes, links are checked.

import { h } from "./dom.js";
import { render, plain } from "./markdown.js";
import { interact } from "./dialogs.js";

const buttonStyles = { 1: "blue", 2: "grey", 3: "green", 4: "red", 5: "grey link" };

export function components(m, list) {
  return (Array.isArray(list) ? list : []).map((c) => component(m, c)).filter(Boolean);
}

function component(m, c) {
  switch (c.type) {
    case 1: return h("div", { class: "row" }, components(m, c.components));
    case 2: return button(m, c);
    case 3: return menu(m, c);
    case 9: return h("div", { class: "section" }, h("div", null, components(m, c.components)), c.accessory ? component(m, c.accessory) : null);
    case 10: return h("div", { class: "markup" }, render(String(c.content || "")));
    case 14: return h("hr");
    case 17: return h("div", { class: "embed", style: { borderLeftColor: color(c.accent_color) } }, components(m, c.components));
  }
  return h("div", { class: "unknown" }, `(a component of type ${Number(c.type)})`);
}

function button(m, c) {
  const label = [c.emoji?.name ? c.emoji.name + " " : "", c.label || ""];
  if (c.style === 5) {
    return /^https?:\/\//.test(c.url || "") ? h("a", { class: "button grey", href: c.url, target: "_blank", rel: "noopener noreferrer" }, label, " ↗") : null;
  }
  const press = async (e) => {
    const b = e.currentTarget;
    b.classList.add("busy");
    b.disabled = true;
    await interact("click", { message: m.id, custom_id: c.custom_id });
    b.classList.remove("busy");
    b.disabled = Boolean(c.disabled);
  };
  return h("button", { type: "button", class: "button " + (buttonStyles[c.style] || "grey"), disabled: Boolean(c.disabled), onclick: press }, label);
}

function menu(m, c) {
  const options = c.options || [];
  const several = (c.max_values || 1) > 1;
  const send = (e) => {
    const chosen = [...e.currentTarget.selectedOptions].map((o) => o.value).filter(Boolean);
    if (chosen.length) interact("choose", { message: m.id, custom_id: c.custom_id, chosen });
  };
  return h("select", { class: "menu", multiple: several, disabled: Boolean(c.disabled), "aria-label": c.placeholder || "Choose", onchange: send },
    several ? null : h("option", { value: "" }, c.placeholder || "Make a selection"),
    options.map((o) => h("option", { value: o.value, selected: Boolean(o.default) }, o.label)));
}

const color = (n) => (Number.isInteger(n) ? "#" + (n & 0xffffff).toString(16).padStart(6, "0") : "");

export function embeds(list) {
  return (Array.isArray(list) ? list : []).map((e) => h("div", { class: "embed", style: { borderLeftColor: color(e.color) } },
    e.author?.name ? h("div", { class: "embed-author" }, e.author.name) : null,
    e.title ? h("div", { class: "embed-title" }, outbound(e.url, plain(e.title))) : null,
    e.description ? h("div", { class: "markup" }, render(e.description)) : null,
    e.fields?.length ? h("div", { class: "embed-fields" }, e.fields.map((f) => h("div", { class: "embed-field" + (f.inline ? " inline" : "") },
      h("div", { class: "embed-name" }, plain(f.name || "")), h("div", { class: "markup" }, render(f.value || ""))))) : null,
    [e.image?.url, e.thumbnail?.url].filter(Boolean).map((u) => h("div", null, outbound(u, "picture"))),
    e.footer?.text || e.timestamp ? h("div", { class: "embed-footer" },
      [e.footer?.text, e.timestamp ? new Date(e.timestamp).toLocaleString() : ""].filter(Boolean).join(" • ")) : null));
}

function outbound(url, text) {
  return /^https?:\/\//.test(url || "") ? h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text) : text;
}
