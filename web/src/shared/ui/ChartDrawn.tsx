/** ECharts behind `Chart`: a chunk of its own, with the parts that we use. */
import { BarChart, LineChart, PieChart, ScatterChart } from "echarts/charts";
import {
  DatasetComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
} from "echarts/components";
import { type EChartsType, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { useEffect, useRef } from "react";
import { colour } from "@/shared/design/colour";
import { useShownTheme } from "@/shared/design/theme";
import type { ChartProps } from "./Chart";

use([
  BarChart,
  LineChart,
  PieChart,
  ScatterChart,
  GridComponent,
  LegendComponent,
  TooltipComponent,
  DataZoomComponent,
  DatasetComponent,
  MarkLineComponent,
  CanvasRenderer,
]);

/** The words at the axes are inside of the edges. */
const WITH_LABELS = { outerBoundsMode: "same", outerBoundsContain: "axisLabel" } as const;

function theme() {
  const font = getComputedStyle(document.body).fontFamily;
  const axis = {
    axisLine: { lineStyle: { color: colour("line-strong") } },
    axisTick: { show: false },
    axisLabel: { color: colour("ink-faint"), fontSize: 11 },
    splitLine: { lineStyle: { color: colour("line") } },
    nameTextStyle: { color: colour("ink-faint") },
  };
  return {
    color: [1, 2, 3, 4, 5, 6].map((place) => colour(`plot-${place}`)),
    backgroundColor: "transparent",
    textStyle: { fontFamily: font, color: colour("ink-soft") },
    categoryAxis: { ...axis, splitLine: { show: false } },
    timeAxis: { ...axis, splitLine: { show: false } },
    valueAxis: { ...axis, axisLine: { show: false } },
    logAxis: { ...axis, axisLine: { show: false } },
    legend: {
      textStyle: { color: colour("ink-soft") },
      icon: "circle",
      itemHeight: 8,
      itemWidth: 8,
      itemGap: 16,
    },
    tooltip: {
      backgroundColor: colour("raised"),
      borderColor: colour("line-strong"),
      textStyle: { color: colour("ink"), fontSize: 12, fontFamily: font },
    },
  };
}

export default function ChartDrawn({ option, height, onClick }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType | null>(null);
  const wanted = useRef(option);
  const clicked = useRef(onClick);
  wanted.current = option;
  clicked.current = onClick;
  const shown = useShownTheme();

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme is read from the page when it changes
  useEffect(() => {
    const frame = place.current;
    if (frame === null) return;
    const adapt = () => {
      // What is hidden has no size, in which some plots cannot be drawn: it is drawn when it is seen.
      if (frame.clientWidth === 0) return;
      if (chart.current) chart.current.resize();
      else {
        chart.current = init(frame, theme());
        chart.current.on("click", (point) => clicked.current?.(point as never));
        show(chart.current, wanted.current);
      }
    };
    adapt();
    const sized = new ResizeObserver(adapt);
    sized.observe(frame);
    return () => {
      sized.disconnect();
      chart.current?.dispose();
      chart.current = null;
    };
  }, [shown]);

  useEffect(() => {
    if (chart.current) show(chart.current, option);
  }, [option]);

  return <div ref={place} style={{ height }} />;
}

const shownOptions = new WeakMap<EChartsType, ChartProps["option"]>();

function show(chart: EChartsType, option: ChartProps["option"]): void {
  if (shownOptions.get(chart) === option) return;
  shownOptions.set(chart, option);
  const grid = { left: 8, right: 12, top: 28, bottom: 8, ...WITH_LABELS };
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  // Text instead of elements in tooltips: styles inside HTML are not allowed by our policy.
  const tooltip = { renderMode: "richText" as const, ...(option.tooltip as object | undefined) };
  chart.setOption(
    {
      animation: !still,
      animationDuration: 250,
      ...option,
      grid: { ...grid, ...(option.grid as object | undefined) },
      tooltip,
    },
    { notMerge: true },
  );
}
