/** The answer to a dry run, as it is shown. Pure. */
export interface DryNode {
  id: string;
  type: string;
  wave: number;
  skipped: boolean;
  reason: string | null;
  error: string | null;
  /** Names and values, as text. */
  inputs: [string, string][];
  unknown: string[];
  body: DryNode[];
}

type Data = Record<string, unknown>;
const isData = (value: unknown): value is Data =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown): string | null => (typeof value === "string" && value ? value : null);
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];

export function dryRunOf(answer: unknown): { nodes: DryNode[]; problems: string[] } {
  if (!isData(answer)) return { nodes: [], problems: [] };
  return { nodes: nodesOf(answer.nodes), problems: texts(answer.problems) };
}

const nodesOf = (value: unknown): DryNode[] => (Array.isArray(value) ? value.filter(isData).map(nodeOf) : []);

const nodeOf = (node: Data): DryNode => ({
  // In a body the whole path comes, with a star for the iteration.
  id: (text(node.id) ?? "").split("/").at(-1) ?? "",
  type: text(node.type) ?? "",
  wave: typeof node.wave === "number" ? node.wave : 1,
  skipped: node.skipped === true,
  reason: text(node.reason),
  error: text(node.error),
  inputs: isData(node.inputs)
    ? Object.entries(node.inputs).map(([name, value]) => [
        name,
        typeof value === "string" ? value.trimEnd() : JSON.stringify(value),
      ])
    : [],
  unknown: texts(node.unknown),
  body: nodesOf(node.body),
});

/** Those that can run side by side, in the order of their steps. */
export function inWaves(nodes: readonly DryNode[]): { number: number; nodes: DryNode[] }[] {
  return [...Map.groupBy(nodes, (node) => node.wave)]
    .toSorted(([one], [other]) => one - other)
    .map(([number, list]) => ({ number, nodes: list }));
}
