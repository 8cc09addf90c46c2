/** A passage as it is read: lines that an author broke to keep them short are one again. */

const FENCE = /^\s*(?:```|~~~)/;
/** What begins a block of its own: lists, headings, quotes, tables, rules. */
const BLOCK = /^\s*(?:[-*+]\s|\d+[.)]\s|#{1,6}\s|>|\||[-=_*]{3,}\s*$)/;
const ALONE = /^\s*(?:#{1,6}\s|\||[-=_*]{3,}\s*$)/;
const INDENTED = /^(?: {4}|\t)/;

export function flowed(text: string): string {
  const lines: string[] = [];
  let isCode = false;
  let goesOn = false;
  for (const line of text.split("\n")) {
    const fence = FENCE.test(line);
    const joins = goesOn && !isCode && !fence && line.trim() !== "" && !BLOCK.test(line);
    if (joins && !(INDENTED.test(line) && lines.at(-1)?.trim() === "")) {
      lines.push(`${lines.pop()?.trimEnd()} ${line.trimStart()}`);
    } else lines.push(line);
    if (fence) isCode = !isCode;
    goesOn = !isCode && !fence && line.trim() !== "" && !ALONE.test(line);
  }
  return lines.join("\n");
}
