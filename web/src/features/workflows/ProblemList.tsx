import { CircleAlert, TriangleAlert } from "lucide-react";
import { VisibleText } from "@/shared/ui/VisibleText";
import type { Problem } from "./queries";

interface ProblemListProps {
  problems: readonly Problem[];
  onGo: (line: number, column: number) => void;
}

/** All that is wrong; a click goes there. */
export function ProblemList({ problems, onGo }: ProblemListProps) {
  if (problems.length === 0) return null;
  return (
    <ul
      aria-label="Problems"
      tabIndex={0}
      className="max-h-40 shrink-0 overflow-y-auto border-t border-line bg-sunken py-1 -outline-offset-2"
    >
      {problems.map((problem, place) => {
        const isError = problem.severity === "error";
        const Icon = isError ? CircleAlert : TriangleAlert;
        return (
          <li key={place}>
            <button
              type="button"
              disabled={problem.line == null}
              onClick={() => onGo(problem.line ?? 1, problem.column ?? 1)}
              className="flex w-full items-start gap-2 px-3 py-1 text-left text-xs enabled:hover:bg-hover"
            >
              <Icon
                aria-label={isError ? "Mistake" : "Warning"}
                className={`mt-0.5 size-3.5 shrink-0 ${isError ? "text-bad" : "text-warn-ink"}`}
              />
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                <VisibleText text={problem.message} />
                {problem.path && <span className="ml-1.5 font-mono text-ink-faint">{problem.path}</span>}
              </span>
              {problem.line != null && (
                <span className="shrink-0 text-ink-faint tabular-nums">line {problem.line}</span>
              )}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
