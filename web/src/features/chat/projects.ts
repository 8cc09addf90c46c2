/** The directories that channels work in. */
import type { Channel } from "./queries";

/** One channel for each directory: the one that is no thread of another, and the first of those. */
export function projectsOf(channels: readonly Channel[]): Channel[] {
  const found = new Map<string, Channel>();
  for (const channel of channels) {
    if (!channel.dir_path) continue;
    const known = found.get(channel.dir_path);
    if (!known || (known.parent_id !== null && channel.parent_id === null))
      found.set(channel.dir_path, channel);
  }
  return [...found.values()];
}
