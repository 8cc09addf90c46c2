import { expect, test } from "vitest";
import type { Channel } from "@/features/chat/queries";
import { dryRunOf, inWaves } from "./dryRun";
import { inputsSchema, startInputs } from "./inputs";
import { projectsOf } from "./useProjects";
import { wordsOf } from "./useVerdict";

test("an input must be given unless it has a default or says otherwise", () => {
  const inputs = {
    branch: { type: "string" },
    level: { type: "string", default: "quick" },
    note: { type: "string", required: false },
    count: "integer",
  };
  const schema = inputsSchema(inputs);
  expect(schema.required).toEqual(["branch", "count"]);
  expect(schema.properties).toMatchObject({ count: { type: "integer" }, note: { type: "string" } });
  expect(startInputs(inputs)).toEqual({ level: "quick" });
});

test("a dry run is read as steps, with what each gets and what is skipped", () => {
  const { nodes, problems } = dryRunOf({
    nodes: [
      { id: "a", type: "bash", wave: 1, inputs: { script: "echo 1\n" }, unknown: [] },
      { id: "c", type: "bash", wave: 2, skipped: true, reason: "when is false" },
      {
        id: "b",
        type: "foreach",
        wave: 2,
        inputs: { items: [1] },
        body: [{ id: "b/*/x", type: "bash", wave: 1 }],
      },
    ],
    problems: ["The input 'branch' is missing."],
  });
  expect(problems).toHaveLength(1);
  expect(inWaves(nodes).map((wave) => wave.nodes.map((node) => node.id))).toEqual([["a"], ["c", "b"]]);
  expect(nodes[0]?.inputs).toEqual([["script", "echo 1"]]);
  expect(nodes[2]?.body[0]?.id).toBe("x");
  expect(dryRunOf(null).nodes).toEqual([]);
});

test("a directory is one project, however many channels work in it", () => {
  const channel = (id: string, dir_path: string | null, parent_id: string | null = null) =>
    ({ id, dir_path, parent_id }) as Channel;
  const found = projectsOf([
    channel("1", "/w/shop/"),
    channel("2", "/w/shop/"),
    channel("3", null),
    channel("4", "/t", "1"),
  ]);
  expect(found).toEqual([{ path: "/w/shop/", name: "shop", channelId: "1" }]);
});

test("mistakes and warnings are counted in words", () => {
  const one = (severity: string) => ({ message: "", path: "", line: 1, column: 1, severity });
  expect(wordsOf([])).toBe("No mistakes");
  expect(wordsOf([one("error"), one("error"), one("warning")])).toBe("2 mistakes, 1 warning");
});
