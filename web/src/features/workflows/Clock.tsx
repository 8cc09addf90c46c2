import { useEffect, useState } from "react";
import { formatDuration } from "@/shared/format/format";
import { tookMs } from "./runState";

/** How long it took; while it goes on, it counts. */
export function Clock({ from, to }: { from: string | null | undefined; to: string | null | undefined }) {
  const [now, setNow] = useState(() => Date.now());
  const goes = Boolean(from) && !to;
  useEffect(() => {
    if (!goes) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [goes]);
  return (
    <span className="tabular-nums">{formatDuration(tookMs({ started_at: from, ended_at: to }, now))}</span>
  );
}
