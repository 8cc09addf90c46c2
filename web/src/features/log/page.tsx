import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ArrowUp, ChartLine, Download, FileJson, FileSpreadsheet, ScrollText, SearchX } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { Button } from "@/shared/ui/Button";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Menu } from "@/shared/ui/Menu";
import { Page } from "@/shared/ui/Page";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { Spinner } from "@/shared/ui/Spinner";
import { CallTable } from "./CallTable";
import { Filters } from "./Filters";
import { type Call, type CallFilter, callLog, exportAddress } from "./queries";
import { Statistics } from "./Statistics";
import { useIncoming } from "./useIncoming";

/** How far from the top still counts as looking at the newest. */
const NEAR = 60;
/** A search looks through so many parts of the log before it asks whether to go on. */
const PARTS = 20;
const FULL = 40;
/** Where there is room for plots above the list. */
const WIDE = "(min-width: 768px)";

export default function LogPage() {
  const search = useSearch({ from: "/log" });
  const navigate = useNavigate({ from: "/log" });
  const { server, tool, status, channel, run, q } = search;
  const filter: CallFilter = useMemo(
    () => ({ server, tool, status: status as Call["status"] | undefined, channel_id: channel, run, q }),
    [server, tool, status, channel, run, q],
  );
  const change = ({ channel_id, ...rest }: CallFilter) =>
    void navigate({ search: { ...rest, channel: channel_id } as typeof search, replace: true });
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const [atHead, setAtHead] = useState(true);
  const [hasPlots, setHasPlots] = useState(() => matchMedia(WIDE).matches);
  const { held, take } = useIncoming(filter, atHead);
  useEffect(() => {
    if (scroller === null) return;
    const look = () => setAtHead(scroller.scrollTop < NEAR);
    scroller.addEventListener("scroll", look, { passive: true });
    return () => scroller.removeEventListener("scroll", look);
  }, [scroller]);
  const showNew = () => {
    take();
    scroller?.scrollTo({ top: 0 });
  };
  return (
    <Page
      title="Log"
      description="Every call of every tool, newest first."
      scrollRef={setScroller}
      actions={
        <>
          <Button
            tone="quiet"
            icon={<ChartLine />}
            aria-expanded={hasPlots}
            onClick={() => setHasPlots(!hasPlots)}
          >
            Statistics
          </Button>
          <Export filter={filter} />
        </>
      }
    >
      {held > 0 && <NewPill count={held} onClick={showNew} />}
      {hasPlots && (
        <Statistics
          server={server}
          onServer={(name) => change({ ...filter, server: name === server ? undefined : name })}
        />
      )}
      <List filter={filter} scroller={scroller} onFilter={change} />
    </Page>
  );
}

const NewPill = ({ count, onClick }: { count: number; onClick: () => void }) => (
  <div className="pointer-events-none sticky top-2 z-20 -mb-5 flex h-0 justify-center">
    <Button
      tone="primary"
      size="sm"
      icon={<ArrowUp />}
      onClick={onClick}
      className="pointer-events-auto animate-rise rounded-full! shadow-md"
    >
      {count} new {count === 1 ? "call" : "calls"}
    </Button>
  </div>
);

function Export({ filter }: { filter: CallFilter }) {
  const save = (format: "jsonl" | "csv") => {
    const link = document.createElement("a");
    link.href = exportAddress(filter, format);
    link.download = "";
    link.click();
  };
  return (
    <Menu
      trigger={<Button icon={<Download />}>Export</Button>}
      entries={[
        { heading: "What the filters show, as a file" },
        {
          label: "JSON lines",
          hint: "Everything about each call",
          icon: <FileJson />,
          onSelect: () => save("jsonl"),
        },
        { label: "CSV", hint: "For a spreadsheet", icon: <FileSpreadsheet />, onSelect: () => save("csv") },
      ]}
    />
  );
}

interface ListProps {
  filter: CallFilter;
  scroller: HTMLElement | null;
  onFilter: (filter: CallFilter) => void;
}

function List({ filter, scroller, onFilter }: ListProps) {
  const log = useInfiniteQuery(callLog(filter));
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = log;
  const pages = log.data?.pages;
  const calls = useMemo(() => pages?.flatMap((page) => page.items) ?? [], [pages]);
  const tools = useMemo(() => [...new Set(calls.map((call) => call.tool))].sort(), [calls]);
  // A page of a search may be short, even empty, and still not be the last one.
  const isShort = hasNextPage && calls.length < FULL && (pages?.length ?? 0) < PARTS;
  useEffect(() => {
    if (isShort && !isFetchingNextPage) void fetchNextPage();
  }, [isShort, isFetchingNextPage, fetchNextPage]);
  const more = () => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  };
  return (
    <>
      <Filters filter={filter} tools={tools} onChange={onFilter} />
      {log.isPending && <SkeletonRows rows={8} />}
      {log.isError && (
        <ErrorState title="The log could not be read" error={log.error} onRetry={() => void log.refetch()} />
      )}
      {log.isSuccess && calls.length === 0 && !hasNextPage && <Empty filter={filter} onFilter={onFilter} />}
      {calls.length > 0 && scroller && (
        <div className="min-w-0 rounded-lg border border-line bg-raised shadow-sm [&_thead]:z-10">
          <CallTable calls={calls} scroller={scroller} onEnd={more} />
        </div>
      )}
      {hasNextPage && (
        <div className="flex justify-center py-1">
          {isFetchingNextPage || isShort ? (
            <Spinner label={filter.q ? "Looking through older calls" : "Reading older calls"} />
          ) : (
            <Button onClick={more}>{filter.q ? "Look through older calls" : "Show older calls"}</Button>
          )}
        </div>
      )}
    </>
  );
}

function Empty({ filter, onFilter }: { filter: CallFilter; onFilter: (filter: CallFilter) => void }) {
  if (Object.values(filter).some(Boolean))
    return (
      <EmptyState
        icon={<SearchX />}
        title="No call is like that"
        action={<Button onClick={() => onFilter({})}>Clear the filters</Button>}
      >
        Calls that match will appear here as they are made.
      </EmptyState>
    );
  return (
    <EmptyState icon={<ScrollText />} title="No calls yet">
      When a tool is called, from a conversation or by hand, it is written down here.
    </EmptyState>
  );
}
