import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, read, readAll, type Schemas } from "@/shared/api/client";

export type Task = Schemas["Task"];
export type TaskRun = Schemas["TaskRun"];
export type Preview = Schemas["SchedulePreview"];

export const tasksKey = ["tasks"] as const;

export const taskList = queryOptions({
  queryKey: [...tasksKey, "list"],
  queryFn: () =>
    readAll((cursor) => read(api.GET("/api/tasks", { params: { query: { cursor, limit: 200 } } }))),
});

export const taskOf = (taskId: string) =>
  queryOptions({
    queryKey: [...tasksKey, "one", taskId],
    queryFn: () => read(api.GET("/api/tasks/{task_id}", { params: { path: { task_id: taskId } } })),
  });

/** Its history, newest first, page by page. */
export const taskRuns = (taskId: string) =>
  infiniteQueryOptions({
    queryKey: [...tasksKey, "runs", taskId],
    queryFn: ({ pageParam }) =>
      read(
        api.GET("/api/tasks/{task_id}/runs", {
          params: { path: { task_id: taskId }, query: { limit: 30, cursor: pageParam } },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export interface WantedSchedule {
  type: Task["type"];
  schedule: string | null;
  timezone: string;
  jitter_s: number;
}

/** What a schedule that is not saved yet would mean. */
export const previewOf = (wanted: WantedSchedule) =>
  queryOptions({
    queryKey: ["task-preview", wanted],
    queryFn: () => read(api.POST("/api/tasks/preview", { body: wanted })),
    // Its times pass.
    staleTime: 10_000,
    gcTime: 30_000,
    retry: false,
  });

const of = (taskId: string) => ({ path: { task_id: taskId } });

export const runNow = (id: string) => read(api.POST("/api/tasks/{task_id}/run", { params: of(id) }));
export const cloneTask = (id: string) => read(api.POST("/api/tasks/{task_id}/clone", { params: of(id) }));
export const deleteTask = (id: string) => read(api.DELETE("/api/tasks/{task_id}", { params: of(id) }));
export const switchTask = (id: string, enabled: boolean) =>
  read(api.PATCH("/api/tasks/{task_id}", { params: of(id), body: { enabled } }));
export const cancelRun = (run: TaskRun) =>
  read(
    api.POST("/api/tasks/{task_id}/runs/{run_id}/cancel", {
      params: { path: { task_id: run.task_id, run_id: run.id } },
    }),
  );
