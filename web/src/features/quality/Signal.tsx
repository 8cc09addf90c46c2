import { ArrowDownRight, ArrowUpRight, Equal, TriangleAlert } from "lucide-react";
import { formatDuration } from "@/shared/format/format";
import { Badge } from "@/shared/ui/Badge";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import type { Snapshot } from "./queries";
import { count, languageName, signed } from "./words";

const BEST = 10_000;

/** The one number, how it has changed, and what it was made from. */
export function Signal({ snapshot }: { snapshot: Snapshot }) {
  return (
    <section
      aria-label="Quality signal"
      className="flex min-w-0 flex-col gap-4 rounded-lg border border-line bg-raised p-5 shadow-sm"
    >
      <div>
        <h2 className="text-sm font-medium text-ink-soft">Quality signal</h2>
        <p className="mt-1 flex flex-wrap items-baseline gap-x-3 gap-y-1">
          <span className="text-[3.25rem] leading-none font-semibold tracking-tight tabular-nums">
            {snapshot.quality_signal.toLocaleString()}
          </span>
          <span className="text-sm text-ink-faint">of {BEST.toLocaleString()}</span>
          <Change snapshot={snapshot} />
        </p>
        <div aria-hidden className="mt-3.5 h-2 overflow-hidden rounded-full bg-pressed">
          <div
            className="h-full rounded-full bg-accent"
            style={{ width: `${(100 * snapshot.quality_signal) / BEST}%` }}
          />
        </div>
      </div>
      <Languages snapshot={snapshot} />
      <Facts snapshot={snapshot} />
    </section>
  );
}

function Change({ snapshot }: { snapshot: Snapshot }) {
  const { change, previous } = snapshot;
  if (change == null || !previous) return <Badge>first scan of this branch</Badge>;
  const [mood, icon] =
    change > 0
      ? (["good", <ArrowUpRight key="up" aria-hidden />] as const)
      : change < 0
        ? (["bad", <ArrowDownRight key="down" aria-hidden />] as const)
        : (["neutral", <Equal key="same" aria-hidden />] as const);
  return (
    <span className="inline-flex items-center gap-2">
      <Badge mood={mood} icon={icon} className="tabular-nums">
        {signed(change)}
      </Badge>
      <span className="text-xs text-ink-faint">
        since the scan <RelativeTime at={previous.scanned_at} />
      </span>
    </span>
  );
}

function share(loc: number, all: number): string {
  const percent = Math.round((100 * loc) / all);
  return percent === 0 ? "< 1 %" : `${percent} %`;
}

const SHADES = ["bg-accent", "bg-busy", "bg-good", "bg-warn", "bg-idle"];
const MOST = 4;

/** What it is written in: a bar and its legend. */
function Languages({ snapshot }: { snapshot: Snapshot }) {
  const all = Object.entries(snapshot.languages).map(([name, { loc }]) => ({
    name: languageName(name),
    loc,
  }));
  const rest = all.slice(MOST).reduce((sum, one) => sum + one.loc, 0);
  const shown = rest > 0 ? [...all.slice(0, MOST), { name: "Others", loc: rest }] : all;
  if (snapshot.loc === 0) return null;
  return (
    <div>
      {shown.length > 1 && (
        <div aria-hidden className="flex h-1.5 gap-px overflow-hidden rounded-full">
          {shown.map(({ name, loc }, place) => (
            <div key={name} className={SHADES[place]} style={{ flexGrow: loc, minWidth: 2 }} />
          ))}
        </div>
      )}
      <ul aria-label="Languages" className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-ink-soft">
        {shown.map(({ name, loc }, place) => (
          <li key={name} className="inline-flex items-center gap-1.5">
            <span aria-hidden className={`size-2 rounded-full ${SHADES[place]}`} />
            {name}
            <span className="text-ink-faint tabular-nums">{share(loc, snapshot.loc)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Facts({ snapshot }: { snapshot: Snapshot }) {
  const left = Object.entries(snapshot.left_out);
  return (
    <div className="mt-auto flex flex-col gap-1.5 text-xs text-ink-faint">
      <p className="tabular-nums">
        {count(snapshot.files, "file")} · {count(snapshot.functions, "function")} ·{" "}
        {count(snapshot.loc, "line")} of code
      </p>
      <p>
        Scanned <RelativeTime at={snapshot.scanned_at} /> in {formatDuration(snapshot.duration_ms)}
        {snapshot.branch && (
          <>
            {" "}
            on <span className="text-ink-soft [overflow-wrap:anywhere]">{snapshot.branch}</span>
          </>
        )}
        {snapshot.commit && <span className="font-mono"> {snapshot.commit.slice(0, 8)}</span>}
      </p>
      {left.length > 0 && (
        <p>
          Left out:{" "}
          {left
            .map(([reason, files]) => `${files.toLocaleString()} ${reason.replaceAll("_", " ")}`)
            .join(", ")}
        </p>
      )}
      {snapshot.syntax_errors > 0 && (
        <Warning>
          {count(snapshot.syntax_errors, "syntax error")} in {snapshot.broken_files.join(", ")}: the rest of
          them is measured.
        </Warning>
      )}
      {snapshot.files === 0 && (
        <Warning>
          No source file was measured: there was nothing to judge, and the number says nothing.
        </Warning>
      )}
      {snapshot.truncated && (
        <Warning>A limit was reached: the rest was not read. Settings say how much is read at most.</Warning>
      )}
    </div>
  );
}

const Warning = ({ children }: { children: React.ReactNode }) => (
  <p className="flex gap-1.5 text-warn-ink [overflow-wrap:anywhere]">
    <TriangleAlert aria-hidden className="mt-px size-3.5 shrink-0" />
    <span>{children}</span>
  </p>
);
