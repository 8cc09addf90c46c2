import type { EChartsOption } from "echarts";
import { ChartColumn } from "lucide-react";
import { useMemo } from "react";
import { Chart } from "@/shared/ui/Chart";
import { EmptyState } from "@/shared/ui/EmptyState";
import { type Measure, type Series, shown } from "./series";

const shortDay = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const spoken = (day: string): string => shortDay.format(new Date(`${day}T00:00`));

interface DayChartProps {
  label: string;
  series: readonly Series[];
  days: readonly string[];
  measure: Measure;
  height?: number;
}

/** Stacked bars, one for each day. */
export function DayChart({ label, series, days, measure, height = 260 }: DayChartProps) {
  const option = useMemo(() => optionOf(series, days, measure), [series, days, measure]);
  if (series.length === 0)
    return (
      <EmptyState icon={<ChartColumn />} title="Nothing in these days">
        Ask something in the chat, and it is counted here at once.
      </EmptyState>
    );
  return <Chart label={label} option={option} height={height} />;
}

function optionOf(series: readonly Series[], days: readonly string[], measure: Measure): EChartsOption {
  const show = shown[measure];
  // The uppermost of each day is round.
  const tops = days.map((_, day) => series.findLastIndex((one) => (one.values[day] ?? 0) > 0));
  return {
    grid: { left: 4, right: 8, top: 12, bottom: series.length > 1 ? 36 : 8 },
    legend: series.length > 1 ? { bottom: 0, type: "scroll" } : { show: false },
    tooltip: {
      trigger: "axis",
      axisPointer: { type: "shadow" },
      order: "valueDesc",
      valueFormatter: (value) => show(Number(value)),
    },
    xAxis: { type: "category", data: days.map(spoken), axisLabel: { hideOverlap: true } },
    yAxis: { type: "value", axisLabel: { formatter: (value: number) => show(value) }, splitNumber: 4 },
    series: series.map((one, place) => ({
      name: one.name,
      type: "bar",
      stack: "day",
      barMaxWidth: 26,
      data: one.values.map((value, day) => ({
        value,
        itemStyle: { borderRadius: tops[day] === place ? [3, 3, 0, 0] : 0 },
      })),
    })),
  };
}
