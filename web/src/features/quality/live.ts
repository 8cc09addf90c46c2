import { amend, type Follow, readAgain } from "@/shared/events/follow";
import { comparisonState, qualityKey, scanState } from "./queries";

const OVER = { running: false, phase: null, done: 0, total: 0, share: 0 };

export const follow: Follow = (events, cache) => {
  events.on("quality.progress", ({ channel_id, data }) => {
    if (channel_id) amend(cache, scanState(channel_id).queryKey, () => ({ running: true, ...data }));
  });
  events.on("quality.comparing", ({ channel_id, data }) => {
    if (channel_id) cache.setQueryData(comparisonState(channel_id).queryKey, data);
  });
  events.on("quality.failed", ({ channel_id, data }) => {
    if (channel_id) amend(cache, scanState(channel_id).queryKey, () => ({ ...OVER, failure: data }));
  });
  events.on("quality.scanned", ({ channel_id }) => {
    if (!channel_id) return;
    amend(cache, scanState(channel_id).queryKey, () => OVER);
    readAgain(cache, qualityKey(channel_id));
  });
};
