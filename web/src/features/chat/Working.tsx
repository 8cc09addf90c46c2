import { useEffect, useState } from "react";
import { formatDuration } from "@/shared/format/format";
import { useNotice } from "./notices";
import type { Run } from "./queries";

/** That the run goes on, for how long, and what it has to say about it. Always one line high. */
export function Working({ run, waiting }: { run: Run; waiting: boolean }) {
  const notice = useNotice(run.id);
  const word =
    notice ?? (waiting ? "Waiting for you" : run.status === "queued" ? "Waiting for its turn" : "Working");
  return (
    <div role="status" className="flex h-8 items-center gap-2.5 text-sm text-ink-faint">
      <span aria-hidden className="flex gap-1">
        {[0, 1, 2].map((dot) => (
          <span
            key={dot}
            className="size-1.5 animate-breathe rounded-full bg-accent"
            style={{ animationDelay: `${dot * 0.25}s` }}
          />
        ))}
      </span>
      <span className="min-w-0 truncate" title={word}>
        {word}
      </span>
      <Elapsed since={run.started_at ?? run.created_at} />
    </div>
  );
}

function Elapsed({ since }: { since: string }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.floor((now - Date.parse(since)) / 1000);
  return (
    <span aria-hidden className="text-xs tabular-nums">
      {seconds >= 1 && (seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1000))}
    </span>
  );
}
