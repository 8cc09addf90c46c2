import { Link } from "@tanstack/react-router";
import { Ellipsis, Play } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "@/shared/ui/Button";
import { IconButton } from "@/shared/ui/IconButton";
import { Menu } from "@/shared/ui/Menu";
import { VisibleText } from "@/shared/ui/VisibleText";
import { DeleteTask } from "./DeleteTask";
import { Moment } from "./Moment";
import type { Task } from "./queries";
import { TaskDialog } from "./TaskDialog";
import { RunState, TaskState } from "./TaskState";
import { type Asking, useTaskActions } from "./useTaskActions";
import { DOES, sentence } from "./words";

/** One task: what it does, when, how the last time went, and its likely next step. */
export function TaskRow({ task, channel }: { task: Task; channel: string | undefined }) {
  const [asking, setAsking] = useState<Asking | null>(null);
  const { run, entries } = useTaskActions(task, setAsking);
  const close = () => setAsking(null);
  return (
    <li className="px-4 py-3.5 transition-colors duration-(--quick) hover:bg-hover/50">
      <div className="flex items-start gap-3.5">
        <span
          title={DOES[task.does].word}
          className="mt-0.5 grid size-9 shrink-0 place-items-center rounded-md bg-sunken text-ink-soft max-sm:hidden [&_svg]:size-4.5"
        >
          {DOES[task.does].icon}
        </span>
        <div className="min-w-0 flex-1">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
            <Link
              to="/tasks/$taskId"
              params={{ taskId: task.id }}
              className="text-md font-semibold [overflow-wrap:anywhere] hover:underline"
            >
              <VisibleText text={task.name} />
            </Link>
            <TaskState task={task} />
          </div>
          <p className="mt-0.5 text-sm text-ink-soft">
            {sentence(task.words)}
            {channel && <span className="text-ink-faint"> · in {channel}</span>}
          </p>
          <Times task={task} />
        </div>
        <Button
          size="sm"
          icon={<Play />}
          busy={run.isPending}
          onClick={() => run.mutate()}
          className="max-sm:hidden"
        >
          Run now
        </Button>
        <IconButton
          size="sm"
          label={`Run ${task.name} now`}
          icon={<Play />}
          busy={run.isPending}
          onClick={() => run.mutate()}
          className="sm:hidden"
        />
        <Menu
          trigger={<IconButton size="sm" label={`More for ${task.name}`} icon={<Ellipsis />} />}
          entries={entries}
        />
      </div>
      {asking === "edit" && <TaskDialog task={task} onClose={close} />}
      {asking === "delete" && <DeleteTask task={task} onClose={close} />}
    </li>
  );
}

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <span className="inline-flex flex-wrap items-center gap-x-1.5">
    <span className="text-ink-faint">{label}</span>
    {children}
  </span>
);

function Times({ task }: { task: Task }) {
  const last = task.last_run;
  return (
    <p className="mt-1.5 flex flex-wrap items-center gap-x-6 gap-y-1 text-xs text-ink-soft">
      {task.next_run_at && (
        <Fact label="Next">
          <Moment at={task.next_run_at} />
        </Fact>
      )}
      <Fact label="Last">
        {last ? (
          <>
            <RunState run={last} /> <Moment at={last.started_at ?? last.due_at} />
          </>
        ) : (
          "never"
        )}
      </Fact>
      {task.failures > 1 && <span className="text-bad-ink">{task.failures} failures in a row</span>}
    </p>
  );
}
