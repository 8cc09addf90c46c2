import { queryOptions } from "@tanstack/react-query";
import { api, read, readAll, type Schemas } from "@/shared/api/client";

export type Playground = Schemas["PlaygroundShown"];
export type PlaygroundFile = Schemas["FileShown"];
export type ConsoleLine = Schemas["ConsoleLine"];

/** Which one: its name, and for one of a project a channel of that project. */
export interface Key {
  name: string;
  channelId: string | null;
}

export const keyOf = (one: Playground): Key => ({
  name: one.name,
  channelId: one.scope === "project" ? one.channel_id : null,
});

/** A key as it stands in the address of the page. */
export const asText = ({ name, channelId }: Key): string => `${channelId ?? "global"}:${name}`;

const place = ({ channelId }: Key) =>
  channelId === null ? { scope: "global" as const } : { scope: "project" as const, channel_id: channelId };
const of = (key: Key) => ({ path: { name: key.name }, query: place(key) });
const fileOf = (key: Key, path: string) => ({ path: { name: key.name, path }, query: place(key) });

export const playgroundsKey = ["playgrounds"] as const;
export const consolesKey = ["playground-consoles"] as const;

export const playgroundList = queryOptions({
  queryKey: [...playgroundsKey, "list"],
  queryFn: () => readAll((cursor) => read(api.GET("/api/playgrounds", { params: { query: { cursor } } }))),
});

export const fileList = (key: Key) =>
  queryOptions({
    queryKey: [...playgroundsKey, "files", asText(key)],
    queryFn: () =>
      readAll((cursor) =>
        read(
          api.GET("/api/playgrounds/{name}/files", {
            params: { path: { name: key.name }, query: { ...place(key), cursor } },
          }),
        ),
      ),
  });

export const fileContent = (key: Key, path: string) =>
  queryOptions({
    queryKey: [...playgroundsKey, "file", asText(key), path],
    queryFn: () => read(api.GET("/api/playgrounds/{name}/files/{path}", { params: fileOf(key, path) })),
  });

export const consoleLines = (key: Key) =>
  queryOptions({
    queryKey: [...consolesKey, asText(key)],
    queryFn: () =>
      readAll((cursor) =>
        read(
          api.GET("/api/playgrounds/{name}/console", {
            params: { path: { name: key.name }, query: { ...place(key), cursor } },
          }),
        ),
      ),
  });

export const savePlayground = (key: Key, values: { title?: string; description?: string; html?: string }) =>
  read(
    api.PUT("/api/playgrounds/{name}", {
      params: { path: { name: key.name } },
      body: { ...place(key), ...values },
    }),
  );

export const removePlayground = (key: Key) =>
  read(api.DELETE("/api/playgrounds/{name}", { params: of(key) }));

export const writeFile = (key: Key, path: string, content: string) =>
  read(
    api.PUT("/api/playgrounds/{name}/files/{path}", {
      params: { path: { name: key.name, path } },
      body: { ...place(key), content, encoding: "utf-8" },
    }),
  );

export const removeFile = (key: Key, path: string) =>
  read(api.DELETE("/api/playgrounds/{name}/files/{path}", { params: fileOf(key, path) }));

export const clearConsole = (key: Key) =>
  read(api.DELETE("/api/playgrounds/{name}/console", { params: of(key) }));

/** Where all of it is saved from as one file. */
export function exportAddress(key: Key): string {
  const query = new URLSearchParams(Object.entries(place(key)));
  return `/api/playgrounds/${encodeURIComponent(key.name)}/export?${query}`;
}
