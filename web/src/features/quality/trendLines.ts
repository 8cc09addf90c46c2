/** The lines of the trend: one for each branch, or one for each of the six scores. */
import type { Point } from "./queries";
import { labelOf, METRICS } from "./words";

export type Measure = "signal" | "scores";

export interface Line {
  name: string;
  /** One for each scan of the trend; nothing where a scan is not of this line. */
  values: (number | null)[];
}

export interface Trend {
  /** When each scan was, oldest first. */
  times: string[];
  lines: Line[];
}

const MOST_BRANCHES = 6;
const NO_BRANCH = "Without git";

/** `points` are newest first, as they are read; the branch that is looked at comes first. */
export function trendOf(points: readonly Point[], branch: string | null, measure: Measure): Trend {
  const oldFirst = points.toReversed();
  if (measure === "scores") {
    const own = oldFirst.filter((point) => point.branch === branch);
    const lines = Object.keys(METRICS).map((name) => ({
      name: labelOf(name),
      values: own.map((point) => point.metrics[name] ?? null),
    }));
    return { times: own.map((point) => point.scanned_at), lines };
  }
  const nameOf = (point: Point): string => point.branch ?? NO_BRANCH;
  const first = branch ?? NO_BRANCH;
  const names = [...new Set([first, ...points.map(nameOf)])].slice(0, MOST_BRANCHES);
  const shown = oldFirst.filter((point) => names.includes(nameOf(point)));
  const lines = names.map((name) => ({
    name,
    values: shown.map((point) => (nameOf(point) === name ? point.quality_signal : null)),
  }));
  return { times: shown.map((point) => point.scanned_at), lines };
}
