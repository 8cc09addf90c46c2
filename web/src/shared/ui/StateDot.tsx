import type { Mood } from "./Badge";
import { classes } from "./classes";

const DOTS: Record<Mood, string> = {
  neutral: "bg-idle",
  accent: "bg-accent",
  good: "bg-good",
  warn: "bg-warn",
  bad: "bg-bad",
  busy: "bg-busy animate-breathe",
};

/** The states of servers, calls, runs and approvals, each with its mood and its word. */
export const STATES: Record<string, { mood: Mood; word: string }> = {
  // servers
  connected: { mood: "good", word: "Connected" },
  connecting: { mood: "busy", word: "Connecting" },
  disconnected: { mood: "neutral", word: "Disconnected" },
  needs_auth: { mood: "warn", word: "Needs sign-in" },
  disabled: { mood: "neutral", word: "Disabled" },
  error: { mood: "bad", word: "Error" },
  // calls
  success: { mood: "good", word: "Done" },
  timeout: { mood: "bad", word: "Timed out" },
  denied: { mood: "warn", word: "Denied" },
  pending: { mood: "busy", word: "Running" },
  // runs
  queued: { mood: "neutral", word: "Queued" },
  running: { mood: "busy", word: "Running" },
  waiting: { mood: "warn", word: "Waits for you" },
  completed: { mood: "good", word: "Completed" },
  failed: { mood: "bad", word: "Failed" },
  cancelled: { mood: "neutral", word: "Cancelled" },
  max_iterations: { mood: "warn", word: "Iteration limit" },
  // approvals
  approved: { mood: "good", word: "Approved" },
  rejected: { mood: "bad", word: "Rejected" },
  expired: { mood: "neutral", word: "Expired" },
};

interface StateDotProps {
  state: string;
  /** Another word than the usual one; `null` shows the dot alone, and the word is still read out. */
  word?: string | null;
  /** Another mood than the usual one: where the same word means something else. */
  mood?: Mood;
  className?: string;
}

/** A coloured dot with the state in words: colour alone says nothing. */
export function StateDot({ state, word, mood, className }: StateDotProps) {
  const known = STATES[state] ?? { mood: "neutral" as const, word: state };
  const shown = word ?? known.word;
  return (
    <span
      className={classes(
        "inline-flex items-center gap-1.5 whitespace-nowrap text-xs text-ink-soft",
        className,
      )}
    >
      <span aria-hidden className={classes("size-2 shrink-0 rounded-full", DOTS[mood ?? known.mood])} />
      <span className={word === null ? "sr-only" : undefined}>{shown}</span>
    </span>
  );
}
