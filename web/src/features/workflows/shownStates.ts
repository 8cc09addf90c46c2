/** The states of a run as its graph shows them. Pure. */
import { formatDuration } from "@/shared/format/format";
import type { Shown } from "./Graph";
import type { GraphNode } from "./graph";
import type { RunNode } from "./queries";
import { type Iteration, iterationsOf, tookMs } from "./runState";

export function shownStates(
  graph: readonly GraphNode[],
  nodes: readonly RunNode[],
  paths: ReadonlyMap<string, string>,
  choose: (path: string, iteration: number) => void,
): Map<string, Shown> {
  const byPath = new Map(nodes.map((node) => [node.id, node]));
  const below = Map.groupBy(nodes, (node) => node.parent ?? "");
  const found = new Map<string, Shown>();
  const walk = (list: readonly GraphNode[]): void => {
    for (const one of list) {
      const path = paths.get(one.path) ?? one.path;
      const node = byPath.get(path);
      const shown: Shown = { status: node?.status ?? "pending", note: node && noteOf(node) };
      if (one.body.length > 0 && one.type !== "workflow") {
        const iterations = iterationsOf(below.get(path) ?? [], path);
        const first = one.body[0];
        const inside = first && paths.get(first.path)?.split("/").at(-2);
        shown.iterations = {
          shown: Number(inside),
          all: iterations.map((iteration) => iteration.number),
          show: (number) => choose(path, number),
        };
        if (node) shown.note = frameNote(node, iterations);
      }
      found.set(one.path, shown);
      walk(one.body);
    }
  };
  walk(graph);
  return found;
}

/** A word about a node: how long it took, how often it was tried, what was said. */
export function noteOf(node: RunNode): string | undefined {
  const tries = node.attempts > 1 ? ` · attempt ${node.attempt}` : "";
  switch (node.status) {
    case "waiting":
      return "Waits for you";
    case "success": {
      const said = node.decision === "approve" ? "Approved" : node.decision === "reject" ? "Rejected" : null;
      return `${said ?? formatDuration(tookMs(node, 0))}${tries}`;
    }
    case "running":
      return `Running${tries}`;
    case "failed":
      return node.decision === "reject" ? "Rejected" : `Failed${tries}`;
    case "skipped":
      return "Skipped";
    case "cancelled":
      return "Cancelled";
    default:
      return undefined;
  }
}

function frameNote(node: RunNode, iterations: readonly Iteration[]): string {
  const count = node.iterations ?? iterations.length;
  const done = iterations.filter((one) => one.status === "success" || one.status === "skipped").length;
  const failed = iterations.filter((one) => one.status === "failed").length;
  if (node.type === "foreach") {
    const words = done === count ? `${count} done` : `${done} of ${count}`;
    return failed > 0 ? `${words}, ${failed} failed` : words;
  }
  return count === 1 ? "1 iteration" : `${count} iterations`;
}
