import { JsonView } from "@/shared/ui/JsonView";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import type { WholeRun } from "./queries";
import { NodeState } from "./states";

interface RunOverviewProps {
  whole: WholeRun;
  /** A node that is meant, and has not begun yet. */
  waitingFor: string | null;
  onPick: (path: string) => void;
}

/** What the run was given, and its nodes in the order in which they began. */
export function RunOverview({ whole: { run, nodes }, waitingFor, onPick }: RunOverviewProps) {
  const top = nodes.filter((node) => node.parent == null);
  return (
    <div className="flex flex-col gap-5 p-4">
      {waitingFor !== null && (
        <p className="text-sm text-ink-soft">
          <span className="font-mono">{waitingFor}</span> has not begun yet.
        </p>
      )}
      <section className="flex flex-col gap-2">
        <h2 className="text-sm font-semibold">Inputs</h2>
        {Object.keys(run.inputs).length > 0 ? (
          <JsonView value={run.inputs} label="Inputs" />
        ) : (
          <p className="text-sm text-ink-soft">It was given nothing.</p>
        )}
      </section>
      <section className="flex flex-col gap-1">
        <h2 className="text-sm font-semibold">Nodes</h2>
        <ul className="-mx-2 flex flex-col">
          {top.map((node) => (
            <li key={node.id}>
              <button
                type="button"
                onClick={() => onPick(node.id)}
                className="flex w-full items-center gap-3 rounded-sm px-2 py-1.5 text-left text-sm hover:bg-hover"
              >
                <span className="min-w-0 flex-1 truncate">{node.id}</span>
                {node.started_at && (
                  <RelativeTime at={node.started_at} className="text-xs text-ink-faint max-sm:hidden" />
                )}
                <NodeState status={node.status} />
              </button>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}
