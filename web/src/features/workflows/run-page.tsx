import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { classes } from "@/shared/ui/classes";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Page } from "@/shared/ui/Page";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { VisibleText } from "@/shared/ui/VisibleText";
import { Clock } from "./Clock";
import { GraphPane } from "./GraphPane";
import { readGraph } from "./graph";
import { NodeDetail } from "./NodeDetail";
import { runOf, type WholeRun } from "./queries";
import { RunActions } from "./RunActions";
import { RunOverview } from "./RunOverview";
import { aboveOf, type Choices, pathsInRun, tellingNode } from "./runState";
import { shownStates } from "./shownStates";
import { RunStateDot } from "./states";

const Back = () => (
  <Link
    to="/workflows"
    search={{ view: "runs" }}
    className="mb-1.5 inline-flex items-center gap-1.5 text-sm text-ink-soft hover:text-ink"
  >
    <ArrowLeft aria-hidden className="size-4" /> All runs
  </Link>
);

export default function RunPage() {
  const { runId } = useParams({ from: "/workflows/runs/$runId" });
  const found = useQuery(runOf(runId));
  if (found.data && !found.isError) return <Shown key={runId} whole={found.data} />;
  return (
    <Page title="Run" above={<Back />} full>
      {found.isError ? (
        <ErrorState
          title="This run cannot be shown"
          error={found.error}
          onRetry={() => void found.refetch()}
        />
      ) : (
        <SkeletonRows />
      )}
    </Page>
  );
}

function Shown({ whole }: { whole: WholeRun }) {
  const { run, nodes, workflow, subs } = whole;
  const [picked, setPicked] = useState<string | null | undefined>(undefined);
  const [choices, setChoices] = useState<Choices>({});
  const definition = JSON.stringify(workflow.nodes);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a run is pinned to its definition; every reading brings a copy
  const graph = useMemo(() => readGraph(workflow, subs), [definition]);
  const paths = useMemo(() => pathsInRun(graph, nodes, choices), [graph, nodes, choices]);
  const choose = useCallback(
    (path: string, iteration: number) => setChoices((before) => ({ ...before, [path]: iteration })),
    [],
  );
  const states = useMemo(() => shownStates(graph, nodes, paths, choose), [graph, nodes, paths, choose]);
  // Until a person picks one, what is most telling is shown.
  const selected = picked === undefined ? tellingNode(nodes) : picked;
  const node = nodes.find((one) => one.id === selected);
  const inGraph = [...paths].find(([, path]) => path === selected)?.[0] ?? null;
  const pick = (path: string | null) => {
    setPicked(path);
    // The graph shows the iteration that the node is in.
    for (let at = path; at !== null; ) {
      const { parent, iteration } = aboveOf(at);
      if (parent !== null && iteration !== null) choose(parent, iteration);
      at = parent;
    }
  };
  return (
    <Page
      full
      above={<Back />}
      title={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span className="[overflow-wrap:anywhere]">
            <VisibleText text={run.workflow_name} />
          </span>
          <span className="font-normal tracking-normal">
            <RunStateDot status={run.status} />
          </span>
        </span>
      }
      description={
        <>
          Started <RelativeTime at={run.created_at} />
          {run.ended_at && (
            <>
              , took <Clock from={run.created_at} to={run.ended_at} />
            </>
          )}
          {run.ending && ". It is being stopped."}
        </>
      }
      actions={<RunActions run={run} />}
    >
      {run.error && (
        <p
          role="status"
          className="rounded-lg bg-bad-soft px-4 py-3 text-sm whitespace-pre-wrap [overflow-wrap:anywhere]"
        >
          <VisibleText text={run.error} />
        </p>
      )}
      <div
        className={classes(
          "grid gap-4 lg:min-h-112 lg:grid-cols-[minmax(0,1fr)_minmax(22rem,27rem)]",
          run.error ? "lg:h-[calc(100dvh-15.5rem)]" : "lg:h-[calc(100dvh-11.5rem)]",
        )}
      >
        <GraphPane
          label={`Graph of ${run.workflow_name}`}
          nodes={graph}
          states={states}
          selected={inGraph}
          onSelect={(path) => pick(paths.get(path) ?? path)}
          className="h-[55dvh] lg:h-full"
        />
        <aside
          aria-label="Details"
          className={classes(
            "min-h-0 min-w-0 rounded-lg border border-line bg-raised shadow-sm lg:overflow-y-auto",
            // On a phone what waits for an answer comes first.
            node?.status === "waiting" && "max-lg:order-first",
          )}
        >
          {node ? (
            <NodeDetail key={node.id} run={run} node={node} nodes={nodes} onPick={pick} />
          ) : (
            <RunOverview whole={whole} waitingFor={selected} onPick={pick} />
          )}
        </aside>
      </div>
    </Page>
  );
}
