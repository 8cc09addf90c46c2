import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ChevronsDown, ChevronsUp, X } from "lucide-react";
import { useState } from "react";
import { Button } from "@/shared/ui/Button";
import { CopyButton } from "@/shared/ui/CopyButton";
import { ErrorState } from "@/shared/ui/ErrorState";
import { IconButton } from "@/shared/ui/IconButton";
import { Sheet } from "@/shared/ui/Sheet";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { SourceLines } from "@/shared/ui/SourceLines";
import { excerptOf, type Place, type Whose } from "./queries";

interface ExcerptSheetProps {
  whose: Whose;
  place: Place | null;
  onClose: () => void;
}

/** The file beside the page, open at the place. */
export function ExcerptSheet({ whose, place, onClose }: ExcerptSheetProps) {
  return (
    <Sheet wide side="right" open={place !== null} onClose={onClose} title={place?.path ?? "File"}>
      {place && (
        <>
          <header className="flex items-center gap-2 border-b border-line px-4 py-3">
            <h2 className="min-w-0 flex-1 text-sm font-semibold [overflow-wrap:anywhere]">
              <bdi>{place.path}</bdi>
            </h2>
            <CopyButton text={place.path} label="Copy the path" />
            <IconButton label="Close" icon={<X />} size="sm" onClick={onClose} />
          </header>
          <Excerpt key={`${place.scope}:${place.path}:${place.line}`} whose={whose} place={place} />
        </>
      )}
    </Sheet>
  );
}

const AROUND = 60;
const MOST = 200;

function Excerpt({ whose, place }: { whose: Whose; place: Place }) {
  const [around, setAround] = useState(AROUND);
  const found = useQuery({
    ...excerptOf(whose, place, around),
    placeholderData: keepPreviousData,
  });
  if (found.isPending) return <SkeletonRows />;
  if (found.isError)
    return (
      <ErrorState
        title="The file could not be read"
        error={found.error}
        onRetry={() => void found.refetch()}
      />
    );
  const { line_start, line_end, lines, text, changed, problem } = found.data;
  const more = around < MOST ? () => setAround(MOST) : undefined;
  return (
    <>
      {(problem || changed) && (
        <p role="status" className="bg-warn-soft px-4 py-2 text-xs text-warn-ink">
          {problem ?? "The file has changed since it was read: lines may be elsewhere now."}
        </p>
      )}
      {line_start > 1 && more && <More up onClick={more} />}
      {line_end > 0 && (
        <SourceLines
          wrap
          label={`Lines ${line_start} to ${line_end} of ${place.path}`}
          text={text}
          start={line_start}
          marked={place.endLine === undefined ? undefined : [place.line, place.endLine]}
          className="min-h-0 flex-1"
        />
      )}
      {line_end < lines && more && <More onClick={more} />}
      <p className="border-t border-line px-4 py-2 text-xs text-ink-faint tabular-nums">
        Lines {line_start.toLocaleString()} to {line_end.toLocaleString()} of {lines.toLocaleString()}
      </p>
    </>
  );
}

const More = ({ up = false, onClick }: { up?: boolean; onClick: () => void }) => (
  <Button
    tone="quiet"
    size="sm"
    className="w-full rounded-none"
    icon={up ? <ChevronsUp /> : <ChevronsDown />}
    onClick={onClick}
  >
    {up ? "More before it" : "More after it"}
  </Button>
);
