/** New calls that come into a list that somebody reads. Pure. */
import type { InfiniteData } from "@tanstack/react-query";
import type { Schemas } from "@/shared/api/client";
import type { Call, CallFilter } from "./queries";

export type Pages = InfiniteData<Schemas["Items_Call_"], unknown>;

/** Whether a call belongs into a filtered list; a text is looked for where the hub looks for it. */
export function matchesFilter(call: Call, filter: CallFilter): boolean {
  if (filter.server && call.server !== filter.server) return false;
  if (filter.tool && call.tool !== filter.tool) return false;
  if (filter.status && call.status !== filter.status) return false;
  if (filter.run && call.run_id !== filter.run) return false;
  if (filter.channel_id && call.channel_id !== filter.channel_id) return false;
  if (!filter.q) return true;
  const sought = filter.q.toLowerCase();
  return [call.tool, call.server, call.result ?? "", JSON.stringify(call.arguments)].some((text) =>
    text.toLowerCase().includes(sought),
  );
}

/** The list with a call that is already in it brought up to date; nothing when it is not in it. */
export function withChanged(pages: Pages, call: Call, filter: CallFilter): Pages | null {
  if (!pages.pages.some((page) => page.items.some((one) => one.id === call.id))) return null;
  const stays = matchesFilter(call, { ...filter, q: undefined });
  return {
    ...pages,
    pages: pages.pages.map((page) => ({
      ...page,
      items: page.items.flatMap((one) => (one.id !== call.id ? [one] : stays ? [call] : [])),
    })),
  };
}

/** The list with new calls at its head, newest first. */
export function withNew(pages: Pages, calls: readonly Call[]): Pages {
  const [first, ...rest] = pages.pages;
  if (first === undefined || calls.length === 0) return pages;
  const known = new Set(pages.pages.flatMap((page) => page.items.map((one) => one.id)));
  const added = calls.filter((call) => !known.has(call.id));
  const items = [...added, ...first.items].sort((one, other) => (one.id < other.id ? 1 : -1));
  return { ...pages, pages: [{ ...first, items }, ...rest] };
}
