import type { QueryClient } from "@tanstack/react-query";
import { amend, type Follow, readAgain, readAnew, upsert } from "@/shared/events/follow";
import { liveTexts } from "./liveTexts";
import { type Change, missed } from "./missed";
import { notices } from "./notices";
import {
  type Activity,
  activityMap,
  type CallLine,
  channelList,
  channelsKey,
  conversation,
  conversationsKey,
  type Message,
  type Run,
} from "./queries";

const withMessage =
  (message: Message & { replaces?: unknown }): Change =>
  (page) => {
    const gone = message.state === "withdrawn" || message.state === "set_aside";
    const others = page.items.filter(
      (one) => one.id !== message.replaces && (!gone || one.id !== message.id),
    );
    return { ...page, items: gone ? others : newestFirst(upsert(others, message, (one) => one.id)) };
  };

const newestFirst = (items: Message[]): Message[] => items.sort((a, b) => (a.id < b.id ? 1 : -1));

const withRun =
  (run: Run): Change =>
  (page) => ({ ...page, runs: upsert(page.runs, run, (one) => one.id) });

const withCall =
  (call: CallLine): Change =>
  (page) => ({ ...page, calls: upsert(page.calls, call, (one) => one.id) });

const without =
  (first: string): Change =>
  (page) => ({ ...page, items: page.items.filter((one) => one.id < first) });

function change(cache: QueryClient, channelId: string, how: Change, everywhere = false): void {
  missed.add(channelId, how);
  cache.setQueryData(conversation(channelId).queryKey, (known) => {
    if (known === undefined) return known;
    const pages = known.pages.map((page, place) => (place === 0 || everywhere ? how(page) : page));
    return { ...known, pages };
  });
}

function touch(cache: QueryClient, channelId: string, how: (known: Activity) => Partial<Activity>): void {
  amend(cache, activityMap.queryKey, (map) => {
    const known = map[channelId] ?? quiet(channelId);
    return { ...map, [channelId]: { ...known, ...how(known) } };
  });
}

const quiet = (channelId: string): Activity => ({
  channel_id: channelId,
  last_message_id: null,
  last_at: null,
  unread: 0,
  run_id: null,
  run_status: null,
});

const counts = (message: Message): boolean =>
  message.state === "sent" &&
  (message.role === "assistant" || message.role === "system") &&
  message.content !== "";

export const follow: Follow = (events, cache) => {
  events.on(["channel.created", "channel.updated"], ({ data }) => {
    amend(cache, channelList.queryKey, (list) => upsert(list, data, (one) => one.id));
  });
  events.on("channel.deleted", ({ data }) => {
    amend(cache, channelList.queryKey, (list) =>
      list.filter((one) => one.id !== data.id && one.parent_id !== data.id),
    );
  });
  events.on("channel.rewound", ({ data }) => change(cache, data.channel_id, without(data.message_id), true));
  events.on("channel.read", ({ data }) => {
    touch(cache, data.channel_id, (known) =>
      data.message_id >= (known.last_message_id ?? "") ? { unread: 0 } : {},
    );
  });
  followMessages(events, cache);
  followRuns(events, cache);
  readAnew(events, cache, ["mcp.status", "mcp.prompts_changed"], ["commands"]);
  readAnew(events, cache, ["mcp.status", "mcp.resources_changed"], ["mentions"]);
  events.onResumed(() => {
    // Words live in memory only: those of the break are in the run as it is now.
    void cache.invalidateQueries({ queryKey: conversationsKey });
    void cache.invalidateQueries({ queryKey: channelsKey });
  });
};

const followMessages: Follow = (events, cache) => {
  events.on(["message.created", "message.updated"], ({ data, type }) => {
    change(cache, data.channel_id, withMessage(data));
    if (data.state === "sent")
      touch(cache, data.channel_id, (known) => ({
        last_message_id: data.id,
        last_at: data.at,
        unread: known.unread + (type === "message.created" && counts(data) ? 1 : 0),
      }));
  });
  events.on(["tool.started", "tool.finished"], ({ data }) => {
    if (data.channel_id === null || data.run_id === null) return;
    const { id, tool, server, server_id, status, isError, code, error, duration_ms, size, run_id, at } = data;
    const line = { id, tool, server, server_id, status, isError, code, error, duration_ms, size, run_id, at };
    change(cache, data.channel_id, withCall(line));
    readAgain(cache, ["calls", "one", id]);
  });
};

const followRuns: Follow = (events, cache) => {
  events.on(["run.queued", "run.started"], ({ data }) => {
    change(cache, data.channel_id, withRun(data));
    touch(cache, data.channel_id, () => ({ run_id: data.id, run_status: data.status }));
  });
  events.on("run.finished", ({ data }) => {
    change(cache, data.channel_id, withRun(data));
    touch(cache, data.channel_id, (known) =>
      known.run_id === data.id ? { run_id: null, run_status: null } : {},
    );
    liveTexts.forget(data.id);
    notices.forget(data.id);
  });
  events.on("run.delta", ({ data }) => liveTexts.append({ runId: data.run_id, channel: "text", ...data }));
  events.on("run.thinking", ({ data }) =>
    liveTexts.append({ runId: data.run_id, channel: "thinking", ...data }),
  );
  events.on("run.restarted", ({ data }) => {
    liveTexts.forget(data.run_id);
    notices.say(data.run_id, `Asking ${data.model} again: ${data.reason}`);
  });
  events.on("run.notice", ({ data }) => notices.say(data.run_id, data.text));
  events.on("run.compacting", ({ data }) =>
    notices.say(data.run_id, "Summing up the conversation to save room"),
  );
  events.on("run.iteration", ({ data }) => notices.forget(data.run_id));
};
