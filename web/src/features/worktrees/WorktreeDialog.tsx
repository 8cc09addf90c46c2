import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { GitBranch } from "lucide-react";
import { api, read } from "@/shared/api/client";
import { formatBytes } from "@/shared/format/format";
import { Button } from "@/shared/ui/Button";
import { Dialog } from "@/shared/ui/Dialog";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { toast } from "@/shared/ui/Toast";
import { VisibleText } from "@/shared/ui/VisibleText";
import { type Worktree, worktreeList, worktreesKey } from "./queries";
import { WorktreeBadge } from "./WorktreeBadge";

/** All worktrees with size and state; those whose work is merged can go at once. */
export function WorktreeDialog({ onClose, onGo }: { onClose: () => void; onGo?: () => void }) {
  const worktrees = useQuery(worktreeList);
  const clean = useClean();
  const merged = worktrees.data?.filter((one) => one.state === "merged").length ?? 0;
  const go = () => {
    onClose();
    onGo?.();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      width="lg"
      title="Worktrees"
      description="Threads that work on files and a branch of their own."
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button disabled={merged === 0} busy={clean.isPending} onClick={() => clean.mutate()}>
            {merged > 0 ? `Remove ${merged} merged` : "None is merged"}
          </Button>
        </>
      }
    >
      {worktrees.isPending ? (
        <SkeletonRows />
      ) : worktrees.isError ? (
        <ErrorState
          title="The worktrees could not be read"
          error={worktrees.error}
          onRetry={() => void worktrees.refetch()}
        />
      ) : worktrees.data.length === 0 ? (
        <EmptyState icon={<GitBranch />} title="No worktrees">
          A channel whose directory is a git repository can have threads with a worktree: +wt beside its name.
        </EmptyState>
      ) : (
        <ul aria-label="Worktrees" className="divide-y divide-line">
          {worktrees.data.map((one) => (
            <Row key={one.id} worktree={one} onGo={go} />
          ))}
        </ul>
      )}
    </Dialog>
  );
}

const Row = ({ worktree, onGo }: { worktree: Worktree; onGo: () => void }) => (
  <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2.5">
    <div className="min-w-0 flex-1 basis-56 max-sm:basis-full">
      <p className="text-sm font-medium [overflow-wrap:anywhere]">
        {worktree.thread === null ? (
          "Its thread is gone"
        ) : (
          <Link
            to="/c/$channelId"
            params={{ channelId: worktree.id }}
            onClick={onGo}
            className="rounded-xs hover:underline"
          >
            {worktree.thread}
          </Link>
        )}
      </p>
      <p className="text-xs text-ink-faint [overflow-wrap:anywhere]">
        <code>{worktree.branch}</code> from <code>{worktree.base}</code>
      </p>
      {worktree.would_lose.map((one) => (
        <p key={one} className="text-xs text-ink-soft [overflow-wrap:anywhere]">
          <VisibleText text={one} />
        </p>
      ))}
    </div>
    <span className="text-xs text-ink-soft tabular-nums">{formatBytes(worktree.size)}</span>
    <WorktreeBadge state={worktree.state} />
  </li>
);

function useClean() {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: () => read(api.POST("/api/worktrees/clean", { body: { unchanged: false } })),
    onSuccess: ({ removed, freed }) => {
      toast(
        `${removed.length === 1 ? "One worktree is" : `${removed.length} worktrees are`} removed: ${formatBytes(freed)} free`,
      );
      void cache.invalidateQueries({ queryKey: worktreesKey });
    },
    onError: toast.error,
  });
}
