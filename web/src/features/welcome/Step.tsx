import { Check } from "lucide-react";
import type { ReactNode } from "react";
import { classes } from "@/shared/ui/classes";

interface StepProps {
  number: number;
  state: "done" | "now" | "later";
  title: string;
  about: string;
  onOpen: () => void;
  children: ReactNode;
}

const STATES = { done: "done", now: "this step", later: "to come" };

/** One step; the others are closed, and each can be opened. What was done in one stays. */
export function Step({ number, state, title, about, onOpen, children }: StepProps) {
  const isNow = state === "now";
  return (
    <li
      aria-current={isNow ? "step" : undefined}
      className={classes(
        "rounded-xl border bg-raised",
        isNow ? "border-accent-line shadow-md" : "border-line shadow-sm",
      )}
    >
      <h2>
        <button
          type="button"
          aria-expanded={isNow}
          onClick={onOpen}
          className="flex w-full items-center gap-3.5 rounded-xl px-4 py-3.5 text-left sm:px-5"
        >
          <span
            className={classes(
              "grid size-7 shrink-0 place-items-center rounded-full text-sm font-semibold",
              isNow && "bg-accent text-on-accent",
              state === "done" && "bg-good-soft text-good-ink",
              state === "later" && "bg-hover text-ink-soft",
            )}
          >
            {state === "done" ? <Check aria-hidden className="size-4" /> : number}
            <span className="sr-only"> {STATES[state]}</span>
          </span>
          <span className="min-w-0 flex-1">
            <span className="block text-md font-semibold">{title}</span>
            <span className="block text-sm font-normal text-ink-soft">{about}</span>
          </span>
        </button>
      </h2>
      <div hidden={!isNow} className="animate-appear px-4 pb-5 sm:pr-5 sm:pl-15.5">
        {children}
      </div>
    </li>
  );
}
