/** Which tiles a channel has: the agents that are registered in it, and the threads that runs work in. Pure. */
import type { Channel } from "@/features/chat/queries";
import type { Agent } from "./queries";

export type Tile =
  | { kind: "agent"; key: string; agent: Agent }
  | { kind: "thread"; key: string; thread: Channel };

/** A channel and everything below it. */
export function familyOf(rootId: string, channels: readonly Channel[]): Set<string> {
  const family = new Set([rootId]);
  for (let grown = true; grown; ) {
    const before = family.size;
    for (const one of channels) if (one.parent_id !== null && family.has(one.parent_id)) family.add(one.id);
    grown = family.size > before;
  }
  return family;
}

export function tilesOf(rootId: string, channels: readonly Channel[], agents: readonly Agent[]): Tile[] {
  const family = familyOf(rootId, channels);
  const registered = agents
    .filter((one) => family.has(one.channel_id))
    .sort((a, b) => a.name.localeCompare(b.name) || a.id.localeCompare(b.id))
    .map((agent): Tile => ({ kind: "agent", key: `agent ${agent.channel_id} ${agent.id}`, agent }));
  const threads = channels
    .filter((one) => one.id !== rootId && family.has(one.id))
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .map((thread): Tile => ({ kind: "thread", key: `thread ${thread.id}`, thread }));
  return [...registered, ...threads];
}

/** The channel to begin with: one where agents are, else one with threads, else the first. */
export function firstChannel(channels: readonly Channel[], agents: readonly Agent[]): Channel | undefined {
  const roots = channels.filter((one) => one.parent_id === null);
  const has = (root: Channel, ids: Iterable<string | null>): boolean => {
    const family = familyOf(root.id, channels);
    return [...ids].some((id) => id !== null && family.has(id));
  };
  return (
    roots.find((root) =>
      has(
        root,
        agents.map((one) => one.channel_id),
      ),
    ) ??
    roots.find((root) => channels.some((one) => one.parent_id === root.id)) ??
    roots[0]
  );
}
