import { useQuery } from "@tanstack/react-query";
import { GitBranch, RefreshCw, Trash2, X } from "lucide-react";
import type { Schemas } from "@/shared/api/client";
import { formatBytes } from "@/shared/format/format";
import { CopyButton } from "@/shared/ui/CopyButton";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { IconButton } from "@/shared/ui/IconButton";
import { Sheet } from "@/shared/ui/Sheet";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { ChangedFile } from "./ChangedFile";
import { type Worktree, worktreeDiff, worktreeOf } from "./queries";
import { WorktreeBadge } from "./WorktreeBadge";

interface WorktreeSheetProps {
  threadId: string;
  onClose: () => void;
  onDelete: () => void;
}

/** A worktree: how it stands, and every file that differs from where it began. */
export function WorktreeSheet({ threadId, onClose, onDelete }: WorktreeSheetProps) {
  const worktree = useQuery(worktreeOf(threadId));
  const diff = useQuery(worktreeDiff(threadId));
  const again = () => {
    void worktree.refetch();
    void diff.refetch();
  };
  return (
    <Sheet wide side="right" open onClose={onClose} title="Worktree">
      <header className="flex items-start gap-2 border-b border-line px-4 py-3 sm:px-5">
        <GitBranch aria-hidden className="mt-1 size-4 shrink-0 text-ink-faint" />
        <div className="min-w-0 flex-1">
          <h2 className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-md font-semibold">
            <span className="min-w-0 font-mono [overflow-wrap:anywhere]">
              {worktree.data?.branch ?? "Worktree"}
            </span>
            {worktree.data && <WorktreeBadge state={worktree.data.state} />}
          </h2>
          {worktree.data && <Facts worktree={worktree.data} />}
        </div>
        <IconButton
          size="sm"
          label="Look again"
          icon={<RefreshCw />}
          busy={diff.isFetching}
          onClick={again}
        />
        <IconButton
          size="sm"
          label="Delete the thread and its worktree"
          icon={<Trash2 />}
          onClick={() => {
            onClose();
            onDelete();
          }}
        />
        <IconButton size="sm" label="Close" icon={<X />} onClick={onClose} />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto px-4 py-4 sm:px-5">
        {diff.isPending ? (
          <SkeletonRows />
        ) : diff.isError ? (
          <ErrorState title="The changes could not be read" error={diff.error} onRetry={again} />
        ) : diff.data.files.length === 0 ? (
          <EmptyState icon={<GitBranch />} title="Nothing differs yet">
            Files that are changed or made in this thread show up here, compared with{" "}
            <code>{diff.data.base}</code>.
          </EmptyState>
        ) : (
          <Files diff={diff.data} />
        )}
      </div>
    </Sheet>
  );
}

const Facts = ({ worktree }: { worktree: Worktree }) => (
  <p className="mt-0.5 flex flex-wrap items-center gap-x-1.5 text-xs text-ink-soft">
    <span>
      from <code>{worktree.base}</code>, {formatBytes(worktree.size)}
    </span>
    <code className="min-w-0 text-ink-faint [overflow-wrap:anywhere]">{worktree.path}</code>
    <CopyButton text={worktree.path} label="Copy its path" className="max-sm:hidden" />
  </p>
);

function Files({ diff }: { diff: Schemas["WorktreeDiff"] }) {
  const added = diff.files.reduce((sum, file) => sum + file.additions, 0);
  const removed = diff.files.reduce((sum, file) => sum + file.deletions, 0);
  const few = diff.files.length <= 8;
  return (
    <>
      <p className="mb-2.5 text-sm text-ink-soft">
        {diff.files.length === 1 ? "One file differs" : `${diff.files.length} files differ`} from{" "}
        <code>{diff.base}</code>: <span className="text-good-ink">+{added}</span>{" "}
        <span className="text-bad-ink">−{removed}</span>
      </p>
      <ul aria-label="Changed files" className="flex flex-col gap-2">
        {diff.files.map((file) => (
          <ChangedFile key={file.path} file={file} open={few} />
        ))}
      </ul>
      {diff.cut && <p className="mt-3 text-sm text-warn-ink">There is more than is shown here.</p>}
    </>
  );
}
