import { useQuery } from "@tanstack/react-query";
import type { EChartsOption } from "echarts";
import { ChevronRight, FolderSearch } from "lucide-react";
import { Fragment, useMemo, useState } from "react";
import { colour } from "@/shared/design/colour";
import { useShownTheme } from "@/shared/design/theme";
import { Chart } from "@/shared/ui/Chart";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Skeleton } from "@/shared/ui/Skeleton";
import { type Folder, treeOf, wayTo, worstFiles } from "./fileTree";
import { SHADES, stepOf } from "./harm";
import { Path } from "./MetricDetails";
import { type Node, nodesIn, percent, saidOf } from "./mapNodes";
import { filesOf } from "./queries";
import { count } from "./words";

interface FileMapProps {
  channelId: string;
  onFile: (path: string) => void;
}

const HEIGHT = 460;
const LISTED = 12;
/** So many areas of the same size would have room for a name each. */
const AREAS_WITH_NAMES = 160;

/** Every file as an area: as large as it has lines, as red as it harms. */
export function FileMap({ channelId, onFile }: FileMapProps) {
  const files = useQuery(filesOf(channelId));
  const [open, setOpen] = useState("");
  const root = useMemo(() => treeOf(files.data ?? []), [files.data]);
  const way = wayTo(root, open);
  const folder = way.at(-1) as Folder;
  const option = useOption(folder);
  if (files.isPending) return <Skeleton className="h-115 w-full" />;
  if (files.isError)
    return (
      <ErrorState
        title="The files could not be read"
        error={files.error}
        onRetry={() => void files.refetch()}
      />
    );
  if (files.data.length === 0) return <NoFiles />;
  const clicked = (data: unknown) => {
    const { path, isFile } = data as Partial<Node>;
    if (path === undefined) return;
    if (isFile) onFile(path);
    else setOpen(path);
  };
  return (
    <div className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_19rem]">
      <div className="min-w-0">
        <div className="mb-2 flex min-h-7 flex-wrap items-center justify-between gap-x-4 gap-y-1">
          <Way way={way} onOpen={setOpen} />
          <Legend />
        </div>
        <div className="overflow-hidden rounded-lg border border-line bg-raised p-1.5 shadow-sm">
          <Chart
            maps
            label={`Map of ${count(folder.loc, "line")} of code: the larger an area the more lines it has, the redder the more it harms. The list beside it names the worst files.`}
            option={option}
            height={HEIGHT}
            onClick={(point) => clicked(point.data)}
          />
        </div>
      </div>
      <Worst folder={folder} onFile={onFile} />
    </div>
  );
}

const NoFiles = () => (
  <EmptyState icon={<FolderSearch />} title="No file could be measured">
    There is no code in a language that is known here, or all of it is left out: look at the patterns in the
    settings, and at the .gitignore of the project.
  </EmptyState>
);

function Way({ way, onOpen }: { way: readonly Folder[]; onOpen: (path: string) => void }) {
  return (
    <nav aria-label="Folder" className="flex min-w-0 flex-wrap items-center gap-1 text-sm">
      {way.map((folder, place) => {
        const name = folder.name || "All files";
        return (
          <Fragment key={folder.path}>
            {place > 0 && <ChevronRight aria-hidden className="size-3.5 text-ink-faint" />}
            {place === way.length - 1 ? (
              <span aria-current="location" className="font-medium">
                {name}
              </span>
            ) : (
              <button
                type="button"
                onClick={() => onOpen(folder.path)}
                className="rounded-xs text-accent-ink hover:underline"
              >
                {name}
              </button>
            )}
          </Fragment>
        );
      })}
    </nav>
  );
}

const Legend = () => (
  <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-faint">
    Harm
    {SHADES.map(({ token, words }) => (
      <span key={token} className="inline-flex items-center gap-1.5">
        <span aria-hidden className="size-3 rounded-xs" style={{ background: `var(--${token})` }} />
        {words}
      </span>
    ))}
  </p>
);

/** The same in words, and for the keyboard. */
function Worst({ folder, onFile }: { folder: Folder; onFile: (path: string) => void }) {
  const worst = useMemo(() => worstFiles(folder, LISTED), [folder]);
  return (
    <section aria-label="What harms most" className="min-w-0">
      <h2 className="mb-2 flex min-h-7 items-center gap-2 text-sm font-medium">
        What harms most <span className="text-xs font-normal text-ink-faint">by lines times harm</span>
      </h2>
      {worst.length === 0 && <p className="text-sm text-ink-soft">No function here is over a threshold.</p>}
      <ul className="flex flex-col gap-px">
        {worst.map((file) => (
          <li key={file.path}>
            <button
              type="button"
              onClick={() => onFile(file.path)}
              className="flex w-full items-start gap-2.5 rounded-sm px-2 py-1 text-left text-xs hover:bg-hover"
            >
              <span
                aria-hidden
                className="mt-0.5 size-3 shrink-0 rounded-xs"
                style={{ background: `var(--${SHADES[stepOf(file.harm)]?.token})` }}
              />
              <span className="min-w-0 flex-1">
                <Path path={file.path} />
              </span>
              <span className="text-ink-soft tabular-nums">{percent(file.harm)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function useOption(folder: Folder): EChartsOption {
  const theme = useShownTheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read from the page when the theme changes
  return useMemo(() => {
    const shades = SHADES.map(({ token }) => colour(token));
    const [raised, ink, soft, sunken] = ["raised", "ink", "ink-soft", "sunken"].map(colour) as [
      string,
      string,
      string,
      string,
    ];
    const headed = {
      upperLabel: { show: true, height: 20, color: soft, fontSize: 11, padding: [0, 4] },
      itemStyle: { color: sunken, borderColor: sunken, borderWidth: 3, gapWidth: 1, borderRadius: 4 },
    };
    return {
      tooltip: { formatter: (point) => (Array.isArray(point) ? "" : saidOf(point.data)) },
      series: [
        {
          type: "treemap",
          data: nodesIn(folder, shades, folder.loc / AREAS_WITH_NAMES),
          left: 0,
          right: 0,
          top: 0,
          bottom: 0,
          roam: false,
          nodeClick: false,
          breadcrumb: { show: false },
          visibleMin: 12,
          label: { color: ink, fontSize: 11, overflow: "truncate", padding: 2 },
          itemStyle: { borderColor: raised, gapWidth: 1 },
          emphasis: { itemStyle: { borderColor: ink, borderWidth: 1 }, upperLabel: { color: ink } },
          levels: [{ itemStyle: { borderWidth: 0, gapWidth: 3 } }, headed, headed, headed],
        },
      ],
    };
  }, [folder, theme]);
}
