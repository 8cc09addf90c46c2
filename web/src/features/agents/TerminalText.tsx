import { useMemo } from "react";
import { piecesOf } from "./terminal";

const SHOWN = 20_000;

/** The end of what a program writes, in its colours. */
export function TerminalText({ text }: { text: string }) {
  const pieces = useMemo(() => piecesOf(text.slice(-SHOWN)), [text]);
  return (
    <pre className="whitespace-pre-wrap break-words font-mono text-xs leading-relaxed">
      {pieces.map((piece, place) => (
        <span key={place} className={piece.look || undefined}>
          {piece.text}
        </span>
      ))}
    </pre>
  );
}
