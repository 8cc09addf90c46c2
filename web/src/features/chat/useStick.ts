/**
 * Whether a list stays at its end while it grows. It does until a person scrolls up, and again once they are back.
 *
 * Only what a person does counts: a list that measures its rows moves by itself, too.
 */
import { useCallback, useEffect, useRef, useState } from "react";

const NEAR = 48;
const RECENT_MS = 700;
const SETTLED_MS = 400;

export function useStick() {
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const [atEnd, setAtEnd] = useState(true);
  const sticks = useRef(true);
  const meant = useRef(Number.NEGATIVE_INFINITY);

  const toEnd = useCallback(() => {
    if (scroller === null) return;
    sticks.current = true;
    scroller.scrollTop = scroller.scrollHeight;
  }, [scroller]);
  /** Rows have grown: stay at the end, if that is where one was. */
  const keep = useCallback(() => {
    if (sticks.current && scroller !== null) scroller.scrollTop = scroller.scrollHeight;
  }, [scroller]);

  useEffect(() => {
    if (scroller === null) return;
    let last = scroller.scrollTop;
    let settled: ReturnType<typeof setTimeout> | undefined;
    const mean = () => {
      meant.current = performance.now();
    };
    const wheel = (event: WheelEvent) => {
      mean();
      if (event.deltaY < 0 && scroller.scrollHeight > scroller.clientHeight) sticks.current = false;
    };
    const scrolled = () => {
      const left = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
      if (scroller.scrollTop < last && performance.now() - meant.current < RECENT_MS) sticks.current = false;
      if (left <= NEAR && scroller.scrollTop >= last) sticks.current = true;
      last = scroller.scrollTop;
      setAtEnd(sticks.current || left <= NEAR);
    };
    // Who opens something wants to see that, not the end that it pushes away.
    const unfolds = (event: Event) => {
      if (event.target instanceof Element && event.target.closest("[aria-expanded],summary,[data-unfold]"))
        sticks.current = false;
      clearTimeout(settled);
      settled = setTimeout(() => {
        const isNear = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight <= NEAR;
        if (isNear) sticks.current = true;
        setAtEnd(sticks.current);
      }, SETTLED_MS);
    };
    const resized = new ResizeObserver(keep);
    resized.observe(scroller);
    scroller.addEventListener("scroll", scrolled, { passive: true });
    scroller.addEventListener("wheel", wheel, { passive: true });
    scroller.addEventListener("click", unfolds, { capture: true });
    for (const kind of ["touchmove", "keydown", "pointerdown"] as const)
      scroller.addEventListener(kind, mean, { passive: true });
    return () => {
      clearTimeout(settled);
      resized.disconnect();
      scroller.removeEventListener("scroll", scrolled);
      scroller.removeEventListener("wheel", wheel);
      scroller.removeEventListener("click", unfolds, { capture: true });
      for (const kind of ["touchmove", "keydown", "pointerdown"] as const)
        scroller.removeEventListener(kind, mean);
    };
  }, [scroller, keep]);

  const leave = useCallback(() => {
    sticks.current = false;
  }, []);
  return { setScroller, atEnd, toEnd, keep, leave };
}
