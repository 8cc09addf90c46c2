/**
 * A graph in layers, from the top down: whatever a box needs stands above it.
 *
 * Pure, and fast enough for some thousand boxes. Lines that pass a layer have a lane of their own in it, so that none
 * runs behind a box. Circles, which a text that is being typed may have, are cut somewhere.
 */
export interface Box {
  id: string;
  width: number;
  height: number;
}
export interface Line {
  from: string;
  to: string;
}
export interface Point {
  x: number;
  y: number;
}
export interface Layers {
  spots: Map<string, Box & Point>;
  /** For every line in order: from the lower edge of a box by its lanes to the upper edge of the next. */
  courses: Point[][];
  width: number;
  height: number;
}

const GAP = { x: 28, y: 36 };
const LANE = 14;
const MOST_LANES = 6000;
const SWEEPS = 6;

/** A box, or the lane of a line in a layer. */
interface Item {
  width: number;
  x: number;
  above: Item[];
  below: Item[];
  box: Box | null;
}

export function placeInLayers(boxes: readonly Box[], lines: readonly Line[]): Layers {
  const layerOf = layersOf(boxes, lines);
  const items = new Map(boxes.map((box) => [box.id, itemOf(box.width, box)]));
  const depth = 1 + Math.max(-1, ...layerOf.values());
  const layers = Array.from({ length: depth }, (): Item[] => []);
  for (const box of boxes) layers[layerOf.get(box.id) as number]?.push(items.get(box.id) as Item);
  const lanes = layLanes(lines, layerOf, items, layers);
  order(layers);
  settle(layers);
  return measure(layers, lines, lanes, items, layerOf);
}

const itemOf = (width: number, box: Box | null): Item => ({ width, x: 0, above: [], below: [], box });

/** The layer of every box: one below the lowest of those that it needs. */
export function layersOf(boxes: readonly Box[], lines: readonly Line[]): Map<string, number> {
  const known = new Set(boxes.map((box) => box.id));
  const needs = new Map<string, number>(boxes.map((box) => [box.id, 0]));
  const next = new Map<string, string[]>();
  for (const { from, to } of lines) {
    if (!known.has(from) || !known.has(to) || from === to) continue;
    needs.set(to, (needs.get(to) ?? 0) + 1);
    const after = next.get(from);
    if (after) after.push(to);
    else next.set(from, [to]);
  }
  const found = new Map<string, number>();
  const lowest = new Map<string, number>();
  const ready = boxes.filter((box) => needs.get(box.id) === 0).map((box) => box.id);
  const rest = boxes.map((box) => box.id);
  let at = 0;
  let looked = 0;
  while (found.size < boxes.length) {
    if (at === ready.length) {
      // Only circles are left: the first of them begins.
      while (found.has(rest[looked] as string)) looked += 1;
      ready.push(rest[looked] as string);
    }
    const id = ready[at++] as string;
    if (found.has(id)) continue;
    const layer = lowest.get(id) ?? 0;
    found.set(id, layer);
    for (const to of next.get(id) ?? []) {
      if (found.has(to)) continue;
      lowest.set(to, Math.max(lowest.get(to) ?? 0, layer + 1));
      const open = (needs.get(to) as number) - 1;
      needs.set(to, open);
      if (open === 0) ready.push(to);
    }
  }
  return found;
}

function layLanes(
  lines: readonly Line[],
  layerOf: Map<string, number>,
  items: Map<string, Item>,
  layers: Item[][],
): Item[][] {
  let count = 0;
  return lines.map(({ from, to }) => {
    const [first, last] = [items.get(from), items.get(to)];
    const [top, bottom] = [layerOf.get(from) ?? 0, layerOf.get(to) ?? 0];
    if (!first || !last || bottom <= top) return [];
    const lanes: Item[] = [];
    if (count + bottom - top <= MOST_LANES)
      for (let layer = top + 1; layer < bottom; layer++) {
        const lane = itemOf(LANE, null);
        (layers[layer] as Item[]).push(lane);
        lanes.push(lane);
        count += 1;
      }
    const way = [first, ...lanes, last];
    for (const [place, item] of way.entries()) {
      if (place > 0) item.above.push(way[place - 1] as Item);
      if (place < way.length - 1) item.below.push(way[place + 1] as Item);
    }
    return lanes;
  });
}

