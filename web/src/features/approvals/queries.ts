import { infiniteQueryOptions, queryOptions, useQuery } from "@tanstack/react-query";
import { api, read } from "@/shared/api/client";

export const approvalsKey = ["approvals"] as const;

/** What waits for a person now. */
export const pendingApprovals = queryOptions({
  queryKey: [...approvalsKey, "pending"],
  queryFn: async () =>
    (await read(api.GET("/api/approvals", { params: { query: { state: "pending", limit: 500 } } }))).items,
});

/** Everything that ever waited, newest first, page by page. */
export const pastApprovals = infiniteQueryOptions({
  queryKey: [...approvalsKey, "past"],
  queryFn: ({ pageParam }) =>
    read(api.GET("/api/approvals", { params: { query: { limit: 50, cursor: pageParam } } })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

/** The rules that hold: what was allowed or denied for longer than once. */
export const ruleList = queryOptions({
  queryKey: [...approvalsKey, "rules"],
  queryFn: async () => (await read(api.GET("/api/rules", { params: { query: { limit: 500 } } }))).items,
});

export const usePendingCount = (): number =>
  useQuery({ ...pendingApprovals, select: (list) => list.length }).data ?? 0;
