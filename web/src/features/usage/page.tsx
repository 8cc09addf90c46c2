import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { modelList } from "@/features/models/queries";
import { formatCompact, formatCost, formatDuration, formatNumber } from "@/shared/format/format";
import { Card } from "@/shared/ui/Card";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Page } from "@/shared/ui/Page";
import { Segmented } from "@/shared/ui/Segmented";
import { Skeleton, SkeletonRows } from "@/shared/ui/Skeleton";
import { DayChart } from "./DayChart";
import { type UsageRow, usageBy, usageByDay } from "./queries";
import { type Share, Shares } from "./Shares";
import { beginning, daysSince, nameOf, seriesOf, totalsOf, withModelNames } from "./series";

const RANGES = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
] as const;
type Range = (typeof RANGES)[number]["value"];

export default function UsagePage() {
  const [range, setRange] = useState<Range>("30");
  const begin = useMemo(() => beginning(Number(range)), [range]);
  const since = begin.toISOString();
  const models = useQuery(usageBy("model", since));
  return (
    <Page
      title="Usage"
      description="Tokens, dollars and calls, by the day."
      actions={<Segmented label="Time" value={range} options={RANGES} onChange={setRange} />}
    >
      {models.isError ? (
        <ErrorState
          title="The usage could not be read"
          error={models.error}
          onRetry={() => void models.refetch()}
        />
      ) : (
        <>
          <Figures models={models.data} since={since} />
          <SpentByDay begin={begin} since={since} />
          <CallsByDay begin={begin} since={since} />
          <div className="grid items-start gap-5 lg:grid-cols-3">
            <ByModel since={since} />
            <ByChannel since={since} />
            <ByServer since={since} />
          </div>
        </>
      )}
    </Page>
  );
}

function Figures({ models, since }: { models: UsageRow[] | undefined; since: string }) {
  const servers = useQuery(usageBy("server", since));
  const totals = models && totalsOf(models);
  const calls = servers.data?.reduce((sum, row) => sum + (row.calls ?? 0), 0);
  const failed = servers.data?.reduce((sum, row) => sum + (row.errors ?? 0), 0) ?? 0;
  const cached = totals && totals.input > 0 ? Math.round((100 * totals.cached) / totals.input) : 0;
  return (
    <dl className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Figure
        label="Cost"
        value={totals && formatCost(totals.cost)}
        note={
          totals?.unpriced
            ? `without ${totals.unpriced} runs of unknown price`
            : "of models with a known price"
        }
      />
      <Figure
        label="Tokens"
        value={totals && formatCompact(totals.input + totals.output)}
        note={totals && `${formatCompact(totals.output)} written, ${cached} % of the rest cached`}
      />
      <Figure label="Runs" value={totals && formatNumber(totals.runs)} note="questions worked on" />
      <Figure
        label="Tool calls"
        value={calls === undefined ? undefined : formatNumber(calls)}
        note={failed === 0 ? "none failed" : `${formatNumber(failed)} failed`}
      />
    </dl>
  );
}

function Figure({ label, value, note }: { label: string; value: string | undefined; note?: string }) {
  return (
    <div className="min-w-0 rounded-lg border border-line bg-raised px-4 py-3 shadow-sm">
      <dt className="text-xs text-ink-soft">{label}</dt>
      <dd className="mt-0.5">
        <span className="block text-2xl font-semibold tracking-tight tabular-nums">
          {value ?? <Skeleton className="my-1.5 h-5 w-20" />}
        </span>
        <span className="block text-xs text-ink-faint">{note}</span>
      </dd>
    </div>
  );
}

const MEASURES = [
  { value: "cost", label: "Cost" },
  { value: "tokens", label: "Tokens" },
  { value: "runs", label: "Runs" },
] as const;
const SPLITS = [
  { value: "model", label: "By model" },
  { value: "channel", label: "By channel" },
] as const;

interface ByDayProps {
  begin: Date;
  since: string;
}

