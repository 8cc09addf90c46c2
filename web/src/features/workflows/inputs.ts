/** What a workflow takes, as one schema that a form is made of. */
import { type Schema, startOf } from "@/features/servers/form/schema";

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An input must be given unless it has a default or says that it need not. */
export function inputsSchema(inputs: Record<string, unknown>): Schema {
  const properties: Schema = {};
  const required: string[] = [];
  for (const [name, given] of Object.entries(inputs)) {
    const schema: Schema = typeof given === "string" ? { type: given } : isObject(given) ? { ...given } : {};
    const optional = schema.required === false || "default" in schema;
    if (typeof schema.required === "boolean") delete schema.required;
    properties[name] = schema;
    if (!optional) required.push(name);
  }
  return { type: "object", properties, required };
}

export function startInputs(inputs: Record<string, unknown>): Record<string, unknown> {
  const schema = inputsSchema(inputs);
  return (startOf(schema, schema) ?? {}) as Record<string, unknown>;
}
