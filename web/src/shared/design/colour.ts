/** Colours of the design for what is drawn by a program. */

/** A colour of CSS, such as `var(--good)` or a mix of two, as a canvas understands it. */
export function resolved(css: string): string {
  const probe = document.createElement("span");
  probe.style.color = css;
  document.body.append(probe);
  const context = document.createElement("canvas").getContext("2d");
  const value = getComputedStyle(probe).color;
  probe.remove();
  if (context === null) return value;
  context.fillStyle = value;
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, alpha = 255] = context.getImageData(0, 0, 1, 1).data;
  return `rgba(${red},${green},${blue},${alpha / 255})`;
}

/** A token. */
export const colour = (name: string): string => resolved(`var(--${name})`);

/** Between two tokens; `share` of the first. */
export const mixed = (first: string, second: string, share: number): string =>
  resolved(`color-mix(in oklab, var(--${first}) ${Math.round(share * 100)}%, var(--${second}))`);
