import { describe, expect, test } from "vitest";
import { asText, bounds, check } from "./check";
import type { Setting } from "./queries";
import { GROUPS, grouped, spoken, WORDS, wordsOf } from "./words";

const setting = (changes: Partial<Setting>): Setting => ({
  name: "mcp_max_iterations",
  description: "How often one run may ask the model again.",
  kind: "integer",
  default: 10,
  value: 10,
  optional: false,
  minimum: 1,
  maximum: 50,
  above: null,
  choices: [],
  ...changes,
});

describe("what is written into a field", () => {
  test("a whole number within its bounds is taken", () => {
    expect(check(setting({}), " 12 ")).toEqual({ value: 12 });
    expect(check(setting({ maximum: null }), "600 000")).toEqual({ value: 600_000 });
  });
  test.each(["0", "51", "1.5", "many", "", "1e9"])("%j is refused with the bounds in words", (text) => {
    expect(check(setting({}), text)).toEqual({ error: expect.stringContaining("from 1 to 50") });
  });
  test("an optional one may be empty", () => {
    const cap = setting({ kind: "number", optional: true, minimum: null, maximum: null, above: 0 });
    expect(check(cap, "")).toEqual({ value: null });
    expect(check(cap, "0")).toEqual({ error: "A number above 0." });
    expect(check(cap, "0.5")).toEqual({ value: 0.5 });
  });
  test("a list has one entry a line", () => {
    expect(check(setting({ kind: "list" }), "a.example\n\n b , c")).toEqual({
      value: ["a.example", "b", "c"],
    });
    expect(asText(["a", "b"])).toBe("a\nb");
  });
  test("bounds are stated only where there are some", () => {
    expect(bounds(setting({ kind: "text" }))).toBe("");
    expect(bounds(setting({ maximum: null, minimum: 1000 }))).toContain("at least");
  });
});

describe("groups", () => {
  test("the iteration limit stands first", () => {
    const shown = grouped([setting({ name: "retention_calls_days" }), setting({})]);
    expect(shown[0]?.group.title).toBe("General");
    expect(shown[0]?.settings[0]?.name).toBe("mcp_max_iterations");
  });
  test("a setting that nobody has put anywhere is shown all the same", () => {
    const shown = grouped([setting({ name: "brand_new_thing" })]);
    expect(shown.map(({ group }) => group.title)).toEqual(["More"]);
    expect(wordsOf(setting({ name: "brand_new_thing" })).label).toBe("Brand new thing");
  });
  test("every setting in a group has words", () => {
    expect(GROUPS.flatMap((group) => group.names).filter((name) => !WORDS[name])).toEqual([]);
  });
});

test("values are spoken as a person reads them", () => {
  expect(spoken(setting({}), 10)).toBe("10 rounds");
  expect(spoken(setting({ name: "tool_timeout_max" }), 600_000)).toMatch(/600.000 ms \(10 min\)/);
  expect(spoken(setting({ name: "run_cost_cap" }), null)).toBe("No limit");
  expect(spoken(setting({ name: "command_network" }), true)).toBe("On");
  expect(spoken(setting({ name: "command_sandbox" }), "off")).toBe("Never");
  expect(spoken(setting({ name: "fetch_allow" }), [])).toBe("None");
});
