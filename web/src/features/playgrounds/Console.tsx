import { useMutation, useQuery } from "@tanstack/react-query";
import { CircleX, Eraser, Info, SquareTerminal, TriangleAlert } from "lucide-react";
import { useLayoutEffect, useRef } from "react";
import { formatTime } from "@/shared/format/format";
import { Button } from "@/shared/ui/Button";
import { classes } from "@/shared/ui/classes";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { toast } from "@/shared/ui/Toast";
import { type ConsoleLine, clearConsole, consoleLines, type Key } from "./queries";

export function Console({ of }: { of: Key }) {
  const lines = useQuery(consoleLines(of));
  const clear = useMutation({ mutationFn: () => clearConsole(of), onError: toast.error });
  if (lines.isPending) return <SkeletonRows />;
  if (lines.isError)
    return (
      <ErrorState
        title="The console could not be read"
        error={lines.error}
        onRetry={() => void lines.refetch()}
      />
    );
  if (lines.data.length === 0)
    return (
      <EmptyState icon={<SquareTerminal />} title="Nothing was written">
        What the page writes to its console, and the errors it runs into, are listed here while it is open
        anywhere. Agents read the same.
      </EmptyState>
    );
  return (
    <div className="flex flex-col gap-2">
      <div className="flex justify-end">
        <Button size="sm" icon={<Eraser />} busy={clear.isPending} onClick={() => clear.mutate()}>
          Clear
        </Button>
      </div>
      <Lines lines={lines.data} />
    </div>
  );
}

const LOOKS: Record<string, { words: string; ink: string; icon: typeof Info | null }> = {
  error: { words: "Error", ink: "bg-bad-soft text-bad-ink", icon: CircleX },
  warn: { words: "Warning", ink: "bg-warn-soft text-warn-ink", icon: TriangleAlert },
  info: { words: "Note", ink: "text-ink-soft", icon: Info },
};

function Lines({ lines }: { lines: readonly ConsoleLine[] }) {
  const list = useRef<HTMLOListElement>(null);
  const last = lines.at(-1)?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the newest line is the one that is looked for
  useLayoutEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [last]);
  return (
    <ol
      ref={list}
      aria-label="Console"
      tabIndex={0}
      className="max-h-[max(20rem,calc(100dvh-19rem))] overflow-y-auto rounded-lg border border-line bg-raised py-1 font-mono text-xs"
    >
      {lines.map((line) => {
        const look = LOOKS[line.level];
        const Icon = look?.icon;
        return (
          <li key={line.id} className={classes("flex items-start gap-2.5 px-3 py-1", look?.ink)}>
            {Icon ? (
              <Icon aria-label={look?.words} className="mt-0.5 size-3.5 shrink-0" />
            ) : (
              <span className="w-3.5 shrink-0" />
            )}
            <pre className="min-w-0 flex-1 whitespace-pre-wrap break-words font-mono">{line.text}</pre>
            <time dateTime={line.at} className="shrink-0 tabular-nums opacity-80">
              {formatTime(line.at)}
            </time>
          </li>
        );
      })}
    </ol>
  );
}
