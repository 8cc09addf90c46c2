import type { ReactNode, Ref } from "react";
import { classes } from "./classes";

interface PageProps {
  title: ReactNode;
  /** Over the title: the way back to where this page belongs. */
  above?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
  /** For canvases and long tables. */
  full?: boolean;
  /** What scrolls. */
  scrollRef?: Ref<HTMLDivElement>;
  children: ReactNode;
}

/** The frame of a page: its title, what it is for, its actions, its content. */
export function Page({ title, above, description, actions, full = false, scrollRef, children }: PageProps) {
  return (
    <div ref={scrollRef} className="h-full overflow-y-auto">
      <div
        className={classes(
          "mx-auto flex flex-col gap-5 px-4 py-5 sm:px-8 sm:py-7",
          !full && "max-w-(--page-width)",
        )}
      >
        <header className="flex flex-wrap items-end gap-x-6 gap-y-3">
          <div className="min-w-0 flex-1 basis-64">
            {above}
            <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
            {description && <p className="mt-0.5 text-md text-ink-soft">{description}</p>}
          </div>
          {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
        </header>
        {children}
      </div>
    </div>
  );
}
