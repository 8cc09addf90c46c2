/** The six metrics and what else a scan says, in a person's words. */
import type { Mood } from "@/shared/ui/Badge";

interface Words {
  label: string;
  about: string;
}

export const METRICS: Record<string, Words> = {
  modularity: { label: "Modularity", about: "Whether files that belong together stand together." },
  cycles: { label: "Cycles", about: "Whether files import each other in circles." },
  depth: { label: "Depth", about: "How many layers lie between the top and the bottom." },
  equality: { label: "Equality", about: "How evenly lines are spread over the files." },
  redundancy: { label: "Redundancy", about: "How much is unused, or written twice." },
  complexity: { label: "Complexity", about: "How long and tangled functions are." },
};

export const labelOf = (name: string): string => METRICS[name]?.label ?? name;

/** From a score up to 1; the number always stands beside it. */
export function moodOf(score: number): Mood {
  if (score >= 0.8) return "good";
  return score >= 0.5 ? "warn" : "bad";
}

export const WORDS_OF_MOODS: Partial<Record<Mood, string>> = { good: "Good", warn: "Fair", bad: "Poor" };

/** Where each dimension of a function begins to cost. */
export const THRESHOLDS = { cyclomatic: 10, cognitive: 15, nesting: 4, parameters: 5, lines: 60 } as const;
export type Dimension = keyof typeof THRESHOLDS;
export const DIMENSIONS = Object.keys(THRESHOLDS) as Dimension[];
export const DIMENSION_LABELS: Record<Dimension, string> = {
  cyclomatic: "Cyclomatic",
  cognitive: "Cognitive",
  nesting: "Nesting",
  parameters: "Parameters",
  lines: "Lines",
};

const PHASES: Record<string, string> = {
  starting: "Starting",
  measuring: "Measuring",
  "checking out the base": "Checking out the base",
  "measuring the base": "Measuring the base",
  comparing: "Comparing",
  writing: "Writing it down",
};
export const phaseOf = (phase: string | null | undefined): string =>
  phase ? (PHASES[phase] ?? phase) : (PHASES.starting as string);

const LANGUAGES: Record<string, string> = {
  c: "C",
  cpp: "C++",
  c_sharp: "C#",
  csharp: "C#",
  javascript: "JavaScript",
  typescript: "TypeScript",
  tsx: "TSX",
  jsx: "JSX",
  php: "PHP",
};
export const languageName = (name: string): string =>
  LANGUAGES[name] ?? name.charAt(0).toUpperCase() + name.slice(1);

/** "+42", "−3", "±0" */
export function signed(change: number, digits = 0): string {
  const shown = Math.abs(change).toLocaleString(undefined, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  if (Number(Math.abs(change).toFixed(digits)) === 0) return `±${shown}`;
  return change > 0 ? `+${shown}` : `−${shown}`;
}

export const scoreText = (score: number): string => score.toFixed(2);

export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString()} ${number === 1 ? one : many}`;

/** The last part of a path, and what stands before it. */
export function cutPath(path: string): [folder: string, name: string] {
  const place = path.lastIndexOf("/") + 1;
  return [path.slice(0, place), path.slice(place)];
}
