import { useInfiniteQuery } from "@tanstack/react-query";
import type { EChartsOption } from "echarts";
import { ArrowRight, CircleCheck } from "lucide-react";
import { Fragment, useMemo, useState } from "react";
import { colour } from "@/shared/design/colour";
import { useShownTheme } from "@/shared/design/theme";
import { Card } from "@/shared/ui/Card";
import { Chart } from "@/shared/ui/Chart";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Select } from "@/shared/ui/Select";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { commonFolder, shortestLoop } from "./loop";
import { type Cycle, cyclesOf } from "./queries";
import { ShowMore } from "./ShowMore";
import { count } from "./words";

/** Import cycles, each drawn, with the shortest way round. */
export function Cycles({ channelId, total }: { channelId: string; total: number }) {
  const found = useInfiniteQuery(cyclesOf(channelId));
  const [chosen, setChosen] = useState(1);
  const cycles = found.data?.pages.flatMap((page) => page.items) ?? [];
  if (found.isPending) return <SkeletonRows />;
  if (found.isError)
    return (
      <ErrorState
        title="The cycles could not be read"
        error={found.error}
        onRetry={() => void found.refetch()}
      />
    );
  const shown = cycles.find((one) => one.id === chosen) ?? cycles[0];
  if (!shown)
    return (
      <EmptyState icon={<CircleCheck />} title="No import cycles">
        No file imports itself by way of others.
      </EmptyState>
    );
  return (
    <Card
      title={`${count(shown.size, "file")} that import each other`}
      description={`${count(shown.links.length, "import")} among them. Taking out one import of the shortest way round is a good beginning.`}
      actions={
        cycles.length > 1 && (
          <div className="w-44">
            <Select
              label="Cycle"
              value={String(shown.id)}
              options={cycles.map((one) => ({
                value: String(one.id),
                label: `Cycle ${one.id}: ${count(one.size, "file")}`,
              }))}
              onChange={(next) => setChosen(Number(next))}
            />
          </div>
        )
      }
    >
      <Drawn key={shown.id} cycle={shown} />
      <ShowMore shown={cycles.length} total={total} query={found} />
    </Card>
  );
}

function Drawn({ cycle }: { cycle: Cycle }) {
  const loop = useMemo(() => shortestLoop(cycle.files, cycle.links), [cycle]);
  const base = commonFolder(cycle.files);
  const option = useOption(cycle, loop, base);
  return (
    <div className="flex flex-col gap-4">
      <div className="rounded-md bg-sunken px-3.5 py-2.5">
        <h3 className="text-xs font-medium text-ink-soft">
          The shortest way round{base && <span className="font-normal text-ink-faint"> (below {base})</span>}
        </h3>
        <p className="mt-1 flex flex-wrap items-center gap-x-1.5 gap-y-1 font-mono text-xs">
          {loop.map((path, place) => (
            <Fragment key={place}>
              {place > 0 && (
                <ArrowRight role="img" aria-label="imports" className="size-3.5 text-accent-ink" />
              )}
              <bdi className="[overflow-wrap:anywhere]">{path.slice(base.length)}</bdi>
            </Fragment>
          ))}
        </p>
      </div>
      <Chart
        maps
        label={`${cycle.size} files and their imports of each other: ${cycle.links
          .slice(0, 50)
          .map((link) => link.join(" imports "))
          .join("; ")}`}
        option={option}
        height={cycle.size > 30 ? 620 : 460}
      />
    </div>
  );
}

const MOST_IN_A_RING = 30;
const NARROW = 640;

function useOption(cycle: Cycle, loop: readonly string[], base: string): EChartsOption {
  const theme = useShownTheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read from the page when the theme changes
  return useMemo(() => {
    const marked = new Set(loop.slice(1).map((path, place) => `${loop[place]}\n${path}`));
    const [accent = "", line = "", ink = "", dim = ""] = ["accent", "idle", "ink", "accent-line"].map(colour);
    const ring = cycle.size <= MOST_IN_A_RING;
    return {
      tooltip: { formatter: (point) => String((point as { name?: string }).name ?? "") },
      series: [
        {
          type: "graph",
          layout: ring ? "none" : "force",
          force: { repulsion: 260, edgeLength: [60, 140], gravity: 0.12, layoutAnimation: false },
          roam: !ring,
          preserveAspect: "contain",
          left: "32%",
          right: "32%",
          top: 24,
          bottom: 24,
          symbolSize: 11,
          edgeSymbol: ["none", "arrow"],
          edgeSymbolSize: 7,
          label: {
            show: true,
            distance: 7,
            width: innerWidth < NARROW ? 86 : 190,
            overflow: "truncate",
            color: ink,
            fontSize: 11,
            formatter: (point) => String(point.name).slice(base.length),
          },
          labelLayout: { hideOverlap: !ring },
          lineStyle: { color: line, width: 1.2, curveness: 0.14, opacity: 0.75 },
          emphasis: { focus: "adjacency", lineStyle: { width: 2.5, opacity: 1 } },
          data: cycle.files.map((name, place) => ({
            name,
            ...inRing(place, cycle.size),
            itemStyle: { color: loop.includes(name) ? accent : dim },
          })),
          links: cycle.links.map(([source = "", target = ""]) => ({
            source,
            target,
            lineStyle: marked.has(`${source}\n${target}`) ? { color: accent, width: 2.5, opacity: 1 } : {},
          })),
        },
      ],
    };
  }, [cycle, loop, base, theme]);
}

/** Where a file stands in the ring, from the top on, with its name outside. */
function inRing(place: number, size: number) {
  // Two that stand level have no height, which cannot be drawn.
  const angle = (2 * Math.PI * (place + 0.5)) / size - Math.PI / 2 + (size === 2 ? 0.25 : 0);
  const position = Math.cos(angle) >= 0 ? "right" : "left";
  // Beside a tall ring there is more room for names.
  const tall = innerWidth < NARROW ? 2.4 : 0.8;
  return { x: Math.cos(angle), y: tall * Math.sin(angle), label: { position } } as const;
}
