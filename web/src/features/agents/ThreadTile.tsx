import { Link } from "@tanstack/react-router";
import { GitBranch, Maximize2, Square } from "lucide-react";
import { useSend, useStop } from "@/features/chat/actions";
import { useSpoken } from "@/features/chat/liveTexts";
import type { Channel, Message, Run } from "@/features/chat/queries";
import { useThread } from "@/features/chat/useThread";
import { Badge } from "@/shared/ui/Badge";
import { buttonClasses } from "@/shared/ui/Button";
import { ErrorState } from "@/shared/ui/ErrorState";
import { IconButton } from "@/shared/ui/IconButton";
import { Markdown } from "@/shared/ui/Markdown";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { StateDot } from "@/shared/ui/StateDot";
import { VisibleText } from "@/shared/ui/VisibleText";
import { TerminalText } from "./TerminalText";
import { TileComposer } from "./TileComposer";
import { TileFrame } from "./TileFrame";

const SHOWN = 8;

const isShown = (one: Message): boolean => one.role !== "tool" && one.content.trim() !== "";

/** An agent of ours: a thread of the channel, with what is said in it and what its run says now. */
export function ThreadTile({ thread }: { thread: Channel }) {
  const { query, messages, run, approvals, calls } = useThread(thread.id);
  const send = useSend();
  const stop = useStop();
  const shown = messages.filter(isShown).slice(-SHOWN);
  const isCommand = thread.runner !== null && thread.runner !== undefined;
  const busy = [...calls.values()].findLast((call) => call.status === "pending" && call.run_id === run?.id);
  return (
    <TileFrame
      name={thread.name}
      state={
        <>
          <StateDot
            state={approvals.length > 0 ? "waiting" : (run?.status ?? "disconnected")}
            {...(run || approvals.length > 0 ? {} : { word: "At rest" })}
          />
          {isCommand && <Badge>{commandOf(thread)}</Badge>}
          {thread.branch && (
            <Badge icon={<GitBranch />}>
              <span className="max-w-36 truncate" title={thread.branch}>
                {thread.branch}
              </span>
            </Badge>
          )}
        </>
      }
      about={busy && <p className="truncate">Calls {busy.tool}</p>}
      actions={
        <>
          {run && (
            <IconButton
              size="sm"
              label={`Stop ${thread.name}`}
              icon={<Square />}
              busy={stop.isPending}
              onClick={() => stop.mutate(run.id)}
            />
          )}
          <Link
            to="/c/$channelId"
            params={{ channelId: thread.id }}
            aria-label={`Open ${thread.name}`}
            className={`${buttonClasses("quiet", "sm")} w-7 px-0!`}
          >
            <Maximize2 aria-hidden />
          </Link>
        </>
      }
      footer={
        <TileComposer
          name={thread.name}
          send={(content) => send.mutateAsync({ channelId: thread.id, content, attachments: [] })}
        />
      }
    >
      {query.isPending && <SkeletonRows rows={2} />}
      {query.isError && <ErrorState error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && shown.length === 0 && !run && (
        <p className="text-sm text-ink-faint">Nothing was said here yet. Give it something to do.</p>
      )}
      <ol className="flex flex-col gap-3">
        {shown.map((message) => (
          <Said key={message.id} message={message} />
        ))}
        {run && <Saying run={run} isCommand={isCommand} />}
      </ol>
    </TileFrame>
  );
}

const commandOf = (thread: Channel): string => {
  const command = (thread.runner as { command?: unknown } | null)?.command;
  return typeof command === "string" ? (command.split("/").at(-1) ?? command) : "command";
};

function Said({ message }: { message: Message }) {
  if (message.role === "assistant")
    return (
      <li className="min-w-0 text-sm">
        <Markdown text={message.content} />
      </li>
    );
  const who = message.role === "system" ? "Note" : message.author_id === "owner" ? "You" : message.author_id;
  return (
    <li className="min-w-0 rounded-md bg-sunken px-2.5 py-1.5 text-sm">
      <span className="block text-xs font-medium text-ink-soft">{who}</span>
      <span className="line-clamp-6 whitespace-pre-wrap break-words">
        <VisibleText text={message.content} />
      </span>
    </li>
  );
}

function Saying({ run, isCommand }: { run: Run; isCommand: boolean }) {
  const { text } = useSpoken(run.id);
  if (text === "")
    return (
      <li className="text-sm text-ink-faint">
        {run.status === "queued" ? "Waits for its turn" : "Working…"}
      </li>
    );
  return (
    <li className="min-w-0 text-sm">{isCommand ? <TerminalText text={text} /> : <Markdown text={text} />}</li>
  );
}
