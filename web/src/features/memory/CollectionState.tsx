import { Clock, Eye, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import type { Collection } from "./queries";
import { isBusy, PHASES, SCOPES } from "./state";

interface CollectionStateProps {
  collection: Collection;
  onFiles: () => void;
  onProblems: () => void;
}

/** One memory: how much is in it, how far it is read, and what is wrong. */
export function CollectionState({ collection, onFiles, onProblems }: CollectionStateProps) {
  const { scope, directory, roots, indexed_at, problems, stale, watch_problem } = collection;
  const where = directory ?? roots[0];
  return (
    <section aria-label={SCOPES[scope]} className="py-3 text-sm first:pt-1 last:pb-0">
      <h3 className="font-medium">{SCOPES[scope]}</h3>
      {where && (
        <p className="truncate text-xs text-ink-faint" title={roots.join("\n")}>
          <bdi>{where}</bdi>
        </p>
      )}
      {isBusy(collection) ? (
        <Progress collection={collection} />
      ) : (
        <Counts collection={collection} onFiles={onFiles} />
      )}
      {stale > 0 && (
        <Line icon={<TriangleAlert className="text-warn-ink" />}>
          {stale === 1 ? "1 file has" : `${stale.toLocaleString()} files have`} changed and{" "}
          {stale === 1 ? "is" : "are"} read next.
        </Line>
      )}
      {problems > 0 && (
        <Line icon={<TriangleAlert className="text-warn-ink" />}>
          <button type="button" onClick={onProblems} className="rounded-xs text-left text-warn-ink underline">
            {problems === 1 ? "1 file" : `${problems.toLocaleString()} files`} with problems
          </button>
        </Line>
      )}
      {indexed_at && (
        <Line icon={collection.watched ? <Eye /> : <Clock />}>
          {collection.watched ? "Followed as files change, last read " : "Last read "}
          <RelativeTime at={indexed_at} />
        </Line>
      )}
      {watch_problem && <Line icon={<TriangleAlert className="text-warn-ink" />}>{watch_problem}</Line>}
    </section>
  );
}

const Line = ({ icon, children }: { icon: ReactNode; children: ReactNode }) => (
  <p className="mt-1.5 flex gap-1.5 text-xs text-ink-soft [overflow-wrap:anywhere] [&>svg]:mt-0.5 [&>svg]:size-3.5 [&>svg]:shrink-0">
    {icon}
    <span>{children}</span>
  </p>
);

function Counts({ collection, onFiles }: { collection: Collection; onFiles: () => void }) {
  const { files, chunks, embedded, indexed_at } = collection;
  if (!indexed_at)
    return (
      <p className="mt-1 text-xs text-ink-soft">Not read yet: the first search does that, or Re-index.</p>
    );
  if (files === 0)
    return (
      <p className="mt-1 text-xs text-ink-soft">
        No notes here yet. Markdown and text files in this place are found as soon as they are there.
      </p>
    );
  const share = chunks > 0 ? Math.floor((100 * embedded) / chunks) : 100;
  return (
    <p className="mt-1 text-xs text-ink-soft tabular-nums">
      <button type="button" onClick={onFiles} className="rounded-xs text-accent-ink hover:underline">
        {files.toLocaleString()} {files === 1 ? "file" : "files"}
      </button>{" "}
      in {chunks.toLocaleString()} {chunks === 1 ? "passage" : "passages"}
      {embedded > 0 && (share < 100 ? `, ${share} % with vectors` : ", all with vectors")}
    </p>
  );
}

function Progress({ collection }: { collection: Collection }) {
  const { state, done, total } = collection;
  const percent = total > 0 ? Math.round((100 * done) / total) : undefined;
  return (
    <div className="mt-1.5">
      <p className="flex justify-between gap-2 text-xs text-busy-ink">
        <span>{PHASES[state]} …</span>
        {total > 0 && (
          <span className="tabular-nums">
            {done.toLocaleString()} of {total.toLocaleString()}
          </span>
        )}
      </p>
      <div
        role="progressbar"
        aria-label={PHASES[state]}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        className="mt-1 h-1.5 overflow-hidden rounded-full bg-pressed"
      >
        <div
          className="h-full rounded-full bg-busy transition-[width] duration-(--calm)"
          style={{ width: `${percent ?? 4}%` }}
        />
      </div>
    </div>
  );
}
