import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Link, useLocation, useNavigate, useParams } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";
import { Card } from "@/shared/ui/Card";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Page } from "@/shared/ui/Page";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { Tabs } from "@/shared/ui/Tabs";
import { VisibleText } from "@/shared/ui/VisibleText";
import { placeOf } from "./draft";
import { PromptsTab } from "./PromptsTab";
import {
  type Server,
  serverById,
  serverPrompts,
  serverResources,
  serverSkills,
  serverTools,
} from "./queries";
import { ResourcesTab, SkillsTab } from "./ResourcesTab";
import { ServerActions } from "./ServerActions";
import { About, Vitals } from "./ServerFacts";
import { ServerLog } from "./ServerLog";
import { ServerState, Troubles } from "./ServerRow";
import { ToolViewer } from "./tools/ToolViewer";

export default function ServerPage() {
  const serverId = Number(useParams({ from: "/servers/$serverId" }).serverId);
  const server = useQuery(serverById(serverId));
  if (server.isPending)
    return (
      <Page title="Server" above={<BackLink />}>
        <SkeletonRows />
      </Page>
    );
  if (server.isError && !server.data)
    return (
      <Page title="Server" above={<BackLink />}>
        <ErrorState
          title="This server could not be read"
          error={server.error}
          onRetry={() => void server.refetch()}
        />
      </Page>
    );
  if (server.isError)
    return (
      <Page title={server.data.name} above={<BackLink />}>
        <EmptyState title="This server is gone">It was removed, perhaps in another window.</EmptyState>
      </Page>
    );
  return <Shown server={server.data} />;
}

export const BackLink = () => (
  <Link
    to="/servers"
    className="mb-1.5 inline-flex items-center gap-1.5 text-sm text-ink-soft hover:text-ink"
  >
    <ArrowLeft aria-hidden className="size-4" /> All servers
  </Link>
);

function Shown({ server }: { server: Server }) {
  return (
    <Page
      title={
        <span className="flex flex-wrap items-center gap-x-3.5 gap-y-1 [overflow-wrap:anywhere]">
          <VisibleText text={server.name} />
          <span className="font-normal tracking-normal">
            <ServerState server={server} />
          </span>
        </span>
      }
      above={<BackLink />}
      description={
        <span className="mt-1 block font-mono text-xs [overflow-wrap:anywhere]">
          <VisibleText text={placeOf(server)} />
        </span>
      }
      actions={<ServerActions server={server} labelled />}
    >
      <Troubles server={server} />
      <Vitals server={server} />
      <ServerTabs server={server} />
    </Page>
  );
}

type Tab = "tools" | "prompts" | "resources" | "skills" | "log" | "about";
const TABS: readonly Tab[] = ["tools", "prompts", "resources", "skills", "log", "about"];

/** The chosen tab stands in the address, behind the #. */
function useTab(): [Tab, (tab: Tab) => void] {
  const hash = useLocation({ select: (location) => location.hash });
  const navigate = useNavigate();
  const tab = TABS.find((one) => one === hash) ?? "tools";
  return [tab, (next) => void navigate({ to: ".", hash: next, replace: true, resetScroll: false })];
}

function ServerTabs({ server }: { server: Server }) {
  const [tab, setTab] = useTab();
  const tools = useQuery(serverTools(server.id));
  const prompts = useQuery(serverPrompts(server.id));
  const resources = useQuery(serverResources(server.id));
  const skills = useQuery(serverSkills(server.id));
  const found = resources.data;
  return (
    <Tabs
      label={`What ${server.name} has`}
      value={tab}
      onChange={setTab}
      tabs={[
        {
          value: "tools",
          label: "Tools",
          count: tools.data?.length,
          content: (
            <Loaded query={tools} isEmpty={(list) => list.length === 0} empty={<NoTools server={server} />}>
              {(list) => <ToolViewer tools={list} />}
            </Loaded>
          ),
        },
        {
          value: "prompts",
          label: "Prompts",
          count: prompts.data?.length,
          content: (
            <Loaded query={prompts} isEmpty={(list) => list.length === 0} empty={<None what="prompts" />}>
              {(list) => <PromptsTab serverId={server.id} prompts={list} />}
            </Loaded>
          ),
        },
        {
          value: "resources",
          label: "Resources",
          count: found && found.resources.length + found.templates.length,
          content: (
            <Loaded
              query={resources}
              isEmpty={(all) => all.resources.length + all.templates.length === 0}
              empty={<None what="resources" />}
            >
              {(all) => <ResourcesTab serverId={server.id} {...all} />}
            </Loaded>
          ),
        },
        {
          value: "skills",
          label: "Skills",
          count: skills.data?.length,
          content: (
            <Loaded query={skills} isEmpty={(list) => list.length === 0} empty={<None what="skills" />}>
              {(list) => <SkillsTab serverId={server.id} skills={list} />}
            </Loaded>
          ),
        },
        { value: "log", label: "Log", content: <ServerLog server={server} /> },
        { value: "about", label: "About", content: <About server={server} /> },
      ]}
    />
  );
}

interface LoadedProps<T> {
  query: UseQueryResult<T>;
  isEmpty: (data: T) => boolean;
  empty: ReactNode;
  children: (data: T) => ReactNode;
}

function Loaded<T>({ query, isEmpty, empty, children }: LoadedProps<T>) {
  if (query.isPending) return <SkeletonRows />;
  if (query.isError) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  return isEmpty(query.data) ? empty : children(query.data);
}

const None = ({ what }: { what: string }) => (
  <Card>
    <EmptyState title={`It has no ${what}`}>
      Many servers lend tools alone. What it adds later shows up here by itself.
    </EmptyState>
  </Card>
);

function NoTools({ server }: { server: Server }) {
  return (
    <Card>
      <EmptyState title={server.status === "connected" ? "It offers no tools" : "No tools are known yet"}>
        {server.status === "connected"
          ? "That is unusual. Its log may say why; some servers need a key or a setting before they offer anything."
          : "They show up once it has been connected."}
      </EmptyState>
    </Card>
  );
}
