import { AlertDialog as Radix } from "radix-ui";
import { type ReactNode, useState } from "react";
import { Button } from "./Button";
import { returnFocus } from "./focusHistory";

interface AlertDialogProps {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  description: ReactNode;
  /** The word on the button that does it: a verb. */
  action: string;
  danger?: boolean;
  /** It stays open until this is over. */
  onConfirm: () => unknown;
}

/** Asks before something that cannot be undone. */
export function AlertDialog({
  open,
  onClose,
  title,
  description,
  action,
  danger,
  onConfirm,
}: AlertDialogProps) {
  const [busy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
    } finally {
      setBusy(false);
      onClose();
    }
  };
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && !busy && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 grid animate-appear grid-cols-[minmax(0,1fr)] place-items-center overflow-y-auto bg-overlay p-4">
          <Radix.Content
            onCloseAutoFocus={returnFocus}
            className="w-full max-w-md animate-rise rounded-xl border border-line bg-raised p-5 shadow-lg [overflow-wrap:anywhere]"
          >
            <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
            <Radix.Description asChild>
              <div className="mt-1.5 text-sm text-ink-soft">{description}</div>
            </Radix.Description>
            <div className="mt-5 flex justify-end gap-2">
              <Radix.Cancel asChild>
                <Button disabled={busy}>Cancel</Button>
              </Radix.Cancel>
              <Button tone={danger ? "danger" : "primary"} busy={busy} onClick={() => void confirm()}>
                {action}
              </Button>
            </div>
          </Radix.Content>
        </Radix.Overlay>
      </Radix.Portal>
    </Radix.Root>
  );
}
