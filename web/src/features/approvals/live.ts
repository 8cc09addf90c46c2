import { amend, type Follow, readAnew, upsert } from "@/shared/events/follow";
import { pastApprovals, pendingApprovals, ruleList } from "./queries";

export const follow: Follow = (events, cache) => {
  events.on("approval.requested", ({ data }) => {
    amend(cache, pendingApprovals.queryKey, (list) => upsert(list, data, (one) => one.id));
  });
  events.on("approval.resolved", ({ data }) => {
    amend(cache, pendingApprovals.queryKey, (list) => list.filter((one) => one.id !== data.id));
    amend(cache, pastApprovals.queryKey, (known) => {
      const [newest, ...older] = known.pages;
      if (newest === undefined) return known;
      const isKnown = known.pages.some((page) => page.items.some((one) => one.id === data.id));
      const pages = isKnown
        ? known.pages.map((page) => ({
            ...page,
            items: page.items.map((one) => (one.id === data.id ? data : one)),
          }))
        : [{ ...newest, items: upsert(newest.items, data, (one) => one.id) }, ...older];
      return { ...known, pages };
    });
  });
  readAnew(events, cache, ["rule.added", "rule.removed"], ruleList.queryKey);
};
