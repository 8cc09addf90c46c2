import { queryOptions } from "@tanstack/react-query";
import { api, read, readAll, type Schemas } from "@/shared/api/client";
import type { Mood } from "@/shared/ui/Badge";

export type Worktree = Schemas["Worktree"];
export type FileDiff = Schemas["FileDiff"];

export const worktreesKey = ["worktrees"] as const;

/** What git says now: files change without any event, so that it is asked whenever one looks. */
const fresh = { staleTime: 0 } as const;

export const worktreeList = queryOptions({
  queryKey: [...worktreesKey, "list"],
  queryFn: () =>
    readAll((cursor) => read(api.GET("/api/worktrees", { params: { query: { cursor, limit: 200 } } }))),
  ...fresh,
});

/** By the id of the thread that it was made for. */
export const worktreeOf = (threadId: string) =>
  queryOptions({
    queryKey: [...worktreesKey, "one", threadId],
    queryFn: () =>
      read(api.GET("/api/worktrees/{worktree_id}", { params: { path: { worktree_id: threadId } } })),
    ...fresh,
  });

export const worktreeDiff = (threadId: string) =>
  queryOptions({
    queryKey: [...worktreesKey, "diff", threadId],
    queryFn: () =>
      read(api.GET("/api/worktrees/{worktree_id}/diff", { params: { path: { worktree_id: threadId } } })),
    ...fresh,
  });

/** How a worktree stands, in words. */
export const WORKTREE_STATES: Record<Worktree["state"], { mood: Mood; word: string; means: string }> = {
  making: { mood: "busy", word: "Being made", means: "Its files are being checked out." },
  unchanged: { mood: "neutral", word: "Unchanged", means: "Nothing was done in it yet." },
  uncommitted: { mood: "warn", word: "Uncommitted", means: "It holds changes that are in no commit." },
  unmerged: { mood: "accent", word: "Not merged", means: "It holds commits that its base does not have." },
  merged: { mood: "good", word: "Merged", means: "Its base has everything." },
  missing: { mood: "bad", word: "Missing", means: "Its directory is gone." },
  unknown: { mood: "bad", word: "Unknown", means: "Git could not say; it counts as work." },
};
