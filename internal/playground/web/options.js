// The form in which a slash command's options are filled in.

import { h } from "./dom.js";
import { state, user } from "./store.js";
import { act, encodeFile } from "./api.js";

const kinds = { string: 3, integer: 4, boolean: 5, user: 6, channel: 7, role: 8, mentionable: 9, number: 10, attachment: 11 };

export function optionForm(c, at, { run, cancel }) {
  const fields = (c.options || []).map((o) => ({ o, input: input(c, o, at, () => read(fields)) }));
  const submit = async (e) => {
    e.preventDefault();
    run(await read(fields));
  };
  const element = h("form", { class: "options", onsubmit: submit, "aria-label": `/${c.name}` },
    h("div", { class: "options-head" }, h("b", null, "/" + c.name), h("span", null, c.description)),
    h("div", { class: "options-fields" }, fields.map((f) => h("label", { class: "field", title: f.o.description },
      h("span", null, f.o.name, f.o.required ? h("b", null, " *") : null, h("small", null, " " + f.o.description)), f.input))),
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "button grey", onclick: cancel }, "Cancel"),
      h("button", { type: "submit", class: "button blue" }, "Run")));
  element.addEventListener("keydown", (e) => { if (e.key === "Escape") cancel(); });
  return { element, focus: () => fields[0]?.input.focus() };
}

function input(c, o, at, soFar) {
  if (o.choices?.length) return choices(o, o.choices.map((x) => [JSON.stringify(x.value), x.name]));
  switch (o.type) {
    case kinds.boolean: return choices(o, [["true", "True"], ["false", "False"]]);
    case kinds.user:
    case kinds.mentionable: return choices(o, [...state.people.map((p) => p.id), state.bot].map((id) => [id, user(id).name]));
    case kinds.channel: return choices(o, state.channels.filter((x) => x.kind !== "dm").map((x) => [x.id, "#" + x.name]));
    case kinds.integer: return h("input", { type: "number", step: "1", required: o.required });
    case kinds.number: return h("input", { type: "number", step: "any", required: o.required });
    case kinds.attachment: return h("input", { type: "file", required: o.required });
  }
  const field = h("input", { type: "text", required: o.required, autocomplete: "off" });
  if (o.autocomplete) completes(field, c, o, at, soFar);
  return field;
}

function choices(o, list) {
  return h("select", { required: o.required }, o.required ? null : h("option", { value: "" }, "—"), list.map(([value, name]) => h("option", { value }, name)));
}

let lists = 0;

// completes asks the bot for suggestions while the person types.
function completes(field, c, o, at, soFar) {
  const list = h("datalist", { id: `suggestions${++lists}` });
  field.setAttribute("list", list.id);
  let asked = 0;
  const ask = async () => {
    const mine = ++asked;
    const options = { ...await soFar(), [o.name]: field.value };
    const a = await act("complete", { channel: at, name: c.name, focused: o.name, options });
    if (mine !== asked || !a) return;
    list.replaceChildren(...(a.choices || []).map((x) => h("option", { value: String(x.value) }, x.name)));
  };
  let timer;
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 150); });
  field.addEventListener("focus", () => { field.parentElement?.append(list); ask(); }, { once: true });
}

async function read(fields) {
  const out = {};
  for (const { o, input } of fields) {
    if (o.type === kinds.attachment) {
      if (input.files[0]) out[o.name] = await encodeFile(input.files[0]);
      continue;
    }
    if (input.value === "") continue;
    if (o.choices?.length) out[o.name] = JSON.parse(input.value);
    else if (o.type === kinds.boolean) out[o.name] = input.value === "true";
    else if (o.type === kinds.integer || o.type === kinds.number) out[o.name] = Number(input.value);
    else out[o.name] = input.value;
  }
  return out;
}
