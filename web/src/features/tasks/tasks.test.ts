import { expect, test } from "vitest";
import { ApiError } from "@/shared/api/client";
import { draftOf, emptyDraft, fieldErrors, fieldsOf, localTime, missing, scheduleOf } from "./draft";
import { withHistory, withRun } from "./live";
import { inOrder, matching, summary } from "./order";
import { wallClock } from "./PreviewCard";
import type { Task, TaskRun } from "./queries";
import { readSpan, writeSpan } from "./spans";

const task = (more: Partial<Task> = {}): Task =>
  ({
    id: "t",
    name: "Report",
    type: "once",
    schedule: "2027-01-31T12:00:00+01:00",
    timezone: "Europe/Berlin",
    does: "prompt",
    prompt: "Look",
    allow: ["read_file"],
    workflow_inputs: {},
    missed_window_s: 86_400,
    timeout_s: 5400,
    retry_delay_s: 60,
    jitter_s: 0,
    auto_delete_sec: 0,
    retries: 0,
    max_failures: 5,
    conversation: "new",
    overlap: "skip",
    missed: "run_once",
    enabled: true,
    running: false,
    words: "once",
    ...more,
  }) as Task;
const run = (id: string, more: Partial<TaskRun> = {}): TaskRun =>
  ({ id, task_id: "t", due_at: "2026-01-02T00:00:00Z", state: "completed", ...more }) as TaskRun;

test("lengths of time are read and written as people do", () => {
  for (const [text, seconds] of [
    ["90", 90],
    ["90s", 90],
    ["2h 30m", 9000],
    ["1d", 86_400],
    ["0s", 0],
  ] as const)
    expect(readSpan(text)).toBe(seconds);
  for (const text of ["", "soon", "1w", "-3m"]) expect(readSpan(text)).toBeNull();
  expect([0, 90, 9000, 90_061].map(writeSpan)).toEqual(["0s", "1m30s", "2h30m", "1d1h1m1s"]);
});

test("a moment is shown as clocks of its zone show it", () => {
  expect(localTime("2027-01-31T11:00:00Z", "Europe/Berlin")).toBe("2027-01-31T12:00");
  expect(localTime("2027-01-31T12:00:00", "Europe/Berlin")).toBe("2027-01-31T12:00");
  expect(localTime("nonsense+01:00", "UTC")).toBe("");
  expect(wallClock("2027-01-31T12:30:00+01:00")).toContain("12:30");
});

test("a task that is edited and not touched is sent as it was", () => {
  const old = task();
  const fields = fieldsOf(draftOf(old), old);
  expect(fields).toMatchObject({
    schedule: old.schedule,
    prompt: "Look",
    script: null,
    workflow_name: null,
    allow: ["read_file"],
    timeout_s: 5400,
  });
  expect(scheduleOf({ ...draftOf(old), at: "2027-02-01T09:00" }, old)).toBe("2027-02-01T09:00");
});

test("what belongs to another kind of work is not sent", () => {
  const draft = {
    ...emptyDraft("c", "UTC"),
    does: "script" as const,
    script: "ls",
    worktree: true,
    model: "m",
  };
  expect(fieldsOf(draft)).toMatchObject({
    script: "ls",
    prompt: null,
    worktree: false,
    model: null,
    allow: [],
  });
});

test("what is no number is left to the hub, which says what is wrong with it", () => {
  const draft = { ...emptyDraft("c", "UTC"), prompt: "x", budget: "much", timeout: "long", retries: "" };
  expect(fieldsOf(draft)).toMatchObject({ budget: "much", timeout_s: "long", retries: "" });
});

test("what is missing is said before anything is sent", () => {
  expect(missing(emptyDraft("c"))).toHaveProperty("prompt");
  expect(missing({ ...emptyDraft("c"), does: "script", type: "once" })).toMatchObject({
    script: expect.anything(),
    schedule: expect.anything(),
  });
  expect(missing({ ...emptyDraft("c"), prompt: "x" })).toEqual({});
});

test("an error stands at the field that the hub names", () => {
  const error = new ApiError("budget: Input should be greater than 0.", 422, "invalid", null, {
    field: "budget",
  });
  expect(fieldErrors(error)).toEqual({ budget: "Input should be greater than 0." });
  expect(fieldErrors(new ApiError("No.", 409, "conflict", "Wait."))).toEqual({ "": "No. Wait." });
});

test("a run that moves is the last one of its task, unless it is an older one", () => {
  const now = withRun(
    task({ last_run: run("1") }),
    run("2", { due_at: "2026-01-03T00:00:00Z", state: "running" }),
  );
  expect(now).toMatchObject({ running: true, last_run: { id: "2" } });
  const old = withRun(now, run("0", { due_at: "2026-01-01T00:00:00Z" }));
  expect(old).toMatchObject({ running: true, last_run: { id: "2" } });
  expect(withRun(now, run("9", { task_id: "other" }))).toBe(now);
});

test("a run is changed where it stands in the history, and a new one comes first", () => {
  const pages = {
    pages: [
      { items: [run("3")], next_cursor: "c" },
      { items: [run("2"), run("1")], next_cursor: null },
    ],
    pageParams: [undefined, "c"],
  };
  const changed = withHistory(pages, run("1", { state: "failed" }));
  expect(changed.pages[1]?.items.map((one) => one.state)).toEqual(["completed", "failed"]);
  expect(withHistory(pages, run("4")).pages[0]?.items.map((one) => one.id)).toEqual(["4", "3"]);
});

test("what runs comes first, then what is due next, and paused ones last", () => {
  const list = [
    task({ id: "paused", enabled: false }),
    task({ id: "later", next_run_at: "2026-02-01" }),
    task({ id: "hand" }),
    task({ id: "soon", next_run_at: "2026-01-01" }),
    task({ id: "now", running: true }),
  ];
  expect(inOrder(list).map((one) => one.id)).toEqual(["now", "soon", "later", "hand", "paused"]);
  expect(summary(list)).toBe("5 tasks · 1 running · 1 paused");
  expect(matching(list, " LOOK ")).toHaveLength(5);
  expect(matching(list, "nothing")).toHaveLength(0);
});
