import { classes } from "./classes";
import { VisibleText } from "./VisibleText";

const LOOKS: Record<string, string> = {
  "+": "bg-good-soft text-good-ink",
  "-": "bg-bad-soft text-bad-ink",
  "@": "text-ink-faint",
};
const WORDS: Record<string, string> = { "+": "added: ", "-": "removed: " };

/** A unified diff as text: lines that begin with + or -. */
export function Diff({ text, label = "What changed" }: { text: string; label?: string }) {
  return (
    <section
      aria-label={label}
      tabIndex={0}
      className="max-h-112 overflow-auto rounded-md border border-line bg-sunken py-1.5 font-mono text-xs leading-relaxed"
    >
      {text.split("\n").map((line, place) => {
        const mark = line[0] ?? " ";
        return (
          <div
            key={place}
            className={classes("whitespace-pre-wrap px-3 [overflow-wrap:anywhere]", LOOKS[mark])}
          >
            {WORDS[mark] && <span className="sr-only">{WORDS[mark]}</span>}
            <VisibleText text={line || " "} />
          </div>
        );
      })}
    </section>
  );
}
