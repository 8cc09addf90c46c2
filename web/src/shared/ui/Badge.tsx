import type { ReactNode } from "react";
import { classes } from "./classes";

export type Mood = "neutral" | "accent" | "good" | "warn" | "bad" | "busy";

export const MOODS: Record<Mood, string> = {
  neutral: "bg-hover text-ink-soft",
  accent: "bg-accent-soft text-accent-ink",
  good: "bg-good-soft text-good-ink",
  warn: "bg-warn-soft text-warn-ink",
  bad: "bg-bad-soft text-bad-ink",
  busy: "bg-busy-soft text-busy-ink",
};

interface BadgeProps {
  mood?: Mood;
  icon?: ReactNode;
  title?: string;
  className?: string;
  children: ReactNode;
}

export function Badge({ mood = "neutral", icon, title, className, children }: BadgeProps) {
  return (
    <span
      title={title}
      className={classes(
        "inline-flex items-center gap-1 whitespace-nowrap rounded-full px-2 py-0.5 text-xs font-medium [&_svg]:size-3",
        MOODS[mood],
        className,
      )}
    >
      {icon}
      {children}
    </span>
  );
}
