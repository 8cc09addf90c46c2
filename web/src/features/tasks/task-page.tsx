import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ArrowLeft, CircleAlert, Ellipsis, Pause, Pencil, Play } from "lucide-react";
import { useState } from "react";
import { channelList } from "@/features/chat/queries";
import { Button } from "@/shared/ui/Button";
import { ErrorState } from "@/shared/ui/ErrorState";
import { IconButton } from "@/shared/ui/IconButton";
import { Menu } from "@/shared/ui/Menu";
import { Page } from "@/shared/ui/Page";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { VisibleText } from "@/shared/ui/VisibleText";
import { DeleteTask } from "./DeleteTask";
import { History } from "./History";
import { type Task, taskOf } from "./queries";
import { TaskDialog } from "./TaskDialog";
import { TaskFacts } from "./TaskFacts";
import { TaskState } from "./TaskState";
import { type Asking, useTaskActions } from "./useTaskActions";
import { sentence } from "./words";

const Back = () => (
  <Link to="/tasks" className="mb-1.5 inline-flex items-center gap-1.5 text-sm text-ink-soft hover:text-ink">
    <ArrowLeft aria-hidden className="size-4" /> All tasks
  </Link>
);

export default function TaskPage() {
  const { taskId } = useParams({ from: "/tasks/$taskId" });
  const task = useQuery(taskOf(taskId));
  if (task.data && !task.isError) return <Shown key={taskId} task={task.data} />;
  return (
    <Page title="Task" above={<Back />}>
      {task.isError ? (
        <ErrorState
          title="This task cannot be shown"
          error={task.error}
          onRetry={() => void task.refetch()}
        />
      ) : (
        <SkeletonRows />
      )}
    </Page>
  );
}

function Shown({ task }: { task: Task }) {
  const navigate = useNavigate();
  const [asking, setAsking] = useState<Asking | null>(null);
  const { run, pause, entries } = useTaskActions(task, setAsking);
  const channel = useQuery(channelList).data?.find((one) => one.id === task.channel_id);
  return (
    <Page
      above={<Back />}
      title={
        <span className="flex flex-wrap items-center gap-x-3">
          <span className="[overflow-wrap:anywhere]">
            <VisibleText text={task.name} />
          </span>
          <TaskState task={task} />
        </span>
      }
      description={sentence(task.words)}
      actions={
        <>
          <Button tone="primary" icon={<Play />} busy={run.isPending} onClick={() => run.mutate()}>
            Run now
          </Button>
          <Button
            icon={task.enabled ? <Pause /> : <Play />}
            busy={pause.isPending}
            onClick={() => pause.mutate()}
          >
            {task.enabled ? "Pause" : "Resume"}
          </Button>
          <Button icon={<Pencil />} onClick={() => setAsking("edit")} className="max-sm:hidden">
            Edit
          </Button>
          <Menu
            trigger={<IconButton tone="plain" label="More actions" icon={<Ellipsis />} />}
            entries={entries}
          />
        </>
      }
    >
      {task.stopped_because && (
        <div role="status" className="flex items-start gap-3 rounded-lg bg-bad-soft p-4 text-sm">
          <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
          <p className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
            <VisibleText text={task.stopped_because} />
          </p>
        </div>
      )}
      <TaskFacts task={task} channel={channel} />
      <History task={task} />
      {asking === "edit" && <TaskDialog task={task} onClose={() => setAsking(null)} />}
      {asking === "delete" && (
        <DeleteTask
          task={task}
          onClose={() => setAsking(null)}
          onGone={() => void navigate({ to: "/tasks" })}
        />
      )}
    </Page>
  );
}
