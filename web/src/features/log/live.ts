import { amend, type Follow, readAgain, upsert } from "@/shared/events/follow";
import { callById, callsKey, callsOfRun } from "./queries";

export const follow: Follow = (events, cache) => {
  events.on(["tool.started", "tool.finished"], ({ data }) => {
    // The list that is shown takes new calls by itself; one that is not shown is read anew when it is.
    cache.removeQueries({ queryKey: [...callsKey, "log"], type: "inactive" });
    cache.removeQueries({ queryKey: [...callsKey, "stats"], type: "inactive" });
    // Arguments are cut in events: what is known in full is read again.
    readAgain(cache, callById(data.id).queryKey);
    if (data.run_id)
      amend(cache, callsOfRun(data.run_id).queryKey, (list) => {
        const isKnown = list.some((one) => one.id === data.id);
        return isKnown ? upsert(list, data, (one) => one.id) : [...list, data];
      });
  });
};
