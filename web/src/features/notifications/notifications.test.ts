import { describe, expect, it, vi } from "vitest";
import type { Schemas } from "@/shared/api/client";
import { approvalNotice, runNotice } from "./notices";
import { OneWindow } from "./oneWindow";

const RUN = {
  id: "run_1",
  channel_id: "channel/1",
  status: "completed",
  text: "All is done.",
  error: null,
  started_at: "2030-01-01T00:00:00Z",
  ended_at: "2030-01-01T00:02:05Z",
} as unknown as Schemas["Run"];

describe("what is worth a notification", () => {
  it("is a run that took long", () => {
    expect(runNotice(RUN, 60_000)).toEqual({
      title: "A run is done after 2 min 5 s",
      body: "All is done.",
      tag: "run:run_1",
      path: "/c/channel%2F1",
    });
  });

  it("is no run that was short, was stopped, or never began", () => {
    expect(runNotice(RUN, 200_000)).toBeNull();
    expect(runNotice({ ...RUN, status: "cancelled" }, 0)).toBeNull();
    expect(runNotice({ ...RUN, started_at: null }, 0)).toBeNull();
  });

  it("is every question, in few words", () => {
    const approval = { id: "a", kind: "tool", title: "x".repeat(500) } as Schemas["Approval"];
    const notice = approvalNotice(approval);
    expect(notice.body.length).toBeLessThan(150);
    expect(notice.tag).toBe("approval:a");
  });
});

/** Web Locks as far as they are needed: exclusive ones wait for their turn, shared ones are held together. */
class Locks {
  held: { name: string }[] = [];
  private queue: (() => void)[] = [];

  async request(name: string, ...rest: unknown[]): Promise<void> {
    const work = rest.at(-1) as () => Promise<void>;
    const shared = (rest[0] as { mode?: string }).mode === "shared";
    while (!shared && this.held.some((lock) => lock.name === name))
      await new Promise<void>((resolve) => this.queue.push(resolve));
    const lock = { name };
    this.held.push(lock);
    await work();
    this.held = this.held.filter((one) => one !== lock);
    for (const resolve of this.queue.splice(0)) resolve();
  }
  query = async () => ({ held: this.held });
}

function page(state: "visible" | "hidden") {
  const target = new EventTarget() as EventTarget & { visibilityState: string };
  target.visibilityState = state;
  return target;
}

const settled = () => vi.waitFor(async () => {}, { timeout: 50 });

describe("the one window that tells", () => {
  it("is one of several, and none while one of them is seen", async () => {
    const locks = new Locks();
    const [first, second] = [page("hidden"), page("visible")];
    const windows = [first, second].map((one) => new OneWindow(locks as never, one as never));
    for (const one of windows) one.start();
    await settled();
    expect(await Promise.all(windows.map((one) => one.shouldTell()))).toEqual([false, false]);
    second.visibilityState = "hidden";
    second.dispatchEvent(new Event("visibilitychange"));
    await settled();
    expect(await Promise.all(windows.map((one) => one.shouldTell()))).toEqual([true, false]);
    second.visibilityState = "visible";
    second.dispatchEvent(new Event("visibilitychange"));
    await settled();
    expect(await Promise.all(windows.map((one) => one.shouldTell()))).toEqual([false, false]);
  });
});
