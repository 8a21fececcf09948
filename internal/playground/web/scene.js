// A turn as a scene file: shown, and copied where the browser allows it.

import { h, toast } from "./dom.js";
import { look } from "./api.js";

export async function copyScene(t) {
  const answer = await look("scene", { turn: t.id });
  if (!answer?.text) {
    toast("That turn can't be copied any more: not all of it is kept.");
    return;
  }
  let copied = true;
  try {
    await navigator.clipboard.writeText(answer.text);
  } catch {
    copied = false;
  }
  const text = h("textarea", { class: "scene-text", readOnly: true, rows: 16, spellcheck: false, "aria-label": "The scene", value: answer.text });
  const dialog = h("dialog", { class: "modal scene", "aria-label": "This turn as a scene", onclose: () => dialog.remove() },
    h("form", { onsubmit: (e) => { e.preventDefault(); dialog.close(); } },
      h("h2", null, "This turn as a scene"),
      h("p", { class: "notice" }, copied ? "It is in the clipboard. " : "Copy it from here. ", "Save it as turn.scene and run ", h("code", null, "bin/bot scene turn.scene"), ": the real bot plays it again."),
      text,
      h("div", { class: "buttons" }, h("button", { type: "submit", class: "button blue" }, "Close"))));
  document.body.append(dialog);
  dialog.showModal();
  text.focus();
  text.select();
}
