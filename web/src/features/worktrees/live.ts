import { type Follow, readAnew } from "@/shared/events/follow";
import { worktreesKey } from "./queries";

/** Whatever was done may have changed files; only what is looked at is asked for. */
export const follow: Follow = (events, cache) => {
  readAnew(
    events,
    cache,
    ["tool.finished", "run.finished", "channel.created", "channel.deleted"],
    worktreesKey,
  );
};
