import { useSyncExternalStore } from "react";
import { formatFullTime, formatRelative } from "@/shared/format/format";

const PACE = 10_000;
const watchers = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(changed: () => void): () => void {
  watchers.add(changed);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const tell of watchers) tell();
  }, PACE);
  return () => {
    watchers.delete(changed);
    if (watchers.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** How long ago, kept up to date; the full time in the person's zone is its title. */
export function RelativeTime({ at, className }: { at: string | null | undefined; className?: string }) {
  useSyncExternalStore(subscribe, () => now);
  if (!at) return <span className={className}>–</span>;
  return (
    <time dateTime={at} title={formatFullTime(at)} className={className}>
      {formatRelative(at)}
    </time>
  );
}
