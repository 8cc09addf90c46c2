import type { ReactNode } from "react";

interface EmptyStateProps {
  icon?: ReactNode;
  title: string;
  /** What to do about it. */
  children?: ReactNode;
  action?: ReactNode;
}

export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-14 text-center">
      {icon && (
        <span
          aria-hidden
          className="mb-1 grid size-11 place-items-center rounded-lg bg-accent-soft text-accent-ink [&_svg]:size-5"
        >
          {icon}
        </span>
      )}
      <h2 className="text-md font-semibold">{title}</h2>
      {children && <div className="max-w-md text-sm text-ink-soft">{children}</div>}
      {action && <div className="mt-2">{action}</div>}
    </div>
  );
}
