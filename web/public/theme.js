// Before the first paint: which theme holds. `system` follows the machine; kept under one key.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    let wanted = "system";
    try {
      wanted = localStorage.getItem("manyhands.theme") ?? "system";
    } catch {
      // Storage may be closed to us; the system's choice holds then.
    }
    const theme = wanted === "dark" || wanted === "light" ? wanted : dark.matches ? "dark" : "light";
    document.documentElement.dataset.theme = theme;
    document.documentElement.style.colorScheme = theme;
  };
  apply();
  dark.addEventListener("change", apply);
  addEventListener("storage", apply);
  addEventListener("manyhands:theme", apply);
})();
