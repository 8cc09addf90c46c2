import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "@/shared/api/client";
import { useEvent } from "@/shared/events/events";
import { readAgain } from "@/shared/events/follow";

export interface Question {
  prompt: string;
  directory: string;
}

const runKey = (id: string | undefined) => ["welcome", "run", id] as const;

const runById = (id: string | undefined) =>
  queryOptions({
    queryKey: runKey(id),
    queryFn: () => read(api.GET("/api/runs/{run_id}", { params: { path: { run_id: id ?? "" } } })),
    enabled: id !== undefined,
    placeholderData: (before) => before,
  });

async function ask({ prompt, directory }: Question): Promise<string> {
  const channel = await read(
    api.POST("/api/channels", { body: { dir_path: directory, platform: "local", fresh: false } }),
  );
  const started = await read(
    api.POST("/api/channels/{channel_id}/runs", {
      params: { path: { channel_id: channel.id } },
      body: { prompt, model: "demo", attended: true, author_id: "owner" },
    }),
  );
  return started.run_id;
}

export type Run = Schemas["Run"];

/** Asks the demo model in a channel, and follows what comes of it. */
export function useFirstRun() {
  const cache = useQueryClient();
  const [runId, setRunId] = useState<string>();
  const asking = useMutation({ mutationFn: ask, onSuccess: setRunId });
  const run = useQuery(runById(runId));
  useEvent(["run.started", "run.iteration", "tool.started", "tool.finished", "run.finished"], ({ data }) => {
    const about = "run_id" in data ? data.run_id : data.id;
    if (about === runId) readAgain(cache, runKey(runId));
  });
  const ended = run.data !== undefined && run.data.ended_at != null;
  return {
    ask: asking.mutate,
    error: asking.error ?? run.error,
    run: run.data,
    working: asking.isPending || (runId !== undefined && !ended),
    ended,
  };
}
