import { Brain, ChevronRight } from "lucide-react";
import { useState } from "react";
import { classes } from "@/shared/ui/classes";
import { LongText } from "./LongText";

/** What the model thought, folded. */
export function Thinking({ text, working = false }: { text: string; working?: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="mb-2">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="-ml-1.5 flex items-center gap-1.5 rounded-sm px-1.5 py-0.5 text-sm text-ink-faint hover:bg-hover hover:text-ink-soft"
      >
        <Brain aria-hidden className={classes("size-4", working && "animate-breathe")} />
        {working ? "Thinking…" : "Thought"}
        <ChevronRight
          aria-hidden
          className={classes("size-3.5 transition-transform duration-(--quick)", open && "rotate-90")}
        />
      </button>
      {open && (
        <div className="mt-1.5 border-l-2 border-line pl-3.5 text-sm text-ink-soft">
          <LongText text={text} />
        </div>
      )}
    </div>
  );
}
