/** Channels with their threads, as the sidebar shows them. Pure. */
import type { Activity, Channel } from "./queries";

export interface Branch {
  channel: Channel;
  threads: Channel[];
}

type ActivityOf = Readonly<Record<string, Activity>>;

/** When something was said last; a channel that is new counts from its making (ids sort by time). */
const lastOf = (channel: Channel, activity: ActivityOf): string => {
  const last = activity[channel.id]?.last_message_id;
  // msg_01…, ch_01…: what follows the kind sorts by time.
  const at = (id: string) => id.slice(id.indexOf("_") + 1);
  return last ? at(last) : at(channel.id);
};

export function branchesOf(channels: readonly Channel[], activity: ActivityOf, query: string): Branch[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (one: Channel) =>
    words.every((word) => `${one.name} ${one.dir_path ?? ""}`.toLowerCase().includes(word));
  const newest = (a: Channel, b: Channel) => (lastOf(a, activity) < lastOf(b, activity) ? 1 : -1);
  const known = new Set(channels.map((one) => one.id));
  const roots = channels.filter((one) => one.parent_id === null || !known.has(one.parent_id));
  const branches = roots.map((channel) => {
    const threads = channels.filter((one) => one.parent_id === channel.id).sort(newest);
    return { channel, threads: fits(channel) ? threads : threads.filter(fits) };
  });
  const lastOfBranch = ({ channel, threads }: Branch) =>
    [channel, ...threads].map((one) => lastOf(one, activity)).reduce((a, b) => (a > b ? a : b));
  return branches
    .filter(({ channel, threads }) => fits(channel) || threads.length > 0)
    .sort((a, b) => (lastOfBranch(a) < lastOfBranch(b) ? 1 : -1));
}
