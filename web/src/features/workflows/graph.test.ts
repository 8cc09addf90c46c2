import { expect, test } from "vitest";
import { countNodes, drawGraph, placeOf, readGraph } from "./graph";

const WORKFLOW = {
  nodes: [
    { id: "fetch", type: "bash", script: "git fetch\ngit log" },
    {
      id: "fix",
      type: "loop",
      depends_on: "fetch",
      condition: "nodes.test.output == 'ok'",
      body: [
        { id: "change", type: "prompt", prompt: "mend it" },
        { id: "test", type: "bash", depends_on: ["change"], script: "pytest" },
      ],
    },
    { id: "gate", type: "approval", depends_on: ["fix"], message: "Go?", on_reject: "fix" },
  ],
};

test("a definition becomes nodes with what they need, bodies in theirs", () => {
  const graph = readGraph(WORKFLOW);
  expect(graph.map((node) => [node.path, node.needs, node.about])).toEqual([
    ["fetch", [], "git fetch"],
    ["fix", ["fetch"], "until nodes.test.output == 'ok'"],
    ["gate", ["fix"], "Go?"],
  ]);
  expect(graph[1]?.body.map((node) => node.path)).toEqual(["fix/change", "fix/test"]);
  expect(graph[2]?.backTo).toBe("fix");
  expect(countNodes(graph)).toBe(5);
});

test("half a definition is drawn as far as it goes", () => {
  expect(readGraph(null)).toEqual([]);
  expect(readGraph("name: x")).toEqual([]);
  expect(readGraph({ nodes: "none" })).toEqual([]);
  const graph = readGraph({
    nodes: [
      null,
      3,
      { id: 7 },
      { id: "a" },
      { id: "a", type: "bash" },
      { id: "b", depends_on: ["a", "gone", "b", 4] },
    ],
  });
  expect(graph.map((node) => [node.id, node.needs])).toEqual([
    ["a", []],
    ["b", ["a"]],
  ]);
});

test("the nodes of a body stand in the box of their node", () => {
  const { nodes, lines } = drawGraph(readGraph(WORKFLOW));
  const at = (path: string) => {
    const found = nodes.find((one) => one.node.path === path);
    if (!found) throw new Error(path);
    return found;
  };
  const frame = at("fix");
  for (const path of ["fix/change", "fix/test"]) {
    const inside = at(path);
    expect(inside.x).toBeGreaterThan(frame.x);
    expect(inside.y).toBeGreaterThan(frame.y);
    expect(inside.x + inside.width).toBeLessThan(frame.x + frame.width);
    expect(inside.y + inside.height).toBeLessThan(frame.y + frame.height);
  }
  expect(lines.map((line) => [line.from, line.to, line.back])).toEqual([
    ["fix/change", "fix/test", false],
    ["fetch", "fix", false],
    ["fix", "gate", false],
    ["gate", "fix", true],
  ]);
});

test("what a workflow runs in turn stands in its box, and has no line in its text", () => {
  const subs = { inner: { nodes: [{ id: "one", type: "bash" }] } };
  const outer = {
    nodes: [
      { id: "fix", type: "loop", body: [{ id: "test", type: "bash" }] },
      { id: "sub", type: "workflow", workflow: "inner" },
    ],
  };
  const graph = readGraph(outer, subs);
  expect(graph[1]?.body.map((node) => node.path)).toEqual(["sub/one"]);
  expect(["fix", "fix/test", "sub", "sub/one"].map((path) => placeOf(graph, path))).toEqual([
    "nodes[0]",
    "nodes[0].body[0]",
    "nodes[1]",
    null,
  ]);
  expect(readGraph(outer)[1]?.body).toEqual([]);
});
