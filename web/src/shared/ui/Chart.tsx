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
  /** Treemaps and graphs: parts of the library that come only where they are drawn. */
  maps?: boolean;
  onClick?: (point: { name: string; dataIndex: number; seriesName?: string; data: unknown }) => void;
}

const Plain = lazy(() => import("./ChartDrawn"));
const Mapped = lazy(async () => {
  const [drawn, { addMaps }] = await Promise.all([import("./ChartDrawn"), import("./chartMaps")]);
  addMaps();
  return drawn;
});

/** A plot; the library for it is loaded when it is first needed. */
export function Chart(props: ChartProps) {
  const height = props.height ?? 240;
  const Drawn = props.maps ? Mapped : Plain;
  return (
    <figure aria-label={props.label} role="img" className="min-w-0" style={{ height }}>
      <Suspense fallback={<Skeleton className="h-full w-full" />}>
        <Drawn {...props} height={height} />
      </Suspense>
    </figure>
  );
}
