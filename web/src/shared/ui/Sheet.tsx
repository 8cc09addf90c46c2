import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { classes } from "./classes";
import { returnFocus } from "./focusHistory";

interface SheetProps {
  open: boolean;
  onClose: () => void;
  /** Read out; not shown. */
  title: string;
  side?: "left" | "right";
  /** For things to read, such as a file. */
  wide?: boolean;
  children: ReactNode;
}

/** A panel that comes in from a side: navigation on a phone, details on a wide screen. */
export function Sheet({ open, onClose, title, side = "left", wide = false, children }: SheetProps) {
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-appear bg-overlay" />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={returnFocus}
          onOpenAutoFocus={(event) => {
            // Not into a text field: that would bring up a phone's keyboard.
            event.preventDefault();
            (event.currentTarget as HTMLElement | null)?.focus();
          }}
          className={classes(
            "fixed inset-y-0 z-40 flex flex-col bg-back shadow-lg outline-none",
            wide ? "w-[min(52rem,100vw)]" : "w-[min(21rem,88vw)]",
            side === "left" ? "left-0 animate-slide" : "right-0 animate-appear",
          )}
        >
          <Radix.Title className="sr-only">{title}</Radix.Title>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
