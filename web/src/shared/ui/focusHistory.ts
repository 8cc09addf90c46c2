const KEPT = 20;
const past: WeakRef<HTMLElement>[] = [];

/** Remembers where the focus has been; once, at the start. */
export function followFocus(): void {
  addEventListener("focusin", ({ target }) => {
    past.unshift(new WeakRef(target as HTMLElement));
    past.length = Math.min(past.length, KEPT);
  });
}

/** To the last place that is still there, unless something has the focus. */
export function recoverFocus(): void {
  for (const place of past.map((one) => one.deref())) {
    if (document.activeElement !== document.body) return;
    place?.focus({ preventScroll: true });
  }
}

/** For `onCloseAutoFocus`. What has opened the window may be gone by then, such as the entry of a menu. */
export function returnFocus(event: Event): void {
  event.preventDefault();
  recoverFocus();
}
