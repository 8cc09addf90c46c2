import type { ComponentProps, ReactNode } from "react";
import { classes } from "./classes";
import { Spinner } from "./Spinner";

export type Tone = "primary" | "plain" | "quiet" | "danger";
export type Size = "sm" | "md" | "lg";

export interface ButtonProps extends ComponentProps<"button"> {
  tone?: Tone;
  size?: Size;
  icon?: ReactNode;
  /** Under way: it cannot be pressed again, and keeps its width. */
  busy?: boolean;
}

const TONES: Record<Tone, string> = {
  primary: "bg-accent text-on-accent shadow-sm hover:bg-accent-hover",
  plain: "bg-raised text-ink border border-line-strong shadow-sm hover:bg-sunken",
  quiet: "text-ink-soft hover:bg-hover hover:text-ink",
  danger: "bg-bad-fill text-white shadow-sm hover:bg-bad-hover",
};
const SIZES: Record<Size, string> = {
  sm: "h-7 px-2.5 text-xs gap-1.5 rounded-sm",
  md: "h-8.5 px-3.5 text-sm gap-2 rounded-md",
  lg: "h-10 px-5 text-md gap-2 rounded-md",
};

/** The classes of a button, for links that look like one. */
export const buttonClasses = (tone: Tone = "plain", size: Size = "md"): string =>
  classes(
    "inline-flex shrink-0 select-none items-center justify-center whitespace-nowrap font-medium",
    "transition-colors duration-(--quick) disabled:cursor-not-allowed disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0",
    TONES[tone],
    SIZES[size],
  );

export function Button({
  tone,
  size,
  icon,
  busy = false,
  className,
  children,
  disabled,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      aria-busy={busy || undefined}
      disabled={disabled || busy}
      className={classes(buttonClasses(tone, size), className)}
      {...rest}
    >
      {busy ? <Spinner /> : icon}
      {children}
    </button>
  );
}
