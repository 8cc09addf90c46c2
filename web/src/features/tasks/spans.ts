/** Lengths of time as a person writes them: `90s`, `15m`, `2h30m`, `1d`. */
const UNITS: Record<string, number> = { d: 86_400, h: 3600, m: 60, s: 1 };

/** Seconds, or `null` when it is no length of time. A bare number is seconds. */
export function readSpan(text: string): number | null {
  const words = text.trim().toLowerCase().replaceAll(" ", "");
  if (/^\d+$/.test(words)) return Number(words);
  if (!/^(\d+[dhms])+$/.test(words)) return null;
  let seconds = 0;
  for (const [, count, unit] of words.matchAll(/(\d+)([dhms])/g))
    seconds += Number(count) * (UNITS[unit as string] as number);
  return seconds;
}

/** The shortest way to write it. */
export function writeSpan(seconds: number): string {
  let rest = Math.max(0, Math.round(seconds));
  let text = "";
  for (const [unit, size] of Object.entries(UNITS)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text || "0s";
}
