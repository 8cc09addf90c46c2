/** What a feature's `live.ts` works with. */
import type { QueryClient, QueryKey } from "@tanstack/react-query";
import type { EventStream } from "./stream";
import type { EventType } from "./types";

export type Follow = (events: EventStream, cache: QueryClient) => void;

const PAUSE = 150;

/** Read anew what the keys name when one of the events comes; many events in a row cause one reading. */
export function readAnew(
  events: EventStream,
  cache: QueryClient,
  types: readonly EventType[],
  ...keys: readonly QueryKey[]
): void {
  let planned = false;
  events.on(types, () => {
    if (planned) return;
    planned = true;
    setTimeout(() => {
      planned = false;
      for (const queryKey of keys) void cache.invalidateQueries({ queryKey });
    }, PAUSE);
  });
}

/** A list in which the entry with the same key is replaced, or put in front. */
export function upsert<T>(list: readonly T[], entry: T, key: (entry: T) => unknown): T[] {
  const place = list.findIndex((one) => key(one) === key(entry));
  return place < 0 ? [entry, ...list] : list.with(place, entry);
}
