/** Why a hit was found. */
import type { Hit } from "./queries";

export type PartName = "lexical" | "vector" | "recency";

export interface Part {
  name: PartName;
  label: string;
  value: number;
  /** Of the best score of the answer. */
  share: number;
}

const LABELS: Record<PartName, string> = { lexical: "Words", vector: "Meaning", recency: "Newness" };
const NAMES = Object.keys(LABELS) as PartName[];

/** The parts of a score that gave something, measured by the best score of the answer. */
export function partsOf(hit: Hit, best: number): Part[] {
  return NAMES.map((name) => ({
    name,
    label: LABELS[name],
    value: hit.parts[name],
    share: best > 0 ? Math.max(0, hit.parts[name]) / best : 0,
  })).filter(({ share }) => share > 0);
}

const REASONS: Record<PartName, string> = {
  lexical: "its words",
  vector: "its meaning",
  recency: "being newer",
};

/** "Found by its meaning and its words": what gave most comes first. */
export function whyFound(hit: Hit): string {
  const found = NAMES.filter((name) => hit.parts[name] > 0)
    .sort((a, b) => hit.parts[b] - hit.parts[a])
    .map((name) => REASONS[name]);
  if (found.length === 0) return "Stands beside what was found";
  return `Found by ${found.join(found.length > 2 ? ", " : " and ")}`;
}

const SHORT = 3;
/** Words of questions that tell passages little apart. */
const COMMON = new Set(
  "about does from have much that them there they this were what when where which will with would your".split(
    " ",
  ),
);

/** The words of a question that are worth marking in a text. */
export const wordsOf = (query: string): string =>
  query
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word.length > SHORT && !COMMON.has(word.toLowerCase()))
    .join(" ");
