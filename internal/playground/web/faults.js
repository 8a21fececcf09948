// The fault menu: each entry makes something go wrong and writes the message that brings it about.

import { h, fill } from "./dom.js";
import { state, on } from "./store.js";
import { act } from "./api.js";

const list = h("div", { class: "faults" });
export const faultPanel = h("div", { class: "panel" }, h("p", { class: "notice" },
  "Each of these goes wrong once, in this channel and as you. What the bot makes of it is seen in the chat, in its turn and among the requests."), list);

async function bring(m, e) {
  const b = e.currentTarget;
  b.disabled = true;
  await act("fault", { channel: state.current, name: m.name });
  b.disabled = false;
}

function draw() {
  fill(list, state.mishaps.map((m) => {
    const cannot = m.offline && !state.offline;
    return h("section", { class: "fault", "aria-label": m.title },
      h("button", { type: "button", class: "button grey", disabled: cannot, data: { fault: m.name }, onclick: (e) => bring(m, e) }, m.title),
      h("p", null, m.does),
      cannot ? h("p", { class: "notice" }, `Only the built-in model can be told to do that; ${state.model} answers now.`) : null);
  }));
}

on("snapshot", draw);
