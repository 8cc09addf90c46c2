import { classes } from "@/shared/ui/classes";
import { Path } from "./MetricDetails";
import type { Compared } from "./queries";
import type { Place } from "./SourceSheet";
import { DIMENSION_LABELS, DIMENSIONS, labelOf, scoreText, signed } from "./words";

interface ComparedViewProps {
  compared: Compared;
  onOpen: (place: Place) => void;
}

type Change = Compared["changes"][number];

const KINDS: Record<Change["kind"], string> = { added: "New", removed: "Gone", changed: "Changed" };
const PROBLEMS: Record<string, string> = {
  function: "Function",
  clone: "Copy",
  cycle: "Cycle",
  signal: "Signal",
};

/** New problems, the six scores before and after, and every function that measures differently. */
export function ComparedView({ compared, onOpen }: ComparedViewProps) {
  return (
    <div className="mt-5 flex flex-col gap-6">
      {compared.problems.length > 0 && <Problems compared={compared} />}
      <Scores compared={compared} />
      <Changes compared={compared} onOpen={onOpen} />
    </div>
  );
}

const Problems = ({ compared }: { compared: Compared }) => (
  <section aria-label="New problems">
    <h3 className="text-sm font-semibold">New problems</h3>
    <ul className="mt-1.5 divide-y divide-line text-sm">
      {compared.problems.map((problem, place) => (
        <li key={place} className="flex flex-wrap items-baseline gap-x-3 py-1.5">
          <span className="w-16 shrink-0 text-xs text-bad-ink">{PROBLEMS[problem.kind] ?? problem.kind}</span>
          <span className="min-w-0 flex-1 basis-60 [overflow-wrap:anywhere]">{problem.message}</span>
          <span className="text-xs text-ink-soft">
            <Path path={problem.path} />
            {problem.line !== null && `:${problem.line}`}
          </span>
        </li>
      ))}
    </ul>
  </section>
);

const Scores = ({ compared }: { compared: Compared }) => (
  <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3 xl:grid-cols-6">
    {Object.entries(compared.metrics).map(([name, { score, base }]) => {
      const change = score - base;
      return (
        <div key={name} className="rounded-md bg-sunken px-3 py-2">
          <dt className="text-xs text-ink-soft">{labelOf(name)}</dt>
          <dd className="flex items-baseline gap-2 tabular-nums">
            <span className="text-md font-semibold">{scoreText(score)}</span>
            <span className={classes("text-xs", tone(change, 0.0005))}>{signed(change, 3)}</span>
          </dd>
        </div>
      );
    })}
  </dl>
);

const tone = (change: number, least = 0): string =>
  Math.abs(change) <= least ? "text-ink-faint" : change > 0 ? "text-good-ink" : "text-bad-ink";

function Changes({ compared, onOpen }: ComparedViewProps) {
  const { changes, total_changes } = compared;
  if (total_changes === 0)
    return <p className="text-sm text-ink-soft">No function came, went or measures differently.</p>;
  return (
    <section aria-label="Functions that changed">
      <h3 className="text-sm font-semibold">
        Functions that changed{" "}
        <span className="font-normal text-ink-faint tabular-nums">
          {changes.length < total_changes && `${changes.length.toLocaleString()} of `}
          {total_changes.toLocaleString()}
        </span>
      </h3>
      <ul className="mt-1.5 divide-y divide-line">
        {changes.map((change, place) => (
          <li key={place} className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 py-1.5 text-sm">
            <span className="w-16 shrink-0 text-xs text-ink-soft">{KINDS[change.kind]}</span>
            <Name change={change} onOpen={onOpen} />
            <Difference change={change} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Name({ change, onOpen }: { change: Change; onOpen: (place: Place) => void }) {
  const { line, after } = change;
  const where = (
    <span className="block text-xs text-ink-soft">
      <Path path={change.path} />
      {line !== null && `:${line}`}
      {change.moved_from && <span className="text-ink-faint"> (was in {change.moved_from})</span>}
    </span>
  );
  return (
    <span className="min-w-0 flex-1 basis-60">
      {line === null || !after ? (
        <bdi className="font-mono text-xs [overflow-wrap:anywhere]">{change.name}</bdi>
      ) : (
        <button
          type="button"
          onClick={() => onOpen({ ...change, line, end_line: line + (after.lines ?? 1) - 1 })}
          className="rounded-xs text-left font-mono text-xs font-medium [overflow-wrap:anywhere] hover:text-accent-ink hover:underline"
        >
          <bdi>{change.name}</bdi>
        </button>
      )}
      {where}
    </span>
  );
}

/** What of the five is another number now: "Cognitive 9 → 14". */
function Difference({ change }: { change: Change }) {
  const { before, after } = change;
  const told = DIMENSIONS.filter((name) => before?.[name] !== after?.[name]).map((name) => {
    const label = DIMENSION_LABELS[name];
    if (before && after) return `${label} ${before[name]} → ${after[name]}`;
    return `${label} ${(after ?? before)?.[name]}`;
  });
  return (
    <span className="text-right text-xs text-ink-soft tabular-nums">
      {told.join(" · ")} <Score change={change} />
    </span>
  );
}

/** What it earns, where that is not full marks before and after. */
function Score({ change }: { change: Change }) {
  const { score_before: before, score_after: after } = change;
  const gain = (after ?? 1) - (before ?? 1);
  if (Math.abs(gain) < 0.005) return null;
  const scores = [before, after].filter((score) => score !== null).map(scoreText);
  return <span className={classes("ml-1 whitespace-nowrap", tone(gain))}>Score {scores.join(" → ")}</span>;
}
