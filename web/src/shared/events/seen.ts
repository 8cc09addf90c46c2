/** Whether a person can see this window, and values that wait until they can. */
import { useState, useSyncExternalStore } from "react";

const isSeen = (): boolean => document.visibilityState !== "hidden";

function watch(changed: () => void): () => void {
  document.addEventListener("visibilitychange", changed);
  return () => document.removeEventListener("visibilitychange", changed);
}

/** The value as it was when the window was last seen: to draw what nobody sees costs as much as what somebody does. */
export function useSeen<T>(value: T): T {
  const seen = useSyncExternalStore(watch, isSeen);
  const [kept, setKept] = useState(value);
  if (seen && kept !== value) setKept(value);
  return seen ? value : kept;
}
