import { useInfiniteQuery } from "@tanstack/react-query";
import { PartyPopper } from "lucide-react";
import { Card } from "@/shared/ui/Card";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { Path } from "./MetricDetails";
import { unusedOf } from "./queries";
import { ShowMore } from "./ShowMore";
import type { Place } from "./SourceSheet";
import { count } from "./words";

interface UnusedProps {
  channelId: string;
  total: number;
  onOpen: (place: Place) => void;
}

export function Unused({ channelId, total, onOpen }: UnusedProps) {
  const found = useInfiniteQuery(unusedOf(channelId));
  const rows = found.data?.pages.flatMap((page) => page.items) ?? [];
  if (found.isPending) return <SkeletonRows />;
  if (found.isError)
    return (
      <ErrorState
        title="The unused functions could not be read"
        error={found.error}
        onRetry={() => void found.refetch()}
      />
    );
  if (rows.length === 0)
    return (
      <EmptyState icon={<PartyPopper />} title="Everything is used">
        Every function that could be judged is called by its name somewhere.
      </EmptyState>
    );
  return (
    <Card
      flush
      title="Functions that nothing refers to"
      description="Entry points, tests and exports are left out. What is called by a name that is put together at run time may be here wrongly."
    >
      <ul className="divide-y divide-line">
        {rows.map((row) => (
          <li key={`${row.path}:${row.line}`}>
            <button
              type="button"
              onClick={() => onOpen({ ...row, end_line: row.line + row.lines - 1 })}
              className="flex w-full flex-wrap items-baseline gap-x-4 px-4 py-2 text-left hover:bg-hover"
            >
              <bdi className="min-w-0 flex-1 basis-60 font-mono text-xs font-medium [overflow-wrap:anywhere]">
                {row.name}
              </bdi>
              <span className="min-w-0 text-xs text-ink-soft">
                <Path path={row.path} />
                <span className="text-ink-faint">
                  :{row.line} · {count(row.lines, "line")}
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
      <ShowMore shown={rows.length} total={total} query={found} />
    </Card>
  );
}
