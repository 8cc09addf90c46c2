import type { NodeStatus } from "./queries";
import { NODE_LOOKS } from "./states";

const ORDER: readonly NodeStatus[] = [
  "success",
  "failed",
  "cancelled",
  "skipped",
  "running",
  "waiting",
  "pending",
];
const FILL: Record<NodeStatus, string> = {
  success: "bg-good",
  failed: "bg-bad",
  cancelled: "bg-idle",
  skipped: "bg-line-strong",
  running: "bg-busy animate-breathe",
  waiting: "bg-warn",
  pending: "bg-hover",
};

/** How many nodes stand how, as a bar; the words are its title and read out. */
export function Progress({ counts }: { counts: Record<string, number> }) {
  const parts = ORDER.filter((status) => counts[status]).map((status) => ({
    status,
    count: counts[status] as number,
  }));
  const words = parts
    .map(({ status, count }) => `${count} ${NODE_LOOKS[status].word.toLowerCase()}`)
    .join(", ");
  return (
    <span
      role="img"
      aria-label={words || "no nodes yet"}
      title={words}
      className="flex h-5 w-28 items-center"
    >
      <span className="flex h-1.5 w-full gap-px overflow-hidden rounded-full bg-hover">
        {parts.map(({ status, count }) => (
          <span key={status} className={FILL[status]} style={{ flexGrow: count }} />
        ))}
      </span>
    </span>
  );
}
