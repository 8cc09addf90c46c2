import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { WorkflowNodeNews } from "@/shared/events/types";
import { gather } from "./live";
import { runOf, type WholeRun } from "./queries";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("many nodes that move within a moment are put in together", () => {
  const cache = new QueryClient();
  const key = runOf("r").queryKey;
  cache.setQueryData(key, { run: {}, nodes: [], workflow: {} } as unknown as WholeRun);
  const changed = vi.fn();
  cache
    .getQueryCache()
    .subscribe((event) => event.type === "updated" && event.action.type === "success" && changed());
  const take = gather(cache);
  for (let place = 0; place < 500; place++)
    take({ run_id: "r", id: `each/${place}/n`, status: "success", attempt: 1 } as WorkflowNodeNews);
  vi.advanceTimersByTime(200);
  expect(cache.getQueryData(key)?.nodes).toHaveLength(500);
  expect(changed).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(2000);
  expect(cache.getQueryState(key)?.isInvalidated).toBe(true);
});
