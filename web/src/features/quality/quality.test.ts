import { QueryClient } from "@tanstack/react-query";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { EventStream } from "@/shared/events/stream";
import type { EventType, HubEvent } from "@/shared/events/types";
import { filesBelow, harmOf, treeOf, wayTo, worstFiles } from "./fileTree";
import { stepOf } from "./harm";
import { follow } from "./live";
import { commonFolder, shortestLoop } from "./loop";
import { comparisonState, type MeasuredFile, type Point, scanState } from "./queries";
import { trendOf } from "./trendLines";
import { cutPath, moodOf, signed } from "./words";

const file = (path: string, loc: number, harm = 0): MeasuredFile => ({
  path,
  folder: path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".",
  language: "python",
  loc,
  functions: 1,
  harm,
  duplicated: 0,
  unused: 0,
  in_cycle: false,
  imports: 0,
  syntax_errors: 0,
  hash: path,
});

describe("the tree of files", () => {
  const root = treeOf([
    file("a.py", 10),
    file("src/pack/x.py", 30, 0.5),
    file("src/pack/y.py", 10),
    file("src/pack/deep/z.py", 20, 0.1),
  ]);

  it("sums lines, weighs harm by them, and joins folders that hold nothing but a folder", () => {
    expect(root.loc).toBe(70);
    expect(root.folders.map((one) => one.name)).toEqual(["src/pack"]);
    expect(harmOf(root)).toBeCloseTo((30 * 0.5 + 20 * 0.1) / 70);
    expect(harmOf(treeOf([]))).toBe(0);
  });

  it("knows the way to a folder, and stays at the root when it is gone", () => {
    expect(wayTo(root, "src/pack/deep").map((one) => one.path)).toEqual(["", "src/pack", "src/pack/deep"]);
    expect(wayTo(root, "src/gone").map((one) => one.path)).toEqual([""]);
    expect(filesBelow(root)).toHaveLength(4);
  });

  it("names the files that harm most by lines times harm, and none that does not", () => {
    expect(worstFiles(root, 5).map((one) => one.path)).toEqual(["src/pack/x.py", "src/pack/deep/z.py"]);
    expect(worstFiles(root, 1)).toHaveLength(1);
  });
});

describe("import cycles", () => {
  it("have a shortest way round that begins and ends at the same file", () => {
    const links = [
      ["a", "b"],
      ["b", "c"],
      ["c", "a"],
      ["c", "d"],
      ["d", "c"],
    ];
    expect(shortestLoop(["a", "b", "c", "d"], links)).toEqual(["c", "d", "c"]);
    expect(shortestLoop(["a", "b", "c"], links.slice(0, 3))).toEqual(["a", "b", "c", "a"]);
    expect(shortestLoop(["a"], [])).toEqual([]);
  });

  it("are named without what all their paths have in front", () => {
    expect(commonFolder(["src/a/x.py", "src/a/y.py", "src/b.py"])).toBe("src/");
    expect(commonFolder(["src/x.py", "lib/y.py"])).toBe("");
    expect(commonFolder(["abc/x", "abd/x"])).toBe("");
    expect(commonFolder([])).toBe("");
  });
});

describe("the trend", () => {
  const point = (signal: number, branch: string | null, at: string): Point => ({
    id: at,
    quality_signal: signal,
    geo_mean: signal / 10_000,
    scanned_at: at,
    branch,
    commit: null,
    metrics: { cycles: signal / 10_000 },
    files: 1,
    functions: 1,
    loc: 1,
  });
  const newestFirst = [point(3, "main", "3"), point(2, "work", "2"), point(1, "main", "1")];

  it("has a line for each branch, the one that is looked at first, over all scans", () => {
    const { times, lines } = trendOf(newestFirst, "work", "signal");
    expect(times).toEqual(["1", "2", "3"]);
    expect(lines).toEqual([
      { name: "work", values: [null, 2, null] },
      { name: "main", values: [1, null, 3] },
    ]);
  });

  it("has a line for each of the six scores of one branch", () => {
    const { times, lines } = trendOf(newestFirst, "main", "scores");
    expect(times).toEqual(["1", "3"]);
    expect(lines.map((line) => line.name)).toHaveLength(6);
    expect(lines.find((line) => line.name === "Cycles")?.values).toEqual([0.0001, 0.0003]);
  });
});

describe("words and steps", () => {
  it("show changes with their sign, and none that rounds to nothing", () => {
    expect([signed(42), signed(-3), signed(0), signed(0.004, 2), signed(-0.02, 2)]).toEqual([
      "+42",
      "−3",
      "±0",
      "±0.00",
      "−0.02",
    ]);
  });

  it("sort harm and scores into steps", () => {
    expect([0, 0.01, 0.05, 0.1, 0.3, 0.9].map(stepOf)).toEqual([0, 1, 1, 2, 3, 4]);
    expect([1, 0.8, 0.79, 0.5, 0.2].map(moodOf)).toEqual(["good", "good", "warn", "warn", "bad"]);
    expect([cutPath("a/b/c.py"), cutPath("c.py")]).toEqual([
      ["a/b/", "c.py"],
      ["", "c.py"],
    ]);
  });
});

describe("a scan", () => {
  const heard = new Map<EventType, (event: HubEvent) => void>();
  const stream = {
    on: (types: EventType | EventType[], listener: (event: HubEvent) => void) => {
      for (const type of [types].flat()) heard.set(type, listener);
      return () => {};
    },
  } as unknown as EventStream;
  const tell = (type: EventType, data: unknown) =>
    heard.get(type)?.({ seq: 1, type, channel_id: "c", data, at: "" } as HubEvent);
  const { queryKey } = scanState("c");
  let cache: QueryClient;

  beforeEach(() => {
    cache = new QueryClient();
    follow(stream, cache);
    cache.setQueryData(queryKey, { running: false, phase: null, done: 0, total: 0, share: 0 });
  });

  it("is shown as it goes on and as it fails, until the next one", () => {
    tell("quality.progress", { phase: "measuring", done: 1, total: 2, share: 0.5 });
    expect(cache.getQueryData(queryKey)).toMatchObject({ running: true, share: 0.5 });
    tell("quality.failed", { code: "conflict", error: "The scan was cancelled.", hint: null });
    expect(cache.getQueryData(queryKey)).toMatchObject({ running: false, failure: { code: "conflict" } });
    tell("quality.progress", { phase: "measuring", done: 1, total: 2, share: 0.5 });
    expect(cache.getQueryData(queryKey)?.failure).toBeUndefined();
  });

  it("is not what a comparison tells of", () => {
    tell("quality.comparing", { phase: "measuring the base", done: 1, total: 2, share: 0.5 });
    expect(cache.getQueryData(comparisonState("c").queryKey)).toMatchObject({ share: 0.5 });
    expect(cache.getQueryData(queryKey)).toMatchObject({ running: false });
  });

  it("reads everything of its channel anew when it has ended, and nothing of another one", () => {
    const read = vi.spyOn(cache, "invalidateQueries");
    tell("quality.scanned", {});
    expect(cache.getQueryData(queryKey)).toMatchObject({ running: false });
    expect(read).toHaveBeenCalledWith({ queryKey: ["quality", "c"] });
  });
});
