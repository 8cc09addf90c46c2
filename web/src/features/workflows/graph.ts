/** The nodes of a definition as a graph. Pure, and patient: a text that is being typed is often half a definition. */
import { type Line, type Point, placeInLayers } from "./layers";

export interface GraphNode {
  /** The ids down to it: `fix/test` is `test` in the body of `fix`. */
  path: string;
  id: string;
  type: string;
  /** Where it is in the definition, such as `nodes[2].body[0]`; nothing for the nodes of another one. */
  place: string | null;
  needs: string[];
  /** Where a rejected approval sends the work back to. */
  backTo: string | null;
  /** What it does, in a line. */
  about: string;
  when: string | null;
  always: boolean;
  body: GraphNode[];
}

type Data = Record<string, unknown>;
const isData = (value: unknown): value is Data =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export type Definitions = Readonly<Record<string, unknown>>;

/** `subs`: the definitions that its `workflow` nodes run, by their names; they stand in the boxes of these. */
export function readGraph(workflow: unknown, subs: Definitions = {}): GraphNode[] {
  return isData(workflow) ? readNodes(workflow.nodes, { path: "", place: "nodes", depth: 0 }, subs) : [];
}

const DEEPEST = 6;

interface Around {
  path: string;
  place: string | null;
  depth: number;
}

function readNodes(given: unknown, around: Around, subs: Definitions): GraphNode[] {
  const { path: above, depth } = around;
  const alone = !Array.isArray(given);
  const list = Array.isArray(given) ? given : isData(given) && "type" in given ? [given] : [];
  const found = new Map<string, GraphNode>();
  for (const [number, one] of depth < DEEPEST ? list.entries() : []) {
    if (!isData(one) || typeof one.id !== "string" || one.id === "" || found.has(one.id)) continue;
    const place = around.place && (alone ? around.place : `${around.place}[${number}]`);
    const path = above ? `${above}/${one.id}` : one.id;
    found.set(one.id, {
      path,
      id: one.id,
      type: typeof one.type === "string" ? one.type : "",
      place,
      needs: namesOf(one.depends_on),
      backTo: backOf(one.on_reject),
      about: aboutOf(one),
      when: one.when == null ? null : String(one.when),
      always: one.always_run === true,
      body: readBody(one, { path, place, depth: depth + 1 }, subs),
    });
  }
  const nodes = [...found.values()];
  for (const node of nodes) {
    node.needs = [...new Set(node.needs)].filter((id) => id !== node.id && found.has(id));
    if (node.backTo !== null && !found.has(node.backTo)) node.backTo = null;
  }
  return nodes;
}

function readBody(node: Data, around: Around, subs: Definitions): GraphNode[] {
  const sub = node.type === "workflow" && typeof node.workflow === "string" ? subs[node.workflow] : undefined;
  if (isData(sub)) return readNodes(sub.nodes, { ...around, place: null }, subs);
  return readNodes(node.body, { ...around, place: around.place && `${around.place}.body` }, subs);
}

const namesOf = (value: unknown): string[] =>
  typeof value === "string"
    ? [value]
    : Array.isArray(value)
      ? value.filter((one): one is string => typeof one === "string")
      : [];

function backOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (!isData(value)) return null;
  const named = Object.values(value).find((one) => typeof one === "string");
  return typeof named === "string" ? named : null;
}

const LONGEST = 80;

