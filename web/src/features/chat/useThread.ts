/** One conversation as it is now: what was said, what is queued, which run goes on. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { pendingApprovals } from "@/features/approvals/queries";
import { liveTexts, useSpeaks } from "./liveTexts";
import { type CallLine, conversation, type Message, type Run } from "./queries";
import { buildRows, openRun, storedIteration } from "./rows";

export function useThread(channelId: string) {
  const query = useInfiniteQuery(conversation(channelId));
  const pages = query.data?.pages;
  const read = useMemo(() => {
    const oldestPageFirst = [...(pages ?? [])].reverse();
    const all = oldestPageFirst.flatMap((page) => page.items.toReversed());
    const messages: Message[] = all.filter((one) => one.state === "sent");
    const queued = all.filter((one) => one.state === "queued");
    const runs = new Map<string, Run>();
    const calls = new Map<string, CallLine>();
    for (const page of oldestPageFirst) {
      for (const run of page.runs) runs.set(run.id, run);
      for (const call of page.calls) calls.set(call.id, call);
    }
    return { messages, queued, runs, calls };
  }, [pages]);

  const run = openRun(read.runs.values());
  const stored = storedIteration(read.messages, run?.id);
  const speaks = useSpeaks(run?.id, stored);
  const waiting = useQuery(pendingApprovals).data;
  const approvals = useMemo(
    () => (waiting ?? []).filter((one) => one.channel_id === channelId).toReversed(),
    [waiting, channelId],
  );
  useEffect(() => {
    for (const one of read.runs.values()) if (one.live) liveTexts.seed(one.id, one.live);
  }, [read.runs]);

  const rows = useMemo(() => buildRows({ ...read, approvals, speaks }), [read, approvals, speaks]);
  return { ...read, query, rows, run, approvals };
}
