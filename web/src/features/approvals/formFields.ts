/**
 * The form that a server asks a person to fill in, from its JSON schema: fields, what they begin with, what is wrong with
 * what was entered, and the answer. Pure; what is not understood is entered as JSON.
 */
import { isObject } from "./question";
import { unspelled } from "./spelled";

type Json = Record<string, unknown>;
export type Kind = "text" | "long" | "number" | "integer" | "boolean" | "choice" | "choices" | "json";
export type Entry = string | boolean | string[] | undefined;
export type Entries = Record<string, Entry>;

export interface Field {
  /** As it goes back. */
  name: string;
  label: string;
  description: string;
  kind: Kind;
  required: boolean;
  schema: Json;
  choices: { value: string; label: string }[];
  /** The type of the control. */
  input: string;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const INPUTS: Record<string, string> = {
  email: "email",
  uri: "url",
  date: "date",
  "date-time": "datetime-local",
  password: "password",
};
const LONG = 200;

export function fieldsOf(schema: Json): Field[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = isObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties).map(([name, part]) => {
    const own = isObject(part) ? part : {};
    const choices = choicesOf(own);
    return {
      name: unspelled(name),
      label: text(own.title) || name,
      description: text(own.description),
      kind: kindOf(own, choices.length),
      required: required.includes(name),
      schema: own,
      choices,
      input: INPUTS[text(own.format)] ?? "text",
    };
  });
}

function kindOf(schema: Json, choices: number): Kind {
  if (schema.type === "array") return choices > 0 ? "choices" : "json";
  if (choices > 0) return "choice";
  if (schema.type === "number" || schema.type === "integer" || schema.type === "boolean") return schema.type;
  if (schema.type !== "string" && schema.type !== undefined) return "json";
  const isLong = typeof schema.maxLength === "number" && schema.maxLength > LONG && !schema.format;
  return isLong || text(schema.default).includes("\n") ? "long" : "text";
}

function choicesOf(schema: Json): Field["choices"] {
  const source = isObject(schema.items) ? schema.items : schema;
  const titled = [source.oneOf, source.anyOf].find(Array.isArray) as unknown[] | undefined;
  if (titled?.every((one) => isObject(one) && typeof one.const === "string"))
    return (titled as Json[]).map((one) => ({
      value: unspelled(text(one.const)),
      label: text(one.title) || text(one.const),
    }));
  if (!Array.isArray(source.enum) || !source.enum.every((one) => typeof one === "string")) return [];
  const names = Array.isArray(source.enumNames) ? source.enumNames : [];
  return source.enum.map((value: string, place) => ({
    value: unspelled(value),
    label: text(names[place]) || value,
  }));
}

/** What the form begins with. */
export function startOf(fields: readonly Field[]): Entries {
  return Object.fromEntries(fields.map((field) => [field.name, startEntry(field)]));
}

function startEntry({ kind, schema }: Field): Entry {
  const value = schema.default;
  if (kind === "boolean") return typeof value === "boolean" ? value : undefined;
  if (kind === "choices")
    return Array.isArray(value) ? value.filter((one) => typeof one === "string").map(unspelled) : [];
  if (value === undefined || value === null) return "";
  if (kind === "json") return JSON.stringify(value, null, 2);
  if (schema.format === "date-time") return localMoment(String(value));
  return unspelled(String(value));
}

/** What a `datetime-local` shows for a moment. */
function localMoment(value: string): string {
  const at = new Date(value);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const isEmpty = (entry: Entry): boolean =>
  entry === undefined || entry === "" || (Array.isArray(entry) && entry.length === 0);

/** What is wrong, by field; nothing when the form can go out. */
export function problemsIn(fields: readonly Field[], entries: Entries): Record<string, string> {
  const found: Record<string, string> = {};
  for (const field of fields) {
    const problem = problemOf(field, entries[field.name]);
    if (problem) found[field.name] = problem;
  }
  return found;
}

function problemOf(field: Field, entry: Entry): string | null {
  if (isEmpty(entry)) {
    // A box that is not ticked is an answer.
    if (field.kind === "boolean" || !field.required) return null;
    return field.kind === "choice" || field.kind === "choices" ? "Choose one." : "This is needed.";
  }
  if (field.kind === "number" || field.kind === "integer") return numberProblem(field, String(entry));
  if (field.kind === "choices") return countProblem(field.schema, (entry as string[]).length);
  if (field.kind === "text" || field.kind === "long") return textProblem(field.schema, String(entry));
  if (field.kind === "json") return jsonProblem(String(entry));
  return null;
}

function numberProblem({ kind, schema }: Field, entry: string): string | null {
  const value = Number(entry);
  if (entry.trim() === "" || !Number.isFinite(value)) return "Enter a number.";
  if (kind === "integer" && !Number.isInteger(value)) return "Enter a whole number.";
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof minimum === "number" && value < minimum) return `At least ${minimum}.`;
  if (typeof maximum === "number" && value > maximum) return `At most ${maximum}.`;
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum)
    return `More than ${exclusiveMinimum}.`;
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum)
    return `Less than ${exclusiveMaximum}.`;
  return null;
}

function countProblem({ minItems, maxItems }: Json, count: number): string | null {
  if (typeof minItems === "number" && count < minItems) return `Choose at least ${minItems}.`;
  if (typeof maxItems === "number" && count > maxItems) return `Choose at most ${maxItems}.`;
  return null;
}

const EMAIL = /^[^\s@]+@[^\s@]+$/;

function textProblem({ minLength, maxLength, format, pattern }: Json, entry: string): string | null {
  const length = [...entry].length;
  if (typeof minLength === "number" && length < minLength) return `At least ${minLength} characters.`;
  if (typeof maxLength === "number" && length > maxLength) return `At most ${maxLength} characters.`;
  if (format === "email" && !EMAIL.test(entry)) return "Enter an email address.";
  if (format === "uri" && !URL.canParse(entry)) return "Enter a whole address, like https://example.com.";
  if (format === "date" && Number.isNaN(Date.parse(entry))) return "Enter a date.";
  if (format === "date-time" && Number.isNaN(Date.parse(entry))) return "Enter a date and a time.";
  return typeof pattern === "string" && !matches(unspelled(pattern), entry)
    ? `It must match ${pattern}`
    : null;
}

/** A stranger's pattern that this browser does not understand, or that is long, is left for the hub to check. */
function matches(pattern: string, entry: string): boolean {
  if (pattern.length > 200 || /[+*}]\s*\)\s*[+*{]/.test(pattern)) return true;
  try {
    return new RegExp(pattern, "u").test(entry.slice(0, 10_000));
  } catch {
    return true;
  }
}

function jsonProblem(entry: string): string | null {
  try {
    JSON.parse(entry);
    return null;
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
}

/** The data that go back: what was left empty is left out. */
export function responseOf(fields: readonly Field[], entries: Entries): Json {
  const response: Json = {};
  for (const field of fields) {
    const value = sentValue(field, entries[field.name]);
    if (value !== undefined) response[field.name] = value;
  }
  return response;
}

function sentValue(field: Field, entry: Entry): unknown {
  if (field.kind === "boolean") return entry ?? (field.required ? false : undefined);
  if (isEmpty(entry)) return undefined;
  if (field.kind === "number" || field.kind === "integer") return Number(entry);
  if (field.kind === "json") return JSON.parse(String(entry));
  if (field.schema.format === "date-time") return new Date(String(entry)).toISOString();
  return entry;
}
