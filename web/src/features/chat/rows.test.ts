import { describe, expect, it } from "vitest";
import type { Approval, CallLine, Message, Run } from "./queries";
import { buildRows, groupLabel, type Row, shortArgument, splitName, type Thread } from "./rows";

const AT = "2026-01-05T10:00:00Z";

const message = (id: string, fields: Partial<Message> = {}): Message =>
  ({
    id,
    channel_id: "ch_1",
    role: "user",
    content: id,
    state: "sent",
    tool_calls: [],
    is_error: false,
    attachments: [],
    thinking: "",
    author_id: "owner",
    run_id: "run_1",
    iteration: null,
    tool_call_id: null,
    usage: null,
    model: null,
    finish_reason: null,
    covers: null,
    at: AT,
    ...fields,
  }) as unknown as Message;

const asks = (id: string, iteration: number, ...names: string[]): Message =>
  message(id, {
    role: "assistant",
    content: "",
    iteration,
    tool_calls: names.map((name, place) => ({
      id: `c${place}`,
      name,
      arguments: "{}",
      call_id: `${id}_${place}`,
    })),
  });

const run = (status: Run["status"]): Run =>
  ({
    id: "run_1",
    channel_id: "ch_1",
    status,
    iterations: 1,
    text: "",
    usage: {},
    author_id: "owner",
    attended: true,
    created_at: AT,
    started_at: null,
    ended_at: null,
    model: null,
    cost: null,
    error: null,
    live: null,
    tool_calls: [],
  }) as unknown as Run;

const line = (id: string, status: CallLine["status"]): CallLine => ({
  id,
  tool: "look",
  server: "native",
  server_id: null,
  status,
  isError: status === "error",
  code: null,
  error: null,
  duration_ms: 5,
  size: 1,
  run_id: "run_1",
  at: AT,
});

const thread = (messages: Message[], status: Run["status"], more: Partial<Thread> = {}): Thread => ({
  messages,
  runs: new Map([["run_1", run(status)]]),
  calls: new Map(),
  approvals: [],
  speaks: false,
  ...more,
});

const kinds = (rows: Row[]): string[] => rows.map((row) => row.kind);

describe("the rows of a conversation", () => {
  it("fold neighbouring calls, also of several iterations, into one", () => {
    const said = [
      message("m1"),
      asks("m2", 1, "a", "b"),
      message("m3", { role: "tool", tool_call_id: "c0" }),
      message("m4", { role: "tool", tool_call_id: "c1" }),
      asks("m5", 2, "c"),
      message("m6", { role: "tool", tool_call_id: "c0" }),
      message("m7", { role: "assistant", content: "Done", iteration: 3 }),
    ];
    const rows = buildRows(thread(said, "completed"));
    expect(kinds(rows)).toEqual(["day", "user", "calls", "answer", "closing"]);
    expect(rows[2]).toMatchObject({
      calls: [{ state: "success" }, { state: "success" }, { state: "success" }],
    });
  });

  it("never fold what failed, waits or asks", () => {
    const approval = { id: "ap_1", call_id: "m2_2" } as Approval;
    const calls = new Map([["m2_1", line("m2_1", "error")]]);
    const rows = buildRows(
      thread([message("m1"), asks("m2", 1, "a", "b", "c", "d")], "waiting", { calls, approvals: [approval] }),
    );
    expect(kinds(rows)).toEqual(["day", "user", "calls", "calls", "calls", "approval", "calls", "working"]);
    expect(rows[3]).toMatchObject({ calls: [{ state: "error" }] });
    expect(rows[4]).toMatchObject({ calls: [{ state: "waiting" }] });
    expect(rows[6]).toMatchObject({ calls: [{ state: "pending" }], working: true });
  });

  it("keep the row of an answer while it is spoken and after it is stored", () => {
    const before = buildRows(thread([message("m1")], "running", { speaks: true }));
    const after = buildRows(
      thread([message("m1"), message("m2", { role: "assistant", content: "Hi", iteration: 1 })], "completed"),
    );
    const keyOf = (rows: Row[]) => rows.find((row) => row.kind === "answer")?.key;
    expect(keyOf(before)).toBe(keyOf(after));
  });

  it("say of calls without a result that they were cancelled once the run is over", () => {
    const rows = buildRows(thread([message("m1"), asks("m2", 1, "mcp__time__now")], "cancelled"));
    expect(rows[2]).toMatchObject({ calls: [{ state: "cancelled", tool: "now", server: "time" }] });
  });

  it("show questions that belong to no call at the end", () => {
    const approval = { id: "ap_1", call_id: null } as Approval;
    const rows = buildRows(thread([message("m1")], "waiting", { approvals: [approval] }));
    expect(kinds(rows)).toEqual(["day", "user", "approval", "working"]);
  });
});

describe("a call in one line", () => {
  it("names what says most about it", () => {
    expect(shortArgument('{"depth": 2, "path": "src/a.py"}')).toBe("src/a.py");
    expect(shortArgument('{"zone": "Asia/Tokyo"}')).toBe("zone: Asia/Tokyo");
    expect(shortArgument("{}")).toBe("");
    expect(shortArgument("not json")).toBe("not json");
    expect(shortArgument(JSON.stringify({ text: "x".repeat(500) })).length).toBe(70);
  });

  it("has a live label in a group", () => {
    const rows = buildRows(thread([message("m1"), asks("m2", 1, "a", "b", "b")], "running"));
    const group = rows[2];
    if (group?.kind !== "calls") throw new Error("no calls");
    expect(groupLabel(group.calls, true)).toBe("Running b and 2 more");
    expect(groupLabel(group.calls, false)).toBe("3 calls: a, b ×2");
  });

  it("splits the names of tools of servers", () => {
    expect(splitName("mcp__my-server__do__it")).toEqual({ server: "my-server", tool: "do__it" });
    expect(splitName("read_file")).toEqual({ server: null, tool: "read_file" });
  });
});
