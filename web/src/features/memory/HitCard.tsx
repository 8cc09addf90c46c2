import { FileText } from "lucide-react";
import { Marked } from "@/shared/ui/Marked";
import { flowed } from "./flowed";
import { type PartName, partsOf, whyFound } from "./parts";
import type { Hit, Place } from "./queries";
import { SCOPES } from "./state";

interface HitCardProps {
  hit: Hit;
  /** The highest score of the answer. */
  best: number;
  words: string;
  onOpen: (place: Place) => void;
}

/** A passage as it stands in its file, where that is, and why it was found. */
export function HitCard({ hit, best, words, onOpen }: HitCardProps) {
  const headings = hit.heading ? hit.heading.split(" > ") : [];
  const lines = hit.line_start === hit.line_end ? `${hit.line_start}` : `${hit.line_start}–${hit.line_end}`;
  const cut = hit.path.lastIndexOf("/") + 1;
  return (
    <article className="rounded-lg border border-line bg-raised shadow-sm">
      <button
        type="button"
        onClick={() =>
          onOpen({ scope: hit.scope, path: hit.path, line: hit.line_start, endLine: hit.line_end })
        }
        className="flex w-full flex-wrap items-start gap-x-4 gap-y-1.5 rounded-t-lg px-4 pt-3 pb-2 text-left hover:[&_.file]:underline"
      >
        <span className="flex min-w-0 flex-1 basis-60 gap-2.5">
          <FileText aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-faint" />
          <span className="min-w-0 [overflow-wrap:anywhere]">
            <bdi className="file text-sm">
              <span className="text-ink-faint">{hit.path.slice(0, cut)}</span>
              <span className="font-medium text-accent-ink">{hit.path.slice(cut)}</span>
            </bdi>
            <span className="text-sm text-ink-faint tabular-nums"> {lines}</span>
            {hit.scope === "global" && (
              <span className="ml-2 rounded-full bg-pressed px-2 py-0.5 text-2xs whitespace-nowrap text-ink-soft">
                {SCOPES.global}
              </span>
            )}
            {headings.length > 0 && (
              <span className="block text-xs text-ink-soft">
                <bdi>{headings.join(" › ")}</bdi>
              </span>
            )}
          </span>
        </span>
        <Score hit={hit} best={best} />
      </button>
      <div className="px-4 pb-3.5 text-sm whitespace-pre-wrap text-ink [overflow-wrap:anywhere]">
        <div className="line-clamp-6">
          <Marked text={flowed(hit.text)} words={words} />
        </div>
      </div>
    </article>
  );
}

const FILLS: Record<PartName, string> = { lexical: "bg-accent", vector: "bg-good", recency: "bg-warn" };

/** Why it stands where it stands: a bar of the parts of its score. */
function Score({ hit, best }: { hit: Hit; best: number }) {
  const parts = partsOf(hit, best);
  return (
    <span className="w-full shrink-0 sm:w-44">
      <span className="sr-only">{whyFound(hit)}. </span>
      <span aria-hidden className="flex h-1.5 overflow-hidden rounded-full bg-pressed sm:mt-1.5">
        {parts.map(({ name, share }) => (
          <span key={name} className={FILLS[name]} style={{ width: `${share * 100}%` }} />
        ))}
      </span>
      <span className="mt-1.5 flex flex-wrap gap-x-3 text-2xs text-ink-faint tabular-nums">
        {parts.map(({ name, label, value }) => (
          <span key={name} className="inline-flex items-center gap-1">
            <span aria-hidden className={`size-1.5 rounded-full ${FILLS[name]}`} />
            {label} {value.toFixed(2)}
          </span>
        ))}
      </span>
    </span>
  );
}
