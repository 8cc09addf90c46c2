import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Channel, channelList } from "@/features/chat/queries";
import { type Definition, definitionList } from "./queries";

/** A directory that channels work in, with one of them to ask by. */
export interface Project {
  path: string;
  name: string;
  channelId: string;
}

const MOST = 30;

/** Every directory once, by the name of its folder. */
export function projectsOf(channels: readonly Channel[]): Project[] {
  const found = new Map<string, Project>();
  for (const one of channels)
    if (one.parent_id === null && one.dir_path && !found.has(one.dir_path))
      found.set(one.dir_path, {
        path: one.dir_path,
        name: one.dir_path.split(/[/\\]/).findLast(Boolean) ?? one.dir_path,
        channelId: one.id,
      });
  return [...found.values()].toSorted((one, other) => one.name.localeCompare(other.name)).slice(0, MOST);
}

export function useProjects(): Project[] {
  const channels = useQuery(channelList).data;
  return useMemo(() => projectsOf(channels ?? []), [channels]);
}

/** The projects that have workflows of their own. */
export function useProjectDefinitions(): { project: Project; definitions: Definition[] }[] {
  const projects = useProjects();
  const lists = useQueries({ queries: projects.map((one) => definitionList(one.channelId)) });
  return projects
    .map((project, place) => ({
      project,
      definitions: (lists[place]?.data ?? []).filter((one) => one.scope === "project"),
    }))
    .filter((one) => one.definitions.length > 0);
}
