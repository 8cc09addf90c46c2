import { queryOptions } from "@tanstack/react-query";
import { api, read, readAll, type Schemas } from "@/shared/api/client";

export type Server = Schemas["Server"];
export type Tool = Schemas["Tool"];
export type Json = Record<string, unknown>;

export const serversKey = ["servers"] as const;
export const toolsKey = ["tools"] as const;

const of = (serverId: number) => ({ path: { server_id: serverId } });

export const serverList = queryOptions({
  queryKey: [...serversKey, "list"],
  queryFn: () => readAll((cursor) => read(api.GET("/api/servers", { params: { query: { cursor } } }))),
});

export const serverById = (serverId: number) =>
  queryOptions({
    queryKey: [...serversKey, "one", serverId],
    queryFn: () => read(api.GET("/api/servers/{server_id}", { params: of(serverId) })),
  });

export const serverTools = (serverId: number) =>
  queryOptions({
    queryKey: [...toolsKey, "of", serverId],
    queryFn: () =>
      readAll((cursor) =>
        read(api.GET("/api/servers/{server_id}/tools", { params: { ...of(serverId), query: { cursor } } })),
      ),
  });

/** The tools that the hub brings itself. */
export const nativeTools = queryOptions({
  queryKey: [...toolsKey, "native"],
  queryFn: () =>
    readAll((cursor) => read(api.GET("/api/tools", { params: { query: { server: "native", cursor } } }))),
});

/** Everything that decides about a tool. */
export interface Why {
  exists: boolean;
  offered: boolean;
  reason: string;
  server_status?: string | null;
  enabled?: boolean;
  trust?: string | null;
  preference?: string | null;
  repair?: string | null;
  decision?: { effect: "allow" | "ask" | "deny"; reason: string; rule_id: string | null };
  model?: { id: string; name: string; sent: boolean; repairs: string[] } | null;
}

export const whyTool = (fullName: string) =>
  queryOptions({
    queryKey: [...toolsKey, "why", fullName],
    queryFn: async () =>
      (await read(api.GET("/api/tools/why", { params: { query: { name: fullName } } }))) as unknown as Why,
  });

export const serverLog = (serverId: number) =>
  queryOptions({
    queryKey: [...serversKey, "log", serverId],
    queryFn: () => read(api.GET("/api/servers/{server_id}/log", { params: of(serverId) })),
  });

export interface Prompt {
  name: string;
  title?: string;
  description?: string;
  command: string;
  arguments?: { name: string; title?: string; description?: string; required?: boolean }[];
}

export const serverPrompts = (serverId: number) =>
  queryOptions({
    queryKey: [...serversKey, "prompts", serverId],
    queryFn: async () =>
      (await readAll((cursor) =>
        read(api.GET("/api/servers/{server_id}/prompts", { params: { ...of(serverId), query: { cursor } } })),
      )) as unknown as Prompt[],
  });

export interface Resource {
  uri: string;
  name?: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
}
export interface ResourceTemplate extends Omit<Resource, "uri"> {
  uriTemplate: string;
}

export const serverResources = (serverId: number) =>
  queryOptions({
    queryKey: [...serversKey, "resources", serverId],
    queryFn: async () => {
      const templates: unknown[] = [];
      const items = await readAll(async (cursor) => {
        const page = await read(
          api.GET("/api/servers/{server_id}/resources", { params: { ...of(serverId), query: { cursor } } }),
        );
        if (cursor === undefined) templates.push(...(page.templates ?? []));
        return page;
      });
      return { resources: items as unknown as Resource[], templates: templates as ResourceTemplate[] };
    },
  });

export interface Skill {
  name?: string;
  title?: string;
  description?: string;
  uri?: string;
}

export const serverSkills = (serverId: number) =>
  queryOptions({
    queryKey: [...serversKey, "skills", serverId],
    queryFn: async () =>
      (await readAll((cursor) =>
        read(api.GET("/api/servers/{server_id}/skills", { params: { ...of(serverId), query: { cursor } } })),
      )) as unknown as Skill[],
  });
