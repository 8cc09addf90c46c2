import { amend, type Follow, readAgain, readAnew } from "@/shared/events/follow";
import { serverById, serverList, serversKey, toolsKey } from "./queries";

const LOG_PAUSE = 300;

export const follow: Follow = (events, cache) => {
  // The state at once, the rest (tool count, version, memory) when it has been read.
  events.on("mcp.status", ({ data }) => {
    const patch = { status: data.status, error: data.error ?? null, pid: data.pid, restarts: data.restarts };
    amend(cache, serverList.queryKey, (list) =>
      list.map((server) => (server.id === data.server_id ? { ...server, ...patch } : server)),
    );
    amend(cache, serverById(data.server_id).queryKey, (server) => ({ ...server, ...patch }));
  });
  events.on("mcp.removed", ({ data }) => {
    amend(cache, serverList.queryKey, (list) => list.filter((server) => server.id !== data.server_id));
    // A page that shows it reads it once more, and says that it is gone.
    readAgain(cache, serverById(data.server_id).queryKey);
  });
  readAnew(
    events,
    cache,
    [
      "mcp.status",
      "mcp.updated",
      "mcp.tools_changed",
      "mcp.prompts_changed",
      "mcp.resources_changed",
      "mcp.skills_changed",
      "mcp.removed",
    ],
    serversKey,
  );
  readAnew(
    events,
    cache,
    ["mcp.status", "mcp.updated", "mcp.tools_changed", "mcp.removed", "rule.added", "rule.removed"],
    toolsKey,
  );
  followErrorOutput(events, cache);
};

/** A log that is shown is read anew while its server writes; how it stands (memory) with it. */
const followErrorOutput: Follow = (events, cache) => {
  const planned = new Set<number>();
  events.on(["mcp.stderr", "tool.finished"], ({ data }) => {
    const id = data.server_id;
    if (id === null || planned.has(id)) return;
    planned.add(id);
    setTimeout(() => {
      planned.delete(id);
      readAgain(cache, [...serversKey, "log", id]);
      readAgain(cache, serverById(id).queryKey);
    }, LOG_PAUSE);
  });
};
