import { CircleCheck, CircleX } from "lucide-react";
import { ApiError } from "@/shared/api/client";
import { formatDuration } from "@/shared/format/format";
import { Spinner } from "@/shared/ui/Spinner";
import type { Test } from "./useTests";

/** How a test went: the answer and its times, or the reason in full. */
export function TrialResult({ test }: { test: Test }) {
  const { trial } = test;
  if (test.isPending)
    return (
      <p
        role="status"
        className="mt-2.5 flex items-center gap-2 rounded-md bg-sunken px-3 py-2 text-sm text-ink-soft"
      >
        <Spinner /> Asking it for one word…
      </p>
    );
  if (trial?.ok)
    return (
      <p
        role="status"
        className="mt-2.5 flex animate-appear items-start gap-2 rounded-md bg-good-soft px-3 py-2 text-sm text-good-ink"
      >
        <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0" />
        <span className="min-w-0 [overflow-wrap:anywhere]">
          Answered in {formatDuration(trial.latency_ms)}
          {trial.first_ms != null && <>, the first word after {formatDuration(trial.first_ms)}</>}
          {trial.text && (
            <>
              : <q>{trial.text.length > 200 ? `${trial.text.slice(0, 200)}…` : trial.text}</q>
            </>
          )}
        </span>
      </p>
    );
  const error = test.error;
  const hint = error instanceof ApiError ? error.hint : null;
  const reason = trial?.error ?? (error instanceof Error ? error.message : "It did not answer.");
  return (
    <p
      role="alert"
      className="mt-2.5 flex animate-appear items-start gap-2 rounded-md bg-bad-soft px-3 py-2 text-sm text-bad-ink"
    >
      <CircleX aria-hidden className="mt-0.5 size-4 shrink-0" />
      <span className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
        {reason}
        {hint && ` ${hint}`}
      </span>
    </p>
  );
}
