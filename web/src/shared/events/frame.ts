/**
 * What comes in many small pieces is shown once a frame; in a hidden window once it is seen again.
 *
 * `batchPerFrame` collects, `TextStreams` grows texts piece by piece (`useStreamedText` shows one of them).
 */
import { useCallback, useSyncExternalStore } from "react";

export interface Batch<T> {
  add(item: T): void;
  /** Hand over now what has been collected. */
  flush(): void;
  cancel(): void;
}

/** Collect items and hand them over together, at most once a frame, and while the window is seen. */
export function batchPerFrame<T>(handle: (items: T[]) => void): Batch<T> {
  let items: T[] = [];
  let cancelPlan: (() => void) | null = null;

  function flush(): void {
    cancelPlan?.();
    cancelPlan = null;
    if (items.length === 0) return;
    const taken = items;
    items = [];
    handle(taken);
  }

  return {
    add(item) {
      items.push(item);
      cancelPlan ??= plan(flush);
    },
    flush,
    cancel() {
      cancelPlan?.();
      cancelPlan = null;
      items = [];
    },
  };
}

/** Run it with the next frame, or when the window is seen again: what nobody sees is not worth its work. */
function plan(run: () => void): () => void {
  let frame = 0;
  const begin = () => {
    cancelAnimationFrame(frame);
    // A window that is hidden now gets no frames.
    if (document.visibilityState !== "hidden") frame = requestAnimationFrame(run);
  };
  begin();
  document.addEventListener("visibilitychange", begin);
  return () => {
    cancelAnimationFrame(frame);
    document.removeEventListener("visibilitychange", begin);
  };
}

/** Texts that grow piece by piece, each under a key; whoever shows one hears of it once a frame. */
export class TextStreams {
  readonly #texts = new Map<string, string>();
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #batch = batchPerFrame<[key: string, piece: string]>((pieces) => this.#grow(pieces));

  append(key: string, piece: string): void {
    this.#batch.add([key, piece]);
  }

  /** Set a text at once, for example when a stream begins anew or its whole text is known. */
  set(key: string, text: string): void {
    this.#batch.flush();
    this.#texts.set(key, text);
    this.#tell(key);
  }

  remove(key: string): void {
    this.#batch.flush();
    if (this.#texts.delete(key)) this.#tell(key);
  }

  get(key: string): string {
    return this.#texts.get(key) ?? "";
  }

  watch(key: string, changed: () => void): () => void {
    const watchers = this.#watchers.get(key) ?? new Set();
    this.#watchers.set(key, watchers.add(changed));
    return () => {
      watchers.delete(changed);
      if (watchers.size === 0) this.#watchers.delete(key);
    };
  }

  #grow(pieces: [string, string][]): void {
    const joined = new Map<string, string[]>();
    for (const [key, piece] of pieces) {
      const list = joined.get(key);
      if (list) list.push(piece);
      else joined.set(key, [piece]);
    }
    for (const [key, list] of joined) {
      this.#texts.set(key, this.get(key) + list.join(""));
      this.#tell(key);
    }
  }

  #tell(key: string): void {
    for (const changed of this.#watchers.get(key) ?? []) changed();
  }
}

/** A text of `streams` that grows while it is shown. */
export function useStreamedText(streams: TextStreams, key: string): string {
  const watch = useCallback((changed: () => void) => streams.watch(key, changed), [streams, key]);
  return useSyncExternalStore(watch, () => streams.get(key));
}
