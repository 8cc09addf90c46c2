import { useInfiniteQuery } from "@tanstack/react-query";
import { FileCheck2, X } from "lucide-react";
import { formatBytes } from "@/shared/format/format";
import { Button } from "@/shared/ui/Button";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { IconButton } from "@/shared/ui/IconButton";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { Segmented } from "@/shared/ui/Segmented";
import { Sheet } from "@/shared/ui/Sheet";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { filesOf, type MemoryFile, type Place, type Whose } from "./queries";

type Which = "all" | "problems";

interface FilesSheetProps {
  whose: Whose;
  shown: Which | null;
  onShow: (shown: Which | null) => void;
  onOpen: (place: Place) => void;
}

const WHICH = [
  { value: "all", label: "All" },
  { value: "problems", label: "With problems" },
] as const;

/** Every file that was read, or could not be. */
export function FilesSheet({ whose, shown, onShow, onOpen }: FilesSheetProps) {
  return (
    <Sheet wide side="right" open={shown !== null} onClose={() => onShow(null)} title="Files of the memory">
      {shown && (
        <>
          <header className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-3">
            <h2 className="flex-1 text-md font-semibold">Files</h2>
            <Segmented label="Which files" value={shown} options={WHICH} onChange={onShow} />
            <IconButton label="Close" icon={<X />} size="sm" onClick={() => onShow(null)} />
          </header>
          <FileList
            whose={whose}
            problems={shown === "problems"}
            onOpen={({ scope, path }) => {
              onShow(null);
              onOpen({ scope, path, line: 1 });
            }}
          />
        </>
      )}
    </Sheet>
  );
}

interface FileListProps {
  whose: Whose;
  problems: boolean;
  onOpen: (file: MemoryFile) => void;
}

function FileList({ whose, problems, onOpen }: FileListProps) {
  const found = useInfiniteQuery(filesOf(whose, problems));
  const rows = found.data?.pages.flatMap((page) => page.items) ?? [];
  if (found.isPending) return <SkeletonRows />;
  if (found.isError)
    return (
      <ErrorState
        title="The files could not be read"
        error={found.error}
        onRetry={() => void found.refetch()}
      />
    );
  if (rows.length === 0)
    return (
      <EmptyState icon={<FileCheck2 />} title={problems ? "No problems" : "No files"}>
        {problems
          ? "Every file could be read as it is."
          : "Markdown and text files in the places of the settings are listed here when they have been read."}
      </EmptyState>
    );
  return (
    <div tabIndex={-1} className="min-h-0 flex-1 overflow-y-auto">
      <ul aria-label="Files" className="divide-y divide-line">
        {rows.map((file) => (
          <li key={`${file.scope}:${file.path}`}>
            <Row file={file} onOpen={() => onOpen(file)} />
          </li>
        ))}
      </ul>
      {found.hasNextPage && (
        <div className="p-3 text-center">
          <Button size="sm" busy={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </div>
  );
}

const Row = ({ file, onOpen }: { file: MemoryFile; onOpen: () => void }) => (
  <button
    type="button"
    onClick={onOpen}
    className="w-full px-4 py-2.5 text-left -outline-offset-2 hover:bg-hover"
  >
    <span className="flex flex-wrap items-baseline gap-x-4">
      <bdi className="min-w-0 flex-1 basis-56 text-sm [overflow-wrap:anywhere]">{file.path}</bdi>
      <span className="text-xs text-ink-faint tabular-nums">
        {file.chunks.toLocaleString()} {file.chunks === 1 ? "passage" : "passages"} · {formatBytes(file.size)}{" "}
        · <RelativeTime at={file.modified_at} />
      </span>
    </span>
    {file.problem && <span className="mt-0.5 block text-xs text-warn-ink">{file.problem}</span>}
  </button>
);
