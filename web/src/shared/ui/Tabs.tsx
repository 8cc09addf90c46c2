import { Tabs as Radix } from "radix-ui";
import type { ReactNode } from "react";

export interface Tab<T extends string> {
  value: T;
  label: ReactNode;
  /** A number beside it. */
  count?: number;
  content: ReactNode;
  /** It goes on while another tab is shown. */
  keep?: boolean;
}

interface TabsProps<T extends string> {
  label: string;
  tabs: readonly Tab<T>[];
  value: T;
  onChange: (value: T) => void;
}

/** The chosen one may be beyond the edge of a narrow screen; only the row of tabs scrolls to it. */
function reveal(tab: HTMLElement | null): void {
  const row = tab?.parentElement;
  if (!tab || !row) return;
  const [place, all] = [tab.getBoundingClientRect(), row.getBoundingClientRect()];
  if (place.left < all.left || place.right > all.right)
    row.scrollLeft += place.left - all.left - (all.width - place.width) / 2;
}

export function Tabs<T extends string>({ label, tabs, value, onChange }: TabsProps<T>) {
  return (
    <Radix.Root value={value} onValueChange={(next) => onChange(next as T)}>
      <Radix.List aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            ref={tab.value === value ? reveal : undefined}
            // Radix focuses it by script, which a browser takes for the keyboard: no ring after a click.
            onPointerDown={(event) => event.currentTarget.classList.add("outline-none!")}
            onBlur={(event) => event.currentTarget.classList.remove("outline-none!")}
            onKeyDown={(event) => event.currentTarget.classList.remove("outline-none!")}
            className="-mb-px flex items-center gap-1.5 whitespace-nowrap border-b-2 border-transparent px-3 py-2 text-sm text-ink-soft -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink"
          >
            {tab.label}
            {tab.count !== undefined && (
              <span className="rounded-full bg-hover px-1.5 text-2xs text-ink-soft tabular-nums">
                {tab.count.toLocaleString()}
              </span>
            )}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content
          key={tab.value}
          value={tab.value}
          forceMount={tab.keep || undefined}
          className="pt-4 outline-none data-[state=inactive]:hidden"
        >
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
