import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, read, type Schemas } from "@/shared/api/client";

export const callsKey = ["calls"] as const;

export type Call = Schemas["Call"];

export interface CallFilter {
  server?: string;
  tool?: string;
  status?: Call["status"];
  run?: string;
  channel_id?: string;
  q?: string;
}

/** The log, newest first, page by page. */
export const callLog = (filter: CallFilter = {}) =>
  infiniteQueryOptions({
    queryKey: [...callsKey, "log", filter],
    queryFn: ({ pageParam }) =>
      read(api.GET("/api/tool-calls", { params: { query: { ...filter, limit: 50, cursor: pageParam } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export const callById = (callId: string) =>
  queryOptions({
    queryKey: [...callsKey, "one", callId],
    queryFn: () => read(api.GET("/api/tool-calls/{call_id}", { params: { path: { call_id: callId } } })),
  });

/** Every call of a run, in the order in which they were made. */
export const callsOfRun = (runId: string) =>
  queryOptions({
    queryKey: [...callsKey, "run", runId],
    queryFn: async () => {
      const page = await read(api.GET("/api/tool-calls", { params: { query: { run: runId, limit: 200 } } }));
      return page.items.toReversed();
    },
  });

export const RESULT_PART = 30_000;

/** The text of a result, part by part. */
export const resultText = (callId: string) =>
  infiniteQueryOptions({
    queryKey: [...callsKey, "result", callId],
    queryFn: ({ pageParam }) =>
      read(
        api.GET("/api/tool-calls/{call_id}/result", {
          params: { path: { call_id: callId }, query: { offset: pageParam, limit: RESULT_PART } },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next_offset ?? undefined,
  });

/** How calls went in the last so many seconds; the points of one server, or of all. */
export const callStats = (seconds: number, server?: string) =>
  queryOptions({
    queryKey: [...callsKey, "stats", seconds, server ?? null],
    queryFn: () =>
      read(
        api.GET("/api/tool-calls/stats", {
          params: { query: { since: new Date(Date.now() - seconds * 1000).toISOString(), server } },
        }),
      ),
    placeholderData: keepPreviousData,
  });

/** Where the filtered log is downloaded. */
export function exportAddress(filter: CallFilter, format: "jsonl" | "csv"): string {
  const query = new URLSearchParams({ format });
  for (const [name, value] of Object.entries(filter)) if (value) query.set(name, value);
  return `/api/tool-calls/export?${query}`;
}
