import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { formatDay, formatDuration } from "@/shared/format/format";
import { Button } from "@/shared/ui/Button";
import { Card } from "@/shared/ui/Card";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { Select } from "@/shared/ui/Select";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { type Column, Table } from "@/shared/ui/Table";
import { VisibleText } from "@/shared/ui/VisibleText";
import { Progress } from "./Progress";
import { type RunListed, type RunStatus, runList } from "./queries";
import { RUN_LOOKS, RunStateDot } from "./states";

const ALL = "all";
const STATUSES = Object.keys(RUN_LOOKS) as RunStatus[];
const isStatus = (text: string | undefined): text is RunStatus => STATUSES.includes(text as RunStatus);

/** Every run, newest first. */
export function Runs({ status, workflow }: { status?: string; workflow?: string }) {
  const navigate = useNavigate();
  const chosen = isStatus(status) ? status : undefined;
  const runs = useInfiniteQuery(runList({ status: chosen, workflow }));
  const list = runs.data?.pages.flatMap((page) => page.items);
  const go = (next: string) =>
    void navigate({
      to: "/workflows",
      search: { view: "runs", workflow, status: next === ALL ? undefined : next },
      replace: true,
    });
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3">
        <div className="w-48">
          <Select
            label="State"
            value={chosen ?? ALL}
            onChange={go}
            options={[
              { value: ALL, label: "All states" },
              ...STATUSES.map((one) => ({ value: one, label: RUN_LOOKS[one].word })),
            ]}
          />
        </div>
        {workflow && (
          <Button
            size="sm"
            onClick={() => void navigate({ to: "/workflows", search: { view: "runs", status } })}
          >
            Only {workflow} · show all
          </Button>
        )}
      </div>
      <Card flush className="overflow-hidden">
        {runs.isPending && <SkeletonRows rows={4} />}
        {runs.isError && (
          <ErrorState
            title="The runs could not be read"
            error={runs.error}
            onRetry={() => void runs.refetch()}
          />
        )}
        {list?.length === 0 && (
          <EmptyState icon={<Play />} title={chosen || workflow ? "No such run" : "Nothing has run yet"}>
            {chosen || workflow ? "Choose another state." : "Run a workflow from its definition."}
          </EmptyState>
        )}
        {list && list.length > 0 && (
          <Table label="Runs" columns={COLUMNS} rows={list} rowKey={(run) => run.id} />
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
    </div>
  );
}

const AUTHORITIES: Record<string, string> = { owner: "by you", agent: "by an agent", schedule: "by a task" };

const COLUMNS: Column<RunListed>[] = [
  {
    key: "name",
    title: "Workflow",
    className: "w-full",
    cell: (run) => (
      <div className="min-w-0">
        <Link
          to="/workflows/runs/$runId"
          params={{ runId: run.id }}
          className="font-medium [overflow-wrap:anywhere] hover:underline"
        >
          <VisibleText text={run.workflow_name} />
        </Link>
        <p
          className="line-clamp-1 text-xs text-ink-faint [overflow-wrap:anywhere]"
          title={run.error ?? undefined}
        >
          {run.error ? (
            <span className="text-bad-ink">
              <VisibleText text={run.error} />
            </span>
          ) : (
            inputsLine(run.inputs)
          )}
        </p>
      </div>
    ),
  },
  { key: "status", title: "State", cell: (run) => <RunStateDot status={run.status} /> },
  { key: "progress", title: "Nodes", wide: true, cell: (run) => <Progress counts={run.nodes} /> },
  {
    key: "when",
    title: "Started",
    wide: true,
    className: "whitespace-nowrap",
    cell: (run) => (
      <div>
        <RelativeTime at={run.created_at} />
        <div className="text-xs text-ink-faint">
          {formatDay(run.created_at)} · {AUTHORITIES[run.authority]}
        </div>
      </div>
    ),
  },
  {
    key: "took",
    title: "Took",
    align: "right",
    className: "whitespace-nowrap",
    cell: (run) =>
      run.ended_at
        ? formatDuration(new Date(run.ended_at).getTime() - new Date(run.created_at).getTime())
        : "–",
  },
];

const inputsLine = (inputs: Record<string, unknown>): string =>
  Object.entries(inputs)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ");
