import { describe, expect, test } from "vitest";
import type { Schemas } from "@/shared/api/client";
import { backupPath } from "./Backup";
import { findingsOf, verdictOf } from "./findings";

const status = {
  disk_free: 50_000_000_000,
  disk_total: 100_000_000_000,
  home: "/home/me/.manyhands",
  approvals: 0,
  programs: { uvx: "/bin/uvx", npx: "/bin/npx", node: "/bin/node" },
} as unknown as Schemas["Status"];
const server = (changes: Partial<Schemas["Server"]>) =>
  ({
    id: 1,
    name: "hand",
    status: "connected",
    tool_count: 3,
    trusted: true,
    ...changes,
  }) as Schemas["Server"];
const model = (provider: string) => ({ provider }) as Schemas["Model"];
const well = { status, servers: [server({})], models: [model("openai"), model("demo")] };

test("nothing wrong: all is well", () => {
  expect(findingsOf(well)).toEqual([]);
  expect(verdictOf([])).toEqual({ mood: "good", text: "All is well" });
});

describe("what is wrong is told with what to do", () => {
  test("a server in error stands first, with its reason in full", () => {
    const found = findingsOf({
      status: { ...status, approvals: 2 },
      servers: [
        server({ status: "needs_auth" }),
        server({ id: 2, name: "git", status: "error", error: "exit 1" }),
      ],
      models: [model("demo")],
    });
    expect(found.map((one) => one.verdict)).toEqual(["broken", "warning", "warning", "note"]);
    expect(found[0]?.text).toBe("git does not connect: exit 1");
    expect(found.every((one) => one.fix !== "")).toBe(true);
    expect(verdictOf(found)).toEqual({ mood: "bad", text: "1 thing is broken" });
  });
  test("a disk that is nearly full", () => {
    const found = findingsOf({ ...well, status: { ...status, disk_free: 100_000_000 } });
    expect(found[0]).toMatchObject({ verdict: "warning", text: expect.stringContaining("100 MB") });
    expect(findingsOf({ ...well, status: { ...status, disk_free: 0 } })[0]?.verdict).toBe("broken");
  });
  test("programs that are not there, and a connected server without tools", () => {
    const found = findingsOf({
      ...well,
      status: { ...status, programs: { uvx: null, npx: "/bin/npx", node: null } },
      servers: [server({ tool_count: 0 })],
    });
    expect(found.map((one) => one.id)).toEqual(["programs", "no-tools"]);
    expect(found[0]?.text).toContain("uvx, node are not found");
  });
});

test("a backup is offered beside the home, named by the minute", () => {
  const now = new Date("2026-03-29T08:05:00Z");
  expect(backupPath("/home/me/.manyhands", now)).toBe("/home/me/manyhands-2026-03-29-0805.tar.gz");
  expect(backupPath("C:\\Users\\me\\.manyhands", now)).toBe(
    "C:\\Users\\me\\manyhands-2026-03-29-0805.tar.gz",
  );
});
