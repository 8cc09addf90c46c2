import { type Follow, readAnew } from "@/shared/events/follow";
import { status } from "./queries";

export const follow: Follow = (events, cache) => {
  readAnew(
    events,
    cache,
    ["mcp.status", "mcp.removed", "approval.requested", "approval.resolved", "tool.finished", "run.finished"],
    status.queryKey,
  );
  // Another daemon may have answered.
  events.onResumed(() => void cache.invalidateQueries({ queryKey: status.queryKey }));
};
