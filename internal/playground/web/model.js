// Which model answers, and the choice of another.

import { h, fill } from "./dom.js";
import { state, on } from "./store.js";
import { act } from "./api.js";

const choice = h("select", { id: "model-choice", class: "menu", onchange: choose });
const told = h("span", { class: "notice", role: "status" });
export const modelBar = h("div", { class: "strip model-bar" }, h("label", { htmlFor: "model-choice" }, "Answers"), choice, told);

let switching = false;

async function choose() {
  const wanted = state.models.find((m) => m.id === choice.value);
  if (!wanted) return;
  switching = true;
  told.textContent = `starting with ${wanted.name}…`;
  choice.disabled = true;
  await act("model", { name: wanted.id });
  switching = false;
  choice.disabled = false;
  draw();
}

// useOffline makes the built-in model answer. It resolves when it does.
export async function useOffline() {
  const m = state.models.find((x) => x.offline);
  return Boolean(m && await act("model", { name: m.id }));
}

function draw() {
  fill(choice, state.models.map((m) => h("option", { value: m.id, selected: m.id === state.modelID }, `${m.name} (${m.from})`)));
  if (switching) return;
  const others = state.models.filter((m) => m.id !== state.modelID && !m.offline).length;
  told.textContent = others && state.offline ? "others are here to choose" : "";
}

on("snapshot", draw);
