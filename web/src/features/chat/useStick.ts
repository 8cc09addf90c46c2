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
    meant.current = Number.NEGATIVE_INFINITY; // what moves from now on is the list, not the wheel of a moment ago
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
    let frame = 0;
    let held = false;
    const mean = () => {
      meant.current = performance.now();
    };
    const isMeant = () => held || performance.now() - meant.current < RECENT_MS;
    const hold = () => {
      mean();
      held = true;
    };
    const release = () => {
      held = false;
    };
    const wheel = (event: WheelEvent) => {
      mean();
      if (event.deltaY < 0 && scroller.scrollHeight > scroller.clientHeight) sticks.current = false;
    };
    const scrolled = () => {
      const left = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
      if (scroller.scrollTop < last && isMeant()) sticks.current = false;
      if (left <= NEAR && scroller.scrollTop >= last) sticks.current = true;
      // The list has moved by itself, for rows above that became smaller or larger.
      if (sticks.current && left > 1 && !isMeant()) {
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(keep);
      }
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
    // Rows that wrap differently, on a phone that is turned, are measured one after the other.
    const rows = scroller.querySelector("[data-testid=virtuoso-item-list]");
    if (rows) resized.observe(rows);
    scroller.addEventListener("scroll", scrolled, { passive: true });
    scroller.addEventListener("wheel", wheel, { passive: true });
    scroller.addEventListener("click", unfolds, { capture: true });
    scroller.addEventListener("pointerdown", hold, { passive: true });
    for (const kind of ["pointerup", "pointercancel"] as const) window.addEventListener(kind, release);
    for (const kind of ["touchmove", "keydown"] as const)
      scroller.addEventListener(kind, mean, { passive: true });
    return () => {
      clearTimeout(settled);
      cancelAnimationFrame(frame);
      resized.disconnect();
      scroller.removeEventListener("scroll", scrolled);
      scroller.removeEventListener("wheel", wheel);
      scroller.removeEventListener("click", unfolds, { capture: true });
      scroller.removeEventListener("pointerdown", hold);
      for (const kind of ["pointerup", "pointercancel"] as const) window.removeEventListener(kind, release);
      for (const kind of ["touchmove", "keydown"] as const) scroller.removeEventListener(kind, mean);
    };
  }, [scroller, keep]);

  const leave = useCallback(() => {
    sticks.current = false;
  }, []);
  return { setScroller, atEnd, toEnd, keep, leave };
}
