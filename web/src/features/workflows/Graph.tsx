/** A graph that can be moved and looked at closely. Loaded when a graph is first shown. */
import "@xyflow/react/dist/base.css";
import {
  Background,
  type Node,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
  ViewportPortal,
} from "@xyflow/react";
import { Maximize, Minus, Plus } from "lucide-react";
import { createContext, memo, useCallback, useContext, useEffect, useMemo, useRef } from "react";
import { IconButton } from "@/shared/ui/IconButton";
import { GraphBox, GraphFrame } from "./GraphBox";
import { drawGraph, type GraphNode, type PlacedLine, type PlacedNode } from "./graph";
import type { NodeStatus } from "./queries";

/** How a node of the graph stands in a run. */
export interface Shown {
  status: NodeStatus;
  /** A word more: how long, how often. */
  note?: string;
  iterations?: { shown: number; all: readonly number[]; show: (number: number) => void };
}

export interface GraphProps {
  /** Read out. */
  label: string;
  nodes: readonly GraphNode[];
  /** How they stand, by path; without it the graph is that of a definition. */
  states?: ReadonlyMap<string, Shown>;
  selected?: string | null;
  onSelect?: (path: string) => void;
}

interface Around {
  states?: ReadonlyMap<string, Shown>;
  selected: string | null;
  select: (path: string) => void;
}
const AroundContext = createContext<Around>({ selected: null, select: () => {} });

type BoxNode = Node<{ placed: PlacedNode }, "box">;

const Box = memo(({ data: { placed } }: { data: { placed: PlacedNode } }) => {
  const { states, selected, select } = useContext(AroundContext);
  const { node } = placed;
  const shown = states?.get(node.path);
  const props = { node, shown, isSelected: selected === node.path, onSelect: () => select(node.path) };
  return node.body.length > 0 ? <GraphFrame {...props} /> : <GraphBox {...props} />;
});

const nodeTypes = { box: Box };
const MANY = 150;

export default function Graph(props: GraphProps) {
  return (
    <ReactFlowProvider>
      <Drawn {...props} />
    </ReactFlowProvider>
  );
}

function Drawn({ label, nodes, states, selected = null, onSelect }: GraphProps) {
  const picture = useMemo(() => drawGraph(nodes), [nodes]);
  const boxes = useMemo(
    () =>
      picture.nodes.map(
        (placed): BoxNode => ({
          id: placed.node.path,
          type: "box",
          position: { x: placed.x, y: placed.y },
          width: placed.width,
          height: placed.height,
          zIndex: placed.depth * 2,
          data: { placed },
        }),
      ),
    [picture],
  );
  const chosen = useRef(onSelect);
  chosen.current = onSelect;
  const around = useMemo(
    () => ({ states, selected, select: (path: string) => chosen.current?.(path) }),
    [states, selected],
  );
  return (
    <AroundContext value={around}>
      <ReactFlow
        aria-label={label}
        nodes={boxes}
        edges={[]}
        nodeTypes={nodeTypes}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        elementsSelectable={false}
        deleteKeyCode={null}
        onlyRenderVisibleElements={boxes.length > MANY}
        zoomOnScroll={false}
        zoomOnDoubleClick={false}
        preventScrolling={false}
        minZoom={0.02}
        maxZoom={1.5}
        proOptions={{ hideAttribution: true }}
        style={{ backgroundColor: "transparent" }}
      >
        <Background gap={22} size={1.4} color="var(--line-strong)" bgColor="transparent" />
        <ViewportPortal>
          <Lines lines={picture.lines} states={states} />
        </ViewportPortal>
        <View width={picture.width} height={picture.height} />
      </ReactFlow>
    </AroundContext>
  );
}

const MARGIN = 28;
/** Smaller than this only shapes are seen. */
const READABLE = 0.62;
const SMALLEST = 0.4;

type Size = { width: number; height: number };

