import type { ReactNode } from "react";
import { classes } from "./classes";

interface CardProps {
  title?: ReactNode;
  description?: ReactNode;
  /** Buttons at the right of the title. */
  actions?: ReactNode;
  /** Its content goes to its edges: for tables and lists. */
  flush?: boolean;
  className?: string;
  children?: ReactNode;
}

export function Card({ title, description, actions, flush = false, className, children }: CardProps) {
  const headed = title !== undefined || actions !== undefined;
  const padding = flush ? "pt-1" : headed ? "px-4 pt-2 pb-4" : "p-4";
  return (
    <section className={classes("min-w-0 rounded-lg border border-line bg-raised shadow-sm", className)}>
      {headed && (
        <header className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 pt-3.5 pb-1">
          <div className="min-w-0 flex-1">
            <h2 className="text-md font-semibold">{title}</h2>
            {description && <p className="text-sm text-ink-soft">{description}</p>}
          </div>
          {actions && <div className="flex gap-2">{actions}</div>}
        </header>
      )}
      <div className={padding}>{children}</div>
    </section>
  );
}
