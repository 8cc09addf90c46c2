import { type Follow, readAnew } from "@/shared/events/follow";
import { usageKey } from "./queries";

export const follow: Follow = (events, cache) => {
  readAnew(events, cache, ["run.finished", "tool.finished"], usageKey);
};
