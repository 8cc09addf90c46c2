import { amend, type Follow, readAgain, readAnew } from "@/shared/events/follow";
import { foundKey, type Status, statusKey, statusOf } from "./queries";

export const follow: Follow = (events, cache) => {
  events.on("memory.progress", ({ data }) => {
    const advance = (status: Status): Status => ({
      ...status,
      collections: status.collections.map((one) =>
        one.scope === data.scope && one.directory === data.directory
          ? { ...one, state: data.phase, done: data.done, total: data.total }
          : one,
      ),
    });
    for (const { queryKey } of cache.getQueryCache().findAll({ queryKey: statusKey }))
      amend(cache, statusOf(queryKey[1] as string | null).queryKey, advance);
  });
  readAnew(events, cache, ["memory.indexed", "settings.changed"], statusKey);
  // A search may bring its memory up to date first, and tells that: only what changed something is a reason to
  // search again.
  events.on("memory.indexed", ({ data: { files, embedded } }) => {
    if (files.added + files.changed + files.removed + embedded > 0) readAgain(cache, foundKey);
  });
};
