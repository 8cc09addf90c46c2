import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Ellipsis, Folder, GitBranch, Hash, MessageSquare } from "lucide-react";
import { classes } from "@/shared/ui/classes";
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
  const Icon = channel.worktree
    ? GitBranch
    : channel.parent_id !== null
      ? MessageSquare
      : channel.dir_path
        ? Folder
        : Hash;
  const { channelId } = useParams({ strict: false });
  const navigate = useNavigate();
  const show = (page: "/memory" | "/quality") => {
    void navigate({ to: page, search: { channel: channel.id } });
    onGo?.();
  };
  // What one looks at is being read.
  const unread = channelId === channel.id ? 0 : (activity?.unread ?? 0);
  const state = waits
    ? "waiting"
    : activity?.run_id
      ? activity.run_status === "queued"
        ? "queued"
        : "running"
      : null;
  const isRoot = channel.parent_id === null;
  const room = isRoot
    ? "group-focus-within:pr-30 group-hover:pr-30"
    : "group-focus-within:pr-9 group-hover:pr-9";
  return (
    <div className="group relative flex items-center">
      <Link
        to="/c/$channelId"
        params={{ channelId: channel.id }}
        onClick={onGo}
        title={channel.dir_path ? `${channel.name}\n${channel.dir_path}` : channel.name}
        className={classes(
          "flex h-8 min-w-0 flex-1 items-center gap-2 rounded-md px-2.5 text-sm text-ink-soft -outline-offset-1 hover:bg-hover hover:text-ink aria-[current=page]:bg-pressed aria-[current=page]:text-ink pointer-coarse:pr-9!",
          room,
        )}
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
      {isRoot && (
        <div className="absolute right-8 flex items-center gap-0.5 opacity-0 focus-within:opacity-100 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:hidden">
          <Plus
            word="+thread"
            label={`New thread in ${channel.name}`}
            onClick={() => onDo({ what: "thread", channel })}
          />
          {channel.dir_path && (
            <Plus
              word="+wt"
              label={`New worktree thread in ${channel.name}`}
              onClick={() => onDo({ what: "worktree", channel })}
            />
          )}
        </div>
      )}
      <Menu
        entries={channelEntries(channel, onDo, show)}
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

const Plus = ({ word, label, onClick }: { word: string; label: string; onClick: () => void }) => (
  <button
    type="button"
    aria-label={label}
    title={label}
    onClick={onClick}
    className="h-6 rounded-sm px-1 text-2xs font-medium text-ink-soft hover:bg-pressed hover:text-ink"
  >
    {word}
  </button>
);
