import { Check } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import type { ReactElement, ReactNode } from "react";
import { classes } from "./classes";
import { inertOthers } from "./inertOthers";

export type MenuEntry =
  | {
      label: ReactNode;
      icon?: ReactNode;
      hint?: ReactNode;
      onSelect: () => void;
      danger?: boolean;
      disabled?: boolean;
      /** Marks the choice that holds. */
      checked?: boolean;
    }
  | { heading: ReactNode }
  | "line";

interface MenuProps {
  trigger: ReactElement;
  entries: readonly MenuEntry[];
  align?: "start" | "center" | "end";
  side?: "top" | "bottom" | "left" | "right";
}

/** Actions behind a button; arrows, letters and Escape work. */
export function Menu({ trigger, entries, align = "end", side }: MenuProps) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          ref={inertOthers}
          align={align}
          side={side}
          sideOffset={5}
          collisionPadding={8}
          className="z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-44 max-w-80 animate-rise overflow-y-auto rounded-md border border-line-strong bg-raised p-1 shadow-lg"
        >
          {entries.map((entry, place) => (
            <Entry key={place} entry={entry} />
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function Entry({ entry }: { entry: MenuEntry }) {
  if (entry === "line") return <Radix.Separator className="-mx-1 my-1 h-px bg-line" />;
  if ("heading" in entry)
    return <Radix.Label className="px-2.5 py-1 text-xs text-ink-faint">{entry.heading}</Radix.Label>;
  return (
    <Radix.Item
      disabled={entry.disabled}
      onSelect={entry.onSelect}
      className={classes(
        "flex cursor-default select-none items-center gap-2.5 rounded-sm px-2.5 py-1.5 text-sm outline-none",
        "data-disabled:opacity-50 data-highlighted:bg-hover [&_svg]:size-4 [&_svg]:shrink-0",
        entry.danger ? "text-bad-ink" : "text-ink [&>svg]:text-ink-faint",
      )}
    >
      {entry.icon}
      <span className="min-w-0 flex-1">
        <span className="block truncate">{entry.label}</span>
        {entry.hint && <span className="block text-xs text-ink-faint">{entry.hint}</span>}
      </span>
      {entry.checked && <Check aria-label="chosen" />}
    </Radix.Item>
  );
}
