import { useState } from "react";
import { formatNumber } from "@/shared/format/format";
import { CopyButton } from "@/shared/ui/CopyButton";
import { Markdown } from "@/shared/ui/Markdown";

const LONG = 24_000;
const HEAD = 6_000;
const STEP = 60_000;

/** Cut at a line's end near the wanted place, so that no word is split. */
export function cutHead(text: string, most = HEAD): string {
  if (text.length <= most) return text;
  const line = text.lastIndexOf("\n", most);
  return text.slice(0, line > most / 2 ? line : most);
}

interface LongTextProps {
  text: string;
  plain?: boolean;
  /** Up to this length it is shown whole. */
  whole?: number;
}

/** A message's text. A very long one shows its head, and the rest piece by piece as plain text, which stays quick. */
export function LongText({ text, plain = false, whole = LONG }: LongTextProps) {
  const [shown, setShown] = useState(0);
  if (text.length <= whole) return plain ? <Plain text={text} /> : <Markdown text={text} />;
  const head = cutHead(text);
  const rest = text.slice(head.length, head.length + shown);
  const left = text.length - head.length - rest.length;
  const pieces = Array.from({ length: Math.ceil(rest.length / STEP) }, (_, place) =>
    rest.slice(place * STEP, (place + 1) * STEP),
  );
  return (
    <div>
      {plain || shown > 0 ? <Plain text={head} /> : <Markdown text={head} />}
      {pieces.map((piece, place) => (
        <Piece key={place} text={piece} />
      ))}
      <p className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-faint">
        <span>
          {formatNumber(text.length)} characters{left > 0 && `, ${formatNumber(left)} not shown`}
        </span>
        {left > 0 && (
          <button
            type="button"
            data-unfold
            className="font-medium text-accent-ink hover:underline"
            onClick={() => setShown(shown + STEP)}
          >
            Show more
          </button>
        )}
        {shown > 0 && (
          <button
            type="button"
            data-unfold
            className="font-medium text-accent-ink hover:underline"
            onClick={() => setShown(0)}
          >
            Fold
          </button>
        )}
        <CopyButton text={text} label="Copy all of it" />
      </p>
    </div>
  );
}

const Plain = ({ text }: { text: string }) => (
  <div className="whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</div>
);

/** Out of sight it is not laid out, but keeps its height: a list that measures it must not move. */
const Piece = ({ text }: { text: string }) => (
  <div className="[contain-intrinsic-height:auto_16000px] [content-visibility:auto]">
    <Plain text={text} />
  </div>
);
