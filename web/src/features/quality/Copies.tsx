import { useInfiniteQuery } from "@tanstack/react-query";
import { Copy } from "lucide-react";
import { useState } from "react";
import { Badge } from "@/shared/ui/Badge";
import { classes } from "@/shared/ui/classes";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Select } from "@/shared/ui/Select";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { Path } from "./MetricDetails";
import { type Cluster, clonesOf } from "./queries";
import { ShowMore } from "./ShowMore";
import { type Place, Source } from "./SourceSheet";
import { count } from "./words";

interface CopiesProps {
  channelId: string;
  total: number;
  onOpen: (place: Place) => void;
}

/** Groups of functions that are copies of each other, and two of a group side by side. */
export function Copies({ channelId, total, onOpen }: CopiesProps) {
  const found = useInfiniteQuery(clonesOf(channelId));
  const [chosen, setChosen] = useState(1);
  const clusters = found.data?.pages.flatMap((page) => page.items) ?? [];
  if (found.isPending) return <SkeletonRows />;
  if (found.isError)
    return (
      <ErrorState
        title="The copies could not be read"
        error={found.error}
        onRetry={() => void found.refetch()}
      />
    );
  const shown = clusters.find((one) => one.id === chosen) ?? clusters[0];
  if (!shown)
    return (
      <EmptyState icon={<Copy />} title="No copies">
        No two functions of five lines and more are alike but for names and literals.
      </EmptyState>
    );
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[17rem_minmax(0,1fr)]">
      <div className="min-w-0 overflow-hidden rounded-lg border border-line bg-raised shadow-sm">
        <ul aria-label="Groups of copies" className="max-h-52 overflow-y-auto lg:max-h-150">
          {clusters.map((one) => (
            <li key={one.id} className="border-b border-line last:border-0">
              <Choice cluster={one} chosen={one === shown} onChoose={() => setChosen(one.id)} />
            </li>
          ))}
        </ul>
        <ShowMore shown={clusters.length} total={total} query={found} />
      </div>
      <SideBySide key={shown.id} channelId={channelId} cluster={shown} onOpen={onOpen} />
    </div>
  );
}

function Choice({ cluster, chosen, onChoose }: { cluster: Cluster; chosen: boolean; onChoose: () => void }) {
  const files = new Set(cluster.units.map((unit) => unit.path)).size;
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={onChoose}
      className={classes(
        "w-full border-l-2 px-3.5 py-2.5 text-left -outline-offset-2",
        chosen ? "border-accent bg-accent-soft" : "border-transparent hover:bg-hover",
      )}
    >
      <span className="block truncate font-mono text-xs font-medium" title={cluster.units[0]?.name}>
        {cluster.units[0]?.name}
      </span>
      <span className="block text-xs text-ink-soft">
        {count(cluster.units.length, "copy", "copies")} in {count(files, "file")} ·{" "}
        {count(cluster.lines, "line")}
      </span>
    </button>
  );
}

interface SideBySideProps {
  channelId: string;
  cluster: Cluster;
  onOpen: (place: Place) => void;
}

function SideBySide({ channelId, cluster, onOpen }: SideBySideProps) {
  const [pair, setPair] = useState<[number, number]>([0, 1]);
  return (
    <section aria-label="Side by side" className="min-w-0">
      <p className="mb-2 flex flex-wrap items-center gap-2 text-sm text-ink-soft">
        <Badge mood={cluster.exact ? "bad" : "warn"}>{cluster.exact ? "Exact" : "Nearly alike"}</Badge>
        {cluster.exact
          ? "They differ in names and literals alone."
          : "Their shape is nearly the same; names and literals do not count."}
      </p>
      <div className="grid gap-4 xl:grid-cols-2">
        {pair.map((place, side) => (
          <Side
            key={side}
            channelId={channelId}
            cluster={cluster}
            place={place}
            label={side === 0 ? "Left" : "Right"}
            onChoose={(next) => setPair(([left, right]) => (side === 0 ? [next, right] : [left, next]))}
            onOpen={onOpen}
          />
        ))}
      </div>
    </section>
  );
}

interface SideProps extends SideBySideProps {
  place: number;
  label: string;
  onChoose: (place: number) => void;
}

function Side({ channelId, cluster, place, label, onChoose, onOpen }: SideProps) {
  const unit = cluster.units[place];
  if (!unit) return null;
  return (
    <div className="min-w-0 overflow-hidden rounded-lg border border-line bg-raised shadow-sm">
      <header className="border-b border-line p-2">
        {cluster.units.length > 2 ? (
          <Select
            label={`${label} copy`}
            value={String(place)}
            options={cluster.units.map((one, at) => ({
              value: String(at),
              label: one.name,
              hint: `${one.path}:${one.line}`,
            }))}
            onChange={(next) => onChoose(Number(next))}
          />
        ) : (
          <h3 className="truncate px-1.5 py-1 font-mono text-xs font-medium" title={unit.name}>
            {unit.name}
          </h3>
        )}
        <button
          type="button"
          onClick={() => onOpen(unit)}
          className="mt-1 rounded-xs px-1.5 text-left text-xs text-ink-soft hover:text-accent-ink hover:underline"
        >
          <Path path={unit.path} />:{unit.line}
        </button>
      </header>
      <Source channelId={channelId} place={unit} className="max-h-112" />
    </div>
  );
}
