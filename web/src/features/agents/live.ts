import type { QueryClient } from "@tanstack/react-query";
import { amend, type Follow, upsert } from "@/shared/events/follow";
import {
  type Agent,
  type AgentMessage,
  agentList,
  agentMessages,
  agentsKey,
  MESSAGES_SHOWN,
} from "./queries";

const place = (agent: Agent): string => `${agent.channel_id}/${agent.id}`;

/** The message with its newest receipt; what has been read whole is not cut again by an event. */
export function withReceipt(list: readonly AgentMessage[], news: AgentMessage): AgentMessage[] {
  const known = list.find((one) => one.id === news.id);
  const whole = known ? { ...news, content: known.content } : news;
  return upsert(list, whole, (one) => one.id).slice(0, MESSAGES_SHOWN);
}

function take(cache: QueryClient, news: AgentMessage, agentId: string): void {
  amend(cache, agentMessages(news.channel_id, agentId).queryKey, (list) => withReceipt(list, news));
}

export const follow: Follow = (events, cache) => {
  events.on(["agent.registered", "agent.updated"], ({ data }) => {
    amend(cache, agentList.queryKey, (list) => upsert(list, data, place));
  });
  events.on("agent.unregistered", ({ data }) => {
    amend(cache, agentList.queryKey, (list) => list.filter((one) => place(one) !== place(data)));
  });
  events.on("agent.message", ({ data }) => {
    take(cache, data, data.to_agent_id);
    take(cache, data, data.from_agent);
  });
  events.onResumed(() => void cache.invalidateQueries({ queryKey: agentsKey }));
};
