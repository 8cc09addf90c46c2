import { useCallback, useEffect, useRef, useState } from "react";
import { useEvent } from "@/shared/events/events";
import type { Playground } from "./queries";

const PAUSE = 250;

/** A number that grows when the page has to be shown anew: some files were changed, or somebody asked for it. */
export function useReloads(playground: Playground): [number, () => void] {
  const [count, setCount] = useState(0);
  const planned = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(planned.current), []);
  useEvent("playground.updated", ({ data }) => {
    if (data.name !== playground.name || data.project !== playground.project) return;
    if (data.change === "deleted") return;
    // An agent writes several files in a row: the page is shown once they are there.
    clearTimeout(planned.current);
    planned.current = setTimeout(() => setCount((now) => now + 1), PAUSE);
  });
  return [count, useCallback(() => setCount((now) => now + 1), [])];
}
