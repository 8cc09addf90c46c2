import { QueryClient, QueryObserver, queryOptions } from "@tanstack/react-query";
import { describe, expect, it, vi } from "vitest";
import { amend } from "./follow";

/** A list that is read when somebody says so, as it was when the reading began. */
function reading() {
  const answers: ((list: string[]) => void)[] = [];
  const options = queryOptions({
    queryKey: ["list"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => new Promise<string[]>((resolve) => answers.push(resolve)),
  });
  const cache = new QueryClient({ defaultOptions: { queries: { networkMode: "always" } } });
  const stop = new QueryObserver(cache, options).subscribe(() => {});
  return { answers, cache, options, stop };
}

describe("an event that comes while a list is read", () => {
  it("is not undone by a first answer from before it", async () => {
    const { answers, cache, options, stop } = reading();
    amend(cache, options.queryKey, (list) => [...list, "new"]);
    amend(cache, options.queryKey, (list) => [...list, "newer"]);
    answers[0]?.([]);
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    answers[1]?.(["new", "newer"]);
    await vi.waitFor(() => expect(cache.getQueryData(options.queryKey)).toEqual(["new", "newer"]));
    stop();
  });

  it("is not undone by a later answer from before it, and is seen at once", async () => {
    const { answers, cache, options, stop } = reading();
    answers[0]?.(["old"]);
    await vi.waitFor(() => expect(cache.getQueryData(options.queryKey)).toEqual(["old"]));
    void cache.invalidateQueries(options);
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    amend(cache, options.queryKey, (list) => [...list, "new"]);
    expect(cache.getQueryData(options.queryKey)).toEqual(["old", "new"]);
    await vi.waitFor(() => expect(answers).toHaveLength(3));
    answers[1]?.(["old"]);
    answers[2]?.(["old", "new"]);
    await vi.waitFor(() => expect(cache.isFetching()).toBe(0));
    expect(cache.getQueryData(options.queryKey)).toEqual(["old", "new"]);
    stop();
  });

  it("changes what is known without a reading when none is under way", async () => {
    const { answers, cache, options, stop } = reading();
    answers[0]?.(["old"]);
    await vi.waitFor(() => expect(cache.getQueryData(options.queryKey)).toEqual(["old"]));
    amend(cache, options.queryKey, (list) => [...list, "new"]);
    expect(cache.getQueryData(options.queryKey)).toEqual(["old", "new"]);
    expect(answers).toHaveLength(1);
    stop();
  });
});
