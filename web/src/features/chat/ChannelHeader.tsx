import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ChevronRight, Ellipsis, Folder } from "lucide-react";
import { useState } from "react";
import { WorktreeButton } from "@/features/worktrees/WorktreeButton";
import { IconButton } from "@/shared/ui/IconButton";
import { Menu } from "@/shared/ui/Menu";
import type { Doing } from "./ChannelDialog";
import { ContextGauge } from "./ContextGauge";
import { channelEntries } from "./channelEntries";
import { ChannelDialog } from "./LazyChannelDialog";
import { type Channel, channelList, type Message } from "./queries";

interface ChannelHeaderProps {
  channelId: string;
  channel: Channel | undefined;
  messages: readonly Message[];
}

/** Which conversation this is, where it works, how full its context is, and what can be done with it. */
export function ChannelHeader({ channel, messages }: ChannelHeaderProps) {
  const [doing, setDoing] = useState<Doing | null>(null);
  const navigate = useNavigate();
  const channels = useQuery(channelList).data;
  const parent = channels?.find((one) => one.id === channel?.parent_id);
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line px-3 sm:px-4">
      <div className="flex min-w-0 flex-1 items-center gap-2.5">
        {parent && (
          <span className="flex min-w-0 shrink items-center gap-1 text-sm text-ink-faint max-sm:hidden">
            <Link
              to="/c/$channelId"
              params={{ channelId: parent.id }}
              className="max-w-40 truncate rounded-xs hover:text-ink hover:underline"
              title={parent.name}
            >
              {parent.name}
            </Link>
            <ChevronRight aria-hidden className="size-3.5 shrink-0" />
          </span>
        )}
        <h1 className="min-w-0 truncate text-md font-semibold" title={channel?.name}>
          {channel?.name ?? " "}
        </h1>
        {channel?.worktree && channel.branch && (
          <WorktreeButton
            threadId={channel.id}
            branch={channel.branch}
            onDelete={() => setDoing({ what: "delete", channel })}
          />
        )}
        {channel?.dir_path && !channel.worktree && (
          <button
            type="button"
            onClick={() => setDoing({ what: "directory", channel })}
            title={channel.dir_path}
            className="flex min-w-0 items-center gap-1.5 rounded-sm px-1.5 py-0.5 text-xs text-ink-faint hover:bg-hover hover:text-ink-soft max-md:hidden"
          >
            <Folder aria-hidden className="size-3.5 shrink-0" />
            <span className="max-w-72 truncate">{channel.dir_path}</span>
          </button>
        )}
      </div>
      <ContextGauge channel={channel} messages={messages} />
      {channel && (
        <Menu
          trigger={<IconButton label="Conversation" icon={<Ellipsis />} size="sm" />}
          entries={channelEntries(
            channel,
            setDoing,
            (page) => void navigate({ to: page, search: { channel: channel.id } }),
          )}
        />
      )}
      {doing && <ChannelDialog doing={doing} onClose={() => setDoing(null)} />}
    </header>
  );
}
