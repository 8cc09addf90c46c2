import { type Follow, readAnew } from "@/shared/events/follow";
import { consolesKey, playgroundsKey } from "./queries";

export const follow: Follow = (events, cache) => {
  readAnew(events, cache, ["playground.updated"], playgroundsKey);
  readAnew(events, cache, ["playground.console"], consolesKey);
};
