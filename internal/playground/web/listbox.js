// A list to choose from that floats beside a button: for select menus. It works by keyboard as lists of its role do.

import { h, fill } from "./dom.js";
import { icon } from "./icons.js";
import { place } from "./emoji.js";

let made = 0;
let open = null;

// chooseFrom offers items {value, label, note, icon} and calls done with the chosen values. With "most" above one,
// several can be chosen, and none is sent before that is confirmed.
export function chooseFrom(anchor, { label, items, least, most, chosen, done }) {
  open?.();
  const several = most > 1 || least === 0;
  const id = `list${++made}`;
  const picked = new Set(chosen);
  let shown = items;
  let active = Math.max(0, items.findIndex((i) => picked.has(i.value)));

  const search = items.length > 8 ? h("input", { type: "text", role: "combobox", placeholder: "Search", "aria-label": `Search: ${label}`, "aria-controls": id, "aria-expanded": "true", "aria-autocomplete": "list", autocomplete: "off", spellcheck: false }) : null;
  const list = h("div", { class: "options", id, role: "listbox", tabIndex: search ? -1 : 0, "aria-label": label, "aria-multiselectable": several ? "true" : undefined });
  const count = h("span", { role: "status" });
  const confirm = several ? h("button", { type: "button", class: "button blue", onclick: () => send() }, "Done") : null;
  const box = h("div", { class: "list floating" }, search, list, several ? h("div", { class: "foot" }, count, confirm) : null);
  const handle = search || list;

  const close = (focus) => {
    box.remove();
    document.removeEventListener("pointerdown", outside, true);
    removeEventListener("resize", gone);
    anchor.setAttribute("aria-expanded", "false");
    open = null;
    if (focus) anchor.focus({ preventScroll: true });
  };
  const gone = () => close(false);
  const outside = (e) => { if (!box.contains(e.target) && !anchor.contains(e.target)) close(false); };
  const enough = () => picked.size >= least && picked.size <= most;
  const send = () => {
    if (!enough()) return;
    close(true);
    done([...picked]);
  };
  const take = (item) => {
    if (!several) {
      picked.clear();
      picked.add(item.value);
      send();
      return;
    }
    if (picked.has(item.value)) picked.delete(item.value);
    else if (picked.size < most) picked.add(item.value);
    else if (most === 1) { picked.clear(); picked.add(item.value); }
    draw();
  };
  const draw = () => {
    fill(list, shown.map((item, i) => h("div", {
      class: "choice" + (i === active ? " active" : ""), id: `${id}-${i}`, role: "option", "aria-selected": String(picked.has(item.value)),
      onclick: () => { active = i; take(item); handle.focus(); },
    }, item.icon || null, h("span", { class: "label" }, item.label, item.note ? h("span", { class: "note" }, item.note) : null), h("span", { class: "tick" }, icon("check", true)))));
    if (!shown.length) fill(list, h("div", { class: "hint" }, "Nothing found"));
    handle.setAttribute("aria-activedescendant", shown.length ? `${id}-${active}` : "");
    list.children[active]?.scrollIntoView({ block: "nearest" });
    count.textContent = least === most ? `${picked.size} of ${most}` : `${picked.size} chosen, ${least} to ${most}`;
    if (confirm) confirm.disabled = !enough();
  };
  search?.addEventListener("input", () => {
    const t = search.value.toLowerCase();
    shown = items.filter((i) => i.label.toLowerCase().includes(t) || (i.note || "").toLowerCase().includes(t));
    active = 0;
    draw();
  });
  box.addEventListener("keydown", (e) => {
    e.stopPropagation();
    const go = (to) => { e.preventDefault(); active = Math.max(0, Math.min(shown.length - 1, to)); draw(); };
    if (e.key === "Escape") { e.preventDefault(); close(true); return; }
    if (e.target === confirm) {
      if (e.key === "Tab") { e.preventDefault(); handle.focus(); }
      return;
    }
    if (e.key === "ArrowDown") go(active === shown.length - 1 ? 0 : active + 1);
    else if (e.key === "ArrowUp") go(active === 0 ? shown.length - 1 : active - 1);
    else if (e.key === "Home" && !search) go(0);
    else if (e.key === "End" && !search) go(shown.length - 1);
    else if ((e.key === "Enter" || (e.key === " " && !search)) && shown[active]) { e.preventDefault(); take(shown[active]); }
    else if (e.key === "Tab") {
      e.preventDefault();
      if (confirm && !confirm.disabled) confirm.focus();
    } else if (!search && e.key.length === 1) {
      // The next one that begins so.
      const order = [...shown.slice(active + 1), ...shown.slice(0, active + 1)];
      const found = order.find((i) => i.label.toLowerCase().startsWith(e.key.toLowerCase()));
      if (found) go(shown.indexOf(found));
    }
  });
  document.body.append(box);
  box.style.width = `${Math.max(220, Math.min(anchor.getBoundingClientRect().width, innerWidth - 16))}px`;
  draw();
  place(box, anchor);
  document.addEventListener("pointerdown", outside, true);
  addEventListener("resize", gone);
  anchor.setAttribute("aria-expanded", "true");
  open = gone;
  handle.focus({ preventScroll: true });
}
