/** What a feature's `live.ts` works with. */
import type { DataTag, Query, QueryClient, QueryKey } from "@tanstack/react-query";
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
      for (const queryKey of keys) readAgain(cache, queryKey);
    }, PAUSE);
  });
}

/**
 * Change what is known as an event says. What is being read at that moment may be from before the event and would
 * undo it: then it is read once more.
 */
export function amend<T>(
  cache: QueryClient,
  queryKey: DataTag<QueryKey, T, Error>,
  how: (known: T) => T | undefined,
): void {
  cache.setQueryData<T>(queryKey, (known) => (known === undefined ? known : how(known)));
  if (cache.isFetching({ queryKey, exact: true }) > 0) readAgain(cache, queryKey);
}

const waiting = new WeakSet<Query>();

/** Read anew; a first reading that is under way is not broken off, but followed by another. */
export function readAgain(cache: QueryClient, queryKey: QueryKey): void {
  const first = cache
    .getQueryCache()
    .findAll({ queryKey, fetchStatus: "fetching", predicate: (query) => query.state.data === undefined });
  for (const query of first) {
    if (waiting.has(query)) continue;
    waiting.add(query);
    const again = () => {
      waiting.delete(query);
      void cache.invalidateQueries({ queryKey: query.queryKey, exact: true });
    };
    void query.promise?.catch(() => {}).then(() => setTimeout(again));
  }
  void cache.invalidateQueries({ queryKey });
}

/** A list in which the entry with the same key is replaced, or put in front. */
export function upsert<T>(list: readonly T[], entry: T, key: (entry: T) => unknown): T[] {
  const place = list.findIndex((one) => key(one) === key(entry));
  return place < 0 ? [entry, ...list] : list.with(place, entry);
}