function SpentByDay({ begin, since }: ByDayProps) {
  const [measure, setMeasure] = useState<(typeof MEASURES)[number]["value"]>("cost");
  const [split, setSplit] = useState<(typeof SPLITS)[number]["value"]>("model");
  const rows = useQuery(usageByDay(split, since));
  const models = useQuery(modelList).data;
  const days = useMemo(() => daysSince(begin), [begin]);
  const series = useMemo(
    () => seriesOf(withModelNames(rows.data ?? [], models), split, measure, days),
    [rows.data, models, split, measure, days],
  );
  const what = MEASURES.find((one) => one.value === measure)?.label ?? "";
  return (
    <Card
      title={`${what} per day`}
      actions={
        <span className="flex flex-wrap gap-2 sm:justify-end">
          <Segmented label="What is shown" value={measure} options={MEASURES} onChange={setMeasure} />
          <Segmented label="Split" value={split} options={SPLITS} onChange={setSplit} />
        </span>
      }
    >
      {rows.isError && (
        <ErrorState title="It could not be read" error={rows.error} onRetry={() => void rows.refetch()} />
      )}
      {rows.isPending && <Skeleton className="h-65 w-full" />}
      {rows.data && (
        <DayChart label={`${what} per day, by ${split}`} series={series} days={days} measure={measure} />
      )}
    </Card>
  );
}

function CallsByDay({ begin, since }: ByDayProps) {
  const rows = useQuery(usageByDay("server", since));
  const days = useMemo(() => daysSince(begin), [begin]);
  const series = useMemo(() => seriesOf(rows.data ?? [], "server", "calls", days), [rows.data, days]);
  return (
    <Card title="Tool calls per day" description="By server.">
      {rows.isError && (
        <ErrorState title="It could not be read" error={rows.error} onRetry={() => void rows.refetch()} />
      )}
      {rows.isPending && <Skeleton className="h-50 w-full" />}
      {rows.data && (
        <DayChart
          label="Tool calls per day, by server"
          series={series}
          days={days}
          measure="calls"
          height={200}
        />
      )}
    </Card>
  );
}

const tokens = (row: UsageRow): number => (row.input ?? 0) + (row.output ?? 0);
const spent = (row: UsageRow): Pick<Share, "amount" | "value" | "detail"> => ({
  amount: tokens(row),
  value: row.cost == null ? `${formatCompact(tokens(row))} tokens` : formatCost(row.cost),
  detail: `${formatNumber(row.runs)} ${row.runs === 1 ? "run" : "runs"}, ${formatCompact(row.input)} tokens read, ${formatCompact(row.output)} written`,
});

function ByModel({ since }: { since: string }) {
  const rows = useQuery(usageBy("model", since));
  const models = useQuery(modelList).data;
  if (!rows.data) return <SkeletonRows rows={3} />;
  const shares = withModelNames(rows.data, models).map((row) => ({
    key: row.model ?? "",
    name: nameOf(row, "model"),
    ...spent(row),
  }));
  return (
    <Shares title="Models" description="Bars show tokens." empty="No model was asked." shares={shares} />
  );
}

function ByChannel({ since }: { since: string }) {
  const rows = useQuery(usageBy("channel", since));
  if (!rows.data) return <SkeletonRows rows={3} />;
  const shares = rows.data.slice(0, 12).map((row) => ({
    key: row.channel_id ?? "",
    name: (
      <Link
        to="/c/$channelId"
        params={{ channelId: row.channel_id ?? "" }}
        className="hover:text-accent-ink hover:underline"
      >
        {nameOf(row, "channel")}
      </Link>
    ),
    ...spent(row),
  }));
  return (
    <Shares title="Channels" description="Bars show tokens." empty="Nothing was said." shares={shares} />
  );
}

function ByServer({ since }: { since: string }) {
  const rows = useQuery(usageBy("server", since));
  if (!rows.data) return <SkeletonRows rows={3} />;
  const shares = rows.data.map((row) => ({
    key: row.server ?? "",
    name: nameOf(row, "server"),
    amount: row.calls ?? 0,
    value: `${formatNumber(row.calls)} ${row.calls === 1 ? "call" : "calls"}`,
    detail: [
      `about ${formatCompact(row.result_tokens)} tokens of results${row.cost ? ` (${formatCost(row.cost)})` : ""}`,
      `${formatDuration((row.duration_ms ?? 0) / Math.max(1, row.calls ?? 1))} each`,
      row.errors ? `${formatNumber(row.errors)} failed` : "none failed",
    ].join(", "),
  }));
  return (
    <Shares title="Servers" description="Bars show calls." empty="No tool was called." shares={shares} />
  );
}
