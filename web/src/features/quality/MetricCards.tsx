import { ArrowRight } from "lucide-react";
import { Badge, type Mood } from "@/shared/ui/Badge";
import { classes } from "@/shared/ui/classes";
import { Chain, Communities, Largest } from "./MetricDetails";
import type { Metric, Snapshot } from "./queries";
import type { View } from "./SnapshotView";
import { labelOf, METRICS, moodOf, scoreText, signed, WORDS_OF_MOODS } from "./words";

interface MetricCardsProps {
  snapshot: Snapshot;
  onShow: (view: View) => void;
}

/** Each of the six with why it is what it is; the worst first. */
export function MetricCards({ snapshot, onShow }: MetricCardsProps) {
  const ordered = Object.entries(snapshot.metrics).sort(([, a], [, b]) => a.score - b.score);
  return (
    <ul aria-label="The six metrics" className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3">
      {ordered.map(([name, metric]) => (
        <MetricCard
          key={name}
          name={name}
          metric={metric}
          before={snapshot.previous?.metrics[name]}
          onShow={onShow}
        />
      ))}
    </ul>
  );
}

const FILLS: Partial<Record<Mood, string>> = { good: "bg-good", warn: "bg-warn", bad: "bg-bad" };

interface MetricCardProps {
  name: string;
  metric: Metric;
  before: number | undefined;
  onShow: (view: View) => void;
}

function MetricCard({ name, metric, before, onShow }: MetricCardProps) {
  const judged = metric.raw !== null;
  const mood = judged ? moodOf(metric.score) : "neutral";
  const change = before === undefined ? 0 : metric.score - before;
  return (
    <li className="flex min-w-0 flex-col rounded-lg border border-line bg-raised px-4 pt-3.5 pb-3 shadow-sm">
      <div className="flex items-baseline gap-2">
        <h2 className="flex-1 text-md font-semibold">{labelOf(name)}</h2>
        {Math.abs(change) >= 0.005 && (
          <span
            className={classes("text-xs tabular-nums", change > 0 ? "text-good-ink" : "text-bad-ink")}
            title="Since the scan before"
          >
            {signed(change, 2)}
          </span>
        )}
        <Badge mood={mood}>{judged ? WORDS_OF_MOODS[mood] : "Not judged"}</Badge>
        <span className="text-xl font-semibold tabular-nums">{scoreText(metric.score)}</span>
      </div>
      <div aria-hidden className="mt-2 h-1.5 overflow-hidden rounded-full bg-pressed">
        <div
          className={classes("h-full rounded-full", FILLS[mood] ?? "bg-idle")}
          style={{ width: `${100 * metric.score}%` }}
        />
      </div>
      <p className="mt-2.5 text-sm text-ink-soft">{METRICS[name]?.about}</p>
      <ul className="mt-1.5 flex flex-1 flex-col gap-0.5 text-sm">
        {metric.reasons.map((reason) => (
          <li key={reason} className="[overflow-wrap:anywhere]">
            {reason}
          </li>
        ))}
      </ul>
      <More name={name} metric={metric} onShow={onShow} />
    </li>
  );
}

const MORE: Record<string, { view: View; label: string }> = {
  cycles: { view: "cycles", label: "Show the cycles" },
  redundancy: { view: "copies", label: "Show the copies" },
  complexity: { view: "functions", label: "Show the functions" },
};

function More({ name, metric, onShow }: Omit<MetricCardProps, "before">) {
  if (name === "modularity" && metric.worst.length > 0) return <Communities rows={metric.worst} />;
  if (metric.worst.length === 0 || metric.score === 1) return null;
  if (name === "depth") return <Chain rows={metric.worst} />;
  if (name === "equality") return <Largest rows={metric.worst} />;
  const more = MORE[name];
  if (!more) return null;
  return (
    <button type="button" onClick={() => onShow(more.view)} className={linkClasses}>
      {more.label} <ArrowRight aria-hidden className="size-3.5" />
    </button>
  );
}

export const linkClasses =
  "mt-2 inline-flex items-center gap-1 self-start rounded-xs text-sm text-accent-ink hover:underline";
