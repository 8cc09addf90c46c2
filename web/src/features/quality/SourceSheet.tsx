import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { ErrorState } from "@/shared/ui/ErrorState";
import { IconButton } from "@/shared/ui/IconButton";
import { Sheet } from "@/shared/ui/Sheet";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { SourceLines } from "@/shared/ui/SourceLines";
import { Path } from "./MetricDetails";
import { sourceOf } from "./queries";

/** A function, and where it is. */
export interface Place {
  path: string;
  name: string;
  line: number;
  end_line: number;
}

const AROUND = 20;

interface SourceSheetProps {
  channelId: string;
  place: Place | null;
  onClose: () => void;
}

/** The code of a function in its file, beside the page. */
export function SourceSheet({ channelId, place, onClose }: SourceSheetProps) {
  return (
    <Sheet wide side="right" open={place !== null} onClose={onClose} title={place?.name ?? "Source"}>
      {place && (
        <>
          <header className="flex items-start gap-3 border-b border-line px-4 py-3">
            <div className="min-w-0 flex-1">
              <h2 className="font-mono text-sm font-semibold [overflow-wrap:anywhere]">
                <bdi>{place.name}</bdi>
              </h2>
              <p className="text-xs text-ink-soft">
                <Path path={place.path} />
                <span className="text-ink-faint">
                  , lines {place.line} to {place.end_line}
                </span>
              </p>
            </div>
            <IconButton label="Close" icon={<X />} size="sm" onClick={onClose} />
          </header>
          <Source channelId={channelId} place={place} around={AROUND} className="min-h-0 flex-1" />
        </>
      )}
    </Sheet>
  );
}

interface SourceProps {
  channelId: string;
  place: Place;
  /** Lines before and after it. */
  around?: number;
  className?: string;
}

export function Source({ channelId, place, around = 0, className }: SourceProps) {
  const first = Math.max(1, place.line - around);
  const found = useQuery(sourceOf(channelId, place.path, first, place.end_line + around));
  if (found.isPending) return <SkeletonRows />;
  if (found.isError)
    return (
      <ErrorState
        title="The code could not be read"
        error={found.error}
        onRetry={() => void found.refetch()}
      />
    );
  return (
    <>
      {found.data.changed && (
        <p role="status" className="bg-warn-soft px-4 py-2 text-xs text-warn-ink">
          The file has changed since the scan: lines may be elsewhere now.
        </p>
      )}
      <SourceLines
        label={`Code of ${place.name}`}
        text={found.data.text.replace(/\r?\n$/, "")}
        start={found.data.start_line}
        marked={around > 0 ? [place.line, place.end_line] : undefined}
        className={className}
      />
      {found.data.cut && <p className="px-4 py-2 text-xs text-ink-faint">It is longer than what is shown.</p>}
    </>
  );
}
