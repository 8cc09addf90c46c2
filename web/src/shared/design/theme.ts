/** Which theme a person wants; `public/theme.js` applies it, also before the first paint. */
import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";

const KEY = "manyhands.theme";
const CHANGED = "manyhands:theme";

export function wantedTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system";
  }
}

export function setTheme(theme: Theme): void {
  try {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    return; // Without storage there is nothing to keep it in.
  }
  dispatchEvent(new Event(CHANGED));
}

function subscribe(changed: () => void): () => void {
  const seen = new MutationObserver(changed);
  seen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  for (const name of [CHANGED, "storage"]) addEventListener(name, changed);
  return () => {
    seen.disconnect();
    for (const name of [CHANGED, "storage"]) removeEventListener(name, changed);
  };
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, wantedTheme);

/** The theme that is shown now. */
export const useShownTheme = (): string =>
  useSyncExternalStore(subscribe, () => document.documentElement.dataset.theme ?? "light");
