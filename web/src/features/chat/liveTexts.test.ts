import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { countPoints, LiveTexts } from "./liveTexts";

const piece = (text: string, offset: number, iteration = 1) => ({
  runId: "r",
  channel: "text" as const,
  iteration,
  offset,
  text,
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("puts pieces together once a frame", () => {
  const texts = new LiveTexts();
  const changed = vi.fn();
  texts.watch("r", changed);
  texts.append(piece("One ", 0));
  texts.append(piece("two", 4));
  expect(texts.get("r").text).toBe("");
  vi.advanceTimersByTime(50);
  expect(texts.get("r").text).toBe("One two");
  expect(changed).toHaveBeenCalledOnce();
});

it("waits with pieces whose beginning it has not heard, until it is told", () => {
  const texts = new LiveTexts();
  texts.append(piece("🦊!", 4));
  texts.append(piece("?", 6));
  vi.advanceTimersByTime(50);
  expect(texts.get("r").text).toBe("");
  texts.seed("r", { iteration: 1, text: "One 🦊", thinking: "hm" });
  expect(texts.get("r")).toEqual({ iteration: 1, text: "One 🦊!?", thinking: "hm" });
});

it("begins anew with the next iteration and ignores what is late", () => {
  const texts = new LiveTexts();
  texts.append(piece("old", 0));
  texts.append(piece("new", 0, 2));
  texts.append(piece(" late", 3));
  vi.advanceTimersByTime(50);
  expect(texts.get("r")).toMatchObject({ iteration: 2, text: "new" });
  texts.seed("r", { iteration: 1, text: "older still", thinking: "" });
  expect(texts.get("r").text).toBe("new");
});

it("counts characters as the hub does", () => {
  expect(countPoints("a🦊b")).toBe(3);
});
