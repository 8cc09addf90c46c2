import { Popover as Radix } from "radix-ui";
import type { ReactElement, ReactNode } from "react";
import { classes } from "./classes";

interface PopoverProps {
  trigger: ReactElement;
  children: ReactNode;
  /** Leave both out for one that keeps its own state. */
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  align?: "start" | "center" | "end";
  side?: "top" | "bottom" | "left" | "right";
  label: string;
  className?: string;
}

/** A small panel beside what opens it. */
export function Popover({
  trigger,
  children,
  open,
  onOpenChange,
  align = "start",
  side,
  label,
  className,
}: PopoverProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={label}
          align={align}
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className={classes(
            "z-50 w-72 max-w-[calc(100vw-1rem)] animate-rise rounded-lg border border-line-strong bg-raised p-3 shadow-lg outline-none",
            className,
          )}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
