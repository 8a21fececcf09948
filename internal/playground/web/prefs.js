// What a page keeps over a reload: choices in localStorage, where all windows share them, and what belongs to this
// window alone in sessionStorage. A browser that forbids storage only forgets.

function read(store, key) {
  try {
    return JSON.parse(store().getItem(`parley.${key}`)) ?? undefined;
  } catch {
    return undefined;
  }
}

function write(store, key, value) {
  try {
    if (value === undefined || value === "" || value === null) store().removeItem(`parley.${key}`);
    else store().setItem(`parley.${key}`, JSON.stringify(value));
  } catch { /* Full or forbidden. */ }
}

const shared = () => localStorage;
const own = () => sessionStorage;

export const pref = (key, fallback) => read(shared, key) ?? fallback;
export const keep = (key, value) => write(shared, key, value);
export const mine = (key, fallback) => read(own, key) ?? fallback;
export const keepMine = (key, value) => write(own, key, value);

export const theme = () => document.documentElement.dataset.theme;

export function setTheme(name) {
  try { localStorage.setItem("parley.theme", name); } catch { /* Forbidden: it lasts until the reload. */ }
  dispatchEvent(new Event("parley-theme"));
  document.documentElement.dataset.theme = name;
}
