import type { EChartsOption } from "echarts";
import { lazy, Suspense } from "react";
import { Skeleton } from "./Skeleton";

export interface ChartProps {
  /** What it shows, in words: for those who do not see it. */
  label: string;
  /** ECharts' own; colours, fonts and axes come from the design tokens. */
  option: EChartsOption;
  /** In pixels. */
  height?: number;
  onClick?: (point: { name: string; dataIndex: number; seriesName?: string; data: unknown }) => void;
}

const Drawn = lazy(() => import("./ChartDrawn"));

/** A plot; the library for it is loaded when it is first needed. */
export function Chart(props: ChartProps) {
  const height = props.height ?? 240;
  return (
    <figure aria-label={props.label} role="img" className="min-w-0" style={{ height }}>
      <Suspense fallback={<Skeleton className="h-full w-full" />}>
        <Drawn {...props} height={height} />
      </Suspense>
    </figure>
  );
}
