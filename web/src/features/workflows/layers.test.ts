import { expect, test } from "vitest";
import { type Box, type Line, layersOf, placeInLayers } from "./layers";

const boxes = (...ids: string[]): Box[] => ids.map((id) => ({ id, width: 100, height: 40 }));
const lines = (...pairs: string[]): Line[] =>
  pairs.map((pair) => ({ from: pair[0] as string, to: pair[1] as string }));

function overlapping(spots: Iterable<Box & { x: number; y: number }>): string[] {
  const list = [...spots];
  return list.flatMap((one, place) =>
    list
      .slice(place + 1)
      .filter(
        (other) =>
          one.x < other.x + other.width &&
          other.x < one.x + one.width &&
          one.y < other.y + other.height &&
          other.y < one.y + one.height,
      )
      .map((other) => `${one.id} ${other.id}`),
  );
}

test("a box stands below everything that it needs", () => {
  const found = layersOf(boxes("a", "b", "c", "d"), lines("ab", "bc", "ac", "cd"));
  expect([...found.values()]).toEqual([0, 1, 2, 3]);
});

test("a circle is cut somewhere, and everything has its place", () => {
  const { spots, courses } = placeInLayers(boxes("a", "b", "c"), lines("ab", "bc", "ca", "aa"));
  expect(spots.size).toBe(3);
  expect(courses).toHaveLength(4);
});

test("lines to boxes that are not there have no course", () => {
  expect(placeInLayers(boxes("a"), lines("xa", "ax")).courses).toEqual([[], []]);
});

test("nothing at all has no size", () => {
  expect(placeInLayers([], [])).toMatchObject({ width: 0, height: 0, courses: [] });
});

test("boxes do not overlap, whatever their sizes", () => {
  const given = boxes("a", "b", "c", "d", "e", "f", "g").map((box, place) => ({
    ...box,
    width: 60 + place * 50,
    height: 40 + (place % 3) * 80,
  }));
  const { spots, width, height } = placeInLayers(
    given,
    lines("ab", "ac", "ad", "be", "ce", "df", "eg", "ag"),
  );
  expect(overlapping(spots.values())).toEqual([]);
  for (const spot of spots.values()) {
    expect(spot.x).toBeGreaterThanOrEqual(0);
    expect(spot.x + spot.width).toBeLessThanOrEqual(width + 0.001);
    expect(spot.y + spot.height).toBeLessThanOrEqual(height + 0.001);
  }
});

test("a line that passes a layer goes beside the boxes of it", () => {
  const { spots, courses } = placeInLayers(boxes("a", "b", "c"), lines("ab", "bc", "ac"));
  const passed = spots.get("b") as Box & { x: number; y: number };
  const lane = (courses[2] ?? []).slice(1, -1);
  expect(lane).toHaveLength(2);
  for (const point of lane) expect(point.x < passed.x || point.x > passed.x + passed.width).toBe(true);
});

test("two thousand boxes in a row and side by side are placed at once", () => {
  const ids = Array.from({ length: 2000 }, (_, place) => `n${place}`);
  const many = ids.map((id) => ({ id, width: 100, height: 40 }));
  const chain = ids.slice(1).map((id, place) => ({ from: ids[place] as string, to: id }));
  expect(placeInLayers(many, chain).spots.get("n1999")?.y).toBeGreaterThan(100_000);
  const fan = ids.slice(1).map((id) => ({ from: "n0", to: id }));
  expect(placeInLayers(many, fan).width).toBeGreaterThan(100_000);
});
