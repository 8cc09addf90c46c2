import { type Follow, readAnew } from "@/shared/events/follow";
import { settingsKey } from "./queries";

export const follow: Follow = (events, cache) => {
  readAnew(events, cache, ["settings.changed"], settingsKey);
};
