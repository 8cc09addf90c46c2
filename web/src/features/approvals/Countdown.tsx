import { Clock } from "lucide-react";
import { useEffect, useState } from "react";
import { formatDuration, formatFullTime } from "@/shared/format/format";
import { classes } from "@/shared/ui/classes";

const SOON = 60_000;
const MINUTE = 60_000;

/** What is left, in words; seconds are told only when they matter. */
export function leftInWords(ms: number): string {
  if (ms <= 0) return "Expired";
  return `Expires in ${formatDuration(ms > 5 * MINUTE ? Math.ceil(ms / MINUTE) * MINUTE : Math.ceil(ms / 1000) * 1000)}`;
}

/** How long it can still be answered. */
export function Countdown({ until }: { until: string }) {
  const end = new Date(until).getTime();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const left = end - now;
  return (
    <time
      dateTime={until}
      title={formatFullTime(until)}
      className={classes(
        "inline-flex items-center gap-1 whitespace-nowrap text-xs tabular-nums",
        left < SOON ? "font-medium text-bad-ink" : "text-ink-faint",
      )}
    >
      <Clock aria-hidden className="size-3.5" />
      {leftInWords(left)}
    </time>
  );
}
