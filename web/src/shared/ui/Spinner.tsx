import { classes } from "./classes";

/** Something is under way. Beside text that says so it needs no label. */
export function Spinner({ label, className }: { label?: string; className?: string }) {
  return (
    <span
      role={label ? "status" : undefined}
      aria-hidden={label ? undefined : true}
      className={classes(
        "inline-block size-4 shrink-0 animate-spin rounded-full border-2 border-current border-t-transparent opacity-70",
        className,
      )}
    >
      {label && <span className="sr-only">{label}</span>}
    </span>
  );
}
