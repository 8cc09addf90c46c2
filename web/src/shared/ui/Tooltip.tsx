import { Tooltip as Radix } from "radix-ui";
import type { FocusEvent, ReactElement, ReactNode } from "react";

interface TooltipProps {
  text: ReactNode;
  children: ReactElement;
  side?: "top" | "right" | "bottom" | "left";
}

/** A window that closes gives the focus back to what was clicked: no reason for words. */
const onlyForKeyboards = (event: FocusEvent<HTMLElement>): void => {
  if (!event.currentTarget.matches(":focus-visible")) event.preventDefault();
};

/** A word more about something that can be focused. Nothing that a person needs may be only here. */
export function Tooltip({ text, children, side = "top" }: TooltipProps) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild onFocus={onlyForKeyboards}>
        {children}
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-60 max-w-72 animate-appear rounded-sm bg-ink px-2 py-1 text-xs text-page shadow-md"
        >
          {text}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export const TooltipProvider = ({ children }: { children: ReactNode }) => (
  <Radix.Provider delayDuration={350}>{children}</Radix.Provider>
);
