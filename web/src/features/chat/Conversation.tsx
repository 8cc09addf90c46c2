import { useCallback, useEffect, useState } from "react";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Skeleton } from "@/shared/ui/Skeleton";
import { useStop } from "./actions";
import { ChannelHeader } from "./ChannelHeader";
import { Composer } from "./Composer";
import { EmptyThread } from "./EmptyThread";
import { MessageList } from "./MessageList";
import { QueuedMessages } from "./QueuedMessages";
import type { Channel } from "./queries";
import { useMarkRead } from "./useMarkRead";
import { useThread } from "./useThread";

/** One channel: what was said, and where one says more. */
export function Conversation({ channelId, channel }: { channelId: string; channel: Channel | undefined }) {
  const thread = useThread(channelId);
  const stop = useStop();
  const [sent, setSent] = useState(0);
  const runId = thread.run?.id;
  useMarkRead(channelId, thread.messages);
  const stopRun = useCallback(() => {
    if (runId) stop.mutate(runId);
  }, [runId, stop.mutate]);
  useStopKey(runId === undefined ? undefined : stopRun);

  return (
    <div className="flex h-full flex-col">
      <ChannelHeader channelId={channelId} channel={channel} messages={thread.messages} />
      <div className="relative min-h-0 flex-1">
        {thread.query.isPending ? (
          <Loading />
        ) : thread.query.isError ? (
          <ErrorState
            title="The conversation could not be read"
            error={thread.query.error}
            onRetry={() => void thread.query.refetch()}
          />
        ) : thread.rows.length === 0 ? (
          <EmptyThread channel={channel} />
        ) : (
          <MessageList channelId={channelId} thread={thread} sent={sent} />
        )}
      </div>
      <div className="mx-auto w-full max-w-(--column-width) px-3 pb-3 sm:px-4 sm:pb-4">
        <QueuedMessages messages={thread.queued} />
        <Composer
          channelId={channelId}
          channel={channel}
          working={runId !== undefined}
          stopping={stop.isPending}
          onStop={stopRun}
          onSent={() => setSent((count) => count + 1)}
        />
      </div>
    </div>
  );
}

/** Escape stops the run, unless something that is open wants it first. */
function useStopKey(stop: (() => void) | undefined): void {
  useEffect(() => {
    if (stop === undefined) return;
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      if (document.querySelector("[role=dialog],[role=alertdialog],[role=menu],[role=listbox]")) return;
      stop();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [stop]);
}

const Loading = () => (
  <div role="status" className="mx-auto flex max-w-(--column-width) flex-col gap-6 px-4 py-8">
    <span className="sr-only">Loading the conversation</span>
    {[1, 2, 3].map((row) => (
      <div key={row} className="flex flex-col gap-2.5">
        <Skeleton className="h-9 w-2/5 self-end rounded-xl" />
        <Skeleton className="h-3.5 w-11/12" />
        <Skeleton className="h-3.5 w-4/5" />
        <Skeleton className="h-3.5 w-3/5" />
      </div>
    ))}
  </div>
);
