// What the bot asks for in a form of its own, the answers to a press, and the page's own small forms.

import { $, h, toast } from "./dom.js";
import { state, user } from "./store.js";
import { act } from "./api.js";

// interact sends a command, click or form and shows what the bot answered with at first.
export async function interact(name, fields) {
  const a = await act(name, fields);
  if (!a) return false;
  if (a.silent) {
    const bot = user(state.bot).name;
    toast(name === "slash" ? "The application did not respond." : "This interaction failed.", [`${bot} sent no answer within 3 seconds.`]);
  }
  if (a.modal) openModal(a);
  return true;
}

// openDialog shows a form over everything. The browser keeps the focus inside, closes it on Escape and gives the focus
// back. submit answers whether the form is done.
export function openDialog(title, fields, { send = "Submit", submit }) {
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const button = h("button", { type: "submit", class: "button blue" }, send);
  let busy = false;
  const form = h("form", {
    noValidate: true,
    onsubmit: async (e) => {
      e.preventDefault();
      if (busy) return;
      const wrong = [...form.elements].find((x) => x.willValidate && !x.validity.valid);
      if (wrong) {
        problem.textContent = wrong.validity.valueMissing ? "This field is required." : wrong.validationMessage;
        problem.hidden = false;
        wrong.focus();
        return;
      }
      busy = true;
      const done = await submit();
      busy = false;
      if (done) dialog.close();
    },
  }, h("h2", null, title), fields, problem, h("div", { class: "buttons" },
    h("button", { type: "button", class: "button grey", onclick: () => dialog.close() }, "Cancel"), button));
  form.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) form.requestSubmit();
    e.stopPropagation();
  });
  const back = document.activeElement;
  const dialog = h("dialog", {
    "aria-label": title,
    onclose: () => {
      document.body.append($("toasts"));
      dialog.remove();
      if (back?.isConnected) back.focus({ preventScroll: true });
    },
  }, form);
  document.body.append(dialog);
  dialog.showModal();
  form.querySelector("input, textarea, select")?.focus();
  return dialog;
}

function openModal({ interaction, modal }) {
  const inputs = modal.inputs.map((i) => {
    const most = i.max_length || 4000;
    const props = { name: i.id, value: i.value || "", required: i.required, placeholder: i.placeholder || "", autocomplete: "off" };
    const field = i.paragraph ? h("textarea", { rows: 4, ...props }) : h("input", { type: "text", ...props });
    if (i.min_length) field.minLength = i.min_length;
    field.maxLength = most;
    const count = h("small", { "aria-hidden": "true" });
    const tell = () => { count.textContent = `${field.value.length}/${most}`; };
    field.addEventListener("input", tell);
    tell();
    const row = h("label", { class: "field" }, h("span", null, i.label || i.id, i.required ? h("b", null, " *") : null), i.description ? h("span", null, i.description) : null, field, count);
    return { id: i.id, field, row };
  });
  openDialog(modal.title, inputs.map((i) => i.row), {
    submit: () => interact("submit", { interaction, values: Object.fromEntries(inputs.map((i) => [i.id, i.field.value])) }),
  });
}

// askThread asks for the name of a thread and opens it; opened is called with its id.
export function askThread(channel, message, name, opened) {
  const field = h("input", { type: "text", value: name, maxLength: 100, required: true, autocomplete: "off" });
  openDialog("Create a thread", [h("label", { class: "field" }, h("span", null, "Name of the thread"), field)], {
    send: "Create thread",
    submit: async () => {
      const a = await act("thread", { channel, message, name: field.value });
      if (a) opened(a.id);
      return Boolean(a);
    },
  });
  field.select();
}
