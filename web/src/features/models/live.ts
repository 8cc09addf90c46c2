import { type Follow, readAnew } from "@/shared/events/follow";
import { modelsKey } from "./queries";

export const follow: Follow = (events, cache) => {
  readAnew(events, cache, ["model.updated", "model.deleted"], modelsKey);
};
