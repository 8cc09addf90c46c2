import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { useEvent } from "@/shared/events/events";
import { amend } from "@/shared/events/follow";
import { matchesFilter, withChanged, withNew } from "./incoming";
import { type Call, type CallFilter, callById, callLog } from "./queries";

/**
 * Takes new calls into the list that is shown: at once while its head is seen, else they are held back, so that nothing
 * moves under the reader, until `take` is called.
 */
export function useIncoming(filter: CallFilter, atHead: boolean): { held: number; take: () => void } {
  const cache = useQueryClient();
  const held = useRef(new Map<string, Call>());
  const [count, setCount] = useState(0);
  const key = JSON.stringify(filter);
  const options = callLog(filter);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter is another list
  useEffect(() => {
    held.current.clear();
    setCount(0);
  }, [key]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the filter
  const take = useCallback(() => {
    if (held.current.size === 0) return;
    const calls = [...held.current.values()];
    held.current.clear();
    setCount(0);
    amend(cache, options.queryKey, (pages) => withNew(pages, calls));
  }, [cache, key]);

  useEffect(() => {
    if (atHead) take();
  }, [atHead, take]);

  const hear = (call: Call) => {
    let isNew = true;
    amend(cache, options.queryKey, (pages) => {
      const changed = withChanged(pages, call, filter);
      if (changed) isNew = false;
      return changed ?? pages;
    });
    if (!isNew) return;
    if (matchesFilter(call, filter)) held.current.set(call.id, call);
    else held.current.delete(call.id);
    if (atHead) take();
    setCount(held.current.size);
  };

  useEvent(["tool.started", "tool.finished"], ({ data }) => hear(data));
  // A call that waits for a person is in the log, and is told of only when it starts.
  useEvent("approval.requested", ({ data }) => {
    if (data.call_id) void cache.fetchQuery(callById(data.call_id)).then(hear, () => {});
  });
  return { held: count, take };
}