/** All of it; with `readable` from its top on, where all of it would be too small to read. */
export function viewOf(picture: Size, frame: Size, readable: boolean) {
  const across = (frame.width - 2 * MARGIN) / Math.max(1, picture.width);
  const whole = Math.min(across, (frame.height - 2 * MARGIN) / Math.max(1, picture.height), 1);
  const zoom = readable ? Math.max(whole, Math.min(READABLE, across), SMALLEST) : whole;
  const free = frame.height - picture.height * zoom;
  return {
    x: (frame.width - picture.width * zoom) / 2,
    y: free > 0 ? Math.max(MARGIN, free / 2) : MARGIN,
    zoom,
  };
}

function View({ width, height }: { width: number; height: number }) {
  const flow = useReactFlow();
  const frameWidth = useStore((store) => store.width);
  const frameHeight = useStore((store) => store.height);
  const show = useCallback(
    (readable: boolean) => {
      if (frameWidth > 0 && frameHeight > 0)
        void flow.setViewport(
          viewOf({ width, height }, { width: frameWidth, height: frameHeight }, readable),
        );
    },
    [flow, width, height, frameWidth, frameHeight],
  );
  useEffect(() => show(true), [show]);
  return (
    <Panel
      position="bottom-right"
      className="flex gap-0.5 rounded-md border border-line bg-raised p-0.5 shadow-sm"
    >
      <IconButton size="sm" label="Closer" icon={<Plus />} onClick={() => void flow.zoomIn()} />
      <IconButton size="sm" label="Further away" icon={<Minus />} onClick={() => void flow.zoomOut()} />
      <IconButton size="sm" label="Show all" icon={<Maximize />} onClick={() => show(false)} />
    </Panel>
  );
}

interface LinesProps {
  lines: readonly PlacedLine[];
  states?: ReadonlyMap<string, Shown>;
}

const STROKES: Partial<Record<NodeStatus, string>> = {
  success: "var(--good)",
  failed: "var(--bad)",
  running: "var(--busy)",
};

const Lines = memo(({ lines, states }: LinesProps) => (
  <svg
    aria-hidden
    className="pointer-events-none absolute top-0 left-0 overflow-visible"
    width={1}
    height={1}
  >
    {lines.map((line) => {
      const source = states?.get(line.from)?.status;
      const target = states?.get(line.to)?.status;
      const done = source === "success" && target !== "pending" && target !== "skipped";
      const stroke = (!line.back && done && STROKES[source]) || "var(--idle)";
      return (
        <g key={line.key} stroke={stroke} fill="none" strokeWidth={1.6}>
          <path
            d={line.back ? cornered(line.points) : curved(line.points)}
            strokeDasharray={line.back || target === "skipped" ? "4 4" : undefined}
          />
          <Tip line={line} fill={stroke} />
        </g>
      );
    })}
  </svg>
));

function Tip({ line, fill }: { line: PlacedLine; fill: string }) {
  const end = line.points.at(-1);
  if (!end) return null;
  const d = line.back
    ? `M${end.x + 7} ${end.y - 4}L${end.x} ${end.y}L${end.x + 7} ${end.y + 4}Z`
    : `M${end.x - 4} ${end.y - 7}L${end.x} ${end.y}L${end.x + 4} ${end.y - 7}Z`;
  return <path d={d} fill={fill} stroke="none" />;
}

type Points = PlacedLine["points"];

function curved(points: Points): string {
  return points
    .map(({ x, y }, place) => {
      const before = points[place - 1];
      if (!before) return `M${x} ${y}`;
      if (before.x === x) return `L${x} ${y}`;
      const half = (y - before.y) / 2;
      return `C${before.x} ${before.y + half} ${x} ${y - half} ${x} ${y}`;
    })
    .join("");
}

function cornered(points: Points): string {
  const [start, first, second, end] = points;
  if (!start || !first || !second || !end) return "";
  const round = Math.min(10, Math.abs(first.y - second.y) / 2);
  return `M${start.x} ${start.y}H${first.x - round}Q${first.x} ${first.y} ${first.x} ${first.y - round}V${second.y + round}Q${second.x} ${second.y} ${second.x - round} ${second.y}H${end.x}`;
}
