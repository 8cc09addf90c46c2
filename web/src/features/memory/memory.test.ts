import { QueryClient } from "@tanstack/react-query";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { EventStream } from "@/shared/events/stream";
import type { EventType, HubEvent } from "@/shared/events/types";
import { flowed } from "./flowed";
import { follow } from "./live";
import { partsOf, whyFound, wordsOf } from "./parts";
import { type Collection, foundKey, type Hit, statusOf } from "./queries";
import { amountOf, hasFilters, pathsOf, questionOf, whenOf } from "./question";
import { embedderWords, shownOf, told } from "./state";

const hit = (lexical: number, vector: number, recency = 0): Hit => ({
  path: "a.md",
  line_start: 1,
  line_end: 2,
  heading: "",
  text: "",
  score: lexical + vector + recency,
  parts: { lexical, vector, recency },
  scope: "project",
});

describe("a question", () => {
  const NOW = Date.parse("2026-03-10T12:00:00Z");

  it("is made from the address, with defaults for what is missing or strange", () => {
    expect(questionOf({ q: "  where? " }, "c", NOW)).toEqual({
      whose: "c",
      query: "where?",
      paths: [],
      since: null,
      until: null,
      most: 10,
      newer: false,
      wordsOnly: false,
    });
    expect([whenOf({ when: "<b>" }), amountOf({ most: "9999" })]).toEqual(["any", "10"]);
  });

  it("asks for the last days, or for whole days between two dates", () => {
    expect(questionOf({ when: "7" }, null, NOW).since).toBe("2026-03-03T12:00:00.000Z");
    const { since, until } = questionOf({ when: "dates", from: "2026-03-01", to: "2026-03-01" }, null, NOW);
    expect(Date.parse(until as string) - Date.parse(since as string)).toBe(86_400_000);
    expect(questionOf({ when: "dates", from: "nonsense" }, null, NOW)).toMatchObject({
      since: null,
      until: null,
    });
  });

  it("takes patterns of files, and bare words as parts of a path", () => {
    expect(pathsOf("docs/**, *.md notes")).toEqual(["docs/**", "*.md", "*notes*"]);
    expect(hasFilters({ q: "x" })).toBe(false);
    expect(hasFilters({ path: "docs" })).toBe(true);
  });
});

describe("why something was found", () => {
  it("is told by the parts of its score, measured by the best hit", () => {
    expect(partsOf(hit(2, 1), 4).map(({ name, share }) => [name, share])).toEqual([
      ["lexical", 0.5],
      ["vector", 0.25],
    ]);
    expect(partsOf(hit(0, 0), 0)).toEqual([]);
    expect(whyFound(hit(1, 2))).toBe("Found by its meaning and its words");
    expect(whyFound(hit(0, 0))).toBe("Stands beside what was found");
  });

  it("marks the words of the question that say something", () => {
    expect(wordsOf("how are (secrets) kept?")).toBe("secrets kept");
  });
});

describe("a passage", () => {
  it("is read without the breaks of its author, and keeps lists, headings and code", () => {
    expect(flowed("one\ntwo\n\nthree\n  four")).toBe("one two\n\nthree four");
    expect(flowed("- a\n  b\n- c")).toBe("- a b\n- c");
    expect(flowed("# Title\ntext\nmore")).toBe("# Title\ntext more");
    expect(flowed("```\na\nb\n```\nc\nd")).toBe("```\na\nb\n```\nc d");
    expect(flowed("| a |\n| b |")).toBe("| a |\n| b |");
    expect(flowed("")).toBe("");
  });
});

const collection = (scope: Collection["scope"], directory: string | null): Collection => ({
  scope,
  directory,
  channel_id: null,
  roots: [],
  files: 1,
  chunks: 2,
  embedded: 2,
  stale: 0,
  problems: 0,
  state: "idle",
  done: 0,
  total: 0,
  watched: true,
  watch_problem: null,
  indexed_at: null,
});

describe("the state of the index", () => {
  const done = {
    scope: "project",
    directory: "/p",
    files: { added: 0, changed: 0, removed: 0, unchanged: 3 },
    chunks: { added: 0, removed: 0 },
    embedded: 0,
    waiting: 0,
    problems: [],
    notes: [],
  } as const;

  it("says in a line what indexing did", () => {
    expect(told({ ...done, problems: [], notes: [] })).toBe("Nothing has changed");
    expect(
      told({
        ...done,
        files: { added: 2, changed: 1, removed: 0, unchanged: 0 },
        embedded: 9,
        problems: [{ path: "x", problem: "y" }],
        notes: [],
      }),
    ).toBe("Files: 2 new, 1 changed; 9 vectors made; 1 with problems");
  });

  it("shows the global memory alone where no channel is chosen", () => {
    const all = [collection("project", "/p"), collection("global", null)];
    expect(shownOf(all, null).map((one) => one.scope)).toEqual(["global"]);
    expect(shownOf(all, "c")).toHaveLength(2);
    expect(embedderWords("ollama:nomic")[0]).toBe("nomic of Ollama");
    expect(embedderWords("openai:small:1")[0]).toBe("small:1");
  });
});

describe("news of the index", () => {
  const heard = new Map<EventType, ((event: HubEvent) => void)[]>();
  const stream = {
    on: (types: EventType | EventType[], listener: (event: HubEvent) => void) => {
      for (const type of [types].flat()) heard.set(type, [...(heard.get(type) ?? []), listener]);
      return () => {};
    },
  } as unknown as EventStream;
  const tell = (type: EventType, data: unknown) => {
    for (const listener of heard.get(type) ?? [])
      listener({ seq: 1, type, channel_id: null, data, at: "" } as HubEvent);
  };
  let cache: QueryClient;

  beforeEach(() => {
    vi.useFakeTimers();
    heard.clear();
    cache = new QueryClient();
    follow(stream, cache);
    return () => vi.useRealTimers();
  });

  it("moves the one that it is about", () => {
    const key = statusOf("c").queryKey;
    cache.setQueryData(key, {
      collections: [collection("project", "/p"), collection("global", null)],
      embedder: { name: "static", kept_in: "matrix", note: null, problem: null, retry_in_s: null },
    });
    tell("memory.progress", { scope: "project", directory: "/p", phase: "reading", done: 3, total: 9 });
    tell("memory.progress", { scope: "project", directory: "/other", phase: "reading", done: 7, total: 9 });
    expect(cache.getQueryData(key)?.collections.map((one) => [one.state, one.done])).toEqual([
      ["reading", 3],
      ["idle", 0],
    ]);
  });

  it("searches again when a file changed, and not when nothing did: a search itself tells that", () => {
    const read = vi.spyOn(cache, "invalidateQueries");
    const report = { files: { added: 0, changed: 0, removed: 0, unchanged: 1 }, embedded: 0 };
    tell("memory.indexed", report);
    vi.runAllTimers();
    expect(read).not.toHaveBeenCalledWith({ queryKey: foundKey });
    tell("memory.indexed", { ...report, files: { ...report.files, changed: 1 } });
    expect(read).toHaveBeenCalledWith({ queryKey: foundKey });
  });
});
