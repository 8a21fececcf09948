// Sets the colours before anything is drawn. The page's own choice wins over the system's.
(() => {
  const system = matchMedia("(prefers-color-scheme: light)");
  const apply = () => {
    let chosen = "";
    try { chosen = localStorage.getItem("parley.theme") || ""; } catch { /* Storage may be forbidden. */ }
    document.documentElement.dataset.theme = chosen || (system.matches ? "light" : "dark");
  };
  apply();
  system.addEventListener("change", apply);
  addEventListener("storage", apply); // another window chose
  addEventListener("parley-theme", apply);
})();
