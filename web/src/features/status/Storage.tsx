import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { settings } from "@/features/settings/queries";
import type { Schemas } from "@/shared/api/client";
import { formatBytes, formatNumber } from "@/shared/format/format";
import { Card } from "@/shared/ui/Card";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { type Column, Table } from "@/shared/ui/Table";
import { BackupButton } from "./Backup";

type Status = Schemas["Status"];

interface Part {
  name: string;
  about: string;
  bytes: number | null;
  count: number | null;
  kept: string;
}

const COLUMNS: Column<Part>[] = [
  {
    key: "name",
    title: "Part",
    cell: (part) => (
      <>
        <span className="block font-medium">{part.name}</span>
        <span className="block text-xs text-ink-faint">{part.about}</span>
      </>
    ),
  },
  {
    key: "size",
    title: "Size",
    align: "right",
    cell: (part) => (part.bytes === null ? "in the database" : formatBytes(part.bytes)),
  },
  { key: "count", title: "How many", align: "right", cell: (part) => formatNumber(part.count) },
  { key: "kept", title: "Kept for", align: "right", wide: true, cell: (part) => part.kept },
];

/** What is kept, how much of it, and for how long. */
export function Storage({ status }: { status: Status }) {
  const kept = useQuery(settings).data;
  const days = (count: number | undefined) => (count === undefined ? "…" : `${formatNumber(count)} days`);
  const { storage, counts } = status;
  const parts: Part[] = [
    {
      name: "Database",
      about: "Conversations, calls, events, settings",
      bytes: storage.database ?? 0,
      count: null,
      kept: "until deleted",
    },
    {
      name: "Tool calls",
      about: "With arguments and short results",
      bytes: null,
      count: counts.calls ?? 0,
      kept: days(kept?.retention_calls_days),
    },
    {
      name: "Events",
      about: "For windows that come back",
      bytes: null,
      count: counts.events ?? 0,
      kept: days(kept?.retention_events_days),
    },
    {
      name: "Large results",
      about: "Files beside the database",
      bytes: storage.results ?? 0,
      count: counts.results ?? 0,
      kept: kept
        ? `${days(kept.retention_results_days)}, ${formatBytes(kept.retention_results_bytes)} at most`
        : "…",
    },
    {
      name: "Logs",
      about: "Of the hub and of servers",
      bytes: storage.logs ?? 0,
      count: null,
      kept: "the newest",
    },
  ];
  return (
    <Card
      flush
      title="Storage"
      description={
        status.oldest_call ? (
          <>
            The oldest call is from <RelativeTime at={status.oldest_call} />.
          </>
        ) : (
          "Nothing was called yet."
        )
      }
      actions={<BackupButton status={status} />}
    >
      <Table label="Storage" columns={COLUMNS} rows={parts} rowKey={(part) => part.name} />
      <Disk status={status} />
    </Card>
  );
}

function Disk({ status }: { status: Status }) {
  const own = Object.values(status.storage).reduce((sum, size) => sum + size, 0);
  const used = status.disk_total - status.disk_free;
  const share = status.disk_total > 0 ? Math.round((100 * used) / status.disk_total) : 0;
  return (
    <div className="border-t border-line px-4 py-3.5">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 text-sm">
        <span className="font-medium">Disk</span>
        <span className="text-ink-soft tabular-nums">
          {formatBytes(status.disk_free)} free of {formatBytes(status.disk_total)}
        </span>
      </div>
      <div aria-hidden className="my-1.5 h-2 overflow-hidden rounded-full bg-sunken">
        <div className="h-full rounded-full bg-accent" style={{ width: `${share}%` }} />
      </div>
      <p className="text-xs text-ink-faint">
        Manyhands takes {formatBytes(own)} of it.{" "}
        <Link to="/settings" className="text-accent-ink hover:underline">
          Change how long things are kept
        </Link>
      </p>
    </div>
  );
}
