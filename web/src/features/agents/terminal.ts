/** What a program writes to a terminal, as pieces of text with their look. Pure. */

export interface Piece {
  text: string;
  look: string;
}

const COLOURS = [
  "text-ink-faint",
  "text-bad-ink",
  "text-good-ink",
  "text-warn-ink",
  "text-busy-ink",
  "text-accent-ink",
  "text-busy-ink",
  "text-ink",
] as const;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal is told by
const SEQUENCE = /\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;

interface Look {
  colour: string;
  bold: boolean;
  faint: boolean;
  underline: boolean;
}

const PLAIN: Look = { colour: "", bold: false, faint: false, underline: false };

const classesOf = (look: Look): string =>
  [look.faint ? "text-ink-faint" : look.colour, look.bold && "font-semibold", look.underline && "underline"]
    .filter(Boolean)
    .join(" ");

function changed(look: Look, codes: readonly number[]): Look {
  let next = look;
  for (let place = 0; place < codes.length; place += 1) {
    const code = codes[place] ?? 0;
    if (code === 38 || code === 48) {
      const basic = codes[place + 1] === 5 ? codes[place + 2] : undefined;
      if (code === 38 && basic !== undefined && basic < 16)
        next = { ...next, colour: COLOURS[basic % 8] ?? "" };
      place += codes[place + 1] === 5 ? 2 : 4;
    } else next = after(next, code);
  }
  return next;
}

function after(look: Look, code: number): Look {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...look, bold: true };
  if (code === 2) return { ...look, faint: true };
  if (code === 4) return { ...look, underline: true };
  if (code === 22) return { ...look, bold: false, faint: false };
  if (code === 24) return { ...look, underline: false };
  if (code === 39) return { ...look, colour: "" };
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97))
    return { ...look, colour: COLOURS[code % 10] ?? "" };
  return look;
}

/** A line that was begun again shows what was written last. */
const settled = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.split("\r").findLast((part) => part !== "") ?? "")
    .join("\n");

export function piecesOf(output: string): Piece[] {
  const text = settled(output);
  const pieces: Piece[] = [];
  let look = PLAIN;
  let from = 0;
  const add = (part: string): void => {
    if (part !== "") pieces.push({ text: part, look: classesOf(look) });
  };
  for (const found of text.matchAll(SEQUENCE)) {
    add(text.slice(from, found.index));
    from = found.index + found[0].length;
    if (found[2] === "m") look = changed(look, (found[1] ?? "").split(/[;:]/).map(Number));
  }
  add(text.slice(from));
  return pieces;
}
