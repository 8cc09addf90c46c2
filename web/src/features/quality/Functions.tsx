import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { ArrowDown, SearchX } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Card } from "@/shared/ui/Card";
import { classes } from "@/shared/ui/classes";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { SearchInput } from "@/shared/ui/SearchInput";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { type Column, Table } from "@/shared/ui/Table";
import { Path } from "./MetricDetails";
import { functionsOf, type MeasuredFunction, type Sorting } from "./queries";
import { ShowMore } from "./ShowMore";
import type { Place } from "./SourceSheet";
import { DIMENSION_LABELS, DIMENSIONS, type Dimension, THRESHOLDS } from "./words";

interface FunctionsProps {
  channelId: string;
  q: string;
  onQuery: (q: string | undefined) => void;
  onOpen: (place: Place) => void;
}

const PAUSE = 200;

/** All functions, the worst first, or those with the most of something. */
export function Functions({ channelId, q, onQuery, onOpen }: FunctionsProps) {
  const [sort, setSort] = useState<Sorting>("harm");
  const [text, setText] = useState(q);
  useEffect(() => setText(q), [q]);
  useEffect(() => {
    if (text.trim() === q) return;
    const timer = setTimeout(() => onQuery(text.trim() || undefined), PAUSE);
    return () => clearTimeout(timer);
  });
  const found = useInfiniteQuery({ ...functionsOf(channelId, sort, q), placeholderData: keepPreviousData });
  const rows = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Card
      flush
      title="Functions"
      description="What is over its threshold stands out; a click shows the code."
    >
      <div className="px-4 pt-1 pb-2">
        <SearchInput
          label="Find a function or a file"
          value={text}
          onChange={setText}
          className="sm:max-w-80"
        />
      </div>
      {found.isPending && <SkeletonRows />}
      {found.isError && (
        <ErrorState
          title="The functions could not be read"
          error={found.error}
          onRetry={() => void found.refetch()}
        />
      )}
      {found.isSuccess && rows.length === 0 && (
        <EmptyState icon={<SearchX />} title="No function is called like that">
          {q
            ? "Search for a part of a name or of a path."
            : "There are no functions in the files that were measured."}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <Table
          label="Functions"
          columns={columns(sort, setSort, onOpen)}
          rows={rows}
          rowKey={(row) => `${row.path}:${row.line}:${row.name}`}
          onRow={(row) => onOpen(row)}
        />
      )}
      <ShowMore shown={rows.length} query={found} />
    </Card>
  );
}

function columns(
  sort: Sorting,
  onSort: (sort: Sorting) => void,
  onOpen: (place: Place) => void,
): Column<MeasuredFunction>[] {
  const head = (key: Sorting, label: string) => (
    <Head chosen={sort === key} onChoose={() => onSort(key)}>
      {label}
    </Head>
  );
  return [
    {
      key: "name",
      title: head("path", "Function"),
      cell: (row) => <Name row={row} onOpen={onOpen} />,
      className: "w-full",
    },
    { key: "score", title: head("harm", "Score"), align: "right", cell: (row) => row.score.toFixed(2) },
    ...DIMENSIONS.map(
      (name): Column<MeasuredFunction> => ({
        key: name,
        title: head(name, DIMENSION_LABELS[name]),
        align: "right",
        wide: name === "nesting" || name === "parameters" || name === "lines",
        cell: (row) => <Value row={row} name={name} />,
      }),
    ),
  ];
}

interface HeadProps {
  chosen: boolean;
  onChoose: () => void;
  children: ReactNode;
}

const Head = ({ chosen, onChoose, children }: HeadProps) => (
  <button
    type="button"
    aria-pressed={chosen}
    onClick={onChoose}
    className="inline-flex items-center gap-1 rounded-xs hover:text-ink aria-pressed:text-ink"
  >
    {children}
    <ArrowDown aria-hidden className={classes("size-3", !chosen && "opacity-0")} />
  </button>
);

function Name({ row, onOpen }: { row: MeasuredFunction; onOpen: (place: Place) => void }) {
  return (
    <div className="min-w-36">
      <button
        type="button"
        onClick={(event) => {
          event.stopPropagation();
          onOpen(row);
        }}
        className="rounded-xs text-left font-mono text-xs font-medium [overflow-wrap:anywhere] hover:text-accent-ink hover:underline"
      >
        <bdi>{row.name}</bdi>
      </button>
      <div className="text-xs text-ink-soft">
        <Path path={row.path} />
        <span className="text-ink-faint">:{row.line}</span>
      </div>
    </div>
  );
}

function Value({ row, name }: { row: MeasuredFunction; name: Dimension }) {
  if (!row.over.includes(name)) return <span className="text-ink-soft">{row[name]}</span>;
  return (
    <span
      title={`Over the threshold of ${THRESHOLDS[name]}`}
      className="rounded-xs bg-bad-soft px-1.5 py-0.5 font-semibold text-bad-ink"
    >
      {row[name]}
      <span className="sr-only"> (over {THRESHOLDS[name]})</span>
    </span>
  );
}
