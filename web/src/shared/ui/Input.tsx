import type { ComponentProps } from "react";
import { classes } from "./classes";

export const fieldClasses =
  "w-full rounded-md border border-line-strong bg-raised px-3 text-sm text-ink shadow-sm transition-colors " +
  "duration-(--quick) hover:border-ink-faint focus:border-focus focus:outline-2 focus:outline-offset-0 focus:outline-focus/30 " +
  "aria-invalid:border-bad disabled:cursor-not-allowed disabled:opacity-60";

export function Input({ className, ...rest }: ComponentProps<"input">) {
  return <input className={classes(fieldClasses, "h-8.5 read-only:bg-sunken", className)} {...rest} />;
}
