import { Check, Minus } from "lucide-react";
import { Checkbox as Radix } from "radix-ui";
import { type ReactNode, useId } from "react";

interface CheckboxProps {
  checked: boolean | "indeterminate";
  onChange: (checked: boolean) => void;
  /** Shown beside it; with `hideLabel` only read out. */
  label: ReactNode;
  hideLabel?: boolean;
  disabled?: boolean;
}

export function Checkbox({ checked, onChange, label, hideLabel = false, disabled }: CheckboxProps) {
  const id = useId();
  return (
    <span className="inline-flex items-start gap-2">
      <Radix.Root
        id={id}
        checked={checked}
        disabled={disabled}
        onCheckedChange={(next) => onChange(next === true)}
        className="mt-0.5 grid size-4 shrink-0 place-items-center rounded-xs border border-ink-faint bg-raised text-on-accent shadow-sm disabled:opacity-50 data-[state=checked]:border-accent data-[state=checked]:bg-accent data-[state=indeterminate]:border-accent data-[state=indeterminate]:bg-accent"
      >
        <Radix.Indicator>
          {checked === "indeterminate" ? (
            <Minus className="size-3" strokeWidth={3} />
          ) : (
            <Check className="size-3" strokeWidth={3} />
          )}
        </Radix.Indicator>
      </Radix.Root>
      <label htmlFor={id} className={hideLabel ? "sr-only" : "text-sm"}>
        {label}
      </label>
    </span>
  );
}
