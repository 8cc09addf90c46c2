import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { toolsKey } from "@/features/servers/queries";
import { api, read, readAll, type Schemas } from "@/shared/api/client";

export type Definition = Schemas["WorkflowSummary"];
export type DefinitionText = Schemas["WorkflowShown"];
export type Problem = Schemas["WorkflowProblem"];
export type Verdict = Schemas["Verdict"];
export type Run = Schemas["WorkflowRunShown"];
export type RunListed = Schemas["WorkflowRunListed"];
export type RunNode = Schemas["WorkflowNodeShown"];
export type WholeRun = Schemas["WholeWorkflowRun"];
export type Attempt = Schemas["NodeAttempt"];
export type RunStatus = Run["status"];
export type NodeStatus = RunNode["status"];
export type Scope = Definition["scope"];

export const definitionsKey = ["workflows"] as const;
export const runsKey = ["workflow-runs"] as const;

/** Files may be changed by any editor: they are looked at whenever they are shown. */
const looked = { refetchOnMount: "always" } as const;

/** The workflows that a channel has, those of its project before global ones; without a channel global ones. */
export const definitionList = (channelId: string | null) =>
  queryOptions({
    queryKey: [...definitionsKey, "list", channelId],
    queryFn: () =>
      readAll((cursor) =>
        read(
          api.GET("/api/workflows", {
            params: { query: { channel_id: channelId ?? undefined, cursor, limit: 200 } },
          }),
        ),
      ),
    ...looked,
  });

export interface Place {
  channel: string | null;
  scope: Scope | null;
}

export const definitionOf = (name: string, { channel, scope }: Place) =>
  queryOptions({
    queryKey: [...definitionsKey, "one", name, channel, scope],
    queryFn: () =>
      read(
        api.GET("/api/workflows/{name}", {
          params: {
            path: { name },
            query: { channel_id: channel ?? undefined, scope: scope ?? undefined },
          },
        }),
      ),
    ...looked,
  });

/** What is wrong with a text, and with inputs what a run would do. */
export const verdictOf = (text: string, channel: string | null, inputs?: Record<string, unknown>) =>
  queryOptions({
    queryKey: ["workflow-verdict", text, channel, inputs],
    queryFn: () =>
      read(
        api.POST("/api/workflows/validate", {
          body: { workflow: text, channel_id: channel, inputs: inputs ?? null },
        }),
      ),
    gcTime: 10_000,
  });

export const saveDefinition = (text: string, action: "add" | "update", place: Place) =>
  read(
    api.POST("/api/workflows", {
      body: { action, workflow: text, scope: place.scope ?? "global", channel_id: place.channel },
    }),
  );

export const deleteDefinition = (name: string, { channel, scope }: Place) =>
  read(
    api.DELETE("/api/workflows/{name}", {
      params: { path: { name }, query: { channel_id: channel ?? undefined, scope: scope ?? undefined } },
    }),
  );

export type RunFilter = { status?: RunStatus; workflow?: string };

/** Runs, newest first, page by page. */
export const runList = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: [...runsKey, "list", filter],
    queryFn: ({ pageParam }) =>
      read(
        api.GET("/api/workflows/runs", {
          params: {
            query: { limit: 40, cursor: pageParam, status: filter.status, workflow_name: filter.workflow },
          },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export const runOf = (runId: string) =>
  queryOptions({
    queryKey: [...runsKey, "one", runId],
    queryFn: () => read(api.GET("/api/workflows/runs/{run_id}", { params: { path: { run_id: runId } } })),
  });

const of = (runId: string) => ({ path: { run_id: runId } });

export const startRun = (workflow_name: string, inputs: Record<string, unknown>, channel_id: string | null) =>
  read(api.POST("/api/workflows/runs", { body: { workflow_name, inputs, channel_id } }));
export const cancelRun = (id: string) =>
  read(api.POST("/api/workflows/runs/{run_id}/cancel", { params: of(id) }));
export const deleteRun = (id: string) => read(api.DELETE("/api/workflows/runs/{run_id}", { params: of(id) }));
export const retryRun = (id: string, body: Schemas["WorkflowRetry"]) =>
  read(api.POST("/api/workflows/runs/{run_id}/retry", { params: of(id), body }));
export const answerRun = (id: string, body: Schemas["WorkflowAnswer"]) =>
  read(api.POST("/api/workflows/runs/{run_id}/resume", { params: of(id), body }));

/** The full names of all tools, for fields that take one. */
export const allTools = queryOptions({
  queryKey: [...toolsKey, "names"],
  queryFn: async () => {
    const tools = await readAll((cursor) => read(api.GET("/api/tools", { params: { query: { cursor } } })));
    return tools.map((tool) => tool.fullName);
  },
});
