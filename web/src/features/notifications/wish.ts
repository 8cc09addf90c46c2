/** Whether this browser tells the person about what happens while nobody looks. Asked for by a click, never before. */
import { useSyncExternalStore } from "react";

export type Wish = "on" | "off" | "blocked" | "impossible";

const PLACE = "manyhands-notify";
const watchers = new Set<() => void>();

/** What holds now: the person's wish, as far as the browser allows it. */
export function currentWish(): Wish {
  if (!("Notification" in globalThis) || !navigator.locks) return "impossible";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" && localStorage.getItem(PLACE) === "on" ? "on" : "off";
}

/** Only in answer to a click: the browser asks the person. */
export async function turnOn(): Promise<Wish> {
  localStorage.setItem(PLACE, "on");
  if (Notification.permission === "default") await Notification.requestPermission();
  tell();
  return currentWish();
}

export function turnOff(): void {
  localStorage.removeItem(PLACE);
  tell();
}

function tell(): void {
  for (const changed of watchers) changed();
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  // The other windows of this browser share the wish.
  addEventListener("storage", changed);
  return () => {
    watchers.delete(changed);
    removeEventListener("storage", changed);
  };
}

export const useWish = (): Wish => useSyncExternalStore(watch, currentWish);
