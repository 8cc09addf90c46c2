import { getNonce } from "get-nonce";
import { Check, ChevronDown } from "lucide-react";
import { Select as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { classes } from "./classes";
import { fieldClasses } from "./Input";
import { inertOthers } from "./inertOthers";

export interface Option<T extends string> {
  value: T;
  label: ReactNode;
  hint?: ReactNode;
  disabled?: boolean;
}

interface SelectProps<T extends string> {
  /** Needed where no `Field` names it. */
  label?: string;
  value: T;
  options: readonly Option<T>[];
  onChange: (value: T) => void;
  placeholder?: string;
  disabled?: boolean;
  id?: string;
  className?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

/** One of a few. Values must not be empty texts. */
export function Select<T extends string>({
  label,
  value,
  options,
  onChange,
  placeholder,
  disabled,
  className,
  ...wiring
}: SelectProps<T>) {
  return (
    <Radix.Root value={value} onValueChange={(next) => onChange(next as T)} disabled={disabled}>
      <Radix.Trigger
        aria-label={label}
        className={classes(
          fieldClasses,
          "flex h-8.5 items-center justify-between gap-2 text-left",
          className,
        )}
        {...wiring}
      >
        <span className="truncate">
          <Radix.Value placeholder={placeholder} />
        </span>
        <Radix.Icon>
          <ChevronDown className="size-4 text-ink-faint" />
        </Radix.Icon>
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          ref={inertOthers}
          position="popper"
          sideOffset={5}
          collisionPadding={8}
          className="z-50 max-h-(--radix-select-content-available-height) min-w-(--radix-select-trigger-width) max-w-[min(28rem,calc(100vw-1rem))] animate-rise overflow-hidden rounded-md border border-line-strong bg-raised shadow-lg"
        >
          <Radix.Viewport nonce={getNonce()} className="p-1">
            {options.map((option) => (
              <Radix.Item
                key={option.value}
                value={option.value}
                disabled={option.disabled}
                // Its name is all that it shows, the hint too.
                aria-labelledby={undefined}
                className="relative flex cursor-default select-none flex-col rounded-sm py-1.5 pr-8 pl-2.5 text-sm outline-none data-disabled:opacity-50 data-highlighted:bg-hover"
              >
                <Radix.ItemText>{option.label}</Radix.ItemText>
                {option.hint && <span className="text-xs text-ink-faint">{option.hint}</span>}
                <Radix.ItemIndicator className="absolute top-2 right-2.5">
                  <Check className="size-4 text-accent-ink" />
                </Radix.ItemIndicator>
              </Radix.Item>
            ))}
          </Radix.Viewport>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
