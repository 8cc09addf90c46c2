import { act, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { batchPerFrame, TextStreams, useStreamedText } from "./frame";

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame"],
  });
});
afterEach(() => vi.useRealTimers());

describe("a batch per frame", () => {
  it("hands over everything of a frame together", () => {
    const handled = vi.fn();
    const batch = batchPerFrame<number>(handled);
    for (const item of [1, 2, 3]) batch.add(item);
    expect(handled).not.toHaveBeenCalled();
    vi.advanceTimersToNextFrame();
    expect(handled.mock.calls).toEqual([[[1, 2, 3]]]);
    batch.add(4);
    vi.advanceTimersToNextFrame();
    expect(handled).toHaveBeenLastCalledWith([4]);
  });

  it("does not hand over the same thing twice", () => {
    const handled = vi.fn();
    const batch = batchPerFrame<number>(handled);
    batch.add(1);
    batch.flush();
    vi.advanceTimersByTime(5000);
    expect(handled).toHaveBeenCalledOnce();
  });

  it("waits until a hidden window is seen again", () => {
    const visibility = vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
    const handled = vi.fn();
    const batch = batchPerFrame<number>(handled);
    batch.add(1);
    vi.advanceTimersByTime(60_000);
    batch.add(2);
    expect(handled).not.toHaveBeenCalled();
    visibility.mockReturnValue("visible");
    document.dispatchEvent(new Event("visibilitychange"));
    vi.advanceTimersToNextFrame();
    expect(handled.mock.calls).toEqual([[[1, 2]]]);
  });

  it("loses nothing in a window that is hidden before its frame comes", () => {
    const visibility = vi.spyOn(document, "visibilityState", "get").mockReturnValue("visible");
    const handled = vi.fn();
    const batch = batchPerFrame<number>(handled);
    batch.add(1);
    for (const state of ["hidden", "visible"] as const) {
      visibility.mockReturnValue(state);
      document.dispatchEvent(new Event("visibilitychange"));
    }
    vi.advanceTimersToNextFrame();
    expect(handled.mock.calls).toEqual([[[1]]]);
  });

  it("forgets what it has when it is cancelled", () => {
    const handled = vi.fn();
    const batch = batchPerFrame<number>(handled);
    batch.add(1);
    batch.cancel();
    vi.advanceTimersByTime(5000);
    expect(handled).not.toHaveBeenCalled();
  });
});

function Shown({ streams, drawn }: { streams: TextStreams; drawn: (text: string) => void }) {
  const text = useStreamedText(streams, "run");
  drawn(text);
  return <p>{text}</p>;
}

describe("a text that grows", () => {
  it("is drawn once a frame, however many pieces come", () => {
    const streams = new TextStreams();
    const drawn = vi.fn();
    render(<Shown streams={streams} drawn={drawn} />);
    for (let piece = 0; piece < 50; piece++) streams.append("run", "a");
    streams.append("another", "b");
    act(() => {
      vi.advanceTimersToNextFrame();
    });
    expect(screen.getByText("a".repeat(50))).toBeInTheDocument();
    expect(drawn).toHaveBeenCalledTimes(2);
  });

  it("keeps order when a whole text is set among pieces", () => {
    const streams = new TextStreams();
    streams.append("run", "old");
    streams.set("run", "new");
    streams.append("run", " end");
    vi.advanceTimersToNextFrame();
    expect(streams.get("run")).toBe("new end");
    streams.remove("run");
    expect(streams.get("run")).toBe("");
  });
});
