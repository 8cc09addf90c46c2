import { expect, it } from "vitest";
import { formatBytes, formatCost, formatDuration, formatRelative } from "./format";

it.each([
  [0, "0 B"],
  [999, "999 B"],
  [1500, "1.5 KB"],
  [318_000, "318 KB"],
  [2_400_000_000, "2.4 GB"],
  [null, "–"],
])("shows %s bytes as %s", (bytes, text) => expect(formatBytes(bytes)).toBe(text));

it.each([
  [12.4, "12 ms"],
  [1200, "1.2 s"],
  [45_000, "45 s"],
  [200_000, "3 min 20 s"],
  [7_500_000, "2 h 5 min"],
  [3_600_000, "1 h"],
])("shows %s ms as %s", (ms, text) => expect(formatDuration(ms)).toBe(text));

it("shows small costs with digits that mean something", () => {
  expect(formatCost(0.000123)).toBe("$0.00012");
  expect(formatCost(1.5)).toBe("$1.50");
});

it("says now for what has just been", () => {
  expect(formatRelative(new Date(1000), 3000)).toBe("now");
});
