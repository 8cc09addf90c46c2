import { CircleAlert, CircleCheck, X } from "lucide-react";
import { useEffect, useSyncExternalStore } from "react";
import { ApiError } from "@/shared/api/client";
import { classes } from "./classes";

interface Note {
  id: number;
  text: string;
  hint?: string;
  bad: boolean;
  action?: { label: string; run: () => void };
}

const STAYS = 5000;
const BAD_STAYS = 12_000;
let notes: readonly Note[] = [];
let lastId = 0;
const watchers = new Set<() => void>();

function change(next: readonly Note[]): void {
  notes = next;
  for (const changed of watchers) changed();
}

const add = (note: Omit<Note, "id">): void => {
  lastId += 1;
  change([...notes.slice(-3), { ...note, id: lastId }]);
};
const remove = (id: number): void => change(notes.filter((note) => note.id !== id));

/** Short words at the edge of the screen: `toast("Saved")`, `toast.error(error)`. */
export const toast = Object.assign(
  (text: string, action?: Note["action"]): void => add({ text, bad: false, action }),
  {
    error: (error: unknown): void => {
      const hint = error instanceof ApiError ? (error.hint ?? undefined) : undefined;
      add({ text: error instanceof Error ? error.message : String(error), hint, bad: true });
    },
  },
);

const subscribe = (changed: () => void) => {
  watchers.add(changed);
  return () => watchers.delete(changed);
};

/** Where they are shown; once, in the shell. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => notes);
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed right-0 bottom-0 z-70 flex w-full max-w-sm flex-col gap-2 p-4"
    >
      {shown.map((note) => (
        <Item key={note.id} note={note} />
      ))}
    </div>
  );
}

function Item({ note }: { note: Note }) {
  useEffect(() => {
    const timer = setTimeout(() => remove(note.id), note.bad ? BAD_STAYS : STAYS);
    return () => clearTimeout(timer);
  }, [note]);
  const Icon = note.bad ? CircleAlert : CircleCheck;
  return (
    <div className="pointer-events-auto flex animate-rise items-start gap-2.5 rounded-lg border border-line bg-raised p-3 text-sm shadow-lg">
      <Icon aria-hidden className={classes("mt-0.5 size-4 shrink-0", note.bad ? "text-bad" : "text-good")} />
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p>{note.text}</p>
        {note.hint && <p className="mt-0.5 text-xs text-ink-soft">{note.hint}</p>}
        {note.action && (
          <button
            type="button"
            className="mt-1 text-xs font-medium text-accent-ink hover:underline"
            onClick={() => {
              note.action?.run();
              remove(note.id);
            }}
          >
            {note.action.label}
          </button>
        )}
      </div>
      <button
        type="button"
        aria-label="Dismiss"
        className="rounded-xs p-0.5 text-ink-faint hover:text-ink"
        onClick={() => remove(note.id)}
      >
        <X className="size-3.5" />
      </button>
    </div>
  );
}
