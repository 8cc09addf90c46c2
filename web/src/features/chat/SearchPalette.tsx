import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Hash, Search, Sparkles, UserRound } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { useEffect, useId, useState } from "react";
import { classes } from "@/shared/ui/classes";
import { returnFocus } from "@/shared/ui/focusHistory";
import { Kbd } from "@/shared/ui/Kbd";
import { Marked } from "@/shared/ui/Marked";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { Spinner } from "@/shared/ui/Spinner";
import { activityMap, channelList, foundMessages } from "./queries";
import { matching } from "./suggest";
import { branchesOf } from "./tree";

const PAUSE = 180;

interface SearchPaletteProps {
  initial?: string;
  onClose: () => void;
  onGo?: () => void;
}

interface Hit {
  key: string;
  channelId: string;
  messageId?: string;
  title: string;
  snippet?: string;
  at?: string;
  role?: string;
}

/** Every conversation by its name, and every message by its words. */
export function SearchPalette({ initial = "", onClose, onGo }: SearchPaletteProps) {
  const id = useId();
  const [text, setText] = useState(initial);
  const [words, setWords] = useState(initial);
  const [place, setPlace] = useState(0);
  const navigate = useNavigate();
  useEffect(() => {
    const timer = setTimeout(() => setWords(text.trim()), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useQuery(foundMessages(words));
  const hits = useHits(text, words, found.data);
  const chosen = Math.min(place, Math.max(0, hits.length - 1));
  const open = (hit: Hit | undefined) => {
    if (hit === undefined) return;
    onClose();
    onGo?.();
    void navigate({ to: "/c/$channelId", params: { channelId: hit.channelId }, hash: hit.messageId });
  };
  const keys = (event: React.KeyboardEvent) => {
    if (event.key === "ArrowDown") setPlace((chosen + 1) % Math.max(1, hits.length));
    else if (event.key === "ArrowUp") setPlace((chosen - 1 + hits.length) % Math.max(1, hits.length));
    else if (event.key === "Enter") open(hits[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Radix.Root open onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 animate-appear bg-overlay" />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={returnFocus}
          className="fixed inset-x-3 top-[12dvh] z-50 mx-auto flex max-h-[70dvh] max-w-2xl animate-rise flex-col overflow-hidden rounded-xl border border-line bg-raised shadow-lg"
        >
          <Radix.Title className="sr-only">Search all conversations</Radix.Title>
          <div className="flex items-center gap-3 border-b border-line px-4">
            <Search aria-hidden className="size-4.5 shrink-0 text-ink-faint" />
            <input
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                setPlace(0);
              }}
              onKeyDown={keys}
              role="combobox"
              aria-label="Search all conversations"
              aria-expanded={hits.length > 0}
              aria-controls={`${id}-list`}
              aria-activedescendant={hits.length > 0 ? `${id}-${chosen}` : undefined}
              placeholder="Search all conversations"
              className="h-13 min-w-0 flex-1 bg-transparent text-lg outline-none"
            />
            {found.isFetching && <Spinner label="Searching" />}
            <Radix.Close className="rounded-xs">
              <Kbd>Esc</Kbd>
              <span className="sr-only">: close</span>
            </Radix.Close>
          </div>
          <Hits id={id} hits={hits} chosen={chosen} words={words} onChoose={setPlace} onOpen={open} />
          {found.isError && (
            <p role="alert" className="border-t border-line px-4 py-3 text-sm text-bad-ink">
              The messages could not be searched: {found.error.message}
            </p>
          )}
          {hits.length === 0 && !found.isError && (
            <p role="status" className="px-4 py-8 text-center text-sm text-ink-faint">
              {found.isFetching || words !== text.trim()
                ? "Searching …"
                : words.length < 2
                  ? "Type at least two letters."
                  : "Nothing holds all of these words."}
            </p>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function useHits(
  text: string,
  words: string,
  found:
    | readonly {
        message_id: string;
        channel_id: string;
        channel_name: string;
        role: string;
        snippet: string;
        at: string;
      }[]
    | undefined,
): Hit[] {
  const channels = useQuery(channelList).data ?? [];
  const activity = useQuery(activityMap).data ?? {};
  const query = text.trim();
  const named =
    query === ""
      ? branchesOf(channels, activity, "")
          .slice(0, 8)
          .map((branch) => branch.channel)
      : matching(channels, query, (one) => `${one.name} ${one.dir_path ?? ""}`, 5);
  return [
    ...named.map((one) => ({
      key: one.id,
      channelId: one.id,
      title: one.name,
      snippet: one.dir_path ?? undefined,
    })),
    ...(words === "" ? [] : (found ?? [])).map((one) => ({
      key: one.message_id,
      channelId: one.channel_id,
      messageId: one.message_id,
      title: one.channel_name,
      snippet: one.snippet,
      at: one.at,
      role: one.role,
    })),
  ];
}

interface HitsProps {
  id: string;
  hits: readonly Hit[];
  chosen: number;
  words: string;
  onChoose: (place: number) => void;
  onOpen: (hit: Hit) => void;
}

function Hits({ id, hits, chosen, words, onChoose, onOpen }: HitsProps) {
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [id, chosen]);
  return (
    <div
      id={`${id}-list`}
      role="listbox"
      aria-label="Found"
      className="min-h-0 overflow-y-auto p-1.5 empty:hidden"
    >
      {hits.map((hit, place) => {
        const Icon = hit.messageId === undefined ? Hash : hit.role === "user" ? UserRound : Sparkles;
        return (
          <div
            key={hit.key}
            id={`${id}-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === chosen}
            onPointerMove={() => onChoose(place)}
            onClick={() => onOpen(hit)}
            onKeyDown={(event) => event.key === "Enter" && onOpen(hit)}
            className={classes(
              "flex cursor-pointer items-start gap-3 rounded-md px-3 py-2",
              place === chosen && "bg-hover",
            )}
          >
            <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-faint" />
            <span className="min-w-0 flex-1">
              <span className="flex items-baseline gap-3">
                <span className="min-w-0 flex-1 truncate text-sm font-medium">{hit.title}</span>
                {hit.at && <RelativeTime at={hit.at} className="shrink-0 text-xs text-ink-faint" />}
              </span>
              {hit.snippet && (
                <span className="line-clamp-2 text-sm text-ink-soft [overflow-wrap:anywhere]">
                  <Marked text={hit.snippet} words={words} />
                </span>
              )}
            </span>
          </div>
        );
      })}
    </div>
  );
}
