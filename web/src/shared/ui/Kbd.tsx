import type { ReactNode } from "react";

/** A key to press. */
export const Kbd = ({ children }: { children: ReactNode }) => (
  <kbd className="rounded-xs border border-line-strong border-b-2 bg-raised px-1.5 py-px text-2xs text-ink-soft">
    {children}
  </kbd>
);
