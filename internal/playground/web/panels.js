// The columns beside the chat: shown, hidden, and drawers over the chat where the window is narrow.

import { $ } from "./dom.js";
import { mine, keepMine } from "./prefs.js";

const narrow = matchMedia("(max-width: 1060px)");
const phone = matchMedia("(max-width: 720px)");
const listeners = [];
let opener = null; // what had the focus when a drawer was opened

export const inspectorShown = () => !document.body.classList.contains("no-inspector");
export const sidebarOpen = () => document.body.classList.contains("sidebar-open");

// onPanels calls f after a panel was shown or hidden.
export function onPanels(f) { listeners.push(f); }

export function showInspector(shown) {
  if (shown && narrow.matches) showSidebar(false);
  const was = inspectorShown();
  document.body.classList.toggle("no-inspector", !shown);
  keepMine(narrow.matches ? "inspector-drawer" : "inspector", shown ? "shown" : "hidden");
  if (was !== shown) moved($("inspector"), shown && narrow.matches);
}

export function showSidebar(open) {
  if (open && inspectorShown() && narrow.matches) showInspector(false);
  const was = sidebarOpen();
  document.body.classList.toggle("sidebar-open", open);
  if (was !== open) moved($("sidebar"), open && phone.matches);
}

// moved takes the focus into a drawer, keeps the rest of the page out of reach, and gives it all back afterwards.
function moved(panel, drawer) {
  const from = document.activeElement;
  $("chat").inert = covered(); // First: nothing in there can get the focus before.
  if (drawer) {
    opener ||= from;
    panel.focus({ preventScroll: true });
  } else if (opener?.isConnected) {
    opener.focus({ preventScroll: true });
    opener = null;
  }
  for (const f of listeners) f();
}

const covered = () => (narrow.matches && inspectorShown()) || (phone.matches && sidebarOpen());

function resized() {
  const shown = narrow.matches ? mine("inspector-drawer", "hidden") : mine("inspector", "shown");
  document.body.classList.toggle("no-inspector", shown !== "shown");
  document.body.classList.remove("sidebar-open");
  opener = null;
  $("chat").inert = covered();
  for (const f of listeners) f();
}

export function closeDrawers() {
  if (sidebarOpen()) showSidebar(false);
  if (inspectorShown() && narrow.matches) showInspector(false);
}

$("shade").addEventListener("click", closeDrawers);
document.addEventListener("keydown", (e) => {
  if (e.key === "Escape" && covered() && !document.querySelector("dialog[open]")) {
    e.preventDefault();
    closeDrawers();
  }
});
// Others show the inspector by its class alone.
new MutationObserver(() => { $("chat").inert = covered(); for (const f of listeners) f(); })
  .observe(document.body, { attributes: true, attributeFilter: ["class"] });
narrow.addEventListener("change", resized);
phone.addEventListener("change", resized);
resized();
