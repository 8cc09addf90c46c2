import { Badge } from "@/shared/ui/Badge";
import { StateDot } from "@/shared/ui/StateDot";
import type { Task, TaskRun } from "./queries";
import { RUN_STATES } from "./words";

export const RunState = ({ run }: { run: TaskRun }) => (
  <StateDot state={run.state} {...RUN_STATES[run.state]} />
);

/** Whether it goes on, is paused, or was switched off. A task that simply waits for its time says nothing. */
export function TaskState({ task }: { task: Task }) {
  if (task.running && task.last_run?.state === "paused") return <RunState run={task.last_run} />;
  if (task.running) return <StateDot state="running" />;
  if (task.stopped_because) return <Badge mood="bad">Switched off</Badge>;
  if (!task.enabled) return <Badge>Paused</Badge>;
  if (task.type === "once" && task.next_run_at == null) return <Badge>Over</Badge>;
  return null;
}
