import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, read, type Schemas } from "@/shared/api/client";

export type Hit = Schemas["MemoryHit"];
export type Answer = Schemas["MemoryAnswer"];
export type Collection = Schemas["MemoryCollection"];
export type Embedder = Schemas["EmbedderState"];
export type Status = Schemas["MemoryStatus"];
export type MemoryFile = Schemas["MemoryFile"];

/** Whose memory: a channel's project with the global one, or the global one alone. */
export type Whose = string | null;

/** Where in a file of which memory; without an end nothing is marked. */
export interface Place {
  scope: Hit["scope"];
  path: string;
  line: number;
  endLine?: number;
}

/** What is looked for, and where. */
export interface Question {
  whose: Whose;
  query: string;
  paths: readonly string[];
  since: string | null;
  until: string | null;
  most: number;
  newer: boolean;
  wordsOnly: boolean;
}

const NEWER = 0.5;
const PAGE = 50;

export const statusKey = ["memory-status"] as const;
/** What the files say; read anew when one of them changed. */
export const foundKey = ["memory"] as const;

const place = (whose: Whose) => ({ channel_id: whose ?? undefined });

export const statusOf = (whose: Whose) =>
  queryOptions({
    queryKey: [...statusKey, whose],
    queryFn: () => read(api.GET("/api/memory/status", { params: { query: place(whose) } })),
    // What another process reads is not told here.
    staleTime: 0,
  });

export const answerTo = (question: Question) =>
  queryOptions({
    queryKey: [...foundKey, "search", question],
    queryFn: ({ signal }) =>
      read(
        api.POST("/api/memory/search", {
          body: {
            query: question.query,
            top_k: question.most,
            paths: [...question.paths],
            since: question.since,
            until: question.until,
            recency: question.newer ? NEWER : 0,
            diversity: 0,
            mode: question.wordsOnly ? "lexical" : "hybrid",
            ...place(question.whose),
          },
          signal,
        }),
      ),
    enabled: question.query !== "",
    staleTime: 0,
  });

export const filesOf = (whose: Whose, problems: boolean) =>
  infiniteQueryOptions({
    queryKey: [...foundKey, "files", whose, problems],
    queryFn: ({ pageParam }) =>
      read(
        api.GET("/api/memory/files", {
          params: { query: { ...place(whose), problems, limit: PAGE, cursor: pageParam } },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export const excerptOf = (whose: Whose, { scope, path, line }: Place, around: number) =>
  queryOptions({
    queryKey: [...foundKey, "file", whose, scope, path, line, around],
    queryFn: () =>
      read(
        api.GET("/api/memory/file", { params: { query: { ...place(whose), scope, path, line, around } } }),
      ),
    staleTime: 0,
  });

export const readAgain = (whose: Whose, again: boolean) =>
  read(api.POST("/api/memory/index", { body: { ...place(whose), again } }));
