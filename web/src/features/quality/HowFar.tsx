import { phaseOf } from "./words";

export interface HowFarProps {
  label: string;
  phase?: string | null;
  done?: number;
  total?: number;
  share?: number;
}

/** What something long is at, and a bar that fills. */
export function HowFar({ label, phase, done = 0, total = 0, share = 0 }: HowFarProps) {
  const percent = Math.round(share * 100);
  return (
    <div className="min-w-0 flex-1">
      <p className="flex justify-between gap-3 text-sm">
        <span className="font-medium">{phaseOf(phase)} …</span>
        <span className="text-ink-soft tabular-nums">
          {total > 0 && `${done.toLocaleString()} of ${total.toLocaleString()} files`}
        </span>
      </p>
      <div
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={total > 0 ? percent : undefined}
        className="mt-2 h-1.5 overflow-hidden rounded-full bg-pressed"
      >
        <div
          className="h-full rounded-full bg-accent transition-[width] duration-(--calm)"
          style={{ width: `${Math.max(2, percent)}%` }}
        />
      </div>
    </div>
  );
}