function aboutOf(node: Data): string {
  const text = (name: string): string => (typeof node[name] === "string" ? (node[name] as string) : "");
  const said =
    text("description") ||
    { bash: text("script"), prompt: text("prompt"), tool: text("tool"), approval: text("message") }[
      text("type")
    ] ||
    { workflow: text("workflow"), loop: until(node), foreach: text("items"), quality: text("base") }[
      text("type")
    ] ||
    "";
  const line = said.trim().split("\n")[0] ?? "";
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

const until = (node: Data): string =>
  node.condition == null ? `${node.max_iterations ?? 10} times` : `until ${String(node.condition)}`;

/** Where a node is in the definition, by its path in the graph. */
export function placeOf(nodes: readonly GraphNode[], path: string): string | null {
  for (const node of nodes) {
    if (node.path === path) return node.place;
    if (path.startsWith(`${node.path}/`)) return placeOf(node.body, path);
  }
  return null;
}

export function countNodes(nodes: readonly GraphNode[]): number {
  return nodes.reduce((sum, node) => sum + 1 + countNodes(node.body), 0);
}

/* --- where everything stands */

export const LEAF = { width: 208, height: 54 };
const HEAD = 50;
const PAD = 14;

export interface PlacedNode {
  node: GraphNode;
  x: number;
  y: number;
  width: number;
  height: number;
  depth: number;
}

export interface PlacedLine {
  key: string;
  from: string;
  to: string;
  points: Point[];
  back: boolean;
}

export interface Picture {
  nodes: PlacedNode[];
  lines: PlacedLine[];
  width: number;
  height: number;
}

/** Every node and line in one system of coordinates; bodies stand in the box of their node. */
export function drawGraph(nodes: readonly GraphNode[], depth = 0): Picture {
  const bodies = new Map(
    nodes.filter((node) => node.body.length > 0).map((node) => [node.id, drawGraph(node.body, depth + 1)]),
  );
  const boxes = nodes.map((node) => {
    const body = bodies.get(node.id);
    if (!body) return { id: node.id, ...LEAF };
    return {
      id: node.id,
      width: Math.max(body.width + 2 * PAD, LEAF.width + 2 * PAD),
      height: body.height + HEAD + PAD,
    };
  });
  const wires: Line[] = nodes.flatMap((node) => node.needs.map((from) => ({ from, to: node.id })));
  const placed = placeInLayers(boxes, wires);
  const picture: Picture = { nodes: [], lines: [], width: placed.width, height: placed.height };
  for (const node of nodes) {
    const spot = placed.spots.get(node.id);
    if (!spot) continue;
    picture.nodes.push({ node, ...spot, depth });
    const body = bodies.get(node.id);
    if (body) put(picture, body, spot.x + (spot.width - body.width) / 2, spot.y + HEAD);
  }
  const at = new Map(nodes.map((node) => [node.id, node.path]));
  for (const [place, { from, to }] of wires.entries())
    picture.lines.push(lineOf(at.get(from), at.get(to), placed.courses[place] ?? [], false));
  for (const node of nodes) {
    const target = node.backTo === null ? undefined : placed.spots.get(node.backTo);
    const source = placed.spots.get(node.id);
    if (target && source) {
      const course = around(source, target, placed.width);
      picture.lines.push(lineOf(node.path, at.get(node.backTo as string), course, true));
      picture.width = Math.max(picture.width, ...course.map((point) => point.x + 6));
    }
  }
  return picture;
}

function lineOf(from = "", to = "", points: Point[], back: boolean): PlacedLine {
  return { key: `${from}>${to}${back ? ">" : ""}`, from, to, points, back };
}

type Spot = { x: number; y: number; width: number; height: number };

/** A way back up, along the right side of everything. */
function around(source: Spot, target: Spot, width: number): Point[] {
  const lane = width + 22;
  const start = { x: source.x + source.width, y: source.y + source.height / 2 };
  const end = { x: target.x + target.width, y: target.y + Math.min(target.height, LEAF.height) / 2 };
  return [start, { x: lane, y: start.y }, { x: lane, y: end.y }, end];
}

function put(into: Picture, part: Picture, x: number, y: number): void {
  for (const one of part.nodes) into.nodes.push({ ...one, x: one.x + x, y: one.y + y });
  for (const line of part.lines) {
    const points = line.points.map((point) => ({ x: point.x + x, y: point.y + y }));
    into.lines.push({ ...line, points });
  }
}
