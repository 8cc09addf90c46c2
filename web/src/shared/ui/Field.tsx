import { type ReactNode, useId } from "react";
import { classes } from "./classes";

interface Wiring {
  id: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  /** Beside the label, for example a count or a link. */
  aside?: ReactNode;
  className?: string;
  /** Spread what it gets over the control: `{(wiring) => <Input {...wiring} />}` */
  children: (wiring: Wiring) => ReactNode;
}

/** A control with its label, a hint, and what is wrong with it. */
export function Field({ label, hint, error, aside, className, children }: FieldProps) {
  const id = useId();
  const described = error ? `${id}-error` : hint ? `${id}-hint` : undefined;
  return (
    <div className={classes("flex min-w-0 flex-col gap-1.5", className)}>
      <div className="flex items-baseline justify-between gap-3">
        <label htmlFor={id} className="min-w-0 text-sm font-medium [overflow-wrap:anywhere]">
          {label}
        </label>
        {aside && <span className="text-xs text-ink-faint">{aside}</span>}
      </div>
      {children({ id, "aria-describedby": described, "aria-invalid": error ? true : undefined })}
      {error ? (
        <p id={`${id}-error`} role="alert" className="text-xs text-bad-ink [overflow-wrap:anywhere]">
          {error}
        </p>
      ) : (
        hint && (
          <p id={`${id}-hint`} className="text-xs text-ink-faint [overflow-wrap:anywhere]">
            {hint}
          </p>
        )
      )}
    </div>
  );
}
