import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { classes } from "./classes";
import { returnFocus } from "./focusHistory";
import { IconButton } from "./IconButton";

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  description?: ReactNode;
  /** Buttons at its end. */
  footer?: ReactNode;
  width?: "sm" | "md" | "lg" | "xl";
  children?: ReactNode;
}

const WIDTHS = { sm: "max-w-md", md: "max-w-xl", lg: "max-w-3xl", xl: "max-w-5xl" };

/** A window over the page; focus stays in it, Escape closes it. */
export function Dialog({ open, onClose, title, description, footer, width = "md", children }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 grid animate-appear grid-cols-[minmax(0,1fr)] place-items-end overflow-y-auto bg-overlay sm:place-items-center sm:p-6">
          <Radix.Content
            {...(description ? {} : { "aria-describedby": undefined })}
            onCloseAutoFocus={returnFocus}
            // The window itself, and not its cross, whose words would open at once.
            onOpenAutoFocus={(event) => {
              event.preventDefault();
              (event.currentTarget as HTMLElement | null)?.focus();
            }}
            className={classes(
              "relative flex max-h-[92dvh] w-full animate-rise flex-col rounded-t-xl border border-line bg-raised shadow-lg outline-none sm:max-h-[calc(100dvh-3rem)] sm:rounded-xl",
              WIDTHS[width],
            )}
          >
            <header className="flex items-start gap-4 px-5 pt-4 pb-3">
              <div className="min-w-0 flex-1">
                <Radix.Title className="text-lg font-semibold [overflow-wrap:anywhere]">{title}</Radix.Title>
                {description && (
                  <Radix.Description className="mt-0.5 text-sm text-ink-soft [overflow-wrap:anywhere]">
                    {description}
                  </Radix.Description>
                )}
              </div>
              <Radix.Close asChild>
                <IconButton label="Close" icon={<X />} size="sm" className="-mr-1.5" />
              </Radix.Close>
            </header>
            <div className="min-h-0 flex-1 overflow-y-auto px-5 pb-5">{children}</div>
            {footer && (
              <footer className="flex flex-wrap justify-end gap-2 border-t border-line bg-sunken/60 px-5 py-3 sm:rounded-b-xl">
                {footer}
              </footer>
            )}
          </Radix.Content>
        </Radix.Overlay>
      </Radix.Portal>
    </Radix.Root>
  );
}
