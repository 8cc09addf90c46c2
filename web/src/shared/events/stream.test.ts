import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EventStream, type StreamOptions } from "./stream";

class FakeSocket extends EventTarget {
  static all: FakeSocket[] = [];
  constructor(readonly url: string) {
    super();
    FakeSocket.all.push(this);
  }
  open() {
    this.dispatchEvent(new Event("open"));
  }
  say(seq: number, type: string, data: unknown = {}) {
    const envelope = JSON.stringify({ seq, type, channel_id: null, data, at: "2026-01-01T00:00:00Z" });
    this.dispatchEvent(new MessageEvent("message", { data: envelope }));
  }
  close() {
    this.dispatchEvent(new Event("close"));
  }
  readonly sent: string[] = [];
  send(text: string) {
    this.sent.push(text);
  }
}

const latest = (): FakeSocket => FakeSocket.all.at(-1) as FakeSocket;

function startStream(options: Partial<StreamOptions> = {}): EventStream {
  const open = (url: string) => new FakeSocket(url) as unknown as WebSocket;
  const stream = new EventStream({
    url: "ws://hub/api/ws",
    open,
    firstPause: 100,
    longestPause: 1000,
    ...options,
  });
  stream.start();
  return stream;
}

describe("the line of events", () => {
  beforeEach(() => {
    vi.useFakeTimers();
    FakeSocket.all = [];
  });
  afterEach(() => vi.useRealTimers());

  it("hands events to those who listen for their type, until they stop", () => {
    const stream = startStream();
    const heard: number[] = [];
    const stop = stream.on(["mcp.removed", "rule.removed"], (event) => heard.push(event.seq));
    latest().open();
    latest().say(1, "mcp.removed");
    latest().say(2, "settings.changed");
    latest().say(3, "rule.removed");
    stop();
    latest().say(4, "rule.removed");
    expect(heard).toEqual([1, 3]);
  });

  it("says how often words are wanted, and again on every new line", async () => {
    const stream = startStream();
    stream.pace(30);
    expect(latest().sent).toEqual([]);
    latest().open();
    stream.pace(2000);
    expect(latest().sent).toEqual(['{"pause_ms":30}', '{"pause_ms":2000}']);
    latest().close();
    await vi.advanceTimersByTimeAsync(100);
    latest().open();
    expect(latest().sent).toEqual(['{"pause_ms":2000}']);
  });

  it("comes back by itself and asks for what it missed", async () => {
    const stream = startStream();
    latest().open();
    latest().say(41, "settings.changed");
    latest().close();
    await vi.advanceTimersByTimeAsync(99);
    expect(FakeSocket.all).toHaveLength(1);
    expect(stream.state).toBe("gone");
    await vi.advanceTimersByTimeAsync(1);
    expect(latest().url).toBe("ws://hub/api/ws?since=41");
    latest().open();
    expect(stream.state).toBe("live");
  });

  it("tells of a gap when reading began before it was there, and no number says since when", () => {
    const stream = startStream();
    const gaps = vi.fn();
    stream.on("gap", gaps);
    stream.begin();
    latest().open();
    expect(gaps).toHaveBeenCalledTimes(1);
  });

  it("tells of no gap when reading began with it", () => {
    const stream = startStream();
    const gaps = vi.fn();
    stream.on("gap", gaps);
    latest().open();
    stream.begin();
    expect(gaps).not.toHaveBeenCalled();
  });

  it("tells of a gap after a break before the first event", async () => {
    const stream = startStream();
    const gaps = vi.fn();
    stream.on("gap", gaps);
    latest().open();
    stream.begin();
    latest().close();
    await vi.advanceTimersByTimeAsync(100);
    expect(latest().url).toBe("ws://hub/api/ws");
    latest().open();
    expect(gaps).toHaveBeenCalledTimes(1);
  });

  it("waits longer after every failure, up to a bound, and begins anew after a success", async () => {
    startStream();
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      const count = FakeSocket.all.length;
      const from = Date.now();
      latest().close();
      while (FakeSocket.all.length === count) await vi.advanceTimersByTimeAsync(100);
      pauses.push(Date.now() - from);
    }
    expect(pauses).toEqual([100, 200, 400, 800, 1000, 1000]);
    latest().open();
    latest().close();
    await vi.advanceTimersByTimeAsync(100);
    expect(FakeSocket.all).toHaveLength(8);
  });

  it("says that the browser is signed out when the hub answers but refuses", async () => {
    const stream = startStream({ probe: async () => "signed_out" });
    latest().close();
    await vi.advanceTimersByTimeAsync(0);
    expect(stream.state).toBe("signed_out");
  });

  it("is ready for requests after the first attempt, good or bad", async () => {
    const stream = startStream();
    const ready = vi.fn();
    void stream.ready.then(ready);
    await vi.advanceTimersByTimeAsync(0);
    expect(ready).not.toHaveBeenCalled();
    latest().close();
    await vi.advanceTimersByTimeAsync(0);
    expect(ready).toHaveBeenCalledOnce();
  });

  it("tells of a return, not of the first time", async () => {
    const stream = startStream();
    const resumed = vi.fn();
    stream.onResumed(resumed);
    latest().open();
    expect(resumed).not.toHaveBeenCalled();
    latest().close();
    await vi.advanceTimersByTimeAsync(100);
    latest().open();
    expect(resumed).toHaveBeenCalledOnce();
  });

  it("leaves out what it has had, and what is no event", () => {
    const stream = startStream();
    const heard: number[] = [];
    stream.onAny((event) => heard.push(event.seq));
    latest().open();
    latest().say(5, "settings.changed");
    latest().say(5, "settings.changed");
    latest().dispatchEvent(new MessageEvent("message", { data: "not json" }));
    latest().say(6, "settings.changed");
    expect(heard).toEqual([5, 6]);
  });

  it("tries at once when asked to, and never after it was stopped", async () => {
    const stream = startStream();
    latest().close();
    await vi.advanceTimersByTimeAsync(0);
    stream.retry();
    expect(FakeSocket.all).toHaveLength(2);
    stream.stop();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(FakeSocket.all).toHaveLength(2);
  });
});
