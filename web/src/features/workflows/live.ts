import type { QueryClient } from "@tanstack/react-query";
import { amend, type Follow, readAgain, readAnew } from "@/shared/events/follow";
import type { WorkflowNodeNews } from "@/shared/events/types";
import { definitionsKey, runOf, runsKey } from "./queries";
import { withNews } from "./runState";

const SHOWN_WITHIN = 120;
const READ_WITHIN = 700;

/**
 * Nodes may move by the hundred in a second. What they say is put in together, a few times a second; what events do not
 * carry (inputs, logs, what is asked) is read a little later.
 */
export function gather(cache: QueryClient): (news: WorkflowNodeNews) => void {
  const collected = new Map<string, WorkflowNodeNews[]>();
  const toRead = new Set<string>();
  let putting = false;
  let reading = false;
  const put = (): void => {
    putting = false;
    for (const [runId, news] of collected) amend(cache, runOf(runId).queryKey, (run) => withNews(run, news));
    collected.clear();
  };
  const readThem = (): void => {
    reading = false;
    for (const runId of toRead) readAgain(cache, runOf(runId).queryKey);
    toRead.clear();
    readAgain(cache, [...runsKey, "list"]);
  };
  return (news) => {
    const list = collected.get(news.run_id);
    if (list) list.push(news);
    else collected.set(news.run_id, [news]);
    toRead.add(news.run_id);
    if (!putting) setTimeout(put, SHOWN_WITHIN);
    if (!reading) setTimeout(readThem, READ_WITHIN);
    putting = true;
    reading = true;
  };
}

export const follow: Follow = (events, cache) => {
  const take = gather(cache);
  events.on(["workflow.node_started", "workflow.node_finished"], ({ data }) => take(data));
  events.on(["workflow.run_started", "workflow.run_paused", "workflow.run_finished"], ({ data }) => {
    amend(cache, runOf(data.id).queryKey, (known) => ({ ...known, run: data }));
    readAgain(cache, runOf(data.id).queryKey);
    readAgain(cache, [...runsKey, "list"]);
  });
  events.on("workflow.run_deleted", ({ data }) => {
    readAgain(cache, runOf(data.id).queryKey);
    readAgain(cache, [...runsKey, "list"]);
  });
  readAnew(events, cache, ["workflow.saved", "workflow.deleted"], definitionsKey);
};
