import { describe, expect, it } from "vitest";
import { asJson } from "./CallResult";
import { argumentLine } from "./CallTable";
import { matchesFilter, type Pages, withChanged, withNew } from "./incoming";
import { broken, errorRates, percent } from "./plots";
import { type Call, exportAddress } from "./queries";
import { barsOf } from "./RunCalls";

const call = (id: string, change: Partial<Call> = {}): Call => ({
  id,
  tool: "echo",
  server: "hand",
  server_id: 1,
  channel_id: null,
  arguments: { text: "Hello" },
  result: null,
  content: null,
  structuredContent: null,
  isError: false,
  status: "pending",
  code: null,
  duration_ms: null,
  error: null,
  run_id: null,
  iteration: null,
  size: null,
  result_file: null,
  at: "2030-01-01T00:00:00.000Z",
  ...change,
});
const pages = (...ids: string[][]): Pages => ({
  pages: ids.map((items) => ({ items: items.map((id) => call(id)), next_cursor: null })),
  pageParams: ids.map(() => undefined),
});
const idsOf = (list: Pages | null) => list?.pages.map((page) => page.items.map((one) => one.id));

describe("new calls in the log", () => {
  it("come in at the head, the newest first, each once", () => {
    expect(idsOf(withNew(pages(["c3"], ["c1"]), [call("c4"), call("c5"), call("c1")]))).toEqual([
      ["c5", "c4", "c3"],
      ["c1"],
    ]);
  });

  it("replace what is known of them where it stands", () => {
    const changed = withChanged(pages(["c2"], ["c1"]), call("c1", { status: "success" }), {});
    expect(changed?.pages[1]?.items[0]?.status).toBe("success");
    expect(withChanged(pages(["c2"]), call("c9"), {})).toBeNull();
  });

  it("leave a list of one state when they leave that state", () => {
    expect(
      idsOf(withChanged(pages(["c2", "c1"]), call("c1", { status: "error" }), { status: "pending" })),
    ).toEqual([["c2"]]);
  });

  it("come only into lists that they belong to", () => {
    expect(matchesFilter(call("c"), { server: "hand", tool: "echo", q: "hello" })).toBe(true);
    expect(matchesFilter(call("c"), { server: "other" })).toBe(false);
    expect(matchesFilter(call("c"), { run: "run_1" })).toBe(false);
    expect(matchesFilter(call("c"), { q: "nowhere" })).toBe(false);
  });
});

describe("what the log shows", () => {
  it("shows arguments in one line", () => {
    expect(argumentLine(call("c"))).toBe("Hello");
    expect(argumentLine(call("c", { arguments: { a: 1, b: "x\ny" } }))).toBe("a: 1, b: x y");
    expect(argumentLine(call("c", { arguments: {} }))).toBe("");
  });

  it("breaks the line of a plot where there were no calls", () => {
    const point = (at: string) => ({ at, calls: 1, errors: 0, p50_ms: 1, p95_ms: 2 });
    const points = [
      point("2030-01-01T00:00:00Z"),
      point("2030-01-01T00:01:00Z"),
      point("2030-01-01T00:05:00Z"),
    ];
    expect(broken(points, 60).map(([at, one]) => [at, one !== null])).toEqual([
      ["2030-01-01T00:00:00Z", true],
      ["2030-01-01T00:01:00Z", true],
      ["2030-01-01T00:02:00.000Z", false],
      ["2030-01-01T00:05:00Z", true],
    ]);
  });

  it("puts the server that fails most on top", () => {
    const one = (server: string, calls: number, errors: number) => ({
      server,
      calls,
      errors,
      p50_ms: 1,
      p95_ms: 1,
    });
    const rates = errorRates([one("good", 100, 0), one("bad", 10, 5), one("soso", 10, 1)]);
    expect(rates.map(({ server, rate }) => [server, percent(rate)])).toEqual([
      ["bad", "50%"],
      ["soso", "10%"],
      ["good", "0%"],
    ]);
  });

  it("places calls within the time of their run", () => {
    const bars = barsOf([
      call("a", { duration_ms: 1000 }),
      call("b", { at: "2030-01-01T00:00:03.000Z", duration_ms: 1000 }),
    ]);
    expect(bars).toEqual([
      { from: 0, width: 0.25 },
      { from: 0.75, width: 0.25 },
    ]);
  });

  it("exports what the filters show", () => {
    expect(exportAddress({ server: "a b", q: undefined, channel_id: "c" }, "csv")).toBe(
      "/api/tool-calls/export?format=csv&server=a+b&channel_id=c",
    );
  });

  it("shows objects and lists as JSON, and nothing else", () => {
    expect(asJson(' {"a": 1}')).toEqual({ a: 1 });
    expect(asJson("12")).toBeUndefined();
    expect(asJson("{broken")).toBeUndefined();
  });
});
