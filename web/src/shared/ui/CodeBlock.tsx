import { useState } from "react";
import { CopyButton } from "./CopyButton";
import { classes } from "./classes";

interface CodeBlockProps {
  code: string;
  language?: string;
  /** Lines before the rest is folded away. */
  fold?: number;
  wrap?: boolean;
  className?: string;
}

/** Text of machines, with a button that copies it. */
export function CodeBlock({ code, language, fold = 40, wrap = false, className }: CodeBlockProps) {
  const [open, setOpen] = useState(false);
  const lines = code.split("\n");
  const folded = !open && lines.length > fold + 5;
  return (
    <div
      className={classes(
        "group relative min-w-0 overflow-hidden rounded-md border border-line bg-sunken",
        className,
      )}
    >
      <div className="absolute top-1 right-1 flex items-center gap-1.5 rounded-sm bg-sunken pl-1.5">
        {language && <span className="text-2xs text-ink-faint max-sm:hidden">{language}</span>}
        <CopyButton text={code} />
      </div>
      <pre
        tabIndex={0}
        className={classes(
          "overflow-x-auto p-3 pr-20 text-xs leading-relaxed",
          wrap && "whitespace-pre-wrap [overflow-wrap:anywhere]",
        )}
      >
        <code>{folded ? lines.slice(0, fold).join("\n") : code}</code>
      </pre>
      {folded && (
        <button
          type="button"
          onClick={() => setOpen(true)}
          className="w-full border-t border-line py-1.5 text-xs text-ink-soft hover:bg-hover"
        >
          Show all {lines.length} lines
        </button>
      )}
    </div>
  );
}
