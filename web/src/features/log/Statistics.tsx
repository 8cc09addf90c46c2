import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { useEvent } from "@/shared/events/events";
import { readAgain } from "@/shared/events/follow";
import { formatNumber, formatServer } from "@/shared/format/format";
import { Card } from "@/shared/ui/Card";
import { Chart } from "@/shared/ui/Chart";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Select } from "@/shared/ui/Select";
import { Skeleton } from "@/shared/ui/Skeleton";
import { ErrorRates } from "./ErrorRates";
import { latencyOption } from "./plots";
import { callStats, callsKey } from "./queries";

const SPANS = [
  { value: "3600", label: "Last hour" },
  { value: "86400", label: "Last 24 hours" },
  { value: "604800", label: "Last 7 days" },
  { value: "2592000", label: "Last 30 days" },
] as const;
type Span = (typeof SPANS)[number]["value"];

const HEIGHT = 190;
const PACE = 5000;

/** How long calls take, and how often they fail. */
export function Statistics({ server, onServer }: { server?: string; onServer: (server: string) => void }) {
  const [span, setSpan] = useState<Span>("86400");
  const stats = useQuery(callStats(Number(span), server));
  useFresh();
  const latency = useMemo(() => stats.data && latencyOption(stats.data), [stats.data]);
  if (stats.isError)
    return (
      <ErrorState
        title="The statistics could not be read"
        error={stats.error}
        onRetry={() => void stats.refetch()}
      />
    );
  const calls = stats.data?.servers.reduce((sum, one) => sum + one.calls, 0) ?? 0;
  return (
    <div className="grid gap-4 lg:grid-cols-[3fr_2fr]">
      <Card
        title="How long calls take"
        description={
          server
            ? `Calls of ${formatServer(server)}`
            : stats.data && `${formatNumber(calls)} calls of all servers`
        }
        actions={
          <Select label="Time span" value={span} options={SPANS} onChange={setSpan} className="w-36!" />
        }
      >
        {latency === undefined ? (
          <Skeleton className="h-47.5 w-full" />
        ) : stats.data?.points.length === 0 ? (
          <Nothing />
        ) : (
          <Chart
            label="Median and 95th percentile of the duration of calls over time"
            option={latency}
            height={HEIGHT}
          />
        )}
      </Card>
      <Card title="How often they fail" description="Share of errors and timeouts, by server">
        {stats.data === undefined ? (
          <Skeleton className="h-47.5 w-full" />
        ) : calls === 0 ? (
          <Nothing />
        ) : (
          <ErrorRates servers={stats.data.servers} chosen={server} onServer={onServer} />
        )}
      </Card>
    </div>
  );
}

const Nothing = () => (
  <p className="grid h-47.5 place-items-center text-sm text-ink-faint">No calls in this time.</p>
);

/** Read anew some seconds after calls have ended, however many there were. */
function useFresh(): void {
  const cache = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEvent("tool.finished", () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      readAgain(cache, [...callsKey, "stats"]);
    }, PACE);
  });
}
