/** In which of five steps a harm is shown. */

/** Harm up to each of these is one step; more is the last one. */
const STEPS = [0, 0.05, 0.15, 0.35] as const;

export const SHADES = [
  { token: "harm-0", words: "none" },
  { token: "harm-1", words: "up to 5 %" },
  { token: "harm-2", words: "15 %" },
  { token: "harm-3", words: "35 %" },
  { token: "harm-4", words: "more" },
] as const;

export function stepOf(harm: number): number {
  const step = STEPS.findIndex((most) => harm <= most + 1e-9);
  return step < 0 ? STEPS.length : step;
}
