/** Whether the way through the first start is behind this person: it is never shown again by itself. */
import { queryOptions } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { api, read } from "@/shared/api/client";

const KEY = "manyhands.welcomed";
const watchers = new Set<() => void>();
/** Where nothing can be stored, it holds as long as the page is open. */
let here = false;

function wasSeen(): boolean {
  try {
    return here || localStorage.getItem(KEY) !== null;
  } catch {
    return here;
  }
}

export function markSeen(): void {
  here = true;
  try {
    localStorage.setItem(KEY, "yes");
  } catch {
    // It is remembered above.
  }
  for (const changed of watchers) changed();
}

export const useSeen = (): boolean =>
  useSyncExternalStore((changed) => {
    watchers.add(changed);
    return () => watchers.delete(changed);
  }, wasSeen);

/** Whether anything was ever asked. Read anew each time: one answered question ends the first start. */
export const anythingAsked = queryOptions({
  queryKey: ["welcome", "asked"],
  queryFn: async () =>
    (await read(api.GET("/api/runs", { params: { query: { limit: 1 } } }))).items.length > 0,
  gcTime: 0,
});
