/**
 * JSON schemas of tools as a person reads them: rows of a table, and the fields of a form.
 *
 * Pure. Schemas come from strangers: whatever is not understood is shown and edited as JSON.
 */
export type Schema = Record<string, unknown>;

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const DEEPEST = 8;

/** The schema that is meant: references inside `root` followed, `allOf` joined, "or null" left out. */
export function resolve(schema: unknown, root: Schema, depth = 0): Schema {
  if (!isObject(schema)) return {};
  if (depth > DEEPEST) return schema;
  if (typeof schema.$ref === "string") {
    const target = lookUp(schema.$ref, root);
    const { $ref: _, ...rest } = schema;
    return target ? { ...resolve(target, root, depth + 1), ...rest } : rest;
  }
  if (Array.isArray(schema.allOf) && schema.allOf.length > 0) {
    const { allOf, ...rest } = schema;
    return (allOf as unknown[]).reduce<Schema>(
      (joined, part) => join(joined, resolve(part, root, depth + 1)),
      rest,
    );
  }
  const choices = (schema.anyOf ?? schema.oneOf) as unknown;
  if (Array.isArray(choices)) {
    const real = choices.filter((choice) => !isObject(choice) || choice.type !== "null");
    if (real.length === 1) {
      const { anyOf: _a, oneOf: _o, ...rest } = schema;
      return { ...resolve(real[0], root, depth + 1), ...rest };
    }
    const constants = real.map((choice) => (isObject(choice) ? choice.const : undefined));
    if (constants.length > 0 && constants.every((value) => value !== undefined))
      return { ...schema, anyOf: undefined, oneOf: undefined, enum: constants };
  }
  return schema;
}

function join(one: Schema, other: Schema): Schema {
  const properties = { ...(one.properties as Schema), ...(other.properties as Schema) };
  const required = [...listOf(one.required), ...listOf(other.required)];
  return { ...other, ...one, properties, required };
}

function lookUp(reference: string, root: Schema): unknown {
  if (!reference.startsWith("#")) return undefined;
  let place: unknown = root;
  for (const step of reference.slice(1).split("/").filter(Boolean)) {
    const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    place = isObject(place) && Object.hasOwn(place, name) ? place[name] : undefined;
  }
  return place;
}

const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];

export type Kind = "text" | "number" | "integer" | "boolean" | "choice" | "list" | "object" | "json";

/** How a value of this (resolved) schema is put in. */
export function kindOf(schema: Schema): Kind {
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return "choice";
  const types = Array.isArray(schema.type) ? schema.type.filter((type) => type !== "null") : [schema.type];
  if (types.length > 1) return "json";
  switch (types[0]) {
    case "string":
      return "text";
    case "number":
    case "integer":
    case "boolean":
      return types[0];
    case "array":
      return isObject(schema.items) ? "list" : "json";
    case "object":
      return isObject(schema.properties) && Object.keys(schema.properties).length > 0 ? "object" : "json";
    default:
      return isObject(schema.properties) ? "object" : "json";
  }
}

/** The type in words: `string`, `list of numbers`, `string or number`. */
export function typeName(schema: Schema, root: Schema, depth = 0): string {
  const real = resolve(schema, root);
  const kind = kindOf(real);
  if (kind === "choice") return "one of";
  if (kind === "list" && depth < DEEPEST) return `list of ${typeName(real.items as Schema, root, depth + 1)}`;
  const choices = real.anyOf ?? real.oneOf;
  if (Array.isArray(choices) && depth < DEEPEST)
    return choices.map((choice) => typeName(isObject(choice) ? choice : {}, root, depth + 1)).join(" or ");
  if (Array.isArray(real.type)) return real.type.map(String).join(" or ");
  if (real.type === "array") return "list";
  if (typeof real.type === "string") return real.type;
  return kind === "object" ? "object" : "anything";
}

export interface Property {
  name: string;
  schema: Schema;
  required: boolean;
}

