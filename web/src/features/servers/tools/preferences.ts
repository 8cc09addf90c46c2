/** Switching tools on and off, and what their calls need: shown at once, sent, and read anew by an event. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, read } from "@/shared/api/client";
import { toast } from "@/shared/ui/Toast";
import { nativeTools, serverTools, type Tool, toolsKey } from "../queries";

export type Policy = "allow" | "ask" | "deny" | "default";
export interface Wish {
  tools: readonly Tool[];
  enabled?: boolean;
  policy?: Policy;
}

const AT_ONCE = 4;

const send = (tool: Tool, body: { enabled?: boolean; policy?: Policy }) =>
  tool.serverId == null
    ? read(api.PATCH("/api/tools/{name}", { params: { path: { name: tool.name } }, body }))
    : read(
        api.PATCH("/api/servers/{server_id}/tools/{tool}", {
          params: { path: { server_id: tool.serverId, tool: tool.name } },
          body,
        }),
      );

async function sendAll({ tools, enabled, policy }: Wish): Promise<void> {
  const waiting = [...tools];
  const work = async () => {
    for (let tool = waiting.shift(); tool; tool = waiting.shift()) await send(tool, { enabled, policy });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

export function useToolPreference() {
  const cache = useQueryClient();
  const show = ({ tools, enabled, policy }: Wish) => {
    const names = new Set(tools.map((tool) => tool.fullName));
    const first = tools[0];
    if (!first) return;
    const key = first.serverId == null ? nativeTools.queryKey : serverTools(first.serverId).queryKey;
    cache.setQueryData<Tool[]>(key, (list) =>
      list?.map((tool) =>
        names.has(tool.fullName)
          ? {
              ...tool,
              enabled: enabled ?? tool.enabled,
              policy: policy === undefined ? tool.policy : policy === "default" ? null : policy,
            }
          : tool,
      ),
    );
  };
  return useMutation({
    mutationFn: sendAll,
    onMutate: show,
    onError: toast.error,
    onSettled: () => void cache.invalidateQueries({ queryKey: toolsKey }),
  });
}

export function useAcceptDefinition() {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (tool: Tool) =>
      read(
        api.POST("/api/servers/{server_id}/tools/{tool}/accept", {
          params: { path: { server_id: tool.serverId ?? 0, tool: tool.name } },
        }),
      ),
    onSuccess: (_, tool) => toast(`${tool.name} is accepted as it is now`),
    onError: toast.error,
    onSettled: () => void cache.invalidateQueries({ queryKey: toolsKey }),
  });
}
