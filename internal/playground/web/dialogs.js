// What the bot asks for in a form of its own, and the answers to a press.

import { h, toast } from "./dom.js";
import { state, user } from "./store.js";
import { act } from "./api.js";

// interact sends a command, click or form and shows what the bot answered with at first.
export async function interact(name, fields) {
  const a = await act(name, fields);
  if (!a) return false;
  if (a.silent) toast(`${user(state.bot).name} did not respond.`);
  if (a.modal) openModal(a);
  return true;
}

function openModal({ interaction, modal }) {
  const inputs = modal.inputs.map((i) => {
    const field = h("textarea", {
      name: i.id, rows: 2, value: i.value || "", required: i.required, minLength: i.min_length || 0, maxLength: i.max_length || 4000,
    });
    return { id: i.id, field, row: h("label", { class: "field" }, h("span", null, i.label || i.id, i.required ? h("b", null, " *") : null), field) };
  });
  const send = async (e) => {
    e.preventDefault();
    const values = Object.fromEntries(inputs.map((i) => [i.id, i.field.value]));
    if (await interact("submit", { interaction, values })) dialog.close();
  };
  const form = h("form", { onsubmit: send },
    h("h2", null, modal.title), inputs.map((i) => i.row),
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "button grey", onclick: () => dialog.close() }, "Cancel"),
      h("button", { type: "submit", class: "button blue" }, "Submit")));
  form.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) form.requestSubmit();
  });
  const dialog = h("dialog", { class: "modal", "aria-label": modal.title, onclose: () => dialog.remove() }, form);
  document.body.append(dialog);
  dialog.showModal();
  inputs[0]?.field.focus();
}

const reactions = ["👍", "👎", "😄", "🎉", "😕", "❤️", "🚀", "👀", "✅", "❌", "🤔", "🍵"];

// pickReaction offers emojis beside an element.
export function pickReaction(anchor, picked) {
  document.querySelector(".picker")?.remove();
  const close = () => { picker.remove(); document.removeEventListener("pointerdown", outside, true); };
  const outside = (e) => { if (!picker.contains(e.target)) close(); };
  const picker = h("div", { class: "picker", role: "menu", "aria-label": "Reactions" }, reactions.map((r) => h("button", {
    type: "button", role: "menuitem", onclick: () => { close(); picked(r); },
  }, r)));
  picker.addEventListener("keydown", (e) => {
    const all = [...picker.children], at = all.indexOf(document.activeElement);
    if (e.key === "Escape") { close(); anchor.focus(); }
    if (e.key === "ArrowRight") all[(at + 1) % all.length].focus();
    if (e.key === "ArrowLeft") all[(at + all.length - 1) % all.length].focus();
    e.stopPropagation();
  });
  const box = anchor.getBoundingClientRect();
  picker.style.top = `${Math.max(8, box.top - 92)}px`;
  picker.style.left = `${Math.max(8, box.right - 240)}px`;
  document.body.append(picker);
  document.addEventListener("pointerdown", outside, true);
  picker.firstChild.focus();
}
