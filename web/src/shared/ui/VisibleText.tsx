import { Fragment } from "react";

/* What a person cannot see, or what turns around what they see: controls but newline and tab, formats (zero-width,
   bidirectional, tags), every space but the plain one, private use, lone surrogates, and letters that draw nothing. */
const HIDDEN =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]|(?! )\p{Zs}|\p{Variation_Selector}|\u034F|[\u115F\u1160\u17B4\u17B5\u3164\uFFA0\u2800]/gu;

const NAMES: Record<number, string> = {
  0: "NUL",
  8: "BS",
  13: "CR",
  27: "ESC",
  127: "DEL",
  160: "NBSP",
  173: "SHY",
  8203: "ZWSP",
  8204: "ZWNJ",
  8205: "ZWJ",
  8206: "LRM",
  8207: "RLM",
  8232: "LS",
  8233: "PS",
  8234: "LRE",
  8235: "RLE",
  8236: "PDF",
  8237: "LRO",
  8238: "RLO",
  8294: "LRI",
  8295: "RLI",
  8296: "FSI",
  8297: "PDI",
  65279: "BOM",
};

export type Piece = { text: string; hidden?: string };

/** How a character that is not seen is called: `U+202E RLO`. */
export function hiddenName(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const number = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return NAMES[code] ? `${number} ${NAMES[code]}` : number;
}

/** A text cut at what cannot be seen; `hidden` is how such a character is called. */
export function cutAtHidden(text: string): Piece[] {
  const pieces: Piece[] = [];
  let last = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > last) pieces.push({ text: text.slice(last, match.index) });
    pieces.push({ text: match[0], hidden: hiddenName(match[0]) });
    last = match.index + match[0].length;
  }
  if (last < text.length) pieces.push({ text: text.slice(last) });
  return pieces;
}

export const hasHidden = (text: string): boolean => text.search(HIDDEN) >= 0;

/** A text in which nothing hides: characters that are not seen, or that turn others around, are shown as marks. */
export function VisibleText({ text }: { text: string }) {
  if (!hasHidden(text)) return <bdi>{text}</bdi>;
  return (
    <bdi>
      {cutAtHidden(text).map((piece, place) =>
        piece.hidden ? (
          <mark
            key={place}
            title="A character that is not seen"
            className="mx-px whitespace-nowrap rounded-xs bg-warn-soft px-1 font-mono text-[0.85em] text-warn-ink"
          >
            {piece.hidden}
          </mark>
        ) : (
          <Fragment key={place}>{piece.text}</Fragment>
        ),
      )}
    </bdi>
  );
}
