/** Which address shows which page. The chat is there from the start; other pages come when they are first opened. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent as lazy,
} from "@tanstack/react-router";
import ChatPage from "@/features/chat/page";
import { ErrorState } from "@/shared/ui/ErrorState";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import HomePage from "./HomePage";
import { NotFound } from "./NotFound";
import { Shell } from "./Shell";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const getParentRoute = () => root;

const text = (value: unknown): string | undefined => (typeof value === "string" && value ? value : undefined);

type LogSearch = Partial<Record<"server" | "tool" | "status" | "channel" | "run" | "q", string>>;
type MemorySearch = Partial<
  Record<"channel" | "q" | "path" | "when" | "from" | "to" | "most" | "newer" | "words", string>
>;

const routes = [
  createRoute({ getParentRoute, path: "/", component: HomePage }),
  createRoute({
    getParentRoute,
    path: "/c/$channelId",
    component: ChatPage,
  }),
  createRoute({
    getParentRoute,
    path: "/approvals",
    component: lazy(() => import("@/features/approvals/page")),
  }),
  createRoute({
    getParentRoute,
    path: "/agents",
    validateSearch: (search: Record<string, unknown>): { channel?: string; view?: string } => ({
      channel: text(search.channel),
      view: text(search.view),
    }),
    component: lazy(() => import("@/features/agents/page")),
  }),
  createRoute({ getParentRoute, path: "/servers", component: lazy(() => import("@/features/servers/page")) }),
  createRoute({
    getParentRoute,
    path: "/servers/native",
    component: lazy(() => import("@/features/servers/native-page")),
  }),
  createRoute({
    getParentRoute,
    path: "/servers/$serverId",
    component: lazy(() => import("@/features/servers/server-page")),
  }),
  createRoute({
    getParentRoute,
    path: "/log",
    // Filters live in the address, so that a view of the log can be shared and reloaded.
    validateSearch: (search: Record<string, unknown>): LogSearch => ({
      server: text(search.server),
      tool: text(search.tool),
      status: text(search.status),
      channel: text(search.channel),
      run: text(search.run),
      q: text(search.q),
    }),
    component: lazy(() => import("@/features/log/page")),
  }),
  createRoute({
    getParentRoute,
    path: "/log/$callId",
    component: lazy(() => import("@/features/log/call-page")),
  }),
  createRoute({
    getParentRoute,
    path: "/playgrounds",
    validateSearch: (search: Record<string, unknown>): { open?: string } => ({ open: text(search.open) }),
    component: lazy(() => import("@/features/playgrounds/page")),
  }),
  createRoute({
    getParentRoute,
    path: "/memory",
    validateSearch: (search: Record<string, unknown>): MemorySearch => ({
      channel: text(search.channel),
      q: text(search.q),
      path: text(search.path),
      when: text(search.when),
      from: text(search.from),
      to: text(search.to),
      most: text(search.most),
      newer: text(search.newer),
      words: text(search.words),
    }),
    component: lazy(() => import("@/features/memory/page")),
  }),
  createRoute({
    getParentRoute,
    path: "/quality",
    validateSearch: (search: Record<string, unknown>): Partial<Record<"channel" | "view" | "q", string>> => ({
      channel: text(search.channel),
      view: text(search.view),
      q: text(search.q),
    }),
    component: lazy(() => import("@/features/quality/page")),
  }),
  createRoute({ getParentRoute, path: "/tasks", component: lazy(() => import("@/features/tasks/page")) }),
  createRoute({
    getParentRoute,
    path: "/tasks/$taskId",
    component: lazy(() => import("@/features/tasks/task-page")),
  }),
  createRoute({
    getParentRoute,
    path: "/workflows",
    validateSearch: (
      search: Record<string, unknown>,
    ): Partial<Record<"view" | "status" | "workflow", string>> => ({
      view: text(search.view),
      status: text(search.status),
      workflow: text(search.workflow),
    }),
    component: lazy(() => import("@/features/workflows/page")),
  }),
  createRoute({
    getParentRoute,
    path: "/workflows/edit",
    // A name may be any word, so it is no part of the path.
    validateSearch: (
      search: Record<string, unknown>,
    ): Partial<Record<"name" | "channel" | "scope", string>> => ({
      name: text(search.name),
      channel: text(search.channel),
      scope: text(search.scope),
    }),
    component: lazy(() => import("@/features/workflows/edit-page")),
  }),
  createRoute({
    getParentRoute,
    path: "/workflows/runs/$runId",
    component: lazy(() => import("@/features/workflows/run-page")),
  }),
  createRoute({ getParentRoute, path: "/models", component: lazy(() => import("@/features/models/page")) }),
  createRoute({ getParentRoute, path: "/usage", component: lazy(() => import("@/features/usage/page")) }),
  createRoute({
    getParentRoute,
    path: "/settings",
    component: lazy(() => import("@/features/settings/page")),
  }),
  createRoute({ getParentRoute, path: "/status", component: lazy(() => import("@/features/status/page")) }),
  createRoute({ getParentRoute, path: "/welcome", component: lazy(() => import("@/features/welcome/page")) }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: "intent",
  defaultPendingMs: 150,
  defaultPendingComponent: () => <SkeletonRows />,
  defaultErrorComponent: ({ error, reset }) => (
    <ErrorState title="This page could not be shown" error={error} onRetry={reset} />
  ),
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
