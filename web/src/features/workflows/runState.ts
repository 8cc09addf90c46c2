/** How the nodes of a run stand, as the graph and the details show them. Pure. */
import type { WorkflowNodeNews } from "@/shared/events/types";
import type { GraphNode } from "./graph";
import type { NodeStatus, RunNode, WholeRun } from "./queries";

export interface Above {
  parent: string | null;
  iteration: number | null;
}

/** The node that a node stands in the body of, and the iteration: `fix/2/test` is in the second of `fix`. */
export function aboveOf(path: string): Above {
  const parts = path.split("/").slice(0, -1);
  const last = parts.at(-1);
  if (last === undefined) return { parent: null, iteration: null };
  if (/^\d+$/.test(last)) return { parent: parts.slice(0, -1).join("/"), iteration: Number(last) };
  return { parent: parts.join("/"), iteration: null };
}

const EMPTY = { inputs: null, log: null, iterations: null, detail: null };

/** The run after one of its nodes has moved. What an event does not carry stays as it was, or unknown. */
export function withNews(run: WholeRun, news: readonly WorkflowNodeNews[]): WholeRun {
  const places = new Map(run.nodes.map((node, place) => [node.id, place]));
  const nodes = [...run.nodes];
  for (const { run_id: _r, workflow_name: _w, cut: _c, ...fresh } of news) {
    const place = places.get(fresh.id);
    const known = place === undefined ? undefined : nodes[place];
    if (known && known.attempt > fresh.attempt) continue;
    const again = known?.attempt !== fresh.attempt;
    const attempts = Math.max(known?.attempts ?? 0, fresh.attempt);
    const kept = known && !again ? known : { ...EMPTY, history: known?.history ?? [] };
    const node: RunNode = { ...kept, ...aboveOf(fresh.id), ...fresh, attempts } as RunNode;
    if (place === undefined) {
      places.set(node.id, nodes.length);
      nodes.push(node);
    } else nodes[place] = node;
  }
  return { ...run, nodes };
}

export interface Iteration {
  number: number;
  status: NodeStatus;
  nodes: RunNode[];
}

/** Most telling first: what goes on or waits, then what went wrong. */
const WEIGHT: readonly NodeStatus[] = [
  "waiting",
  "running",
  "failed",
  "cancelled",
  "pending",
  "success",
  "skipped",
];

export const overall = (nodes: readonly RunNode[]): NodeStatus =>
  WEIGHT.find((status) => nodes.some((node) => node.status === status)) ?? "pending";

/** The nodes right below one, as they come in a run. */
export const childrenOf = (nodes: readonly RunNode[], path: string): RunNode[] =>
  nodes.filter((node) => node.parent === path);

export function iterationsOf(nodes: readonly RunNode[], path: string): Iteration[] {
  const found = new Map<number, RunNode[]>();
  for (const node of childrenOf(nodes, path)) {
    if (node.iteration == null) continue;
    const list = found.get(node.iteration);
    if (list) list.push(node);
    else found.set(node.iteration, [node]);
  }
  return [...found]
    .toSorted(([one], [other]) => one - other)
    .map(([number, list]) => ({ number, status: overall(list), nodes: byStart(list) }));
}

const byStart = (nodes: readonly RunNode[]): RunNode[] =>
  nodes.toSorted((one, other) => (one.started_at ?? "~").localeCompare(other.started_at ?? "~"));

/** The iteration that is worth a look: one that goes on or failed, otherwise the last. */
export function tellingIteration(iterations: readonly Iteration[]): number | null {
  for (const status of ["waiting", "running", "failed"] as const) {
    const one = iterations.findLast((iteration) => iteration.status === status);
    if (one) return one.number;
  }
  return iterations.at(-1)?.number ?? null;
}

/** Which iteration is shown of each node that has some. */
export type Choices = Readonly<Record<string, number>>;

/** Where the nodes of a definition are in a run: `fix/test` is `fix/2/test` while the second one is shown. */
export function pathsInRun(
  graph: readonly GraphNode[],
  nodes: readonly RunNode[],
  choices: Choices,
): Map<string, string> {
  const found = new Map<string, string>();
  const groups = Map.groupBy(nodes, (node) => node.parent ?? "");
  const walk = (list: readonly GraphNode[], above: string): void => {
    for (const node of list) {
      const path = above + node.id;
      found.set(node.path, path);
      if (node.body.length === 0) continue;
      if (node.type === "workflow") {
        walk(node.body, `${path}/`);
        continue;
      }
      const shown = choices[path] ?? tellingIteration(iterationsOf(groups.get(path) ?? [], path));
      walk(node.body, `${path}/${shown ?? "-"}/`);
    }
  };
  walk(graph, "");
  return found;
}

/** What a person most likely wants to see first. */
export function tellingNode(nodes: readonly RunNode[]): string | null {
  for (const status of ["waiting", "failed", "running"] as const) {
    const found = nodes.filter((node) => node.status === status);
    // The inmost one: the node around it has the same state because of it.
    const deepest = found.toSorted((one, other) => other.id.split("/").length - one.id.split("/").length)[0];
    if (deepest) return deepest.id;
  }
  return null;
}

/** The words for an iteration: of a foreach its item, of a loop its number. */
export function iterationName(node: RunNode, number: number): string {
  if (node.type !== "foreach") return `Iteration ${number}`;
  const inputs = node.inputs as { items?: unknown } | null;
  const item = Array.isArray(inputs?.items) ? inputs.items[number] : undefined;
  if (item === undefined) return `Item ${number + 1}`;
  const text = typeof item === "string" ? item : JSON.stringify(item);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** How long it took, or has been going on; in milliseconds. */
export function tookMs(
  one: { started_at?: string | null; ended_at?: string | null },
  now: number,
): number | null {
  if (!one.started_at) return null;
  const end = one.ended_at ? new Date(one.ended_at).getTime() : now;
  return Math.max(0, end - new Date(one.started_at).getTime());
}
