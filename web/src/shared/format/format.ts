/** Numbers, sizes, durations and times as a person reads them, in the browser's language and zone. */

const UNITS = ["B", "KB", "MB", "GB", "TB"];

export function formatBytes(bytes: number | null | undefined): string {
  if (bytes == null) return "–";
  let size = bytes;
  let unit = 0;
  while (Math.abs(size) >= 1000 && unit < UNITS.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`;
}

/** 840 ms, 1.2 s, 3 min 20 s, 2 h 5 min, 4 d 3 h */
export function formatDuration(ms: number | null | undefined): string {
  if (ms == null) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [Math.floor(seconds) % 60, "s"],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}

const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
export const formatNumber = (value: number | null | undefined): string =>
  value == null ? "–" : numbers.format(value);

const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
/** 1,234 as 1.2K */
export const formatCompact = (value: number | null | undefined): string =>
  value == null ? "–" : short.format(value);

/** US dollars; small amounts keep two digits that mean something. */
export function formatCost(dollars: number | null | undefined): string {
  if (dollars == null) return "–";
  if (dollars === 0) return "$0";
  return dollars < 0.1 ? `$${Number(dollars.toPrecision(2))}` : `$${dollars.toFixed(2)}`;
}

const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
export const formatFullTime = (at: string | Date): string => full.format(new Date(at));
export const formatTime = (at: string | Date): string => clock.format(new Date(at));
export const formatDay = (at: string | Date): string => day.format(new Date(at));

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "narrow" });
const STEPS: [limit: number, divisor: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [60, 1, "second"],
  [3600, 60, "minute"],
  [86_400, 3600, "hour"],
  [7 * 86_400, 86_400, "day"],
];

/** "now", "3 min. ago", "in 2 h"; the date after a week. */
export function formatRelative(at: string | Date, now = Date.now()): string {
  const seconds = (new Date(at).getTime() - now) / 1000;
  if (Math.abs(seconds) < 5) return "now";
  for (const [limit, divisor, unit] of STEPS) {
    if (Math.abs(seconds) < limit) return relative.format(Math.round(seconds / divisor), unit);
  }
  return day.format(new Date(at));
}

/** Whose tool it is: the hub's own stand under a name that no server has. */
export const formatServer = (server: string): string => (server === "native" ? "Built-in" : server);
