import type { Task } from "./queries";

/** What runs, then what comes next first, then what has no time; paused ones last. */
export function inOrder(tasks: readonly Task[]): Task[] {
  const rank = (task: Task): number => (task.running ? 0 : task.next_run_at ? 1 : task.enabled ? 2 : 3);
  return tasks.toSorted(
    (one, other) =>
      rank(one) - rank(other) ||
      (one.next_run_at ?? "").localeCompare(other.next_run_at ?? "") ||
      one.name.localeCompare(other.name),
  );
}

export function matching(tasks: readonly Task[], wanted: string): readonly Task[] {
  const words = wanted.trim().toLowerCase();
  if (!words) return tasks;
  return tasks.filter((task) =>
    [task.name, task.words, task.prompt, task.script, task.workflow_name].some((text) =>
      text?.toLowerCase().includes(words),
    ),
  );
}

/** "4 tasks · 1 running · 1 paused" */
export function summary(tasks: readonly Task[]): string {
  const running = tasks.filter((task) => task.running).length;
  const off = tasks.filter((task) => task.stopped_because).length;
  const paused = tasks.filter((task) => !task.enabled).length - off;
  return [
    tasks.length === 1 ? "1 task" : `${tasks.length} tasks`,
    running && `${running} running`,
    paused > 0 && `${paused} paused`,
    off && `${off} switched off after failures`,
  ]
    .filter(Boolean)
    .join(" · ");
}
