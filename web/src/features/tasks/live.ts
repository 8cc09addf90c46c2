import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import { amend, type Follow, readAgain, upsert } from "@/shared/events/follow";
import { type Task, type TaskRun, taskList, taskOf, taskRuns, tasksKey } from "./queries";

export const OPEN: readonly TaskRun["state"][] = ["due", "waiting", "running", "paused"];

/** The task after one of its runs has moved; times that nobody used are not its last run. */
export function withRun(task: Task, run: TaskRun): Task {
  if (task.id !== run.task_id) return task;
  const known = task.last_run;
  const isLast = !known || known.id === run.id || known.due_at <= run.due_at;
  const last_run = isLast ? run : known;
  return { ...task, last_run, running: isLast ? OPEN.includes(run.state) : task.running };
}

type Pages = InfiniteData<{ items: TaskRun[]; next_cursor: string | null }, unknown>;

/** The history with a run as it is now; a new one comes first. */
export function withHistory(pages: Pages, run: TaskRun): Pages {
  const place = pages.pages.findIndex((page) => page.items.some((one) => one.id === run.id));
  const at = Math.max(place, 0);
  return {
    ...pages,
    pages: pages.pages.map((page, number) =>
      number === at ? { ...page, items: upsert(page.items, run, (one) => one.id) } : page,
    ),
  };
}

/** What an event cannot say is its next time: that is read a moment later, once for many of them. */
const PAUSE = 600;

function readLater(cache: QueryClient): () => void {
  let planned = false;
  return () => {
    if (planned) return;
    planned = true;
    setTimeout(() => {
      planned = false;
      readAgain(cache, taskList.queryKey);
      readAgain(cache, [...tasksKey, "one"]);
    }, PAUSE);
  };
}

export const follow: Follow = (events, cache) => {
  const later = readLater(cache);
  events.on(["task.created", "task.updated"], ({ data }) => {
    amend(cache, taskList.queryKey, (list) => upsert(list, data, (one) => one.id));
    amend(cache, taskOf(data.id).queryKey, () => data);
  });
  events.on("task.deleted", ({ data }) => {
    amend(cache, taskList.queryKey, (list) => list.filter((one) => one.id !== data.id));
    readAgain(cache, taskOf(data.id).queryKey);
  });
  events.on(
    [
      "task.run_started",
      "task.run_retrying",
      "task.run_paused",
      "task.run_resumed",
      "task.run_finished",
      "task.run_missed",
      "task.run_skipped",
    ],
    ({ data: { task_name: _, ...run } }) => {
      amend(cache, taskList.queryKey, (list) => list.map((one) => withRun(one, run)));
      amend(cache, taskOf(run.task_id).queryKey, (task) => withRun(task, run));
      amend(cache, taskRuns(run.task_id).queryKey, (pages) => withHistory(pages, run));
      later();
    },
  );
};
