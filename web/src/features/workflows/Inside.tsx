import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Button } from "@/shared/ui/Button";
import { Clock } from "./Clock";
import type { RunNode } from "./queries";
import { childrenOf, type Iteration, iterationName, iterationsOf, tellingIteration } from "./runState";
import { NodeState } from "./states";

interface InsideProps {
  node: RunNode;
  nodes: readonly RunNode[];
  onPick: (path: string) => void;
}

const SHOWN = 50;

/** What happened in a node that has others in it: every iteration, every item, or the nodes of a sub-workflow. */
export function Inside({ node, nodes, onPick }: InsideProps) {
  const [most, setMost] = useState(SHOWN);
  const iterations = iterationsOf(nodes, node.id);
  const others = childrenOf(nodes, node.id).filter((one) => one.iteration == null);
  const telling = tellingIteration(iterations);
  if (iterations.length === 0 && others.length === 0) return null;
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-xs font-semibold text-ink-faint">
        {iterations.length === 0
          ? "Its nodes"
          : node.type === "foreach"
            ? `${iterations.length} of ${node.iterations ?? iterations.length} items`
            : "Iterations"}
      </h3>
      <ol className="flex flex-col gap-1.5">
        {iterations.slice(0, most).map((one) => (
          <IterationRow
            key={one.number}
            name={iterationName(node, one.number)}
            iteration={one}
            open={one.number === telling}
            onPick={onPick}
          />
        ))}
      </ol>
      {iterations.length > most && (
        <Button tone="quiet" size="sm" onClick={() => setMost(most + SHOWN)}>
          Show more of {iterations.length}
        </Button>
      )}
      {others.length > 0 && <Steps nodes={others} onPick={onPick} />}
    </section>
  );
}

interface IterationRowProps {
  name: string;
  iteration: Iteration;
  open: boolean;
  onPick: (path: string) => void;
}

function IterationRow({ name, iteration, open, onPick }: IterationRowProps) {
  return (
    <li>
      <details open={open} className="group rounded-md border border-line">
        <summary className="flex list-none items-center gap-2 rounded-md px-2.5 py-1.5 text-sm hover:bg-hover">
          <ChevronRight
            aria-hidden
            className="size-3.5 shrink-0 text-ink-faint transition-transform group-open:rotate-90"
          />
          <span className="min-w-0 flex-1 truncate" title={name}>
            {name}
          </span>
          <NodeState status={iteration.status} />
        </summary>
        <div className="border-t border-line p-1">
          <Steps nodes={iteration.nodes} onPick={onPick} />
        </div>
      </details>
    </li>
  );
}

function Steps({ nodes, onPick }: { nodes: readonly RunNode[]; onPick: (path: string) => void }) {
  return (
    <ul className="flex flex-col">
      {nodes.map((one) => (
        <li key={one.id}>
          <button
            type="button"
            onClick={() => onPick(one.id)}
            className="flex w-full items-center gap-3 rounded-sm px-2 py-1 text-left text-sm hover:bg-hover"
          >
            <span className="shrink-0 font-medium">{one.node_id}</span>
            <span className="min-w-0 flex-1 truncate font-mono text-xs text-ink-faint">{excerpt(one)}</span>
            {one.started_at && (
              <span className="text-xs text-ink-faint">
                <Clock from={one.started_at} to={one.ended_at} />
              </span>
            )}
            <NodeState status={one.status} />
          </button>
        </li>
      ))}
    </ul>
  );
}

const excerpt = (node: RunNode): string => {
  const said = node.error ?? node.reason ?? node.output;
  if (said == null) return "";
  return (typeof said === "string" ? said : JSON.stringify(said)).slice(0, 120);
};
