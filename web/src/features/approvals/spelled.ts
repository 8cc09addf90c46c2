/**
 * Texts of questions as the hub sends them: whatever cannot be seen is spelled out as `⟨U+202E⟩`, and so is `⟨` itself,
 * so that nothing can pretend to have been spelled out.
 */
const SPELLED = /⟨U\+([0-9A-F]{4,6})⟩/g;
const LARGEST = 0x10ffff;

export type Part = { text: string; code?: string };

/** A text cut at what is spelled out; `code` is the number of such a character, as `U+202E`. */
export function cutAtSpelled(text: string): Part[] {
  const parts: Part[] = [];
  let last = 0;
  for (const match of text.matchAll(SPELLED)) {
    if (match.index > last) parts.push({ text: text.slice(last, match.index) });
    parts.push({ text: match[0], code: `U+${match[1]}` });
    last = match.index + match[0].length;
  }
  if (last < text.length) parts.push({ text: text.slice(last) });
  return parts;
}

/** The text that was meant, for what goes back to whoever asked: names of fields, choices, addresses. */
export const unspelled = (text: string): string =>
  text.replace(SPELLED, (whole, code: string) => {
    const point = Number.parseInt(code, 16);
    return point <= LARGEST ? String.fromCodePoint(point) : whole;
  });
