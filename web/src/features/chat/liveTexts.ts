/**
 * What running models say, put together from pieces that know their place.
 *
 * A window that was opened late gets the words so far with the run (`seed`); pieces that came before that wait. Places
 * count characters as Python does (code points).
 */
import { useCallback, useSyncExternalStore } from "react";
import { batchPerFrame } from "@/shared/events/frame";

export type Channel = "text" | "thinking";

export interface Spoken {
  iteration: number;
  text: string;
  thinking: string;
}

interface Part {
  text: string;
  points: number;
  early: { offset: number; text: string }[];
}

interface Entry {
  iteration: number;
  text: Part;
  thinking: Part;
  shown: Spoken;
}

interface Piece {
  runId: string;
  channel: Channel;
  iteration: number;
  offset: number;
  text: string;
}

const emptyPart = (): Part => ({ text: "", points: 0, early: [] });
const NOTHING: Spoken = { iteration: 0, text: "", thinking: "" };

/** Code points of a text; most texts have as many as units. */
export function countPoints(text: string): number {
  let pairs = 0;
  for (let place = 0; place < text.length; place += 1) {
    const unit = text.charCodeAt(place);
    if (unit >= 0xd800 && unit <= 0xdbff) pairs += 1;
  }
  return text.length - pairs;
}

function put(part: Part, offset: number, text: string): void {
  if (offset > part.points) {
    part.early.push({ offset, text });
    return;
  }
  const points = countPoints(text);
  if (offset + points <= part.points) return;
  const rest = offset === part.points ? text : [...text].slice(part.points - offset).join("");
  part.text += rest;
  part.points = offset + points;
}

function catchUp(part: Part): void {
  const early = part.early;
  part.early = [];
  for (const piece of early) put(part, piece.offset, piece.text);
}

export class LiveTexts {
  readonly #entries = new Map<string, Entry>();
  readonly #watchers = new Map<string, Set<() => void>>();
  /** Runs whose words have changed; whoever shows them is told once a frame. */
  readonly #changed = batchPerFrame<string>((runIds) => this.#tell(new Set(runIds)));

  append(piece: Piece): void {
    const entry = this.#entry(piece.runId, piece.iteration);
    if (entry.iteration !== piece.iteration) return;
    put(entry[piece.channel], piece.offset, piece.text);
    this.#changed.add(piece.runId);
  }

  /** The words so far, as the hub has them. */
  seed(runId: string, spoken: Spoken): void {
    const entry = this.#entry(runId, spoken.iteration);
    if (entry.iteration > spoken.iteration) return;
    for (const channel of ["text", "thinking"] as const) {
      put(entry[channel], 0, spoken[channel]);
      catchUp(entry[channel]);
    }
    this.#tell([runId]);
  }

  /** The model is asked again, or the run is over. */
  forget(runId: string): void {
    if (this.#entries.delete(runId)) this.#changed.add(runId);
  }

  get(runId: string): Spoken {
    return this.#entries.get(runId)?.shown ?? NOTHING;
  }

  watch(runId: string, changed: () => void): () => void {
    const watchers = this.#watchers.get(runId) ?? new Set();
    this.#watchers.set(runId, watchers.add(changed));
    return () => {
      watchers.delete(changed);
      if (watchers.size === 0) this.#watchers.delete(runId);
    };
  }

  #entry(runId: string, iteration: number): Entry {
    let entry = this.#entries.get(runId);
    if (entry === undefined || entry.iteration < iteration) {
      entry = { iteration, text: emptyPart(), thinking: emptyPart(), shown: { ...NOTHING, iteration } };
      this.#entries.set(runId, entry);
    }
    return entry;
  }

  #tell(runIds: Iterable<string>): void {
    for (const runId of runIds) {
      const entry = this.#entries.get(runId);
      if (entry)
        entry.shown = { iteration: entry.iteration, text: entry.text.text, thinking: entry.thinking.text };
      for (const changed of this.#watchers.get(runId) ?? []) changed();
    }
  }
}

export const liveTexts = new LiveTexts();

/** What a run says now; re-renders once a frame. */
export function useSpoken(runId: string): Spoken {
  const watch = useCallback((changed: () => void) => liveTexts.watch(runId, changed), [runId]);
  return useSyncExternalStore(watch, () => liveTexts.get(runId));
}

/** Whether a run says anything in an iteration that is not stored yet; changes once, not with every word. */
export function useSpeaks(runId: string | undefined, after: number): boolean {
  const watch = useCallback(
    (changed: () => void) => (runId === undefined ? () => {} : liveTexts.watch(runId, changed)),
    [runId],
  );
  return useSyncExternalStore(watch, () => {
    if (runId === undefined) return false;
    const spoken = liveTexts.get(runId);
    return spoken.iteration > after && (spoken.text !== "" || spoken.thinking !== "");
  });
}
