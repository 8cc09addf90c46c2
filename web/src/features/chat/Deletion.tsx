import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { worktreeOf } from "@/features/worktrees/queries";
import { api, read } from "@/shared/api/client";
import { AlertDialog } from "@/shared/ui/AlertDialog";
import { toast } from "@/shared/ui/Toast";
import { VisibleText } from "@/shared/ui/VisibleText";
import type { Channel } from "./queries";

const GONE = "Its messages and runs are removed for good. Export it first if you may want it back.";

/** Asks before a conversation goes, and says what goes with it. */
export function Deletion({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  if (channel.worktree) return <WorktreeDeletion channel={channel} onClose={onClose} />;
  return <PlainDeletion channel={channel} onClose={onClose} />;
}

function useRemove(channel: Channel) {
  const navigate = useNavigate();
  const { channelId } = useParams({ strict: false });
  return async (force: boolean) => {
    const path = { thread_id: channel.id, channel_id: channel.id };
    try {
      await read(
        channel.parent_id === null
          ? api.DELETE("/api/channels/{channel_id}", { params: { path } })
          : api.DELETE("/api/threads/{thread_id}", { params: { path, query: { force } } }),
      );
      if (channelId === channel.id) void navigate({ to: "/" });
    } catch (error) {
      toast.error(error);
    }
  };
}

function PlainDeletion({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  const remove = useRemove(channel);
  return (
    <AlertDialog
      open
      onClose={onClose}
      danger
      title={`Delete “${channel.name}”?`}
      description={
        channel.parent_id === null
          ? "Its messages, runs and threads are removed for good. Files in its directory stay. Export it first if you may want it back."
          : GONE
      }
      action="Delete"
      onConfirm={() => remove(false)}
    />
  );
}

/** Its files and its branch go, too: what would be lost is said before. */
function WorktreeDeletion({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  const remove = useRemove(channel);
  const worktree = useQuery(worktreeOf(channel.id));
  const lost = worktree.data?.would_lose ?? [];
  return (
    <AlertDialog
      open
      onClose={onClose}
      danger
      title={`Delete “${channel.name}” and its worktree?`}
      description={
        <>
          <p>{GONE}</p>
          <p className="mt-2" role="status">
            {worktree.isPending
              ? "Looking at what its worktree holds …"
              : worktree.isError
                ? "What its worktree holds could not be read; if it holds work, it is kept."
                : lost.length === 0
                  ? "Its files and its branch go, too; they hold nothing that is not elsewhere."
                  : "Its files and its branch go, too. This would be lost:"}
          </p>
          {lost.length > 0 && (
            <ul className="mt-1.5 max-h-40 list-disc overflow-y-auto rounded-md bg-bad-soft py-2 pr-3 pl-7 text-bad-ink">
              {lost.map((one) => (
                <li key={one} className="[overflow-wrap:anywhere]">
                  <VisibleText text={one} />
                </li>
              ))}
            </ul>
          )}
        </>
      }
      action={lost.length > 0 ? "Delete and lose it" : "Delete"}
      onConfirm={() => remove(lost.length > 0)}
    />
  );
}
