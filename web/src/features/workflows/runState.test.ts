import { expect, test } from "vitest";
import type { WorkflowNodeNews } from "@/shared/events/types";
import { readGraph } from "./graph";
import type { NodeStatus, RunNode, WholeRun } from "./queries";
import { aboveOf, iterationName, iterationsOf, pathsInRun, tellingNode, withNews } from "./runState";
import { shownStates } from "./shownStates";

const node = (id: string, status: NodeStatus, more: Partial<RunNode> = {}): RunNode =>
  ({
    id,
    node_id: id.split("/").at(-1),
    ...aboveOf(id),
    type: "bash",
    status,
    attempt: 1,
    attempts: 1,
    history: [],
    ...more,
  }) as RunNode;

const NODES = [
  node("fix", "running", { type: "loop" }),
  node("fix/1/test", "success"),
  node("fix/2/test", "running"),
  node("fix/10/test", "pending"),
];
const GRAPH = readGraph({ nodes: [{ id: "fix", type: "loop", body: [{ id: "test", type: "bash" }] }] });

const whole = (nodes: RunNode[]): WholeRun => ({ run: {}, nodes, workflow: {} }) as unknown as WholeRun;
const news = (id: string, status: NodeStatus, attempt = 1): WorkflowNodeNews =>
  ({ run_id: "r", workflow_name: "w", id, node_id: id, type: "bash", status, attempt }) as WorkflowNodeNews;

test("the path of a node says what it stands in", () => {
  expect(aboveOf("a")).toEqual({ parent: null, iteration: null });
  expect(aboveOf("fix/2/test")).toEqual({ parent: "fix", iteration: 2 });
  expect(aboveOf("sub/test")).toEqual({ parent: "sub", iteration: null });
  expect(aboveOf("all/0/fix/3/test")).toEqual({ parent: "all/0/fix", iteration: 3 });
});

test("iterations come in the order of their numbers, each with its state", () => {
  expect(iterationsOf(NODES, "fix").map((one) => [one.number, one.status])).toEqual([
    [1, "success"],
    [2, "running"],
    [10, "pending"],
  ]);
});

test("the graph shows the iteration that goes on, or the one that was chosen", () => {
  expect(pathsInRun(GRAPH, NODES, {}).get("fix/test")).toBe("fix/2/test");
  expect(pathsInRun(GRAPH, NODES, { fix: 1 }).get("fix/test")).toBe("fix/1/test");
  expect(pathsInRun(GRAPH, [], {}).get("fix/test")).toBe("fix/-/test");
  const shown = shownStates(GRAPH, NODES, pathsInRun(GRAPH, NODES, { fix: 1 }), () => {});
  expect(shown.get("fix/test")?.status).toBe("success");
  expect(shown.get("fix")?.iterations).toMatchObject({ shown: 1, all: [1, 2, 10] });
});

test("what an event does not carry stays, until the node is tried again", () => {
  const run = whole([node("a", "running", { log: "so far", inputs: { x: 1 } })]);
  expect(withNews(run, [news("a", "success")]).nodes[0]).toMatchObject({ status: "success", log: "so far" });
  const again = withNews(run, [news("a", "running", 2)]).nodes[0];
  expect(again).toMatchObject({ attempt: 2, attempts: 2, log: null, inputs: null });
});

test("a node that was not known comes to the others, and an old attempt changes nothing", () => {
  const run = whole([node("a", "running", { attempt: 3, attempts: 3 })]);
  const next = withNews(run, [news("a", "failed", 2), news("each/0/b", "running")]);
  expect(next.nodes[0]?.status).toBe("running");
  expect(next.nodes[1]).toMatchObject({ id: "each/0/b", parent: "each", iteration: 0, attempts: 1 });
});

test("what waits is shown first, then what failed, the inmost of them", () => {
  expect(tellingNode(NODES)).toBe("fix/2/test");
  expect(tellingNode([...NODES, node("gate", "waiting")])).toBe("gate");
  expect(tellingNode([node("a", "success")])).toBeNull();
});

test("an item is called what it is, an iteration by its number", () => {
  const each = node("each", "running", { type: "foreach", inputs: { items: ["x.py", { a: 1 }] } });
  expect([0, 1, 2].map((one) => iterationName(each, one))).toEqual(["x.py", '{"a":1}', "Item 3"]);
  expect(iterationName(node("fix", "running", { type: "loop" }), 2)).toBe("Iteration 2");
});

test("the nodes of a sub-workflow are found right below its node, without iterations", () => {
  const subs = { inner: { nodes: [{ id: "one", type: "bash" }] } };
  const graph = readGraph({ nodes: [{ id: "sub", type: "workflow", workflow: "inner" }] }, subs);
  const nodes = [node("sub", "running", { type: "workflow" }), node("sub/one", "failed")];
  const paths = pathsInRun(graph, nodes, {});
  expect(paths.get("sub/one")).toBe("sub/one");
  const states = shownStates(graph, nodes, paths, () => {});
  expect(states.get("sub/one")?.status).toBe("failed");
  expect(states.get("sub")).toEqual({ status: "running", note: "Running" });
});
