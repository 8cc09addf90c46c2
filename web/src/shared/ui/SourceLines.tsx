import { useLayoutEffect, useRef } from "react";
import { classes } from "./classes";
import { VisibleText } from "./VisibleText";

interface SourceLinesProps {
  /** Read out. */
  label: string;
  text: string;
  /** The number of the first line. */
  start: number;
  /** From and to, both of them in: they stand out and are scrolled to. */
  marked?: readonly [number, number];
  /** Prose is broken into lines, code is not. */
  wrap?: boolean;
  className?: string;
}

/** Lines of a file with their numbers; nothing in them is run, and nothing hides. */
export function SourceLines({ label, text, start, marked, wrap = false, className }: SourceLinesProps) {
  const first = useRef<HTMLLIElement>(null);
  const frame = useRef<HTMLElement>(null);
  const [from, to] = marked ?? [0, 0];
  // biome-ignore lint/correctness/useExhaustiveDependencies: another place is shown
  useLayoutEffect(() => {
    if (from > 0 && first.current && frame.current)
      frame.current.scrollTop = first.current.offsetTop - frame.current.clientHeight / 4;
  }, [from, start, text]);
  return (
    <section
      ref={frame}
      aria-label={label}
      tabIndex={0}
      className={classes("relative overflow-auto -outline-offset-2", className)}
    >
      <ol className={classes("py-2 font-mono text-xs leading-relaxed", !wrap && "min-w-max")}>
        {text.split("\n").map((line, place) => {
          const number = start + place;
          const isMarked = number >= from && number <= to;
          return (
            <li
              key={number}
              ref={number === from ? first : undefined}
              aria-current={isMarked ? "true" : undefined}
              className={classes(
                "flex border-l-2 pr-4",
                isMarked ? "border-accent bg-accent-soft" : "border-transparent",
              )}
            >
              <span
                className={classes(
                  "w-12 shrink-0 select-none pr-3 text-right",
                  isMarked ? "text-accent-ink" : "text-ink-faint",
                )}
              >
                {number}
              </span>
              <span
                className={classes(
                  "min-w-0 flex-1",
                  wrap ? "whitespace-pre-wrap [overflow-wrap:anywhere]" : "whitespace-pre",
                )}
              >
                {line === "" ? " " : <VisibleText text={line} />}
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
