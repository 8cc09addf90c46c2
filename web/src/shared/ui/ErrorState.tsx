import { CircleAlert } from "lucide-react";
import { ApiError } from "@/shared/api/client";
import { Button } from "./Button";

interface ErrorStateProps {
  error: unknown;
  /** What could not be done: "The servers could not be read". */
  title?: string;
  onRetry?: () => void;
}

/** At the end of a long form nobody would see it. */
const bringIntoView = (box: HTMLElement | null): void => {
  if (box?.closest("[role=dialog]")) box.scrollIntoView?.({ block: "nearest" });
};

export function ErrorState({ error, title = "That did not work", onRetry }: ErrorStateProps) {
  const hint = error instanceof ApiError ? error.hint : null;
  return (
    <div
      ref={bringIntoView}
      role="alert"
      className="m-4 flex scroll-m-4 items-start gap-3 rounded-lg bg-bad-soft p-4 text-sm"
    >
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p className="font-medium">{title}</p>
        <p className="mt-0.5 whitespace-pre-wrap text-ink-soft">
          {error instanceof Error ? error.message : String(error)}
        </p>
        {hint && <p className="mt-0.5 text-ink-soft">{hint}</p>}
      </div>
      {onRetry && (
        <Button size="sm" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
