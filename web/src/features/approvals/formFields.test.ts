import { describe, expect, it } from "vitest";
import { fieldsOf, problemsIn, responseOf, startOf } from "./formFields";

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", title: "Your name", minLength: 2 },
    email: { type: "string", format: "email" },
    home: { type: "string", format: "uri" },
    age: { type: "integer", minimum: 18, maximum: 120 },
    weight: { type: "number", default: 2.5 },
    news: { type: "boolean", default: true },
    terms: { type: "boolean" },
    colour: { type: "string", enum: ["r", "b"], enumNames: ["Red", "Blue"] },
    size: {
      type: "string",
      oneOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
    },
    tags: { type: "array", items: { anyOf: [{ const: "x", title: "X" }, { const: "y" }] }, maxItems: 1 },
    notes: { type: "string", maxLength: 5000 },
    odd: { type: "object" },
  },
  required: ["name", "terms", "colour"],
};
const fields = fieldsOf(SCHEMA);

describe("a form from a server's schema", () => {
  it("has a control for each kind of field", () => {
    expect(fields.map((field) => [field.name, field.kind])).toEqual([
      ["name", "text"],
      ["email", "text"],
      ["home", "text"],
      ["age", "integer"],
      ["weight", "number"],
      ["news", "boolean"],
      ["terms", "boolean"],
      ["colour", "choice"],
      ["size", "choice"],
      ["tags", "choices"],
      ["notes", "long"],
      ["odd", "json"],
    ]);
    expect(fields.find((field) => field.name === "colour")?.choices).toEqual([
      { value: "r", label: "Red" },
      { value: "b", label: "Blue" },
    ]);
    expect(fields.find((field) => field.name === "email")?.input).toBe("email");
  });

  it("begins with the defaults", () => {
    expect(startOf(fields)).toMatchObject({
      name: "",
      weight: "2.5",
      news: true,
      terms: undefined,
      tags: [],
    });
  });

  it("says what is missing and what does not fit", () => {
    const entries = {
      name: "x",
      email: "no",
      home: "nowhere",
      age: "17.5",
      colour: "",
      tags: ["x", "y"],
      odd: "{",
    };
    const problems = problemsIn(fields, entries);
    expect(problems).toMatchObject({
      name: "At least 2 characters.",
      email: "Enter an email address.",
      age: "Enter a whole number.",
      colour: "Choose one.",
      tags: "Choose at most 1.",
    });
    expect(problems.home).toContain("address");
    expect(problems.odd).toContain("JSON");
    expect(problemsIn(fields, { name: "Ada", colour: "r", age: "130" })).toEqual({ age: "At most 120." });
  });

  it("sends values of the right types and leaves out what was left empty", () => {
    const entries = { ...startOf(fields), name: "Ada", age: "36", colour: "b", tags: ["y"], odd: "[1]" };
    expect(responseOf(fields, entries)).toEqual({
      name: "Ada",
      age: 36,
      weight: 2.5,
      news: true,
      terms: false,
      colour: "b",
      tags: ["y"],
      odd: [1],
    });
  });

  it("gives back names and choices as the server wrote them, whatever was spelled out", () => {
    const spelled = fieldsOf({ properties: { "a⟨U+200B⟩b": { type: "string", enum: ["❤⟨U+FE0F⟩"] } } });
    expect(responseOf(spelled, { "a\u200bb": "❤\uFE0F" })).toEqual({ "a\u200bb": "❤\uFE0F" });
    expect(spelled[0]?.choices[0]?.value).toBe("❤\uFE0F");
  });

  it("leaves patterns that could run for ever to the hub", () => {
    const risky = fieldsOf({ properties: { a: { type: "string", pattern: "^(a+)+$" } } });
    expect(problemsIn(risky, { a: `${"a".repeat(40)}!` })).toEqual({});
    const plain = fieldsOf({ properties: { a: { type: "string", pattern: "^[a-z]+$" } } });
    expect(problemsIn(plain, { a: "A" })).toHaveProperty("a");
  });

  it("takes a schema that makes no sense without falling over", () => {
    expect(
      fieldsOf({ properties: { a: null, b: { enum: [1, 2] } }, required: "a" }).map((one) => one.kind),
    ).toEqual(["text", "text"]);
    expect(fieldsOf({ properties: [] })).toEqual([]);
  });
});
