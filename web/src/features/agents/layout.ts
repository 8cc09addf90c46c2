/** Where the tiles of a channel stand on its canvas; kept in this browser. */

export interface Spot {
  x: number;
  y: number;
}

export type Layout = Record<string, Spot>;

export const TILE = { width: 360, height: 340, gap: 24 } as const;
const COLUMNS = 3;
/** On a phone one tile is as wide as the screen. */
export const isNarrow = (): boolean => window.innerWidth < 2 * TILE.width;

const keyOf = (channelId: string): string => `manyhands.canvas.${channelId}`;

const isSpot = (value: unknown): value is Spot =>
  typeof value === "object" &&
  value !== null &&
  Number.isFinite((value as Spot).x) &&
  Number.isFinite((value as Spot).y);

export function loadLayout(channelId: string): Layout {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(channelId)) ?? "{}");
    if (typeof kept !== "object" || kept === null) return {};
    return Object.fromEntries(Object.entries(kept).filter(([, spot]) => isSpot(spot)));
  } catch {
    return {};
  }
}

export function saveLayout(channelId: string, layout: Layout): void {
  try {
    localStorage.setItem(keyOf(channelId), JSON.stringify(layout));
  } catch {
    // A browser that keeps nothing shows the tiles in rows.
  }
}

const overlaps = (a: Spot, b: Spot): boolean =>
  Math.abs(a.x - b.x) < TILE.width && Math.abs(a.y - b.y) < TILE.height;

/** A place for every tile: where it was put, else the first one in the rows that is free. */
export function placed(keys: readonly string[], layout: Layout, columns = isNarrow() ? 1 : COLUMNS): Layout {
  const spots: Layout = {};
  for (const key of keys) if (layout[key]) spots[key] = layout[key];
  for (const key of keys) spots[key] ??= firstFree(Object.values(spots), columns);
  return spots;
}

function firstFree(taken: readonly Spot[], columns: number): Spot {
  for (let place = 0; ; place += 1) {
    const spot = {
      x: (place % columns) * (TILE.width + TILE.gap),
      y: Math.floor(place / columns) * (TILE.height + TILE.gap),
    };
    if (!taken.some((other) => overlaps(spot, other))) return spot;
  }
}
