import { queryOptions } from "@tanstack/react-query";
import { api, read, readAll, type Schemas } from "@/shared/api/client";

export type Agent = Schemas["Agent"];
export type AgentMessage = Schemas["AgentMessage"];

export const agentsKey = ["agents"] as const;

/** Every agent of every channel that is there now. */
export const agentList = queryOptions({
  queryKey: [...agentsKey, "list"],
  queryFn: () =>
    readAll((cursor) => read(api.GET("/api/agents", { params: { query: { cursor, limit: 500 } } }))),
});

export const MESSAGES_SHOWN = 30;

/** What an agent has sent and been sent lately, newest first. */
export const agentMessages = (channelId: string, agentId: string) =>
  queryOptions({
    queryKey: [...agentsKey, "messages", channelId, agentId],
    queryFn: async () =>
      (
        await read(
          api.GET("/api/agents/{agent_id}/messages", {
            params: {
              path: { agent_id: agentId },
              query: { channel_id: channelId, limit: MESSAGES_SHOWN },
            },
          }),
        )
      ).items,
  });
