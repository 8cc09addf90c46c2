import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ellipsis, FileUp, GitBranch, Hash, MessageSquarePlus, Search, SquarePen } from "lucide-react";
import { lazy, Suspense, useDeferredValue, useEffect, useMemo, useState } from "react";
import { Button } from "@/shared/ui/Button";
import { IconButton } from "@/shared/ui/IconButton";
import { Kbd } from "@/shared/ui/Kbd";
import { Menu } from "@/shared/ui/Menu";
import { SearchInput } from "@/shared/ui/SearchInput";
import { Skeleton } from "@/shared/ui/Skeleton";
import type { Doing } from "./ChannelDialog";
import { ChannelRow } from "./ChannelRow";
import { importConversation } from "./importConversation";
import { ChannelDialog } from "./LazyChannelDialog";
import { activityMap, channelList } from "./queries";
import { branchesOf } from "./tree";

const SearchPalette = lazy(() =>
  import("./SearchPalette").then((module) => ({ default: module.SearchPalette })),
);
const WorktreeDialog = lazy(() =>
  import("@/features/worktrees/WorktreeDialog").then((module) => ({ default: module.WorktreeDialog })),
);

/** The channels, in the sidebar of the shell; `onGo` closes the sheet that it may stand in. */
export function ChatSidebar({ onGo }: { onGo?: () => void }) {
  const channels = useQuery(channelList);
  const activity = useQuery(activityMap).data;
  const [query, setQuery] = useState("");
  const [doing, setDoing] = useState<Doing | null>(null);
  const [showsTrees, setShowsTrees] = useState(false);
  const [searching, setSearching] = useState<string | null>(null);
  const navigate = useNavigate();
  const wanted = useDeferredValue(query);
  const branches = useMemo(
    () => branchesOf(channels.data ?? [], activity ?? {}, wanted),
    [channels.data, activity, wanted],
  );
  usePaletteKey(() => setSearching(""));
  const go = (channelId: string) => {
    onGo?.();
    void navigate({ to: "/c/$channelId", params: { channelId } });
  };

  return (
    <nav aria-label="Channels" className="flex min-h-0 flex-1 flex-col">
      <div className="flex items-center gap-0.5 px-2.5 pb-1.5">
        <SearchInput
          label="Find a channel"
          placeholder="Find a channel"
          value={query}
          onChange={setQuery}
          className="min-w-0 flex-1 [&_input]:h-8"
        />
        <IconButton
          size="sm"
          label="New conversation"
          icon={<SquarePen />}
          onClick={() => {
            onGo?.();
            void navigate({ to: "/" });
          }}
        />
        <Menu
          trigger={<IconButton size="sm" label="More about channels" icon={<Ellipsis />} />}
          entries={[
            { label: "New channel", icon: <Hash />, onSelect: () => setDoing({ what: "create" }) },
            {
              label: "Search all messages",
              icon: <Search />,
              hint: <Kbd>{isMac ? "⌘ K" : "Ctrl K"}</Kbd>,
              onSelect: () => setSearching(""),
            },
            { label: "Worktrees", icon: <GitBranch />, onSelect: () => setShowsTrees(true) },
            "line",
            { label: "Import a conversation", icon: <FileUp />, onSelect: () => importConversation(go) },
          ]}
        />
      </div>
      <ul className="min-h-0 flex-1 overflow-y-auto px-2.5 pb-2">
        {channels.isPending && (
          <li>
            <Loading />
          </li>
        )}
        {channels.isError && (
          <li className="flex flex-col items-start gap-2 px-2.5 text-sm text-bad-ink">
            The channels could not be read.
            <Button size="sm" onClick={() => void channels.refetch()}>
              Try again
            </Button>
          </li>
        )}
        {branches.map(({ channel, threads }) => (
          <li key={channel.id}>
            <ChannelRow channel={channel} activity={activity?.[channel.id]} onGo={onGo} onDo={setDoing} />
            {threads.length > 0 && (
              <ul aria-label={`Threads of ${channel.name}`} className="ml-3.5 border-l border-line pl-1">
                {threads.map((thread) => (
                  <li key={thread.id}>
                    <ChannelRow
                      channel={thread}
                      activity={activity?.[thread.id]}
                      onGo={onGo}
                      onDo={setDoing}
                    />
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
        {channels.data?.length === 0 && (
          <li className="flex items-center gap-2 px-2.5 py-1 text-sm text-ink-faint">
            <MessageSquarePlus aria-hidden className="size-4" /> Conversations will be here
          </li>
        )}
        {query.trim() !== "" && (
          <li>
            <button
              type="button"
              onClick={() => setSearching(query)}
              className="flex w-full items-center gap-2 rounded-md px-2.5 py-1.5 text-left text-sm text-accent-ink hover:bg-hover"
            >
              <Search aria-hidden className="size-4 shrink-0" />
              <span className="min-w-0 truncate">Search all messages for “{query.trim()}”</span>
            </button>
          </li>
        )}
      </ul>
      <Suspense>
        {doing && <ChannelDialog doing={doing} onClose={() => setDoing(null)} onGo={onGo} />}
        {showsTrees && <WorktreeDialog onClose={() => setShowsTrees(false)} onGo={onGo} />}
        {searching !== null && (
          <SearchPalette initial={searching} onClose={() => setSearching(null)} onGo={onGo} />
        )}
      </Suspense>
    </nav>
  );
}

const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

const Loading = () => (
  <div role="status" className="flex flex-col gap-3 px-2.5 py-1">
    <span className="sr-only">Loading the channels</span>
    <Skeleton className="h-4 w-3/4" />
    <Skeleton className="h-4 w-1/2" />
    <Skeleton className="h-4 w-2/3" />
  </div>
);

/** Ctrl+K or Cmd+K, wherever one is. */
function usePaletteKey(open: () => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (
        event.key.toLowerCase() !== "k" ||
        !(event.ctrlKey || event.metaKey) ||
        event.shiftKey ||
        event.altKey
      )
        return;
      event.preventDefault();
      open();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
}
