import { Link, useParams } from "@tanstack/react-router";
import { Ellipsis, Folder, GitBranch, Hash } from "lucide-react";
import { Menu } from "@/shared/ui/Menu";
import { StateDot } from "@/shared/ui/StateDot";
import type { Doing } from "./ChannelDialog";
import { channelEntries } from "./channelEntries";
import type { Activity, Channel } from "./queries";
import { usePendingIn } from "./usePendingIn";

interface ChannelRowProps {
  channel: Channel;
  activity: Activity | undefined;
  onGo?: () => void;
  onDo: (doing: Doing) => void;
}

/** One channel or thread: its name, a dot while it runs or waits, what is unread, and what can be done with it. */
export function ChannelRow({ channel, activity, onGo, onDo }: ChannelRowProps) {
  const waits = usePendingIn(channel.id);
  const Icon = channel.parent_id !== null ? GitBranch : channel.dir_path ? Folder : Hash;
  const { channelId } = useParams({ strict: false });
  // What one looks at is being read.
  const unread = channelId === channel.id ? 0 : (activity?.unread ?? 0);
  const state = waits
    ? "waiting"
    : activity?.run_id
      ? activity.run_status === "queued"
        ? "queued"
        : "running"
      : null;
  return (
    <div className="group relative flex items-center">
      <Link
        to="/c/$channelId"
        params={{ channelId: channel.id }}
        onClick={onGo}
        title={channel.dir_path ? `${channel.name}\n${channel.dir_path}` : channel.name}
        className="flex h-8 min-w-0 flex-1 items-center gap-2 rounded-md px-2.5 text-sm text-ink-soft -outline-offset-1 hover:bg-hover hover:text-ink group-focus-within:pr-9 group-hover:pr-9 aria-[current=page]:bg-pressed aria-[current=page]:text-ink pointer-coarse:pr-9"
      >
        <Icon aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
        <span className={`min-w-0 flex-1 truncate ${unread > 0 ? "font-semibold text-ink" : ""}`}>
          {channel.name}
        </span>
        {state && <StateDot state={state} word={null} />}
        {unread > 0 && (
          <span className="min-w-4.5 shrink-0 rounded-full bg-accent-soft px-1.5 text-center text-2xs font-semibold leading-4.5 text-accent-ink tabular-nums">
            {unread >= 99 ? "99+" : unread}
            <span className="sr-only"> unread</span>
          </span>
        )}
      </Link>
      <Menu
        entries={channelEntries(channel, onDo)}
        align="start"
        trigger={
          <button
            type="button"
            aria-label={`More about ${channel.name}`}
            className="absolute right-1 grid size-6 place-items-center rounded-sm text-ink-faint opacity-0 hover:bg-pressed hover:text-ink focus-visible:opacity-100 group-hover:opacity-100 data-[state=open]:opacity-100 pointer-coarse:opacity-100"
          >
            <Ellipsis className="size-4" />
          </button>
        }
      />
    </div>
  );
}
