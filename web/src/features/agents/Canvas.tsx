/** Tiles that stand where a person puts them. Loaded when it is first wanted. */
import "@xyflow/react/dist/base.css";
import {
  applyNodeChanges,
  Background,
  type Node,
  type NodeChange,
  Panel,
  ReactFlow,
  useReactFlow,
} from "@xyflow/react";
import { Maximize, Minus, Plus } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { IconButton } from "@/shared/ui/IconButton";
import { isNarrow, loadLayout, placed, saveLayout, TILE } from "./layout";
import { TileView } from "./TileView";
import type { Tile } from "./tiles";

type TileNode = Node<{ tile: Tile }, "tile">;

const nodeTypes = {
  tile: ({ data }: { data: { tile: Tile } }) => (
    <div style={{ width: TILE.width, height: TILE.height }}>
      <TileView tile={data.tile} />
    </div>
  ),
};

function nodesOf(channelId: string, tiles: readonly Tile[], known: readonly TileNode[]): TileNode[] {
  const current = Object.fromEntries(known.map((node) => [node.id, node.position]));
  const spots = placed(
    tiles.map((tile) => tile.key),
    { ...loadLayout(channelId), ...current },
  );
  return tiles.map((tile) => ({
    ...known.find((node) => node.id === tile.key),
    id: tile.key,
    type: "tile",
    position: spots[tile.key] ?? { x: 0, y: 0 },
    data: { tile },
    dragHandle: ".tile-handle",
    ariaLabel: tile.kind === "agent" ? tile.agent.name : tile.thread.name,
  }));
}

const FIT = { maxZoom: 1, padding: 0.08 };

/** All of them, if that can be read; on a phone the first ones. */
const fitAtFirst = (nodes: readonly TileNode[]) =>
  isNarrow() ? { maxZoom: 1, padding: 0.03, nodes: nodes.slice(0, 2) } : FIT;

function Zoom() {
  const flow = useReactFlow();
  return (
    <Panel
      position="bottom-right"
      className="flex gap-0.5 rounded-md border border-line bg-raised p-0.5 shadow-sm"
    >
      <IconButton size="sm" label="Closer" icon={<Plus />} onClick={() => void flow.zoomIn()} />
      <IconButton size="sm" label="Further away" icon={<Minus />} onClick={() => void flow.zoomOut()} />
      <IconButton size="sm" label="Show all" icon={<Maximize />} onClick={() => void flow.fitView(FIT)} />
    </Panel>
  );
}

export default function Canvas({ channelId, tiles }: { channelId: string; tiles: readonly Tile[] }) {
  const [nodes, setNodes] = useState<TileNode[]>(() => nodesOf(channelId, tiles, []));
  useEffect(() => setNodes((known) => nodesOf(channelId, tiles, known)), [channelId, tiles]);
  const change = useCallback(
    (changes: NodeChange<TileNode>[]) => {
      setNodes((known) => {
        const next = applyNodeChanges(changes, known);
        if (changes.some((one) => one.type === "position" && !one.dragging)) {
          const spots = Object.fromEntries(next.map((node) => [node.id, node.position]));
          saveLayout(channelId, { ...loadLayout(channelId), ...spots });
        }
        return next;
      });
    },
    [channelId],
  );
  return (
    <ReactFlow
      nodes={nodes}
      edges={[]}
      nodeTypes={nodeTypes}
      onNodesChange={change}
      deleteKeyCode={null}
      nodesConnectable={false}
      fitView
      fitViewOptions={fitAtFirst(nodes)}
      minZoom={0.2}
      maxZoom={1.5}
      proOptions={{ hideAttribution: true }}
      style={{ backgroundColor: "transparent" }}
    >
      <Background gap={24} size={1.5} color="var(--line-strong)" bgColor="transparent" />
      <Zoom />
    </ReactFlow>
  );
}
