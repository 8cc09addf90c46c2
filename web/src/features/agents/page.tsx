import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Bot, LayoutGrid, Plus, SquareDashedMousePointer } from "lucide-react";
import { lazy, Suspense, useMemo, useState } from "react";
import { type Channel, channelList } from "@/features/chat/queries";
import { Button } from "@/shared/ui/Button";
import { CodeBlock } from "@/shared/ui/CodeBlock";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Page } from "@/shared/ui/Page";
import { Segmented } from "@/shared/ui/Segmented";
import { Select } from "@/shared/ui/Select";
import { Skeleton, SkeletonRows } from "@/shared/ui/Skeleton";
import { agentList } from "./queries";
import { StartDialog } from "./StartDialog";
import { TileView } from "./TileView";
import { firstChannel, type Tile, tilesOf } from "./tiles";

const Canvas = lazy(() => import("./Canvas"));

const VIEWS = [
  { value: "grid", label: "Grid", icon: <LayoutGrid /> },
  { value: "canvas", label: "Canvas", icon: <SquareDashedMousePointer /> },
] as const;
type View = (typeof VIEWS)[number]["value"];

export default function AgentsPage() {
  const channels = useQuery(channelList);
  const agents = useQuery(agentList);
  const search = useSearch({ from: "/agents" });
  const navigate = useNavigate();
  const [starts, setStarts] = useState(false);
  const view: View = search.view === "canvas" ? "canvas" : "grid";
  const roots = useMemo(() => (channels.data ?? []).filter((one) => one.parent_id === null), [channels.data]);
  const channel =
    roots.find((one) => one.id === search.channel) ?? firstChannel(channels.data ?? [], agents.data ?? []);
  const tiles = useMemo(
    () => (channel ? tilesOf(channel.id, channels.data ?? [], agents.data ?? []) : []),
    [channel, channels.data, agents.data],
  );
  const go = (next: { channel?: string; view?: View }): void =>
    void navigate({ to: "/agents", search: { channel: channel?.id, view, ...next }, replace: true });
  const broken = channels.isError ? channels : agents.isError ? agents : undefined;
  return (
    <Page
      full
      title="Agents"
      description="Who works in a channel, what they say, and a line to each of them."
      actions={
        channel && (
          <>
            <div className="w-full sm:w-44">
              <Select
                label="Channel"
                value={channel.id}
                options={roots.map((one) => ({ value: one.id, label: one.name }))}
                onChange={(id) => go({ channel: id })}
              />
            </div>
            <Segmented label="View" value={view} options={VIEWS} onChange={(next) => go({ view: next })} />
            <Button tone="primary" icon={<Plus />} onClick={() => setStarts(true)}>
              Start an agent
            </Button>
          </>
        )
      }
    >
      {broken ? (
        <ErrorState
          title="The agents could not be read"
          error={broken.error}
          onRetry={() => void broken.refetch()}
        />
      ) : !channels.data || !agents.data ? (
        <SkeletonRows rows={4} />
      ) : (
        <Tiles channel={channel} tiles={tiles} view={view} />
      )}
      {channel && <StartDialog channel={channel} open={starts} onClose={() => setStarts(false)} />}
    </Page>
  );
}

function Tiles({ channel, tiles, view }: { channel: Channel | undefined; tiles: Tile[]; view: View }) {
  if (!channel)
    return (
      <EmptyState icon={<Bot />} title="There is no channel yet">
        Begin a conversation first; its agents are shown here.
      </EmptyState>
    );
  if (tiles.length === 0)
    return (
      <EmptyState icon={<Bot />} title={`Nobody works in ${channel.name} yet`}>
        <p>Start an agent here, or let one of your own join with its MCP server:</p>
        <div className="mt-3 text-left">
          <CodeBlock code={`manyhands mcp --channel-id ${channel.id} --agent-id builder`} wrap />
        </div>
      </EmptyState>
    );
  if (view === "canvas")
    return (
      <div className="h-[calc(100dvh-11rem)] min-h-96 overflow-hidden rounded-lg border border-line bg-sunken">
        <Suspense fallback={<Skeleton className="h-full w-full" />}>
          <Canvas key={channel.id} channelId={channel.id} tiles={tiles} />
        </Suspense>
      </div>
    );
  return (
    <ul className="grid grid-cols-1 gap-4 md:grid-cols-2 xl:grid-cols-3">
      {tiles.map((tile) => (
        <li key={tile.key} className="h-88 min-w-0">
          <TileView tile={tile} />
        </li>
      ))}
    </ul>
  );
}
