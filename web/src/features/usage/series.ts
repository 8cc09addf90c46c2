/** Rows of usage made into what a plot draws. Pure. */
import { formatCompact, formatCost, formatNumber, formatServer } from "@/shared/format/format";
import type { Split, UsageRow } from "./queries";

export type Measure = "cost" | "tokens" | "runs" | "calls" | "errors";

const MOST_SERIES = 6;
export const OTHERS = "Others";

export const amountOf = (row: UsageRow, measure: Measure): number =>
  measure === "tokens" ? (row.input ?? 0) + (row.output ?? 0) : (row[measure] ?? 0);

export const shown: Record<Measure, (value: number) => string> = {
  cost: formatCost,
  tokens: formatCompact,
  runs: formatNumber,
  calls: formatNumber,
  errors: formatNumber,
};

/** What a row is called in the plot. */
export function nameOf(row: UsageRow, split: Split): string {
  if (split === "server") return formatServer(row.server ?? "Unknown");
  if (split === "channel") return row.name ?? row.channel_id ?? "Unknown";
  return row.name ?? row.model ?? "No model";
}

/** Runs keep the id of their model; people know it by its name. One that was removed keeps its id. */
export function withModelNames(
  rows: readonly UsageRow[],
  models: readonly { id: string; name: string }[] | undefined,
): UsageRow[] {
  const names = new Map(models?.map((model) => [model.id, model.name]));
  return rows.map((row) => ({ ...row, name: row.name ?? names.get(row.model ?? "") ?? null }));
}

const pad = (value: number): string => String(value).padStart(2, "0");
/** A day in the person's zone, as the hub writes it: 2026-03-29. */
export const dayName = (day: Date): string =>
  `${day.getFullYear()}-${pad(day.getMonth() + 1)}-${pad(day.getDate())}`;

/** The first moment of the first of so many days, of which today is the last. */
export function beginning(days: number, now = new Date()): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - (days - 1));
}

/** Every day from the beginning to today: one on which nothing happened is shown as well. */
export function daysSince(begin: Date, now = new Date()): string[] {
  const found: string[] = [];
  for (
    let day = new Date(begin);
    day <= now;
    day = new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1)
  )
    found.push(dayName(day));
  return found;
}

export interface Series {
  name: string;
  values: number[];
  total: number;
}

/** One series for each of the largest; the rest is one together. */
export function seriesOf(
  rows: readonly UsageRow[],
  split: Split,
  measure: Measure,
  days: readonly string[],
): Series[] {
  const totals = new Map<string, number>();
  for (const row of rows) {
    const name = nameOf(row, split);
    totals.set(name, (totals.get(name) ?? 0) + amountOf(row, measure));
  }
  const ranked = [...totals].filter(([, total]) => total > 0).sort(([, one], [, other]) => other - one);
  const own = new Set(
    ranked.slice(0, ranked.length > MOST_SERIES ? MOST_SERIES - 1 : MOST_SERIES).map(([name]) => name),
  );
  const places = new Map(days.map((day, place) => [day, place]));
  const series = new Map<string, Series>();
  for (const row of rows) {
    const amount = amountOf(row, measure);
    const place = places.get(row.day ?? "");
    if (place === undefined || amount === 0) continue;
    const name = own.has(nameOf(row, split)) ? nameOf(row, split) : OTHERS;
    const one = series.get(name) ?? { name, values: days.map(() => 0), total: 0 };
    one.values[place] = (one.values[place] ?? 0) + amount;
    one.total += amount;
    series.set(name, one);
  }
  return [...series.values()].sort((one, other) =>
    one.name === OTHERS ? 1 : other.name === OTHERS ? -1 : other.total - one.total,
  );
}

export interface Totals {
  cost: number;
  input: number;
  output: number;
  cached: number;
  runs: number;
  /** Runs of models whose price is not known are not in the cost. */
  unpriced: number;
}

export function totalsOf(rows: readonly UsageRow[]): Totals {
  const totals: Totals = { cost: 0, input: 0, output: 0, cached: 0, runs: 0, unpriced: 0 };
  for (const row of rows) {
    totals.cost += row.cost ?? 0;
    totals.input += row.input ?? 0;
    totals.output += row.output ?? 0;
    totals.cached += row.cached ?? 0;
    totals.runs += row.runs ?? 0;
    if (row.cost == null && row.model !== "demo") totals.unpriced += row.runs ?? 0;
  }
  return totals;
}
