import { Switch as Radix } from "radix-ui";

interface SwitchProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  label?: string;
  disabled?: boolean;
  id?: string;
  "aria-describedby"?: string;
}

/** On or off, at once. */
export function Switch({ checked, onChange, label, disabled, ...wiring }: SwitchProps) {
  return (
    <Radix.Root
      checked={checked}
      onCheckedChange={onChange}
      disabled={disabled}
      aria-label={label}
      className="relative h-5 w-9 shrink-0 rounded-full bg-idle transition-colors duration-(--calm) disabled:opacity-50 data-[state=checked]:bg-accent"
      {...wiring}
    >
      <Radix.Thumb className="block size-4 translate-x-0.5 rounded-full bg-white shadow-sm transition-transform duration-(--calm) ease-calm data-[state=checked]:translate-x-4.5" />
    </Radix.Root>
  );
}
