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

/** A token as a colour that a canvas understands. */
function colour(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const context = document.createElement("canvas").getContext("2d");
  const value = getComputedStyle(probe).color;
  probe.remove();
  if (context === null) return value;
  context.fillStyle = value;
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, alpha = 255] = context.getImageData(0, 0, 1, 1).data;
  return `rgba(${red},${green},${blue},${alpha / 255})`;
}

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
  const clicked = useRef(onClick);
  clicked.current = onClick;
  const shown = useShownTheme();

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme is read from the page when it changes
  useEffect(() => {
    if (place.current === null) return;
    const made = init(place.current, theme());
    chart.current = made;
    made.on("click", (point) => clicked.current?.(point as never));
    const sized = new ResizeObserver(() => made.resize());
    sized.observe(place.current);
    return () => {
      sized.disconnect();
      made.dispose();
      chart.current = null;
    };
  }, [shown]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart that was made anew needs its option too
  useEffect(() => {
    const grid = { left: 8, right: 12, top: 28, bottom: 8, ...WITH_LABELS };
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    // Text instead of elements in tooltips: styles inside HTML are not allowed by our policy.
    const tooltip = { renderMode: "richText" as const, ...(option.tooltip as object | undefined) };
    chart.current?.setOption(
      {
        animation: !still,
        animationDuration: 250,
        ...option,
        grid: { ...grid, ...(option.grid as object | undefined) },
        tooltip,
      },
      { notMerge: true },
    );
  }, [option, shown]);

  return <div ref={place} style={{ height }} />;
}
