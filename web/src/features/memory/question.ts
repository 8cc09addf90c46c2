/** From what stands in the address to a question. */
import type { Question, Whose } from "./queries";

export interface Asked {
  q?: string;
  path?: string;
  when?: string;
  from?: string;
  to?: string;
  most?: string;
  newer?: string;
  words?: string;
}

export const TIMES = [
  { value: "any", label: "Any time" },
  { value: "7", label: "Last 7 days" },
  { value: "30", label: "Last 30 days" },
  { value: "365", label: "Last year" },
  { value: "dates", label: "Between dates" },
] as const;
export type When = (typeof TIMES)[number]["value"];

export const AMOUNTS = ["5", "10", "20", "50"] as const;
export type Amount = (typeof AMOUNTS)[number];

const DAY = 86_400_000;

export const whenOf = (asked: Asked): When => TIMES.find(({ value }) => value === asked.when)?.value ?? "any";
export const amountOf = (asked: Asked): Amount => AMOUNTS.find((one) => one === asked.most) ?? "10";

/** `now` may be rounded, so that the same question is the same for a while. */
export function questionOf(asked: Asked, whose: Whose, now: number): Question {
  const when = whenOf(asked);
  const days = Number(when);
  return {
    whose,
    query: (asked.q ?? "").trim(),
    paths: pathsOf(asked.path ?? ""),
    since:
      when === "dates" ? midnight(asked.from, 0) : days > 0 ? new Date(now - days * DAY).toISOString() : null,
    until: when === "dates" ? midnight(asked.to, 1) : null,
    most: Number(amountOf(asked)),
    newer: asked.newer === "yes",
    wordsOnly: asked.words === "yes",
  };
}

/** Patterns are parted by commas or spaces; a bare word is a part of the path. */
export function pathsOf(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((one) => (/[*?[\]/.]/.test(one) ? one : `*${one}*`));
}

/** The beginning of a day where the person is; `later` days after it. */
function midnight(day: string | undefined, later: number): string | null {
  const at = new Date(`${day}T00:00`);
  if (!day || Number.isNaN(at.getTime())) return null;
  at.setDate(at.getDate() + later);
  return at.toISOString();
}

export const hasFilters = (asked: Asked): boolean =>
  Boolean(asked.path || asked.newer || asked.words) || whenOf(asked) !== "any";
