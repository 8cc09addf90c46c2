import { describe, expect, test } from "vitest";
import type { UsageRow } from "./queries";
import { beginning, daysSince, nameOf, OTHERS, seriesOf, totalsOf, withModelNames } from "./series";

const row = (changes: Partial<UsageRow>): UsageRow => changes as UsageRow;
const DAYS = ["2026-03-28", "2026-03-29", "2026-03-30"];

describe("days", () => {
  test("all from the beginning to today, also where clocks change", () => {
    const now = new Date(2026, 2, 30, 15);
    expect(beginning(3, now)).toEqual(new Date(2026, 2, 28));
    expect(daysSince(beginning(3, now), now)).toEqual(DAYS);
    expect(daysSince(beginning(90, now), now)).toHaveLength(90);
  });
});

describe("series", () => {
  test("one for each model, the largest first, a day without any is nothing", () => {
    const rows = [
      row({ day: DAYS[0], model: "a", cost: 1 }),
      row({ day: DAYS[2], model: "b", cost: 5 }),
      row({ day: DAYS[2], model: "free", cost: null }),
    ];
    expect(seriesOf(rows, "model", "cost", DAYS)).toEqual([
      { name: "b", values: [0, 0, 5], total: 5 },
      { name: "a", values: [1, 0, 0], total: 1 },
    ]);
  });
  test("those beyond six are one together, which stands last", () => {
    const rows = Array.from({ length: 9 }, (_, place) =>
      row({ day: DAYS[1], server: `s${place}`, calls: 10 - place }),
    );
    const series = seriesOf(rows, "server", "calls", DAYS);
    expect(series).toHaveLength(6);
    expect(series.at(-1)).toEqual({ name: OTHERS, values: [0, 5 + 4 + 3 + 2, 0], total: 14 });
  });
  test("a day outside of what is shown is left out", () => {
    expect(seriesOf([row({ day: "2020-01-01", model: "a", runs: 1 })], "model", "runs", DAYS)).toEqual([]);
  });
});

test("names are those of people, not of tables", () => {
  expect(nameOf(row({ server: "native" }), "server")).toBe("Built-in");
  expect(nameOf(row({ channel_id: "ch_1", name: "Taxes" }), "channel")).toBe("Taxes");
  expect(nameOf(row({ model: null }), "model")).toBe("No model");
  const [known, gone] = withModelNames(
    [row({ model: "model_1" }), row({ model: "model_2" })],
    [{ id: "model_1", name: "Clever" }],
  );
  expect(nameOf(known as UsageRow, "model")).toBe("Clever");
  expect(nameOf(gone as UsageRow, "model")).toBe("model_2");
});

test("totals tell how many runs have no price", () => {
  const rows = [
    row({ model: "a", cost: 1.5, input: 10, output: 2, cached: 4, runs: 3 }),
    row({ model: "b", cost: null, input: 5, output: 1, cached: 0, runs: 2 }),
    row({ model: "demo", cost: null, input: 1, output: 1, cached: 0, runs: 7 }),
  ];
  expect(totalsOf(rows)).toEqual({ cost: 1.5, input: 16, output: 4, cached: 4, runs: 12, unpriced: 2 });
});
