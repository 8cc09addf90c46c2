/** Where events meet what has been read: every feature says for itself what they change. */
import * as agents from "@/features/agents/live";
import * as approvals from "@/features/approvals/live";
import * as chat from "@/features/chat/live";
import * as log from "@/features/log/live";
import * as memory from "@/features/memory/live";
import * as models from "@/features/models/live";
import * as notifications from "@/features/notifications/live";
import * as playgrounds from "@/features/playgrounds/live";
import * as quality from "@/features/quality/live";
import * as servers from "@/features/servers/live";
import * as settings from "@/features/settings/live";
import * as status from "@/features/status/live";
import * as tasks from "@/features/tasks/live";
import * as usage from "@/features/usage/live";
import * as workflows from "@/features/workflows/live";
import * as worktrees from "@/features/worktrees/live";
import { cache } from "@/shared/api/cache";
import { events } from "@/shared/events/events";
import { router } from "./router";

const FEATURES = [
  agents,
  approvals,
  chat,
  log,
  memory,
  models,
  notifications,
  playgrounds,
  quality,
  servers,
  settings,
  status,
  tasks,
  usage,
  workflows,
  worktrees,
];

export function followEvents(): void {
  for (const feature of FEATURES) feature.follow(events, cache);
  notifications.openWith((path) => void router.navigate({ href: path }));
  events.on("gap", () => void cache.invalidateQueries());
  // What could not be read while nobody answered is read now.
  events.onResumed(
    () => void cache.invalidateQueries({ predicate: (query) => query.state.status === "error" }),
  );
}
