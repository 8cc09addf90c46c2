import type { ConsoleLine } from "./queries";

/** How many errors the page ran into since it was last opened; those before may be mended. */
export function errorsSinceOpened(lines: readonly ConsoleLine[]): number {
  const opened = lines.findLastIndex((line) => line.level === "info" && line.text === "opened");
  return lines.slice(opened + 1).filter((line) => line.level === "error").length;
}
