/** The last thing that a running run had to say about itself: that it waits, asks again, sums up. */
import { useCallback, useSyncExternalStore } from "react";

class Notices {
  readonly #texts = new Map<string, string>();
  readonly #watchers = new Set<() => void>();

  say(runId: string, text: string): void {
    this.#texts.set(runId, text);
    this.#tell();
  }

  forget(runId: string): void {
    if (this.#texts.delete(runId)) this.#tell();
  }

  get(runId: string): string | undefined {
    return this.#texts.get(runId);
  }

  readonly watch = (changed: () => void): (() => void) => {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  };

  #tell(): void {
    for (const changed of this.#watchers) changed();
  }
}

export const notices = new Notices();

export function useNotice(runId: string): string | undefined {
  const read = useCallback(() => notices.get(runId), [runId]);
  return useSyncExternalStore(notices.watch, read);
}
