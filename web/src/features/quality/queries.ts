import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { ApiError, api, read, type Schemas } from "@/shared/api/client";

export type Snapshot = Schemas["SnapshotShown"];
export type Metric = Schemas["Metric"];
export type MeasuredFunction = Schemas["FunctionShown"];
export type MeasuredFile = Schemas["MeasuredFile"];
export type Cluster = Schemas["CloneCluster"];
export type Cycle = Schemas["CycleShown"];
export type Point = Schemas["TrendPoint"];
export type Compared = Schemas["Compared"];
export type Progress = Omit<Schemas["ScanState"], "running">;
export type Failure = { code: string; error: string; hint: string | null };
/** How far a scan is, or how the last one failed while this window was open. */
export type ScanState = Schemas["ScanState"] & { failure?: Failure };
export type Sorting = "harm" | "cyclomatic" | "cognitive" | "nesting" | "parameters" | "lines" | "path";

const PAGE = 50;
const MOST_FILES = 20_000;

const scansKey = ["quality-scans"] as const;
const comparisonsKey = ["quality-comparisons"] as const;
const key = (channelId: string, ...rest: unknown[]) => ["quality", channelId, ...rest] as const;
export const qualityKey = (channelId: string) => key(channelId);
const path = (channelId: string) => ({ channel_id: channelId });

export const scanState = (channelId: string) =>
  queryOptions({
    queryKey: [...scansKey, channelId],
    queryFn: (): Promise<ScanState> =>
      read(api.GET("/api/channels/{channel_id}/quality/scan", { params: { path: path(channelId) } })),
  });

/** How far a comparison is; only events tell. */
export const comparisonState = (channelId: string) =>
  queryOptions<Progress | null>({
    queryKey: [...comparisonsKey, channelId],
    queryFn: () => null,
    enabled: false,
    initialData: null,
  });

/** What the newest scan says; nothing where there was none. */
export const snapshotOf = (channelId: string) =>
  queryOptions({
    queryKey: key(channelId, "snapshot"),
    queryFn: async (): Promise<Snapshot | null> => {
      try {
        return await read(
          api.GET("/api/channels/{channel_id}/quality/snapshot", { params: { path: path(channelId) } }),
        );
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
    // Nobody tells of a branch that was changed outside: whoever comes back looks again.
    staleTime: 0,
    refetchOnWindowFocus: true,
  });

export const historyOf = (channelId: string) =>
  queryOptions({
    queryKey: key(channelId, "history"),
    queryFn: async () =>
      (
        await read(
          api.GET("/api/channels/{channel_id}/quality/history", {
            params: { path: path(channelId), query: { limit: 200 } },
          }),
        )
      ).items,
  });

export const filesOf = (channelId: string) =>
  queryOptions({
    queryKey: key(channelId, "files"),
    queryFn: async () =>
      (
        await read(
          api.GET("/api/channels/{channel_id}/quality/files", {
            params: { path: path(channelId), query: { limit: MOST_FILES } },
          }),
        )
      ).items,
  });

const nextPage = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page: { next_cursor?: string | null }) => page.next_cursor ?? undefined,
};

export const functionsOf = (channelId: string, sort: Sorting, q: string) =>
  infiniteQueryOptions({
    queryKey: key(channelId, "functions", sort, q),
    queryFn: ({ pageParam }) =>
      read(
        api.GET("/api/channels/{channel_id}/quality/complexity", {
          params: {
            path: path(channelId),
            query: { limit: PAGE, cursor: pageParam, sort, q: q || undefined },
          },
        }),
      ),
    ...nextPage,
  });

export const clonesOf = (channelId: string) =>
  infiniteQueryOptions({
    queryKey: key(channelId, "clones"),
    queryFn: ({ pageParam }) =>
      read(
        api.GET("/api/channels/{channel_id}/quality/clones", {
          params: { path: path(channelId), query: { limit: PAGE, cursor: pageParam } },
        }),
      ),
    ...nextPage,
  });

export const cyclesOf = (channelId: string) =>
  infiniteQueryOptions({
    queryKey: key(channelId, "cycles"),
    queryFn: ({ pageParam }) =>
      read(
        api.GET("/api/channels/{channel_id}/quality/cycles", {
          params: { path: path(channelId), query: { limit: PAGE, cursor: pageParam } },
        }),
      ),
    ...nextPage,
  });

export const unusedOf = (channelId: string) =>
  infiniteQueryOptions({
    queryKey: key(channelId, "unused"),
    queryFn: ({ pageParam }) =>
      read(
        api.GET("/api/channels/{channel_id}/quality/unused", {
          params: { path: path(channelId), query: { limit: PAGE, cursor: pageParam } },
        }),
      ),
    ...nextPage,
  });

/** Lines of a file as they are now: read anew whenever they are looked at. */
export const sourceOf = (channelId: string, file: string, line: number, endLine: number) =>
  queryOptions({
    queryKey: key(channelId, "source", file, line, endLine),
    queryFn: () =>
      read(
        api.GET("/api/channels/{channel_id}/quality/source", {
          params: { path: path(channelId), query: { path: file, line, end_line: endLine } },
        }),
      ),
    staleTime: 0,
  });

export const startScan = (channelId: string) =>
  read(api.POST("/api/channels/{channel_id}/quality/scan", { params: { path: path(channelId) } }));

export const cancelScan = (channelId: string) =>
  read(api.DELETE("/api/channels/{channel_id}/quality/scan", { params: { path: path(channelId) } }));

export const compareWith = (channelId: string, base: string, signal: AbortSignal) =>
  read(
    api.POST("/api/channels/{channel_id}/quality/compare", {
      params: { path: path(channelId) },
      body: { base: base || null },
      signal,
    }),
  );
