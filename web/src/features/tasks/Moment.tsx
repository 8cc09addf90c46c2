import { formatDay } from "@/shared/format/format";
import { RelativeTime } from "@/shared/ui/RelativeTime";

/** How long ago or ahead, and the exact time beside it. */
export const Moment = ({ at }: { at: string }) => (
  <span className="tabular-nums sm:whitespace-nowrap">
    <RelativeTime at={at} />
    {isNear(at) && <span className="text-ink-faint"> · {formatDay(at)}</span>}
  </span>
);

const WEEK = 7 * 86_400_000;
/** What lies further away is shown as its date already. */
const isNear = (at: string): boolean => Math.abs(new Date(at).getTime() - Date.now()) < WEEK;
