import { Button } from "@/shared/ui/Button";

interface ShowMoreProps {
  shown: number;
  total?: number;
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}

/** How much of a list is there, and a button for the next part. */
export function ShowMore({ shown, total, query }: ShowMoreProps) {
  if (!query.hasNextPage) return null;
  return (
    <div className="flex items-center justify-center gap-3 px-4 py-3 text-xs text-ink-faint">
      <span className="tabular-nums">
        {shown.toLocaleString()}
        {total !== undefined && ` of ${total.toLocaleString()}`}
      </span>
      <Button size="sm" busy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
        Show more
      </Button>
    </div>
  );
}