/** Neighbours stand near each other: every item goes to the middle of those that it is tied to. */
function order(layers: Item[][]): void {
  number(layers);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    for (const layer of down ? layers : layers.toReversed()) {
      const wish = new Map(layer.map((item) => [item, mean(down ? item.above : item.below) ?? item.x]));
      layer.sort((one, other) => (wish.get(one) as number) - (wish.get(other) as number));
      for (const [place, item] of layer.entries()) item.x = place - layer.length / 2;
    }
  }
}

function number(layers: Item[][]): void {
  for (const layer of layers) for (const [place, item] of layer.entries()) item.x = place - layer.length / 2;
}

function mean(items: readonly Item[]): number | undefined {
  if (items.length === 0) return undefined;
  return items.reduce((sum, item) => sum + item.x, 0) / items.length;
}

const apart = (left: Item, right: Item): number => (left.width + right.width) / 2 + GAP.x;

/** Middles of items: as near as may be to those of their neighbours, in order, and apart from each other. */
function settle(layers: Item[][]): void {
  for (const layer of layers) {
    let x = 0;
    for (const [place, item] of layer.entries()) {
      if (place > 0) x += apart(layer[place - 1] as Item, item);
      item.x = x;
    }
    for (const item of layer) item.x -= x / 2;
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    for (const layer of down ? layers : layers.toReversed())
      spread(
        layer,
        layer.map((item) => mean(down ? item.above : item.below) ?? item.x),
      );
  }
}

/** The mean of what keeps the order from the left and from the right: it keeps it, too. */
export function spread(layer: readonly Item[], wishes: readonly number[]): void {
  const left: number[] = [];
  for (const [place, item] of layer.entries()) {
    const wish = wishes[place] as number;
    left.push(
      place === 0
        ? wish
        : Math.max(wish, (left[place - 1] as number) + apart(layer[place - 1] as Item, item)),
    );
  }
  let next = Number.POSITIVE_INFINITY;
  for (let place = layer.length - 1; place >= 0; place--) {
    const item = layer[place] as Item;
    const most = place === layer.length - 1 ? next : next - apart(item, layer[place + 1] as Item);
    next = Math.min(wishes[place] as number, most);
    item.x = ((left[place] as number) + next) / 2;
  }
}

function measure(
  layers: readonly Item[][],
  lines: readonly Line[],
  lanes: readonly Item[][],
  items: Map<string, Item>,
  layerOf: Map<string, number>,
): Layers {
  const all = layers.flat();
  const left = Math.min(0, ...all.map((item) => item.x - item.width / 2));
  const right = Math.max(0, ...all.map((item) => item.x + item.width / 2));
  const tops: number[] = [];
  const heights: number[] = [];
  let height = 0;
  for (const layer of layers) {
    const most = Math.max(0, ...layer.map((item) => item.box?.height ?? 0));
    tops.push(height);
    heights.push(most);
    height += most + GAP.y;
  }
  const spots = new Map<string, Box & Point>();
  for (const [number, layer] of layers.entries())
    for (const { box, x } of layer)
      if (box) spots.set(box.id, { ...box, x: x - box.width / 2 - left, y: tops[number] as number });
  const courses = lines.map(({ from, to }, place) => {
    const [source, target] = [spots.get(from), spots.get(to)];
    if (!source || !target || !items.has(from)) return [];
    const begin = { x: source.x + source.width / 2, y: source.y + source.height };
    const end = { x: target.x + target.width / 2, y: target.y };
    const between = (lanes[place] ?? []).flatMap((lane, step) => {
      const layer = (layerOf.get(from) as number) + 1 + step;
      const top = tops[layer] as number;
      return [
        { x: lane.x - left, y: top },
        { x: lane.x - left, y: top + (heights[layer] as number) },
      ];
    });
    return [begin, ...between, end];
  });
  return { spots, courses, width: right - left, height: Math.max(0, height - GAP.y) };
}
