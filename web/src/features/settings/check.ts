/** What a person wrote into a field, checked by the bounds that the hub states. The hub checks again. */
import type { Setting } from "./queries";

export type Checked = { value: unknown } | { error: string };

/** The text in the field for a value. */
export const asText = (value: unknown): string =>
  Array.isArray(value) ? value.join("\n") : value === null || value === undefined ? "" : String(value);

export function check(setting: Setting, text: string): Checked {
  const written = text.trim();
  if (setting.kind === "list") return { value: lines(text) };
  if (written === "")
    return setting.optional ? { value: null } : { error: `Something must stand here. ${bounds(setting)}` };
  if (setting.kind === "text" || setting.kind === "choice") return { value: written };
  const number = Number(written.replaceAll(/[\s_]/g, ""));
  if (
    !Number.isFinite(number) ||
    (setting.kind === "integer" && !Number.isInteger(number)) ||
    outside(setting, number)
  )
    return { error: bounds(setting) };
  return { value: number };
}

const lines = (text: string): string[] =>
  text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter(Boolean);

const outside = ({ minimum, maximum, above }: Setting, number: number): boolean =>
  (minimum != null && number < minimum) ||
  (maximum != null && number > maximum) ||
  (above != null && number <= above);

/** "A whole number from 1 to 50." */
export function bounds({ kind, minimum, maximum, above }: Setting): string {
  const what = kind === "integer" ? "A whole number" : "A number";
  const show = (value: number) => value.toLocaleString();
  if (kind !== "integer" && kind !== "number") return "";
  if (minimum != null && maximum != null) return `${what} from ${show(minimum)} to ${show(maximum)}.`;
  if (above != null) return `${what} above ${show(above)}.`;
  if (minimum != null) return `${what} of at least ${show(minimum)}.`;
  return maximum != null ? `${what} of at most ${show(maximum)}.` : `${what}.`;
}
