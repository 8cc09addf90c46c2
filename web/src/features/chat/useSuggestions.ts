/** What the composer offers at the caret, and which of it is chosen. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Agent, agentList } from "@/features/agents/queries";
import { commandList, mentionList } from "./queries";
import type { Suggestion } from "./Suggestions";
import { matching, type Typed, typedAt } from "./suggest";

export interface Command {
  command: string;
  name: string;
  description?: string | null;
  arguments?: readonly Record<string, unknown>[] | null;
  server: string;
  server_id: number;
}

export function useSuggestions(channelId: string | undefined, text: string, caret: number) {
  const [closedFor, setClosedFor] = useState<string | null>(null);
  const [place, setPlace] = useState(0);
  const typed = typedAt(text, caret);
  const at = typed ? `${typed.kind}:${typed.start}` : null;
  const open = typed !== null && closedFor !== at;
  const commands = useQuery({ ...commandList(channelId), enabled: open && typed.kind === "command" }).data;
  const mentions = useMentions(channelId, open && typed.kind === "mention");

  const foundCommands =
    open && typed.kind === "command" ? matching(commands ?? [], typed.query, commandText) : [];
  const foundMentions =
    open && typed.kind === "mention"
      ? matching(mentions ?? [], typed.query, (one) => `${one.mention} ${one.label}`)
      : [];
  const items: Suggestion[] = [
    ...foundCommands.map(
      (one): Suggestion => ({
        key: one.command,
        label: one.command,
        about: one.description ?? "",
        aside: one.server,
        kind: "command",
      }),
    ),
    ...foundMentions,
  ];
  return {
    typed: open ? typed : null,
    items,
    chosen: Math.min(place, Math.max(0, items.length - 1)),
    choose: setPlace,
    empty: open ? emptyWords(typed, commands?.length, mentions?.length) : null,
    close: () => setClosedFor(at),
    commandAt: (index: number) => foundCommands[index],
    mentionAt: (index: number) => foundMentions[index],
  };
}

interface Mention extends Suggestion {
  /** What is written into the message. */
  mention: string;
}

/** The agents of this channel first, then the resources of servers. */
function useMentions(channelId: string | undefined, enabled: boolean): Mention[] | undefined {
  const agents = useQuery({ ...agentList, enabled }).data;
  const resources = useQuery({ ...mentionList(channelId), enabled }).data;
  if (!agents && !resources) return undefined;
  const here = agents?.filter((agent) => agent.channel_id === channelId) ?? [];
  const lent = resources?.map(
    (one): Mention => ({
      key: one.mention,
      mention: one.mention,
      label: one.title ?? one.name,
      about: one.description ?? one.uri,
      aside: one.server,
      kind: "resource",
    }),
  );
  return [...here.map(agentMention), ...(lent ?? [])];
}

function agentMention(agent: Agent): Mention {
  const name = agent.name.trim() || agent.id;
  return {
    key: `agent ${agent.id}`,
    mention: `@${name}`,
    label: name,
    about: agent.work_summary,
    aside: "Agent",
    kind: "agent",
  };
}

const commandText = (one: Command): string => `${one.command.slice(1)} ${one.description ?? ""}`;

/** Only where nothing could be offered at all: while one types on, silence is better. */
function emptyWords(typed: Typed, commands: number | undefined, mentions: number | undefined): string | null {
  if (typed.query !== "") return null;
  if (typed.kind === "command" && commands === 0) return "No connected server offers prompts.";
  if (typed.kind === "mention" && mentions === 0)
    return "No agent is here, and no connected server offers resources.";
  return null;
}
