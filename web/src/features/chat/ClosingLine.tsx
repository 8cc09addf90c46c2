import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { modelList } from "@/features/models/queries";
import { formatCompact, formatCost, formatDuration } from "@/shared/format/format";
import { StateDot } from "@/shared/ui/StateDot";
import type { Run } from "./queries";

const WORDS: Record<string, string> = { cancelled: "Stopped" };

export function closingParts(run: Run, model: string): string[] {
  const took = run.started_at && run.ended_at ? Date.parse(run.ended_at) - Date.parse(run.started_at) : null;
  const usage = run.usage as { input?: number; output?: number };
  const parts = [model];
  if (took !== null) parts.push(formatDuration(took));
  parts.push(run.iterations === 1 ? "1 iteration" : `${run.iterations} iterations`);
  if (usage.input || usage.output)
    parts.push(`${formatCompact(usage.input ?? 0)} tokens in, ${formatCompact(usage.output ?? 0)} out`);
  if (run.cost != null) parts.push(formatCost(run.cost));
  return parts;
}

/** How a run ended: model, seconds, iterations, tokens, cost. */
export const ClosingLine = memo(function ClosingLine({ run }: { run: Run }) {
  const models = useQuery(modelList).data;
  const model = models?.find((one) => one.id === run.model)?.name ?? run.model ?? "no model";
  return (
    <footer className="flex flex-wrap items-center gap-x-2 gap-y-1 pb-4 text-xs text-ink-faint tabular-nums">
      {run.status !== "completed" && <StateDot state={run.status} word={WORDS[run.status]} />}
      <Link
        to="/log"
        search={{ run: run.id }}
        title="The calls of this run"
        className="rounded-xs hover:text-ink-soft hover:underline"
      >
        {closingParts(run, model).join(" · ")}
      </Link>
    </footer>
  );
});
