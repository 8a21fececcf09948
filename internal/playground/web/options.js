// The form in which a slash command's options are filled in.

import { h } from "./dom.js";
import { state, user } from "./store.js";
import { act, encodeFile } from "./api.js";

const kinds = { string: 3, integer: 4, boolean: 5, user: 6, channel: 7, role: 8, mentionable: 9, number: 10, attachment: 11 };

export function optionForm(c, at, { run, cancel }) {
  const fields = (c.options || []).map((o) => field(c, o, at, () => read(fields)));
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const submit = async (e) => {
    e.preventDefault();
    const wrong = fields.find((f) => !f.input.validity.valid);
    if (wrong) {
      problem.textContent = `${wrong.o.name}: ${wrong.input.validity.valueMissing ? "this option is required." : wrong.input.validationMessage}`;
      problem.hidden = false;
      wrong.input.focus();
      return;
    }
    run(await read(fields));
  };
  const element = h("form", { class: "command", noValidate: true, onsubmit: submit, "aria-label": `/${c.name}` },
    h("div", { class: "command-head" }, h("b", null, "/" + c.name), h("span", null, c.description)),
    h("div", { class: "command-fields" }, fields.map((f) => f.row)),
    problem,
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "button grey", onclick: cancel }, "Cancel"),
      h("button", { type: "submit", class: "button blue" }, "Run")));
  element.addEventListener("keydown", (e) => {
    if (e.key === "Escape") cancel();
    else if (e.key === "Enter" && !e.isComposing && e.target.matches("select, input[type=file]")) { e.preventDefault(); element.requestSubmit(); }
    e.stopPropagation();
  });
  return { element, focus: () => fields[0]?.input.focus() };
}

function field(c, o, at, soFar) {
  const made = input(c, o, at, soFar);
  const row = h("label", { class: "field" }, h("span", null, o.name, o.required ? h("b", { title: "required" }, " *") : null, h("small", null, " " + o.description)), made.input, made.list || null);
  return { o, ...made, row };
}

function input(c, o, at, soFar) {
  if (o.choices?.length) return choices(o, o.choices.map((x) => [JSON.stringify(x.value), x.name]));
  const people = () => [...state.people.map((p) => p.id), state.bot].map((id) => [id, user(id).name]);
  const roles = () => Object.entries(state.roles).filter(([id]) => id !== state.guildID).map(([id, r]) => [id, "@" + r.name]);
  switch (o.type) {
    case kinds.boolean: return choices(o, [["true", "True"], ["false", "False"]]);
    case kinds.user: return choices(o, people());
    case kinds.role: return choices(o, roles());
    case kinds.mentionable: return choices(o, [...people(), ...roles()]);
    case kinds.channel: return choices(o, state.channels.filter((x) => x.kind !== "dm" && (!o.kinds || o.kinds.includes(x.kind))).map((x) => [x.id, "#" + x.name]));
    case kinds.attachment: return { input: h("input", { type: "file", required: o.required }) };
  }
  const number = o.type === kinds.integer || o.type === kinds.number;
  const box = h("input", { type: number && !o.autocomplete ? "number" : "text", required: o.required, autocomplete: "off", spellcheck: false });
  if (number && !o.autocomplete) {
    box.step = o.type === kinds.integer ? "1" : "any";
    if (o.min_value !== undefined) box.min = String(o.min_value);
    if (o.max_value !== undefined) box.max = String(o.max_value);
  }
  if (o.max_length) box.maxLength = o.max_length;
  if (o.min_length) box.minLength = o.min_length;
  return o.autocomplete ? completes(box, c, o, at, soFar) : { input: box };
}

function choices(o, list) {
  return { input: h("select", { required: o.required }, h("option", { value: "" }, o.required ? "Choose…" : "—"), list.map(([value, name]) => h("option", { value }, name))) };
}

let lists = 0;

// completes asks the bot for suggestions while the person types, and offers them under the field.
function completes(box, c, o, at, soFar) {
  const list = h("div", { class: "list", id: `suggestions${++lists}`, role: "listbox", "aria-label": `Suggestions for ${o.name}`, hidden: true });
  const options = h("div", { class: "options" });
  list.append(options);
  box.setAttribute("role", "combobox");
  box.setAttribute("aria-autocomplete", "list");
  box.setAttribute("aria-controls", list.id);
  let items = [], active = -1, asked = 0, timer = 0;
  let taken = null; // the suggestion that stands in the field, whose value is not what it shows

  const draw = () => {
    list.hidden = !items.length;
    box.setAttribute("aria-expanded", String(items.length > 0));
    if (active >= 0) box.setAttribute("aria-activedescendant", `${list.id}-${active}`);
    else box.removeAttribute("aria-activedescendant");
    options.replaceChildren(...items.map((x, i) => h("div", {
      class: "choice" + (i === active ? " active" : ""), id: `${list.id}-${i}`, role: "option", "aria-selected": String(i === active),
      onpointerdown: (e) => { e.preventDefault(); take(i); },
    }, h("span", { class: "label" }, x.name))));
    options.children[active]?.scrollIntoView({ block: "nearest" });
  };
  const hide = () => { items = []; active = -1; draw(); };
  const take = (i) => {
    taken = items[i];
    box.value = taken.name;
    asked++;
    hide();
  };
  const ask = async () => {
    const mine = ++asked;
    const options = { ...await soFar(), [o.name]: box.value };
    const a = await act("complete", { channel: at, name: c.name, focused: o.name, options });
    if (mine !== asked || !a || document.activeElement !== box) return;
    items = a.choices || [];
    active = items.length ? 0 : -1;
    draw();
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(ask, 150); };
  box.addEventListener("input", () => { taken = null; soon(); });
  box.addEventListener("focus", soon);
  box.addEventListener("blur", () => { clearTimeout(timer); hide(); });
  box.addEventListener("keydown", (e) => {
    if (!items.length) {
      if (e.key === "ArrowDown") { e.preventDefault(); ask(); }
      return;
    }
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      active = (active + (e.key === "ArrowDown" ? 1 : items.length - 1)) % items.length;
      draw();
    } else if (e.key === "Enter" && active >= 0) {
      e.preventDefault();
      take(active);
    } else if (e.key === "Tab" && active >= 0 && box.value && !e.shiftKey) {
      take(active);
    } else if (e.key === "Escape") {
      e.stopPropagation();
      e.preventDefault();
      hide();
    }
  });
  return { input: box, list, value: () => (taken ? taken.value : box.value) };
}

async function read(fields) {
  const out = {};
  for (const { o, input, value } of fields) {
    if (o.type === kinds.attachment) {
      if (input.files[0]) out[o.name] = await encodeFile(input.files[0]);
      continue;
    }
    const v = value ? value() : input.value;
    if (v === "") continue;
    if (o.choices?.length) out[o.name] = JSON.parse(v);
    else if (o.type === kinds.boolean) out[o.name] = v === "true";
    else if (o.type === kinds.integer || o.type === kinds.number) out[o.name] = Number(v);
    else out[o.name] = v;
  }
  return out;
}
