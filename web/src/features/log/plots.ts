/** What the plots of the log draw. Pure. */
import type { EChartsOption } from "echarts";
import type { Schemas } from "@/shared/api/client";
import { formatDuration } from "@/shared/format/format";

type Statistics = Schemas["CallStatistics"];

/** Both percentiles over time; a step without calls breaks the line. */
export function latencyOption({ points, since, until, bucket_s }: Statistics): EChartsOption {
  const line = (name: string, pick: (point: Statistics["points"][number]) => number | null | undefined) => ({
    name,
    type: "line" as const,
    showSymbol: points.length < 3,
    symbolSize: 6,
    connectNulls: false,
    smooth: 0.2,
    lineStyle: { width: 2 },
    data: broken(points, bucket_s).map(([at, point]) => [at, (point && pick(point)) ?? null]),
  });
  return {
    legend: { top: 0, right: 0 },
    tooltip: { trigger: "axis", valueFormatter: (value) => formatDuration(value as number | null) },
    xAxis: { type: "time", min: since, max: until, axisLabel: { hideOverlap: true } },
    yAxis: {
      type: "value",
      axisLabel: { formatter: (value: number) => formatDuration(value) },
      splitNumber: 3,
    },
    series: [line("Median", (point) => point.p50_ms), line("95th percentile", (point) => point.p95_ms)],
  };
}

type Point = Statistics["points"][number];

/** The points by their time, with a gap after each one that has no neighbour in the next step. */
export function broken(points: readonly Point[], bucketS: number): [at: string, point: Point | null][] {
  return points.flatMap((point, place): [string, Point | null][] => {
    const next = points[place + 1];
    const end = new Date(point.at).getTime() + bucketS * 1000;
    if (next === undefined || new Date(next.at).getTime() <= end) return [[point.at, point]];
    return [
      [point.at, point],
      [new Date(end).toISOString(), null],
    ];
  });
}

type Rate = Statistics["servers"][number] & { rate: number };

/** Servers with the share of their calls that failed, the worst first. */
export const errorRates = (servers: Statistics["servers"]): Rate[] =>
  servers
    .map((one) => ({ ...one, rate: one.calls > 0 ? one.errors / one.calls : 0 }))
    .sort((one, other) => other.rate - one.rate || other.calls - one.calls);

export const percent = (share: number): string =>
  share > 0 && share < 0.01 ? "<1%" : `${Math.round(share * 100)}%`;
