import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowUpRight, CircleStop, History as HistoryIcon } from "lucide-react";
import { formatCost, formatDuration } from "@/shared/format/format";
import { Button } from "@/shared/ui/Button";
import { Card } from "@/shared/ui/Card";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { IconButton } from "@/shared/ui/IconButton";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { type Column, Table } from "@/shared/ui/Table";
import { toast } from "@/shared/ui/Toast";
import { VisibleText } from "@/shared/ui/VisibleText";
import { OPEN } from "./live";
import { Moment } from "./Moment";
import { cancelRun, type Task, type TaskRun, taskRuns } from "./queries";
import { RunState } from "./TaskState";
import { TRIGGERS } from "./words";

/** Every time that it was due: what came of it, and the way to its transcript. */
export function History({ task }: { task: Task }) {
  const runs = useInfiniteQuery(taskRuns(task.id));
  const list = runs.data?.pages.flatMap((page) => page.items);
  return (
    <Card title="History" flush className="overflow-hidden">
      {runs.isPending && <SkeletonRows rows={3} />}
      {runs.isError && <ErrorState error={runs.error} onRetry={() => void runs.refetch()} />}
      {list?.length === 0 && (
        <EmptyState icon={<HistoryIcon />} title="It has not run yet">
          Press <em>Run now</em> to see whether it does what you want.
        </EmptyState>
      )}
      {list && list.length > 0 && (
        <Table label="History" columns={COLUMNS} rows={list} rowKey={(run) => run.id} />
      )}
      {runs.hasNextPage && (
        <div className="border-t border-line p-2 text-center">
          <Button
            tone="quiet"
            size="sm"
            busy={runs.isFetchingNextPage}
            onClick={() => void runs.fetchNextPage()}
          >
            Older ones
          </Button>
        </div>
      )}
    </Card>
  );
}

const COLUMNS: Column<TaskRun>[] = [
  { key: "state", title: "State", cell: (run) => <RunState run={run} /> },
  {
    key: "when",
    title: "When",
    cell: (run) => (
      <div className="min-w-0 text-sm">
        <Moment at={run.started_at ?? run.due_at} />
        <div className="text-xs text-ink-faint">
          {TRIGGERS[run.trigger]}
          {run.attempt > 1 && `, attempt ${run.attempt}`}
        </div>
        <div className="mt-1 md:hidden">
          <Came run={run} />
          {run.duration_s != null && (
            <p className="text-xs text-ink-faint">
              {formatDuration(run.duration_s * 1000)}
              {run.cost != null && ` · ${formatCost(run.cost)}`}
            </p>
          )}
        </div>
      </div>
    ),
  },
  {
    key: "what",
    title: "What came of it",
    wide: true,
    className: "w-full",
    cell: (run) => <Came run={run} />,
  },
  {
    key: "duration",
    title: "Duration",
    align: "right",
    wide: true,
    className: "whitespace-nowrap",
    cell: (run) => (run.duration_s == null ? "–" : formatDuration(run.duration_s * 1000)),
  },
  { key: "cost", title: "Cost", align: "right", wide: true, cell: (run) => formatCost(run.cost) },
  {
    key: "open",
    title: <span className="sr-only">Transcript</span>,
    align: "right",
    cell: (run) => <Ways run={run} />,
  },
];

function Came({ run }: { run: TaskRun }) {
  const said = run.error ?? run.note ?? run.text;
  return (
    <div className="flex flex-col gap-0.5">
      <p
        title={said || undefined}
        className={`line-clamp-2 max-w-prose text-sm whitespace-pre-line [overflow-wrap:anywhere] ${run.error ? "text-bad-ink" : "text-ink-soft"}`}
      >
        {said ? <VisibleText text={said} /> : "–"}
      </p>
      {run.denied.length > 0 && (
        <p className="text-xs text-warn-ink">
          It was not allowed to use <span className="font-mono">{run.denied.join(", ")}</span>
        </p>
      )}
    </div>
  );
}

function Ways({ run }: { run: TaskRun }) {
  const cancel = useMutation({ mutationFn: () => cancelRun(run), onError: toast.error });
  const open = OPEN.includes(run.state);
  const look =
    "inline-flex items-center gap-1 whitespace-nowrap text-sm text-accent-ink underline-offset-2 hover:underline";
  return (
    <span className="inline-flex items-center justify-end gap-2">
      {run.workflow_run_id && (
        <Link to="/workflows/runs/$runId" params={{ runId: run.workflow_run_id }} className={look}>
          Run <ArrowUpRight aria-hidden className="size-3.5" />
        </Link>
      )}
      {run.thread_id && (
        <Link to="/c/$channelId" params={{ channelId: run.thread_id }} className={look}>
          Transcript <ArrowUpRight aria-hidden className="size-3.5" />
        </Link>
      )}
      {open && (
        <IconButton
          size="sm"
          label="Stop this run"
          icon={<CircleStop />}
          busy={cancel.isPending}
          onClick={() => cancel.mutate()}
        />
      )}
    </span>
  );
}
