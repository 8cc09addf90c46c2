/** The short words at the edge of the screen are heard while a menu is open. */
const SPOKEN = "[aria-live]:not(main *)";

/** A ref for menus. Radix hides the page behind from screen readers only; this keeps the focus out of it, too. */
export function inertOthers(element: HTMLElement | null): (() => void) | undefined {
  if (!element) return undefined;
  const kept = [element, ...document.querySelectorAll(SPOKEN)];
  const silenced = others(document.body, kept).filter((one) => !one.inert);
  for (const one of silenced) one.inert = true;
  return () => {
    for (const one of silenced) one.inert = false;
  };
}

/** The largest parts of `parent` in which nothing of `kept` lies. */
function others(parent: Element, kept: readonly Element[]): HTMLElement[] {
  return [...parent.children].flatMap((child) => {
    if (kept.includes(child) || !(child instanceof HTMLElement)) return [];
    return kept.some((one) => child.contains(one)) ? others(child, kept) : [child];
  });
}
