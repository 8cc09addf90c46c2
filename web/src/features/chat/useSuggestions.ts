/** What the composer offers at the caret, and which of it is chosen. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
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
  const mentions = useQuery({ ...mentionList(channelId), enabled: open && typed.kind === "mention" }).data;

  const foundCommands =
    open && typed.kind === "command" ? matching(commands ?? [], typed.query, commandText) : [];
  const foundMentions =
    open && typed.kind === "mention"
      ? matching(mentions ?? [], typed.query, (one) => `${one.mention} ${one.name}`)
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
    ...foundMentions.map(
      (one): Suggestion => ({
        key: one.mention,
        label: one.title ?? one.name,
        about: one.description ?? one.uri,
        aside: one.server,
        kind: "mention",
      }),
    ),
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

const commandText = (one: Command): string => `${one.command.slice(1)} ${one.description ?? ""}`;

/** Only where nothing could be offered at all: while one types on, silence is better. */
function emptyWords(typed: Typed, commands: number | undefined, mentions: number | undefined): string | null {
  if (typed.query !== "") return null;
  if (typed.kind === "command" && commands === 0) return "No connected server offers prompts.";
  if (typed.kind === "mention" && mentions === 0) return "No connected server offers resources.";
  return null;
}
