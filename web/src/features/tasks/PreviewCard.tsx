import { CalendarClock, TriangleAlert } from "lucide-react";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { Skeleton } from "@/shared/ui/Skeleton";
import type { Previewed } from "./usePreview";
import { sentence } from "./words";

/** The schedule in words and its next five times, as the hub counts them. */
export function PreviewCard({ preview, errors, isPending }: Previewed) {
  return (
    <section
      aria-label="Next times"
      aria-live="polite"
      className="flex min-h-48 min-w-0 flex-col gap-2.5 rounded-md border border-line bg-sunken p-3.5"
    >
      {preview ? (
        <>
          <p className="flex items-start gap-2 text-sm font-medium">
            <CalendarClock aria-hidden className="mt-0.5 size-4 shrink-0 text-accent-ink" />
            {sentence(preview.words)}
          </p>
          <Times times={preview.next_times} />
          {preview.notes.map((note) => (
            <p key={note} className="flex items-start gap-2 text-xs text-warn-ink">
              <TriangleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" /> {note}
            </p>
          ))}
        </>
      ) : isPending ? (
        <Skeleton className="h-5 w-4/5" />
      ) : (
        <p className="m-auto text-center text-sm text-ink-faint">
          {Object.keys(errors).length > 0
            ? (errors[""] ?? "Its next times are shown here once this can be read.")
            : "Its next times are shown here."}
        </p>
      )}
    </section>
  );
}

export function Times({ times }: { times: readonly string[] }) {
  return (
    <ol className="flex flex-col gap-1 text-sm">
      {times.map((time) => (
        <li key={time} className="flex flex-wrap items-baseline justify-between gap-x-3">
          <span className="whitespace-nowrap tabular-nums">{wallClock(time)}</span>
          {saysMore(time) && <RelativeTime at={time} className="text-xs whitespace-nowrap text-ink-faint" />}
        </li>
      ))}
    </ol>
  );
}

const WEEK_MS = 7 * 86_400_000;
const FORM = {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "numeric",
  minute: "2-digit",
} as const;
const here = new Intl.DateTimeFormat(undefined, FORM);
const written = new Intl.DateTimeFormat(undefined, { ...FORM, timeZone: "UTC" });

/** How soon it is, or the person's own time; a date far away in the person's own zone has said it all. */
const saysMore = (time: string): boolean =>
  Date.parse(time) - Date.now() < WEEK_MS || here.format(new Date(time)) !== wallClock(time);

/** The time as the task's own zone shows it, which its text has in front of the offset. */
export const wallClock = (time: string): string => written.format(new Date(`${time.slice(0, 19)}Z`));
