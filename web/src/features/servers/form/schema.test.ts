import { describe, expect, it } from "vitest";
import { kindOf, missingIn, parameterRows, resolve, startOf, typeName, withEntry } from "./schema";

const nested = {
  type: "object",
  required: ["edits"],
  properties: {
    dry: { type: "boolean", default: false },
    edits: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["from"],
        properties: { from: { type: "string", description: "What is there" }, to: { type: "string" } },
      },
    },
  },
};

describe("reading a schema", () => {
  it("puts nested fields under theirs, what must be given first", () => {
    const rows = parameterRows(nested);
    expect(rows.map((row) => [row.path, row.depth, row.required])).toEqual([
      ["edits", 0, true],
      ["edits[].from", 1, true],
      ["edits[].to", 1, false],
      ["dry", 0, false],
    ]);
    expect(rows[0]?.type).toBe("list of object");
    expect(rows[0]?.notes).toEqual(["entries, at least 1"]);
    expect(rows[3]?.notes).toEqual(["default false"]);
  });

  it("follows references, joins allOf and leaves out null", () => {
    const root = {
      $defs: { Colour: { type: "string", enum: ["red", "blue"] } },
      properties: {
        colour: { $ref: "#/$defs/Colour", description: "Which one" },
        size: { anyOf: [{ type: "integer" }, { type: "null" }] },
        both: {
          allOf: [{ properties: { a: { type: "string" } } }, { properties: { b: { type: "number" } } }],
        },
      },
    };
    const colour = resolve(root.properties.colour, root);
    expect([kindOf(colour), colour.description]).toEqual(["choice", "Which one"]);
    expect(kindOf(resolve(root.properties.size, root))).toBe("integer");
    expect(Object.keys(resolve(root.properties.both, root).properties as object)).toEqual(["a", "b"]);
  });

  it("does not follow a reference that goes round in circles for ever", () => {
    const root = { $defs: { Tree: { type: "object", properties: { next: { $ref: "#/$defs/Tree" } } } } };
    expect(parameterRows({ $ref: "#/$defs/Tree" }, root).length).toBeLessThan(20);
    expect(() => startOf({ $ref: "#/$defs/Tree" }, root)).not.toThrow();
    const loop = { $defs: { A: { $ref: "#/$defs/A" } } };
    expect(() => resolve({ $ref: "#/$defs/A" }, loop)).not.toThrow();
  });

  it("takes what it does not understand as JSON", () => {
    expect(kindOf({ type: ["string", "number"] })).toBe("json");
    expect(kindOf({ type: "object", additionalProperties: true })).toBe("json");
    expect(kindOf({})).toBe("json");
    expect(typeName({ type: ["string", "null"] }, {})).toBe("string or null");
  });
});

describe("filling in a form", () => {
  it("begins with the defaults", () => {
    expect(startOf(nested, nested)).toEqual({ dry: false });
  });

  it("names what is missing by its path", () => {
    expect(missingIn({}, nested, nested)).toEqual(["edits"]);
    expect(missingIn({ edits: [{ to: "x" }, { from: "y" }] }, nested, nested)).toEqual(["edits[0].from"]);
    expect(missingIn({ edits: [] }, nested, nested)).toEqual([]);
  });

  it("takes out what was emptied", () => {
    expect(withEntry({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 });
    expect(withEntry({ a: 1 }, "a", undefined)).toBeUndefined();
    expect(withEntry(undefined, "a", 0)).toEqual({ a: 0 });
  });
});
