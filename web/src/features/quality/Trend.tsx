import { useQuery } from "@tanstack/react-query";
import type { EChartsOption } from "echarts";
import { useMemo, useState } from "react";
import { formatDay } from "@/shared/format/format";
import { Card } from "@/shared/ui/Card";
import { Chart } from "@/shared/ui/Chart";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Segmented } from "@/shared/ui/Segmented";
import { Skeleton } from "@/shared/ui/Skeleton";
import { historyOf, type Point } from "./queries";
import { type Line, type Trend as Lines, type Measure, trendOf } from "./trendLines";

const MEASURES = [
  { value: "signal", label: "Signal" },
  { value: "scores", label: "Six scores" },
] as const;
const HEIGHT = 216;

/** How the numbers went from scan to scan. */
export function Trend({ channelId, branch }: { channelId: string; branch: string | null }) {
  const history = useQuery(historyOf(channelId));
  const [measure, setMeasure] = useState<Measure>("signal");
  const lines = useMemo(() => trendOf(history.data ?? [], branch, measure), [history.data, branch, measure]);
  const option = useMemo(() => optionOf(lines, measure), [lines, measure]);
  return (
    <Card
      title="Trend"
      description={told(history.data)}
      actions={<Segmented label="What is shown" value={measure} options={MEASURES} onChange={setMeasure} />}
    >
      {history.isPending && <Skeleton className="h-54 w-full" />}
      {history.isError && (
        <ErrorState
          title="The trend could not be read"
          error={history.error}
          onRetry={() => void history.refetch()}
        />
      )}
      {history.data && <Chart label={spoken(history.data)} option={option} height={HEIGHT} />}
    </Card>
  );
}

function told(points: readonly Point[] | undefined): string {
  if (!points) return " ";
  if (points.length === 1) return "One scan so far; the next one begins the line.";
  return `The last ${points.length} scans.`;
}

const spoken = (points: readonly Point[]): string =>
  `Trend of the quality signal: ${points
    .slice(0, 10)
    .map((point) => `${point.quality_signal} on ${formatDay(point.scanned_at)}`)
    .join(", ")}`;

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const hour = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

/** The day of a scan; of several on one day the time. */
function axisText(times: readonly string[], place: number): string {
  const [at, before] = [times[place], times[place - 1]].map((time) => new Date(time ?? 0));
  return day.format(at) === day.format(before) ? hour.format(at) : day.format(at);
}

/** One point alone has no range of its own. */
function around(lines: readonly Line[]) {
  const value = lines.flatMap((line) => line.values).find((one) => one !== null) ?? 0;
  const middle = Math.round(value / 100) * 100;
  return { min: Math.max(0, middle - 200), max: Math.min(10_000, middle + 200) };
}

function optionOf({ times, lines }: Lines, measure: Measure): EChartsOption {
  const show = (value: unknown): string => {
    if (value == null) return "";
    return measure === "signal" ? Number(value).toLocaleString() : Number(value).toFixed(2);
  };
  return {
    grid: { left: 4, right: 10, top: 12, bottom: lines.length > 1 ? 34 : 8 },
    legend: lines.length > 1 ? { bottom: 0, type: "scroll" } : { show: false },
    tooltip: { trigger: "axis", valueFormatter: (value) => show(value) },
    xAxis: {
      type: "category",
      data: times.map(formatDay),
      boundaryGap: times.length === 1,
      axisLabel: { hideOverlap: true, formatter: (_: string, place: number) => axisText(times, place) },
    },
    yAxis: {
      type: "value",
      splitNumber: 4,
      // Small changes of a large number would be a straight line from zero.
      scale: measure === "signal",
      ...(measure === "scores" ? { min: 0, max: 1 } : times.length === 1 ? around(lines) : {}),
      minInterval: measure === "signal" ? 1 : undefined,
      axisLabel: { formatter: (value: number) => show(value) },
    },
    series: lines.map((line) => ({
      name: line.name,
      type: "line",
      symbol: "circle",
      symbolSize: times.length > 60 ? 3 : 6,
      connectNulls: true,
      lineStyle: { width: 2 },
      areaStyle: lines.length === 1 ? { opacity: 0.1 } : undefined,
      data: line.values,
    })),
  };
}
