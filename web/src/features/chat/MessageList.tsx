import { useRouterState } from "@tanstack/react-router";
import { ArrowDown } from "lucide-react";
import { memo, useCallback, useEffect, useMemo, useRef } from "react";
import { Virtuoso, type VirtuosoHandle } from "react-virtuoso";
import { useSeen } from "@/shared/events/seen";
import { Button } from "@/shared/ui/Button";
import { Spinner } from "@/shared/ui/Spinner";
import { RowView } from "./RowView";
import type { Row } from "./rows";
import { useStick } from "./useStick";
import type { useThread } from "./useThread";

const FIRST = 1_000_000;

interface Context {
  loading: boolean;
  more: boolean;
}

interface MessageListProps {
  channelId: string;
  thread: ReturnType<typeof useThread>;
  /** How often something was sent from this window. */
  sent: number;
}

/** What was said, as many rows of it as fit; it opens at the end, and older ones come when one scrolls up. */
export function MessageList({ channelId, thread, sent }: MessageListProps) {
  const { query } = thread;
  const rows = useSeen(thread.rows);
  const list = useRef<VirtuosoHandle>(null);
  const { setScroller, atEnd, toEnd, keep, leave } = useStick();
  const first = useFirstIndex(rows);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const older = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const context = useMemo(
    () => ({ loading: isFetchingNextPage, more: hasNextPage }),
    [isFetchingNextPage, hasNextPage],
  );
  const wanted = useWantedMessage(rows, older, hasNextPage, list, leave);
  useOwnMessage(sent, toEnd);

  return (
    <>
      <Virtuoso<Row, Context>
        ref={list}
        data={rows}
        context={context}
        firstItemIndex={first}
        initialTopMostItemIndex={{ index: "LAST", align: "end" }}
        computeItemKey={(_, row) => row.key}
        itemContent={(_, row) => <Item row={row} channelId={channelId} wanted={wanted} />}
        components={PARTS}
        startReached={older}
        atTopThreshold={600}
        totalListHeightChanged={keep}
        scrollerRef={(element) => setScroller(element instanceof HTMLElement ? element : null)}
        increaseViewportBy={{ top: 500, bottom: 300 }}
        className="h-full [overflow-anchor:none]"
        role="log"
        aria-label="Conversation"
        aria-live="off"
        tabIndex={0}
      />
      {!atEnd && (
        <div className="pointer-events-none absolute inset-x-0 bottom-2 flex justify-center">
          <Button
            size="sm"
            icon={<ArrowDown />}
            onClick={toEnd}
            className="pointer-events-auto animate-rise rounded-full! shadow-md!"
          >
            To the end
          </Button>
        </div>
      )}
    </>
  );
}

const PARTS = {
  Header: ({ context }: { context?: Context }) => (
    <div className="grid h-12 place-items-center">
      {context?.loading && <Spinner label="Loading older messages" />}
    </div>
  ),
  Footer: () => <div className="h-6" />,
};

const Item = memo(function Item({
  row,
  channelId,
  wanted,
}: {
  row: Row;
  channelId: string;
  wanted: string | null;
}) {
  const found = wanted !== null && "message" in row && row.message?.id === wanted;
  return (
    <div
      className={`mx-auto max-w-(--column-width) px-3 sm:px-4 ${found ? "rounded-md bg-accent-soft py-1" : ""}`}
      data-row={row.kind}
    >
      <RowView row={row} channelId={channelId} />
    </div>
  );
});

/** Rows that come in front must not move the others: the index of the first one goes down by as many. */
function useFirstIndex(rows: readonly Row[]): number {
  const before = useRef<{ keys: string[]; first: number }>({ keys: [], first: FIRST });
  return useMemo(() => {
    const { keys, first } = before.current;
    const places = new Map(rows.map((row, place) => [row.key, place]));
    const known = keys.findIndex((key) => places.has(key));
    const moved = known < 0 ? 0 : (places.get(keys[known] as string) as number) - known;
    before.current = { keys: rows.slice(0, 40).map((row) => row.key), first: first - moved };
    return before.current.first;
  }, [rows]);
}

/** Who sends something wants to see it, wherever they had scrolled to. */
function useOwnMessage(sent: number, toEnd: () => void): void {
  const known = useRef(sent);
  useEffect(() => {
    if (sent === known.current) return;
    known.current = sent;
    toEnd();
  }, [sent, toEnd]);
}

/** A search leads to one message: `#msg_…`. Older pages are read until it is there. */
function useWantedMessage(
  rows: readonly Row[],
  older: () => void,
  more: boolean,
  list: React.RefObject<VirtuosoHandle | null>,
  leave: () => void,
): string | null {
  const hash = useRouterState({ select: (state) => state.location.hash });
  const wanted = hash.startsWith("msg_") ? hash : null;
  const reached = useRef<string | null>(null);
  useEffect(() => {
    if (wanted === null || reached.current === wanted) return;
    const place = rows.findIndex((row) => "message" in row && row.message?.id === wanted);
    if (place < 0) {
      if (more) older();
      return;
    }
    reached.current = wanted;
    leave();
    const frame = requestAnimationFrame(() => list.current?.scrollToIndex({ index: place, align: "center" }));
    return () => cancelAnimationFrame(frame);
  }, [wanted, rows, more, older, list, leave]);
  return wanted;
}
