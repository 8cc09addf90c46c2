import { useMutation, useQuery } from "@tanstack/react-query";
import { Check, CheckCheck, Clock, type LucideIcon, UserMinus, X } from "lucide-react";
import { useState } from "react";
import { api, read } from "@/shared/api/client";
import { formatRelative } from "@/shared/format/format";
import { AlertDialog } from "@/shared/ui/AlertDialog";
import { Badge } from "@/shared/ui/Badge";
import { ErrorState } from "@/shared/ui/ErrorState";
import { IconButton } from "@/shared/ui/IconButton";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { StateDot } from "@/shared/ui/StateDot";
import { toast } from "@/shared/ui/Toast";
import { VisibleText } from "@/shared/ui/VisibleText";
import { type Agent, type AgentMessage, agentMessages } from "./queries";
import { TileComposer } from "./TileComposer";
import { TileFrame } from "./TileFrame";

const useSendTo = (agent: Agent) =>
  useMutation({
    mutationFn: (content: string) =>
      read(
        api.POST("/api/agents/{agent_id}/message", {
          params: { path: { agent_id: agent.id } },
          body: { channel_id: agent.channel_id, content },
        }),
      ),
    onError: toast.error,
  });

const useRemove = (agent: Agent) =>
  useMutation({
    mutationFn: () =>
      read(
        api.DELETE("/api/agents/{agent_id}", {
          params: { path: { agent_id: agent.id }, query: { channel_id: agent.channel_id } },
        }),
      ),
    onError: toast.error,
  });

/** An agent that has come to the hub by itself: what it says of itself, and its mail. */
export function AgentTile({ agent }: { agent: Agent }) {
  const messages = useQuery(agentMessages(agent.channel_id, agent.id));
  const send = useSendTo(agent);
  const remove = useRemove(agent);
  const [asks, setAsks] = useState(false);
  return (
    <TileFrame
      name={agent.name}
      state={
        <>
          <StateDot
            state={agent.listening ? "connected" : "disconnected"}
            word={agent.listening ? "Listening" : `Seen ${formatRelative(agent.last_seen)}`}
          />
          <Badge>{agent.status}</Badge>
          {agent.id !== agent.name && <span className="truncate text-xs text-ink-faint">{agent.id}</span>}
        </>
      }
      about={agent.work_summary && <p className="line-clamp-3">{agent.work_summary}</p>}
      actions={
        <IconButton
          size="sm"
          label={`Take ${agent.name} off the list`}
          icon={<UserMinus />}
          onClick={() => setAsks(true)}
        />
      }
      footer={<TileComposer name={agent.name} send={send.mutateAsync} />}
    >
      {messages.isPending && <SkeletonRows rows={2} />}
      {messages.isError && <ErrorState error={messages.error} onRetry={() => void messages.refetch()} />}
      {messages.data && <Mail agent={agent} messages={messages.data} />}
      <AlertDialog
        open={asks}
        onClose={() => setAsks(false)}
        title={`Take ${agent.name} off the list?`}
        description="Others no longer see it. The program itself goes on, and comes back if it connects again; what waits for it is kept."
        action="Take off"
        danger
        onConfirm={() => remove.mutate()}
      />
    </TileFrame>
  );
}

function Mail({ agent, messages }: { agent: Agent; messages: readonly AgentMessage[] }) {
  if (messages.length === 0)
    return <p className="text-sm text-ink-faint">No messages yet. Write one below, or let another agent.</p>;
  return (
    <ol className="flex flex-col gap-2.5">
      {messages.toReversed().map((message) => (
        <MailLine key={message.id} message={message} sent={message.from_agent === agent.id} />
      ))}
    </ol>
  );
}

const RECEIPTS: Record<AgentMessage["state"], { icon: LucideIcon; word: string }> = {
  queued: { icon: Clock, word: "Waiting" },
  delivered: { icon: Check, word: "Delivered" },
  read: { icon: CheckCheck, word: "Read" },
  expired: { icon: X, word: "Expired" },
};

function MailLine({ message, sent }: { message: AgentMessage; sent: boolean }) {
  const { icon: Icon, word } = RECEIPTS[message.state];
  const from = message.from_agent === "owner" ? "You" : message.from_agent;
  return (
    <li className="text-sm">
      <div className="flex items-center gap-1.5 text-xs text-ink-faint">
        <span className="min-w-0 truncate font-medium text-ink-soft">
          {sent ? `to ${message.to_agent_id}` : from}
        </span>
        <RelativeTime at={message.at} className="shrink-0" />
        <span className="ml-auto inline-flex shrink-0 items-center gap-1">
          <Icon aria-hidden className="size-3.5" />
          {word}
        </span>
      </div>
      <p className="mt-0.5 max-h-40 overflow-y-auto whitespace-pre-wrap break-words">
        <VisibleText text={message.content} />
      </p>
    </li>
  );
}
