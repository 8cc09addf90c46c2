import type { ReactNode } from "react";

interface SegmentedProps<T extends string> {
  /** What is chosen here; read out. */
  label: string;
  value: T;
  options: readonly { value: T; label: ReactNode; icon?: ReactNode }[];
  onChange: (value: T) => void;
}

/** One of two to four that all stand there. */
export function Segmented<T extends string>({ label, value, options, onChange }: SegmentedProps<T>) {
  return (
    <fieldset
      aria-label={label}
      className="inline-flex h-8.5 w-fit shrink-0 self-start rounded-md border border-line bg-sunken p-0.5"
    >
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className="inline-flex items-center gap-1.5 rounded-sm px-2.5 text-xs font-medium text-ink-soft transition-colors duration-(--quick) hover:text-ink aria-pressed:bg-raised aria-pressed:text-ink aria-pressed:shadow-sm [&_svg]:size-3.5"
        >
          {option.icon}
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
