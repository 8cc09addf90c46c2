import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, read, readAll, type Schemas } from "@/shared/api/client";
import { missed } from "./missed";

export type Channel = Schemas["Channel"];
export type Message = Schemas["Message"];
export type Run = Schemas["Run"];
export type CallLine = Schemas["CallLine"];
export type Activity = Schemas["ChannelActivity"];
export type Approval = Schemas["Approval"];
export type ConversationPage = Schemas["Conversation"];

export const channelsKey = ["channels"] as const;

export const channelList = queryOptions({
  queryKey: [...channelsKey, "list"],
  queryFn: () =>
    readAll((cursor) => read(api.GET("/api/channels", { params: { query: { cursor, limit: 200 } } }))),
});

/** Per channel: when something was said last, what is unread, which run goes on. */
export const activityMap = queryOptions({
  queryKey: [...channelsKey, "activity"],
  queryFn: async () => {
    const { items } = await read(api.GET("/api/activity"));
    return Object.fromEntries(items.map((one) => [one.channel_id, one])) as Record<string, Activity>;
  },
});

export const conversationsKey = ["messages"] as const;
export const messagesKey = (channelId: string) => [...conversationsKey, channelId] as const;

const FIRST_PAGE = 40;
const OLDER_PAGE = 100;

/** A conversation, newest first, page by page, with the runs and calls of its messages. */
export const conversation = (channelId: string) =>
  infiniteQueryOptions({
    queryKey: messagesKey(channelId),
    queryFn: async ({ pageParam }) => {
      const limit = pageParam === undefined ? FIRST_PAGE : OLDER_PAGE;
      const asked = api.GET("/api/channels/{channel_id}/messages", {
        params: { path: { channel_id: channelId }, query: { limit, cursor: pageParam, detail: true } },
      });
      // What is told while the answer is on its way may not be in it.
      return pageParam === undefined ? missed.during(channelId, () => read(asked)) : read(asked);
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

/** What `/` offers. */
export const commandList = (channelId: string | undefined) =>
  queryOptions({
    queryKey: ["commands", channelId ?? null],
    queryFn: async () =>
      (await read(api.GET("/api/commands", { params: { query: { channel_id: channelId } } }))).items,
  });

/** What `@` offers. */
export const mentionList = (channelId: string | undefined) =>
  queryOptions({
    queryKey: ["mentions", channelId ?? null],
    queryFn: async () =>
      (await read(api.GET("/api/mentions", { params: { query: { channel_id: channelId } } }))).items,
  });

export const foundMessages = (words: string) =>
  queryOptions({
    queryKey: ["found", words],
    queryFn: async () =>
      (await read(api.GET("/api/search", { params: { query: { q: words, limit: 30 } } }))).items,
    enabled: words.trim().length > 1,
    staleTime: 0,
  });

export const callById = (callId: string) =>
  queryOptions({
    queryKey: ["calls", "one", callId],
    queryFn: () => read(api.GET("/api/tool-calls/{call_id}", { params: { path: { call_id: callId } } })),
  });