/** The fields of an object, those that must be given first. */
export function propertiesOf(schema: Schema, root: Schema): Property[] {
  const required = new Set(listOf(schema.required));
  const found = Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, part]) => ({
    name,
    schema: resolve(part, root),
    required: required.has(name),
  }));
  return [...found.filter((one) => one.required), ...found.filter((one) => !one.required)];
}

export interface ParameterRow {
  path: string;
  name: string;
  depth: number;
  type: string;
  required: boolean;
  description: string;
  /** What else it says: default, bounds, choices. */
  notes: string[];
}

/** The parameters of a tool, nested ones under theirs. */
export function parameterRows(schema: Schema, root: Schema = schema, path = "", depth = 0): ParameterRow[] {
  const real = resolve(schema, root);
  return propertiesOf(real, root).flatMap((property) => {
    const here = path ? `${path}.${property.name}` : property.name;
    const row = {
      path: here,
      name: property.name,
      depth,
      type: typeName(property.schema, root),
      required: property.required,
      description: typeof property.schema.description === "string" ? property.schema.description : "",
      notes: notesOf(property.schema),
    };
    if (depth >= DEEPEST) return [row];
    const kind = kindOf(property.schema);
    if (kind === "object") return [row, ...parameterRows(property.schema, root, here, depth + 1)];
    if (kind !== "list") return [row];
    const item = resolve(property.schema.items, root);
    return kindOf(item) === "object" ? [row, ...parameterRows(item, root, `${here}[]`, depth + 1)] : [row];
  });
}

const BOUNDS: [key: string, word: string][] = [
  ["minimum", "at least"],
  ["exclusiveMinimum", "more than"],
  ["maximum", "at most"],
  ["exclusiveMaximum", "less than"],
  ["minLength", "characters, at least"],
  ["maxLength", "characters, at most"],
  ["minItems", "entries, at least"],
  ["maxItems", "entries, at most"],
  ["pattern", "matches"],
  ["format", "format"],
];

function notesOf(schema: Schema): string[] {
  const notes: string[] = [];
  if (Array.isArray(schema.enum)) notes.push(schema.enum.map((value) => JSON.stringify(value)).join(", "));
  if (schema.default !== undefined && schema.default !== null)
    notes.push(`default ${JSON.stringify(schema.default)}`);
  for (const [key, word] of BOUNDS) if (schema[key] !== undefined) notes.push(`${word} ${schema[key]}`);
  return notes;
}

/** What a form begins with: defaults, and the empty form of what must be given. */
export function startOf(schema: Schema, root: Schema, depth = 0): unknown {
  const real = resolve(schema, root);
  if (real.default !== undefined) return real.default;
  if (real.const !== undefined) return real.const;
  if (kindOf(real) !== "object" || depth > DEEPEST) return undefined;
  const start: Schema = {};
  for (const property of propertiesOf(real, root)) {
    const value = startOf(property.schema, root, depth + 1);
    const isEmpty = isObject(value) && Object.keys(value).length === 0;
    if (value !== undefined && (property.required || !isEmpty)) start[property.name] = value;
  }
  return start;
}

/** What is missing, by path; an empty text is a text only where nothing says more. */
export function missingIn(value: unknown, schema: Schema, root: Schema, path = ""): string[] {
  const real = resolve(schema, root);
  const kind = kindOf(real);
  if (kind === "list" && Array.isArray(value))
    return value.flatMap((item, place) => missingIn(item, real.items as Schema, root, `${path}[${place}]`));
  if (kind !== "object") return [];
  const given = isObject(value) ? value : {};
  return propertiesOf(real, root).flatMap((property) => {
    const here = path ? `${path}.${property.name}` : property.name;
    const inside = given[property.name];
    if (inside !== undefined) return missingIn(inside, property.schema, root, here);
    if (!property.required) return [];
    const below = missingIn(inside, property.schema, root, here);
    return below.length > 0 ? below : [here];
  });
}

/** The same object with one entry changed; `undefined` takes it out. */
export function withEntry(value: unknown, name: string, entry: unknown): Schema | undefined {
  const { [name]: _, ...rest } = isObject(value) ? value : {};
  const next = entry === undefined ? rest : { ...rest, [name]: entry };
  return Object.keys(next).length > 0 ? next : undefined;
}
